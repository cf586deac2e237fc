// SPDX-License-Identifier: Apache-2.0
// Characters and names of XML 1.0.
#include "base/base.h"

#include "repr/xml/text.h"

struct range {
	uint32_t from, to;
};

static bool in_ranges(const struct range *ranges, size_t n, uint32_t c)
{
	for (size_t i = 0; i < n; i++) {
		if (c >= ranges[i].from && c <= ranges[i].to)
			return true;
	}
	return false;
}

uint32_t xml_next_char(struct str s, size_t *at)
{
	unsigned char lead = (unsigned char)s.p[*at];
	size_t n = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;

	if (n == 1) {
		++*at;
		return lead;
	}
	if (!str_utf8_ok(str_part(s, *at, *at + n), NULL)) {
		++*at;
		return 0xfffd;
	}
	uint32_t c = lead & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s.p[*at + i] & 0x3f);
	*at += n;
	return c;
}

bool xml_is_char(uint32_t c)
{
	static const struct range chars[] = {
		{ 0x20, 0xd7ff }, { 0x9, 0xa }, { 0xd, 0xd }, { 0xe000, 0xfffd }, { 0x10000, 0x10ffff },
	};

	return in_ranges(chars, COUNT_OF(chars), c);
}

bool xml_holds(struct str s)
{
	for (size_t at = 0; at < s.n;) {
		if (!xml_is_char(xml_next_char(s, &at)))
			return false;
	}
	return true;
}

// Production [4] of XML 1.0, fifth edition, without the colon.
static bool is_name_start(uint32_t c)
{
	static const struct range starts[] = {
		{ 'a', 'z' }, { 'A', 'Z' }, { '_', '_' }, { 0xc0, 0xd6 }, { 0xd8, 0xf6 }, { 0xf8, 0x2ff }, { 0x370, 0x37d },
		{ 0x37f, 0x1fff }, { 0x200c, 0x200d }, { 0x2070, 0x218f }, { 0x2c00, 0x2fef }, { 0x3001, 0xd7ff },
		{ 0xf900, 0xfdcf }, { 0xfdf0, 0xfffd }, { 0x10000, 0xeffff },
	};

	return in_ranges(starts, COUNT_OF(starts), c);
}

static bool is_name_char(uint32_t c)
{
	static const struct range more[] = {
		{ '0', '9' }, { '-', '.' }, { 0xb7, 0xb7 }, { 0x300, 0x36f }, { 0x203f, 0x2040 },
	};

	return is_name_start(c) || in_ranges(more, COUNT_OF(more), c);
}

bool xml_is_ncname(struct str s)
{
	if (s.n == 0 || !str_utf8_ok(s, NULL) || str_eq_nocase(str_part(s, 0, 3), STR("xml")))
		return false;
	for (size_t at = 0; at < s.n;) {
		bool first = at == 0;
		uint32_t c = xml_next_char(s, &at);
		if (first ? !is_name_start(c) : !is_name_char(c))
			return false;
	}
	return true;
}

// The replacement for a character in text, or in an attribute; NULL: the character itself.
static const char *replacement(uint32_t c, bool attribute)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '\r': return "&#13;"; // a parser would read it as a line feed
	case '"': return attribute ? "&quot;" : NULL;
	case '\t': return attribute ? "&#9;" : NULL; // a parser would replace it by a blank in attributes
	case '\n': return attribute ? "&#10;" : NULL;
	default: return xml_is_char(c) ? NULL : "\xef\xbf\xbd";
	}
}

static void add(struct buf *out, struct str s, bool attribute)
{
	size_t from = 0;

	for (size_t at = 0; at < s.n;) {
		size_t start = at;
		uint32_t c = xml_next_char(s, &at);
		const char *instead = replacement(c, attribute);
		if (instead == NULL && c == 0xfffd)
			instead = "\xef\xbf\xbd"; // U+FFFD, also for a byte that is no UTF-8
		if (instead == NULL)
			continue;
		buf_add(out, str_part(s, from, start));
		buf_add(out, str_c(instead));
		from = at;
	}
	buf_add(out, str_part(s, from, s.n));
}

void xml_add_text(struct buf *out, struct str s)
{
	add(out, s, false);
}

void xml_add_value(struct buf *out, struct str s)
{
	add(out, s, true);
}
