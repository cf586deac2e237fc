// SPDX-License-Identifier: Apache-2.0
// The identities of built-in types: rows of table `types`, made from the rows of base/builtin_types.def. The first ones came with
// files of sql/schema/; `tenure-manage db init`, `db upgrade` and `db reset` add what a database lacks. A worker serves a
// type from its first start after that.
#ifndef TENURE_REGISTRY_TYPE_BUILTIN_TYPES_H
#define TENURE_REGISTRY_TYPE_BUILTIN_TYPES_H

#include "db/db.h"

// The names of the built-in types that the database lacks, "limitranges" or "daemonsets.apps": an array in pool of *n.
enum db_result builtin_types_missing(struct db *db, struct pool *pool, const struct str **names, size_t *n);
// Adds these. A custom type of such a name becomes the built-in one and keeps its objects. Idempotent.
enum db_result builtin_types_ensure(struct db *db, struct pool *pool);

#endif
