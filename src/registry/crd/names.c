// SPDX-License-Identifier: Apache-2.0
// The names of a CustomResourceDefinition (kind, plural, short names) must be unique in its tenant and group. They are checked
// whenever a definition comes to a tenant: created, recovered or moved. So the condition NamesAccepted is always true. The number
// and the bytes of a tenant's definitions are checked there, too, and the bytes whenever a definition grows.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/settings.h"
#include "registry/core/stored.h"
#include "registry/crd/internal.h"
#include "registry/crd/limits.h"
#include "registry/type/definition_internal.h"
#include "registry/type/type.h"
#include "repr/json/member.h"
#include "sql/definitions.h"
#include "sql/moves.h"

enum {
	DEFINITIONS_MAX = 1000,
	MEMORY_SHARE = 6, // a tenant's definitions may have this part of request_memory
};

// Bytes that the definitions of a tenant may have in all. A request may have to read all of the tenant's and of the system's:
// they are then in memory in up to three copies (the rows of one tenant, and the views of both), and there must be room for the
// answer.
static uint64_t most_bytes(const struct registry *registry)
{
	return registry->settings->request_memory / MEMORY_SHARE;
}

struct str definitions_excess(struct registry *registry, uint64_t n, uint64_t bytes)
{
	if (n > DEFINITIONS_MAX)
		return str_printf(registry->pool, "a tenant defines %d types at most: delete some first", DEFINITIONS_MAX);
	if (bytes > most_bytes(registry))
		return str_printf(registry->pool,
			"the definitions of a tenant may have %llu bytes in all, and would have %llu: make them smaller, or delete some first",
			(unsigned long long)most_bytes(registry), (unsigned long long)bytes);
	return STR_NONE;
}

static void add_name(struct doc *all, struct str name)
{
	if (name.n > 0 && str_find(name, '\0', 0) == name.n)
		doc_set(all, name, NULL);
}

// The names in spec.names, as the members of an object: there may be very many. "" is none.
static const struct doc *names_in(struct pool *pool, const struct doc *names)
{
	const struct doc *list = doc_member(names, "shortNames");
	struct doc *all = doc_new_object(pool);

	add_name(all, doc_string(doc_member(names, "plural")));
	add_name(all, doc_string(doc_member(names, "singular")));
	for (size_t i = 0; i < doc_elements(list); i++)
		add_name(all, doc_string(doc_at(list, i)));
	return all;
}

// Is kind one of the kinds in spec.names? "" never is.
static bool has_kind(const struct doc *names, struct str kind)
{
	return kind.n > 0 &&
	       (str_eq(doc_string(doc_member(names, "kind")), kind) || str_eq(doc_string(doc_member(names, "listKind")), kind));
}

static struct stored_place definition_place(uint64_t id)
{
	return (struct stored_place){ .table = "resources", .column = "body", .id = id };
}

// The first name or kind that both have; p NULL: none.
static struct str common_name(const struct doc *a, const struct doc *b, const struct doc *names_in_b)
{
	static const char *const kinds[] = { "kind", "listKind" }, *const singles[] = { "singular", "plural" };
	const struct doc *list = doc_member(a, "shortNames"), *none;

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (has_kind(b, doc_string(doc_member(a, kinds[i]))))
			return doc_string(doc_member(a, kinds[i]));
	}
	for (size_t i = 0; i < COUNT_OF(singles); i++) {
		if (doc_get(names_in_b, doc_string(doc_member(a, singles[i])), &none))
			return doc_string(doc_member(a, singles[i]));
	}
	for (size_t i = 0; i < doc_elements(list); i++) {
		if (doc_get(names_in_b, doc_string(doc_at(list, i)), &none))
			return doc_string(doc_at(list, i));
	}
	return STR_NONE;
}

