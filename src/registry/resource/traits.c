// SPDX-License-Identifier: Apache-2.0
// Changes the traits of a resource. They are stored in its row, to be shown and hashed, and in table resource_traits, to be
// searched. Both are written together, under the lock of the resource's row.
#include "base/base.h"

#include "registry/trait/trait.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/cache/coherence.h"
#include "registry/log/change.h"
#include "registry/log/stale.h"
#include "registry/resource/internal.h"
#include "registry/resource/traits.h"
#include "registry/tags/etag.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"
#include "sql/traits.h"

enum { TOLD_MAX = 20 }; // how many names an error lists

// ---- sets of names: in byte order, no two equal

struct names {
	struct str *at;
	size_t n;
};

static int by_bytes(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct names names_sorted(struct pool *pool, const struct str *list, size_t n)
{
	struct names names = { .at = POOL_ARRAY(pool, struct str, n) };

	if (n == 0)
		return names;
	memcpy(names.at, list, n * sizeof(*list));
	qsort(names.at, n, sizeof(*names.at), by_bytes);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !str_eq(names.at[i], names.at[names.n - 1]))
			names.at[names.n++] = names.at[i];
	}
	return names;
}

static struct names names_stored(struct pool *pool, const struct resource *resource)
{
	struct names names = { .n = 0 };

	const struct doc *list = resource_traits_doc(pool, resource);
	names.at = POOL_ARRAY(pool, struct str, doc_length(list));
	for (; names.n < doc_length(list); names.n++)
		names.at[names.n] = doc_string(doc_at(list, names.n));
	return names;
}

static struct names names_known(struct pool *pool, const struct db_rows *rows)
{
	struct names names = { .at = POOL_ARRAY(pool, struct str, rows->n), .n = rows->n };

	for (size_t i = 0; i < rows->n; i++)
		names.at[i] = sql_trait_known_row(rows, i)->name;
	return names;
}

// The names of a that are not in b.
static struct names names_without(struct pool *pool, struct names a, struct names b)
{
	struct names result = { .at = POOL_ARRAY(pool, struct str, a.n) };

	for (size_t i = 0, k = 0; i < a.n; i++) {
		while (k < b.n && str_cmp(b.at[k], a.at[i]) < 0)
			k++;
		if (k == b.n || !str_eq(b.at[k], a.at[i]))
			result.at[result.n++] = a.at[i];
	}
	return result;
}

static struct names names_both(struct pool *pool, struct names a, struct names b)
{
	struct str *all = POOL_ARRAY(pool, struct str, a.n + b.n);

	if (a.n > 0)
		memcpy(all, a.at, a.n * sizeof(*all));
	if (b.n > 0)
		memcpy(all + a.n, b.at, b.n * sizeof(*all));
	return names_sorted(pool, all, a.n + b.n);
}

// The value of column traits. Names of traits contain nothing that JSON escapes.
static struct str names_json(struct pool *pool, struct names names)
{
	struct db_list list = db_list_new(pool, 32 * names.n);

	for (size_t i = 0; i < names.n; i++)
		buf_addf(db_list_item(&list), "\"%.*s\"", STR_ARG(names.at[i]));
	return db_list_end(&list);
}

static struct str names_told(struct pool *pool, struct names names)
{
	struct buf text = buf_new(pool, 256);

	for (size_t i = 0; i < names.n && i < TOLD_MAX; i++)
		buf_addf(&text, "%s%.*s", i > 0 ? ", " : "", STR_ARG(names.at[i]));
	if (names.n > TOLD_MAX)
		buf_addf(&text, " and %zu more", names.n - TOLD_MAX);
	return buf_str(&text);
}

// ---- the difference

struct difference {
	struct names next, added, removed;
};

static enum outcome fail_unknown(struct registry *registry, const struct trait_edit *edit, struct names unknown)
{
	struct str names = names_told(registry->pool, unknown);

	if (edit->no_such != NULL)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "%s %.*s", edit->no_such, STR_ARG(names));
	return registry_fail(registry, OUTCOME_BAD_PARAMETER, "there %s: %.*s",
		unknown.n == 1 ? "is no such trait in the catalogue" : "are no such traits in the catalogue", STR_ARG(names));
}

static enum outcome fail_absent(struct registry *registry, struct names absent)
{
	struct str names = names_told(registry->pool, absent);

