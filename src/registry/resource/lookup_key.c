// SPDX-License-Identifier: Apache-2.0
// Lookup keys: second names of resources, in a table of their own, which every write keeps equal to the body.
#include "base/base.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "sql/lookup_keys.h"

static const struct lookup_key *of_kind(const struct relations *relations, const char *kind)
{
	for (size_t i = 0; relations != NULL && i < relations->n_keys; i++) {
		if (strcmp(relations->keys[i].kind, kind) == 0)
			return &relations->keys[i];
	}
	return NULL;
}

// Programs of before schema version 14 left nodes' keys of this kind as they were, so the row may be there, or missing, whatever
// the body before says. No other resource has such a key, since it has the node's own uid in it.
static bool may_be_stale(const char *kind)
{
	return strcmp(kind, "free") == 0;
}

// First deletes the keys of kinds that the resource gives up, then writes those that are new or differ. A value is unique within
// its kind, so the order does not matter.
size_t lookup_key_calls(struct registry *registry, const struct resource *resource, const struct relations *before,
	const struct relations *after, struct db_call *calls, const struct lookup_key **of)
{
	struct pool *pool = registry->pool;
	struct str uid = str_dup(pool, uuid_bytes(&resource->uid));
	uint64_t type_id = resource->type->id;
	size_t n = 0;

	assert(after != NULL && after->n_keys <= LOOKUP_KEYS_MAX && (before == NULL || before->n_keys <= LOOKUP_KEYS_MAX));
	for (size_t i = 0; before != NULL && i < before->n_keys; i++) {
		const struct lookup_key *old = &before->keys[i];
		const struct sql_lookup_key_delete in = { .uid = uid, .type_id = type_id, .kind = str_c(old->kind) };

		if (of_kind(after, old->kind) != NULL)
			continue;
		of[n] = old;
		calls[n++] = sql_lookup_key_delete_call(pool, &in);
	}
	for (size_t i = 0; i < after->n_keys; i++) {
		const struct lookup_key *key = &after->keys[i], *old = of_kind(before, key->kind);
		const struct sql_lookup_key_insert insert = { uid, type_id, str_c(key->kind), key->value };
		const struct sql_lookup_key_update update = { uid, type_id, str_c(key->kind), key->value };
		const struct sql_lookup_key_put put = { uid, type_id, str_c(key->kind), key->value };

		if (old != NULL && str_eq(old->value, key->value))
			continue;
		of[n] = key;
		calls[n++] = may_be_stale(key->kind) ? sql_lookup_key_put_call(pool, &put) :
			old != NULL ? sql_lookup_key_update_call(pool, &update) : sql_lookup_key_insert_call(pool, &insert);
	}
	return n;
}
