// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// regexp_new and regexp_finds: the expression, a line feed, the text. What is read is found or not within its steps.
#include "fuzz.h"

#include "base/regexp/regexp.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct str expression = fuzz_first(&input), why = STR_NONE;
	struct regexp *regexp = regexp_new(pool, expression, 2000, &why);
	uint64_t steps = 1000000, all;

	MUST(regexp != NULL || why.n > 0);
	if (regexp == NULL)
		return;
	MUST(regexp_size(regexp) <= 2000);
	all = steps;
	enum regexp_answer answer = regexp_finds(regexp, pool, input, &steps);
	MUST(steps <= all && (answer != REGEXP_TOO_COSTLY || steps == 0));
	// At most each instruction twice, before each character and behind the last.
	MUST(all - steps <= 2 * (regexp_size(regexp) + 1) * (input.n + 1));
}
