// SPDX-License-Identifier: Apache-2.0
// Regular expressions that strangers write, matched against texts that strangers send. The time a match takes grows
// with the text's length times the expression's, and with nothing else: all ways through the expression are followed
// at once, none is tried again. That is why these are not libc's, libxml2's or PCRE's, which backtrack, or expand
// bounded repetitions without a bound; and their syntax would be another.
//
// Syntax: RE2's, as in Go's regexp, which is what Kubernetes reads patterns with: literals, . [a-z] [^a-z]
// [[:alpha:]], \d \w \s \D \W \S, \t \n \r \f \v \a \x7F \x{10FFFF} \101 \Q...\E, ^ $ \A \z \b \B, groups, named ones
// (?P<name>a) and ones with flags (?ims) (?i:a), a|b, * + ? {n} {n,} {n,m} and their lazy forms (up to 1000).
// Characters are Unicode's; \d, \w, \s, \b and what (?i) makes equal are ASCII's. Not taken: \pN, which needs Unicode's
// tables, and \C. Back-references and look-around don't exist in RE2 either.
#ifndef TENURE_BASE_REGEXP_REGEXP_H
#define TENURE_BASE_REGEXP_REGEXP_H

#include "base/str.h"

struct pool;
struct regexp;

enum { REGEXP_SIZE_MAX = 10000 };

// Reads an expression; lives in pool. max: instructions that it may take, REGEXP_SIZE_MAX at most: a character, a class
// or an operator each is one or two, and so often as it is repeated; each takes 12 bytes.
// NULL: *why says what is wrong, with what would be right.
struct regexp *regexp_new(struct pool *pool, struct str text, size_t max, struct str *why);
// Number of instructions of the program.
size_t regexp_size(const struct regexp *regexp);

enum regexp_answer { REGEXP_NO, REGEXP_YES, REGEXP_TOO_COSTLY };

// Is there a match anywhere in text, which is UTF-8 (a byte that is not stands for U+FFFD)? *steps is the limit,
// one for each instruction looked at, and is lowered by the steps done. Memory taken from pool is returned to it.
enum regexp_answer regexp_finds(const struct regexp *regexp, struct pool *pool, struct str text, uint64_t *steps);

#endif
