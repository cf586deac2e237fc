// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/ascii.h"
#include "repr/json/jsonpath.h"
#include "base/buf.h"
#include "base/pool.h"

// STEPS_MAX: most steps of a path.
enum { STEPS_MAX = 32 };

enum step_kind { STEP_MEMBER, STEP_INDEX, STEP_SLICE, STEP_ALL, STEP_DESCEND, STEP_UNION, STEP_FILTER };

enum comparison { COMPARE_EXISTS, COMPARE_EQUAL, COMPARE_DIFFERS, COMPARE_LESS, COMPARE_LEAST, COMPARE_GREATER,
	COMPARE_MOST };

struct filter {
	const struct jsonpath *path; // the path after "@"
	enum comparison comparison;
	const struct doc *value;
};

struct step {
	enum step_kind kind;
	struct str name;         // of MEMBER and DESCEND; p NULL in DESCEND: any name
	int64_t from, to;        // INDEX: only from; SLICE: to INT64_MAX means to the end
	const struct step *list; // UNION: its MEMBER and INDEX steps
	size_t n;
	struct filter filter;
};

struct jsonpath {
	struct step *steps;
	size_t n;
};

// ---- parsing

struct path_reading {
	struct pool *pool;
	struct str text;
	size_t at;
	struct str *error;
};

static bool fail(struct path_reading *reading, const char *what)
{
	*reading->error = str_printf(reading->pool, "at byte %zu of the JSONPath: %s", reading->at + 1, what);
	return false;
}

static char peek(const struct path_reading *reading)
{
	return reading->at < reading->text.n ? reading->text.p[reading->at] : '\0';
}

static void skip_blanks(struct path_reading *reading)
{
	while (peek(reading) == ' ')
		reading->at++;
}

static bool take(struct path_reading *reading, const char *token)
{
	size_t n = strlen(token);

	if (!str_eq_c(str_part(reading->text, reading->at, reading->at + n), token))
		return false;
	reading->at += n;
	return true;
}

static bool ends_name(char c)
{
	return c == '\0' || memchr(".[]()=!<>,}'\" ", c, 14) != NULL;
}

// Reads a name after a dot; a backslash makes the next character part of it: .metadata.labels.example\.com/app
static bool read_name(struct path_reading *reading, struct str *name)
{
	struct buf out = buf_new(reading->pool, 32);

	while (!ends_name(peek(reading))) {
		if (peek(reading) == '\\' && reading->at + 1 < reading->text.n)
			reading->at++;
		buf_addc(&out, reading->text.p[reading->at++]);
	}
	*name = buf_str(&out);
	return out.n > 0 || fail(reading, "a member's name is expected, as in .spec.size or ['a.b']");
}

static bool read_quoted(struct path_reading *reading, struct str *text)
{
	char quote = reading->text.p[reading->at++];
	struct buf out = buf_new(reading->pool, 32);

	while (reading->at < reading->text.n && reading->text.p[reading->at] != quote) {
		if (peek(reading) == '\\' && reading->at + 1 < reading->text.n)
			reading->at++;
		buf_addc(&out, reading->text.p[reading->at++]);
	}
	*text = out.n > 0 ? buf_str(&out) : STR("");
	return take(reading, (char[]){ quote, '\0' }) || fail(reading, "the closing quote is missing");
}

static bool read_integer(struct path_reading *reading, int64_t *value)
{
	bool negative = take(reading, "-");
	size_t begin = reading->at;
	uint64_t digits;

	while (ascii_is_digit(peek(reading)))
		reading->at++;
	if (!str_to_u64(str_part(reading->text, begin, reading->at), &digits) || digits > INT32_MAX)
		return fail(reading, "an index is expected: [0], [-1], [*], ['name'], [1:3] or [?(@.a==1)]");
	*value = negative ? -(int64_t)digits : (int64_t)digits;
	return true;
}

static bool read_steps(struct path_reading *reading, struct jsonpath *path, bool inside);

