// SPDX-License-Identifier: Apache-2.0
// Sets of characters, and the syntax of characters and sets in an expression.
#include "base/base.h"

#include "base/pool.h"
#include "base/regexp/internal.h"

// ---- sets

void char_set_add(struct char_set *set, int32_t first, int32_t last)
{
	if (set->n == set->room) {
		size_t room = set->room > 0 ? set->room * 2 : 8;
		struct range *more = POOL_ARRAY(set->pool, struct range, room);
		if (set->n > 0)
			memcpy(more, set->ranges, set->n * sizeof(*more));
		set->ranges = more;
		set->room = room;
	}
	set->ranges[set->n++] = (struct range){ first, last };
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

void char_set_finish(struct char_set *set)
{
	size_t n = 0;

	if (set->n == 0)
		return;
	qsort(set->ranges, set->n, sizeof(*set->ranges), compare_ranges);
	for (size_t i = 1; i < set->n; i++) {
		struct range next = set->ranges[i];
		if (next.first > set->ranges[n].last + 1)
			set->ranges[++n] = next;
		else if (next.last > set->ranges[n].last)
			set->ranges[n].last = next.last;
	}
	set->n = n + 1;
}

// Adds the part of a range that lies between from and to, moved by distance: for the other case of letters.
static void add_moved(struct char_set *set, struct range range, int32_t from, int32_t to, int32_t distance)
{
	int32_t first = range.first > from ? range.first : from, last = range.last < to ? range.last : to;

	if (first <= last)
		char_set_add(set, first + distance, last + distance);
}

void char_set_add_other_cases(struct char_set *set)
{
	size_t n = set->n;

	for (size_t i = 0; i < n; i++) {
		add_moved(set, set->ranges[i], 'a', 'z', 'A' - 'a');
		add_moved(set, set->ranges[i], 'A', 'Z', 'a' - 'A');
	}
}

void char_set_invert(struct char_set *set)
{
	struct char_set others = { .pool = set->pool };
	int32_t next = 0;

	for (size_t i = 0; i < set->n; i++) {
		if (set->ranges[i].first > next)
			char_set_add(&others, next, set->ranges[i].first - 1);
		next = set->ranges[i].last + 1;
	}
	if (next <= CHAR_LAST)
		char_set_add(&others, next, CHAR_LAST);
	*set = others;
}

static void add_set(struct char_set *set, const struct char_set *other)
{
	for (size_t i = 0; i < other->n; i++)
		char_set_add(set, other->ranges[i].first, other->ranges[i].last);
}

// Adds ranges of ASCII, each given by its first and last character. U+0000 can't be written in pairs, so a range that begins with
// \x01 begins with it.
static void add_pairs(struct char_set *set, const char *pairs, bool negated)
{
	struct char_set own = { .pool = set->pool };

	if (pairs[0] == '\x01')
		char_set_add(&own, 0, 0);
	for (size_t i = 0; pairs[i] != '\0'; i += 2)
		char_set_add(&own, pairs[i], pairs[i + 1]);
	char_set_finish(&own);
	if (negated)
		char_set_invert(&own);
	add_set(set, &own);
}

bool char_set_add_perl(struct char_set *set, char letter)
{
	switch (letter) {
	case 'd': case 'D': add_pairs(set, "09", letter == 'D'); return true;
	case 'w': case 'W': add_pairs(set, "09AZaz__", letter == 'W'); return true;
	case 's': case 'S': add_pairs(set, "\t\n\f\r  ", letter == 'S'); return true;
	default: return false;
	}
}

// ---- escapes

static bool read_hex(struct reading *reading, int32_t *c)
{
	struct str text = reading->text;
	bool braced = reading->at < text.n && text.p[reading->at] == '{';
	size_t digits = 0, most = braced ? 6 : 2;

	*c = 0;
	reading->at += braced ? 1 : 0;
	while (reading->at < text.n && digits < most && str_hex_digit(text.p[reading->at]) >= 0) {
		*c = *c * 16 + str_hex_digit(text.p[reading->at++]);
		digits++;
	}
	if (braced && (reading->at == text.n || text.p[reading->at++] != '}'))
		digits = 0;
	if (digits == 0 || (!braced && digits != 2) || *c > CHAR_LAST)
		return regexp_fail(reading, "\\x takes two hexadecimal digits, or a character's number in braces: \\x41, "
			"\\x{1F600}");
	return true;
}

// Reads the rest of up to three octal digits, of which the first was read.
static int32_t read_octal(struct reading *reading, char first)
{
	int32_t c = first - '0';

	for (int i = 0; i < 2 && reading->at < reading->text.n; i++) {
		char digit = reading->text.p[reading->at];
		if (digit < '0' || digit > '7')
			break;
		c = c * 8 + (digit - '0');
		reading->at++;
	}
	return c;
}

bool regexp_read_escape(struct reading *reading, int32_t *c)
{
	static const char letters[] = "tnrfva", meant[] = "\t\n\r\f\v\a";

	if (reading->at == reading->text.n)
		return regexp_fail(reading, "a backslash at the end stands before nothing; write \\\\ for a backslash");
	*c = regexp_char(reading->text, &reading->at);
	if (*c == 'x')
		return read_hex(reading, c);
	if (*c == '0' || (*c >= '1' && *c <= '7' && reading->at < reading->text.n &&
		reading->text.p[reading->at] >= '0' && reading->text.p[reading->at] <= '7')) {
		*c = read_octal(reading, (char)*c);
		return true;
	}
	const char *letter = *c > 0 && *c < 0x80 ? strchr(letters, *c) : NULL;
	if (letter != NULL) {
		*c = meant[letter - letters];
		return true;
	}
	if (*c >= 0x80 || (regexp_is_word(*c) && *c != '_'))
		return regexp_fail(reading, "there is no escape like this; letters and digits need a backslash only where it "
			"means something");
	return true;
}

// ---- classes

static const struct {
	const char *name, *pairs;
} ascii_classes[] = {
	{ "alnum", "09AZaz" }, { "alpha", "AZaz" }, { "ascii", "\x01\x7f" }, { "blank", "\t\t  " },
	{ "cntrl", "\x01\x1f\x7f\x7f" }, { "digit", "09" }, { "graph", "!~" }, { "lower", "az" }, { "print", " ~" },
	{ "punct", "!/:@[`{~" }, { "space", "\t\r  " }, { "upper", "AZ" }, { "word", "09AZaz__" }, { "xdigit", "09AFaf" },
};

// Reads a named class such as [:alpha:]; reading->at is at its "[:". False with *why STR_NONE: it is only the character "[".
static bool read_named(struct reading *reading, struct char_set *set)
{
	struct str rest = str_part(reading->text, reading->at + 2, reading->text.n);
	bool negated = rest.n > 0 && rest.p[0] == '^';
	size_t end = str_find(rest, ':', 0);

	*reading->why = STR_NONE;
	if (end + 1 >= rest.n || rest.p[end + 1] != ']')
		return false;
	struct str name = str_part(rest, negated ? 1 : 0, end);
	for (size_t i = 0; i < COUNT_OF(ascii_classes); i++) {
		if (!str_eq_c(name, ascii_classes[i].name))
			continue;
		add_pairs(set, ascii_classes[i].pairs, negated);
		reading->at += 2 + end + 2;
		return true;
	}
	return regexp_fail(reading, "there is no class of that name; there are [:alnum:], [:alpha:], [:digit:], [:lower:], "
		"[:space:], [:upper:], [:word:], [:xdigit:] and some more");
}

// Reads a character or a set such as \d or [:alpha:]; *is_set says which. A set can't be an end of a range.
static bool read_member(struct reading *reading, struct char_set *set, int32_t *c, bool *is_set)
{
	struct str text = reading->text;

	*is_set = false;
	if (str_starts(str_part(text, reading->at, text.n), STR("[:"))) {
		*is_set = read_named(reading, set);
		if (*is_set || reading->why->p != NULL)
			return *is_set;
	}
	if (text.p[reading->at] == '\\' && reading->at + 1 < text.n && char_set_add_perl(set, text.p[reading->at + 1])) {
		*is_set = true;
		reading->at += 2;
		return true;
	}
	if (text.p[reading->at] != '\\') {
		*c = regexp_char(text, &reading->at);
		return true;
	}
	reading->at++;
	return regexp_read_escape(reading, c);
}

static bool read_range(struct reading *reading, struct char_set *set)
{
	struct str text = reading->text;
	int32_t first, last;
	bool is_set;

	if (!read_member(reading, set, &first, &is_set))
		return false;
	if (is_set)
		return true;
	last = first;
	if (reading->at + 1 < text.n && text.p[reading->at] == '-' && text.p[reading->at + 1] != ']') {
		reading->at++;
		if (!read_member(reading, set, &last, &is_set))
			return false;
		if (is_set || last < first)
			return regexp_fail(reading, "a range in a class goes from a character to a later one: [a-z]");
	}
	char_set_add(set, first, last);
	return true;
}

bool regexp_read_class(struct reading *reading, struct char_set *set)
{
	struct str text = reading->text;
	size_t begin = reading->at++;
	bool negated = reading->at < text.n && text.p[reading->at] == '^';

	reading->at += negated ? 1 : 0;
	// A "]" directly behind "[" or "[^" is a member of the class, not its end.
	for (bool first = true; reading->at < text.n && (first || text.p[reading->at] != ']'); first = false) {
		if (!read_range(reading, set))
			return false;
	}
	if (reading->at >= text.n) {
		reading->at = begin;
		return regexp_fail(reading, "the \"]\" that ends this class is missing");
	}
	reading->at++;
	if ((reading->flags & FLAG_NOCASE) != 0)
		char_set_add_other_cases(set);
	char_set_finish(set);
	if (negated)
		char_set_invert(set);
	return true;
}
