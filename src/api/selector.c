// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "api/selector.h"
#include "base/ascii.h"
#include "base/pool.h"

enum operation { OP_IN, OP_NOT_IN, OP_EXISTS, OP_NOT_EXISTS, OP_GREATER, OP_LESS };

// Limits of a selector; larger ones would only cost time.
enum { TERMS_MAX = 1000, VALUES_MAX = 10000, LABEL_VALUE_MAX = 63, LABEL_NAME_MAX = 63, LABEL_PREFIX_MAX = 253 };

struct requirement {
	struct str key;
	enum operation operation;
	const struct str *values; // sorted
	size_t n;
	int64_t number;           // of OP_GREATER, OP_LESS
};

struct label_selector {
	struct requirement *list;
	size_t n;
};

// ---- parsing label selectors

struct selector_reading {
	struct pool *pool;
	struct str text;
	size_t at;
	struct str *error;
};

static bool fail(struct selector_reading *reading, const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(struct selector_reading *reading, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str what = str_vprintf(reading->pool, format, args);
	va_end(args);
	*reading->error = str_printf(reading->pool, "unable to parse requirement at byte %zu of the selector: %.*s",
		reading->at + 1, STR_ARG(what));
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_special(char c)
{
	return memchr("=!(),<>", c, 7) != NULL;
}

static char next(struct selector_reading *reading)
{
	while (reading->at < reading->text.n && is_blank(reading->text.p[reading->at]))
		reading->at++;
	return reading->at < reading->text.n ? reading->text.p[reading->at] : '\0';
}

static bool take(struct selector_reading *reading, char c)
{
	if (reading->at == reading->text.n || next(reading) != c)
		return false;
	reading->at++;
	return true;
}

// Reads a word: characters that are neither blanks nor operators. It may be empty.
static struct str word(struct selector_reading *reading)
{
	size_t from;

	next(reading);
	from = reading->at;
	while (reading->at < reading->text.n && !is_special(reading->text.p[reading->at]) &&
		!is_blank(reading->text.p[reading->at]))
		reading->at++;
	return str_part(reading->text, from, reading->at);
}

// Does it consist of letters and digits, with "-", "_" and "." between them?
static bool is_label_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!ascii_is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '_' && s.p[i] != '.')
			return false;
	}
	return s.n > 0 && ascii_is_alnum(s.p[0]) && ascii_is_alnum(s.p[s.n - 1]);
}

static bool check_key(struct selector_reading *reading, struct str key)
{
	size_t slash = str_find(key, '/', 0);
	struct str prefix = str_part(key, 0, slash), name = slash < key.n ? str_part(key, slash + 1, key.n) : key;
	bool prefixed = slash < key.n;

	if (key.n == 0)
		return fail(reading, "a label's key is expected, as in \"app=x,tier in (a,b),!gone\"");
	if (!is_label_text(name) || name.n > LABEL_NAME_MAX ||
		(prefixed && (!is_label_text(prefix) || prefix.n > LABEL_PREFIX_MAX)))
		return fail(reading, "a label's key is up to %d letters, digits, \"-\", \"_\", \".\", beginning and ending "
			"with a letter or digit, where wanted behind a domain and \"/\"", LABEL_NAME_MAX);
	return true;
}

static bool check_value(struct selector_reading *reading, struct str value)
{
	if (value.n == 0 || (is_label_text(value) && value.n <= LABEL_VALUE_MAX))
		return true;
	return fail(reading, "a label's value is empty, or up to %d letters, digits, \"-\", \"_\", \".\", beginning and "
		"ending with a letter or digit", LABEL_VALUE_MAX);
}

