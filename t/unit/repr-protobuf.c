// SPDX-License-Identifier: Apache-2.0
// Protocol Buffers as documents: every type and form by hand-made bytes; what is no message, or none of the table's.
#include "base/base.h"

#include "base/pool.h"
#include "repr/protobuf/protobuf.h"
#include "tap.h"

static bool tell_name(struct pool *pool, const struct doc *object, struct doc **told, const char **why)
{
	const struct doc *value;

	*why = "must have a name";
	if (!doc_get(object, STR("name"), &value))
		return false;
	*told = doc_copy(pool, value);
	return true;
}

static const struct protobuf_message inner = { (const struct protobuf_field[]){
	{ 1, PROTOBUF_INT64, PROTOBUF_ONE, "a", NULL }, { 2, PROTOBUF_TEXT, PROTOBUF_ZERO, "b", NULL },
	{ .number = 0 } }, NULL };
static const struct protobuf_message named = { (const struct protobuf_field[]){
	{ 1, PROTOBUF_TEXT, PROTOBUF_ZERO, "name", NULL }, { .number = 0 } }, tell_name };
static const struct protobuf_message outer;
static const struct protobuf_message outer = { (const struct protobuf_field[]){
	{ 1, PROTOBUF_BOOL, PROTOBUF_ONE, "bool", NULL },
	{ 2, PROTOBUF_INT64, PROTOBUF_ONE, "int", NULL },
	{ 3, PROTOBUF_DOUBLE, PROTOBUF_ONE, "double", NULL },
	{ 4, PROTOBUF_TEXT, PROTOBUF_ONE, "text", NULL },
	{ 5, PROTOBUF_BYTES, PROTOBUF_ONE, "bytes", NULL },
	{ 6, PROTOBUF_JSON, PROTOBUF_ONE, "json", NULL },
	{ 7, PROTOBUF_MESSAGE, PROTOBUF_ONE, "object", &inner },
	{ 8, PROTOBUF_MESSAGE, PROTOBUF_INLINE, NULL, &inner },
	{ 9, PROTOBUF_INT64, PROTOBUF_LIST, "ints", NULL },
	{ 10, PROTOBUF_TEXT, PROTOBUF_LIST, "texts", NULL },
	{ 11, PROTOBUF_MESSAGE, PROTOBUF_LIST, "objects", &inner },
	{ 12, PROTOBUF_TEXT, PROTOBUF_MAP, "map", NULL },
	{ 13, PROTOBUF_MESSAGE, PROTOBUF_MAP, "maps", &inner },
	{ 14, PROTOBUF_MESSAGE, PROTOBUF_ONE, "told", &named },
	{ 15, PROTOBUF_MESSAGE, PROTOBUF_ONE, "again", &outer },
	{ 16, PROTOBUF_BOOL, PROTOBUF_ZERO, "said", NULL },
	{ 17, PROTOBUF_BYTES, PROTOBUF_MAP, "data", NULL },
	{ .number = 0 } }, NULL };

