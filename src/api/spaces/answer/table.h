// SPDX-License-Identifier: Apache-2.0
// The forms of meta.k8s.io: the metadata of objects alone, and Tables, which kubectl prints: their rows are objects. Columns are
// those of a built-in kind, or those that a custom type lists in additionalPrinterColumns.
#ifndef TENURE_API_SPACES_ANSWER_TABLE_H
#define TENURE_API_SPACES_ANSWER_TABLE_H

#include "registry/type/definition.h"
#include "repr/json/doc.h"

struct table_columns;

// What a row of a Table contains of its object: the parameter includeObject.
enum table_object { TABLE_METADATA, TABLE_OBJECT, TABLE_NONE };

// The columns of a type in a version. A built-in kind has its own; a custom type has the name and the columns of its definition,
// or else the name and age. details: of the version (definition_details()). Lives in pool; the definition must live as long.
const struct table_columns *table_columns_for(struct pool *pool, const struct definition *definition,
	const struct definition_details *details);
// Appends the value of columnDefinitions: "[{"name":"Name",…}]".
void table_add_columns(const struct table_columns *columns, struct buf *out);
// Appends a row for the object: {"cells":[…],"object":…}. now_us: the time to which ages are counted. Temporary memory is
// taken from pool, which the caller may rewind afterwards. All paths of a row together may look at TABLE_LOOKS values; cells for
// which none are left are null.
enum { TABLE_LOOKS = 10000 };
void table_add_row(struct pool *pool, const struct table_columns *columns, const struct doc *object,
	enum table_object with, int64_t now_us, struct buf *out);
// Appends the object's metadata alone, as PartialObjectMetadata of that apiVersion.
void table_add_metadata(const struct doc *object, struct str version, struct buf *out);

#endif
