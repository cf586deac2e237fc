// SPDX-License-Identifier: Apache-2.0
// The catalogue of traits: what a worker caches of it, and how it is changed.
#include "base/base.h"

#include "registry/trait/catalogue.h"

#include "base/budget.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/core/failure.h"
#include "registry/type/type.h"
#include "sql/catalogues.h"
#include "sql/traits.h"

struct cached_traits {
	struct pool *pool; // the pool of the other members
	struct trait *list; // in byte order of names
	size_t n;
	uint64_t revision; // of the catalogue; 0: nothing is cached
};
struct catalogue {
	struct cached_traits cached;
};

struct catalogue *catalogue_new(void)
{
	return calloc(1, sizeof(struct catalogue));
}

void catalogue_free(struct catalogue **catalogue)
{
	if (*catalogue == NULL)
		return;
	pool_free(&(*catalogue)->cached.pool);
	free(*catalogue);
	*catalogue = NULL;
}

void catalogue_forget(struct catalogue *catalogue)
{
	catalogue->cached.revision = 0;
}

// ---- the cache

static struct trait trait_of_columns(const struct sql_trait *t)
{
	return (struct trait){
		.id = t->id,
		.name = t->name,
		.description = t->description,
		.deprecated = t->deprecated != 0,
		.created_us = t->created_at,
		.updated_us = t->updated_at,
	};
}

static enum outcome load_into(struct registry *registry, struct pool *pool, struct cached_traits *cached)
{
	struct db_rows rows;
	enum db_result result = sql_trait_list_run(registry->db, pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_INTERNAL; // the schema inserts the row with the revision
	*cached = (struct cached_traits){ .pool = pool, .revision = sql_trait_list_row(&rows, 0)->revision };
	cached->list = POOL_ARRAY(pool, struct trait, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_trait_list_row *row = sql_trait_list_row(&rows, i);
		if (row->id_is_null)
			continue; // the row has the revision only: there are no traits
		cached->list[cached->n++] = (struct trait){
			.id = row->id,
			.name = row->name,
			.description = row->description,
			.deprecated = row->deprecated != 0,
			.created_us = row->created_at,
			.updated_us = row->updated_at,
		};
	}
	return OUTCOME_OK;
}

static enum outcome load(struct registry *registry)
{
	struct catalogue *catalogue = registry->store->catalogue;
	struct cached_traits cached = { .n = 0 };
	struct pool *pool = pool_new();

	if (pool == NULL)
		return OUTCOME_UNAVAILABLE;
	// The cache serves all requests, so its memory is not charged to this one.
	budget_defer();
	budget_pause();
	enum outcome outcome = load_into(registry, pool, &cached);
	budget_resume();
	budget_release();
	if (outcome != OUTCOME_OK) {
		pool_free(&pool);
		return outcome;
	}
	pool_free(&catalogue->cached.pool);
	catalogue->cached = cached;
	coherence_note(registry, COHERENCE_TRAITS, cached.revision);
	return OUTCOME_OK;
}

// *cached: the newest known catalogue. If the running transaction has changed the catalogue, which may be rolled back, it is read
// for this request only and not cached.
static enum outcome freshen(struct registry *registry, const struct cached_traits **cached)
{
	struct catalogue *catalogue = registry->store->catalogue;

	*cached = &catalogue->cached;
	if (coherence_is_raised(registry, COHERENCE_TRAITS)) {
		struct cached_traits *once = POOL_NEW(registry->pool, struct cached_traits);
		*cached = once;
		return load_into(registry, registry->pool, once);
	}
	enum outcome outcome = coherence_ask(registry);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (catalogue->cached.revision != 0 && catalogue->cached.revision == coherence_newest(registry, COHERENCE_TRAITS))
		return OUTCOME_OK;
	return load(registry);
}

static int by_name(const void *name, const void *trait)
{
	return str_cmp(*(const struct str *)name, ((const struct trait *)trait)->name);
}

static const struct trait *find(const struct cached_traits *cached, struct str name)
{
	return cached->n > 0 ? bsearch(&name, cached->list, cached->n, sizeof(*cached->list), by_name) : NULL;
}

// ---- reading

// Reads one trait from the database: one row, or none.
static enum db_result read_one(struct registry *registry, struct str name, enum sql_trait_read how, struct db_rows *rows)
{
	const struct sql_trait_by_name in = { .name = name };

