// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/crypto/seal.h"
#include "base/pool.h"
#include "tap.h"

static const uint8_t key[SEAL_KEY] = { 1, 2, 3 }, other_key[SEAL_KEY] = { 1, 2, 4 };

static void there_and_back(struct pool *pool)
{
	static const char *const texts[] = { "", "x", "a text of more than sixteen bytes, which is a block of the cipher" };

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct str text = str_c(texts[i]), sealed = seal_text(pool, key, STR("context"), text), opened;

		ok(sealed.n == text.n + SEAL_MORE, "sealed: %zu bytes", text.n);
		ok(seal_open(pool, key, STR("context"), sealed, &opened), "opened");
		is_str(opened, texts[i], "the same text");
	}
	struct str one = seal_text(pool, key, STR(""), STR("text")), two = seal_text(pool, key, STR(""), STR("text"));
	ok(!str_eq(one, two), "each time another sealed text");
}

static void refused(struct pool *pool)
{
	struct str sealed = seal_text(pool, key, STR("context"), STR("text")), opened;

	ok(!seal_open(pool, other_key, STR("context"), sealed, &opened) && opened.p == NULL, "another key");
	ok(!seal_open(pool, key, STR("another"), sealed, &opened) && opened.p == NULL, "another context");
	for (size_t n = 0; n < sealed.n; n++) {
		char bytes[64];

		assert(sealed.n <= sizeof(bytes));
		memcpy(bytes, sealed.p, sealed.n);
		bytes[n] ^= 1;
		ok(!seal_open(pool, key, STR("context"), str_n(bytes, sealed.n), &opened), "byte %zu altered", n);
		ok(!seal_open(pool, key, STR("context"), str_part(sealed, 0, n), &opened), "cut to %zu bytes", n);
	}
}

int main(void)
{
	struct pool *pool = pool_new();

	there_and_back(pool);
	refused(pool);
	pool_free(&pool);
	return done_testing();
}