// The lock of the tenant's row lets only one of two simultaneous writers of definitions check at a time. What does not grow is
// taken, so that a tenant with too much, from before a bound was lowered, can make it less.
enum outcome definition_fits(struct registry *registry, const struct address *address, struct str group,
	const struct doc *names, struct definition_bytes bytes)
{
	assert(db_txn_writes(registry->db) && address->type == type_definitions(registry));
	const struct sql_definition_others others = {
		.tenant = address->tenant,
		.type_id = address->type->id,
		.name = address->name,
	};
	struct db_call calls[] = {
		sql_definition_lock_tenant_call(registry->pool, &(struct sql_definition_lock_tenant){ .tenant = address->tenant }),
		sql_definition_others_call(registry->pool, &others),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct db_rows *rows = &calls[1].rows;
	uint64_t sum = bytes.after;
	for (size_t i = 0; i < rows->n; i++)
		sum += sql_definition_others_row(rows, i)->bytes;
	struct str excess = definitions_excess(registry, bytes.before == 0 ? rows->n + 1 : 0, bytes.after > bytes.before ? sum : 0);
	if (excess.p != NULL)
		return registry_fail(registry, OUTCOME_OVER_QUOTA, "%.*s", STR_ARG(excess));
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_definition_others_row *row = sql_definition_others_row(rows, i);
		const struct stored_place place = definition_place(row->id);

		if (!str_eq(row->group_name, group))
			continue;
		const struct doc *other = stored_document(registry->pool, place, row->names);
		struct str common = common_name(names, other, names_in(registry->pool, other));
		if (common.p != NULL)
			return registry_fail(registry, OUTCOME_CONFLICT,
				"\"%.*s\" is already in use by %.*s: take another name", STR_ARG(common),
				STR_ARG(row->name));
	}
	return OUTCOME_OK;
}

// ---- several definitions that move to a tenant

struct named {
	struct str name, group;
	const struct doc *names, *range, *meta; // meta is NULL if the statement does not read it
	const struct doc *names_in; // names_in(names), of those that are there
};

static struct named *read_coming(struct pool *pool, const struct db_rows *rows)
{
	struct named *list = POOL_ARRAY(pool, struct named, rows->n);

	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_move_definitions_row *row = sql_move_definitions_row(rows, i);
		const struct stored_place place = definition_place(row->id);

		list[i] = (struct named){
			.name = row->name,
			.group = row->group_name,
			.meta = stored_document(pool, place, row->meta),
			.names = stored_document(pool, place, row->names),
			.range = row->range.p != NULL ? stored_document(pool, place, row->range) : NULL,
		};
	}
	return list;
}

static struct named *read_others(struct pool *pool, const struct db_rows *rows)
{
	struct named *list = POOL_ARRAY(pool, struct named, rows->n);

	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_definition_others_row *row = sql_definition_others_row(rows, i);
		const struct stored_place place = definition_place(row->id);

		list[i] = (struct named){
			.name = row->name,
			.group = row->group_name,
			.names = stored_document(pool, place, row->names),
		};
		list[i].names_in = names_in(pool, list[i].names);
	}
	return list;
}

// A definition that moves to the system's tenant would take effect on other tenants at once, although nobody has reviewed its
// sharing.
static bool would_be_shared(struct str tenant, const struct named *coming)
{
	return str_eq_c(tenant, TENANT_SYSTEM) &&
	       (doc_length(coming->range) > 0 || definition_is_forced(coming->meta));
}

// The first definition there with a name that the moving one has. NULL: there is none, or one there has the same full name:
// then it is in the way like any resource of the same name, which the caller reports.
static const struct named *find_clash(const struct named *coming, const struct named *there, size_t n, struct str *common)
{
	const struct named *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (str_eq(there[i].name, coming->name))
			return NULL;
		if (found != NULL || !str_eq(there[i].group, coming->group))
			continue;
		*common = common_name(coming->names, there[i].names, there[i].names_in);
		found = common->p != NULL ? &there[i] : NULL;
	}
	return found;
}

enum outcome definitions_meet(struct registry *registry, struct str tenant, const struct db_rows *coming,
	struct definition_clash **clashes, size_t *n, struct str *excess)
{
	const struct sql_definition_others in = {
		.tenant = tenant,
		.type_id = type_definitions(registry)->id,
		.name = STR(""),
	};
	struct db_rows others;
	enum db_result result = sql_definition_others_run(registry->db, registry->pool, &in, &others);

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct named *come = read_coming(registry->pool, coming), *there = read_others(registry->pool, &others);
	*clashes = POOL_ARRAY(registry->pool, struct definition_clash, 2 * coming->n);
	*n = 0;
	uint64_t bytes = 0;
	for (size_t i = 0; i < others.n; i++)
		bytes += sql_definition_others_row(&others, i)->bytes;
	for (size_t i = 0; i < coming->n; i++) {
		struct str common;
		bytes += sql_move_definitions_row(coming, i)->bytes;
		const struct named *other = find_clash(&come[i], there, others.n, &common);
		if (other != NULL)
			(*clashes)[(*n)++] = (struct definition_clash){ come[i].name, common, other->name };
		if (would_be_shared(tenant, &come[i]))
			(*clashes)[(*n)++] = (struct definition_clash){ .name = come[i].name, .common = STR_NONE };
	}
	*excess = coming->n > 0 ? definitions_excess(registry, coming->n + others.n, bytes) : STR_NONE;
	return OUTCOME_OK;
}
