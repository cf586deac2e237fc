// SPDX-License-Identifier: Apache-2.0
// Where an issuer's public keys come from: a file, or the issuer itself by HTTP. For files in auth/ only.
//
// Keys that are fetched stand in memory that the processes of the host share, so that one process fetches for all. A fetch runs
// in a process of its own: the issuer's discovery document, where no address of the keys is set, and the keys. It begins
//   - with the first token, and where a token names a key that isn't known. Requests wait for such a fetch for half of its time-out, and
//     no more of them at a time than all workers of the endpoint but one
//   - without any waiting, when the keys have reached the age keys_refresh
// A fetch that fails opens a breaker, for a second, and for twice as long each time up to a minute; meanwhile no request waits.
// Keys go on being used until the age keys_lifetime. Unknown key ids cause no more than one fetch in keys_retry.
#ifndef TENURE_AUTH_JWT_JWT_SOURCE_H
#define TENURE_AUTH_JWT_JWT_SOURCE_H

#include "auth/jwt/jwt_keys.h"

struct auth_setup;
struct jwt_source;

// Reads a file of keys at once; fetches nothing yet. Without setup->shared: memory of this process and those that it forks. NULL
// and *error (malloc) if settings are missing, or the file can't be used.
struct jwt_source *jwt_source_new(const struct auth_setup *setup, char **error);
void jwt_source_free(struct jwt_source **source);

// Takes the newest keys, and has them fetched again if they are old. False: there are none that may be used. *changed: they are
// others than at the last call.
bool jwt_source_look(struct jwt_source *source, bool *changed);

enum jwt_verdict { JWT_GOOD, JWT_WRONG, JWT_UNKNOWN_KEY, JWT_NO_KEYS };
// Verifies by the issuer's keys. may_wait false: where a fetch is needed it is begun, and the result of this call is JWT_NO_KEYS.
// A call within AUTH_POLL_S takes the fetched keys for the issuer's present ones.
//   JWT_GOOD         a key of the issuer verifies the signature
//   JWT_WRONG        the issuer has the key that the token names, and the signature is not of that key
//   JWT_UNKNOWN_KEY  the issuer's present keys don't verify it
//   JWT_NO_KEYS      the keys can't be had at the moment
enum jwt_verdict jwt_source_verify(struct jwt_source *source, bool may_wait, struct str kid, enum signature_algorithm algorithm,
	struct str data, struct str signature);

#endif
