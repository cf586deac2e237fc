// SPDX-License-Identifier: Apache-2.0
// The parts of all built-in types (types/common/parts.h), found by the rows of base/builtin_types.def.
#ifndef TENURE_TYPES_TYPES_H
#define TENURE_TYPES_TYPES_H

#include "types/common/parts.h"

// The parts of a type without a file of its own, and of every custom type: none.
extern const struct type_parts no_parts;

// The parts of the built-in type of that group ("" for the core group) and plural name, or kind; &no_parts if there is no
// such type. Never NULL.
const struct type_parts *type_parts_by_plural(struct str group, struct str plural);
const struct type_parts *type_parts_by_kind(struct str group, struct str kind);

#endif
