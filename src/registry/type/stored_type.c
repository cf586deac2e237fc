// SPDX-License-Identifier: Apache-2.0
// The type of a stored row, where it must exist.
#include "base/base.h"

#include "registry/type/stored_type.h"

#include "base/budget.h"
#include "base/buf.h"
#include "base/pool.h"
#include "base/str.h"

const struct type *type_of_row(struct registry *registry, struct stored_place place, uint64_t type_id)
{
	const struct type *type = type_by_id(registry, type_id);

	if (type == NULL && budget_is_guarded())
		stored_is_broken(registry->pool, place, str_printf(registry->pool,
			"table types has no id %llu, or it can't be asked", (unsigned long long)type_id));
	return type;
}

const struct type *type_of_resource(struct registry *registry, uint64_t id, uint64_t type_id)
{
	return type_of_row(registry, (struct stored_place){ .table = "resources", .column = "type_id", .id = id }, type_id);
}
