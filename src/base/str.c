// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <limits.h>
#include <stdarg.h>

#include "base/ascii.h"
#include "base/pool.h"
#include "base/str.h"

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		if (ascii_to_lower(a.p[i]) != ascii_to_lower(b.p[i]))
			return false;
	}
	return true;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n == 0 ? 0 : memcmp(a.p, b.p, n);

	return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n && str_eq(str_part(s, s.n - suffix.n, s.n), suffix);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
	size_t from = 0, to = s.n;

	while (from < to && is_blank(s.p[from]))
		from++;
	while (to > from && is_blank(s.p[to - 1]))
		to--;
	return str_part(s, from, to);
}

bool str_split(struct str *rest, char c, struct str *item)
{
	if (rest->p == NULL)
		return false;
	size_t at = str_find(*rest, c, 0);

	*item = str_n(rest->p, at);
	*rest = at < rest->n ? str_n(rest->p + at + 1, rest->n - at - 1) : STR_NONE;
	return true;
}

struct str str_dup(struct pool *pool, struct str s)
{
	char *copy = pool_alloc(pool, s.n + 1);

	assert(s.p != NULL || s.n == 0);
	if (s.n > 0)
		memcpy(copy, s.p, s.n);
	copy[s.n] = '\0';
	return str_n(copy, s.n);
}

char *str_cstr(struct pool *pool, struct str s)
{
	assert(s.n == 0 || memchr(s.p, '\0', s.n) == NULL);
	// The view is const; the copy just made is not.
	return (char *)(uintptr_t)str_dup(pool, s).p;
}

// ---- printf with counted strings

enum { SPEC_MAX = 16 }; // bytes of one conversion, such as "%-18s"

struct print {
	char *out; // NULL: the bytes are only counted
	size_t n;
};

static void print_bytes(struct print *print, const char *bytes, size_t n)
{
	if (print->out != NULL && n > 0)
		memcpy(print->out + print->n, bytes, n);
	print->n += n;
}

// One conversion by the C library. Where print->out is set, there is room for a NUL behind it as well.
static void print_spec(struct print *print, const char *spec, ...)
{
	char *out = print->out != NULL ? print->out + print->n : NULL;
	va_list args;

	va_start(args, spec);
	int n = vsnprintf(out, out != NULL ? INT_MAX : 0, spec, args);
	va_end(args);
	assert(n >= 0);
	print->n += (size_t)n;
}

// A whole number of any type; starred: star stands before it, as width or precision.
#define print_number(print, spec, starred, star, number) \
	((starred) ? print_spec(print, spec, star, number) : print_spec(print, spec, number))

static bool has_part(const char *spec, const char *part)
{
	return strstr(spec, part) != NULL;
}

size_t str_format(char *out, const char *format, va_list args)
{
	struct print print = { .out = out };

	assert(format != NULL);
	while (*format != '\0') {
		size_t plain = strcspn(format, "%");
		print_bytes(&print, format, plain);
		format += plain;
		if (*format == '\0')
			break;
		size_t n = 2 + strspn(format + 1, "-+ #0123456789.*hlz"); // of the conversion: "%", its flags, and its letter
		char spec[SPEC_MAX] = "", letter = format[n - 1];
		assert(n < SPEC_MAX);
		memcpy(spec, format, n);
		format += n;
		if (letter == '%') {
			print_bytes(&print, "%", 1);
			continue;
		}
		bool starred = has_part(spec, "*");
		int star = starred ? va_arg(args, int) : 0;
		if (letter == 's') {
			const char *text = va_arg(args, const char *);
			if (strcmp(spec, "%.*s") == 0)
				print_bytes(&print, text, star > 0 ? (size_t)star : 0);
			else if (strcmp(spec, "%s") == 0)
				print_bytes(&print, text, strlen(text));
			else if (starred)
				print_spec(&print, spec, star, text);
			else
				print_spec(&print, spec, text);
		} else if (letter == 'g') {
			double number = va_arg(args, double);
			if (starred)
				print_spec(&print, spec, star, number);
			else
				print_spec(&print, spec, number);
		} else {
			assert(strchr("diuxXoc", letter) != NULL);
			if (has_part(spec, "ll"))
				print_number(&print, spec, starred, star, va_arg(args, unsigned long long));
			else if (has_part(spec, "l") || has_part(spec, "z"))
				print_number(&print, spec, starred, star, va_arg(args, unsigned long));
			else
				print_number(&print, spec, starred, star, va_arg(args, unsigned));
		}
	}
	return print.n;
}

struct str str_joined(struct pool *pool, struct str a, char between, struct str b)
{
	char *text = pool_alloc(pool, a.n + 1 + b.n + 1);

	if (a.n > 0)
		memcpy(text, a.p, a.n);
	text[a.n] = between;
	if (b.n > 0)
		memcpy(text + a.n + 1, b.p, b.n);
	text[a.n + 1 + b.n] = '\0';
	return str_n(text, a.n + 1 + b.n);
}

struct str str_vprintf(struct pool *pool, const char *format, va_list args)
{
	va_list again;

	va_copy(again, args);
	size_t n = str_format(NULL, format, args);
	char *text = pool_alloc(pool, n + 1);
	(void)str_format(text, format, again);
	va_end(again);
	text[n] = '\0';
	return str_n(text, n);
}

struct str str_printf(struct pool *pool, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	struct str s = str_vprintf(pool, format, args);
	va_end(args);
	return s;
}

int str_hex_digit(char c)
{
	if (ascii_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool str_to_u64(struct str s, uint64_t *value)
{
	uint64_t v = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		uint64_t digit = (uint64_t)(s.p[i] - '0');
		if (v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*value = v;
	return true;
}

// Length of the well-formed sequence at p, 0 if there is none (table 3-7 of the Unicode standard).
static size_t utf8_sequence(const unsigned char *p, size_t n)
{
	unsigned char first = p[0], low = 0x80, high = 0xbf;
	size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if (length == 1)
		return 1;
	if (first < 0xc2 || first > 0xf4 || n < length)
		return 0;
	if (first == 0xe0)
		low = 0xa0; // lower values: overlong form
	else if (first == 0xed)
		high = 0x9f; // higher values: surrogates
	else if (first == 0xf0)
		low = 0x90; // lower values: overlong form
	else if (first == 0xf4)
		high = 0x8f; // higher values: beyond U+10FFFF
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

bool str_utf8_ok(struct str s, size_t *bad)
{
	size_t i = 0;

	while (i < s.n) {
		uint64_t word;
		// Eight bytes of ASCII at a time.
		if (s.n - i >= sizeof(word)) {
			memcpy(&word, s.p + i, sizeof(word));
			if ((word & UINT64_C(0x8080808080808080)) == 0) {
				i += sizeof(word);
				continue;
			}
		}
		size_t length = utf8_sequence((const unsigned char *)s.p + i, s.n - i);
		if (length == 0) {
			if (bad != NULL)
				*bad = i;
			return false;
		}
		i += length;
	}
	return true;
}

struct str str_utf8_head(struct str s, size_t most)
{
	size_t n = s.n < most ? s.n : most, back = 0;

	// A character has at most 3 bytes behind its first. More of them in a row are not UTF-8, and are cut anywhere.
	while (back < 3 && back < n && n < s.n && ((unsigned char)s.p[n - back] & 0xc0) == 0x80)
		back++;
	return str_part(s, 0, n - back);
}

size_t str_utf8_length(struct str s)
{
	size_t points = 0;

	for (size_t i = 0; i < s.n; i++)
		points += ((unsigned char)s.p[i] & 0xc0) != 0x80;
	return points;
}
