// SPDX-License-Identifier: Apache-2.0
// Hashes, random bytes, comparison in constant time.
#ifndef TENURE_BASE_DIGEST_H
#define TENURE_BASE_DIGEST_H

#include "base/str.h"

struct buf;

enum { DIGEST_SHA256 = 32, DIGEST_SHA512 = 64 }; // lengths in bytes

void digest_sha256(struct str data, uint8_t out[DIGEST_SHA256]);
// A key for HMAC, set up once and used for many messages (one per worker, not per request).
struct digest_key;
// Copies the key's bytes; the caller frees the result by digest_key_free(). NULL if OpenSSL fails.
struct digest_key *digest_key_new(struct str key);
void digest_key_free(struct digest_key **key);
// HMAC of the n parts, concatenated. The caller makes sure that no two lists of parts give the same bytes (by lengths or fixed
// sizes).
void digest_hmac_sha256(struct digest_key *key, const struct str *parts, size_t n, uint8_t out[DIGEST_SHA256]);
void digest_hmac_sha512(struct digest_key *key, const struct str *parts, size_t n, uint8_t out[DIGEST_SHA512]);
// Fills n bytes. Aborts if the system can't provide random bytes.
void digest_random(void *bytes, size_t n);
// Are they equal? The time taken depends on their length only, not on where they differ. False if the lengths differ.
bool digest_equal(struct str a, struct str b);
// Overwrites n bytes with zeros; the compiler can't optimise this away.
void digest_wipe(void *bytes, size_t n);
// Reads exactly two hex digits, in either case, for each of the out_n bytes. False for anything else.
bool digest_from_hex(struct str s, uint8_t *out, size_t out_n);

#endif
