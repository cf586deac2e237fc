// SPDX-License-Identifier: Apache-2.0
// Trees: the column root is the id of the top's type, four bytes, and the top's uid. A node and a resource provider may have
// the same uid: the service that uses both gives it to both.
#ifndef TENURE_REGISTRY_TYPE_TREE_H
#define TENURE_REGISTRY_TYPE_TREE_H

#include "registry/core/model.h"

// Is it the top of a tree?
bool resource_is_top(const struct resource *resource);

// The column's value in trees that resources of this type are in.
struct str tree_value(struct registry *registry, const struct type *type, const struct uuid *root);
const struct type *tree_type(struct registry *registry, const struct type *type);
// The top's uid in a column's value, whose p is NULL for NULL. False: it has none.
bool tree_root(struct str value, struct uuid *root);

#endif
