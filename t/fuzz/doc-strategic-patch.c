// SPDX-License-Identifier: Apache-2.0
// max_len: 2097152
// doc_strategic_patch of a Pod: the target's text, a line feed, the patch's. Neither changes, and the result is no larger
// than both.
#include "documents.h"
#include "repr/patch/strategic_patch.h"
#include "types/types.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct doc *target, *patch, *result, *again;
	struct str error = STR_NONE;

	if (!fuzz_documents(pool, input, &target, &patch))
		return;
	struct str target_text = written(pool, target), patch_text = written(pool, patch);
	bool done = doc_strategic_patch(pool, type_parts_by_kind(STR(""), STR("Pod"))->merge, target, patch, &result, &error);
	MUST(done || error.n > 0);
	MUST(str_eq(target_text, written(pool, target)) && str_eq(patch_text, written(pool, patch)));
	if (!done)
		return;
	struct str text = written(pool, result);
	MUST(text.n <= target_text.n + patch_text.n);
	MUST(doc_parse_json(pool, text, (struct doc_limits){ 64, 4000 }, &again, &error) && doc_equal(result, again));
}
