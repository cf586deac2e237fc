// SPDX-License-Identifier: Apache-2.0
// The public keys of an issuer of JSON Web Tokens. For files in auth/ only.
#ifndef TENURE_AUTH_JWT_JWT_KEYS_H
#define TENURE_AUTH_JWT_JWT_KEYS_H

#include "base/crypto/signature.h"
#include "base/str.h"

struct jwt_keys;

enum {
	JWT_KEYS_MAX = 32,          // keys of a set that are kept; a token without key id is tried with each
	JWT_KEYS_BYTES = 64 * 1024, // of a set's text
};

// Reads a JSON Web Key Set (RFC 7517), or PEM blocks "PUBLIC KEY" and "CERTIFICATE". Keys of other kinds, for encryption, of less
// than 2048 bits (RSA) and those that come with their private part are left out: a set may hold such beside the others. NULL: it
// is neither form, or no key is left; *error (malloc) says why.
struct jwt_keys *jwt_keys_read(struct str text, char **error);
void jwt_keys_free(struct jwt_keys **keys);
size_t jwt_keys_count(const struct jwt_keys *keys);

enum jwt_signature {
	JWT_SIGNATURE_GOOD,
	JWT_SIGNATURE_WRONG,  // a key has that id, and the signature was not made with it
	JWT_SIGNATURE_NO_KEY, // no key verifies the signature: the key that made it may not have been fetched yet
};
// Verifies with each key that takes the algorithm and has the id kid. A key without id, as in PEM, is tried for every id; kid.p
// NULL: the token names no key, and each is tried.
enum jwt_signature jwt_keys_verify(const struct jwt_keys *keys, struct str kid, enum signature_algorithm algorithm, struct str data,
	struct str signature);

#endif
