// SPDX-License-Identifier: Apache-2.0
// What a resource is found by besides its address: rows kept in step with the body by every write.
#include "base/base.h"

#include "base/pool.h"
#include "registry/internal.h"

// The uid stands for an id that the same batch may have just made.
#define THIS_RESOURCE "(SELECT id FROM resources WHERE uid = ? AND type_id = ? AND live = 1)"

static const struct db_query q_insert = {
	"INSERT INTO resource_aliases (resource_id, kind, type_id, value) VALUES (" THIS_RESOURCE ", ?, ?, ?)", "busus", ""
};
static const struct db_query q_update = {
	"UPDATE resource_aliases SET value = ? WHERE resource_id = " THIS_RESOURCE " AND kind = ?", "sbus", ""
};
static const struct db_query q_delete = {
	"DELETE FROM resource_aliases WHERE resource_id = " THIS_RESOURCE " AND kind = ?", "bus", ""
};

static const struct alias *of_kind(const struct relations *relations, const char *kind)
{
	for (size_t i = 0; relations != NULL && i < relations->n_aliases; i++) {
		if (strcmp(relations->aliases[i].kind, kind) == 0)
			return &relations->aliases[i];
	}
	return NULL;
}

// Values that are given up come first, so that one that changes its kind is free by then.
size_t alias_calls(struct registry *registry, const struct resource *resource, const struct relations *before,
	const struct relations *after, struct db_call *calls, const struct alias **of)
{
	struct pool *pool = registry->pool;
	struct uuid *uid = POOL_NEW(pool, struct uuid);
	struct db_value type = db_u(resource->type->id);
	size_t n = 0;

	*uid = resource->uid;
	for (size_t i = 0; before != NULL && i < before->n_aliases; i++) {
		const struct alias *old = &before->aliases[i];
		if (of_kind(after, old->kind) != NULL)
			continue;
		of[n] = old;
		calls[n++] = (struct db_call){ .query = &q_delete, .in = CALL_VALUES(pool, db_uuid(uid), type, db_s(str_c(old->kind))) };
	}
	for (size_t i = 0; i < after->n_aliases; i++) {
		const struct alias *alias = &after->aliases[i], *old = of_kind(before, alias->kind);
		struct db_value kind = db_s(str_c(alias->kind)), value = db_s(alias->value);
		if (old != NULL && str_eq(old->value, alias->value))
			continue;
		of[n] = alias;
		if (old != NULL)
			calls[n++] = (struct db_call){ .query = &q_update, .in = CALL_VALUES(pool, value, db_uuid(uid), type, kind) };
		else
			calls[n++] = (struct db_call){
				.query = &q_insert,
				.in = CALL_VALUES(pool, db_uuid(uid), type, kind, type, value),
			};
	}
	return n;
}
