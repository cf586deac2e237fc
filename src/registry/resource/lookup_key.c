// SPDX-License-Identifier: Apache-2.0
// Lookup keys: second names of resources, in a table of their own, which every write keeps equal to the body.
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

// Keys that the resource gives up are deleted first, so that a value may change its kind.
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
