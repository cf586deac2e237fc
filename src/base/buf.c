// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/pool.h"

enum { BUF_LEAST = 64 };

struct buf buf_new(struct pool *pool, size_t room)
{
	assert(pool != NULL);
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

typedef uint8_t bytes16 __attribute__((vector_size(16)));

// The hex digits of eight bytes: the upper half of each byte, and then the lower one.
static void hex_of_eight(char *to, const void *from)
{
	bytes16 bytes = { 0 };

	memcpy(&bytes, from, 8);
	bytes16 digits = __builtin_shufflevector(bytes >> 4, bytes & 15, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	bytes16 is_letter = (bytes16)(digits > 9); // all bits of such a byte
	digits += '0' + (is_letter & (uint8_t)('a' - '0' - 10));
	memcpy(to, &digits, sizeof(digits));
}

void buf_hex(char *to, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;
	size_t i = 0;

	assert(n == 0 || bytes != NULL);
	// Eight at a time, for speed: every answer has some hundred bytes in hex.
	for (; n - i >= 8; i += 8)
		hex_of_eight(&to[2 * i], &from[i]);
	for (; i < n; i++) {
		to[2 * i] = digits[from[i] >> 4];
		to[2 * i + 1] = digits[from[i] & 15];
	}
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
	size_t n = str_format(NULL, format, args);
	va_end(args);
	(void)str_format(buf_more(buf, n + 1), format, again);
	va_end(again);
	buf->n += n;
}

struct str buf_str(const struct buf *buf)
{
	return str_n(buf->p, buf->n);
}