	return sql_trait_by_name_run(registry->db, registry->pool, how, &in, rows);
}

enum outcome trait_get(struct registry *registry, struct str name, struct trait *trait)
{
	const struct cached_traits *cached;
	struct db_rows rows;
	enum outcome outcome = freshen(registry, &cached);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct trait *found = find(cached, name);
	if (found != NULL) {
		*trait = *found;
		return OUTCOME_OK;
	}
	if (!trait_is_name(name))
		return registry_fail(registry, OUTCOME_NOT_FOUND, "the name of a trait is 1 to %d of A-Z, 0-9 and _", TRAIT_MAX_NAME);
	enum db_result result = read_one(registry, name, SQL_TRAIT_READ_PLAIN, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	registry->store->catalogue->cached.revision = 0; // the cache lacks it, so it is stale
	*trait = trait_of_columns(&sql_trait_by_name_row(&rows, 0)->t);
	return OUTCOME_OK;
}

static int by_str(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_id(const void *id, const void *row)
{
	uint64_t a = *(const uint64_t *)id, b = ((const struct sql_trait_used_row *)row)->id;

	return a < b ? -1 : a > b;
}

// The filter of a list of traits.
struct sieve {
	const struct trait_query *query;
	struct str *names; // sorted
	struct db_rows used; // the rows of trait_used, sorted by id
};

static enum outcome make_sieve(struct registry *registry, const struct trait_query *query, struct sieve *sieve)
{
	const struct sql_trait_used in = {
		.any_type = query->user == NULL ? 1 : 0,
		.type_id = query->user != NULL ? query->user->id : 0,
	};

	*sieve = (struct sieve){ .query = query };
	if (query->named && query->n_names > 0) {
		sieve->names = POOL_ARRAY(registry->pool, struct str, query->n_names);
		memcpy(sieve->names, query->names, query->n_names * sizeof(*query->names));
		qsort(sieve->names, query->n_names, sizeof(*sieve->names), by_str);
	}
	if (query->use == TRAITS_ANY)
		return OUTCOME_OK;
	enum db_result result = sql_trait_used_run(registry->db, registry->pool, &in, &sieve->used);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static bool passes(const struct sieve *sieve, const struct trait *trait)
{
	const struct trait_query *query = sieve->query;

	if (!str_starts(trait->name, query->prefix))
		return false;
	if (query->named && (query->n_names == 0 ||
		bsearch(&trait->name, sieve->names, query->n_names, sizeof(*sieve->names), by_str) == NULL))
		return false;
	if (query->use == TRAITS_ANY)
		return true;
	bool used = sieve->used.n > 0 &&
		    bsearch(&trait->id, sieve->used.rows, sieve->used.n, sieve->used.row_size, by_id) != NULL;
	return used == (query->use == TRAITS_USED);
}

enum outcome trait_list(struct registry *registry, const struct trait_query *query, const struct trait **list,
	size_t *n)
{
	const struct cached_traits *cached;
	struct sieve sieve;
	enum outcome outcome = freshen(registry, &cached);

	*n = 0;
	if (outcome == OUTCOME_OK)
		outcome = make_sieve(registry, query, &sieve);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (query->prefix.n == 0 && !query->named && query->use == TRAITS_ANY) {
		*list = cached->list;
		*n = cached->n;
		return OUTCOME_OK;
	}
	struct trait *passing = POOL_ARRAY(registry->pool, struct trait, cached->n);
	for (size_t i = 0; i < cached->n; i++) {
		if (passes(&sieve, &cached->list[i]))
			passing[(*n)++] = cached->list[i];
	}
	*list = passing;
	return OUTCOME_OK;
}

// ---- writing

// Did an earlier run of this request make the trait, in a transaction whose COMMIT was uncertain? Traits leave no change row that
// would say so. This compares the time, which is the same in every run of a request.
static bool is_own_work(const struct registry *registry, const struct db_rows *rows)
{
	return db_txn_tries(registry->db) > 1 && rows->n > 0 && sql_trait_by_name_row(rows, 0)->t.created_at == registry->now_us;
}

enum outcome trait_put(struct registry *registry, struct str name)
{
	const struct sql_trait_insert insert = { .name = name, .now = registry->now_us };
	const struct sql_trait_make_anew anew = { .name = name, .now = registry->now_us };
	struct db_rows rows = { .n = 0 };

	assert(db_txn_writes(registry->db));
	if (!trait_is_custom(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"a custom trait's name is CUSTOM_ and A-Z, 0-9 and _ behind it, %d at most; standard ones come with the service",
			TRAIT_MAX_NAME);
	// The cache only tells which statement is likely to be enough: a stale one costs a round trip more.
	if (find(&registry->store->catalogue->cached, name) != NULL) {
		enum db_result result = read_one(registry, name, SQL_TRAIT_READ_PLAIN, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n > 0)
			return is_own_work(registry, &rows) ? OUTCOME_CREATED : OUTCOME_OK;
	}
	struct db_call calls[] = {
		sql_trait_insert_call(registry->pool, &insert),
		sql_trait_make_anew_call(registry->pool, &anew),
		coherence_raise_call(COHERENCE_TRAITS),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	coherence_raised(registry, COHERENCE_TRAITS, &calls[2]);
	if (calls[0].result != DB_DUPLICATE || calls[1].rows.affected > 0)
		return OUTCOME_CREATED;
	if (db_txn_tries(registry->db) > 1) {
		result = read_one(registry, name, SQL_TRAIT_READ_PLAIN, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
	}
	return is_own_work(registry, &rows) ? OUTCOME_CREATED : OUTCOME_OK;
}

static enum outcome change_and_raise(struct registry *registry, struct db_call change, enum outcome outcome)
{
	struct db_call calls[] = { change, coherence_raise_call(COHERENCE_TRAITS) };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	coherence_raised(registry, COHERENCE_TRAITS, &calls[1]);
	return outcome;
}

static enum outcome fail_used(struct registry *registry, struct str name, const struct db_rows *users, const struct type **user)
{
	*user = type_by_id(registry, sql_trait_seen_user_row(users, 0)->type_id);
	if (*user == NULL)
		return OUTCOME_INTERNAL;
	struct str type = type_name(registry->pool, *user);
	return registry_fail(registry, OUTCOME_CONFLICT, "The trait %.*s is in use by a resource of the type %.*s: take it off there first.",
		STR_ARG(name), STR_ARG(type));
}

enum outcome trait_delete(struct registry *registry, struct str name, const struct type **user)
{
	assert(db_txn_writes(registry->db));
	*user = NULL;
	struct pool *pool = registry->pool;
	const struct sql_trait_by_name own = { .name = name };
	const struct sql_trait_seen_user seen_user = { .name = name };
	const struct sql_trait_user any_user = { .name = name };
	struct db_call calls[] = {
		sql_trait_by_name_call(pool, SQL_TRAIT_READ_LOCKING, &own),
		coherence_lock_call(),
		sql_trait_seen_user_call(pool, &seen_user),
		sql_trait_user_call(pool, &any_user),
	};
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	// A run after an uncertain COMMIT can't recognize its work, since traits leave no change row. It finds no trait, and that
	// is what was asked for. Other processes were not told of the revision that COMMIT raised, so they ask.
	if (calls[0].rows.n == 0 && db_txn_commit_was_lost(registry->db)) {
		coherence_invalidate(registry);
		return OUTCOME_NO_CONTENT;
	}
	if (calls[0].rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	if (!trait_is_custom(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "%.*s is a standard trait, which stays", STR_ARG(name));
	if (calls[2].rows.n > 0)
		return fail_used(registry, name, &calls[2].rows, user);
	// A deleted resource that has it can be recovered, so the trait is hidden and not removed.
	uint64_t id = sql_trait_by_name_row(&calls[0].rows, 0)->t.id;
	const struct sql_trait_hide hide = { .id = id };
	const struct sql_trait_delete delete = { .id = id };
	struct db_call change =
		calls[3].rows.n > 0 ? sql_trait_hide_call(pool, &hide) : sql_trait_delete_call(pool, &delete);
	return change_and_raise(registry, change, OUTCOME_NO_CONTENT);
}

enum outcome trait_describe(struct registry *registry, struct str name, const struct trait_about *about, struct trait *trait)
{
	struct db_rows rows;

	assert(db_txn_writes(registry->db));
	if (about->sets_description &&
	    (!str_utf8_ok(about->description, NULL) || str_utf8_length(about->description) > TRAIT_MAX_DESCRIPTION))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "a description is up to %d characters of UTF-8",
			TRAIT_MAX_DESCRIPTION);
	enum db_result result = read_one(registry, name, SQL_TRAIT_READ_LOCKING, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	const struct trait before = trait_of_columns(&sql_trait_by_name_row(&rows, 0)->t);
	*trait = before;
	if (about->sets_description)
		trait->description = about->description;
	if (about->sets_deprecated)
		trait->deprecated = about->deprecated;
	if (str_eq(trait->description, before.description) && trait->deprecated == before.deprecated)
		return OUTCOME_OK;
	trait->updated_us = registry->now_us;
	const struct sql_trait_describe in = {
		.id = trait->id,
		.description = trait->description,
		.deprecated = trait->deprecated ? 1 : 0,
		.now = trait->updated_us,
	};
	return change_and_raise(registry, sql_trait_describe_call(registry->pool, &in), OUTCOME_OK);
}
