// SPDX-License-Identifier: Apache-2.0
// JSON numbers, which are kept with their text.
#include "base/base.h"

#include <math.h>

#include "base/ascii.h"
#include "base/budget.h"
#include "base/pool.h"
#include "repr/json/internal.h"

static bool is_digit(struct str s, size_t i)
{
	return i < s.n && ascii_is_digit(s.p[i]);
}

size_t json_number_run(struct str text)
{
	size_t n = 0;

	while (is_digit(text, n) || (n < text.n && text.p[n] != '\0' && strchr("+-.eE", text.p[n]) != NULL))
		n++;
	return n;
}

static size_t digits(struct str text, size_t at)
{
	while (is_digit(text, at))
		at++;
	return at;
}

// Returns the rule of RFC 8259, section 6, that the text breaks, or NULL. *integer: it has neither fraction nor exponent.
static const char *grammar_fault(struct str text, bool *integer)
{
	size_t at = text.n > 0 && text.p[0] == '-' ? 1 : 0;
	size_t first = at;

	at = digits(text, at);
	*integer = at == text.n;
	if (at == first)
		return "a number begins with a digit, or '-' and a digit";
	if (text.p[first] == '0' && at > first + 1)
		return "a number has no leading zeros";
	if (at < text.n && text.p[at] == '.') {
		size_t fraction = ++at;
		at = digits(text, at);
		if (at == fraction)
			return "digits must follow the point of a number";
	}
	if (at < text.n && (text.p[at] == 'e' || text.p[at] == 'E')) {
		at++;
		if (at < text.n && (text.p[at] == '+' || text.p[at] == '-'))
			at++;
		size_t exponent = at;
		at = digits(text, at);
		if (at == exponent)
			return "digits must follow the 'e' of a number";
	}
	return at == text.n ? NULL : "that is no JSON number";
}

// Sets the value of an integer. False: it is out of range.
static bool set_integer(struct doc *number, struct str text)
{
	uint64_t value;

	number->is_integer = true;
	number->is_negative = text.p[0] == '-';
	if (!str_to_u64(str_part(text, number->is_negative ? 1 : 0, text.n), &value))
		return false;
	if (number->is_negative && value > (uint64_t)INT64_MAX + 1)
		return false;
	number->integer = number->is_negative ? -value : value;
	return true;
}

struct doc *json_number_parse(struct pool *pool, struct str text, const char **why)
{
	bool integer;

	*why = grammar_fault(text, &integer);
	if (*why != NULL)
		return NULL;
	struct doc *number = pool_alloc(pool, sizeof(*number));
	*number = (struct doc){ .kind = DOC_NUMBER, .n = (uint32_t)text.n, .text = text.p };
	if (integer && !str_eq_c(text, "-0")) {
		if (set_integer(number, text))
			return number;
		*why = "an integer lies between -9223372036854775808 and 18446744073709551615; larger ones go as strings";
		return NULL;
	}
	number->real = strtod(str_cstr(pool, text), NULL);
	if (!isinf(number->real))
		return number;
	*why = "the number is too large for a double; write it as a string";
	return NULL;
}

// ---- comparing: a number is 0.DIGITS * 10^power, its digits without zeros at either end

enum { POWER_MAX = 1000000000 };

struct decimal {
	bool negative;
	struct str text;    // integer digits, '.', fraction
	size_t first, last; // of the significant digits; last is excluded; equal: the number is zero
	int64_t power;
};

// Exponents beyond POWER_MAX count as POWER_MAX: only numbers with a billion digits could tell the difference.
static int64_t exponent_of(struct str text)
{
	bool negative = text.n > 0 && text.p[0] == '-';
	int64_t value = 0;

	for (size_t i = text.n > 0 && !is_digit(text, 0) ? 1 : 0; i < text.n && value < POWER_MAX; i++)
		value = value * 10 + (text.p[i] - '0');
	if (value > POWER_MAX)
		value = POWER_MAX;
	return negative ? -value : value;
}

