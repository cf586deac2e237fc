// SPDX-License-Identifier: Apache-2.0
// Documents checked against JSON Schemas. A schema is data: a static table here and there, or made from a document that
// says what others must be like. Of the vocabulary (draft 2020-12) there is what the tables below have members for; what
// fails is told in the words of Python's jsonschema, which clients and their tests have learnt to read.
#ifndef TENURE_REPR_SCHEMA_JSON_SCHEMA_H
#define TENURE_REPR_SCHEMA_JSON_SCHEMA_H

#include "repr/json/doc.h"

// For struct json_schema's types, joined by |. A number without fraction is an integer, however it is written.
enum schema_type {
	SCHEMA_NULL = 1, SCHEMA_BOOLEAN = 2, SCHEMA_INTEGER = 4, SCHEMA_NUMBER = 8, SCHEMA_STRING = 16, SCHEMA_ARRAY = 32, SCHEMA_OBJECT = 64
};

// A pattern, or a format: its text as messages show it, and what decides.
struct json_rule {
	const char *text; // "^[A-Z0-9_]+$", "uuid"
	bool (*allows)(const void *arg, struct str s);
	const void *arg;
};

struct json_schema;
struct json_property {
	const char *name;
	const struct json_schema *schema;
};
struct json_pattern_property {
	const struct json_rule *pattern;
	const struct json_schema *schema;
};

// What is zero asks nothing.
struct json_schema {
	unsigned types;
	const struct json_property *properties;                // ends with name NULL
	const struct json_pattern_property *pattern_properties; // ends with pattern NULL
	const char *const *required;                           // ends with NULL
	bool closed;           // additionalProperties: false
	size_t min_properties;
	const struct json_schema *items;
	size_t min_items, max_items;
	bool unique;           // uniqueItems; by the text of the items, so meant for strings and numbers
	size_t min_length, max_length; // code points
	const char *const *values;                             // enum, of strings; ends with NULL
	const struct json_rule *pattern;
	const struct json_rule *format;
	bool has_minimum, has_maximum;
	double minimum, maximum;
	const struct json_schema *const *any_of;               // ends with NULL
};

// What does not fit. Of several faults the one nearest to the document's root is told, and of those the first.
struct json_fault {
	struct str message;      // "'name' is a required property"
	const char *keyword;     // "required"
	struct str schema_path;  // "schema['properties']['total']"
	struct str instance_path; // "instance['total']"
	const struct json_schema *schema;
	const struct doc *instance;
};

// False: *fault, in pool.
bool json_schema_allows(struct pool *pool, const struct json_schema *schema, const struct doc *doc,
	struct json_fault *fault);
// The same, in one text: the message; "Failed validating 'maximum' in schema['properties']['total']:" and that part of the
// schema; "On instance['total']:" and what stood there, cut to a readable length.
struct str json_fault_text(struct pool *pool, const struct json_fault *fault);

// A number of a document as a double; false when it is none.
bool doc_double(const struct doc *doc, double *value);

#endif
