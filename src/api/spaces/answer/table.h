// SPDX-License-Identifier: Apache-2.0
// Objects as rows of a Table (meta.k8s.io), which kubectl prints: columns of built-in kinds, and those that a custom type
// names by additionalPrinterColumns.
#ifndef TENURE_API_SPACES_ANSWER_TABLE_H
#define TENURE_API_SPACES_ANSWER_TABLE_H

#include "registry/type/definition.h"
#include "repr/json/doc.h"

struct table_columns;

// What a Table's rows have of their objects: includeObject.
enum table_object { TABLE_METADATA, TABLE_OBJECT, TABLE_NONE };

// The columns of a type at a version: built-in kinds have theirs; custom ones the name and what the definition names, or
// the name and age. Live in pool; the definition must live as long.
const struct table_columns *table_columns_of(struct pool *pool, const struct definition *definition,
	const struct definition_version *version);
// Appends columnDefinitions' value: "[{"name":"Name",…}]".
void table_add_columns(const struct table_columns *columns, struct buf *out);
// Appends a row of the object: {"cells":[…],"object":…}. now_us: what ages are counted to. pool takes what is needed for
// it, and may be rewound when it is done. The paths of a row look at TABLE_LOOKS values in all; cells they leave are null.
enum { TABLE_LOOKS = 10000 };
void table_add_row(struct pool *pool, const struct table_columns *columns, const struct doc *object,
	enum table_object with, int64_t now_us, struct buf *out);
// An age as kubectl prints it: "5s", "3m20s", "5d", "2y30d"; "<invalid>" of what lies ahead.
struct str table_age(struct pool *pool, int64_t seconds);

#endif
