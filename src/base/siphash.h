// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4 (Aumasson and Bernstein, 2012): a short keyed hash for tables whose keys are chosen by clients. Without the
// key a client can't search for keys that collide.
#ifndef TENURE_BASE_SIPHASH_H
#define TENURE_BASE_SIPHASH_H

#include "base/str.h"

enum { SIPHASH_KEY = 2 }; // 64-bit words

// The hash of the bytes of data under the key.
uint64_t siphash(const uint64_t key[SIPHASH_KEY], struct str data);
// The form with 128 bits (SipHash-2-4-128), for tables that don't keep what was hashed: nobody meets two texts with one such
// hash.
void siphash_128(const uint64_t key[SIPHASH_KEY], struct str data, uint64_t hash[2]);

#endif
