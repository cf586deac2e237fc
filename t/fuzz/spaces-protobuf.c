// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// Objects of built-in kinds as protobuf, in their envelope: what is taken is an object of that kind, and JSON.
#include "fuzz.h"

#include "api/spaces/protobuf/protobuf.h"

static void fuzz_one(struct pool *pool, struct str input)
{
	const struct doc_limits limits = { 64, 20000 };
	struct buf out = buf_new(pool, 0);
	struct str error = STR_NONE;
	const struct doc *kind;
	struct doc *object, *again;

	if (protobuf_read_object(pool, input, limits, &object, &error) != OUTCOME_OK) {
		MUST(error.n > 0 && str_utf8_ok(error, NULL));
		return;
	}
	MUST(doc_get(object, STR("kind"), &kind) && doc_string(kind).n > 0);
	doc_write_json(object, &out);
	MUST(doc_parse_json(pool, buf_str(&out), (struct doc_limits){ 64, 0 }, &again, &error));
	MUST(doc_equal(object, again));
}