static int compare_values(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

// Reads a list of values, "(x, y)".
static bool read_values(struct selector_reading *reading, struct requirement *requirement)
{
	struct str list[64], *values = list;
	size_t room = COUNT_OF(list);

	if (!take(reading, '('))
		return fail(reading, "\"(\" is expected behind in and notin");
	do {
		if (requirement->n == VALUES_MAX)
			return fail(reading, "these are more than %d values", VALUES_MAX);
		if (requirement->n == room) {
			struct str *more = POOL_ARRAY(reading->pool, struct str, room * 2);
			memcpy(more, values, room * sizeof(*more));
			values = more;
			room *= 2;
		}
		values[requirement->n] = word(reading);
		if (!check_value(reading, values[requirement->n++]))
			return false;
	} while (take(reading, ','));
	if (!take(reading, ')'))
		return fail(reading, "\",\" or \")\" is expected behind a value");
	qsort(values, requirement->n, sizeof(*values), compare_values);
	struct str *kept = POOL_ARRAY(reading->pool, struct str, requirement->n);
	memcpy(kept, values, requirement->n * sizeof(*kept));
	requirement->values = kept;
	return true;
}

static bool read_value(struct selector_reading *reading, struct requirement *requirement)
{
	struct str *value = POOL_NEW(reading->pool, struct str);

	*value = word(reading);
	requirement->values = value;
	requirement->n = 1;
	return check_value(reading, *value);
}

static bool parse_i64(struct str s, int64_t *value)
{
	bool negative = s.n > 0 && s.p[0] == '-';
	uint64_t digits;

	if (!str_to_u64(str_part(s, negative ? 1 : 0, s.n), &digits) || digits > INT64_MAX)
		return false;
	*value = negative ? -(int64_t)digits : (int64_t)digits;
	return true;
}

static bool read_number(struct selector_reading *reading, struct requirement *requirement)
{
	return parse_i64(word(reading), &requirement->number) || fail(reading, "< and > compare with an integer");
}

// Reads the operator and the values after a key.
static bool read_operation(struct selector_reading *reading, struct requirement *requirement)
{
	size_t before = reading->at;
	struct str name;

	if (take(reading, '=')) {
		take(reading, '=');
		requirement->operation = OP_IN;
		return read_value(reading, requirement);
	}
	if (take(reading, '!')) {
		requirement->operation = OP_NOT_IN;
		return take(reading, '=') ? read_value(reading, requirement) : fail(reading, "\"!=\" is expected");
	}
	if (next(reading) == '<' || next(reading) == '>') {
		requirement->operation = next(reading) == '<' ? OP_LESS : OP_GREATER;
		reading->at++;
		return read_number(reading, requirement);
	}
	name = word(reading);
	if (str_eq(name, STR("in")) || str_eq(name, STR("notin"))) {
		requirement->operation = name.n == 2 ? OP_IN : OP_NOT_IN;
		return read_values(reading, requirement);
	}
	reading->at = before;
	requirement->operation = OP_EXISTS;
	return true;
}

static bool read_requirement(struct selector_reading *reading, struct requirement *requirement)
{
	bool absent = take(reading, '!');

	*requirement = (struct requirement){ .key = word(reading), .operation = OP_NOT_EXISTS };
	return check_key(reading, requirement->key) && (absent || read_operation(reading, requirement));
}

static size_t count_commas(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == ',' ? 1 : 0;
	return n;
}

bool label_selector_parse(struct pool *pool, struct str text, const struct label_selector **selector,
	struct str *error)
{
	struct selector_reading reading = { .pool = pool, .text = text, .error = error };
	struct label_selector *read = POOL_NEW(pool, struct label_selector);

	*selector = read;
	next(&reading);
	if (reading.at == text.n)
		return true;
	read->list = POOL_ARRAY(pool, struct requirement, count_commas(text) + 1);
	do {
		if (read->n == TERMS_MAX)
			return fail(&reading, "these are more than %d requirements", TERMS_MAX);
		if (!read_requirement(&reading, &read->list[read->n]))
			return false;
		read->n++;
	} while (take(&reading, ','));
	next(&reading);
	return reading.at == text.n ||
		fail(&reading, "expected \",\" and another requirement; = == != in notin < > come behind a key");
}

// ---- matching labels

static bool is_among(const struct requirement *requirement, struct str value)
{
	size_t from = 0, to = requirement->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = str_cmp(value, requirement->values[middle]);
		if (order == 0)
			return true;
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return false;
}

static bool holds(const struct requirement *requirement, const struct doc *labels)
{
	const struct doc *label;
	bool there = doc_get(labels, requirement->key, &label);
	struct str value = doc_string(label);
	int64_t number;

	switch (requirement->operation) {
	case OP_IN: return there && is_among(requirement, value);
	case OP_NOT_IN: return !there || !is_among(requirement, value);
	case OP_EXISTS: return there;
	case OP_NOT_EXISTS: return !there;
	case OP_GREATER: return there && parse_i64(value, &number) && number > requirement->number;
	case OP_LESS: return there && parse_i64(value, &number) && number < requirement->number;
	}
	return false;
}

bool label_selector_matches(const struct label_selector *selector, const struct doc *labels)
{
	for (size_t i = 0; i < selector->n; i++) {
		if (!holds(&selector->list[i], labels))
			return false;
	}
	return true;
}

bool label_selector_is_empty(const struct label_selector *selector)
{
	return selector->n == 0;
}

struct str label_selector_trace(struct pool *pool, const struct label_selector *selector)
{
	struct str trace = STR_NONE;

	for (size_t i = 0; i < selector->n; i++) {
		const struct requirement *requirement = &selector->list[i];
		if (requirement->operation == OP_NOT_IN || requirement->operation == OP_NOT_EXISTS)
			continue;
		// A label whose value is not a string is compared as "", so for "" only the key is sure to stand in the text.
		if (requirement->operation == OP_IN && requirement->n == 1 && requirement->values[0].n > 0)
			return str_printf(pool, "\"%.*s\":\"%.*s\"", STR_ARG(requirement->key), STR_ARG(requirement->values[0]));
		if (trace.p == NULL)
			trace = str_printf(pool, "\"%.*s\":", STR_ARG(requirement->key));
	}
	return trace;
}

// ---- fields

struct field_term {
	struct str field, value;
	bool differs; // the operator is !=
};

struct field_selector {
	struct field_term *list;
	size_t n;
};

// The end of the term that begins at from: the first comma without a backslash before it.
static size_t term_end(struct str text, size_t from)
{
	while (from < text.n && text.p[from] != ',')
		from += text.p[from] == '\\' ? 2 : 1;
	return from < text.n ? from : text.n;
}

static bool unescape(struct pool *pool, struct str text, struct str *value)
{
	struct buf out;

	*value = text;
	if (str_find(text, '\\', 0) == text.n)
		return str_find(text, '=', 0) == text.n;
	out = buf_new(pool, text.n);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '=' || (text.p[i] == '\\' && (++i == text.n || memchr(",=\\", text.p[i], 3) == NULL)))
			return false;
		buf_addc(&out, text.p[i]);
	}
	*value = buf_str(&out);
	return true;
}

