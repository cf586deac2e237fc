// SPDX-License-Identifier: Apache-2.0
// doc_json_patch: the target's text, a line feed, the patch's. Neither changes, and the result keeps to the limits.
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
	struct doc *target, *patch, *result, *again;
	struct str first = fuzz_first(&input), error = STR_NONE;

	if (!doc_parse_json(pool, first, limits, &target, &error) || !doc_parse_json(pool, input, limits, &patch, &error))
		return;
	struct str target_text = written(pool, target), patch_text = written(pool, patch);
	bool good = doc_json_patch_check(pool, patch, &error);
	MUST(good || error.n > 0);
	bool done = doc_json_patch(pool, target, patch, limits, &result, &error);
	MUST(done ? good : error.n > 0);
	MUST(str_eq(target_text, written(pool, target)) && str_eq(patch_text, written(pool, patch)));
	if (done)
		MUST(doc_parse_json(pool, written(pool, result), limits, &again, &error) && doc_equal(result, again));
}
