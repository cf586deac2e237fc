// SPDX-License-Identifier: Apache-2.0
// Letters and digits of ASCII. The C library's isalpha() and tolower() go by the locale, and must not be asked about a negative
// char, which any byte from 0x80 may be; these know nothing but the bytes that they name.
#ifndef TENURE_BASE_ASCII_H
#define TENURE_BASE_ASCII_H

#include "base/base.h"
#include "base/str.h"

struct pool;

static inline bool ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}
static inline bool ascii_is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}
static inline bool ascii_is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}
static inline bool ascii_is_letter(char c)
{
	return ascii_is_lower(c) || ascii_is_upper(c);
}
static inline bool ascii_is_alnum(char c)
{
	return ascii_is_letter(c) || ascii_is_digit(c);
}
static inline bool ascii_is_lower_alnum(char c)
{
	return ascii_is_lower(c) || ascii_is_digit(c);
}
// The letter in lower or upper case; any other byte as it is.
static inline char ascii_to_lower(char c)
{
	return ascii_is_upper(c) ? (char)(c + ('a' - 'A')) : c;
}
static inline char ascii_to_upper(char c)
{
	return ascii_is_lower(c) ? (char)(c - ('a' - 'A')) : c;
}

// A copy of s with its letters in lower case.
struct str ascii_lowered(struct pool *pool, struct str s);

#endif
