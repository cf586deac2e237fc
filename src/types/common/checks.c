// SPDX-License-Identifier: Apache-2.0
// Checks of single values, and of lists of names.
#include "base/base.h"

#include <arpa/inet.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "types/common/checks.h"

enum { PORT_NAME_MAX = 15 };

// ---- reading

const struct doc *check_object_member(const struct doc *object, const char *name)
{
	const struct doc *value = NULL;

	return doc_kind(object) == DOC_OBJECT && doc_get(object, str_c(name), &value) ? value : NULL;
}

struct str check_object_text(const struct doc *object, const char *name)
{
	const struct doc *value = check_object_member(object, name);

	return doc_kind(value) == DOC_STRING ? doc_string(value) : STR("");
}

bool check_object_integer(const struct doc *object, const char *name, int64_t *value)
{
	const struct doc *number = check_object_member(object, name);

	*value = 0;
	return doc_kind(number) == DOC_NUMBER && doc_i64(number, value);
}

// ---- one value

void check_port_number(struct field_faults *faults, const struct field_path *at, int64_t port)
{
	if (port >= 1 && port <= 65535)
		return;
	field_fault_add(faults, at, FIELD_INVALID, str_printf(faults->pool, "%lld", (long long)port),
		"must be between 1 and 65535, inclusive");
}

