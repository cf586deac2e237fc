// SPDX-License-Identifier: Apache-2.0
// Parses strict JSON text into a tree. json-c's own parser is not used: it accepts duplicate names, NaN, control characters and
// overlong UTF-8, cuts names at \u0000 and saturates integers.
#include "base/base.h"

#include <stdarg.h>

#include "base/budget.h"
#include "base/pool.h"
#include "repr/json/internal.h"

struct json_reader {
	struct pool *pool;
	struct str text;
	size_t at;
	struct doc_limits limits;
	size_t depth, nodes, objects;
	struct buf scratch; // the last string that had escapes
	struct str *error;
};

static bool read_value(struct json_reader *reader, struct json_object **value);

// The line and column of an offset: lines end at LF, columns count characters.
static struct str position(struct json_reader *reader, size_t at)
{
	size_t line = 1, start = 0;

	for (size_t i = 0; i < at; i++) {
		if (reader->text.p[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	size_t column = str_utf8_length(str_part(reader->text, start, at)) + 1;
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

// The budget is exceeded. Nobody reads an error text, because the request is left once the tree is dropped.
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

// Reads the string after its opening quote. *s is valid until the next string is read.
static bool read_string(struct json_reader *reader, struct str *s)
{
	size_t start = reader->at, bad;
	const char *why;
	bool escapes;

	if (!find_quote(reader, &escapes))
		return false;
	*s = str_part(reader->text, start, reader->at++);
	if (!escapes)
		return true;
	reader->scratch.n = 0;
	if (!json_unescape(*s, &reader->scratch, &bad, &why))
		return fail(reader, start + bad, "%s", why);
	*s = buf_str(&reader->scratch);
	return true;
}

static bool read_number(struct json_reader *reader, struct json_object **value)
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

static bool read_word(struct json_reader *reader, struct json_object **value)
{
	struct str rest = str_part(reader->text, reader->at, reader->text.n);
	size_t n;

	if (str_starts(rest, STR("true"))) {
		*value = json_tree_made(json_object_new_boolean(true));
		n = 4;
	} else if (str_starts(rest, STR("false"))) {
		*value = json_tree_made(json_object_new_boolean(false));
		n = 5;
	} else if (str_starts(rest, STR("null"))) {
		*value = NULL;
		n = 4;
	} else {
		return fail_expected(reader, "a JSON value");
	}
	reader->at += n;
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

static bool read_elements(struct json_reader *reader, struct json_object *array)
{
	struct json_object *element;

	if (take(reader, ']'))
		return true;
	do {
		if (!read_value(reader, &element))
			return false;
		if (json_object_array_add(array, element) != 0)
			json_tree_made(NULL);
	} while (take(reader, ','));
	return take(reader, ']') || fail_expected(reader, "',' or ']' after an element");
}

static bool read_member(struct json_reader *reader, struct json_object *object)
{
	struct json_object *value;
	struct str name;

	if (!take(reader, '"'))
		return fail_expected(reader, "a member's name in double quotes");
	size_t start = reader->at - 1;
	if (!read_string(reader, &name))
		return false;
	if (str_find(name, '\0', 0) < name.n)
		return fail(reader, start, "a member's name can't hold \\u0000");
	if (name.p == reader->scratch.p)
		name = str_dup(reader->pool, name); // read_value() may overwrite scratch
	if (!take(reader, ':'))
		return fail_expected(reader, "':' after a member's name");
	if (!json_tree_charge_member(object, name.n))
		return fail_costly(reader);
	if (!read_value(reader, &value))
		return false;
	if (json_tree_add(object, name, value))
		return true;
	json_object_put(value);
	name = json_clipped(reader->pool, name);
	return fail(reader, start, "the member \"%.*s\" is there twice", STR_ARG(name));
}

static bool read_members(struct json_reader *reader, struct json_object *object)
{
	if (take(reader, '}'))
		return true;
	do {
		if (!read_member(reader, object))
			return false;
	} while (take(reader, ','));
	return take(reader, '}') || fail_expected(reader, "',' or '}' after a member");
}

// Reads an array or object. If that fails, what was read of it is dropped.
static bool read_container(struct json_reader *reader, bool array, struct json_object **value)
{
	if (!enter(reader) || (array && !json_tree_charge(TREE_VALUE) && !fail_costly(reader)))
		return false;
	*value = json_tree_made(array ? json_object_new_array_ext(1) : json_object_new_object());
	if (array ? read_elements(reader, *value) : read_members(reader, *value)) {
		reader->depth--;
		if (!array)
			json_tree_charge_object(*value, &reader->objects);
		return true;
	}
	json_object_put(*value);
	*value = NULL;
	return false;
}

static bool read_value(struct json_reader *reader, struct json_object **value)
{
	char c = peek(reader);
	struct str s;

	*value = NULL;
	if (!json_tree_charge(TREE_VALUE))
		return fail_costly(reader);
	if (reader->limits.nodes != 0 && reader->nodes++ == reader->limits.nodes)
		return fail(reader, reader->at, "the document has more than %zu values", reader->limits.nodes);
	if (c == '{' || c == '[')
		return read_container(reader, c == '[', value);
	if (c == '-' || (c >= '0' && c <= '9'))
		return read_number(reader, value);
	if (c != '"')
		return read_word(reader, value);
	reader->at++;
	if (!read_string(reader, &s))
		return false;
	if (!json_tree_charge(s.n))
		return fail_costly(reader);
	*value = json_tree_string(s);
	return true;
}

static bool read_text(struct json_reader *reader, struct json_object **value)
{
	size_t bad;

	if (str_starts(reader->text, STR("\xef\xbb\xbf")))
		return fail(reader, 0, "a byte order mark stands before the text; leave it out");
	if (!str_utf8_ok(reader->text, &bad))
		return fail(reader, bad, "the text is not well-formed UTF-8 here");
	if (!read_value(reader, value))
		return false;
	peek(reader);
	if (reader->at == reader->text.n)
		return true;
	json_object_put(*value);
	return fail_expected(reader, "nothing more after the value");
}

bool doc_parse_json(struct pool *pool, struct str text, struct doc_limits limits, struct doc **doc, struct str *error)
{
	struct json_reader reader = {
		.pool = pool, .text = text, .limits = limits, .scratch = buf_new(pool, 0), .error = error,
	};
	struct json_object *value;
	size_t before = json_tree_charged();

	*doc = NULL;
	if (reader.limits.depth > REPR_DEPTH_MAX)
		reader.limits.depth = REPR_DEPTH_MAX;
	budget_hold(); // no pool has the tree yet
	bool read = read_text(&reader, &value);
	if (read)
		*doc = json_tree_keep(pool, value);
	else
		json_tree_uncharge(before);
	budget_release();
	return read;
}
