// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/type/type.h"

#include "base/budget.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/type/definition.h"
#include "registry/type/internal.h"
#include "registry/type/rules.h"
#include "sql/types.h"
#include "types/types.h"

enum { BUCKETS = 1024, CUSTOM_MAX = 4096 };

// A worker's cache of types. Built-in types are read at the beginning and stay. Custom types, of which there may be a million,
// are read when they are asked for. If more than CUSTOM_MAX are cached, all of them are dropped between two requests: a request
// may use them until its end.
struct entry {
	struct type type;
	struct entry *next_id, *next_name;
};
struct types {
	const struct type_rules *const *rules; // all rules there are; ends with NULL
	struct pool *pool, *custom;
	size_t n_custom;
	struct entry *by_id[BUCKETS], *by_name[BUCKETS];
	const struct type *namespaces, *definitions;
};

struct types *types_new(const struct type_rules *const *rules)
{
	struct types *types = calloc(1, sizeof(*types));

	if (types == NULL)
		return NULL;
	types->rules = rules;
	types->pool = pool_new();
	types->custom = pool_new();
	if (types->pool == NULL || types->custom == NULL)
		types_free(&types);
	return types;
}

void types_free(struct types **types)
{
	if (*types == NULL)
		return;
	pool_free(&(*types)->pool);
	pool_free(&(*types)->custom);
	free(*types);
	*types = NULL;
}

bool types_loaded(const struct types *types)
{
	return types->namespaces != NULL;
}

bool types_forget(struct types *types)
{
	if (types->n_custom <= CUSTOM_MAX)
		return false;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct entry **at = &types->by_id[i]; *at != NULL;) {
			if ((*at)->type.builtin)
				at = &(*at)->next_id;
			else
				*at = (*at)->next_id;
		}
		for (struct entry **at = &types->by_name[i]; *at != NULL;) {
			if ((*at)->type.builtin)
				at = &(*at)->next_name;
			else
				*at = (*at)->next_name;
		}
	}
	pool_clear(types->custom);
	types->n_custom = 0;
	return true;
}

static size_t name_bucket(struct str group, struct str plural)
{
	uint64_t hash = 14695981039346656037U; // FNV-1a

	for (size_t i = 0; i < plural.n; i++)
		hash = (hash ^ (unsigned char)plural.p[i]) * 1099511628211U;
	for (size_t i = 0; i < group.n; i++)
		hash = (hash ^ (unsigned char)group.p[i]) * 1099511628211U;
	return hash % BUCKETS;
}

static struct entry *cached_by_id(const struct types *types, uint64_t id)
{
	struct entry *entry = types->by_id[id % BUCKETS];

	while (entry != NULL && entry->type.id != id)
		entry = entry->next_id;
	return entry;
}

static struct entry *cached_by_name(const struct types *types, struct str group, struct str plural, bool namespaced)
{
	struct entry *entry = types->by_name[name_bucket(group, plural)];

	while (entry != NULL && !(entry->type.namespaced == namespaced && str_eq(entry->type.plural, plural) &&
					str_eq(entry->type.group, group)))
		entry = entry->next_name;
	return entry;
}

static const struct type_rules *find_rules(const struct types *types, struct str group, struct str plural)
{
	for (const struct type_rules *const *rules = types->rules; *rules != NULL; rules++) {
		if (str_eq_c(group, (*rules)->group) && str_eq_c(plural, (*rules)->plural))
			return *rules;
	}
	return NULL;
}

static struct type type_of_columns(const struct types *types, struct pool *pool, const struct sql_type *columns)
{
	struct type type = {
		.id = columns->id,
		.group = str_dup(pool, columns->group_name),
		.version = str_dup(pool, columns->version),
		.kind = str_dup(pool, columns->kind),
		.plural = str_dup(pool, columns->plural),
		.singular = str_dup(pool, columns->singular),
		.namespaced = columns->namespaced != 0,
		.builtin = columns->builtin != 0,
	};

	type.rules = find_rules(types, type.group, type.plural);
	type.parts = type.builtin ? type_parts_by_plural(type.group, type.plural) : NULL;
	return type;
}

static const struct type *cache_type(struct types *types, const struct sql_type *columns)
{
	struct entry *entry = cached_by_id(types, columns->id);
	bool builtin = columns->builtin != 0;
	struct pool *pool = builtin ? types->pool : types->custom;

	if (entry != NULL)
		return &entry->type;
	budget_defer(); // what goes into these pools outlives the request
	entry = POOL_NEW(pool, struct entry);
	entry->type = type_of_columns(types, pool, columns);
	types->n_custom += builtin ? 0 : 1;
	struct entry **id = &types->by_id[entry->type.id % BUCKETS];
	struct entry **name = &types->by_name[name_bucket(entry->type.group, entry->type.plural)];
	entry->next_id = *id;
	entry->next_name = *name;
	*id = *name = entry;
	budget_release();
	return &entry->type;
}

// If the running transaction changed types it may be rolled back: then the type lives for the request only.
static const struct type *take_type(struct registry *registry, const struct sql_type *columns)
{
	if (!coherence_is_raised(registry, COHERENCE_TYPES))
		return cache_type(registry->store->types, columns);
	struct type *once = POOL_NEW(registry->pool, struct type);
	*once = type_of_columns(registry->store->types, registry->pool, columns);
	return once;
}

