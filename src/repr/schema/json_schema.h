// SPDX-License-Identifier: Apache-2.0
// Validates documents by JSON Schemas. A schema is data: a static table, or made of a document. It can say what struct
// json_schema below has members for (a part of draft 2020-12). Faults have the texts of Python's jsonschema, which clients and
// their tests expect.
#ifndef TENURE_REPR_SCHEMA_JSON_SCHEMA_H
#define TENURE_REPR_SCHEMA_JSON_SCHEMA_H

#include "repr/json/doc.h"

// Bits for the types in struct json_schema. A number without fraction is an integer, however it is written.
enum schema_type {
	SCHEMA_NULL = 1, SCHEMA_BOOLEAN = 2, SCHEMA_INTEGER = 4, SCHEMA_NUMBER = 8, SCHEMA_STRING = 16, SCHEMA_ARRAY = 32, SCHEMA_OBJECT = 64
};

// A pattern or format: its name in messages, and the function that decides.
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

// A schema. A member that is 0 or NULL restricts nothing.
struct json_schema {
	unsigned types;
	const struct json_property *properties;                // ends with name NULL
	const struct json_pattern_property *pattern_properties; // ends with pattern NULL
	const char *const *required;                           // ends with NULL
	bool closed;           // additionalProperties: false
	bool closed_first;     // its fault is reported before those of required and minProperties
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

// What does not fit. Of several faults the one nearest to the document's root is reported; of several there, one about the type
// of a value; of these the first.
struct json_fault {
	struct str message;      // "'name' is a required property"
	const char *keyword;     // "required"
	struct str schema_path;  // "schema['properties']['total']"
	struct str instance_path; // "instance['total']"
	const struct json_schema *schema;
	const struct doc *instance;
};

// Does the document fit? False: *fault describes why, allocated from pool.
bool json_schema_allows(struct pool *pool, const struct json_schema *schema, const struct doc *doc,
	struct json_fault *fault);
// The fault as one text: the message; "Failed validating 'maximum' in schema['properties']['total']:" with that part of the
// schema; "On instance['total']:" with the value found there, cut to a readable length.
struct str json_fault_text(struct pool *pool, const struct json_fault *fault);

// Returns the value of a number as a double. False: it is no number.
bool doc_double(const struct doc *doc, double *value);

#endif
