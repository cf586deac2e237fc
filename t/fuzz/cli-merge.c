// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// Three documents, a line each: merged, what nobody changed stays, and who alone changed anything gets it.
#include "fuzz.h"

#include "cli/change/merge.h"

static bool read(struct pool *pool, struct str *input, struct doc **doc)
{
	struct str error;

	return doc_parse_json(pool, fuzz_first(input), (struct doc_limits){ 1000, 0 }, doc, &error) && doc_kind(*doc) == DOC_OBJECT;
}

static void fuzz_one(struct pool *pool, struct str input)
{
	struct doc *base, *yours, *theirs;
	struct merge merge;

	if (!read(pool, &input, &base) || !read(pool, &input, &yours) || !read(pool, &input, &theirs))
		return;
	merge_documents(pool, base, yours, theirs, &merge);
	MUST(merge.clash || merge.result != NULL);
	merge_documents(pool, base, yours, base, &merge);
	MUST(!merge.clash && doc_equal(merge.result, yours));
	merge_documents(pool, base, base, theirs, &merge);
	MUST(!merge.clash && doc_equal(merge.result, theirs));
	merge_documents(pool, base, yours, yours, &merge);
	MUST(!merge.clash && doc_equal(merge.result, yours));
}
