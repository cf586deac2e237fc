// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/pool.h"

enum { BUF_LEAST = 64 };

struct buf buf_new(struct pool *pool, size_t room)
{
	return (struct buf){ .pool = pool, .p = room > 0 ? pool_alloc(pool, room) : NULL, .room = room };
}

char *buf_more(struct buf *buf, size_t n)
{
	assert(n <= SIZE_MAX / 4 && buf->n <= SIZE_MAX / 4);
	if (n > buf->room - buf->n) {
		size_t room = buf->room * 2 > BUF_LEAST ? buf->room * 2 : BUF_LEAST;

		while (room < buf->n + n)
			room *= 2;
		char *p = pool_alloc(buf->pool, room);
		if (buf->n > 0)
			memcpy(p, buf->p, buf->n);
		buf->p = p;
		buf->room = room;
	}
	return buf->p + buf->n;
}

void buf_add_u64(struct buf *buf, uint64_t value)
{
	char digits[20]; // UINT64_MAX has 20 digits
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	buf_add(buf, str_n(digits + at, sizeof(digits) - at));
}

void buf_add_i64(struct buf *buf, int64_t value)
{
	if (value < 0)
		buf_addc(buf, '-');
	// Unsigned negation is defined for INT64_MIN, too.
	buf_add_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void buf_hex(char *to, const void *bytes, size_t n)
{
	// Digits in pairs, for speed: every answer has some hundred bytes in hex.
	static const char pairs[] =
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f"
		"303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
		"606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f808182838485868788898a8b8c8d8e8f"
		"909192939495969798999a9b9c9d9e9fa0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
		"c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5e6e7e8e9eaebecedeeef"
		"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < n; i++)
		memcpy(&to[2 * i], &pairs[2 * from[i]], 2);
}

void buf_add_hex(struct buf *buf, const void *bytes, size_t n)
{
	buf_hex(buf_more(buf, n * 2), bytes, n);
	buf->n += n * 2;
}

void buf_add_base64(struct buf *buf, const void *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;

	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t bits = (uint32_t)from[i] << 16;
		bits |= have > 1 ? (uint32_t)from[i + 1] << 8 : 0;
		bits |= have > 2 ? (uint32_t)from[i + 2] : 0;
		buf_addc(buf, digits[bits >> 18]);
		buf_addc(buf, digits[bits >> 12 & 63]);
		buf_addc(buf, have > 1 ? digits[bits >> 6 & 63] : '=');
		buf_addc(buf, have > 2 ? digits[bits & 63] : '=');
	}
}

void buf_addf(struct buf *buf, const char *format, ...)
{
	va_list args, again;

	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	assert(n >= 0);
	// vsnprintf writes a NUL, too: it needs room, but is not counted.
	(void)vsnprintf(buf_more(buf, (size_t)n + 1), (size_t)n + 1, format, again);
	va_end(again);
	buf->n += (size_t)n;
}

struct str buf_str(const struct buf *buf)
{
	return str_n(buf->p, buf->n);
}
