// SPDX-License-Identifier: Apache-2.0
// Formats: the syntax of texts and numbers of a named format.
#include "base/base.h"

#include <arpa/inet.h>

#include "base/ascii.h"
#include "base/base64.h"
#include "repr/json/internal.h"
#include "repr/schema/structural_internal.h"

struct format {
	const char *name;
	bool (*text)(struct str s);                // checks a string; NULL: the format does not apply to strings
	bool (*number)(const struct doc *number);  // checks a number; NULL: the format does not apply to numbers
};

static bool is_hex(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (str_hex_digit(s.p[i]) < 0)
			return false;
	}
	return s.n > 0;
}

// ---- time

// Reads n digits at *at, and moves *at behind them.
static bool read_digits(struct str s, size_t *at, size_t n, int *value)
{
	*value = 0;
	for (size_t i = 0; i < n; i++, (*at)++) {
		if (*at >= s.n || !ascii_is_digit(s.p[*at]))
			return false;
		*value = *value * 10 + (s.p[*at] - '0');
	}
	return true;
}

static bool read_char(struct str s, size_t *at, char c)
{
	return *at < s.n && s.p[(*at)++] == c;
}

static int days_in(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

static bool read_date(struct str s, size_t *at)
{
	int year, month, day;

	return read_digits(s, at, 4, &year) && read_char(s, at, '-') && read_digits(s, at, 2, &month) && month >= 1 &&
		month <= 12 && read_char(s, at, '-') && read_digits(s, at, 2, &day) && day >= 1 && day <= days_in(year, month);
}

static bool read_clock(struct str s, size_t *at)
{
	int hour, minute, second;

	if (!read_digits(s, at, 2, &hour) || hour > 23 || !read_char(s, at, ':') || !read_digits(s, at, 2, &minute) ||
		minute > 59 || !read_char(s, at, ':') || !read_digits(s, at, 2, &second) || second > 60)
		return false;
	if (*at < s.n && s.p[*at] == '.') {
		size_t fraction = ++*at;
		while (*at < s.n && ascii_is_digit(s.p[*at]))
			(*at)++;
		return *at > fraction;
	}
	return true;
}

static bool read_zone(struct str s, size_t *at)
{
	int hour, minute;

	if (*at >= s.n)
		return false;
	char c = s.p[(*at)++];
	if (c == 'Z' || c == 'z')
		return true;
	return (c == '+' || c == '-') && read_digits(s, at, 2, &hour) && hour < 24 && read_char(s, at, ':') &&
		read_digits(s, at, 2, &minute) && minute < 60;
}

static bool is_date(struct str s)
{
	size_t at = 0;

	return read_date(s, &at) && at == s.n;
}

// RFC 3339.
static bool is_date_time(struct str s)
{
	size_t at = 0;

	return read_date(s, &at) && at < s.n && (s.p[at] == 'T' || s.p[at] == 't') && (at++, true) && read_clock(s, &at) &&
		read_zone(s, &at) && at == s.n;
}

static bool is_unit(struct str s)
{
	static const char *const units[] = {
		"ns", "us", "\xC2\xB5s", "\xCE\xBCs", "ms", "s", "m", "h", "d", "w", "nano", "micro", "milli", "sec", "min",
		"hr", "hour", "day", "wk", "week", "nanosecond", "microsecond", "millisecond", "second", "minute",
	};

	for (size_t i = 0; i < COUNT_OF(units); i++) {
		if (str_eq_c(s, units[i]) || (s.n > 2 && str_ends(s, STR("s")) && str_eq_c(str_part(s, 0, s.n - 1), units[i])))
			return true;
	}
	return false;
}

static size_t pass(struct str s, size_t at, bool (*is_one)(char c))
{
	while (at < s.n && is_one(s.p[at]))
		at++;
	return at;
}

static bool is_space(char c)
{
	return c == ' ';
}

static bool is_letter(char c)
{
	return !ascii_is_digit(c) && c != ' ' && c != '.';
}

// "1h30m", "1.5 days".
static bool is_duration(struct str s)
{
	size_t at = s.n > 0 && (s.p[0] == '-' || s.p[0] == '+') ? 1 : 0;

	if (at == s.n || str_eq(str_part(s, at, s.n), STR("0")))
		return at < s.n;
	while (at < s.n) {
		size_t begin = at;
		at = pass(s, at, ascii_is_digit);
		if (at > begin && at < s.n && s.p[at] == '.')
			at = pass(s, at + 1, ascii_is_digit);
		size_t unit = pass(s, at, is_space);
		if (at == begin || !is_unit(str_part(s, unit, pass(s, unit, is_letter))))
			return false;
		at = pass(s, pass(s, unit, is_letter), is_space);
	}
	return true;
}

// ---- encodings and ids

// Each of its hyphens may be missing.
static bool is_uuid(struct str s)
{
	size_t digits = 0;

	for (size_t i = 0; i < s.n; i++) {
		bool hyphen = s.p[i] == '-';
		if (hyphen && (i == 0 || s.p[i - 1] == '-' || (digits != 8 && digits != 12 && digits != 16 && digits != 20)))
			return false;
		if (!hyphen && str_hex_digit(s.p[i]) < 0)
			return false;
		digits += hyphen ? 0 : 1;
	}
	return digits == 32 && s.p[s.n - 1] != '-';
}

static bool is_uuid_version(struct str s, char version)
{
	return s.n == 36 && is_uuid(s) && s.p[14] == version && (version == '3' || (str_hex_digit(s.p[19]) & 12) == 8);
}

static bool is_uuid3(struct str s)
{
	return is_uuid_version(s, '3');
}

static bool is_uuid4(struct str s)
{
	return is_uuid_version(s, '4');
}

static bool is_uuid5(struct str s)
{
	return is_uuid_version(s, '5');
}

static bool is_object_id(struct str s)
{
	return s.n == 24 && is_hex(s);
}

static bool is_hex_color(struct str s)
{
	struct str digits = str_part(s, s.n > 0 && s.p[0] == '#' ? 1 : 0, s.n);

	return (digits.n == 3 || digits.n == 6) && is_hex(digits);
}

// ---- the network

static bool is_address(struct str s, int family)
{
	char text[INET6_ADDRSTRLEN], binary[16];

	if (s.n == 0 || s.n >= sizeof(text) || str_find(s, '\0', 0) < s.n)
		return false;
	memcpy(text, s.p, s.n);
	text[s.n] = '\0';
	return inet_pton(family, text, binary) == 1;
}

static bool is_ipv4(struct str s)
{
	return is_address(s, AF_INET);
}

static bool is_ipv6(struct str s)
{
	return is_address(s, AF_INET6);
}

static bool is_cidr(struct str s)
{
	size_t slash = str_find(s, '/', 0);
	struct str address = str_part(s, 0, slash);
	uint64_t bits;

	return str_to_u64(str_part(s, slash + 1, s.n), &bits) &&
		((is_ipv4(address) && bits <= 32) || (is_ipv6(address) && bits <= 128));
}

// 6, 8 or 20 bytes: 00:11:22:33:44:55, with hyphens, or 0011.2233.4455.
static bool is_mac(struct str s)
{
	char separator = s.n > 2 ? s.p[2] : '\0';
	size_t width = separator == ':' || separator == '-' ? 2 : 4, groups = 0;
	struct str rest = s, group;

	if (s.n == 0)
		return false;
	while (str_split(&rest, width == 2 ? separator : '.', &group)) {
		if (group.n != width || !is_hex(group))
			return false;
		groups++;
	}
	return groups * width / 2 == 6 || groups * width / 2 == 8 || groups * width / 2 == 20;
}

static bool is_host_label(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (!ascii_is_alnum(c) && c != '-' && (unsigned char)c < 0x80)
			return false;
	}
	return s.n > 0 && s.n <= 63 && s.p[0] != '-' && s.p[s.n - 1] != '-';
}

