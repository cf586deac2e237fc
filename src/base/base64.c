// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/ascii.h"
#include "base/base64.h"
#include "base/buf.h"

enum { NO_DIGIT = 64 };

// The six bits that a character stands for, if the alphabet's last two are these; else NO_DIGIT.
static unsigned digit(char c, char digit_62, char digit_63)
{
	if (ascii_is_upper(c))
		return (unsigned)(c - 'A');
	if (ascii_is_lower(c))
		return (unsigned)(c - 'a') + 26;
	if (ascii_is_digit(c))
		return (unsigned)(c - '0') + 52;
	return c == digit_62 ? 62 : c == digit_63 ? 63 : NO_DIGIT;
}

// The number of "=" at the end, of which two at most are padding.
static size_t padding(struct str text)
{
	size_t n = 0;

	while (n < 2 && n < text.n && text.p[text.n - 1 - n] == '=')
		n++;
	return n;
}

bool base64_is_valid(struct str text)
{
	size_t n = text.n - padding(text);

	for (size_t i = 0; i < n; i++) {
		if (digit(text.p[i], '+', '/') == NO_DIGIT)
			return false;
	}
	return text.n % 4 == 0;
}

size_t base64_size(struct str text)
{
	return text.n / 4 * 3 - padding(text);
}

struct str base64_decoded(struct pool *pool, struct str text)
{
	size_t n = base64_size(text);
	struct buf out = buf_new(pool, n + 1);

	for (size_t i = 0; i + 4 <= text.n; i += 4) {
		uint32_t bits = 0;
		for (size_t k = 0; k < 4; k++)
			bits = bits << 6 | (text.p[i + k] == '=' ? 0 : digit(text.p[i + k], '+', '/'));
		for (size_t k = 0; k < 3 && out.n < n; k++)
			buf_addc(&out, (char)(bits >> (16 - 8 * k) & 0xff));
	}
	return buf_str(&out);
}

void base64_url_add(struct buf *buf, const void *bytes, size_t n)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const uint8_t *from = bytes;
	unsigned pending = 0, n_bits = 0;

	for (size_t i = 0; i < n; i++) {
		pending = (pending << 8 | from[i]) & 0xffff;
		n_bits += 8;
		for (; n_bits >= 6; n_bits -= 6)
			buf_addc(buf, alphabet[pending >> (n_bits - 6) & 63]);
	}
	if (n_bits > 0)
		buf_addc(buf, alphabet[pending << (6 - n_bits) & 63]);
}

bool base64_url_read(struct str text, uint8_t *out, size_t *n)
{
	unsigned pending = 0, n_bits = 0;

	*n = 0;
	for (size_t i = 0; i < text.n; i++) {
		unsigned value = digit(text.p[i], '-', '_');
		if (value == NO_DIGIT)
			return false;
		pending = (pending << 6 | value) & 0xffff;
		n_bits += 6;
		if (n_bits >= 8) {
			n_bits -= 8;
			out[(*n)++] = (uint8_t)(pending >> n_bits);
		}
	}
	return n_bits < 6 && (pending & ((1U << n_bits) - 1)) == 0;
}
