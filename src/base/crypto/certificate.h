// SPDX-License-Identifier: Apache-2.0
// What a client's X.509 certificate says of its owner: the subject and the alternative names. Whether it is to be trusted is for
// the web server, which has verified it.
#ifndef TENURE_BASE_CRYPTO_CERTIFICATE_H
#define TENURE_BASE_CRYPTO_CERTIFICATE_H

#include "base/digest.h"

struct pool;

enum certificate_kind {
	CERTIFICATE_SUBJECT, // an attribute of the subject
	CERTIFICATE_EMAIL,   // alternative names: rfc822Name
	CERTIFICATE_DNS,     // dNSName, in lower case
	CERTIFICATE_URI,     // uniformResourceIdentifier
	CERTIFICATE_UPN,     // otherName 1.3.6.1.4.1.311.20.2.3, a user principal name
};

struct certificate_name {
	enum certificate_kind kind;
	struct str attribute; // of the subject, as OpenSSL abbreviates it: "CN", "O", "OU", "UID", else the OID's numbers; otherwise ""
	struct str value;     // UTF-8 without NUL
};

enum { CERTIFICATE_NAMES_MAX = 100, CERTIFICATE_PEM_MAX = 32 * 1024 };

struct certificate {
	struct certificate_name names[CERTIFICATE_NAMES_MAX];
	size_t n;
	int64_t from_us, until_us; // notBefore, notAfter, by the wall clock
	uint8_t thumbprint[DIGEST_SHA256]; // of the whole certificate in DER: x5t#S256 of RFC 8705
};

// Reads the first certificate of a PEM text; white space within it, such as web servers put there, doesn't matter. Strings in
// pool. NULL, or what is wrong: it can't be read, or one of its names has NUL, isn't of the characters that its type allows, or
// there are more than CERTIFICATE_NAMES_MAX.
const char *certificate_read(struct pool *pool, struct str pem, struct certificate *certificate);

#endif
