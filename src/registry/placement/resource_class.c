// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/ascii.h"
#include "registry/placement/resource_class.h"

#include "base/buf.h"
#include "base/pool.h"
#include "db/list.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/placement/provider_internal.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"
#include "sql/resource_classes.h"

bool resource_class_is_custom(struct str name)
{
	struct str prefix = STR("CUSTOM_");

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!ascii_is_upper(c) && !ascii_is_digit(c) && c != '_')
			return false;
	}
	return str_starts(name, prefix) && name.n > prefix.n && name.n <= RESOURCE_CLASS_MAX_NAME;
}

// ---- looking up classes

struct str provider_names_as_json(struct pool *pool, const struct str *names, size_t n)
{
	struct db_list list = db_list_new(pool, 32 * n);

	for (size_t i = 0; i < n; i++)
		json_add_string(db_list_item(&list), names[i]);
	return db_list_end(&list);
}

static int by_bytes(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

// The names in byte order, each once. *n: how many there are.
static struct str *sort_names(struct pool *pool, const struct str *names, size_t *n)
{
	struct str *sorted = POOL_ARRAY(pool, struct str, *n);
	size_t kept = 0;

	memcpy(sorted, names, *n * sizeof(*names));
	qsort(sorted, *n, sizeof(*sorted), by_bytes);
	for (size_t i = 0; i < *n; i++) {
		if (kept == 0 || !str_eq(sorted[i], sorted[kept - 1]))
			sorted[kept++] = sorted[i];
	}
	*n = kept;
	return sorted;
}

// A body may name very many allocations: so each different name is looked up once, and rows and names are matched by binary
// search.
static enum outcome find_classes(struct registry *registry, enum sql_class_lock lock, const struct str *names, size_t n, uint64_t *ids,
	struct str *unknown)
{
	struct pool *pool = registry->pool;
	size_t n_sorted = n;
	struct db_rows rows;

	if (unknown != NULL)
		*unknown = STR_NONE;
	if (n == 0)
		return OUTCOME_OK;
	const struct str *sorted = sort_names(pool, names, &n_sorted);
	const struct sql_class_find in = { .names = provider_names_as_json(pool, sorted, n_sorted) };
	enum db_result result = sql_class_find_run(registry->db, pool, lock, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t *found = POOL_ARRAY(pool, uint64_t, n_sorted); // 0: unknown
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_class_find_row *row = sql_class_find_row(&rows, i);
		const struct str *at = bsearch(&row->name, sorted, n_sorted, sizeof(*sorted), by_bytes);

		if (at != NULL)
			found[at - sorted] = row->id;
	}
	for (size_t i = 0; i < n; i++) {
		const struct str *at = bsearch(&names[i], sorted, n_sorted, sizeof(*sorted), by_bytes);

		ids[i] = found[at - sorted];
		if (ids[i] == 0 && unknown != NULL && unknown->p == NULL)
			*unknown = names[i];
	}
	return OUTCOME_OK;
}

enum outcome provider_find_classes(struct registry *registry, const struct str *names, size_t n, uint64_t *ids, struct str *unknown)
{
	return find_classes(registry, SQL_CLASS_LOCK_NONE, names, n, ids, unknown);
}

enum outcome provider_lock_classes(struct registry *registry, const struct str *names, size_t n, uint64_t *ids, struct str *unknown)
{
	assert(db_txn_writes(registry->db));
	return find_classes(registry, SQL_CLASS_LOCK_SHARED, names, n, ids, unknown);
}

// ---- classes that are kept by their ids

struct named {
	uint64_t id;
	struct str name;
};

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct named *)a)->id, y = ((const struct named *)b)->id;

	return x < y ? -1 : x > y;
}

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

// The classes with these ids, sorted by them.
static enum outcome read_names(struct registry *registry, const struct kept_class *classes, size_t n, struct named **named, size_t *n_named)
{
	uint64_t *ids = POOL_ARRAY(registry->pool, uint64_t, n);
	struct db_rows rows = { .n = 0 };
	size_t n_ids = 0;

	for (size_t i = 0; i < n; i++) {
		if (classes[i].id != 0)
			ids[n_ids++] = classes[i].id;
	}
	*n_named = 0;
	if (n_ids == 0)
		return OUTCOME_OK;
	const struct sql_class_names in = { .ids = db_list_of_id_set(registry->pool, ids, n_ids) };
	enum db_result result = sql_class_names_run(registry->db, registry->pool, SQL_CLASS_LOCK_SHARED, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*named = POOL_ARRAY(registry->pool, struct named, rows.n);
	for (; *n_named < rows.n; (*n_named)++) {
		const struct sql_class_names_row *row = sql_class_names_row(&rows, *n_named);
		(*named)[*n_named] = (struct named){ row->id, row->name };
	}
	if (rows.n > 0)
		qsort(*named, rows.n, sizeof(**named), by_id);
	return OUTCOME_OK;
}

enum outcome provider_name_kept_classes(struct registry *registry, const struct kept_class *classes, size_t n)
{
	struct named *named = NULL;
	size_t n_named;

