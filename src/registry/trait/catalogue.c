// SPDX-License-Identifier: Apache-2.0
// The catalogue of traits: what a worker holds of it; and how it learns that what it holds of any catalogue is no more.
#include "base/base.h"

#include "registry/trait/catalogue.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "base/budget.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/internal.h"
#include "sql/catalogues.h"
#include "sql/traits.h"

enum { ASK_AFTER_US = 500000 };

// Their names in the database. Its statements choose between them by the same numbers.
static const char *const catalogue_names[] = { [CATALOGUE_TRAITS] = "traits", [CATALOGUE_TYPES] = "types" };
static_assert((int)CATALOGUE_TRAITS == (int)SQL_CATALOGUE_TRAITS && (int)CATALOGUE_TYPES == (int)SQL_CATALOGUE_TYPES &&
		      (int)CATALOGUE__N == (int)SQL_CATALOGUE__N,
	"the same numbers");

struct catalogue_shared {
	_Atomic uint64_t newest[CATALOGUE__N]; // revisions; 0: not known yet
	_Atomic int64_t asked_us; // clock_tick_us of when the database was asked last; 0: never, or in vain
};
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_LONG_LOCK_FREE == 2, "processes share them");

struct held {
	struct pool *pool; // in which the rest is
	struct trait *list; // in byte order of names
	size_t n;
	uint64_t revision; // 0: nothing is held
};
struct catalogue {
	struct held held;
	uint64_t raised[CATALOGUE__N]; // what the running transaction has made of a revision; 0: it has changed nothing
	struct catalogue_shared *shared;
	struct catalogue_shared own; // of a process that shares with none
};

struct catalogue *catalogue_new(void)
{
	struct catalogue *catalogue = calloc(1, sizeof(*catalogue));

	if (catalogue != NULL)
		catalogue->shared = &catalogue->own;
	return catalogue;
}

void catalogue_free(struct catalogue **catalogue)
{
	if (*catalogue == NULL)
		return;
	pool_free(&(*catalogue)->held.pool);
	free(*catalogue);
	*catalogue = NULL;
}

// ---- what the processes of a master share

