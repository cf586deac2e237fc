// SPDX-License-Identifier: Apache-2.0
// max_len: 65536
// Paths of printer columns: the path, a line feed, an object's text.
#include "fuzz.h"

#include "repr/json/jsonpath.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	const struct doc_limits limits = { 32, 2000 };
	const struct jsonpath *path;
	struct str first = fuzz_first(&input), error = STR_NONE;
	struct doc *object;
	size_t n, looks = 10000;

	if (!jsonpath_parse(pool, first, &path, &error)) {
		MUST(error.n > 0);
		return;
	}
	if (!doc_parse_json(pool, input, limits, &object, &error))
		return;
	const struct doc *const *found = jsonpath_find(pool, path, object, &looks, &n);
	MUST(n <= JSONPATH_FOUND_MAX && looks <= 10000);
	for (size_t i = 0; i < n; i++)
		MUST(doc_kind(found[i]) <= DOC_OBJECT);
}