static bool is_hostname(struct str s)
{
	struct str rest = str_part(s, 0, s.n > 1 && str_ends(s, STR(".")) ? s.n - 1 : s.n), label;

	if (s.n == 0 || s.n > 255)
		return false;
	while (str_split(&rest, '.', &label)) {
		if (!is_host_label(label))
			return false;
	}
	return true;
}

static bool has_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f)
			return true;
	}
	return false;
}

static bool is_email(struct str s)
{
	size_t at = s.n;

	while (at > 0 && s.p[at - 1] != '@')
		at--;
	return at > 1 && at < s.n && !has_blank(s) && str_find(s, '@', 0) == at - 1 && s.p[s.n - 1] != '.' &&
		s.p[at] != '.';
}

// A URI with a scheme, or a path that begins with "/".
static bool is_uri(struct str s)
{
	size_t colon = str_find(s, ':', 0);

	if (s.n == 0 || has_blank(s))
		return false;
	if (s.p[0] == '/')
		return true;
	for (size_t i = 0; i < colon; i++) {
		char c = s.p[i];
		bool letter = ascii_is_letter(c);
		if (!letter && (i == 0 || (!ascii_is_digit(c) && c != '+' && c != '-' && c != '.')))
			return false;
	}
	return colon > 0 && colon < s.n;
}

// ---- numbers

static bool fits(const struct doc *number, int64_t least, int64_t most)
{
	int64_t i;
	double d;

	if (doc_i64(number, &i))
		return i >= least && i <= most;
	d = json_double(number);
	return doc_is_whole(number) && d >= (double)least && d <= (double)most && (most < INT64_MAX || d < (double)most);
}

static bool is_int32(const struct doc *number)
{
	return fits(number, INT32_MIN, INT32_MAX);
}

static bool is_int64(const struct doc *number)
{
	return fits(number, INT64_MIN, INT64_MAX);
}

static bool is_float(const struct doc *number)
{
	double d = json_double(number);

	return d >= -3.4028234663852886e38 && d <= 3.4028234663852886e38;
}

// ---- all

static const struct format formats[] = {
	{ "bsonobjectid", is_object_id, NULL }, { "byte", base64_is_valid, NULL }, { "cidr", is_cidr, NULL },
	{ "date", is_date, NULL }, { "date-time", is_date_time, NULL }, { "datetime", is_date_time, NULL },
	{ "duration", is_duration, NULL }, { "email", is_email, NULL }, { "float", NULL, is_float },
	{ "hexcolor", is_hex_color, NULL }, { "hostname", is_hostname, NULL }, { "int32", NULL, is_int32 },
	{ "int64", NULL, is_int64 }, { "ipv4", is_ipv4, NULL }, { "ipv6", is_ipv6, NULL }, { "mac", is_mac, NULL },
	{ "uri", is_uri, NULL }, { "uuid", is_uuid, NULL }, { "uuid3", is_uuid3, NULL }, { "uuid4", is_uuid4, NULL },
	{ "uuid5", is_uuid5, NULL },
};

const struct format *format_find(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		if (str_eq_c(name, formats[i].name))
			return &formats[i];
	}
	return NULL;
}

const char *format_name(const struct format *format)
{
	return format->name;
}

bool format_allows(const struct format *format, const struct doc *value)
{
	if (doc_kind(value) == DOC_STRING)
		return format->text == NULL || format->text(doc_string(value));
	if (doc_kind(value) == DOC_NUMBER)
		return format->number == NULL || format->number(value);
	return true;
}