	assert(db_txn_writes(registry->db));
	enum outcome outcome = read_names(registry, classes, n, &named, &n_named);
	if (outcome != OUTCOME_OK || n_named == 0)
		return outcome;
	struct named *by_names = POOL_ARRAY(registry->pool, struct named, n_named);
	memcpy(by_names, named, n_named * sizeof(*named));
	qsort(by_names, n_named, sizeof(*by_names), by_name);
	for (size_t i = 0; i < n; i++) {
		const struct named key = { classes[i].id, *classes[i].name };
		const struct named *now = key.id != 0 ? bsearch(&key, named, n_named, sizeof(*named), by_id) : NULL;

		if (now != NULL)
			*classes[i].name = now->name;
		else if (key.id != 0 && bsearch(&key, by_names, n_named, sizeof(*by_names), by_name) != NULL)
			return registry_fail(registry, OUTCOME_CONFLICT,
				"the resource class %.*s was deleted since, and another one has its name", STR_ARG(key.name));
	}
	return OUTCOME_OK;
}

// ---- reading

static struct resource_class class_of_columns(const struct sql_resource_class *columns)
{
	return (struct resource_class){ .id = columns->id, .name = columns->name, .updated_us = columns->updated_at };
}

static bool is_standard(const struct resource_class *class)
{
	return class->id < RESOURCE_CLASS_MIN_CUSTOM;
}

static enum outcome fail_no_class(struct registry *registry, struct str name)
{
	return registry_fail(registry, OUTCOME_NOT_FOUND, "No such resource class %.*s.", STR_HEAD_ARG(name, 256));
}

// Reads the class, and locks its row as lock says. OUTCOME_OK, _NOT_FOUND.
static enum outcome find_class(struct registry *registry, enum sql_class_lock lock, struct str name, struct resource_class *class)
{
	const struct sql_class_get in = { .name = name };
	struct db_rows rows;
	enum db_result result = sql_class_get_run(registry->db, registry->pool, lock, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return fail_no_class(registry, name);
	*class = class_of_columns(&sql_class_get_row(&rows, 0)->class);
	return OUTCOME_OK;
}

enum outcome resource_class_get(struct registry *registry, struct str name, struct resource_class *class)
{
	return find_class(registry, SQL_CLASS_LOCK_NONE, name, class);
}

static void give_class(void *arg, const struct db_rows *rows, struct pool *pool)
{
	const struct resource_class_taker *taker = arg;
	const struct resource_class class = class_of_columns(&sql_class_list_row(rows, 0)->class);

	taker->take(taker->arg, &class, pool);
}

enum outcome resource_class_list(struct registry *registry, const struct resource_class_taker *taker)
{
	struct resource_class_taker copy = *taker;
	struct db_call call = sql_class_list_call(registry->pool);

	call.take = give_class;
	call.arg = &copy;
	enum db_result result = db_run_call(registry->db, registry->pool, &call);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- writing

static enum outcome check_custom(struct registry *registry, struct str name)
{
	if (resource_class_is_custom(name))
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_BAD_PARAMETER,
		"a resource class of one's own is named CUSTOM_ and then at least one of A-Z, 0-9 and _, 255 characters at most");
}

// Did an earlier run of this request make this class, in a transaction whose COMMIT was uncertain? db_txn_run() recognizes its
// work by change rows, but classes leave none. So this compares the time, which is the same in every run of a request.
static bool is_own_work(const struct registry *registry, const struct resource_class *class)
{
	return db_txn_tries(registry->db) > 1 && class->updated_us == registry->now_us;
}

// OUTCOME_CREATED, or OUTCOME_OK if the class exists.
static enum outcome make(struct registry *registry, struct str name, struct resource_class *class)
{
	int64_t now = registry->now_us;
	struct db_call calls[] = {
		sql_class_insert_call(registry->pool, &(struct sql_class_insert){ .name = name, .now = now }),
		sql_class_reveal_call(registry->pool, &(struct sql_class_reveal){ .name = name, .now = now }),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].result == DB_DUPLICATE) {
		enum outcome outcome = find_class(registry, SQL_CLASS_LOCK_EXCLUSIVE, name, class);
		bool own = calls[1].rows.affected > 0 || (outcome == OUTCOME_OK && is_own_work(registry, class));
		return outcome == OUTCOME_OK && own ? OUTCOME_CREATED : outcome;
	}
	*class = (struct resource_class){
		.id = calls[0].rows.insert_id, .name = name, .updated_us = registry->now_us
	};
	return OUTCOME_CREATED;
}

enum outcome resource_class_put(struct registry *registry, struct str name, struct resource_class *class)
{
	assert(db_txn_writes(registry->db));
	enum outcome outcome = check_custom(registry, name);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = find_class(registry, SQL_CLASS_LOCK_NONE, name, class);
	if (outcome == OUTCOME_OK && is_own_work(registry, class))
		return OUTCOME_CREATED;
	return outcome == OUTCOME_NOT_FOUND ? make(registry, name, class) : outcome;
}

enum outcome resource_class_create(struct registry *registry, struct str name, struct resource_class *class)
{
	assert(db_txn_writes(registry->db));
	enum outcome outcome = check_custom(registry, name);

