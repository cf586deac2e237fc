// SPDX-License-Identifier: Apache-2.0
// Which values a simple type allows. Simple patterns are recognised, so that most requests run no regex.
#include "base/base.h"

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "wadl/table.h"
#include "wadl/type.h"

#define XSD "http://www.w3.org/2001/XMLSchema"

static const struct builtin {
	const char *name;
	enum type_base base;
	int64_t min, max;
	const char *pattern; // NULL: any text
} builtins[] = {
	{ "string", TYPE_TEXT, 0, 0, NULL },
	{ "anyURI", TYPE_TEXT, 0, 0, "[^\\s<>\"{}|\\\\\\^`]*" },
	{ "dateTime", TYPE_TEXT, 0, 0,
		"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?"
		"(Z|[+\\-](0[0-9]|1[0-4]):[0-5][0-9])?" },
	{ "boolean", TYPE_BOOLEAN, 0, 0, NULL },
	{ "integer", TYPE_NUMBER, INT64_MIN, INT64_MAX, NULL },
	{ "long", TYPE_NUMBER, INT64_MIN, INT64_MAX, NULL },
	{ "int", TYPE_NUMBER, INT32_MIN, INT32_MAX, NULL },
	{ "nonNegativeInteger", TYPE_NUMBER, 0, INT64_MAX, NULL },
	{ "positiveInteger", TYPE_NUMBER, 1, INT64_MAX, NULL },
};

struct wadl_type *type_builtin(struct pool *pool, const char *name)
{
	for (size_t i = 0; i < COUNT_OF(builtins); i++) {
		const struct builtin *b = &builtins[i];
		if (strcmp(b->name, name) != 0)
			continue;
		struct wadl_type *type = POOL_NEW(pool, struct wadl_type);
		*type = (struct wadl_type){ .space = XSD, .name = b->name, .builtin = b->name, .base = b->base, .min = b->min, .max = b->max };
		if (b->pattern != NULL && !type_add_pattern(pool, type, b->pattern))
			return NULL;
		return type;
	}
	return NULL;
}

// ---- patterns

static bool is_plain(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '_';
}

// Unescapes a pattern of literal characters: "v1\.0" gives "v1.0". False if it contains anything else.
static bool read_literal(struct pool *pool, struct str text, struct str *literal)
{
	struct buf out = buf_new(pool, text.n);

	for (size_t i = 0; i < text.n; i++) {
		bool escaped = text.p[i] == '\\' && i + 1 < text.n && text.p[i + 1] == '.';
		if (escaped)
			i++;
		else if (!is_plain(text.p[i]))
			return false;
		buf_addc(&out, text.p[i]);
	}
	*literal = buf_str(&out);
	return text.n > 0;
}

// Reads a pattern that consists of literal alternatives only: "v1\.0|v2\.0".
static bool read_literals(struct pool *pool, struct type_pattern *pattern)
{
	struct str rest = str_c(pattern->text), item, literal;
	struct str *literals = NULL;
	size_t n = 0;

	while (str_split(&rest, '|', &item)) {
		if (!read_literal(pool, item, &literal))
			return false;
		literals = table_grow(pool, literals, n, sizeof(*literals));
		literals[n++] = literal;
	}
	pattern->literals = literals;
	pattern->n_literals = n;
	return true;
}

static void free_regex(void *regex)
{
	xmlRegFreeRegexp(regex);
}

bool type_add_pattern(struct pool *pool, struct wadl_type *type, const char *text)
{
	struct type_pattern pattern = { .text = text, .segment = strcmp(text, "[^/]+") == 0 };

	if (!pattern.segment && !read_literals(pool, &pattern)) {
		pattern.regex = xmlRegexpCompile(BAD_CAST text);
		if (pattern.regex == NULL)
			return false;
		pool_cleanup(pool, free_regex, pattern.regex);
		pattern.seen = POOL_NEW(pool, struct type_seen);
	}
	struct type_pattern *patterns = table_grow(pool, type->patterns, type->n_patterns, sizeof(*patterns));
	patterns[type->n_patterns++] = pattern;
	type->patterns = patterns;
	return true;
}

void type_add_value(struct pool *pool, struct wadl_type *type, struct str value)
{
	struct str *values = table_grow(pool, type->values, type->n_values, sizeof(*values));

	values[type->n_values++] = value;
	type->values = values;
}

// libxml2's matcher takes C strings of well-formed UTF-8, and it backtracks: values that are too long are refused before.
static bool regex_matches(xmlRegexpPtr regex, struct str value)
{
	char text[TYPE_VALUE_MAX + 1];

	if (value.n > TYPE_VALUE_MAX || str_find(value, '\0', 0) < value.n || !str_utf8_ok(value, NULL))
		return false;
	if (value.n > 0)
		memcpy(text, value.p, value.n);
	text[value.n] = '\0';
	return xmlRegexpExec(regex, BAD_CAST text) == 1;
}

static bool is_seen(const struct type_seen *seen, struct str value)
{
	return seen->n > 0 && str_eq(str_n(seen->text, seen->n), value);
}

static void see(struct type_seen *seen, struct str value)
{
	if (value.n == 0 || value.n > sizeof(seen->text))
		return;
	memcpy(seen->text, value.p, value.n);
	seen->n = value.n;
}

