// SPDX-License-Identifier: Apache-2.0
// Text for people and terminals.
#include "base/base.h"

#include <wchar.h>

#include "cli/core/cli.h"

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

struct str cli_text_tame(struct pool *pool, struct str s)
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

struct str cli_text_tame_json(struct pool *pool, struct str s)
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

size_t cli_text_width(struct str s)
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

void cli_text_print(FILE *out, struct str s)
{
	if (s.n > 0)
		fwrite(s.p, 1, s.n, out);
}

struct str doc_text(struct pool *pool, const struct doc *document)
{
	struct buf text = buf_new(pool, 0);

	doc_write_json(document, &text);
	return str_dup(pool, buf_str(&text));
}

struct str cli_text(struct pool *pool, const struct doc *value)
{
	return doc_kind(value) == DOC_STRING ? doc_string(value) : doc_text(pool, value);
}

bool doc_at_path(const struct doc *doc, struct str path, const struct doc **value)
{
	const struct doc *inner;

	if (doc_get(doc, path, value))
		return true;
	for (size_t dot = str_find(path, '.', 0); dot < path.n; dot = str_find(path, '.', dot + 1)) {
		if (doc_get(doc, str_part(path, 0, dot), &inner) && doc_at_path(inner, str_part(path, dot + 1, path.n), value))
			return true;
	}
	return false;
}

static void indent(struct buf *out, size_t level)
{
	buf_addc(out, '\n');
	for (size_t i = 0; i < level; i++)
		BUF_LIT(out, "  ");
}

static void write_pretty(const struct doc *doc, size_t level, struct buf *out)
{
	bool first = true;

	if (doc_length(doc) == 0) {
		doc_write_json(doc, out);
		return;
	}
	bool array = doc_kind(doc) == DOC_ARRAY;
	buf_addc(out, array ? '[' : '{');
	for (size_t i = 0; array && i < doc_length(doc); i++) {
		if (i > 0)
			buf_addc(out, ',');
		indent(out, level + 1);
		write_pretty(doc_at(doc, i), level + 1, out);
	}
	for (struct doc_iter it = doc_iter(doc); !array && doc_next(&it); first = false) {
		if (!first)
			buf_addc(out, ',');
		indent(out, level + 1);
		json_add_string(out, it.name);
		BUF_LIT(out, ": ");
		write_pretty(it.value, level + 1, out);
	}
	indent(out, level);
	buf_addc(out, array ? ']' : '}');
}

void doc_write_pretty(const struct doc *doc, struct buf *out)
{
	write_pretty(doc, 0, out);
	buf_addc(out, '\n');
}

void cli_bar_print(FILE *out, uint64_t done, uint64_t total)
{
	enum { WIDTH = 30 };
	uint64_t full = total == 0 ? 0 : done < total ? (uint64_t)((double)done / (double)total * WIDTH) : WIDTH;
	char bar[WIDTH + 1];

	for (uint64_t i = 0; i < WIDTH; i++)
		bar[i] = i < full ? '#' : '.';
	bar[WIDTH] = '\0';
	fprintf(out, "\r[%s]", bar);
}
