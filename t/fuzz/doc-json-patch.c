// SPDX-License-Identifier: Apache-2.0
// max_len: 2097152
// doc_json_patch: the target's text, a line feed, the patch's. Neither changes, and the result keeps to the limits.
#include "documents.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct doc *target, *patch, *result, *again;
	struct str error = STR_NONE;

	if (!fuzz_documents(pool, input, &target, &patch))
		return;
	struct str target_text = written(pool, target), patch_text = written(pool, patch);
	bool good = doc_json_patch_check(pool, patch, &error);
	MUST(good || error.n > 0);
	bool done = doc_json_patch(pool, target, patch, fuzz_limits, &result, &error);
	MUST(done ? good : error.n > 0);
	MUST(str_eq(target_text, written(pool, target)) && str_eq(patch_text, written(pool, patch)));
	if (done)
		MUST(doc_parse_json(pool, written(pool, result), fuzz_limits, &again, &error) && doc_equal(result, again));
}
