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

enum { ASK_AFTER_US = 500000 };

#define TRAIT_COLUMNS "t.id, t.name, t.description, t.deprecated, t.created_at, t.updated_at"
#define TRAIT_OUT "ussutt"

// One statement, so that the rows are those of the revision.
static const struct db_query q_all = {
	"SELECT c.revision, " TRAIT_COLUMNS " FROM catalogues c LEFT JOIN traits t ON t.live = 1 WHERE c.name = 'traits' "
	"ORDER BY t.name",
	"", "u" TRAIT_OUT
};
static const struct db_query q_revisions = { "SELECT name, revision FROM catalogues", "", "su" };
static const struct db_query q_hold = { "SELECT revision FROM catalogues WHERE name = 'traits' FOR UPDATE", "", "u" };
static const struct db_query q_one = {
	"SELECT " TRAIT_COLUMNS " FROM traits t WHERE t.name = ? AND t.live = 1", "s", TRAIT_OUT
};
// A look into the index for each; EXISTS would be turned into a join that begins with all resources.
static const struct db_query q_used = {
	"SELECT t.id FROM traits t WHERE (SELECT r.id FROM resource_traits x STRAIGHT_JOIN " SEEN_OF_X
	" WHERE x.trait_id = t.id AND (? OR r.type_id = ?) LIMIT 1) > 0 ORDER BY t.id",
	"uu", "u"
};
#define RAISE(name) \
	{ "UPDATE catalogues SET revision = LAST_INSERT_ID(revision + 1) WHERE name = '" name "'", "", "" }
