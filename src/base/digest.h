// SPDX-License-Identifier: Apache-2.0
// Hashes, random bytes, constant-time comparison. The only header whose .c includes OpenSSL.
#ifndef TENURE_BASE_DIGEST_H
#define TENURE_BASE_DIGEST_H

#include "base/str.h"

struct buf;

enum { DIGEST_SHA256 = 32, DIGEST_SHA512 = 64 }; // lengths in bytes

void digest_sha256(struct str data, uint8_t out[DIGEST_SHA256]);
// A key for HMAC, set up once and used for many messages (one per worker, not per request).
struct digest_key;
// Copies the key's bytes; the caller frees with digest_key_free. NULL when OpenSSL refuses.
struct digest_key *digest_key_new(struct str key);
void digest_key_free(struct digest_key **key);
// HMAC over the concatenation of parts. Each caller makes its own framing unambiguous (lengths or fixed sizes).
void digest_hmac_sha256(struct digest_key *key, const struct str *parts, size_t n, uint8_t out[DIGEST_SHA256]);
void digest_hmac_sha512(struct digest_key *key, const struct str *parts, size_t n, uint8_t out[DIGEST_SHA512]);
// Aborts when the system has no randomness to give.
void digest_random(void *bytes, size_t n);
// Time depends on n alone. False when lengths differ.
bool digest_equal(struct str a, struct str b);
// Overwrites in a way the compiler keeps.
void digest_wipe(void *bytes, size_t n);
// URL-safe text without padding (RFC 4648, section 5).
void digest_add_base64url(struct buf *buf, const void *bytes, size_t n);
// Lower- or upper-case hex; false on anything else, and unless s has exactly two digits for each of the out_n bytes.
bool digest_from_hex(struct str s, uint8_t *out, size_t out_n);

#endif