	return registry_fail(registry, OUTCOME_NOT_FOUND, "it does not have the trait%s %.*s", absent.n == 1 ? "" : "s",
		STR_ARG(names));
}

static enum outcome plan(struct registry *registry, const struct trait_edit *edit, struct names current,
	struct difference *difference)
{
	struct pool *pool = registry->pool;
	struct names given = names_sorted(pool, edit->names, edit->n), absent;

	switch (edit->change) {
	case TRAITS_SET:
		difference->next = given;
		break;
	case TRAITS_ADD:
		difference->next = names_both(pool, current, given);
		break;
	case TRAITS_REMOVE:
		absent = names_without(pool, given, current);
		if (absent.n > 0)
			return fail_absent(registry, absent);
		difference->next = names_without(pool, current, given);
		break;
	case TRAITS_CLEAR:
		difference->next = (struct names){ .n = 0 };
		break;
	}
	difference->added = names_without(pool, difference->next, current);
	difference->removed = names_without(pool, current, difference->next);
	if (edit->most > 0 && difference->next.n > edit->most && difference->added.n > 0)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "it would have %zu traits, and may have %zu at most",
			difference->next.n, edit->most);
	return OUTCOME_OK;
}

// A text that cannot be the name of a trait is in no catalogue, so the database is not asked for it.
static enum outcome check_names(struct registry *registry, const struct trait_edit *edit, struct names added)
{
	struct names unknown = { .at = POOL_ARRAY(registry->pool, struct str, added.n) };

	for (size_t i = 0; i < added.n; i++) {
		if (!trait_is_name(added.at[i]))
			unknown.at[unknown.n++] = added.at[i];
	}
	return unknown.n == 0 ? OUTCOME_OK : fail_unknown(registry, edit, unknown);
}

// ---- writing

enum { FEW = 16 }; // names that the statements for few have room for

static void fill_few(struct sql_trait_named few[FEW], struct names names)
{
	assert(names.n > 0 && names.n <= FEW);
	for (size_t i = 0; i < FEW; i++)
		few[i].name = names.at[i < names.n ? i : names.n - 1];
}

static struct db_call attach_call(struct registry *registry, const struct resource *resource, struct names names)
{
	struct sql_trait_attach_few few = { .resource_id = resource->id };

	if (names.n > FEW) {
		const struct sql_trait_attach in = { .resource_id = resource->id, .names = names_json(registry->pool, names) };
		return sql_trait_attach_call(registry->pool, &in);
	}
	fill_few(few.names, names);
	return sql_trait_attach_few_call(registry->pool, &few);
}

static struct db_call detach_call(struct registry *registry, const struct resource *resource, struct names names)
{
	struct sql_trait_detach_few few = { .resource_id = resource->id };

	if (names.n > FEW) {
		const struct sql_trait_detach in = { .resource_id = resource->id, .names = names_json(registry->pool, names) };
		return sql_trait_detach_call(registry->pool, &in);
	}
	fill_few(few.names, names);
	return sql_trait_detach_few_call(registry->pool, &few);
}

