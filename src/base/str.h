// SPDX-License-Identifier: Apache-2.0
// Counted strings. A struct str is a view: it owns nothing, may hold any byte, NUL too, and is passed by value.
// Code that keeps one longer than the bytes live copies it by str_dup().
#ifndef TENURE_BASE_STR_H
#define TENURE_BASE_STR_H

#include <stdarg.h>

#include "base/base.h"

struct pool;

struct str {
	const char *p; // never read beyond n; may be NULL when n is 0
	size_t n;      // bytes
};

#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
// STR() for initializers that must be constant, such as those of static tables.
#define STR_INIT(literal) { "" literal, sizeof(literal) - 1 }
#define STR_NONE ((struct str){ NULL, 0 })
// The two arguments of "%.*s" for a struct str or struct buf. The C library's printf stops at a NUL byte, str_printf() and
// buf_addf() don't.
// s is evaluated more than once, so it must not contain a call, an assignment, ++ or --: scripts/check-statements refuses those.
// A result that a message needs gets a variable.
#define STR_ARG(s) (int)((s).n), ((s).p != NULL ? (s).p : "")
// The same for the longest beginning of s that has at most so many bytes (str_utf8_head()). The rule for s is the same.
#define STR_HEAD_ARG(s, most) (int)str_utf8_head((s), (most)).n, ((s).p != NULL ? (s).p : "")

// Inline functions: each is called some hundred times in a request.
static inline struct str str_n(const char *p, size_t n)
{
	return (struct str){ p, n };
}
// View of a C string; NULL gives the empty string.
static inline struct str str_c(const char *text)
{
	return (struct str){ text, text != NULL ? strlen(text) : 0 };
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool str_eq_c(struct str a, const char *b)
{
	return str_eq(a, str_c(b));
}
// ASCII letters compare without regard to case, all other bytes exactly.
bool str_eq_nocase(struct str a, struct str b);
// Compares byte by byte: negative, 0 or positive, as memcmp does.
int str_cmp(struct str a, struct str b);
static inline bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq(str_n(s.p, prefix.n), prefix);
}
bool str_ends(struct str s, struct str suffix);
// Index of the first byte c at or after from, or s.n.
static inline size_t str_find(struct str s, char c, size_t from)
{
	if (from >= s.n)
		return s.n;
	const char *hit = memchr(s.p + from, c, s.n - from);
	return hit != NULL ? (size_t)(hit - s.p) : s.n;
}
// The part [from, to), clipped to the string.
static inline struct str str_part(struct str s, size_t from, size_t to)
{
	if (to > s.n)
		to = s.n;
	if (from > to)
		from = to;
	// NULL + 0 is undefined in C, so an empty string is not moved.
	return from == 0 ? str_n(s.p, to) : str_n(s.p + from, to - from);
}
// The string without blanks and tabs at both ends (RFC 9110 OWS).
struct str str_trim(struct str s);
// Cuts the next item, up to separator c, off *rest. False if *rest has no item left (its p is NULL then).
// "a,,b" has three items, the second one empty; the empty string has one empty item; STR_NONE has none.
bool str_split(struct str *rest, char c, struct str *item);

// A copy in the pool, followed by a NUL byte that n does not count.
struct str str_dup(struct pool *pool, struct str s);
// The same as a C string. Only for strings that are known to contain no NUL.
char *str_cstr(struct pool *pool, struct str s);
// a, the byte between them, and b in one string in the pool, followed by a NUL byte that n does not count.
struct str str_joined(struct pool *pool, struct str a, char between, struct str b);
// Like printf, except that "%.*s" with STR_ARG() writes all bytes of the string, NUL among them. Conversions: d i u x X o c s g,
// with what printf allows between them and '%'.
struct str str_printf(struct pool *pool, const char *format, ...) PRINTF_LIKE(2, 3);
// Like str_printf() with a va_list, which is used up.
struct str str_vprintf(struct pool *pool, const char *format, va_list args) PRINTF_LIKE(2, 0);
// The number of bytes that this makes; writes them, and perhaps one NUL behind them, unless out is NULL. args is used up.
size_t str_format(char *out, const char *format, va_list args) PRINTF_LIKE(2, 0);

// Parses decimal digits, without sign or blanks. False for anything else and on overflow.
bool str_to_u64(struct str s, uint64_t *value);

// Value of a hexadecimal digit in either case, -1 for anything else.
int str_hex_digit(char c);

// Is s well-formed UTF-8 (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF)? If not, *bad (unless NULL) is the
// offset of the first bad byte. NUL bytes are well-formed.
bool str_utf8_ok(struct str s, size_t *bad);
// The longest beginning of s that has at most so many bytes and cuts no character of well-formed UTF-8. Of any other bytes it may
// be up to 3 bytes shorter than that.
struct str str_utf8_head(struct str s, size_t most);
// Number of code points in well-formed UTF-8.
size_t str_utf8_length(struct str s);

#endif