static bool read_literal(struct path_reading *reading, const struct doc **value)
{
	size_t begin = reading->at;
	struct doc *doc;
	struct str text, error;

	if (peek(reading) == '"' || peek(reading) == '\'') {
		if (!read_quoted(reading, &text))
			return false;
		*value = doc_new_string(reading->pool, text);
		return true;
	}
	while (!ends_name(peek(reading)) || peek(reading) == '.')
		reading->at++;
	text = str_part(reading->text, begin, reading->at);
	if (!doc_parse_json(reading->pool, text, (struct doc_limits){ 1, 1 }, &doc, &error)) {
		reading->at = begin;
		return fail(reading, "a text in quotes, a number, true or false is expected");
	}
	*value = doc;
	return true;
}

// Reads a filter; the reader is behind its "?(".
static bool read_filter(struct path_reading *reading, struct step *step)
{
	static const struct { const char *sign; enum comparison comparison; } signs[] = {
		{ "==", COMPARE_EQUAL }, { "!=", COMPARE_DIFFERS }, { "<=", COMPARE_MOST }, { ">=", COMPARE_LEAST },
		{ "<", COMPARE_LESS }, { ">", COMPARE_GREATER },
	};
	struct jsonpath *path = POOL_NEW(reading->pool, struct jsonpath);
	bool compares = false;

	step->kind = STEP_FILTER;
	step->filter.path = path;
	skip_blanks(reading);
	if (!take(reading, "@"))
		return fail(reading, "a filter begins with @: [?(@.type==\"Ready\")]");
	if (!read_steps(reading, path, true))
		return false;
	skip_blanks(reading);
	for (size_t i = 0; i < COUNT_OF(signs) && !compares; i++) {
		compares = take(reading, signs[i].sign);
		step->filter.comparison = compares ? signs[i].comparison : COMPARE_EXISTS;
	}
	skip_blanks(reading);
	if (compares && !read_literal(reading, &step->filter.value))
		return false;
	skip_blanks(reading);
	return take(reading, ")") || fail(reading, "\")\" is expected behind a filter");
}

// Reads a name in quotes, or an index.
static bool read_choice(struct path_reading *reading, struct step *step)
{
	skip_blanks(reading);
	step->kind = peek(reading) == '\'' || peek(reading) == '"' ? STEP_MEMBER : STEP_INDEX;
	bool read = step->kind == STEP_MEMBER ? read_quoted(reading, &step->name) : read_integer(reading, &step->from);
	skip_blanks(reading);
	return read;
}

static bool read_slice(struct path_reading *reading, struct step *step)
{
	step->kind = STEP_SLICE;
	step->to = INT64_MAX;
	return peek(reading) == ']' || read_integer(reading, &step->to);
}

// Reads the other members of a union; the first was read.
static bool read_union(struct path_reading *reading, struct step *step)
{
	struct step *list = POOL_ARRAY(reading->pool, struct step, STEPS_MAX);
	size_t n = 1;

	list[0] = *step;
	while (take(reading, ",")) {
		if (n == STEPS_MAX)
			return fail(reading, "these are too many choices");
		if (!read_choice(reading, &list[n++]))
			return false;
	}
	*step = (struct step){ .kind = STEP_UNION, .list = list, .n = n };
	return true;
}

// Reads what stands in brackets; the reader is behind the "[".
static bool read_brackets(struct path_reading *reading, struct step *step)
{
	bool read;

	skip_blanks(reading);
	if (take(reading, "*")) {
		step->kind = STEP_ALL;
		read = true;
	} else if (take(reading, "?(")) {
		read = read_filter(reading, step);
	} else if (take(reading, ":")) {
		read = read_slice(reading, step);
	} else {
		read = read_choice(reading, step);
		if (read && step->kind == STEP_INDEX && take(reading, ":"))
			read = read_slice(reading, step);
		else if (read && peek(reading) == ',')
			read = read_union(reading, step);
	}
	skip_blanks(reading);
	return read && (take(reading, "]") || fail(reading, "\"]\" is expected"));
}

