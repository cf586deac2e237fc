// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
#include "base/digest.h"
#include "base/pool.h"
#include "tap.h"

static struct str hex(struct pool *pool, const uint8_t *bytes, size_t n)
{
	struct buf buf = buf_new(pool, 2 * n);

	buf_add_hex(&buf, bytes, n);
	return buf_str(&buf);
}

static void sha256(struct pool *pool)
{
	uint8_t out[DIGEST_SHA256];

	digest_sha256(STR_NONE, out);
	is_str(hex(pool, out, sizeof(out)), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
	       "SHA-256 of nothing");
	digest_sha256(STR("abc"), out);
	is_str(hex(pool, out, sizeof(out)), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	       "SHA-256 of abc");
}

// RFC 4231, section 4.
static const struct {
	const char *key, *data, *sha256, *sha512;
} vectors[] = {
	{ "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	  "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
	  "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
	  "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854" },
	{ "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	  "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
	  "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
	  "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737" },
};

static struct str unhex(struct pool *pool, const char *text)
{
	struct str s = str_c(text);
	uint8_t *bytes = pool_alloc(pool, s.n / 2);

	ok(digest_from_hex(s, bytes, s.n / 2), "hex of a test vector");
	return str_n((char *)bytes, s.n / 2);
}

static void hmac_vectors(struct pool *pool)
{
	uint8_t short_one[DIGEST_SHA256], long_one[DIGEST_SHA512];

	for (size_t i = 0; i < COUNT_OF(vectors); i++) {
		struct digest_key *key = digest_key_new(unhex(pool, vectors[i].key));
		struct str data = unhex(pool, vectors[i].data);
		struct str parts[] = { str_part(data, 0, 3), STR_NONE, str_part(data, 3, data.n) };

		for (int again = 0; again < 2; again++) {
			digest_hmac_sha256(key, &data, 1, short_one);
			is_str(hex(pool, short_one, sizeof(short_one)), vectors[i].sha256, "HMAC-SHA-256, case %zu", i + 1);
			digest_hmac_sha512(key, &data, 1, long_one);
			is_str(hex(pool, long_one, sizeof(long_one)), vectors[i].sha512, "HMAC-SHA-512, case %zu", i + 1);
		}
		digest_hmac_sha512(key, parts, COUNT_OF(parts), long_one);
		is_str(hex(pool, long_one, sizeof(long_one)), vectors[i].sha512, "the same in parts");
		digest_key_free(&key);
		ok(key == NULL, "free forgets the key");
		digest_key_free(&key);
	}
}

static void hmac_of_nothing(struct pool *pool)
{
	struct digest_key *empty = digest_key_new(STR_NONE);
	uint8_t out[DIGEST_SHA256];

	ok(empty != NULL, "the empty key is a key");
	digest_hmac_sha256(empty, NULL, 0, out);
	is_str(hex(pool, out, sizeof(out)), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
	       "HMAC-SHA-256 of nothing under nothing");
	digest_key_free(&empty);
}

static void random_bytes(void)
{
	uint8_t a[32] = { 0 }, b[32] = { 0 }, zero[32] = { 0 };

	digest_random(a, sizeof(a));
	digest_random(b, sizeof(b));
	ok(memcmp(a, zero, 32) != 0 && memcmp(a, b, 32) != 0, "random bytes differ");
	digest_wipe(a, sizeof(a));
	ok(memcmp(a, zero, 32) == 0, "wiped bytes are gone");
	digest_random(b, 0);
}

static void equality(void)
{
	ok(digest_equal(STR("a\0b"), STR("a\0b")), "equal");
	ok(!digest_equal(STR("a\0b"), STR("a\0c")), "last byte differs");
	ok(!digest_equal(STR("abc"), STR("ab")), "lengths differ");
	ok(digest_equal(STR_NONE, STR("")), "nothing equals the empty string");
}

static void from_hex(void)
{
	static const struct str bad[] = {
		STR_INIT(""), STR_INIT("0"), STR_INIT("00"), STR_INIT("000"), STR_INIT("00000"), STR_INIT("000000"),
		STR_INIT("0g00"), STR_INIT("00 0"), STR_INIT("0x00"), STR_INIT("-100"), STR_INIT("00\0" "0"),
	};
	uint8_t out[2];

	ok(digest_from_hex(STR("fFa0"), out, 2) && out[0] == 0xff && out[1] == 0xa0, "both cases");
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		ok(!digest_from_hex(bad[i], out, 2), "no two bytes: \"%.*s\"", STR_ARG(bad[i]));
	ok(digest_from_hex(STR_NONE, out, 0), "no digits, no bytes");
}

int main(void)
{
	struct pool *pool = pool_new();

	sha256(pool);
	hmac_vectors(pool);
	hmac_of_nothing(pool);
	random_bytes();
	equality();
	from_hex();
	pool_free(&pool);
	return done_testing();
}
