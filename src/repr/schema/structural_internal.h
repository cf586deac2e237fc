// SPDX-License-Identifier: Apache-2.0
// A schema as read, and the state of a check. For structural*.c only.
#ifndef TENURE_REPR_SCHEMA_STRUCTURAL_INTERNAL_H
#define TENURE_REPR_SCHEMA_STRUCTURAL_INTERNAL_H

#include "base/regexp/regexp.h"
#include "repr/schema/structural.h"

// Ordered by name.
enum value_type { ARRAY_TYPE, BOOLEAN_TYPE, INTEGER_TYPE, NUMBER_TYPE, OBJECT_TYPE, STRING_TYPE, ANY_TYPE };
extern const char *const value_type_names[]; // "array", …; ends with NULL, at ANY_TYPE

enum structural_flag {
	NULLABLE = 1, INT_OR_STRING = 2, PRESERVE_UNKNOWN = 4, EMBEDDED = 8,
	HAS_ADDITIONAL = 16,  // additionalProperties is present and not false
	CLOSED = 32,          // additionalProperties is false
	DEFAULT_BELOW = 64,   // this schema, or one below, has a default
	HAS_TITLE = 128, HAS_DESCRIPTION = 256,
	// flags of struct values
	UNIQUE = 512, EXCLUSIVE_MINIMUM = 1024, EXCLUSIVE_MAXIMUM = 2048,
	EXTENSION_BELOW = 4096, // this schema, or one below, has a member x-kubernetes-*
};

enum list_type { NO_LIST_TYPE, LIST_ATOMIC, LIST_SET, LIST_MAP };

enum bound { MIN_LENGTH, MAX_LENGTH, MIN_ITEMS, MAX_ITEMS, MIN_PROPERTIES, MAX_PROPERTIES, BOUND__COUNT };

struct format;

struct schema_list {
	const struct structural **list;
	size_t n;
};

// Restrictions of values. Most schemas have none, so they are in a struct of their own.
struct values {
	int64_t bounds[BOUND__COUNT]; // negative: none
	const struct doc *minimum, *maximum, *multiple_of; // NULL: none
	const struct doc *choices;    // enum's array, or NULL
	const struct str *required;
	size_t n_required;
	const struct regexp *pattern;
	struct str pattern_text;
	const struct format *format;  // NULL: none that is checked
	struct schema_list all_of, any_of, one_of;
	const struct structural *not_allowed;
	enum list_type list_type;
	const struct str *map_keys;
	size_t n_map_keys;
	struct str map_type;
};

struct property {
	struct str name;
	const struct structural *schema;
};

struct structural {
	enum value_type type;
	unsigned flags;
	size_t n_properties;
	const struct property *properties;    // by name, in order
	const struct structural *items;       // NULL: none
	const struct structural *additional;  // NULL with HAS_ADDITIONAL: anything
	const struct doc *fallback;           // the default; NULL: none
	const struct values *values;          // never NULL
};

// Was any member of struct values read of the schema?
bool structural_has_values(const struct structural *schema);
const struct structural *structural_find_property(const struct structural *schema, struct str name); // NULL: none
bool structural_is_meta_name(struct str name); // apiVersion, kind, metadata

// ---- structural_fill.c

// Like structural_prune(), for a value that is not a whole object: apiVersion, kind and metadata stay only if the schema has
// them, or describes an embedded resource.
size_t structural_prune_member(const struct structural *schema, struct doc *value);

// ---- structural_format.c

const struct format *format_find(struct str name); // NULL: none that is checked
const char *format_name(const struct format *format);
bool format_allows(const struct format *format, const struct doc *value);

// ---- structural_validate.c

// How much work one check may do, in units of about one comparison each.
enum { CHECK_STEPS = 5000000 };

struct check {
	struct pool *pool;
	struct field_faults *faults; // NULL: faults are only counted
	size_t n_faults;
	uint64_t steps;              // left; 0: the check was given up
};

void check_value(struct check *check, const struct structural *schema, const struct doc *value,
	const struct field_path *at);
// Adds a fault if the check was given up.
void check_finish(struct check *check, const struct field_path *at);

#endif