struct catalogue_shared *catalogue_share(void)
{
	void *memory = mmap(NULL, sizeof(struct catalogue_shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory != MAP_FAILED ? memory : NULL; // zeroed
}

void catalogue_unshare(struct catalogue_shared **shared)
{
	if (*shared != NULL)
		(void)munmap(*shared, sizeof(**shared));
	*shared = NULL;
}

void catalogue_join(struct registry *registry, struct catalogue_shared *shared)
{
	if (shared != NULL)
		registry->catalogue->shared = shared;
}

static void raise_newest(_Atomic uint64_t *shared, uint64_t revision)
{
	uint64_t newest = atomic_load(shared);

	while (newest < revision && !atomic_compare_exchange_weak(shared, &newest, revision))
		;
}

// before: the newest one when the database was asked. What it says can only be less when it went back, as by a dump
// that was restored: then nothing that was raised since is lost.
static void note_revision(_Atomic uint64_t *shared, uint64_t before, uint64_t revision)
{
	if (revision >= before)
		raise_newest(shared, revision);
	else
		(void)atomic_compare_exchange_strong(shared, &before, revision);
}

static void note_revisions(struct catalogue_shared *shared, const uint64_t before[CATALOGUE__N], const struct db_rows *rows)
{
	for (size_t k = 0; k < rows->n; k++) {
		const struct sql_catalogue_revisions_row *row = sql_catalogue_revisions_row(rows, k);
		for (size_t i = 0; i < CATALOGUE__N; i++) {
			if (str_eq_c(row->name, catalogue_names[i]))
				note_revision(&shared->newest[i], before[i], row->revision);
		}
	}
}

void catalogue_doubt(struct registry *registry)
{
	atomic_store(&registry->catalogue->shared->asked_us, 0);
}

// One process asks while the others go on with what they know.
enum outcome catalogue_ask(struct registry *registry)
{
	struct catalogue_shared *shared = registry->catalogue->shared;
	int64_t asked_us = atomic_load(&shared->asked_us), now_us = clock_tick_us();
	uint64_t before[CATALOGUE__N];
	struct db_rows rows;

	if (asked_us != 0 && now_us - asked_us < ASK_AFTER_US)
		return OUTCOME_OK;
	if (!atomic_compare_exchange_strong(&shared->asked_us, &asked_us, now_us))
		return OUTCOME_OK;
	for (size_t i = 0; i < CATALOGUE__N; i++)
		before[i] = atomic_load(&shared->newest[i]);
	enum db_result result = sql_catalogue_revisions_run(registry->db, registry->pool, &rows);
	if (result != DB_OK || rows.n == 0) {
		atomic_store(&shared->asked_us, 0);
		return result != DB_OK ? registry_db_failed(result) : OUTCOME_INTERNAL;
	}
	note_revisions(shared, before, &rows);
	return OUTCOME_OK;
}

uint64_t catalogue_newest(const struct registry *registry, enum catalogue_of of)
{
	return atomic_load(&registry->catalogue->shared->newest[of]);
}

void catalogue_note(struct registry *registry, enum catalogue_of of, uint64_t revision)
{
	raise_newest(&registry->catalogue->shared->newest[of], revision);
}

bool catalogue_is_raised(const struct registry *registry, enum catalogue_of of)
{
	return registry->catalogue->raised[of] != 0;
}

void catalogue_begin(struct registry *registry)
{
	memset(registry->catalogue->raised, 0, sizeof(registry->catalogue->raised));
}

struct db_call catalogue_raise_call(enum catalogue_of of)
{
	return sql_catalogue_raise_call(NULL, (enum sql_catalogue)of); // without parameters it needs no pool
}

void catalogue_raised(struct registry *registry, enum catalogue_of of, const struct db_call *call)
{
	registry->catalogue->raised[of] = call->rows.insert_id;
}

enum outcome catalogue_raise(struct registry *registry, enum catalogue_of of)
{
	struct db_call call = catalogue_raise_call(of);
	enum db_result result = db_run_batch(registry->db, registry->pool, &call, 1);

	if (result != DB_OK)
		return registry_db_failed(result);
	catalogue_raised(registry, of, &call);
	return OUTCOME_OK;
}

struct db_call catalogue_hold_call(void)
{
	return sql_catalogue_lock_traits_call(NULL);
}

void catalogue_committed(struct registry *registry)
{
	struct catalogue *catalogue = registry->catalogue;

	for (size_t i = 0; i < CATALOGUE__N; i++) {
		if (catalogue->raised[i] != 0)
			raise_newest(&catalogue->shared->newest[i], catalogue->raised[i]);
		catalogue->raised[i] = 0;
	}
}

// ---- what is held

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

static enum outcome load_into(struct registry *registry, struct pool *pool, struct held *held)
{
	struct db_rows rows;
	enum db_result result = sql_trait_list_run(registry->db, pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_INTERNAL; // the row of the revision belongs to the schema
	*held = (struct held){ .pool = pool, .revision = sql_trait_list_row(&rows, 0)->revision };
	held->list = POOL_ARRAY(pool, struct trait, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_trait_list_row *row = sql_trait_list_row(&rows, i);
		if (row->id_is_null)
			continue; // the revision, of a catalogue without any
		held->list[held->n++] = (struct trait){
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
	struct catalogue *catalogue = registry->catalogue;
	struct held held = { .n = 0 };
	struct pool *pool = pool_new();

	if (pool == NULL)
		return OUTCOME_UNAVAILABLE;
	// All requests use it, so it isn't this one's.
	budget_hold();
	budget_pause();
	enum outcome outcome = load_into(registry, pool, &held);
	budget_resume();
	budget_release();
	if (outcome != OUTCOME_OK) {
		pool_free(&pool);
		return outcome;
	}
	pool_free(&catalogue->held.pool);
	catalogue->held = held;
	catalogue_note(registry, CATALOGUE_TRAITS, held.revision);
	return OUTCOME_OK;
}

// *held: the newest catalogue that is known of. What the running transaction made of it may be rolled back: it is read
// for once, and not held.
static enum outcome freshen(struct registry *registry, const struct held **held)
{
	struct catalogue *catalogue = registry->catalogue;

	*held = &catalogue->held;
	if (catalogue_is_raised(registry, CATALOGUE_TRAITS)) {
		struct held *once = POOL_NEW(registry->pool, struct held);
		*held = once;
		return load_into(registry, registry->pool, once);
	}
	enum outcome outcome = catalogue_ask(registry);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (catalogue->held.revision != 0 && catalogue->held.revision == catalogue_newest(registry, CATALOGUE_TRAITS))
		return OUTCOME_OK;
	return load(registry);
}

static int by_name(const void *name, const void *trait)
{
	return str_cmp(*(const struct str *)name, ((const struct trait *)trait)->name);
}

static const struct trait *find(const struct held *held, struct str name)
{
	return held->n > 0 ? bsearch(&name, held->list, held->n, sizeof(*held->list), by_name) : NULL;
}

// ---- reading

// From the database, no row or one.
static enum db_result read_one(struct registry *registry, struct str name, enum sql_trait_read how, struct db_rows *rows)
{
	const struct sql_trait_by_name in = { .name = name };

	return sql_trait_by_name_run(registry->db, registry->pool, how, &in, rows);
}

enum outcome trait_get(struct registry *registry, struct str name, struct trait *trait)
{
	const struct held *held;
	struct db_rows rows;
	enum outcome outcome = freshen(registry, &held);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct trait *found = find(held, name);
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
	registry->catalogue->held.revision = 0; // others have made it since
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

struct sieve {
	const struct trait_query *query;
	struct str *names; // sorted
	struct db_rows used; // of trait_used, sorted by id
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
	const struct held *held;
	struct sieve sieve;
	enum outcome outcome = freshen(registry, &held);

	*n = 0;
	if (outcome == OUTCOME_OK)
		outcome = make_sieve(registry, query, &sieve);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (query->prefix.n == 0 && !query->named && query->use == TRAITS_ANY) {
		*list = held->list;
		*n = held->n;
		return OUTCOME_OK;
	}
	struct trait *passing = POOL_ARRAY(registry->pool, struct trait, held->n);
	for (size_t i = 0; i < held->n; i++) {
		if (passes(&sieve, &held->list[i]))
			passing[(*n)++] = held->list[i];
	}
	*list = passing;
	return OUTCOME_OK;
}

// ---- writing

enum outcome trait_put(struct registry *registry, struct str name)
{
	const struct sql_trait_insert insert = { .name = name, .now = registry->now_us };
	const struct sql_trait_make_anew anew = { .name = name, .now = registry->now_us };
	struct db_rows rows = { .n = 0 };

	if (!trait_is_custom(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"a custom trait's name is CUSTOM_ and A-Z, 0-9 and _ behind it, %d at most; standard ones come with the service",
			TRAIT_MAX_NAME);
	// What is held only tells which statement is likely to be enough.
	if (find(&registry->catalogue->held, name) != NULL) {
		enum db_result result = read_one(registry, name, SQL_TRAIT_READ_PLAIN, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n > 0)
			return OUTCOME_OK;
	}
	struct db_call calls[] = {
		sql_trait_insert_call(registry->pool, &insert),
		sql_trait_make_anew_call(registry->pool, &anew),
		catalogue_raise_call(CATALOGUE_TRAITS),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	catalogue_raised(registry, CATALOGUE_TRAITS, &calls[2]);
	return calls[0].result == DB_DUPLICATE && calls[1].rows.affected == 0 ? OUTCOME_OK : OUTCOME_CREATED;
}

static enum outcome change_and_raise(struct registry *registry, struct db_call change, enum outcome outcome)
{
	struct db_call calls[] = { change, catalogue_raise_call(CATALOGUE_TRAITS) };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	catalogue_raised(registry, CATALOGUE_TRAITS, &calls[1]);
	return outcome;
}

enum outcome trait_delete(struct registry *registry, struct str name)
{
	struct pool *pool = registry->pool;
	const struct sql_trait_by_name own = { .name = name };
	const struct sql_trait_seen_user seen_user = { .name = name };
	const struct sql_trait_user user = { .name = name };
	struct db_call calls[] = {
		sql_trait_by_name_call(pool, SQL_TRAIT_READ_LOCKING, &own),
		catalogue_hold_call(),
		sql_trait_seen_user_call(pool, &seen_user),
		sql_trait_user_call(pool, &user),
	};
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	if (!trait_is_custom(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "%.*s is a standard trait, which stays", STR_ARG(name));
	if (calls[2].rows.n > 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "resources have the trait %.*s: take it off them first",
			STR_ARG(name));
	// Hidden while a deleted resource has it, which can be recovered.
	uint64_t id = sql_trait_by_name_row(&calls[0].rows, 0)->t.id;
	const struct sql_trait_hide hide = { .id = id };
	const struct sql_trait_delete delete = { .id = id };
	struct db_call change =
		calls[3].rows.n > 0 ? sql_trait_hide_call(pool, &hide) : sql_trait_delete_call(pool, &delete);
	return change_and_raise(registry, change, OUTCOME_NO_CONTENT);
}

enum outcome trait_describe(struct registry *registry, struct str name, struct str description, bool deprecated)
{
	struct db_rows rows;

	if (!str_utf8_ok(description, NULL) || str_utf8_length(description) > TRAIT_MAX_DESCRIPTION)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "a description is up to %d characters of UTF-8",
			TRAIT_MAX_DESCRIPTION);
	enum db_result result = read_one(registry, name, SQL_TRAIT_READ_LOCKING, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	struct trait trait = trait_of_columns(&sql_trait_by_name_row(&rows, 0)->t);
	if (str_eq(trait.description, description) && trait.deprecated == deprecated)
		return OUTCOME_OK;
	const struct sql_trait_describe in = {
		.id = trait.id,
		.description = description,
		.deprecated = deprecated ? 1 : 0,
		.now = registry->now_us,
	};
	return change_and_raise(registry, sql_trait_describe_call(registry->pool, &in), OUTCOME_OK);
}
