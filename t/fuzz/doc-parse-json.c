// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// doc_parse_json: what is read and written is read as the same, and written as the same.
#include "fuzz.h"

#include "repr/json/part.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	const struct doc_limits limits = { 32, 10000 };
	struct doc *doc, *again;
	struct str error = STR_NONE;
	static const struct str names[] = { STR_INIT("a"), STR_INIT("b"), { NULL, 0 } };

	(void)doc_parse_json_without(pool, input, limits, names, &doc, &error);
	error = STR_NONE;
	if (!doc_parse_json(pool, input, limits, &doc, &error)) {
		MUST(error.n > 0 && str_utf8_ok(error, NULL));
		return;
	}
	struct buf once = buf_new(pool, 0), twice = buf_new(pool, 0);
	doc_write_json(doc, &once);
	MUST(doc_parse_json(pool, buf_str(&once), limits, &again, &error));
	MUST(doc_equal(doc, again) && doc_equal_by_value(doc, again) && doc_equal(doc, doc_copy(pool, again)));
	doc_write_json(again, &twice);
	MUST(str_eq(buf_str(&once), buf_str(&twice)));
}
