// SPDX-License-Identifier: Apache-2.0
// JSON Schemas: each keyword, which of several faults is told, and in what words.
#include "base/base.h"

#include "base/pool.h"
#include "repr/schema/json_schema.h"
#include "tap.h"

static bool is_upper(const void *arg, struct str s)
{
	UNUSED(arg);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < 'A' || s.p[i] > 'Z')
			return false;
	}
	return s.n > 0;
}

static bool is_long(const void *arg, struct str s)
{
	return s.n >= *(const size_t *)arg;
}

static const size_t eight = 8;
static const struct json_rule upper = { "^[A-Z]+$", is_upper, NULL };
static const struct json_rule long_word = { "long", is_long, &eight };
static const struct json_schema text = { .types = SCHEMA_STRING, .min_length = 1, .max_length = 5 };
static const struct json_schema nothing = { .types = SCHEMA_NULL };
static const struct json_schema format = { .types = SCHEMA_STRING, .format = &long_word };
static const struct json_schema number = { .types = SCHEMA_INTEGER, .has_minimum = true, .minimum = 1,
	.has_maximum = true, .maximum = 2147483647 };
static const struct json_schema ratio = { .types = SCHEMA_NUMBER, .has_maximum = true, .maximum = 3.40282e+38 };
static const struct json_schema name = { .types = SCHEMA_STRING, .pattern = &upper };
static const struct json_schema list = { .types = SCHEMA_ARRAY, .items = &name, .min_items = 1, .max_items = 3,
	.unique = true };
static const struct json_pattern_property amount[] = { { &upper, &number }, { NULL, NULL } };
static const struct json_schema amounts = { .types = SCHEMA_OBJECT, .min_properties = 1, .pattern_properties = amount,
	.closed = true };
static const struct json_schema *const text_or_null[] = { &format, &nothing, NULL };
static const struct json_schema parent = { .any_of = text_or_null };
static const char *const policies[] = { "none", "isolate", NULL };
static const struct json_schema policy = { .types = SCHEMA_STRING, .values = policies };
static const struct json_schema both = { .types = SCHEMA_STRING | SCHEMA_NULL };
static const struct json_schema code = { .types = SCHEMA_STRING, .min_length = 1, .pattern = &upper };
static const struct json_property closed_members[] = { { "a", &text }, { NULL, NULL } };
static const char *const closed_required[] = { "a", NULL };
static const struct json_schema closed = { .types = SCHEMA_OBJECT, .properties = closed_members, .required = closed_required,
	.closed = true, .closed_first = true };
static const struct json_property members[] = {
	{ "text", &text }, { "number", &number }, { "ratio", &ratio }, { "list", &list }, { "amounts", &amounts },
	{ "parent", &parent }, { "policy", &policy }, { "both", &both }, { "id", &format }, { "code", &code },
	{ "closed", &closed }, { NULL, NULL },
};
static const char *const required[] = { "text", NULL };
static const struct json_schema whole = { .types = SCHEMA_OBJECT, .properties = members, .required = required,
	.closed = true };

