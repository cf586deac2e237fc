// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <wchar.h>

#include "base/buf.h"
#include "base/pool.h"
#include "base/visible.h"

// Decodes the character at offset at. Returns its length in bytes; 0: the byte is not part of one.
static size_t decode(struct str s, size_t at, uint32_t *code)
{
	unsigned char c = (unsigned char)s.p[at];
	size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

	*code = c;
	if (n == 1)
		return 1;
	if (at + n > s.n || !str_utf8_ok(str_part(s, at, at + n), NULL))
		return 0;
	*code = c & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++)
		*code = *code << 6 | ((unsigned char)s.p[at + i] & 0x3f);
	return n;
}

// Is it a control character (C0, DEL, C1), or one that turns or hides the text beside it?
static bool is_wild(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
		(c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xe0000 && c <= 0xe007f);
}

struct str visible_text(struct pool *pool, struct str s)
{
	struct buf out = buf_new(pool, s.n + 1);
	uint32_t code;

	for (size_t at = 0; at < s.n;) {
		size_t n = decode(s, at, &code);
		if (n == 0 || (is_wild(code) && code < 0x100))
			buf_addf(&out, "\\x%02x", (unsigned)code);
		else if (is_wild(code))
			buf_addf(&out, "\\u{%x}", (unsigned)code);
		else
			buf_add(&out, str_part(s, at, at + n));
		at += n > 0 ? n : 1;
	}
	return buf_str(&out);
}

struct str visible_json(struct pool *pool, struct str s)
{
	struct buf out = buf_new(pool, s.n + 1);
	uint32_t code;

	for (size_t at = 0; at < s.n;) {
		size_t n = decode(s, at, &code);
		if (n > 0 && (!is_wild(code) || code == '\n'))
			buf_add(&out, str_part(s, at, at + n));
		else if (code > 0xffff)
			buf_addf(&out, "\\u%04x\\u%04x", 0xd7c0 + (unsigned)(code >> 10), 0xdc00 + (unsigned)(code & 0x3ff));
		else
			buf_addf(&out, "\\u%04x", (unsigned)code);
		at += n > 0 ? n : 1;
	}
	return buf_str(&out);
}

size_t visible_width(struct str s)
{
	size_t width = 0;
	uint32_t code;

	for (size_t at = 0; at < s.n;) {
		size_t n = decode(s, at, &code);
		int columns = wcwidth((wchar_t)code);
		width += columns >= 0 ? (size_t)columns : 1;
		at += n > 0 ? n : 1;
	}
	return width;
}
