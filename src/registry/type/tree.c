// SPDX-License-Identifier: Apache-2.0
// Trees of resources: the column resources.root.
#include "base/base.h"

#include "registry/type/tree.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/type/rules.h"
#include "registry/type/type.h"

bool resource_is_top(const struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;

	return rules != NULL && rules->is_root && (!resource->has_root || uuid_eq(resource->root, resource->uid));
}

const struct type *tree_type(struct registry *registry, const struct type *type)
{
	return type->rules->top != NULL ? type_with_rules(registry, type->rules->top) : type;
}

struct str tree_value(struct registry *registry, const struct type *type, const struct uuid *root)
{
	uint64_t id = tree_type(registry, type)->id;
	struct buf bytes = buf_new(registry->pool, TREE_TYPE_BYTES + sizeof(root->b));

	for (unsigned i = TREE_TYPE_BYTES; i-- > 0;)
		buf_addc(&bytes, (char)(id >> (8 * i) & 0xff));
	buf_add(&bytes, uuid_bytes(root));
	return buf_str(&bytes);
}

bool tree_root(struct str value, struct uuid *root)
{
	return value.n > TREE_TYPE_BYTES && uuid_from_bytes(str_part(value, TREE_TYPE_BYTES, value.n), root);
}