static bool read_step(struct path_reading *reading, struct step *step)
{
	if (take(reading, "["))
		return read_brackets(reading, step);
	if (take(reading, "..")) {
		step->kind = STEP_DESCEND;
		return take(reading, "*") || read_name(reading, &step->name);
	}
	if (!take(reading, "."))
		return fail(reading, "a path goes on with \".\" or \"[\"");
	if (take(reading, "*")) {
		step->kind = STEP_ALL;
		return true;
	}
	if (take(reading, "["))
		return read_brackets(reading, step);
	step->kind = STEP_MEMBER;
	return read_name(reading, &step->name);
}

// inside: within a filter, where a path may end before the text does.
static bool read_steps(struct path_reading *reading, struct jsonpath *path, bool inside)
{
	path->steps = POOL_ARRAY(reading->pool, struct step, STEPS_MAX);
	while (reading->at < reading->text.n && peek(reading) != '}') {
		if (inside && peek(reading) != '.' && peek(reading) != '[')
			return true;
		if (path->n == STEPS_MAX)
			return fail(reading, "the path is too long");
		if (!read_step(reading, &path->steps[path->n++]))
			return false;
	}
	return true;
}

bool jsonpath_parse(struct pool *pool, struct str text, const struct jsonpath **path, struct str *error)
{
	struct path_reading reading = { .pool = pool, .text = str_trim(text), .error = error };
	struct jsonpath *read = POOL_NEW(pool, struct jsonpath);
	bool braced;

	*path = read;
	if (text.n > 1000)
		return fail(&reading, "the path is too long");
	braced = take(&reading, "{");
	take(&reading, "$");
	// "." alone is the whole object.
	if (str_eq(str_part(reading.text, reading.at, reading.text.n - (braced ? 1 : 0)), STR(".")))
		reading.at++;
	if (!read_steps(&reading, read, false))
		return false;
	if (braced != take(&reading, "}") || reading.at < reading.text.n)
		return fail(&reading, "braces stand around the whole path or not at all");
	return true;
}

// ---- evaluating

struct evaluation {
	struct pool *pool;
	size_t looks; // how many values may still be looked at
};

struct found {
	const struct doc **list;
	size_t n;
};

static void add_found(struct found *found, const struct doc *value)
{
	if (found->n < JSONPATH_FOUND_MAX)
		found->list[found->n++] = value;
}

static bool look(struct evaluation *evaluation)
{
	if (evaluation->looks == 0)
		return false;
	evaluation->looks--;
	return true;
}

static void add_index(struct found *found, const struct doc *array, int64_t index)
{
	int64_t n = (int64_t)doc_length(array);

	index += index < 0 ? n : 0;
	if (doc_kind(array) == DOC_ARRAY && index >= 0 && index < n)
		add_found(found, doc_at(array, (size_t)index));
}

static void add_slice(struct evaluation *evaluation, struct found *found, const struct doc *array,
	const struct step *step)
{
	int64_t n = (int64_t)doc_length(array), from = step->from + (step->from < 0 ? n : 0);
	int64_t to = step->to < 0 ? step->to + n : step->to < n ? step->to : n;

	for (int64_t i = from < 0 ? 0 : from; i < to && look(evaluation); i++)
		add_index(found, array, i);
}

static void add_all(struct evaluation *evaluation, struct found *found, const struct doc *value)
{
	for (size_t i = 0; doc_kind(value) == DOC_ARRAY && i < doc_length(value) && look(evaluation); i++)
		add_found(found, doc_at(value, i));
	for (struct doc_iter it = doc_iter(value); doc_next(&it) && look(evaluation);)
		add_found(found, it.value);
}

// Recursive; the depth is that of the object.
static void add_below(struct evaluation *evaluation, struct found *found, const struct doc *value, struct str name)
{
	const struct doc *member;

	if (!look(evaluation))
		return;
	if (name.p == NULL)
		add_all(evaluation, found, value);
	else if (doc_get(value, name, &member))
		add_found(found, member);
	for (size_t i = 0; doc_kind(value) == DOC_ARRAY && i < doc_length(value); i++)
		add_below(evaluation, found, doc_at(value, i), name);
	for (struct doc_iter it = doc_iter(value); doc_next(&it);)
		add_below(evaluation, found, it.value, name);
}