static bool is_field(struct str name, const char *const *fields)
{
	if (str_eq(name, STR("metadata.name")) || str_eq(name, STR("metadata.namespace")))
		return true;
	for (size_t i = 0; fields != NULL && fields[i] != NULL; i++) {
		if (str_eq_c(name, fields[i]))
			return true;
	}
	return false;
}

static bool read_term(struct pool *pool, struct str text, const char *const *fields, struct field_term *term,
	struct str *error)
{
	size_t equals = str_find(text, '=', 0), end = equals, begin = equals + 1;
	struct str shown = str_utf8_head(text, 100);

	if (equals == text.n) {
		*error = str_printf(pool, "invalid selector: '%.*s'; can't understand it: FIELD=VALUE or FIELD!=VALUE is meant",
			STR_ARG(shown));
		return false;
	}
	term->differs = equals > 0 && text.p[equals - 1] == '!';
	end -= term->differs ? 1 : 0;
	if (!term->differs && begin < text.n && text.p[begin] == '=')
		begin++;
	term->field = str_trim(str_part(text, 0, end));
	if (!unescape(pool, str_part(text, begin, text.n), &term->value)) {
		*error = str_printf(pool,
			"invalid field selector: '%.*s': in a value \"\\\" stands before \",\", \"=\" and \"\\\"", STR_ARG(shown));
		return false;
	}
	if (!is_field(term->field, fields)) {
		*error = str_printf(pool, "field label not supported: %.*s", STR_HEAD_ARG(term->field, 100));
		return false;
	}
	return true;
}

bool field_selector_parse(struct pool *pool, struct str text, const char *const *fields,
	const struct field_selector **selector, struct str *error)
{
	struct field_selector *read = POOL_NEW(pool, struct field_selector);
	size_t at = 0;

	*selector = read;
	read->list = POOL_ARRAY(pool, struct field_term, count_commas(text) + 1);
	while (at < text.n) {
		size_t end = term_end(text, at);
		struct str term = str_part(text, at, end);
		if (read->n == TERMS_MAX) {
			*error = str_printf(pool, "a field selector has %d terms at most", TERMS_MAX);
			return false;
		}
		if (term.n > 0 && !read_term(pool, term, fields, &read->list[read->n++], error))
			return false;
		at = end + 1;
	}
	return true;
}

static struct str field_text(const struct doc *object, struct str path)
{
	const struct doc *value = object;
	struct str name;

	while (str_split(&path, '.', &name)) {
		if (!doc_get(value, name, &value))
			return STR("");
	}
	if (doc_kind(value) == DOC_BOOL)
		return doc_bool(value) ? STR("true") : STR("false");
	return doc_string(value);
}

bool field_selector_matches(const struct field_selector *selector, const struct doc *object)
{
	for (size_t i = 0; i < selector->n; i++) {
		const struct field_term *term = &selector->list[i];
		if (str_eq(field_text(object, term->field), term->value) == term->differs)
			return false;
	}
	return true;
}

bool field_selector_is_empty(const struct field_selector *selector)
{
	return selector->n == 0;
}

bool field_selector_varies(const struct field_selector *selector)
{
	for (size_t i = 0; i < selector->n; i++) {
		if (!is_field(selector->list[i].field, NULL))
			return true;
	}
	return false;
}

struct str field_selector_value(const struct field_selector *selector, const char *field)
{
	for (size_t i = 0; i < selector->n; i++) {
		if (!selector->list[i].differs && str_eq_c(selector->list[i].field, field))
			return selector->list[i].value;
	}
	return STR_NONE;
}

// Does it stand in JSON as it is, and can't it be a boolean?
static bool is_plain_text(struct str value)
{
	return is_label_text(value) && !str_eq(value, STR("true")) && !str_eq(value, STR("false"));
}

struct str field_selector_trace(struct pool *pool, const struct field_selector *selector)
{
	for (size_t i = 0; i < selector->n; i++) {
		const struct field_term *term = &selector->list[i];
		struct str rest = term->field, name = STR("");
		if (term->differs || is_field(term->field, NULL) || !is_plain_text(term->value))
			continue;
		while (str_split(&rest, '.', &name))
			;
		return str_printf(pool, "\"%.*s\":\"%.*s\"", STR_ARG(name), STR_ARG(term->value));
	}
	return STR_NONE;
}
