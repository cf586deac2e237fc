// SPDX-License-Identifier: Apache-2.0
// Resolves and makes the escapes of JSON strings.
#include "base/base.h"

#include "base/pool.h"
#include "repr/json/internal.h"

// The value of the four hex digits at at; -1: there are not four.
static int32_t hex4(struct str text, size_t at)
{
	int32_t value = 0;

	if (text.n < 4 || at > text.n - 4)
		return -1;
	for (size_t i = at; i < at + 4; i++) {
		int digit = str_hex_digit(text.p[i]);
		if (digit < 0)
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

static void add_utf8(struct buf *out, uint32_t c)
{
	char bytes[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = n - 1; i > 0; i--) {
		bytes[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	bytes[0] = (char)(lead[n] | c);
	buf_add(out, str_n(bytes, n));
}

// "\uXXXX", or two for a character beyond U+FFFF; *at is after the 'u', and moves behind the last digit.
static const char *unescape_unicode(struct str text, size_t *at, struct buf *out)
{
	int32_t c = hex4(text, *at);

	if (c < 0)
		return "four hexadecimal digits must follow \\u";
	*at += 4;
	if (c >= 0xdc00 && c <= 0xdfff)
		return "a low surrogate must follow a high one";
	if (c >= 0xd800 && c <= 0xdbff) {
		int32_t low = str_eq(str_part(text, *at, *at + 2), STR("\\u")) ? hex4(text, *at + 2) : -1;
		if (low < 0xdc00 || low > 0xdfff)
			return "a high surrogate must be followed by a low one";
		c = 0x10000 + (c - 0xd800) * 0x400 + (low - 0xdc00);
		*at += 6;
	}
	add_utf8(out, (uint32_t)c);
	return NULL;
}

// The escape behind a backslash; *at is on the letter, and moves behind the escape.
static const char *unescape_one(struct str text, size_t *at, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	if (*at == text.n)
		return "a backslash begins an escape";
	char c = text.p[(*at)++];
	if (c == 'u')
		return unescape_unicode(text, at, out);
	const char *found = c == '\0' ? NULL : strchr(from, c);
	if (found == NULL)
		return "that is no escape; JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX";
	buf_addc(out, to[found - from]);
	return NULL;
}

bool json_unescape(struct str text, struct buf *out, size_t *at, const char **why)
{
	size_t i = 0;

	while (i < text.n) {
		size_t backslash = str_find(text, '\\', i);
		buf_add(out, str_part(text, i, backslash));
		*at = backslash;
		i = backslash + 1;
		if (backslash < text.n && (*why = unescape_one(text, &i, out)) != NULL)
			return false;
	}
	return true;
}

size_t json_plain(struct str text, size_t from)
{
	const uint64_t each = UINT64_C(0x0101010101010101), high = each * 0x80;
	size_t at = from;
	uint64_t word;

	// Eight bytes at a time. Below, a byte's highest bit is set where it is less than a blank, a quote or a backslash; a bit
	// above such a byte may be set, too. So the lowest one is right, which is that of the first byte where the lowest byte is
	// the first; elsewhere the bytes of such a word are looked at one by one.
	for (; text.n - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, text.p + at, sizeof(word));
		uint64_t quote = word ^ each * '"', backslash = word ^ each * '\\';
		uint64_t found = (((word - each * ' ') & ~word) | ((quote - each) & ~quote) | ((backslash - each) & ~backslash)) & high;
		if (found == 0)
			continue;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		return at + (size_t)__builtin_ctzll(found) / 8;
#else
		break;
#endif
	}
	for (; at < text.n; at++) {
		char c = text.p[at];
		if ((unsigned char)c < ' ' || c == '"' || c == '\\')
			break;
	}
	return at;
}

static void add_escaped(struct buf *out, char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *found = c == '\0' ? NULL : strchr(from, c);

	if (found != NULL) {
		buf_addc(out, '\\');
		buf_addc(out, to[found - from]);
	} else {
		buf_addf(out, "\\u%04x", (unsigned)(unsigned char)c);
	}
}

void json_add_string(struct buf *out, struct str s)
{
	buf_addc(out, '"');
	for (size_t from = 0, at; from < s.n; from = at + 1) {
		at = json_plain(s, from);
		buf_add(out, str_part(s, from, at));
		if (at < s.n)
			add_escaped(out, s.p[at]);
	}
	buf_addc(out, '"');
}
