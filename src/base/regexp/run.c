// SPDX-License-Identifier: Apache-2.0
// Runs a program: for each character of the text it holds the set of all places in the program that may match next.
#include "base/base.h"

#include "base/pool.h"
#include "base/regexp/internal.h"

enum { NO_CHAR = -1 }; // stands before the beginning and behind the end of the text

struct run {
	const struct regexp *regexp;
	uint32_t *now, *next;   // places of OP_RANGE and OP_CLASS instructions
	size_t n_now, n_next;
	uint32_t *seen;         // by place: the last round in which it was reached
	uint32_t round;
	uint32_t *waiting;      // places reached and not yet followed
	int32_t before, behind; // the characters before and behind the current position
	bool found;             // the end of the program was reached
	uint64_t steps;
};

static bool holds(const struct run *run, enum assertion assertion)
{
	switch (assertion) {
	case BEGIN_TEXT: return run->before == NO_CHAR;
	case END_TEXT: return run->behind == NO_CHAR;
	case BEGIN_LINE: return run->before == NO_CHAR || run->before == '\n';
	case END_LINE: return run->behind == NO_CHAR || run->behind == '\n';
	case WORD_EDGE: return regexp_is_word(run->before) != regexp_is_word(run->behind);
	case NO_WORD_EDGE: return regexp_is_word(run->before) == regexp_is_word(run->behind);
	}
	return false;
}

static void reach(struct run *run, size_t *n_waiting, size_t place)
{
	if (place == run->regexp->n) {
		run->found = true;
	} else if (run->seen[place] != run->round) {
		run->seen[place] = run->round;
		run->waiting[(*n_waiting)++] = (uint32_t)place;
	}
}

static size_t moved(size_t place, int32_t distance)
{
	return (size_t)((int64_t)place + distance);
}

// Follows all instructions that match no character, from `place` to those that do. True: the end of the program was reached.
static bool follow(struct run *run, size_t place)
{
	size_t n_waiting = 0;

	reach(run, &n_waiting, place);
	while (n_waiting > 0 && !run->found) {
		size_t at = run->waiting[--n_waiting];
		struct instruction i = run->regexp->code[at];
		run->steps++;
		switch (i.op) {
		case OP_SPLIT:
			reach(run, &n_waiting, moved(at, i.y));
			reach(run, &n_waiting, moved(at, i.x));
			break;
		case OP_JUMP:
			reach(run, &n_waiting, moved(at, i.x));
			break;
		case OP_ASSERT:
			if (holds(run, (enum assertion)i.x))
				reach(run, &n_waiting, at + 1);
			break;
		case OP_RANGE:
		case OP_CLASS:
			run->next[run->n_next++] = (uint32_t)at;
			break;
		}
	}
	return run->found;
}

static bool in_class(const struct range *ranges, size_t n, int32_t c)
{
	size_t from = 0;

	while (from < n) {
		size_t middle = from + (n - from) / 2;
		if (c < ranges[middle].first)
			n = middle;
		else if (c > ranges[middle].last)
			from = middle + 1;
		else
			return true;
	}
	return false;
}

static bool takes(const struct run *run, uint32_t place, int32_t c)
{
	struct instruction i = run->regexp->code[place];

	if (i.op == OP_RANGE)
		return c >= i.x && c <= i.y;
	return i.y > 0 && in_class(run->regexp->ranges + i.x, (size_t)i.y, c);
}

// Advances every current thread that accepts c, and starts a new one at the beginning. True: a thread has reached the end.
static bool step(struct run *run, int32_t c)
{
	run->round++;
	run->n_next = 0;
	for (size_t i = 0; i < run->n_now; i++) {
		run->steps++;
		if (takes(run, run->now[i], c) && follow(run, run->now[i] + 1))
			return true;
	}
	return follow(run, 0);
}

static enum regexp_answer run_all(struct run *run, struct str text, uint64_t most)
{
	size_t at = 0;

	run->before = NO_CHAR;
	run->behind = text.n > 0 ? regexp_char(text, &at) : NO_CHAR;
	run->round = 1;
	if (follow(run, 0))
		return REGEXP_YES;
	while (run->behind != NO_CHAR) {
		uint32_t *was = run->now;
		run->now = run->next;
		run->n_now = run->n_next;
		run->next = was;
		run->before = run->behind;
		run->behind = at < text.n ? regexp_char(text, &at) : NO_CHAR;
		if (step(run, run->before))
			return REGEXP_YES;
		if (run->steps > most)
			return REGEXP_TOO_COSTLY;
		// An expression that begins with the start of the text can't match later in it.
		if (run->n_next == 0 && run->regexp->code[0].op == OP_ASSERT && run->regexp->code[0].x == BEGIN_TEXT)
			return REGEXP_NO;
	}
	return REGEXP_NO;
}

enum regexp_answer regexp_finds(const struct regexp *regexp, struct pool *pool, struct str text, uint64_t *steps)
{
	struct pool_mark mark = pool_mark(pool);
	struct run run = { .regexp = regexp, .now = POOL_ARRAY(pool, uint32_t, regexp->n),
		.next = POOL_ARRAY(pool, uint32_t, regexp->n), .seen = POOL_ARRAY(pool, uint32_t, regexp->n),
		.waiting = POOL_ARRAY(pool, uint32_t, regexp->n) };
	enum regexp_answer answer = run_all(&run, text, *steps);

	pool_rewind(pool, mark);
	*steps -= run.steps < *steps ? run.steps : *steps;
	return answer;
}
