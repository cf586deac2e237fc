// SPDX-License-Identifier: Apache-2.0
// Simple types of parameters: those of XML Schema that WADL files name, and restrictions of these in an inline schema. For files
// in wadl/ only.
#ifndef TENURE_WADL_TYPE_H
#define TENURE_WADL_TYPE_H

#include <libxml/xmlregexp.h>

#include "base/str.h"

struct pool;
struct buf;

enum { TYPE_VALUE_MAX = 4096 }; // longest value, in bytes, that is matched with a pattern

enum type_base { TYPE_TEXT, TYPE_NUMBER, TYPE_BOOLEAN };

// The last value that a regex accepted. The same names of types come again and again, and libxml2 allocates memory for each
// match.
enum { TYPE_SEEN_MAX = 64 };
struct type_seen {
	size_t n; // 0: none yet
	char text[TYPE_SEEN_MAX];
};

// A value matches a pattern if it is one of the literals, or contains no '/' (segment), or matches the regex.
struct type_pattern {
	const char *text;
	bool segment; // "[^/]+"
	const struct str *literals;
	size_t n_literals;
	xmlRegexpPtr regex; // NULL if literals or segment decide
	struct type_seen *seen; // if there is a regex
};

struct wadl_type {
	const char *space;   // target namespace; for built-in types that of XML Schema
	const char *name;
	const char *builtin; // the built-in type that it is or restricts: "string"
	const char *note;    // text of its annotation; NULL: none
	enum type_base base;
	int64_t min, max;    // of numbers
	bool own_min, own_max; // set in the schema, not inherited from the built-in type
	bool has_min_length, has_max_length;
	uint64_t min_length, max_length; // characters
	const struct type_pattern *patterns; // a value must match one of them
	size_t n_patterns;
	const struct str *values; // allowed values; empty: any
	size_t n_values;
};

// The built-in type of that name, or NULL. Its regular expression, if it has one, is freed with the pool.
struct wadl_type *type_builtin(struct pool *pool, const char *name);
// Adds a pattern. False if it does not compile.
bool type_add_pattern(struct pool *pool, struct wadl_type *type, const char *pattern);
void type_add_value(struct pool *pool, struct wadl_type *type, struct str value);
bool type_number(struct str text, int64_t *value);

bool type_allows(const struct wadl_type *type, struct str value);
// Appends the rule that value breaks: "must be a whole number from 1 to 1000".
void type_add_rule(struct buf *out, const struct wadl_type *type, struct str value);
// Appends "a, b or c".
void type_add_choice(struct buf *out, const struct str *values, size_t n);

#endif
