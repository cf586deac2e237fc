// SPDX-License-Identifier: Apache-2.0
// Trees of resources. The column resources.root names a resource's tree: the id of the root's type (four bytes) and the root's
// uid. The type is needed because a node and a resource provider may have the same uid: the service that uses both gives it to
// both.
#ifndef TENURE_REGISTRY_TYPE_TREE_H
#define TENURE_REGISTRY_TYPE_TREE_H

#include "registry/core/model.h"

// Is the resource the root of a tree?
bool resource_is_top(const struct resource *resource);

// tree_value(): the value of column root for trees that resources of this type are in, whose root has that uid; it lives in the
// request's pool. tree_type(): the type of these roots.
struct str tree_value(struct registry *registry, const struct type *type, const struct uuid *root);
const struct type *tree_type(struct registry *registry, const struct type *type);
// Extracts the root's uid from a value of the column, whose p is NULL for SQL NULL. False: the value names no root.
bool tree_root(struct str value, struct uuid *root);

#endif
