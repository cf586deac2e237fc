// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "base/uuid.h"
#include "tap.h"

#define SAMPLE "f81d4fae-7dec-41d0-a765-00a0c91e6bf6"

static void text(struct pool *pool)
{
	struct uuid u = { { 0 } }, upper;

	ok(uuid_is_zero(u), "zero");
	is_str(uuid_str(pool, u), "00000000-0000-0000-0000-000000000000", "zero in letters");
	ok(uuid_parse(STR(SAMPLE), &u), "parse");
	ok(!uuid_is_zero(u), "is not zero");
	is_strs(uuid_bytes(&u), STR("\xf8\x1d\x4f\xae\x7d\xec\x41\xd0\xa7\x65\x00\xa0\xc9\x1e\x6b\xf6"), "bytes in order");
	is_str(uuid_str(pool, u), SAMPLE, "and back");
	ok(uuid_parse(STR("F81D4FAE-7DEC-41D0-A765-00A0C91E6BF6"), &upper) && uuid_eq(u, upper), "upper case is the same");
	upper.b[15] ^= 1;
	ok(!uuid_eq(u, upper), "one bit makes another");
}

static void refused(void)
{
	static const struct str bad[] = {
		STR_INIT(""),
		STR_INIT("f81d4fae-7dec-41d0-a765-00a0c91e6bf"),
		STR_INIT("f81d4fae-7dec-41d0-a765-00a0c91e6bf66"),
		STR_INIT("f81d4fae7dec41d0a76500a0c91e6bf6"),
		STR_INIT("f81d4fae-7dec-41d0-a765-00a0c91e6bg6"),
		STR_INIT("f81d4fae-7dec-41d0-a765000a0c91e6bf6"),
		STR_INIT("f81d4fae-7dec-41d-0a765-00a0c91e6bf6"),
		STR_INIT("{81d4fae-7dec-41d0-a765-00a0c91e6bf}"),
		STR_INIT("f81d4fae-7dec-41d0-a765-00a0c91e6b\0f"),
		STR_INIT("-81d4fae-7dec-41d0-a765-00a0c91e6bf6"),
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct uuid u = { { 7 } };

		ok(!uuid_parse(bad[i], &u), "refused: %.*s", STR_ARG(bad[i]));
		is_int(u.b[0], 7, "and nothing stored");
	}
}

static void made(void)
{
	struct uuid seen[200];
	bool different = true, versioned = true;

	for (size_t i = 0; i < COUNT_OF(seen); i++) {
		seen[i] = uuid_new();
		versioned = versioned && seen[i].b[6] >> 4 == 4 && seen[i].b[8] >> 6 == 2;
		for (size_t j = 0; j < i; j++)
			different = different && !uuid_eq(seen[i], seen[j]);
	}
	ok(versioned, "new ones say version 4 of RFC 9562");
	ok(different, "and differ");
}

int main(void)
{
	struct pool *pool = pool_new();
	struct uuid u, copy;

	text(pool);
	refused();
	made();
	u = uuid_new();
	ok(uuid_from_bytes(uuid_bytes(&u), &copy) && uuid_eq(u, copy), "from its bytes");
	ok(!uuid_from_bytes(str_part(uuid_bytes(&u), 0, 15), &copy), "not from fifteen");
	ok(!uuid_from_bytes(STR_NONE, &copy), "not from none");
	pool_free(&pool);
	return done_testing();
}
