// SPDX-License-Identifier: Apache-2.0
// max_len: 2097152
// doc_merge_patch: the target's text, a line feed, the patch's. Neither changes; the same patch again changes nothing.
#include "documents.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	struct doc *target, *patch;

	if (!fuzz_documents(pool, input, &target, &patch))
		return;
	struct str target_text = written(pool, target), patch_text = written(pool, patch);
	struct doc *result = doc_merge_patch(pool, target, patch);
	MUST(doc_equal(result, doc_merge_patch(pool, result, patch)));
	MUST(str_eq(target_text, written(pool, target)) && str_eq(patch_text, written(pool, patch)));
}