static enum outcome make_and_attach(struct registry *registry, const struct resource *resource, struct names names)
{
	const struct sql_trait_make make = { .names = names_json(registry->pool, names), .now = registry->now_us };
	struct db_call calls[] = {
		sql_trait_make_call(registry->pool, &make),
		coherence_raise_call(COHERENCE_TRAITS),
		attach_call(registry, resource, names),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	coherence_raised(registry, COHERENCE_TRAITS, &calls[1]);
	if (calls[2].rows.affected == names.n)
		return OUTCOME_OK;
	db_txn_again(registry->db); // another transaction deleted one of them meanwhile
	return OUTCOME_UNAVAILABLE;
}

// The catalogue lacked some of the names added: only as many as attached were found. Creates the missing ones if edit allows
// it.
static enum outcome attach_missing(struct registry *registry, const struct trait_edit *edit, struct names added,
	uint64_t attached, const struct resource *resource)
{
	struct pool *pool = registry->pool;
	struct db_rows rows;
	const struct sql_trait_known in = { .names = names_json(pool, added) };
	enum db_result result = sql_trait_known_run(registry->db, pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n != attached) {
		db_txn_again(registry->db); // another transaction created one meanwhile
		return OUTCOME_UNAVAILABLE;
	}
	struct names missing = names_without(pool, added, names_known(pool, &rows));
	struct names unknown = { .at = POOL_ARRAY(pool, struct str, missing.n) };
	for (size_t i = 0; i < missing.n; i++) {
		if (!edit->makes_custom || !trait_is_custom(missing.at[i]))
			unknown.at[unknown.n++] = missing.at[i];
	}
	return unknown.n > 0 ? fail_unknown(registry, edit, unknown) : make_and_attach(registry, resource, missing);
}

// One round trip if the catalogue has all names: the number of rows that the INSERT affects shows whether it has.
static enum outcome write(struct registry *registry, const struct trait_edit *edit, const struct difference *difference,
	const struct resource *before, struct resource *resource)
{
	struct pool *pool = registry->pool;
	const struct type_rules *rules = resource->type->rules;
	const struct sql_trait_update_resource update = {
		.id = resource->id,
		.traits = resource->traits,
		.revision = resource->revision,
		.edits = resource->edits,
		.etag = str_n((const char *)resource->stored_etag, sizeof(resource->stored_etag)),
		.updated_at = resource->updated_us,
	};
	struct db_call calls[6] = { change_in_field(registry, before, resource, "/metadata/traits") }, *attach = NULL;
	size_t n = change_keep_resource(registry, resource->id, calls, 1);

	calls[n++] = sql_trait_update_resource_call(pool, &update);
	if (difference->added.n > 0) {
		attach = &calls[n];
		calls[n++] = attach_call(registry, resource, difference->added);
	}
	if (difference->removed.n > 0)
		calls[n++] = detach_call(registry, resource, difference->removed);
	if (rules != NULL && rules->traits_changed != NULL)
		calls[n++] = rules->traits_changed(pool, resource->id);
	enum db_result result = db_run_batch(registry->db, pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	resource->changed = calls[0].rows.insert_id;
	if (attach == NULL || attach->rows.affected == difference->added.n)
		return OUTCOME_OK;
	return attach_missing(registry, edit, difference->added, attach->rows.affected, resource);
}

enum outcome resource_change_traits_locked(struct registry *registry, const struct trait_edit *edit, struct guard guard,
	const struct locked_tenant *owner, struct resource *resource)
{
	const struct resource before = *resource;
	struct difference difference = { .next.n = 0 };

	assert(db_txn_writes(registry->db) && resource->id != 0);
	enum outcome outcome = guard_check_required(registry, guard, owner->etag_required);
	if (outcome == OUTCOME_OK)
		outcome = resource_check(registry, &before, guard);
	if (outcome == OUTCOME_OK)
		outcome = plan(registry, edit, names_stored(registry->pool, &before), &difference);
	if (outcome == OUTCOME_OK)
		outcome = check_names(registry, edit, difference.added);
	if (outcome != OUTCOME_OK || (difference.added.n == 0 && difference.removed.n == 0))
		return outcome;
	resource->traits = difference.next.n > 0 ? names_json(registry->pool, difference.next) : STR_NONE;
	resource->revision++;
	resource->edits++;
	resource->updated_us = registry->stamp_us;
	etag_of_resource(registry, resource);
	return write(registry, edit, &difference, &before, resource);
}

enum outcome resource_change_traits(struct registry *registry, const struct ident *ident, const struct trait_edit *edit,
	struct guard guard, struct resource *resource)
{
	assert(db_txn_writes(registry->db));
	struct locked_tenant owner;
	enum outcome outcome = resource_lock_ident(registry, ident, &owner, resource);

	return outcome == OUTCOME_OK ? resource_change_traits_locked(registry, edit, guard, &owner, resource) : outcome;
}

enum outcome resource_change_traits_at(struct registry *registry, const struct address *address,
	const struct trait_edit *edit, struct guard guard, struct resource *resource)
{
	assert(db_txn_writes(registry->db));
	struct locked_address place;
	enum outcome outcome = resource_lock_address(registry, address, &place, resource);

	if (outcome == OUTCOME_NO_CONTENT)
		return resource_fail_missing(registry, address, resource);
	return outcome == OUTCOME_OK ? resource_change_traits_locked(registry, edit, guard, &place.tenant, resource) : outcome;
}