static const struct doc *const *evaluate(struct evaluation *evaluation, const struct jsonpath *path,
	const struct doc *object, size_t *n);

static bool compare(const struct doc *value, enum comparison comparison, const struct doc *other)
{
	int order;

	if (comparison == COMPARE_EQUAL || comparison == COMPARE_DIFFERS)
		return doc_equal_by_value(value, other) == (comparison == COMPARE_EQUAL);
	if (doc_kind(value) != doc_kind(other))
		return false;
	if (doc_kind(value) == DOC_NUMBER)
		order = doc_order_numbers(value, other);
	else if (doc_kind(value) == DOC_STRING)
		order = str_cmp(doc_string(value), doc_string(other));
	else
		return false;
	switch (comparison) {
	case COMPARE_LESS: return order < 0;
	case COMPARE_MOST: return order <= 0;
	case COMPARE_GREATER: return order > 0;
	case COMPARE_LEAST: return order >= 0;
	default: return false;
	}
}

static bool passes(struct evaluation *evaluation, const struct filter *filter, const struct doc *item)
{
	struct pool_mark mark = pool_mark(evaluation->pool);
	size_t n;
	const struct doc *const *values = evaluate(evaluation, filter->path, item, &n);
	bool pass = n > 0 &&
		(filter->comparison == COMPARE_EXISTS || compare(values[0], filter->comparison, filter->value));

	pool_rewind(evaluation->pool, mark);
	return pass;
}

static void add_passing(struct evaluation *evaluation, struct found *found, const struct doc *array,
	const struct step *step)
{
	for (size_t i = 0; doc_kind(array) == DOC_ARRAY && i < doc_length(array) && look(evaluation); i++) {
		if (passes(evaluation, &step->filter, doc_at(array, i)))
			add_found(found, doc_at(array, i));
	}
}

static void go(struct evaluation *evaluation, struct found *found, const struct step *step, const struct doc *value)
{
	const struct doc *member;

	if (!look(evaluation))
		return;
	switch (step->kind) {
	case STEP_MEMBER:
		if (doc_get(value, step->name, &member))
			add_found(found, member);
		break;
	case STEP_INDEX:
		add_index(found, value, step->from);
		break;
	case STEP_SLICE:
		add_slice(evaluation, found, value, step);
		break;
	case STEP_ALL:
		add_all(evaluation, found, value);
		break;
	case STEP_DESCEND:
		add_below(evaluation, found, value, step->name);
		break;
	case STEP_UNION:
		for (size_t i = 0; i < step->n; i++)
			go(evaluation, found, &step->list[i], value);
		break;
	case STEP_FILTER:
		add_passing(evaluation, found, value, step);
		break;
	}
}

// Most paths give one value; more room is needed only if a step can lead to several.
static size_t room_for(const struct jsonpath *path)
{
	for (size_t i = 0; i < path->n; i++) {
		if (path->steps[i].kind != STEP_MEMBER && path->steps[i].kind != STEP_INDEX)
			return JSONPATH_FOUND_MAX;
	}
	return 1;
}

static const struct doc *const *evaluate(struct evaluation *evaluation, const struct jsonpath *path,
	const struct doc *object, size_t *n)
{
	size_t room = room_for(path);
	struct found found = { POOL_ARRAY(evaluation->pool, const struct doc *, room), 0 };
	struct found next = { POOL_ARRAY(evaluation->pool, const struct doc *, room), 0 };

	found.list[found.n++] = object;
	for (size_t i = 0; i < path->n && found.n > 0; i++) {
		struct found was = found;
		for (size_t j = 0; j < was.n; j++)
			go(evaluation, &next, &path->steps[i], was.list[j]);
		found = next;
		next = (struct found){ was.list, 0 };
	}
	*n = found.n;
	return found.list;
}

const struct doc *const *jsonpath_find(struct pool *pool, const struct jsonpath *path, const struct doc *object,
	size_t *looks, size_t *n)
{
	struct evaluation evaluation = { .pool = pool, .looks = *looks };
	const struct doc *const *found = evaluate(&evaluation, path, object, n);

	*looks = evaluation.looks;
	return found;
}
