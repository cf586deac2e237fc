// SPDX-License-Identifier: Apache-2.0
// Signatures by public keys as JSON Web Signatures have them: RFC 7518 section 3, RFC 8037 section 3.1. There is no symmetric
// algorithm here, and a key verifies its own kind of signature only, so a public key can never serve as the secret of an HMAC.
#ifndef TENURE_BASE_CRYPTO_SIGNATURE_H
#define TENURE_BASE_CRYPTO_SIGNATURE_H

#include "base/str.h"

enum signature_algorithm {
	SIGNATURE_RS256, SIGNATURE_RS384, SIGNATURE_RS512, // RSASSA-PKCS1-v1_5
	SIGNATURE_PS256, SIGNATURE_PS384, SIGNATURE_PS512, // RSASSA-PSS, MGF1 by the same hash, salt as long as the hash
	SIGNATURE_ES256, SIGNATURE_ES384, SIGNATURE_ES512, // ECDSA by P-256, P-384, P-521; r and s in full length
	SIGNATURE_EDDSA,                                   // Ed25519, Ed448
	SIGNATURE__COUNT
};
// "RS256" …, as in the header parameter "alg"; the index is the algorithm.
extern const char *const signature_names[SIGNATURE__COUNT];
// False: there is no such algorithm. Names are compared with their case (RFC 7515 section 4.1.1).
bool signature_algorithm_parse(struct str name, enum signature_algorithm *algorithm);

struct signature_key; // a public key
enum {
	SIGNATURE_RSA_LEAST = 2048, // bits of an RSA key (RFC 7518 section 3.3)
	SIGNATURE_RSA_MOST = 16384, // a longer one would make each verification slow
};

// Keys by the numbers of a JSON Web Key: big-endian bytes. NULL: there can't be such a key, as when a point isn't on its curve,
// or its size is none that is allowed.
struct signature_key *signature_key_rsa(struct str modulus, struct str exponent);
struct signature_key *signature_key_ec(struct str curve, struct str x, struct str y); // "P-256", "P-384", "P-521"
struct signature_key *signature_key_ed(struct str curve, struct str x);               // "Ed25519", "Ed448"
// Reads the next block of a PEM text, "BEGIN PUBLIC KEY" or "BEGIN CERTIFICATE", and moves *pem behind it. True: *key is its
// public key, which the caller frees, or NULL if no algorithm takes such a key. False: there is no further block.
bool signature_key_pem(struct str *pem, struct signature_key **key);
void signature_key_free(struct signature_key **key);

// Does the algorithm take a key of this kind and curve?
bool signature_fits(const struct signature_key *key, enum signature_algorithm algorithm);
// Is it the key's signature of these bytes? The key fits the algorithm. Takes about 30 µs for RSA of 2048 bits, 80 µs for P-256.
bool signature_verify(const struct signature_key *key, enum signature_algorithm algorithm, struct str data, struct str signature);

#endif