	if (outcome == OUTCOME_OK)
		outcome = make(registry, name, class);
	if (outcome != OUTCOME_OK)
		return outcome;
	return registry_fail(registry, OUTCOME_CONFLICT, "Conflicting resource class already exists: %.*s", STR_ARG(name));
}

// A hidden class keeps its name, since its deleted providers can be recovered.
static enum outcome fail_taken(struct registry *registry, struct str to)
{
	struct resource_class class;
	enum outcome outcome = find_class(registry, SQL_CLASS_LOCK_NONE, to, &class);

	if (outcome != OUTCOME_OK && outcome != OUTCOME_NOT_FOUND)
		return outcome;
	return registry_fail(registry, OUTCOME_CONFLICT, "Resource class already exists: %.*s%s", STR_ARG(to),
		outcome == OUTCOME_OK ? "" :
			". Deleted resource providers have inventory of it, and can be recovered: use another name, or make that "
			"class anew");
}

enum outcome resource_class_rename(struct registry *registry, struct str name, struct str to,
	struct resource_class *class)
{
	assert(db_txn_writes(registry->db));
	enum outcome outcome = check_custom(registry, to);

	if (outcome == OUTCOME_OK && find_class(registry, SQL_CLASS_LOCK_NONE, to, class) == OUTCOME_OK && is_own_work(registry, class))
		return OUTCOME_OK;
	if (outcome == OUTCOME_OK)
		outcome = find_class(registry, SQL_CLASS_LOCK_EXCLUSIVE, name, class);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (is_standard(class))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "Cannot update standard resource class %.*s.",
			STR_ARG(name));
	const struct sql_class_rename in = { .id = class->id, .name = to, .now = registry->now_us };
	enum db_result result = sql_class_rename_run(registry->db, registry->pool, &in, NULL);
	if (result == DB_DUPLICATE)
		return fail_taken(registry, to);
	if (result != DB_OK)
		return registry_db_failed(result);
	class->name = to;
	class->updated_us = registry->now_us;
	return OUTCOME_OK;
}

enum outcome resource_class_delete(struct registry *registry, struct str name)
{
	assert(db_txn_writes(registry->db));
	struct resource_class class;
	enum outcome outcome = find_class(registry, SQL_CLASS_LOCK_EXCLUSIVE, name, &class);

	// A run after an uncertain COMMIT can't recognize its work, since classes leave no change row. It finds no class, and
	// that is what was asked for.
	if (outcome == OUTCOME_NOT_FOUND && db_txn_commit_was_lost(registry->db))
		return OUTCOME_NO_CONTENT;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (is_standard(&class))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"Error in delete resource class: Cannot delete standard resource class %.*s.", STR_ARG(name));
	struct db *db = registry->db;
	struct pool *pool = registry->pool;
	struct db_call calls[] = {
		coherence_lock_call(),
		sql_class_seen_holder_call(pool, &(struct sql_class_seen_holder){ .id = class.id }),
		sql_class_used_holder_call(pool, &(struct sql_class_used_holder){ .id = class.id }),
		sql_class_holder_call(pool, &(struct sql_class_holder){ .id = class.id }),
	};
	enum db_result result = db_run_batch(db, pool, calls, COUNT_OF(calls));
	if (result == DB_OK && calls[1].rows.n + calls[2].rows.n > 0)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"Error in delete resource class: Cannot delete resource class %.*s. Class is in use in inventory.",
			STR_ARG(name));
	if (result == DB_OK && calls[3].rows.n > 0)
		result = sql_class_hide_run(db, pool, &(struct sql_class_hide){ .id = class.id }, NULL);
	else if (result == DB_OK)
		result = sql_class_delete_run(db, pool, &(struct sql_class_delete){ .id = class.id }, NULL);
	return result == DB_OK ? OUTCOME_NO_CONTENT : registry_db_failed(result);
}
