// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/type.h"

#include "base/clock.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/internal.h"

enum { RELOAD_AFTER_US = 1000000 };

// Types come and go rarely and are few, so a plain array is searched. What was once handed out stays: a reload that finds
// the same ids keeps their rows and takes no memory: whoever asks for unknown types causes one a second.
struct types {
	struct pool *pool;
	struct type **list;
	size_t n;
	const struct type *namespaces;
	int64_t loaded_tick; // 0: not yet
};

static const struct db_query q_types = {
	"SELECT id, group_name, version, kind, plural, singular, namespaced FROM types ORDER BY id", "", "usssssu"
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
	return types->loaded_tick != 0;
}

static struct type *by_id(const struct types *types, uint64_t id)
{
	for (size_t i = 0; i < types->n; i++)
		if (types->list[i]->id == id)
			return types->list[i];
	return NULL;
}

static struct type *type_from_row(const struct types *types, const struct db_rows *rows, size_t row)
{
	uint64_t id = db_at(rows, row, 0)->u;
	struct type *type = by_id(types, id);

	if (type != NULL)
		return type;
	type = POOL_NEW(types->pool, struct type);
	type->id = id;
	type->group = str_dup(types->pool, db_at(rows, row, 1)->s);
	type->version = str_dup(types->pool, db_at(rows, row, 2)->s);
	type->kind = str_dup(types->pool, db_at(rows, row, 3)->s);
	type->plural = str_dup(types->pool, db_at(rows, row, 4)->s);
	type->singular = str_dup(types->pool, db_at(rows, row, 5)->s);
	type->namespaced = db_at(rows, row, 6)->u != 0;
	type->rules = rules_find(type->group, type->plural);
	return type;
}

static bool same_ids(const struct types *types, const struct db_rows *rows)
{
	bool same = rows->n == types->n;

	for (size_t i = 0; same && i < rows->n; i++)
		same = db_at(rows, i, 0)->u == types->list[i]->id;
	return same;
}

enum outcome types_load(struct registry *registry)
{
	struct types *types = registry->types;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_types, NULL, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	types->loaded_tick = clock_tick_us();
	if (types->n > 0 && same_ids(types, &rows))
		return OUTCOME_OK;
	struct type **list = POOL_ARRAY(types->pool, struct type *, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		list[i] = type_from_row(types, &rows, i);
	types->list = list;
	types->n = rows.n;
	types->namespaces = type_find(registry, STR("namespaces"));
	return types->namespaces != NULL ? OUTCOME_OK : OUTCOME_INTERNAL;
}

// "nodes.baremetal.openstack.org".
static bool is_qualified(const struct type *type, struct str name)
{
	size_t n = type->plural.n;

	return name.n == n + 1 + type->group.n && str_starts(name, type->plural) && name.p[n] == '.' &&
	       str_ends(name, type->group);
}

static const struct type *search(const struct types *types, struct str name)
{
	const struct type *only = NULL;
	size_t n = 0;

	for (size_t i = 0; i < types->n; i++) {
		const struct type *type = types->list[i];
		bool plain = str_eq(type->plural, name);
		if ((plain && type->group.n == 0) || is_qualified(type, name))
			return type;
		if (plain) {
			only = type;
			n++;
		}
	}
	return n == 1 ? only : NULL;
}

const struct type *type_find(struct registry *registry, struct str plural)
{
	struct types *types = registry->types;
	const struct type *type = search(types, plural);

	if (type != NULL || clock_tick_us() - types->loaded_tick < RELOAD_AFTER_US)
		return type;
	if (types_load(registry) != OUTCOME_OK)
		return NULL;
	return search(types, plural);
}

const struct type *type_with_rules(struct registry *registry, const struct type_rules *rules)
{
	const struct types *types = registry->types;

	for (size_t i = 0; i < types->n; i++)
		if (types->list[i]->rules == rules)
			return types->list[i];
	return NULL;
}

const struct type *type_by_id(struct registry *registry, uint64_t id)
{
	return by_id(registry->types, id);
}

const struct type *type_namespaces(struct registry *registry)
{
	return registry->types->namespaces;
}
