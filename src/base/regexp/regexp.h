// SPDX-License-Identifier: Apache-2.0
// Regular expressions that any client may write, matched against text that any client may send. The time of a match is at most
// proportional to the length of the text times the size of the expression: all ways through the expression are followed at the
// same time, and none is tried again. The matchers of libc, libxml2 and PCRE don't promise that: they backtrack, or expand
// repetitions without a bound; their syntax differs, too.
//
// The syntax is that of RE2 and Go's regexp, which Kubernetes uses for patterns: literals, . [a-z] [^a-z] [[:alpha:]], \d \w \s
// \D \W \S, \t \n \r \f \v \a \x7F \x{10FFFF} \101 \Q...\E, ^ $ \A \z \b \B, groups, named groups (?P<name>a), flags (?ims)
// (?i:a), a|b, * + ? {n} {n,} {n,m} (up to 1000) and their lazy forms. Characters are those of Unicode; \d, \w, \s, \b and (?i)
// know ASCII only. Not supported: \pN, which needs Unicode's tables, and \C. RE2 has no back-references and no look-around
// either.
#ifndef TENURE_BASE_REGEXP_REGEXP_H
#define TENURE_BASE_REGEXP_REGEXP_H

#include "base/str.h"

struct pool;
struct regexp;

enum { REGEXP_SIZE_MAX = 10000 };

// Compiles an expression; the result lives in pool. max: the largest number of instructions that it may have, at most
// REGEXP_SIZE_MAX. A character, a class or an operator takes one or two instructions of 12 bytes, as often as it is repeated.
// NULL: *why says what is wrong and what would be right.
struct regexp *regexp_new(struct pool *pool, struct str text, size_t max, struct str *why);
// Number of instructions of the compiled expression.
size_t regexp_size(const struct regexp *regexp);

enum regexp_answer { REGEXP_NO, REGEXP_YES, REGEXP_TOO_COSTLY };

// Does text have a match anywhere? text is UTF-8; a byte that is not stands for U+FFFD. *steps limits the work: each instruction
// looked at counts one, and the steps done are subtracted. REGEXP_TOO_COSTLY: the limit was reached. Memory taken from pool is
// returned to it.
enum regexp_answer regexp_finds(const struct regexp *regexp, struct pool *pool, struct str text, uint64_t *steps);

#endif
