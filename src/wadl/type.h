// SPDX-License-Identifier: Apache-2.0
// Simple types of parameters: those of XML Schema that WADL files name, and restrictions of them from an inline schema.
// For files in wadl/ only.
#ifndef TENURE_WADL_TYPE_H
#define TENURE_WADL_TYPE_H

#include <libxml/xmlregexp.h>

#include "base/str.h"

struct pool;
struct buf;

enum { TYPE_VALUE_MAX = 4096 }; // bytes of a value that a pattern is tried on

enum type_base { TYPE_TEXT, TYPE_NUMBER, TYPE_BOOLEAN };

// The value that a regex took last: a type's plural comes again and again, and libxml2 allocates for each match.
enum { TYPE_SEEN_MAX = 64 };
struct type_seen {
	size_t n; // 0: none yet
	char text[TYPE_SEEN_MAX];
};

// A value matches a pattern when it is one of the literals, holds no '/' (segment), or the regex says so.
struct type_pattern {
	const char *text;
	bool segment; // "[^/]+"
	const struct str *literals;
	size_t n_literals;
	xmlRegexpPtr regex; // NULL where the two above decide
	struct type_seen *seen; // with a regex
};

struct wadl_type {
	const char *space;   // target namespace; XML Schema's for built-in ones
	const char *name;
	const char *builtin; // the built-in type it is, or restricts: "string"
	const char *note;    // what its annotation says; NULL
	enum type_base base;
	int64_t min, max;    // of numbers
	bool own_min, own_max; // written in the schema, not the built-in type's
	bool has_min_length, has_max_length;
	uint64_t min_length, max_length; // characters
	const struct type_pattern *patterns; // one of them must match
	size_t n_patterns;
	const struct str *values; // enumeration; empty: any
	size_t n_values;
};

// The built-in type of that name, or NULL; its regular expression, if it has one, is freed with the pool.
struct wadl_type *type_builtin(struct pool *pool, const char *name);
// False when the pattern does not compile.
bool type_add_pattern(struct pool *pool, struct wadl_type *type, const char *pattern);
void type_add_value(struct pool *pool, struct wadl_type *type, struct str value);
bool type_number(struct str text, int64_t *value);

bool type_allows(const struct wadl_type *type, struct str value);
// "must be a whole number from 1 to 1000": the rule that value breaks.
void type_add_rule(struct buf *out, const struct wadl_type *type, struct str value);
// "a, b or c"
void type_add_choice(struct buf *out, const struct str *values, size_t n);

#endif
