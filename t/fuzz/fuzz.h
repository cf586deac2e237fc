// SPDX-License-Identifier: Apache-2.0
// What the fuzzing targets share: a pool for each input, and an end where something is not as it must be.
#ifndef TENURE_T_FUZZ_FUZZ_H
#define TENURE_T_FUZZ_FUZZ_H

#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What the target does with one input; memory of it lives in pool.
static void fuzz_one(struct pool *pool, struct str input);

#define MUST(condition) do { if (!(condition)) __builtin_trap(); } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pool *pool;

	if (pool == NULL)
		pool = pool_new();
	// A copy of its own size, so that reading behind it is seen.
	char *copy = malloc(size > 0 ? size : 1);
	MUST(copy != NULL);
	if (size > 0)
		memcpy(copy, data, size);
	fuzz_one(pool, str_n(copy, size));
	pool_clear(pool);
	free(copy);
	return 0;
}

// Cuts input at the first line feed: two inputs in one.
static inline struct str fuzz_first(struct str *input)
{
	size_t end = str_find(*input, '\n', 0);
	struct str first = str_part(*input, 0, end);

	*input = str_part(*input, end + 1, input->n);
	return first;
}

#endif
