// SPDX-License-Identifier: Apache-2.0
// JSON Merge Patch: the examples of RFC 7396, appendix A, and what else could go wrong.
#include "base/base.h"

#include "documents.h"

int main(void)
{
	static const struct { const char *target, *patch, *result; } cases[] = {
		// appendix A
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" },
		{ "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" },
		{ "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
		{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" },
		{ "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" },
		{ "{\"a\":\"foo\"}", "null", "null" },
		{ "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
		{ "{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}" },
		{ "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
		// section 3's example
		{ "{\"title\":\"Goodbye!\",\"author\":{\"givenName\":\"John\",\"familyName\":\"Doe\"},"
			"\"tags\":[\"example\",\"sample\"],\"content\":\"This will be unchanged\"}",
			"{\"title\":\"Hello!\",\"phoneNumber\":\"+01-123-456-7890\",\"author\":{\"familyName\":null},"
			"\"tags\":[\"example\"]}",
			"{\"title\":\"Hello!\",\"author\":{\"givenName\":\"John\"},\"tags\":[\"example\"],"
			"\"content\":\"This will be unchanged\",\"phoneNumber\":\"+01-123-456-7890\"}" },
		// numbers keep their text, nulls in arrays stay
		{ "{\"a\":1.50,\"b\":-0}", "{\"c\":1e5}", "{\"a\":1.50,\"b\":-0,\"c\":1e5}" },
		{ "{}", "{\"a\":[null,{\"b\":null}]}", "{\"a\":[null,{\"b\":null}]}" },
		{ "{\"a\":{\"b\":1}}", "{}", "{\"a\":{\"b\":1}}" },
		{ "{\"a\":{\"b\":1}}", "{\"a\":{}}", "{\"a\":{\"b\":1}}" },
		{ "{\"a\":1}", "{\"a\":{\"b\":null,\"c\":2}}", "{\"a\":{\"c\":2}}" },
		{ "null", "{\"a\":1}", "{\"a\":1}" },
	};
	struct pool *pool = pool_new();
	struct doc_limits limits = { 64, 0 };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct doc *target, *patch, *want;
		struct str error = STR("");
		bool read = doc_parse_json(pool, str_c(cases[i].target), limits, &target, &error) &&
			doc_parse_json(pool, str_c(cases[i].patch), limits, &patch, &error) &&
			doc_parse_json(pool, str_c(cases[i].result), limits, &want, &error);
		if (!ok(read, "case %zu is JSON", i + 1))
			continue;
		struct doc *result = doc_merge_patch(pool, target, patch);
		ok(doc_equal(result, want), "%s patched by %s", cases[i].target, cases[i].patch);
		is_str(written(pool, result), cases[i].result, "in this order");
		is_str(written(pool, target), cases[i].target, "the target is as before");
		is_str(written(pool, patch), cases[i].patch, "the patch is as before");
		if (doc_kind(result) == DOC_OBJECT) {
			doc_set_u64(pool, result, "new", 1);
			is_str(written(pool, target), cases[i].target, "the result is a document of its own");
		}
	}
	pool_free(&pool);
	return done_testing();
}
