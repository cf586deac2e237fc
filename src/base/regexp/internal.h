// SPDX-License-Identifier: Apache-2.0
// For regexp.c, regexp/class.c and regexp/run.c only: programs, and reading.
#ifndef TENURE_BASE_REGEXP_INTERNAL_H
#define TENURE_BASE_REGEXP_INTERNAL_H

#include "base/regexp/regexp.h"

enum { CHAR_LAST = 0x10FFFF };

enum regexp_op {
	OP_RANGE,  // one character from x to y
	OP_CLASS,  // one character in y ranges, from the x-th on
	OP_SPLIT,  // on at x and at y
	OP_JUMP,   // on at x
	OP_ASSERT, // x is an enum assertion
};

enum assertion { BEGIN_TEXT, END_TEXT, BEGIN_LINE, END_LINE, WORD_EDGE, NO_WORD_EDGE };

// Where to go on is counted from the instruction itself, so that a piece of a program can be moved and copied. The
// match is behind the last instruction.
struct instruction {
	enum regexp_op op;
	int32_t x, y;
};

// First to last character, both in it.
struct range {
	int32_t first, last;
};

struct regexp {
	struct instruction *code;
	size_t n, room;
	struct range *ranges; // of all classes
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
	bool quoted; // between \Q and \E
	struct str *why;
};

// The character at *at, which moves behind it.
int32_t regexp_char(struct str text, size_t *at);
bool is_word(int32_t c);
// Sets *why; false.
bool regexp_fail(struct reading *reading, const char *format, ...) PRINTF_LIKE(2, 3);

// ---- regexp/class.c

// A set of characters that is being made.
struct char_set {
	struct pool *pool;
	struct range *ranges;
	size_t n, room;
};

void set_add(struct char_set *set, int32_t first, int32_t last);
// Sorts and joins the ranges, with both cases where asked for, or turns the set into all the others.
void set_finish(struct char_set *set, bool nocase, bool negated);
// "d" of \d and its kin; false when the letter is none of them.
bool set_add_perl(struct char_set *set, char letter);
// At "[": reads up to behind "]". False: *why.
bool class_read(struct reading *reading, struct char_set *set);
// Behind a "\": the character that the escape stands for. False: *why.
bool escape_read(struct reading *reading, int32_t *c);

#endif
