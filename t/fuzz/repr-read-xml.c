// SPDX-License-Identifier: Apache-2.0
// max_len: 1048576
// repr_read of XML, by a shape and as any JSON: what is read comes back the same from both forms.
#include "fuzz.h"

#include "repr/shape/shape.h"

static const struct shape members[] = {
	{ .name = "id", .kind = SHAPE_STRING, .flags = SHAPE_ATTR },
	{ .name = "size", .kind = SHAPE_NUMBER, .flags = SHAPE_ATTR },
	{ .name = "on", .kind = SHAPE_BOOL, .flags = SHAPE_ATTR },
	{ .name = "etag", .kind = SHAPE_STRING, .flags = SHAPE_ATTR | SHAPE_NOT_READ },
	{ .name = "metadata", .kind = SHAPE_MAP, .flags = SHAPE_INLINE },
	{ .name = NULL },
};
static const struct shape item = { .name = "tenant", .kind = SHAPE_OBJECT, .members = members };
static const struct shape list_members[] = {
	{ .name = "tenants", .kind = SHAPE_LIST, .item = &item },
	{ .name = "next", .kind = SHAPE_STRING },
	{ .name = NULL },
};
static const struct repr_document documents[] = {
	{ .body = { .name = NULL, .kind = SHAPE_ANY } },
	{ .root = "tenant", .body = { .name = "tenant", .kind = SHAPE_OBJECT, .members = members } },
	{ .body = { .name = "list", .kind = SHAPE_OBJECT, .members = list_members } },
};

static void fuzz_one(struct pool *pool, struct str input)
{
	const struct doc_limits limits = { 32, 10000 }, wide = { 64, 20000 };

	for (size_t i = 0; i < COUNT_OF(documents); i++) {
		struct doc *body, *again;
		struct str error = STR_NONE;
		struct buf xml = buf_new(pool, 0), json = buf_new(pool, 0);
		if (!repr_read(pool, &documents[i], REPR_XML, input, limits, &body, &error)) {
			MUST(error.n > 0);
			continue;
		}
		repr_write(&documents[i], REPR_JSON, body, &json);
		MUST(repr_read(pool, &documents[i], REPR_JSON, buf_str(&json), wide, &again, &error));
		MUST(doc_equal(body, again));
		repr_write(&documents[i], REPR_XML, body, &xml);
		MUST(repr_read(pool, &documents[i], REPR_XML, buf_str(&xml), wide, &again, &error));
	}
}