static const char *const catalogue_names[] = { [CATALOGUE_TRAITS] = "traits", [CATALOGUE_TYPES] = "types" };
static const struct db_query q_raise[] = { [CATALOGUE_TRAITS] = RAISE("traits"), [CATALOGUE_TYPES] = RAISE("types") };
static const struct db_query q_insert = {
	"INSERT INTO traits (name, created_at, updated_at) VALUES (?, ?, ?)", "stt", ""
};
// One that was hidden, as if it were new.
static const struct db_query q_make_anew = {
	"UPDATE traits SET live = 1, description = '', deprecated = FALSE, created_at = ?, updated_at = ? "
	"WHERE name = ? AND live IS NULL",
	"tts", ""
};
static const struct db_query q_lock = {
	"SELECT " TRAIT_COLUMNS " FROM traits t WHERE t.name = ? AND t.live = 1 FOR UPDATE", "s", TRAIT_OUT
};
// Who is seen to have it; who has it.
static const struct db_query q_user = {
	"SELECT r.id FROM traits t STRAIGHT_JOIN resource_traits x FORCE INDEX (trait) ON x.trait_id = t.id "
	"STRAIGHT_JOIN " SEEN_OF_X
	" WHERE t.name = ? LIMIT 1",
	"s", "u"
};
static const struct db_query q_holder = {
	"SELECT x.resource_id FROM traits t STRAIGHT_JOIN resource_traits x FORCE INDEX (trait) ON x.trait_id = t.id "
	"WHERE t.name = ? LIMIT 1",
	"s", "u"
};
static const struct db_query q_delete = { "DELETE FROM traits WHERE id = ?", "u", "" };
static const struct db_query q_hide = { "UPDATE traits SET live = NULL WHERE id = ?", "u", "" };
static const struct db_query q_describe = {
	"UPDATE traits SET description = ?, deprecated = ?, updated_at = ? WHERE id = ?", "sutu", ""
};

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
	for (size_t row = 0; row < rows->n; row++) {
		for (size_t i = 0; i < CATALOGUE__N; i++) {
			if (str_eq_c(db_at(rows, row, 0)->s, catalogue_names[i]))
				note_revision(&shared->newest[i], before[i], db_at(rows, row, 1)->u);
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
	enum db_result result = db_run(registry->db, registry->pool, &q_revisions, NULL, &rows);
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
	return (struct db_call){ .query = &q_raise[of] };
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
	return (struct db_call){ .query = &q_hold };
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

static struct trait trait_from_row(const struct db_value *v)
{
	return (struct trait){
		.id = v[0].u,
		.name = v[1].s,
		.description = v[2].s,
		.deprecated = v[3].u != 0,
		.created_us = v[4].i,
		.updated_us = v[5].i,
	};
}

static enum outcome load_into(struct registry *registry, struct pool *pool, struct held *held)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, pool, &q_all, NULL, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_INTERNAL; // the row of the revision belongs to the schema
	*held = (struct held){ .pool = pool, .revision = db_at(&rows, 0, 0)->u };
	held->list = POOL_ARRAY(pool, struct trait, rows.n);
	for (size_t i = 0; i < rows.n; i++) {
		if (!db_at(&rows, i, 1)->null)
			held->list[held->n++] = trait_from_row(db_at(&rows, i, 1));
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
	enum db_result result = db_run(registry->db, registry->pool, &q_one, DB_IN(db_s(name)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	registry->catalogue->held.revision = 0; // others have made it since
	*trait = trait_from_row(db_at(&rows, 0, 0));
	return OUTCOME_OK;
}

static int by_str(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static int by_id(const void *id, const void *value)
{
	uint64_t a = *(const uint64_t *)id, b = ((const struct db_value *)value)->u;

	return a < b ? -1 : a > b;
}

struct sieve {
	const struct trait_query *query;
	struct str *names; // sorted
	struct db_rows used; // ids, sorted
};

static enum outcome make_sieve(struct registry *registry, const struct trait_query *query, struct sieve *sieve)
{
	uint64_t type_id = query->user != NULL ? query->user->id : 0;

	*sieve = (struct sieve){ .query = query };
	if (query->named && query->n_names > 0) {
		sieve->names = POOL_ARRAY(registry->pool, struct str, query->n_names);
		memcpy(sieve->names, query->names, query->n_names * sizeof(*query->names));
		qsort(sieve->names, query->n_names, sizeof(*sieve->names), by_str);
	}
	if (query->use == TRAITS_ANY)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_used,
		DB_IN(db_u(query->user == NULL ? 1 : 0), db_u(type_id)), &sieve->used);
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
		    bsearch(&trait->id, sieve->used.values, sieve->used.n, sizeof(*sieve->used.values), by_id) != NULL;
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
	struct db_value now = db_t(registry->now_us);
	struct db_rows rows = { .n = 0 };

	if (!trait_is_custom(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"a custom trait's name is CUSTOM_ and A-Z, 0-9 and _ behind it, %d at most; standard ones come with the service",
			TRAIT_MAX_NAME);
	// What is held only tells which statement is likely to be enough.
	if (find(&registry->catalogue->held, name) != NULL) {
		enum db_result result = db_run(registry->db, registry->pool, &q_one, DB_IN(db_s(name)), &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		if (rows.n > 0)
			return OUTCOME_OK;
	}
	struct db_call calls[] = {
		{ .query = &q_insert, .in = DB_IN(db_s(name), now, now) },
		{ .query = &q_make_anew, .in = DB_IN(now, now, db_s(name)) },
		catalogue_raise_call(CATALOGUE_TRAITS),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	catalogue_raised(registry, CATALOGUE_TRAITS, &calls[2]);
	return calls[0].result == DB_DUPLICATE && calls[1].rows.affected == 0 ? OUTCOME_OK : OUTCOME_CREATED;
}

static enum outcome change_and_raise(struct registry *registry, const struct db_query *query, const struct db_value *in,
	enum outcome outcome)
{
	struct db_call calls[] = { { .query = query, .in = in }, catalogue_raise_call(CATALOGUE_TRAITS) };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	catalogue_raised(registry, CATALOGUE_TRAITS, &calls[1]);
	return outcome;
}

enum outcome trait_delete(struct registry *registry, struct str name)
{
	struct db_call calls[] = {
		{ .query = &q_lock, .in = DB_IN(db_s(name)) },
		catalogue_hold_call(),
		{ .query = &q_user, .in = DB_IN(db_s(name)) },
		{ .query = &q_holder, .in = DB_IN(db_s(name)) },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (calls[0].rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	if (!trait_is_custom(name))
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "%.*s is a standard trait, which stays", STR_ARG(name));
	if (calls[2].rows.n > 0)
		return registry_fail(registry, OUTCOME_CONFLICT, "resources have the trait %.*s: take it off them first",
			STR_ARG(name));
	return change_and_raise(registry, calls[3].rows.n > 0 ? &q_hide : &q_delete,
		DB_IN(db_u(db_at(&calls[0].rows, 0, 0)->u)), OUTCOME_NO_CONTENT);
}

enum outcome trait_describe(struct registry *registry, struct str name, struct str description, bool deprecated)
{
	struct db_rows rows;

	if (!str_utf8_ok(description, NULL) || str_utf8_length(description) > TRAIT_MAX_DESCRIPTION)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER, "a description is up to %d characters of UTF-8",
			TRAIT_MAX_DESCRIPTION);
	enum db_result result = db_run(registry->db, registry->pool, &q_lock, DB_IN(db_s(name)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no trait %.*s", STR_ARG(name));
	struct trait trait = trait_from_row(db_at(&rows, 0, 0));
	if (str_eq(trait.description, description) && trait.deprecated == deprecated)
		return OUTCOME_OK;
	return change_and_raise(registry, &q_describe,
		DB_IN(db_s(description), db_u(deprecated ? 1 : 0), db_t(registry->now_us), db_u(trait.id)), OUTCOME_OK);
}
