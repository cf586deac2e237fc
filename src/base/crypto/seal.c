// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/crypto/seal.h"
#include "base/digest.h"
#include "base/pool.h"

#include <limits.h>
#include <openssl/evp.h>

// A sealed text is: nonce, ciphertext, tag.
enum { NONCE = 12, TAG = 16 };

static const unsigned char *bytes_of(struct str text)
{
	return (const unsigned char *)(text.n > 0 ? text.p : "");
}

static bool encrypt(EVP_CIPHER_CTX *ctx, const uint8_t key[SEAL_KEY], struct str context, struct str text, uint8_t *out)
{
	int n;

	return EVP_EncryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, out) == 1 &&
		EVP_EncryptUpdate(ctx, NULL, &n, bytes_of(context), (int)context.n) == 1 &&
		EVP_EncryptUpdate(ctx, out + NONCE, &n, bytes_of(text), (int)text.n) == 1 && n == (int)text.n &&
		EVP_EncryptFinal_ex(ctx, out + NONCE + text.n, &n) == 1 &&
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG, out + NONCE + text.n) == 1;
}

struct str seal_text(struct pool *pool, const uint8_t key[SEAL_KEY], struct str context, struct str text)
{
	EVP_CIPHER_CTX *ctx;
	uint8_t *out = pool_alloc(pool, NONCE + text.n + TAG);
	bool good;

	assert(text.n < INT_MAX && context.n < INT_MAX);
	digest_random(out, NONCE);
	ctx = EVP_CIPHER_CTX_new();
	good = ctx != NULL && encrypt(ctx, key, context, text, out);
	EVP_CIPHER_CTX_free(ctx);
	return good ? str_n((const char *)out, NONCE + text.n + TAG) : STR_NONE;
}

static bool decrypt(EVP_CIPHER_CTX *ctx, const uint8_t key[SEAL_KEY], struct str context, struct str sealed, uint8_t *out)
{
	struct str body = str_part(sealed, NONCE, sealed.n - TAG);
	uint8_t tag[TAG];
	int n;

	memcpy(tag, sealed.p + sealed.n - TAG, TAG);
	return EVP_DecryptInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, bytes_of(sealed)) == 1 &&
		EVP_DecryptUpdate(ctx, NULL, &n, bytes_of(context), (int)context.n) == 1 &&
		EVP_DecryptUpdate(ctx, out, &n, bytes_of(body), (int)body.n) == 1 && n == (int)body.n &&
		EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG, tag) == 1 && EVP_DecryptFinal_ex(ctx, out + body.n, &n) == 1;
}

bool seal_open(struct pool *pool, const uint8_t key[SEAL_KEY], struct str context, struct str sealed, struct str *text)
{
	EVP_CIPHER_CTX *ctx;
	uint8_t *out;
	bool good;

	*text = STR_NONE;
	if (sealed.n < SEAL_MORE || sealed.n >= INT_MAX || context.n >= INT_MAX)
		return false;
	out = pool_alloc(pool, sealed.n);
	ctx = EVP_CIPHER_CTX_new();
	good = ctx != NULL && decrypt(ctx, key, context, sealed, out);
	EVP_CIPHER_CTX_free(ctx);
	if (good)
		*text = str_n((const char *)out, sealed.n - SEAL_MORE);
	return good;
}
