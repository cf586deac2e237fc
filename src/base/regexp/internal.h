// SPDX-License-Identifier: Apache-2.0
// For regexp.c, class.c and run.c only: compiled programs, and the state of the parser.
#ifndef TENURE_BASE_REGEXP_INTERNAL_H
#define TENURE_BASE_REGEXP_INTERNAL_H

#include "base/regexp/regexp.h"

enum { CHAR_LAST = 0x10FFFF };

enum regexp_op {
	OP_RANGE,  // match one character from x to y
	OP_CLASS,  // match one character of y ranges, beginning with ranges[x]
	OP_SPLIT,  // go on at x and at y
	OP_JUMP,   // go on at x
	OP_ASSERT, // go on if x, an enum assertion, holds here
};

enum assertion { BEGIN_TEXT, END_TEXT, BEGIN_LINE, END_LINE, WORD_EDGE, NO_WORD_EDGE };

// x and y of a split or jump are relative to the instruction itself, so that a piece of a program can be moved and copied. The
// text matches when the place behind the last instruction is reached.
struct instruction {
	enum regexp_op op;
	int32_t x, y;
};

// A range of characters, both ends included.
struct range {
	int32_t first, last;
};

struct regexp {
	struct instruction *code;
	size_t n, room;
	struct range *ranges; // of all classes of the expression
	size_t n_ranges, ranges_room;
};

enum regexp_flag { FLAG_NOCASE = 1, FLAG_LINES = 2, FLAG_DOT_ALL = 4 };

struct reading {
	struct pool *pool;
	struct regexp *regexp;
	struct str text;
	size_t at;
	size_t max;
	unsigned flags;
	unsigned depth;
	bool quoted; // true between \Q and \E
	struct str *why;
};

// The character at offset *at; moves *at behind it.
int32_t regexp_char(struct str text, size_t *at);
bool regexp_is_word(int32_t c);
// Sets *why to the formatted text and returns false.
bool regexp_fail(struct reading *reading, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- class.c

// A set of characters that is being built.
struct char_set {
	struct pool *pool;
	struct range *ranges;
	size_t n, room;
};

void char_set_add(struct char_set *set, int32_t first, int32_t last);
// Adds the other case of each letter in the set.
void char_set_add_other_cases(struct char_set *set);
// Sorts and joins the ranges, which ends the building of a set.
void char_set_finish(struct char_set *set);
// Replaces a finished set by its complement: all characters that are not in it.
void char_set_invert(struct char_set *set);
// Adds the set of \d, \D, \w, \W, \s or \S, named by its letter. False if letter is none of these.
bool char_set_add_perl(struct char_set *set, char letter);
// Reads a class; reading->at is at its "[" and ends behind its "]". False: *why says what is wrong.
bool regexp_read_class(struct reading *reading, struct char_set *set);
// Reads the character that an escape stands for; reading->at is behind the "\". False: *why says what is wrong.
bool regexp_read_escape(struct reading *reading, int32_t *c);

#endif