void check_port_name(struct field_faults *faults, const struct field_path *at, struct str name)
{
	bool others = false, letter = false, doubled = false;

	for (size_t i = 0; i < name.n; i++) {
		others = others || !(ascii_is_lower_alnum(name.p[i]) || name.p[i] == '-');
		letter = letter || ascii_is_lower(name.p[i]);
		doubled = doubled || (i > 0 && name.p[i] == '-' && name.p[i - 1] == '-');
	}
	if (name.n > PORT_NAME_MAX)
		field_invalid_text(faults, at, name, "must be no more than 15 characters");
	if (others)
		field_invalid_text(faults, at, name, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
	if (!letter)
		field_invalid_text(faults, at, name, "must contain at least one letter (a-z)");
	if (doubled)
		field_invalid_text(faults, at, name, "must not contain consecutive hyphens");
	if (name.n > 0 && (name.p[0] == '-' || name.p[name.n - 1] == '-'))
		field_invalid_text(faults, at, name, "must not begin or end with a hyphen");
}

void check_port_or_name(struct field_faults *faults, const struct field_path *at, const struct doc *value)
{
	int64_t port;

	if (doc_kind(value) == DOC_STRING)
		check_port_name(faults, at, doc_string(value));
	else if (doc_kind(value) == DOC_NUMBER && !doc_i64(value, &port))
		field_invalid(faults, at, value, "must be between 1 and 65535, inclusive");
	else if (doc_kind(value) == DOC_NUMBER && port != 0)
		check_port_number(faults, at, port);
}

void check_one_of(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name,
	const char *const *supported)
{
	const struct field_path at = field_name(up, str_c(name));
	struct str text = check_object_text(object, name);

	if (text.n == 0)
		return;
	for (size_t i = 0; supported[i] != NULL; i++) {
		if (str_eq_c(text, supported[i]))
			return;
	}
	field_not_supported(faults, &at, text, supported);
}

void check_protocol(struct field_faults *faults, const struct field_path *up, const struct doc *object)
{
	static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

	check_one_of(faults, up, object, "protocol", protocols);
}

void check_required(struct field_faults *faults, const struct field_path *up, const struct doc *object, const char *name)
{
	const struct field_path at = field_name(up, str_c(name));
	const struct doc *value = check_object_member(object, name);
	bool empty = value == NULL || (doc_kind(value) == DOC_STRING && doc_string(value).n == 0) ||
		(doc_kind(value) == DOC_ARRAY && doc_length(value) == 0) ||
		(doc_kind(value) == DOC_OBJECT && doc_length(value) == 0);

	if (empty)
		field_required(faults, &at, "");
}

void check_ip(struct field_faults *faults, const struct field_path *at, struct str address)
{
	uint8_t bytes[sizeof(struct in6_addr)];
	char text[INET6_ADDRSTRLEN + 1] = "";

	if (address.n < sizeof(text) && memchr(address.p, '\0', address.n) == NULL) {
		memcpy(text, address.p, address.n);
		if (inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1)
			return;
	}
	field_invalid_text(faults, at, address, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
}

// The factor of a quantity's suffix; 0: there is no such suffix.
static long double quantity_factor(struct str suffix)
{
	static const struct {
		const char *suffix;
		long double factor;
	} factors[] = {
		{ "", 1 }, { "n", 1e-9L }, { "u", 1e-6L }, { "m", 1e-3L }, { "k", 1e3L }, { "M", 1e6L }, { "G", 1e9L },
		{ "T", 1e12L }, { "P", 1e15L }, { "E", 1e18L }, { "Ki", 0x1p10L }, { "Mi", 0x1p20L }, { "Gi", 0x1p30L },
		{ "Ti", 0x1p40L }, { "Pi", 0x1p50L }, { "Ei", 0x1p60L },
	};

	for (size_t i = 0; i < COUNT_OF(factors); i++) {
		if (str_eq_c(suffix, factors[i].suffix))
			return factors[i].factor;
	}
	return 0;
}

// Reads an exponent, "e3" or "E-2", as a power of ten. False: the suffix is no exponent that a quantity may have.
static bool quantity_exponent(struct str suffix, long double *factor)
{
	struct str digits = str_part(suffix, 1, suffix.n);
	bool negative = digits.n > 0 && digits.p[0] == '-';
	uint64_t exponent;

	if (suffix.n < 2 || (suffix.p[0] != 'e' && suffix.p[0] != 'E'))
		return false;
	if (digits.p[0] == '-' || digits.p[0] == '+')
		digits = str_part(digits, 1, digits.n);
	if (!str_to_u64(digits, &exponent) || exponent > 100)
		return false;
	*factor = 1;
	for (uint64_t i = 0; i < exponent; i++)
		*factor *= negative ? 0.1L : 10;
	return true;
}

static bool quantity_parse(struct str text, long double *number)
{
	bool negative = text.n > 0 && text.p[0] == '-', digits = false;
	size_t at = text.n > 0 && (text.p[0] == '-' || text.p[0] == '+') ? 1 : 0;
	long double value = 0, place = 0, factor;

	for (; at < text.n && (ascii_is_digit(text.p[at]) || (text.p[at] == '.' && place == 0)); at++) {
		if (text.p[at] == '.') {
			place = 1;
			continue;
		}
		digits = true;
		place /= 10;
		value = place != 0 ? value + place * (text.p[at] - '0') : value * 10 + (text.p[at] - '0');
	}
	struct str suffix = str_part(text, at, text.n);
	factor = quantity_factor(suffix);
	if (!digits || (factor == 0 && !quantity_exponent(suffix, &factor)))
		return false;
	*number = (negative ? -value : value) * factor;
	return true;
}

bool check_read_quantity(struct pool *pool, const struct doc *value, long double *number)
{
	struct buf text = buf_new(pool, 32);

	if (doc_kind(value) == DOC_STRING)
		buf_add(&text, doc_string(value));
	else
		doc_write_json(value, &text);
	return quantity_parse(buf_str(&text), number);
}

bool check_quantity(struct field_faults *faults, const struct field_path *at, const struct doc *value, long double *number)
{
	if (check_read_quantity(faults->pool, value, number))
		return true;
	field_invalid(faults, at, value, QUANTITY_FORM);
	return false;
}

// ---- lists of names

struct str *check_object_texts(struct pool *pool, const struct doc *list, const char *name)
{
	size_t n = doc_length(list);
	struct str *texts = POOL_ARRAY(pool, struct str, n + 1);

	for (size_t i = 0; i < n; i++)
		texts[i] = check_object_text(doc_at(list, i), name);
	return texts;
}

struct placed_text {
	struct str text;
	size_t at;
};

static int by_text_and_place(const void *a, const void *b)
{
	const struct placed_text *x = a, *y = b;
	int order = str_cmp(x->text, y->text);

	return order != 0 ? order : x->at < y->at ? -1 : x->at > y->at;
}

const bool *check_repeated_texts(struct pool *pool, const struct str *texts, size_t n)
{
	struct placed_text *list = POOL_ARRAY(pool, struct placed_text, n + 1);
	bool *flags = pool_calloc(pool, n + 1, sizeof(*flags));

	for (size_t i = 0; i < n; i++)
		list[i] = (struct placed_text){ texts[i], i };
	qsort(list, n, sizeof(*list), by_text_and_place);
	for (size_t i = 1; i < n; i++)
		flags[list[i].at] = list[i].text.n > 0 && str_eq(list[i].text, list[i - 1].text);
	return flags;
}

static int by_text(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

const struct str *check_sorted_texts(struct pool *pool, const struct str *texts, size_t n)
{
	struct str *sorted = POOL_ARRAY(pool, struct str, n + 1);

	memcpy(sorted, texts, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_text);
	return sorted;
}

bool check_has_text(const struct str *sorted, size_t n, struct str text)
{
	return n > 0 && bsearch(&text, sorted, n, sizeof(*sorted), by_text) != NULL;
}
