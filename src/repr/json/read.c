// SPDX-License-Identifier: Apache-2.0
// Parses strict JSON text into a tree. The text is copied into the tree's pool once: strings, names and numbers are parts of that
// copy, in which each string's closing quote becomes a NUL. Only a string with escapes is written anew.
#include "base/base.h"

#include <stdarg.h>

#include "base/ascii.h"
#include "base/budget.h"
#include "base/pool.h"
#include "repr/json/internal.h"
#include "repr/json/part.h"

struct json_reader {
	struct pool *pool;
	struct str given; // the caller's text, for the places in error texts
	struct str text;  // its copy
	char *copy;       // text.p, to be written to
	size_t at;
	struct doc_limits limits;
	size_t depth, nodes;
	const struct str *without; // names of members that are skipped, up to one whose p is NULL; NULL: none
	struct str *error;
};

static bool read_value(struct json_reader *reader, struct doc **value);

// The line and column of an offset: lines end at LF, columns count characters.
static struct str position(struct json_reader *reader, size_t at)
{
	size_t line = 1, start = 0;

	for (size_t i = 0; i < at; i++) {
		if (reader->given.p[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	size_t column = str_utf8_length(str_part(reader->given, start, at)) + 1;
	return str_printf(reader->pool, "line %zu, column %zu", line, column);
}

static bool fail(struct json_reader *reader, size_t at, const char *format, ...) PRINTF_LIKE(3, 4);
static bool fail(struct json_reader *reader, size_t at, const char *format, ...)
{
	char why[512];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof why, format, args);
	va_end(args);
	struct str where = position(reader, at);
	*reader->error = str_printf(reader->pool, "%.*s: %s", STR_ARG(where), why);
	return false;
}

// The character at the reader's position, for error texts.
static const char *found(struct json_reader *reader, char text[8])
{
	if (reader->at == reader->text.n)
		return "the end of the text";
	char c = reader->text.p[reader->at];
	if (c < ' ' || c > '~')
		return "a character that can't stand here";
	snprintf(text, 8, "'%c'", c);
	return text;
}

static bool fail_expected(struct json_reader *reader, const char *expected)
{
	char text[8];

	return fail(reader, reader->at, "expected %s, found %s", expected, found(reader, text));
}

// The budget was exceeded while leaving is deferred (base/budget.h). Nobody reads an error text, because the request is left at
// the release.
static bool fail_costly(struct json_reader *reader)
{
	*reader->error = STR("the document takes more memory than a request is granted");
	return false;
}

static void skip_blanks(struct json_reader *reader)
{
	while (reader->at < reader->text.n) {
		char c = reader->text.p[reader->at];
		if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			break;
		reader->at++;
	}
}

// The next byte that is no blank, without taking it; NUL at the end (a NUL in the text fits nowhere either).
static char peek(struct json_reader *reader)
{
	skip_blanks(reader);
	return reader->at < reader->text.n ? reader->text.p[reader->at] : '\0';
}

static bool take(struct json_reader *reader, char c)
{
	if (peek(reader) != c || reader->at == reader->text.n)
		return false;
	reader->at++;
	return true;
}

// Moves from behind the opening quote onto the closing one.
static bool find_quote(struct json_reader *reader, bool *escapes)
{
	*escapes = false;
	for (size_t start = reader->at - 1;; reader->at++) {
		reader->at = json_plain(reader->text, reader->at);
		if (reader->at == reader->text.n)
			break;
		char c = reader->text.p[reader->at];
		if (c == '"')
			return true;
		if ((unsigned char)c < ' ')
			return fail(reader, reader->at, "control characters in strings are escaped: \\u%04x", (unsigned)c);
		if (c == '\\') {
			*escapes = true;
			if (++reader->at == reader->text.n)
				return fail(reader, start, "the string is not closed");
		}
	}
	return fail(reader, reader->at, "the text ends within a string");
}

// Resolves the escapes of a string that begins at start. The result is shorter.
static bool unescape(struct json_reader *reader, size_t start, struct str *s)
{
	struct buf plain = buf_new(reader->pool, s->n + 1);
	size_t bad;
	const char *why;

	if (!json_unescape(*s, &plain, &bad, &why))
		return fail(reader, start + bad, "%s", why);
	buf_addc(&plain, '\0');
	*s = str_n(plain.p, plain.n - 1);
	return true;
}

// Reads the string after its opening quote. *s is ended by NUL and lives as long as the pool.
static bool read_string(struct json_reader *reader, struct str *s)
{
	size_t start = reader->at;
	bool escapes;

	if (!find_quote(reader, &escapes))
		return false;
	*s = str_part(reader->text, start, reader->at);
	reader->copy[reader->at++] = '\0';
	return !escapes || unescape(reader, start, s);
}

static bool read_number(struct json_reader *reader, struct doc **value)
{
	struct str rest = str_part(reader->text, reader->at, reader->text.n);
	struct str text = str_part(rest, 0, json_number_run(rest));
	const char *why;

	*value = json_number_parse(reader->pool, text, &why);
	if (*value == NULL)
		return fail(reader, reader->at, "%s", why);
	reader->at += text.n;
	return true;
}

static bool read_word(struct json_reader *reader, struct doc **value)
{
	struct str rest = str_part(reader->text, reader->at, reader->text.n);

	if (str_starts(rest, STR("true"))) {
		*value = doc_new_bool(reader->pool, true);
		reader->at += 4;
	} else if (str_starts(rest, STR("false"))) {
		*value = doc_new_bool(reader->pool, false);
		reader->at += 5;
	} else if (str_starts(rest, STR("null"))) {
		*value = NULL;
		reader->at += 4;
	} else {
		return fail_expected(reader, "a JSON value");
	}
	return true;
}

static bool enter(struct json_reader *reader)
{
	if (reader->depth == reader->limits.depth)
		return fail(reader, reader->at, "the document is nested more than %zu levels deep", reader->limits.depth);
	reader->depth++;
	reader->at++;
	return true;
}

static bool read_elements(struct json_reader *reader, struct doc *array)
{
	struct doc *element;

	if (take(reader, ']'))
		return true;
	do {
		if (!read_value(reader, &element))
			return false;
		doc_push(array, element);
	} while (take(reader, ','));
	return take(reader, ']') || fail_expected(reader, "',' or ']' after an element");
}

static bool is_skipped(const struct json_reader *reader, struct str name)
{
	const struct str *without = reader->without;

	while (without != NULL && without->p != NULL && !str_eq(name, *without))
		without++;
	return without != NULL && without->p != NULL;
}

static bool skip_value(struct json_reader *reader)
{
	budget_work(1);
	skip_blanks(reader);
	reader->at = json_skip_value(reader->text, reader->at);
	return true;
}

static bool read_member(struct json_reader *reader, struct doc *object)
{
	struct doc *value;
	struct str name;

	if (!take(reader, '"'))
		return fail_expected(reader, "a member's name in double quotes");
	size_t start = reader->at - 1;
	if (!read_string(reader, &name))
		return false;
	if (str_find(name, '\0', 0) < name.n)
		return fail(reader, start, "a member's name can't hold \\u0000");
	if (!take(reader, ':'))
		return fail_expected(reader, "':' after a member's name");
	if (is_skipped(reader, name))
		return skip_value(reader);
	if (!read_value(reader, &value))
		return false;
	if (json_add_member(object, name, value))
		return true;
	name = json_clipped(reader->pool, name);
	return fail(reader, start, "the member \"%.*s\" is there twice", STR_ARG(name));
}

static bool read_members(struct json_reader *reader, struct doc *object)
{
	if (take(reader, '}'))
		return true;
	do {
		if (!read_member(reader, object))
			return false;
	} while (take(reader, ','));
	return take(reader, '}') || fail_expected(reader, "',' or '}' after a member");
}

static bool read_container(struct json_reader *reader, bool array, struct doc **value)
{
	if (!enter(reader))
		return false;
	*value = array ? doc_new_array(reader->pool) : doc_new_object(reader->pool);
	if (!(array ? read_elements(reader, *value) : read_members(reader, *value)))
		return false;
	reader->depth--;
	return true;
}

static bool read_value(struct json_reader *reader, struct doc **value)
{
	char c = peek(reader);
	struct str s;

	*value = NULL;
	if (budget_is_over())
		return fail_costly(reader);
	if (reader->limits.nodes != 0 && reader->nodes++ == reader->limits.nodes)
		return fail(reader, reader->at, "the document has more than %zu values", reader->limits.nodes);
	if (c == '{' || c == '[')
		return read_container(reader, c == '[', value);
	if (c == '-' || ascii_is_digit(c))
		return read_number(reader, value);
	if (c != '"')
		return read_word(reader, value);
	reader->at++;
	if (!read_string(reader, &s))
		return false;
	*value = json_string_of(reader->pool, s);
	return true;
}

static bool read_text(struct json_reader *reader, struct doc **value)
{
	size_t bad;

	if (str_starts(reader->given, STR("\xef\xbb\xbf")))
		return fail(reader, 0, "a byte order mark stands before the text; leave it out");
	if (!str_utf8_ok(reader->given, &bad))
		return fail(reader, bad, "the text is not well-formed UTF-8 here");
	if (reader->given.n >= UINT32_MAX)
		return fail(reader, 0, "the text is longer than 4 GiB");
	reader->copy = pool_alloc(reader->pool, reader->given.n);
	if (reader->given.n > 0)
		memcpy(reader->copy, reader->given.p, reader->given.n);
	reader->text = str_n(reader->copy, reader->given.n);
	if (!read_value(reader, value))
		return false;
	peek(reader);
	return reader->at == reader->text.n || fail_expected(reader, "nothing more after the value");
}

bool doc_parse_json(struct pool *pool, struct str text, struct doc_limits limits, struct doc **doc, struct str *error)
{
	return doc_parse_json_without(pool, text, limits, NULL, doc, error);
}

bool doc_parse_json_without(struct pool *pool, struct str text, struct doc_limits limits, const struct str *names, struct doc **doc,
	struct str *error)
{
	struct json_reader reader = { .pool = pool, .given = text, .limits = limits, .without = names, .error = error };
	struct doc *value;

	*doc = NULL;
	if (reader.limits.depth > REPR_DEPTH_MAX)
		reader.limits.depth = REPR_DEPTH_MAX;
	if (!read_text(&reader, &value))
		return false;
	*doc = value;
	return true;
}
