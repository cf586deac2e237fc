// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "tap.h"

static void pieces(struct pool *pool)
{
	struct buf buf = buf_new(pool, 0);

	is_str(buf_str(&buf), "", "empty at first");
	buf_add(&buf, STR_NONE);
	is_str(buf_str(&buf), "", "adding nothing");
	BUF_LIT(&buf, "a\0b");
	buf_addc(&buf, '-');
	buf_addf(&buf, "%d%%", 50);
	buf_addc(&buf, '.');
	is_strs(buf_str(&buf), STR("a\0b-50%."), "pieces, a NUL among them, nothing between them");
}

static void formats(struct pool *pool)
{
	const struct str odd = STR("a\0b"), none = STR_NONE;
	struct buf buf = buf_new(pool, 1);

	buf_addf(&buf, "<%.*s|%.*s|%s|%.2s|%-3s|>", STR_ARG(odd), STR_ARG(none), "whole", "cut", "x");
	is_strs(buf_str(&buf), STR("<a\0b||whole|cu|x  |>"), "a counted string is written with its NUL");
	is_strs(str_printf(pool, "%.*s", STR_ARG(odd)), odd, "by str_printf, too");
	is_str(str_printf(pool, "%d %i %u %ld %lu %lld %llu %zu %c %% %04x %02X %llo %.9g %.*g %*s|", -1, 2, 3U, -4L, 5UL, -6LL,
		UINT64_MAX + 0ULL, (size_t)7, 'c', 0xbeU, 0xaU, 8ULL, 0.1, 3, 2.0 / 3, 4, "r"),
		"-1 2 3 -4 5 -6 18446744073709551615 7 c % 00be 0A 10 0.1 0.667    r|", "all that printf would write");
	is_str(str_printf(pool, "%s", ""), "", "nothing");
}

static void numbers(struct pool *pool)
{
	struct buf buf = buf_new(pool, 1);

	buf_add_u64(&buf, 0);
	buf_addc(&buf, ' ');
	buf_add_u64(&buf, UINT64_MAX);
	buf_addc(&buf, ' ');
	buf_add_i64(&buf, -1);
	buf_addc(&buf, ' ');
	buf_add_i64(&buf, INT64_MIN);
	buf_addc(&buf, ' ');
	buf_add_i64(&buf, INT64_MAX);
	is_str(buf_str(&buf), "0 18446744073709551615 -1 -9223372036854775808 9223372036854775807", "numbers");
}

static void hex(struct pool *pool)
{
	struct buf buf = buf_new(pool, 0);

	buf_add_hex(&buf, "\x00\x1f\xff", 3);
	buf_add_hex(&buf, "", 0);
	is_str(buf_str(&buf), "001fff", "hex");

	// All bytes, in texts of all lengths that are written eight at a time and one by one.
	unsigned char bytes[256];
	size_t wrong = 0;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 167);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		struct buf all = buf_new(pool, 0), each = buf_new(pool, 0);
		buf_add_hex(&all, bytes, n);
		for (size_t i = 0; i < n; i++)
			buf_addf(&each, "%02x", bytes[i]);
		wrong += str_eq(buf_str(&all), buf_str(&each)) ? 0 : 1;
	}
	is_int((long long)wrong, 0, "of any length");
}

static void growth(struct pool *pool)
{
	struct buf buf = buf_new(pool, 3);
	bool same = true;

	for (int i = 0; i < 20000; i++)
		buf_addc(&buf, (char)('a' + i % 26));
	for (size_t i = 0; i < buf.n; i++)
		same = same && buf.p[i] == (char)('a' + i % 26);
	is_int((long long)buf.n, 20000, "grown byte by byte");
	ok(same, "with all it had");

	struct buf exact = buf_new(pool, 5);
	buf_addf(&exact, "%s", "12345");
	is_str(buf_str(&exact), "12345", "printf into exactly its room");
	struct str earlier = buf_str(&buf);
	buf_add(&buf, earlier);
	is_int((long long)buf.n, 40000, "a buffer takes a copy of itself");
	ok(str_eq(str_part(buf_str(&buf), 20000, 40000), str_part(buf_str(&buf), 0, 20000)), "the same twice");
}

int main(void)
{
	struct pool *pool = pool_new();

	pieces(pool);
	formats(pool);
	numbers(pool);
	hex(pool);
	growth(pool);
	pool_free(&pool);
	return done_testing();
}
