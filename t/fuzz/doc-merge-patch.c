// SPDX-License-Identifier: Apache-2.0
// doc_merge_patch: the target's text, a line feed, the patch's. Neither changes; the same patch again changes nothing.
#include "fuzz.h"

#include "repr/doc.h"

static struct str written(struct pool *pool, const struct doc *doc)
{
	struct buf out = buf_new(pool, 0);

	doc_write_json(doc, &out);
	return buf_str(&out);
}

static void fuzz_one(struct pool *pool, struct str input)
{
	const struct doc_limits limits = { 32, 2000 };
	struct doc *target, *patch;
	struct str first = fuzz_first(&input), error;

	if (!doc_parse_json(pool, first, limits, &target, &error) || !doc_parse_json(pool, input, limits, &patch, &error))
		return;
	struct str target_text = written(pool, target), patch_text = written(pool, patch);
	struct doc *result = doc_merge_patch(pool, target, patch);
	MUST(doc_equal(result, doc_merge_patch(pool, result, patch)));
	MUST(str_eq(target_text, written(pool, target)) && str_eq(patch_text, written(pool, patch)));
}