static struct decimal decimal_of(struct str text)
{
	struct decimal d = { .negative = text.p[0] == '-' };
	size_t e = 0;

	// A number has as many digits as its document has room for, and is compared as often as a client's schema says.
	budget_work((int)(text.n / 16) + 1);
	text = str_part(text, d.negative ? 1 : 0, text.n);
	while (e < text.n && text.p[e] != 'e' && text.p[e] != 'E')
		e++;
	d.power = exponent_of(str_part(text, e + 1, text.n));
	d.text = str_part(text, 0, e);
	size_t point = str_find(d.text, '.', 0);
	d.last = d.text.n;
	while (d.first < d.last && (d.text.p[d.first] == '0' || d.text.p[d.first] == '.'))
		d.first++;
	while (d.last > d.first && (d.text.p[d.last - 1] == '0' || d.text.p[d.last - 1] == '.'))
		d.last--;
	d.power += d.first < point ? (int64_t)(point - d.first) : -(int64_t)(d.first - point - 1);
	return d;
}

static bool next_digit(const struct decimal *d, size_t *at, char *digit)
{
	if (*at < d->last && d->text.p[*at] == '.')
		(*at)++;
	if (*at >= d->last)
		return false;
	*digit = d->text.p[(*at)++];
	return true;
}

bool json_number_same(struct str a, struct str b)
{
	struct decimal x = decimal_of(a), y = decimal_of(b);
	size_t i = x.first, j = y.first;
	char c = 0, d = 0;

	if (x.first == x.last || y.first == y.last)
		return x.first == x.last && y.first == y.last; // zero has neither sign nor power
	if (x.negative != y.negative || x.power != y.power)
		return false;
	for (;;) {
		bool more = next_digit(&x, &i, &c);
		if (more != next_digit(&y, &j, &d))
			return false;
		if (!more)
			return true;
		if (c != d)
			return false;
	}
}

// Compares the digits of two numbers with the same power.
static int order_digits(const struct decimal *x, const struct decimal *y)
{
	size_t i = x->first, j = y->first;
	char c = 0, d = 0;

	for (;;) {
		bool x_has = next_digit(x, &i, &c), y_has = next_digit(y, &j, &d);
		if (!x_has || !y_has)
			return (int)x_has - (int)y_has;
		if (c != d)
			return c < d ? -1 : 1;
	}
}

int json_number_order(struct str a, struct str b)
{
	struct decimal x = decimal_of(a), y = decimal_of(b);
	int x_sign = x.first == x.last ? 0 : x.negative ? -1 : 1;
	int y_sign = y.first == y.last ? 0 : y.negative ? -1 : 1;

	if (x_sign != y_sign || x_sign == 0)
		return x_sign - y_sign;
	if (x.power != y.power)
		return x.power < y.power ? -x_sign : x_sign;
	return order_digits(&x, &y) * x_sign;
}

bool json_number_is_whole(struct str text)
{
	struct decimal d = decimal_of(text);
	size_t point = str_find(d.text, '.', 0), digits = d.last - d.first;

	return (int64_t)(digits - (point > d.first && point < d.last ? 1 : 0)) <= d.power || digits == 0;
}

bool json_number_whole(struct str text, int64_t *value)
{
	struct decimal d = decimal_of(text);
	size_t at = d.first;
	uint64_t n = 0;
	char digit;

	*value = 0;
	if (d.first == d.last)
		return true;
	if (!json_number_is_whole(text) || d.power > 19) // 19 digits fit into 64 bits
		return false;
	for (int64_t i = 0; i < d.power; i++)
		n = n * 10 + (uint64_t)(next_digit(&d, &at, &digit) ? digit - '0' : 0);
	if (n > (uint64_t)INT64_MAX + (d.negative ? 1 : 0))
		return false;
	*value = (int64_t)(d.negative ? -n : n);
	return true;
}
