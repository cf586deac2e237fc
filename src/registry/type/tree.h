// SPDX-License-Identifier: Apache-2.0
// Trees of resources. The column resources.root names a resource's tree: the id of the root's type (four bytes) and the root's
// uid. The type is needed because a node and a resource provider may have the same uid: the service that uses both gives it to
// both.
#ifndef TENURE_REGISTRY_TYPE_TREE_H
#define TENURE_REGISTRY_TYPE_TREE_H

#include "registry/core/model.h"

// The bytes of a value of the column: first the id of the root's type, then its uid.
enum { TREE_TYPE_BYTES = 4, TREE_BYTES = TREE_TYPE_BYTES + 16 };

// Is the resource the root of a tree?
bool resource_is_top(const struct resource *resource);

// The value of column root for the tree whose root has that uid and which resources of this type are in. It lives in the
// request's pool.
struct str tree_value(struct registry *registry, const struct type *type, const struct uuid *root);
// The type of the roots of such trees. type must have rules.
const struct type *tree_type(struct registry *registry, const struct type *type);
// Extracts the root's uid from a value of the column, whose p is NULL for SQL NULL. False: the value names no root.
bool tree_root(struct str value, struct uuid *root);

#endif