// Limits of 8 levels and 20 values.
static const struct { struct str bytes; const char *json, *error; } cases[] = {
	{ STR_INIT(""), "{}", NULL },
	{ STR_INIT("\x08\x01"), "{\"bool\":true}", NULL },
	{ STR_INIT("\x08\x00\x10\x00\x22\x00\x2a\x00"), "{}", NULL },
	{ STR_INIT("\x80\x01\x00\x80\x01\x00"), NULL, "\"said\" is there twice" },
	{ STR_INIT("\x80\x01\x00"), "{\"said\":false}", NULL },
	{ STR_INIT("\x10\x96\x01"), "{\"int\":150}", NULL },
	{ STR_INIT("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "{\"int\":-1}", NULL },
	{ STR_INIT("\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "{\"int\":-9223372036854775808}", NULL },
	{ STR_INIT("\x19\x9a\x99\x99\x99\x99\x99\xb9\x3f"), "{\"double\":0.1}", NULL },
	{ STR_INIT("\x19\x00\x00\x00\x00\x00\x00\xf8\x7f"), NULL, "\"double\" must be a finite number" },
	{ STR_INIT("\x22\x03" "a\0b"), "{\"text\":\"a\\u0000b\"}", NULL },
	{ STR_INIT("\x22\x01\xff"), NULL, "\"text\" must be UTF-8" },
	{ STR_INIT("\x2a\x01\xff"), "{\"bytes\":\"/w==\"}", NULL },
	{ STR_INIT("\x2a\x02\xff\xfe"), "{\"bytes\":\"//4=\"}", NULL },
	{ STR_INIT("\x2a\x03" "Man"), "{\"bytes\":\"TWFu\"}", NULL },
	{ STR_INIT("\x32\x07" "{\"f\":1}"), "{\"json\":{\"f\":1}}", NULL },
	{ STR_INIT("\x32\x02" "{]"), NULL, "\"json\" must be a JSON value" },
	{ STR_INIT("\x32\x10" "[[[[[[[[]]]]]]]]"), NULL, "\"json\" must be a JSON value" },
	{ STR_INIT("\x3a\x00"), "{\"object\":{}}", NULL },
	{ STR_INIT("\x3a\x02\x12\x00"), "{\"object\":{\"b\":\"\"}}", NULL },
	{ STR_INIT("\x42\x02\x08\x05"), "{\"a\":5}", NULL },
	{ STR_INIT("\x42\x02\x12\x00\x42\x02\x12\x00"), NULL, "\"b\" is there twice" },
	{ STR_INIT("\x48\x01\x48\x02"), "{\"ints\":[1,2]}", NULL },
	{ STR_INIT("\x4a\x03\x01\xac\x02"), "{\"ints\":[1,300]}", NULL },
	{ STR_INIT("\x4a\x02\x01\xac"), NULL, "\"ints\" has a number of more than 64 bits, or is cut off in one" },
	{ STR_INIT("\x52\x00\x52\x01x"), "{\"texts\":[\"\",\"x\"]}", NULL },
	{ STR_INIT("\x52\x00\x52\x01\xff"), NULL, "\"texts[1]\" must be UTF-8" },
	{ STR_INIT("\x5a\x00\x5a\x02\x08\x01"), "{\"objects\":[{},{\"a\":1}]}", NULL },
	{ STR_INIT("\x5a\x00\x5a\x02\x18\x01"), NULL,
		"\"objects[1]\" has the field 3, which this server does not know: send the object as JSON" },
	{ STR_INIT("\x62\x06\x0a\x01k\x12\x01v"), "{\"map\":{\"k\":\"v\"}}", NULL },
	{ STR_INIT("\x62\x06\x12\x01v\x0a\x01k"), "{\"map\":{\"k\":\"v\"}}", NULL },
	{ STR_INIT("\x62\x00"), "{\"map\":{\"\":\"\"}}", NULL },
	{ STR_INIT("\x62\x03\x0a\x01k\x62\x03\x0a\x01k"), NULL, "\"map.k\" is there twice" },
	{ STR_INIT("\x62\x03\x0a\x01\x00"), NULL, "\"map\" has a key that is not UTF-8, or has a NUL" },
	{ STR_INIT("\x62\x03\x0a\x01\xff"), NULL, "\"map\" has a key that is not UTF-8, or has a NUL" },
	{ STR_INIT("\x62\x02\x18\x01"), NULL, "\"map\" has an entry that is not a key and a value" },
	{ STR_INIT("\x62\x05\x0a\x01k\x10\x01"), NULL, "\"map.k\" must be bytes, not a number" },
	{ STR_INIT("\x60\x01"), NULL, "\"map\" must be bytes, not a number" },
	{ STR_INIT("\x6a\x07\x0a\x01k\x12\x02\x08\x01"), "{\"maps\":{\"k\":{\"a\":1}}}", NULL },
	{ STR_INIT("\x6a\x03\x0a\x01k"), "{\"maps\":{\"k\":{}}}", NULL },
	{ STR_INIT("\x8a\x01\x06\x0a\x01k\x12\x01v"), "{\"data\":{\"k\":\"dg==\"}}", NULL },
	{ STR_INIT("\x72\x03\x0a\x01n"), "{\"told\":\"n\"}", NULL },
	{ STR_INIT("\x72\x00"), NULL, "\"told\" must have a name" },
	// depth: each "again" is a level
	{ STR_INIT("\x7a\x0c\x7a\x0a\x7a\x08\x7a\x06\x7a\x04\x7a\x02\x7a\x00"),
		"{\"again\":{\"again\":{\"again\":{\"again\":{\"again\":{\"again\":{\"again\":{}}}}}}}}", NULL },
	{ STR_INIT("\x7a\x0e\x7a\x0c\x7a\x0a\x7a\x08\x7a\x06\x7a\x04\x7a\x02\x7a\x00"), NULL,
		"\"again.again.again.again.again.again.again.again\" is nested too deep" },
	// values
	{ STR_INIT("\x4a\x13\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
		"{\"ints\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}", NULL },
	{ STR_INIT("\x4a\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NULL, "\"ints[19]\" is one value too many" },
	// wire types that are not those of the field
	{ STR_INIT("\x0a\x01\x01"), NULL, "\"bool\" must be a number of its type, not something else" },
	{ STR_INIT("\x15\0\0\0\0"), NULL, "\"int\" must be a number of its type, not something else" },
	{ STR_INIT("\x20\x01"), NULL, "\"text\" must be bytes, not a number" },
	{ STR_INIT("\x38\x01"), NULL, "\"object\" must be bytes, not a number" },
	{ STR_INIT("\x40\x01"), NULL, "the document has a number where a message must be" },
	// unknown fields: what says something is an error
	{ STR_INIT("\xa0\x06\x00\xaa\x06\x00\xad\x06\0\0\0\0\xa9\x06\0\0\0\0\0\0\0\0"), "{}", NULL },
	{ STR_INIT("\xa0\x06\x01"), NULL,
		"the document has the field 100, which this server does not know: send the object as JSON" },
	{ STR_INIT("\x7a\x04\xaa\x06\x01x"), NULL,
		"\"again\" has the field 101, which this server does not know: send the object as JSON" },
	// no messages
	{ STR_INIT("\x08"), NULL, "the document has a number of more than 64 bits, or is cut off in one" },
	{ STR_INIT("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), NULL,
		"the document has a number of more than 64 bits, or is cut off in one" },
	{ STR_INIT("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), NULL,
		"the document has a number of more than 64 bits, or is cut off in one" },
	{ STR_INIT("\x80"), NULL, "the document has a field's number that is none, or is cut off" },
	{ STR_INIT("\x00\x01"), NULL, "the document has a field's number that is none, or is cut off" },
	{ STR_INIT("\x80\x80\x80\x80\x10\x01"), NULL, "the document has a field's number that is none, or is cut off" },
	{ STR_INIT("\x22\x02x"), NULL, "the document has a field that is longer than what it is in" },
	{ STR_INIT("\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x"), NULL,
		"the document has a field that is longer than what it is in" },
	{ STR_INIT("\x3a\x02\x12\x01"), NULL, "\"object\" has a field that is longer than what it is in" },
	{ STR_INIT("\x19\0\0"), NULL, "the document is cut off in a number" },
	{ STR_INIT("\x0b\x0c"), NULL,
		"the document has a field of a wire type that is not in use: neither a number nor bytes" },
	{ STR_INIT("\x0f"), NULL,
		"the document has a field of a wire type that is not in use: neither a number nor bytes" },
};

int main(void)
{
	const struct doc_limits limits = { 8, 20 };
	struct pool *pool = pool_new();

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		// A copy of its own size, so that reading behind it is seen.
		char *copy = malloc(cases[i].bytes.n + 1);
		struct str error = STR_NONE;
		struct buf out = buf_new(pool, 0);
		struct doc *doc;

		memcpy(copy, cases[i].bytes.p, cases[i].bytes.n);
		bool good = protobuf_read(pool, &outer, str_n(copy, cases[i].bytes.n), limits, &doc, &error);
		if (good)
			doc_write_json(doc, &out);
		free(copy);
		if (cases[i].json != NULL && ok(good, "case %zu is read", i + 1))
			is_str(buf_str(&out), cases[i].json, "case %zu", i + 1);
		else if (cases[i].json != NULL)
			diag("%.*s", STR_ARG(error));
		if (cases[i].error != NULL && ok(!good, "case %zu is refused", i + 1))
			is_strs(error, str_printf(pool, "in protobuf, %s", cases[i].error), "case %zu", i + 1);
	}
	pool_free(&pool);
	return done_testing();
}
