// SPDX-License-Identifier: Apache-2.0
// How a worker learns that its cached traits and definitions are stale.
#include "base/base.h"

#include <stdatomic.h>

#include "registry/cache/coherence.h"

#include "base/clock.h"
#include "base/shared.h"
#include "db/db.h"
#include "registry/core/failure.h"
#include "sql/catalogues.h"

enum { ASK_AFTER_US = 500000 };

// The names of the rows of table `catalogues`. Its statements choose a row by the same numbers as enum coherence_of.
static const char *const coherence_names[] = { [COHERENCE_TRAITS] = "traits", [COHERENCE_TYPES] = "types",
	[COHERENCE_SCHEMA] = "schema" };
static_assert((int)COHERENCE_TRAITS == (int)SQL_CATALOGUE_TRAITS && (int)COHERENCE_TYPES == (int)SQL_CATALOGUE_TYPES &&
		      (int)COHERENCE_SCHEMA == (int)SQL_CATALOGUE_SCHEMA &&
		      (int)COHERENCE__N == (int)SQL_CATALOGUE__N,
	"the same numbers");

// The area SHARED_COHERENCE. If it is lost, or its content is wrong, the next answer of the database corrects it.
struct revisions {
	_Atomic uint64_t newest[COHERENCE__N]; // revisions; 0: not known yet
	_Atomic int64_t asked_us; // clock_tick_us() when the database was last asked; 0: never, or it did not answer
};
// processes share them, so they must be lock-free
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_LONG_LOCK_FREE == 2, "processes share them");

struct coherence {
	const struct shared *host; // NULL: the process shares nothing
	struct revisions own;      // for such a process
};

struct coherence *coherence_new(void)
{
	return calloc(1, sizeof(struct coherence));
}

void coherence_free(struct coherence **coherence)
{
	free(*coherence);
	*coherence = NULL;
}

// ---- what the processes of a host share

void coherence_join(struct registry_store *store, const struct shared *host)
{
	db_join(store->db, host);
	store->coherence->host = host;
}

// The area may move (shared_refresh), so nothing keeps a pointer to it.
static struct revisions *revisions_of(const struct registry *registry)
{
	struct coherence *coherence = registry->store->coherence;

	return coherence->host != NULL ? shared_area(coherence->host, SHARED_COHERENCE, sizeof(struct revisions)) : &coherence->own;
}

static void raise_newest(_Atomic uint64_t *shared, uint64_t revision)
{
	uint64_t newest = atomic_load(shared);

	while (newest < revision && !atomic_compare_exchange_weak(shared, &newest, revision))
		;
}

// before: the newest known revision when the database was asked. A smaller answer means that the database went back, for
// example because a dump was restored. Then the smaller one is taken, unless another process has raised the revision meanwhile.
static void note_revision(_Atomic uint64_t *shared, uint64_t before, uint64_t revision)
{
	if (revision >= before)
		raise_newest(shared, revision);
	else
		(void)atomic_compare_exchange_strong(shared, &before, revision);
}

static void note_revisions(struct revisions *shared, const uint64_t before[COHERENCE__N], const struct db_rows *rows)
{
	for (size_t k = 0; k < rows->n; k++) {
		const struct sql_catalogue_revisions_row *row = sql_catalogue_revisions_row(rows, k);
		for (size_t i = 0; i < COHERENCE__N; i++) {
			if (str_eq_c(row->name, coherence_names[i]))
				note_revision(&shared->newest[i], before[i], row->revision);
		}
	}
}

void coherence_invalidate(struct registry *registry)
{
	atomic_store(&revisions_of(registry)->asked_us, 0);
}

// A snapshot has the revisions of its beginning. What it reads must not lower a revision that a process has raised meanwhile, and
// does not count as an answer for other processes.
static enum outcome ask_in_snapshot(struct registry *registry)
{
	const uint64_t none[COHERENCE__N] = { 0 };
	struct db_rows rows;

	if (registry->asked_in_snapshot)
		return OUTCOME_OK;
	enum db_result result = sql_catalogue_revisions_run(registry->db, registry->pool, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	note_revisions(revisions_of(registry), none, &rows);
	registry->asked_in_snapshot = true;
	return OUTCOME_OK;
}

// Only the process that sets asked_us asks; the others go on with the revisions they know.
enum outcome coherence_ask(struct registry *registry)
{
	struct revisions *shared = revisions_of(registry);
	int64_t asked_us = atomic_load(&shared->asked_us), now_us = clock_tick_us();
	uint64_t before[COHERENCE__N];
	struct db_rows rows;

	// A time in the future is a damaged one.
	if (asked_us != 0 && asked_us <= now_us && now_us - asked_us < ASK_AFTER_US)
		return OUTCOME_OK;
	if (db_txn_is_snapshot(registry->db))
		return ask_in_snapshot(registry);
	if (!atomic_compare_exchange_strong(&shared->asked_us, &asked_us, now_us))
		return OUTCOME_OK;
	for (size_t i = 0; i < COHERENCE__N; i++)
		before[i] = atomic_load(&shared->newest[i]);
	// What all processes of the host go by must not be older than what one of them has committed meanwhile.
	bool used = db_use_writer(registry->db, true);
	enum db_result result = sql_catalogue_revisions_run(registry->db, registry->pool, &rows);
	(void)db_use_writer(registry->db, used);
	if (result != DB_OK || rows.n == 0) {
		// the next call asks again
		atomic_store(&shared->asked_us, 0);
		return result != DB_OK ? registry_db_failed(result) : OUTCOME_INTERNAL;
	}
	note_revisions(shared, before, &rows);
	return OUTCOME_OK;
}

uint64_t coherence_newest(const struct registry *registry, enum coherence_of of)
{
	assert(of < COHERENCE__N);
	return atomic_load(&revisions_of(registry)->newest[of]);
}

void coherence_note(struct registry *registry, enum coherence_of of, uint64_t revision)
{
	assert(of < COHERENCE__N);
	raise_newest(&revisions_of(registry)->newest[of], revision);
}

bool coherence_is_raised(const struct registry *registry, enum coherence_of of)
{
	assert(of < COHERENCE__N);
	return registry->raised[of] != 0;
}

void coherence_begin(struct registry *registry)
{
	memset(registry->raised, 0, sizeof(registry->raised));
	registry->asked_in_snapshot = false;
}

struct db_call coherence_raise_call(enum coherence_of of)
{
	assert(of < COHERENCE__N);
	return sql_catalogue_raise_call(NULL, (enum sql_catalogue)of); // a statement without parameters needs no pool
}

void coherence_raised(struct registry *registry, enum coherence_of of, const struct db_call *call)
{
	assert(of < COHERENCE__N);
	registry->raised[of] = call->rows.insert_id;
}

enum outcome coherence_raise(struct registry *registry, enum coherence_of of)
{
	struct db_call call = coherence_raise_call(of);
	enum db_result result = db_run_batch(registry->db, registry->pool, &call, 1);

	if (result != DB_OK)
		return registry_db_failed(result);
	coherence_raised(registry, of, &call);
	return OUTCOME_OK;
}

struct db_call coherence_lock_call(void)
{
	return sql_catalogue_lock_traits_call(NULL);
}

void coherence_committed(struct registry *registry)
{
	assert(!db_txn_writes(registry->db));
	for (size_t i = 0; i < COHERENCE__N; i++) {
		if (registry->raised[i] != 0)
			raise_newest(&revisions_of(registry)->newest[i], registry->raised[i]);
		registry->raised[i] = 0;
	}
}
