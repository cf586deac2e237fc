// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/type.h"

#include "base/pool.h"
#include "db/db.h"
#include "registry/internal.h"

enum { BUCKETS = 1024 };

// Built-in types are read at the beginning, others when they are asked for, as there may be a million. What was once
// handed out stays.
struct entry {
	struct type type;
	struct entry *next_id, *next_name;
};
struct types {
	struct pool *pool;
	struct entry *by_id[BUCKETS], *by_name[BUCKETS];
	const struct type *namespaces, *definitions;
};

#define TYPE_COLUMNS "id, group_name, version, kind, plural, singular, namespaced, builtin"
#define TYPE_OUT "usssssuu"
// Forwards and what can be recovered count: their addresses have an answer.
static const struct db_query q_kept = {
	"SELECT t.id FROM tenants t WHERE t.name = ? AND t.live = 1 AND (EXISTS (SELECT 1 FROM resources r WHERE "
	"r.tenant_id = t.id AND r.type_id = ?) OR EXISTS (SELECT 1 FROM forwards f WHERE f.tenant_id = t.id AND f.type_id = ?))",
	"suu", "u"
};
static const struct db_query q_builtin = { "SELECT " TYPE_COLUMNS " FROM types WHERE builtin", "", TYPE_OUT };
static const struct db_query q_by_id = { "SELECT " TYPE_COLUMNS " FROM types WHERE id = ?", "u", TYPE_OUT };
static const struct db_query q_by_name = {
	"SELECT " TYPE_COLUMNS " FROM types WHERE group_name = ? AND plural = ? AND namespaced = ?", "ssu", TYPE_OUT
};
static const struct db_query q_insert = {
	"INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) VALUES (?, ?, ?, ?, ?, ?, FALSE)",
	"sssssu", ""
};

struct types *types_new(void)
{
	struct types *types = calloc(1, sizeof(*types));

	if (types == NULL)
		return NULL;
	types->pool = pool_new();
	if (types->pool == NULL)
		types_free(&types);
	return types;
}

void types_free(struct types **types)
{
	if (*types == NULL)
		return;
	pool_free(&(*types)->pool);
	free(*types);
	*types = NULL;
}

bool types_loaded(const struct types *types)
{
	return types->namespaces != NULL;
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

static struct entry *held_by_id(const struct types *types, uint64_t id)
{
	struct entry *entry = types->by_id[id % BUCKETS];

	while (entry != NULL && entry->type.id != id)
		entry = entry->next_id;
	return entry;
}

static struct entry *held_by_name(const struct types *types, struct str group, struct str plural, bool namespaced)
{
	struct entry *entry = types->by_name[name_bucket(group, plural)];

	while (entry != NULL && !(entry->type.namespaced == namespaced && str_eq(entry->type.plural, plural) &&
					str_eq(entry->type.group, group)))
		entry = entry->next_name;
	return entry;
}

static const struct type *hold_row(struct types *types, const struct db_rows *rows, size_t row)
{
	const struct db_value *v = db_at(rows, row, 0);
	struct entry *entry = held_by_id(types, v[0].u);

	if (entry != NULL)
		return &entry->type;
	entry = POOL_NEW(types->pool, struct entry);
	entry->type = (struct type){
		.id = v[0].u,
		.group = str_dup(types->pool, v[1].s),
		.version = str_dup(types->pool, v[2].s),
		.kind = str_dup(types->pool, v[3].s),
		.plural = str_dup(types->pool, v[4].s),
		.singular = str_dup(types->pool, v[5].s),
		.namespaced = v[6].u != 0,
		.builtin = v[7].u != 0,
	};
	entry->type.rules = rules_find(entry->type.group, entry->type.plural);
	struct entry **id = &types->by_id[entry->type.id % BUCKETS];
	struct entry **name = &types->by_name[name_bucket(entry->type.group, entry->type.plural)];
	entry->next_id = *id;
	entry->next_name = *name;
	*id = *name = entry;
	return &entry->type;
}

enum outcome types_load(struct registry *registry)
{
	struct types *types = registry->types;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_builtin, NULL, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++)
		(void)hold_row(types, &rows, i);
	struct entry *namespaces = held_by_name(types, STR(""), STR("namespaces"), false);
	struct entry *definitions = held_by_name(types, STR(CRD_GROUP), STR(CRD_PLURAL), false);
	if (namespaces == NULL || definitions == NULL)
		return OUTCOME_INTERNAL;
	types->definitions = &definitions->type;
	types->namespaces = &namespaces->type;
	return OUTCOME_OK;
}

const struct type *type_find(struct registry *registry, struct str group, struct str plural, bool namespaced)
{
	struct entry *entry = held_by_name(registry->types, group, plural, namespaced);
	struct db_rows rows;

	if (entry != NULL)
		return &entry->type;
	enum db_result result = db_run(registry->db, registry->pool, &q_by_name,
		DB_IN(db_s(group), db_s(plural), db_u(namespaced ? 1 : 0)), &rows);
	return result == DB_OK && rows.n > 0 ? hold_row(registry->types, &rows, 0) : NULL;
}

enum outcome type_ensure(struct registry *registry, const struct type *like, const struct type **type)
{
	struct db_rows rows;
	const struct db_value *name =
		DB_IN(db_s(like->group), db_s(like->plural), db_u(like->namespaced ? 1 : 0));
	struct entry *entry = held_by_name(registry->types, like->group, like->plural, like->namespaced);

	if (entry != NULL) {
		*type = &entry->type;
		return OUTCOME_OK;
	}
	// What this transaction makes may be rolled back: it is held when somebody finds it later.
	enum db_result result = db_run(registry->db, registry->pool, &q_by_name, name, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0) {
		*type = hold_row(registry->types, &rows, 0);
		return OUTCOME_OK;
	}
	result = db_run(registry->db, registry->pool, &q_insert,
		DB_IN(db_s(like->group), db_s(like->version), db_s(like->kind), db_s(like->plural), db_s(like->singular),
			db_u(like->namespaced ? 1 : 0)),
		&rows);
	if (result != DB_OK && result != DB_DUPLICATE)
		return registry_db_failed(result);
	struct type *made = POOL_NEW(registry->pool, struct type);
	*made = *like;
	made->id = rows.insert_id;
	*type = made;
	return OUTCOME_OK;
}

const struct type *type_with_rules(struct registry *registry, const struct type_rules *rules)
{
	struct entry *entry = held_by_name(registry->types, str_c(rules->group), str_c(rules->plural), false);

	return entry != NULL ? &entry->type : NULL;
}

const struct type *type_by_id(struct registry *registry, uint64_t id)
{
	struct entry *entry = held_by_id(registry->types, id);
	struct db_rows rows;

	if (entry != NULL)
		return &entry->type;
	enum db_result result = db_run(registry->db, registry->pool, &q_by_id, DB_IN(db_u(id)), &rows);
	return result == DB_OK && rows.n > 0 ? hold_row(registry->types, &rows, 0) : NULL;
}

const struct type *type_namespaces(struct registry *registry)
{
	return registry->types->namespaces;
}

const struct type *type_definitions(struct registry *registry)
{
	return registry->types->definitions;
}

// ---- what is kept

static bool is_kept(struct registry *registry, struct str tenant, const struct type *type)
{
	struct db_rows rows;

	return type != NULL && !type->builtin &&
		db_run(registry->db, registry->pool, &q_kept, DB_IN(db_s(tenant), db_u(type->id), db_u(type->id)), &rows) == DB_OK &&
		rows.n > 0;
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