static const struct {
	const char *text;
	const char *message; // NULL: it fits
	const char *keyword, *schema_path, *instance_path;
} cases[] = {
	{ "{\"text\":\"abc\"}", NULL, NULL, NULL, NULL },
	{ "{\"text\":\"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x82\xac\"}", NULL, NULL, NULL, NULL },
	{ "{\"text\":\"a\",\"number\":1.0,\"ratio\":1}", NULL, NULL, NULL, NULL },
	{ "{\"text\":\"a\",\"parent\":null,\"both\":null}", NULL, NULL, NULL, NULL },
	{ "{\"text\":\"a\",\"parent\":\"long enough\",\"amounts\":{\"A\":1,\"B\":2}}", NULL, NULL, NULL, NULL },
	{ "{\"text\":\"a\",\"policy\":\"isolate\"}", NULL, NULL, NULL, NULL },
	{ "{\"text\":\"a\",\"policy\":\"isolated\"}", "'isolated' is not one of ['none', 'isolate']", "enum",
		"schema['properties']['policy']", "instance['policy']" },
	{ "[]", "[] is not of type 'object'", "type", "schema", "instance" },
	{ "null", "None is not of type 'object'", "type", "schema", "instance" },
	{ "{}", "'text' is a required property", "required", "schema", "instance" },
	{ "{\"text\":7}", "7 is not of type 'string'", "type", "schema['properties']['text']", "instance['text']" },
	{ "{\"text\":\"\"}", "'' is too short", "minLength", "schema['properties']['text']", "instance['text']" },
	{ "{\"text\":\"abcdef\"}", "'abcdef' is too long", "maxLength", "schema['properties']['text']",
		"instance['text']" },
	{ "{\"text\":\"a\",\"x\":1}", "Additional properties are not allowed ('x' was unexpected)",
		"additionalProperties", "schema", "instance" },
	{ "{\"text\":\"a\",\"y\":1,\"x\":2}", "Additional properties are not allowed ('x', 'y' were unexpected)",
		"additionalProperties", "schema", "instance" },
	{ "{\"text\":\"a\",\"number\":0}", "0 is less than the minimum of 1", "minimum",
		"schema['properties']['number']", "instance['number']" },
	{ "{\"text\":\"a\",\"number\":2147483648}", "2147483648 is greater than the maximum of 2147483647", "maximum",
		"schema['properties']['number']", "instance['number']" },
	{ "{\"text\":\"a\",\"number\":1.5}", "1.5 is not of type 'integer'", "type", "schema['properties']['number']",
		"instance['number']" },
	{ "{\"text\":\"a\",\"number\":true}", "True is not of type 'integer'", "type", "schema['properties']['number']",
		"instance['number']" },
	{ "{\"text\":\"a\",\"ratio\":3.40282e+39}", "3.40282e+39 is greater than the maximum of 3.40282e+38", "maximum",
		"schema['properties']['ratio']", "instance['ratio']" },
	{ "{\"text\":\"a\",\"list\":{}}", "{} is not of type 'array'", "type", "schema['properties']['list']",
		"instance['list']" },
	{ "{\"text\":\"a\",\"list\":[]}", "[] is too short", "minItems", "schema['properties']['list']",
		"instance['list']" },
	{ "{\"text\":\"a\",\"list\":[\"A\",\"B\",\"C\",\"D\"]}", "['A', 'B', 'C', 'D'] is too long", "maxItems",
		"schema['properties']['list']", "instance['list']" },
	{ "{\"text\":\"a\",\"list\":[\"B\",\"A\",\"B\"]}", "['B', 'A', 'B'] has non-unique elements", "uniqueItems",
		"schema['properties']['list']", "instance['list']" },
	{ "{\"text\":\"a\",\"list\":[\"B\",\"it's\"]}", "\"it's\" does not match '^[A-Z]+$'", "pattern",
		"schema['properties']['list']['items']", "instance['list'][1]" },
	{ "{\"text\":\"a\",\"amounts\":{}}", "{} does not have enough properties", "minProperties",
		"schema['properties']['amounts']", "instance['amounts']" },
	{ "{\"text\":\"a\",\"amounts\":{\"a\":1}}", "'a' does not match any of the regexes: '^[A-Z]+$'",
		"additionalProperties", "schema['properties']['amounts']", "instance['amounts']" },
	{ "{\"text\":\"a\",\"amounts\":{\"A\":0}}", "0 is less than the minimum of 1", "minimum",
		"schema['properties']['amounts']['patternProperties']['^[A-Z]+$']", "instance['amounts']['A']" },
	{ "{\"text\":\"a\",\"parent\":1}", "1 is not valid under any of the given schemas", "anyOf",
		"schema['properties']['parent']", "instance['parent']" },
	{ "{\"text\":\"a\",\"parent\":\"short\"}", "'short' is not a 'long'", "format", "schema[0]", "instance" },
	{ "{\"text\":\"a\",\"both\":[null]}", "[None] is not of type 'string', 'null'", "type",
		"schema['properties']['both']", "instance['both']" },
	{ "{\"text\":\"a\",\"id\":\"short\"}", "'short' is not a 'long'", "format", "schema['properties']['id']",
		"instance['id']" },
	{ "{\"text\":\"a\",\"closed\":{}}", "'a' is a required property", "required", "schema['properties']['closed']", "instance['closed']" },
	// of several the one nearest to the root, there that of a type, and any before a choice; of one value the first in
	// Python's order
	{ "{\"number\":0}", "'text' is a required property", "required", "schema", "instance" },
	{ "{\"text\":\"a\",\"list\":[\"a\",\"a\"]}", "['a', 'a'] has non-unique elements", "uniqueItems",
		"schema['properties']['list']", "instance['list']" },
	{ "{\"text\":\"\",\"number\":0}", "'' is too short", "minLength", "schema['properties']['text']",
		"instance['text']" },
	{ "{\"text\":\"\",\"number\":\"x\",\"both\":7}", "'x' is not of type 'integer'", "type", "schema['properties']['number']",
		"instance['number']" },
	{ "{\"text\":\"a\",\"code\":\"\"}", "'' does not match '^[A-Z]+$'", "pattern", "schema['properties']['code']", "instance['code']" },
	{ "{\"x\":1}", "'text' is a required property", "required", "schema", "instance" },
	{ "{\"text\":\"a\",\"closed\":{\"b\":1}}", "Additional properties are not allowed ('b' was unexpected)", "additionalProperties",
		"schema['properties']['closed']", "instance['closed']" },
	{ "{\"text\":\"a\",\"parent\":\"short\",\"id\":\"b\"}", "'b' is not a 'long'", "format", "schema['properties']['id']",
		"instance['id']" },
	{ "{\"text\":\"a\",\"parent\":1,\"id\":\"b\"}", "'b' is not a 'long'", "format", "schema['properties']['id']",
		"instance['id']" },
};

