// SPDX-License-Identifier: Apache-2.0
// What a resource is found by besides its address: rows kept in step with the body by every write.
#include "base/base.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "sql/lookup_keys.h"

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
	struct str uid = str_dup(pool, uuid_bytes(&resource->uid));
	uint64_t type_id = resource->type->id;
	size_t n = 0;

	for (size_t i = 0; before != NULL && i < before->n_aliases; i++) {
		const struct alias *old = &before->aliases[i];
		const struct sql_lookup_key_delete in = { .uid = uid, .type_id = type_id, .kind = str_c(old->kind) };

		if (of_kind(after, old->kind) != NULL)
			continue;
		of[n] = old;
		calls[n++] = sql_lookup_key_delete_call(pool, &in);
	}
	for (size_t i = 0; i < after->n_aliases; i++) {
		const struct alias *alias = &after->aliases[i], *old = of_kind(before, alias->kind);
		const struct sql_lookup_key_insert insert = { uid, type_id, str_c(alias->kind), alias->value };
		const struct sql_lookup_key_update update = { uid, type_id, str_c(alias->kind), alias->value };

		if (old != NULL && str_eq(old->value, alias->value))
			continue;
		of[n] = alias;
		calls[n++] = old != NULL ? sql_lookup_key_update_call(pool, &update) : sql_lookup_key_insert_call(pool, &insert);
	}
	return n;
}