enum outcome types_load(struct registry *registry)
{
	struct types *types = registry->store->types;
	struct db_rows rows;
	enum db_result result = sql_type_list_builtin_run(registry->db, registry->pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++)
		(void)cache_type(types, &sql_type_list_builtin_row(&rows, i)->t);
	struct entry *namespaces = cached_by_name(types, STR(""), STR("namespaces"), false);
	struct entry *definitions = cached_by_name(types, STR(CRD_GROUP), STR(CRD_PLURAL), false);
	if (namespaces == NULL || definitions == NULL)
		return OUTCOME_INTERNAL;
	types->definitions = &definitions->type;
	types->namespaces = &namespaces->type;
	return OUTCOME_OK;
}

const struct type *type_find(struct registry *registry, struct str group, struct str plural, bool namespaced)
{
	struct entry *entry = cached_by_name(registry->store->types, group, plural, namespaced);
	struct db_rows rows;

	if (entry != NULL)
		return &entry->type;
	const struct sql_type_by_name in = { .group_name = group, .plural = plural, .namespaced = namespaced };
	enum db_result result = sql_type_by_name_run(registry->db, registry->pool, &in, &rows);
	return result == DB_OK && rows.n > 0 ? take_type(registry, &sql_type_by_name_row(&rows, 0)->t) : NULL;
}

void types_found(struct registry *registry, const struct sql_type *row)
{
	if (!coherence_is_raised(registry, COHERENCE_TYPES))
		(void)cache_type(registry->store->types, row);
}

enum outcome type_complete(struct draft *draft)
{
	const struct type_rules *rules = draft->address->type->rules;

	assert(rules != NULL);
	if (rules->of_system && !str_eq(draft->address->tenant, STR(TENANT_SYSTEM)))
		return registry_fail(draft->registry, OUTCOME_FORBIDDEN, "a %s is the operator's: it stands in tenant \"" TENANT_SYSTEM "\" alone",
			rules->noun);
	return rules->complete(draft);
}

bool types_know(const struct types *types, struct str group, struct str plural)
{
	return cached_by_name(types, group, plural, true) != NULL || cached_by_name(types, group, plural, false) != NULL;
}

enum outcome type_ensure(struct registry *registry, const struct type *like)
{
	struct db_rows rows;
	const struct sql_type_by_name name = { like->group, like->plural, like->namespaced };
	const struct sql_type_insert insert = {
		.group_name = like->group,
		.version = like->version,
		.kind = like->kind,
		.plural = like->plural,
		.singular = like->singular,
		.namespaced = like->namespaced,
	};

	assert(db_txn_writes(registry->db) && !like->builtin);
	if (cached_by_name(registry->store->types, like->group, like->plural, like->namespaced) != NULL)
		return OUTCOME_OK;
	enum db_result result = sql_type_by_name_run(registry->db, registry->pool, &name, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0) {
		(void)cache_type(registry->store->types, &sql_type_by_name_row(&rows, 0)->t);
		return OUTCOME_OK;
	}
	// What this transaction inserts may be rolled back, so it is not cached now. A duplicate is the same row of another
	// transaction.
	result = sql_type_insert_run(registry->db, registry->pool, &insert, NULL);
	return result == DB_OK || result == DB_DUPLICATE ? OUTCOME_OK : registry_db_failed(result);
}

struct str type_name(struct pool *pool, const struct type *type)
{
	// Without a group, "nodes" are those of bare metal.
	if (type->builtin && type->group.n == 0 && str_eq(type->plural, STR("nodes")))
		return STR("nodes.core");
	if (type->builtin)
		return type->plural;
	return str_joined(pool, type->plural, '.', type->group);
}

const struct type_parts *type_parts(const struct type *type)
{
	return type->parts != NULL ? type->parts : &no_parts;
}

const struct type *type_with_rules(struct registry *registry, const struct type_rules *rules)
{
	struct entry *entry = cached_by_name(registry->store->types, str_c(rules->group), str_c(rules->plural), false);

	return entry != NULL ? &entry->type : NULL;
}

enum outcome type_look_up(struct registry *registry, uint64_t id, const struct type **type)
{
	struct entry *entry = cached_by_id(registry->store->types, id);
	struct db_rows rows;

	assert(types_loaded(registry->store->types));
	*type = entry != NULL ? &entry->type : NULL;
	if (entry != NULL)
		return OUTCOME_OK;
	enum db_result result = sql_type_by_id_run(registry->db, registry->pool, &(struct sql_type_by_id){ .id = id }, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0)
		*type = take_type(registry, &sql_type_by_id_row(&rows, 0)->t);
	return OUTCOME_OK;
}

const struct type *type_by_id(struct registry *registry, uint64_t id)
{
	const struct type *type;

	return type_look_up(registry, id, &type) == OUTCOME_OK ? type : NULL;
}

const struct type *type_namespaces(struct registry *registry)
{
	return registry->store->types->namespaces;
}

const struct type *type_definitions(struct registry *registry)
{
	assert(types_loaded(registry->store->types));
	return registry->store->types->definitions;
}

// ---- types that no definition may serve any more

static bool is_kept(struct registry *registry, struct str tenant, const struct type *type)
{
	struct db_rows rows;

	if (type == NULL || type->builtin)
		return false;
	const struct sql_type_kept in = { .tenant = tenant, .type_id = type->id };
	return sql_type_kept_run(registry->db, registry->pool, &in, &rows) == DB_OK && rows.n > 0;
}

const struct type *type_kept(struct registry *registry, struct str tenant, struct str group, struct str plural,
	bool namespaced, bool anywhere)
{
	const struct type *type = type_find(registry, group, plural, namespaced);

	if (is_kept(registry, tenant, type))
		return type;
	type = anywhere ? type_find(registry, group, plural, !namespaced) : NULL;
	return is_kept(registry, tenant, type) ? type : NULL;
}