static bool is_one_of(const struct str *values, size_t n, struct str value)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(values[i], value))
			return true;
	}
	return false;
}

static bool pattern_matches(const struct type_pattern *pattern, struct str value)
{
	if (pattern->segment)
		return value.n > 0 && str_find(value, '/', 0) == value.n;
	if (pattern->regex == NULL)
		return is_one_of(pattern->literals, pattern->n_literals, value);
	if (is_seen(pattern->seen, value))
		return true;
	if (!regex_matches(pattern->regex, value))
		return false;
	see(pattern->seen, value);
	return true;
}

// ---- values

bool type_number(struct str text, int64_t *value)
{
	bool negative = text.n > 0 && text.p[0] == '-';
	bool has_sign = negative || (text.n > 0 && text.p[0] == '+');
	uint64_t magnitude;

	if (!str_to_u64(str_part(text, has_sign ? 1 : 0, text.n), &magnitude) || magnitude > INT64_MAX)
		return false;
	*value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	return true;
}

static bool base_allows(const struct wadl_type *type, struct str value)
{
	static const struct str booleans[] = { { "true", 4 }, { "false", 5 }, { "1", 1 }, { "0", 1 } };
	int64_t number;

	switch (type->base) {
	case TYPE_NUMBER:
		return type_number(value, &number) && number >= type->min && number <= type->max;
	case TYPE_BOOLEAN:
		return is_one_of(booleans, COUNT_OF(booleans), value);
	case TYPE_TEXT:
		break;
	}
	return true;
}

// Counts characters only if necessary: a text never has more characters than bytes.
static bool length_allows(const struct wadl_type *type, struct str value)
{
	if (!type->has_min_length && (!type->has_max_length || value.n <= type->max_length))
		return true;
	if (!str_utf8_ok(value, NULL))
		return false;
	size_t length = str_utf8_length(value);
	return (!type->has_min_length || length >= type->min_length) &&
	       (!type->has_max_length || length <= type->max_length);
}

static bool patterns_allow(const struct wadl_type *type, struct str value)
{
	for (size_t i = 0; i < type->n_patterns; i++) {
		if (pattern_matches(&type->patterns[i], value))
			return true;
	}
	return type->n_patterns == 0;
}

bool type_allows(const struct wadl_type *type, struct str value)
{
	return base_allows(type, value) && length_allows(type, value) &&
	       (type->n_values == 0 || is_one_of(type->values, type->n_values, value)) && patterns_allow(type, value);
}

// ---- rules as text

void type_add_choice(struct buf *out, const struct str *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_add(out, i + 1 < n ? STR(", ") : STR(" or "));
		buf_add(out, values[i]);
	}
}

static void add_base_rule(struct buf *out, const struct wadl_type *type)
{
	BUF_LIT(out, "must be ");
	if (type->base == TYPE_BOOLEAN) {
		BUF_LIT(out, "true or false");
		return;
	}
	BUF_LIT(out, "a whole number");
	if (type->min != INT64_MIN)
		buf_addf(out, ", %lld or more", (long long)type->min);
	if (type->max != INT64_MAX)
		buf_addf(out, "%s %lld or less", type->min != INT64_MIN ? " and" : ",", (long long)type->max);
}

static void add_length_rule(struct buf *out, const struct wadl_type *type)
{
	BUF_LIT(out, "must be UTF-8");
	if (type->has_min_length)
		buf_addf(out, ", of %llu characters at least", (unsigned long long)type->min_length);
	if (type->has_max_length)
		buf_addf(out, ", of %llu characters at most", (unsigned long long)type->max_length);
}

// A client that does not encode the '+' before an offset, "+01:00", sends a blank.
static void add_time_rule(struct buf *out, struct str value)
{
	enum { OFFSET = sizeof("+01:00") - 1 };

	BUF_LIT(out, ", such as 2026-11-21T05:24:00Z");
	if (value.n > OFFSET && value.p[value.n - OFFSET] == ' ' && str_find(value, 'T', 0) < value.n)
		BUF_LIT(out, "; a '+' in it is written %2B");
}

static void add_pattern_rule(struct buf *out, const struct wadl_type *type, struct str value)
{
	const struct type_pattern *pattern = &type->patterns[0];

	if (pattern->segment) {
		BUF_LIT(out, "must not be empty or hold a '/'");
	} else if (pattern->regex == NULL) {
		BUF_LIT(out, "must be ");
		type_add_choice(out, pattern->literals, pattern->n_literals);
	} else {
		if (strcmp(type->name, type->builtin) == 0)
			buf_addf(out, "must be of the form xsd:%s", type->name);
		else
			buf_addf(out, "must be of the form %s", pattern->text);
		if (strcmp(type->name, "dateTime") == 0)
			add_time_rule(out, value);
	}
}

void type_add_rule(struct buf *out, const struct wadl_type *type, struct str value)
{
	if (!base_allows(type, value)) {
		add_base_rule(out, type);
	} else if (!length_allows(type, value)) {
		add_length_rule(out, type);
	} else if (!patterns_allow(type, value)) {
		add_pattern_rule(out, type, value);
	} else {
		BUF_LIT(out, "must be ");
		type_add_choice(out, type->values, type->n_values);
	}
}
