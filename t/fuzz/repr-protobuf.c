// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// protobuf_read: whatever is taken is JSON within the limits.
#include "fuzz.h"

#include "repr/protobuf/protobuf.h"

static const struct protobuf_message outer;
static const struct protobuf_message inner = { (const struct protobuf_field[]){
	{ 1, PROTOBUF_TEXT, PROTOBUF_ONE, "a", NULL }, { 2, PROTOBUF_MESSAGE, PROTOBUF_LIST, "b", &outer },
	{ .number = 0 } }, NULL };
static const struct protobuf_message outer = { (const struct protobuf_field[]){
	{ 1, PROTOBUF_BOOL, PROTOBUF_ZERO, "bool", NULL }, { 2, PROTOBUF_INT64, PROTOBUF_LIST, "ints", NULL },
	{ 3, PROTOBUF_DOUBLE, PROTOBUF_ONE, "double", NULL }, { 4, PROTOBUF_TEXT, PROTOBUF_MAP, "texts", NULL },
	{ 5, PROTOBUF_BYTES, PROTOBUF_MAP, "bytes", NULL }, { 6, PROTOBUF_JSON, PROTOBUF_LIST, "json", NULL },
	{ 7, PROTOBUF_MESSAGE, PROTOBUF_INLINE, NULL, &inner }, { 8, PROTOBUF_MESSAGE, PROTOBUF_MAP, "maps", &outer },
	{ 9, PROTOBUF_MESSAGE, PROTOBUF_ONE, "one", &outer }, { .number = 0 } }, NULL };

static void fuzz_one(struct pool *pool, struct str input)
{
	const struct doc_limits limits = { 32, 2000 };
	struct buf out = buf_new(pool, 0);
	struct str error = STR_NONE;
	struct doc *doc, *again;

	if (!protobuf_read(pool, &outer, input, limits, &doc, &error)) {
		MUST(error.n > 0);
		return;
	}
	doc_write_json(doc, &out);
	MUST(doc_parse_json(pool, buf_str(&out), (struct doc_limits){ 32, 0 }, &again, &error));
	MUST(doc_equal(doc, again));
}
