// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/log.h"

// For calls to OpenSSL that fail only if memory is exhausted or the library is broken: logs and aborts.
#define MUST(call) \
	do { \
		if ((call) != 1) \
			broken(#call); \
	} while (0)

_Noreturn static void broken(const char *call)
{
	log_error("OpenSSL refused %s", call);
	abort();
}

void digest_sha256(struct str data, uint8_t out[DIGEST_SHA256])
{
	// Both are kept until the process ends: fetching an algorithm searches OpenSSL's providers, and a context consists of
	// several allocations.
	static EVP_MD *sha256;
	static EVP_MD_CTX *ctx;

	if (sha256 == NULL && (sha256 = EVP_MD_fetch(NULL, "SHA256", NULL)) == NULL)
		broken("EVP_MD_fetch");
	if (ctx == NULL && (ctx = EVP_MD_CTX_new()) == NULL)
		broken("EVP_MD_CTX_new");
	MUST(EVP_DigestInit_ex2(ctx, sha256, NULL));
	MUST(EVP_DigestUpdate(ctx, data.n > 0 ? data.p : "", data.n));
	MUST(EVP_DigestFinal_ex(ctx, out, NULL));
}

// Contexts that have hashed the key already. Each message starts from that state.
struct digest_key {
	EVP_MAC_CTX *sha256;
	EVP_MAC_CTX *sha512;
};

static EVP_MAC_CTX *keyed(EVP_MAC *hmac, const char *digest, struct str key)
{
	// OSSL_PARAM takes a char *, though OpenSSL only reads it.
	char name[16];
	(void)snprintf(name, sizeof(name), "%s", digest);
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
		OSSL_PARAM_construct_end(),
	};
	EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(hmac);

	// NULL would mean the key that was set before, so an empty key needs an address, too.
	if (ctx != NULL && EVP_MAC_init(ctx, (const unsigned char *)(key.n > 0 ? key.p : ""), key.n, params) != 1) {
		EVP_MAC_CTX_free(ctx);
		ctx = NULL;
	}
	return ctx;
}

struct digest_key *digest_key_new(struct str key)
{
	struct digest_key *made = calloc(1, sizeof(*made));
	EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);

	if (made != NULL && hmac != NULL) {
		made->sha256 = keyed(hmac, "SHA256", key);
		made->sha512 = keyed(hmac, "SHA512", key);
	}
	EVP_MAC_free(hmac); // the contexts hold their own references
	if (made != NULL && (made->sha256 == NULL || made->sha512 == NULL))
		digest_key_free(&made);
	return made;
}

void digest_key_free(struct digest_key **key)
{
	if (*key == NULL)
		return;
	EVP_MAC_CTX_free((*key)->sha256);
	EVP_MAC_CTX_free((*key)->sha512);
	free(*key);
	*key = NULL;
}

static void mac_of(EVP_MAC_CTX *ctx, const struct str *parts, size_t n, uint8_t *out, size_t size)
{
	size_t written = 0;

	MUST(EVP_MAC_init(ctx, NULL, 0, NULL)); // back to the state where only the key was hashed
	for (size_t i = 0; i < n; i++) {
		if (parts[i].n > 0)
			MUST(EVP_MAC_update(ctx, (const unsigned char *)parts[i].p, parts[i].n));
	}
	MUST(EVP_MAC_final(ctx, out, &written, size));
	assert(written == size);
}

void digest_hmac_sha256(struct digest_key *key, const struct str *parts, size_t n, uint8_t out[DIGEST_SHA256])
{
	assert(key != NULL && (n == 0 || parts != NULL));
	mac_of(key->sha256, parts, n, out, DIGEST_SHA256);
}

void digest_hmac_sha512(struct digest_key *key, const struct str *parts, size_t n, uint8_t out[DIGEST_SHA512])
{
	assert(key != NULL && (n == 0 || parts != NULL));
	mac_of(key->sha512, parts, n, out, DIGEST_SHA512);
}

void digest_random(void *bytes, size_t n)
{
	assert(n <= INT32_MAX);
	MUST(RAND_bytes(bytes, (int)n));
}

bool digest_equal(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || CRYPTO_memcmp(a.p, b.p, a.n) == 0);
}

void digest_wipe(void *bytes, size_t n)
{
	assert(bytes != NULL || n == 0);
	OPENSSL_cleanse(bytes, n);
}

bool digest_from_hex(struct str s, uint8_t *out, size_t out_n)
{
	if (s.n % 2 != 0 || s.n / 2 != out_n)
		return false;
	for (size_t i = 0; i < out_n; i++) {
		int high = str_hex_digit(s.p[2 * i]), low = str_hex_digit(s.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