static void test_words(struct pool *pool)
{
	struct json_fault fault = { .keyword = NULL };
	struct doc *doc;
	struct str error, shown;

	ok(doc_parse_json(pool, STR("{\"text\":\"a\",\"number\":0}"), (struct doc_limits){ .depth = 9 }, &doc, &error),
		"a document");
	ok(!json_schema_allows(pool, &whole, doc, &fault), "that does not fit");
	is_str(json_fault_text(pool, &fault), "0 is less than the minimum of 1\n\n"
		"Failed validating 'minimum' in schema['properties']['number']:\n"
		"    {'type': 'integer', 'minimum': 1, 'maximum': 2147483647}\n\n"
		"On instance['number']:\n    0", "the whole message");
	fault.schema = &whole;
	shown = json_fault_text(pool, &fault);
	ok(strstr(str_cstr(pool, shown), "{'type': 'object', 'properties': {'text': {'type': 'string', 'minLength': 1, "
		"'maxLength': 5}, 'number'") != NULL, "a schema as Python shows it");
	ok(strstr(str_cstr(pool, shown), "'both': {'type': ['string', 'null']}") != NULL, "several types");
	ok(strstr(str_cstr(pool, shown), "'required': ['text'], 'additionalProperties': False}") != NULL, "and its end");
}

static void test_length(struct pool *pool)
{
	struct json_fault fault;
	struct buf long_text = buf_new(pool, 40000);
	struct doc *doc;
	struct str error;

	BUF_LIT(&long_text, "{\"text\":\"");
	for (int i = 0; i < 10000; i++)
		BUF_LIT(&long_text, "\xc3\xa4");
	BUF_LIT(&long_text, "\"}");
	ok(doc_parse_json(pool, buf_str(&long_text), (struct doc_limits){ .depth = 9 }, &doc, &error), "much text");
	ok(!json_schema_allows(pool, &whole, doc, &fault), "too long");
	ok(fault.message.n < 1100 && str_utf8_ok(fault.message, NULL), "is shown cut between characters");
}

int main(void)
{
	struct pool *pool = pool_new();

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct json_fault fault = { .keyword = NULL };
		struct doc *doc;
		struct str error;
		bool parsed = doc_parse_json(pool, str_c(cases[i].text), (struct doc_limits){ .depth = 9 }, &doc, &error);
		bool fits = parsed && json_schema_allows(pool, &whole, doc, &fault);
		if (!ok(fits == (cases[i].message == NULL), "%s", cases[i].text) || fits)
			continue;
		is_str(fault.message, cases[i].message, "message for %s", cases[i].text);
		is_str(str_c(fault.keyword), cases[i].keyword, "keyword for %s", cases[i].text);
		is_str(fault.schema_path, cases[i].schema_path, "place in the schema for %s", cases[i].text);
		is_str(fault.instance_path, cases[i].instance_path, "place in the document for %s", cases[i].text);
	}
	test_words(pool);
	test_length(pool);
	pool_free(&pool);
	return done_testing();
}
