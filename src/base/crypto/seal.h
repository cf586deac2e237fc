// SPDX-License-Identifier: Apache-2.0
// Authenticated encryption by a symmetric key: AES-256-GCM with a random nonce. A key seals up to 2^32 texts.
#ifndef TENURE_BASE_CRYPTO_SEAL_H
#define TENURE_BASE_CRYPTO_SEAL_H

#include "base/str.h"

struct pool;

enum { SEAL_KEY = 32, SEAL_MORE = 12 + 16 }; // bytes of a key; how many bytes a sealed text is longer than the text

// Encrypts text; what is returned lives in pool. context isn't in it, and has to be the same when it is opened. p NULL: OpenSSL
// failed.
struct str seal_text(struct pool *pool, const uint8_t key[SEAL_KEY], struct str context, struct str text);
// Decrypts what seal_text() returned; *text lives in pool. False: another key or context, or bytes that were altered.
bool seal_open(struct pool *pool, const uint8_t key[SEAL_KEY], struct str context, struct str sealed, struct str *text);

#endif
