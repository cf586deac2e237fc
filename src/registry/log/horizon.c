// SPDX-License-Identifier: Apache-2.0
// Finds the horizon. horizon.h has the states and the conditions. Measured on MariaDB 10.11: SHOW PROCESSLIST shows the text of
// a prepared statement, whether executed alone, in a batch or in bulk, from before it is given an id until after its row is
// inserted.
#include "base/base.h"

#include "base/memory.h"
#include "registry/log/horizon.h"

#include <strings.h>

#include "base/log.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/core/failure.h"
#include "sql/horizon.h"
#include "sql/session.h"

enum {
	ROWS = 10000,      // ids read by one statement
	PAGES = 10,        // such statements in one horizon_ask()
	HELD_ASKS = 20,    // a transaction that was in flight at so many asks in a row counts as a long one
	OF_TWO = 10000,    // changes of two tenants read by one statement
};

struct horizon {
	uint64_t published; // as last read from the database
	uint64_t reached;   // >= published
	uint64_t settled;   // >= reached
	uint64_t newest;    // the highest committed id, as last read; >= published
	uint64_t sessions;  // db_sessions() when these three were found: another value means another connection
	// The question that is being asked; ceiling 0: none.
	uint64_t ceiling;
	uint64_t *waited;   // ids of the connections whose statements must end first
	size_t n_waited, room;
	uint64_t open;      // the first id in flight above reached, as of the last look; 0: none
	unsigned held_asks; // for how many questions in a row open has been the same
	// committed changes above reached, as far as counted
	size_t backlog;
	bool warned;        // the log already says that a writer cannot be seen
};

struct horizon *horizon_new(void)
{
	return calloc(1, sizeof(struct horizon));
}

void horizon_free(struct horizon **horizon)
{
	if (*horizon == NULL)
		return;
	free((*horizon)->waited);
	free(*horizon);
	*horizon = NULL;
}

uint64_t horizon_published(const struct registry *registry)
{
	return registry->store->horizon->published;
}

uint64_t horizon_settled(const struct registry *registry)
{
	return registry->store->horizon->settled;
}

bool horizon_is_asking(const struct registry *registry)
{
	return registry->store->horizon->ceiling != 0;
}

bool horizon_is_held(const struct registry *registry)
{
	return registry->store->horizon->held_asks >= HELD_ASKS;
}

size_t horizon_backlog(const struct registry *registry)
{
	return registry->store->horizon->backlog;
}

struct db_call horizon_newest_change_call(struct registry *registry)
{
	return sql_horizon_newest_call(registry->pool);
}

uint64_t horizon_newest_change(const struct db_call *call)
{
	return call->rows.n > 0 ? sql_horizon_newest_row(&call->rows, 0)->newest : 0;
}

// ---- who writes

enum outcome horizon_join(struct registry *registry)
{
	struct db_rows joined;
	enum db_result result = sql_horizon_joined_run(registry->db, registry->pool, &joined);

	if (result == DB_OK && sql_horizon_joined_row(&joined, 0)->n == 0)
		result = sql_horizon_join_run(registry->db, registry->pool, NULL);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Sets *well if this connection can see the statements of every writer: all have its own user, or it has the privilege PROCESS.
static enum outcome check_sight(struct registry *registry, const struct sql_horizon_unseen_row *unseen, bool *well)
{
	struct horizon *horizon = registry->store->horizon;
	struct db_rows rights;

	*well = unseen->n == 0;
	if (*well)
		return OUTCOME_OK;
	enum db_result result = sql_horizon_may_see_run(registry->db, registry->pool, &rights);
	if (result != DB_OK)
		return registry_db_failed(result);
	*well = sql_horizon_may_see_row(&rights, 0)->n > 0;
	if (!*well && !horizon->warned)
		log_error("watches and versions of lists stand still: the database's user %.*s writes the change log, too, and this "
			"process can't see what it executes: GRANT PROCESS ON *.* to the user of this process",
				STR_ARG(unseen->name));
	horizon->warned = !*well;
	return OUTCOME_OK;
}

// ---- one look

static bool starts_with_word(struct str text, const char *word)
{
	size_t n = strlen(word);

	return text.n > n && strncasecmp(text.p, word, n) == 0;
}

bool horizon_may_write_log(struct str command, struct str info)
{
	// Statements that begin with these words never insert into the log, whatever else they contain.
	static const char *const harmless[] = { "SELECT", "SHOW", "UPDATE", "DELETE", "SET", "(SELECT" };

	if (info.p == NULL)
		return str_eq(command, STR("Busy")) || str_eq(command, STR("Killed"));
	for (size_t i = 0; i < COUNT_OF(harmless); i++) {
		if (starts_with_word(info, harmless[i]))
			return false;
	}
	return memmem(info.p, info.n, "changes", strlen("changes")) != NULL;
}

static bool may_write_log(const struct sql_horizon_processes_row *process)
{
	return horizon_may_write_log(process->command, process->info);
}

static bool is_waited(const struct horizon *horizon, uint64_t connection)
{
	for (size_t i = 0; i < horizon->n_waited; i++) {
		if (horizon->waited[i] == connection)
			return true;
	}
	return false;
}

static void wait_for(struct horizon *horizon, uint64_t connection)
{
	if (horizon->n_waited == horizon->room) {
		size_t room = horizon->room * 2 + 16;
		uint64_t *more = realloc(horizon->waited, room * sizeof(*more));
		if (more == NULL)
			memory_end(room * sizeof(*more));
		horizon->waited = more;
		horizon->room = room;
	}
	horizon->waited[horizon->n_waited++] = connection;
}

// Keeps in waited the connections that still execute such a statement. If a connection has begun another one meanwhile, the two
// can't be told apart, so it stays.
static void wait_on(struct horizon *horizon, const struct db_rows *processes)
{
	size_t kept = 0;

	for (size_t i = 0; i < processes->n; i++) {
		const struct sql_horizon_processes_row *process = sql_horizon_processes_row(processes, i);
		if (!may_write_log(process) || !is_waited(horizon, process->id))
			continue;
		for (size_t k = kept; k < horizon->n_waited; k++) {
			if (horizon->waited[k] == process->id) {
				horizon->waited[k] = horizon->waited[kept];
				horizon->waited[kept++] = process->id;
			}
		}
	}
	horizon->n_waited = kept;
}

// If no connection is waited for any more, all ids up to the ceiling have a row or are void.
static void note_settled(struct horizon *horizon)
{
	if (horizon->n_waited > 0)
		return;
	if (horizon->ceiling > horizon->settled)
		horizon->settled = horizon->ceiling;
	horizon->ceiling = 0;
}

// Evaluates the list of processes, for the question being asked and for the next one. newest is the highest id with a row, read
// uncommitted; processes must have been read after it.
static void take_processes(struct horizon *horizon, uint64_t newest, const struct db_rows *processes)
{
	if (horizon->ceiling != 0) {
		wait_on(horizon, processes);
		note_settled(horizon);
	}
	if (horizon->ceiling != 0 || newest <= horizon->settled)
		return;
	assert(horizon->n_waited == 0);
	horizon->ceiling = newest;
	for (size_t i = 0; i < processes->n; i++) {
		const struct sql_horizon_processes_row *process = sql_horizon_processes_row(processes, i);
		if (may_write_log(process))
			wait_for(horizon, process->id);
	}
	note_settled(horizon);
}

static uint64_t id_at(const struct db_rows *ids, size_t i)
{
	return sql_horizon_ids_row(ids, i)->id;
}

static uint64_t last_of(const struct db_rows *ids)
{
	return ids->n > 0 ? id_at(ids, ids->n - 1) : 0;
}

// Returns the first id up to bound that is in flight: it stands in written but not in committed. 0: none.
static uint64_t first_open(const struct db_rows *written, const struct db_rows *committed, uint64_t bound)
{
	size_t k = 0;

	for (size_t i = 0; i < written->n; i++) {
		uint64_t id = id_at(written, i);
		if (id > bound)
			return 0;
		while (k < committed->n && id_at(committed, k) < id)
			k++;
		if (k == committed->n || id_at(committed, k) != id)
			return id;
	}
	return 0;
}

// Returns how far both lists can be compared. A list with limit rows may have been cut off, so it counts up to its last id
// only; and no id above settled counts.
static uint64_t bound_of(const struct db_rows *written, const struct db_rows *committed, size_t limit, uint64_t settled)
{
	uint64_t bound = settled;

	if (written->n == limit && last_of(written) < bound)
		bound = last_of(written);
	if (committed->n == limit && last_of(committed) < bound)
		bound = last_of(committed);
	return bound;
}

// Moves reached up to the last committed id below the first in flight. *more: none is in flight, and the lists were full, so
// that there is more to read.
static void take_ids(struct horizon *horizon, const struct db_rows *written, const struct db_rows *committed, bool *more)
{
	uint64_t bound = bound_of(written, committed, ROWS, horizon->settled);
	uint64_t open = first_open(written, committed, bound), top = open != 0 ? open - 1 : bound;
	size_t n = 0;

	while (n < committed->n && id_at(committed, n) <= top)
		n++;
	if (n > 0)
		horizon->reached = id_at(committed, n - 1);
	horizon->backlog = committed->n - n;
	horizon->held_asks = open != 0 && open == horizon->open ? horizon->held_asks + 1 : 0;
	horizon->open = open;
	*more = open == 0 && n == ROWS;
}

// Is the id that holds the horizon up still in flight? It alone is read again until it is not: a large transaction has very
// many ids above it.
static bool is_still_open(const struct db_rows *written, const struct db_rows *committed)
{
	return written->n > 0 && committed->n == 0;
}

// One look: the list of processes and the ids above reached, in one round trip. The order of the statements matters: the
// ceiling is read before the processes, and the ids uncommitted before the same ids committed.
static enum outcome look(struct registry *registry, bool *more)
{
	struct horizon *horizon = registry->store->horizon;
	struct pool *pool = registry->pool;
	bool held = horizon->open != 0, well;
	enum sql_horizon_range range = held ? SQL_HORIZON_RANGE_ONE : SQL_HORIZON_RANGE_ALL;
	const struct sql_horizon_ids in = { .after = horizon->reached, .limit = ROWS, .one = horizon->open };
	enum { UNCOMMITTED, CEILING, UNSEEN, PROCESSES, UNCOMMITTED_IDS, WRITTEN, COMMITTED };
	struct db_call calls[] = {
		[UNCOMMITTED] = sql_session_read_uncommitted_call(pool),
		[CEILING] = sql_horizon_ceiling_call(pool),
		[UNSEEN] = sql_horizon_unseen_call(pool),
		[PROCESSES] = sql_horizon_processes_call(pool),
		[UNCOMMITTED_IDS] = sql_session_read_uncommitted_call(pool),
		[WRITTEN] = sql_horizon_ids_call(pool, range, &in),
		[COMMITTED] = sql_horizon_ids_call(pool, range, &in),
	};
	const struct db_rows *written = &calls[WRITTEN].rows, *committed = &calls[COMMITTED].rows;
	enum db_result result = db_run_batch(registry->db, pool, calls, COUNT_OF(calls));

	*more = false;
	if (result != DB_OK)
		return registry_db_failed(result);
	enum outcome outcome = check_sight(registry, sql_horizon_unseen_row(&calls[UNSEEN].rows, 0), &well);
	if (outcome != OUTCOME_OK || !well)
		return outcome;
	take_processes(horizon, sql_horizon_ceiling_row(&calls[CEILING].rows, 0)->id, &calls[PROCESSES].rows);
	if (!held) {
		take_ids(horizon, written, committed, more);
	} else if (is_still_open(written, committed)) {
		horizon->held_asks++;
	} else {
		horizon->open = 0;
		*more = true;
	}
	return OUTCOME_OK;
}

// ---- what others call

// Statements and rows that are in flight exist on the writer alone, so a replica would take their ids for void. What the caller
// reads up to the horizon is then the writer's, too: another server may not have it yet.
static void use_writer(struct registry *registry)
{
	(void)db_use_writer(registry->db, true);
}

static void begin_anew(struct registry *registry, uint64_t published)
{
	struct horizon *horizon = registry->store->horizon;

	horizon->published = horizon->reached = horizon->settled = published;
	horizon->sessions = db_sessions(registry->db);
	horizon->ceiling = horizon->open = 0;
	horizon->n_waited = horizon->backlog = horizon->held_asks = 0;
}

// Takes over the published horizon. A lost connection may mean that the server crashed: what was found and not published may be
// different now. The published horizon goes back only if another database was put in place of this one, and then all begins
// anew.
static void take_published(struct registry *registry, uint64_t published)
{
	struct horizon *horizon = registry->store->horizon;

	if (horizon->sessions != db_sessions(registry->db) || published < horizon->published) {
		begin_anew(registry, published);
		return;
	}
	horizon->published = published;
	if (published > horizon->reached) {
		horizon->reached = published;
		horizon->open = 0;
		horizon->held_asks = 0;
	}
	if (published > horizon->settled)
		horizon->settled = published;
}

enum outcome horizon_read(struct registry *registry, uint64_t *horizon, uint64_t *newest)
{
	assert(!db_txn_writes(registry->db));
	struct db_call call = horizon_newest_change_call(registry);
	use_writer(registry);
	enum db_result result = db_run_batch(registry->db, registry->pool, &call, 1);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (call.rows.n != 1) {
		log_error("table log_horizon has no row: it belongs to the schema");
		return OUTCOME_INTERNAL;
	}
	take_published(registry, sql_horizon_newest_row(&call.rows, 0)->published);
	if (horizon != NULL)
		*horizon = registry->store->horizon->published;
	registry->store->horizon->newest = horizon_newest_change(&call);
	if (newest != NULL)
		*newest = registry->store->horizon->newest;
	return OUTCOME_OK;
}

enum outcome horizon_ask(struct registry *registry, uint64_t *horizon, uint64_t *newest)
{
	assert(!db_txn_writes(registry->db));
	uint64_t id = 0;
	enum outcome outcome = horizon_read(registry, NULL, &id);
	bool more = outcome == OUTCOME_OK && id > registry->store->horizon->reached;

	if (!more)
		registry->store->horizon->backlog = 0;
	for (int i = 0; outcome == OUTCOME_OK && more && i < PAGES; i++)
		outcome = look(registry, &more);
	if (horizon != NULL)
		*horizon = registry->store->horizon->reached;
	if (newest != NULL)
		*newest = id;
	return outcome;
}

enum outcome horizon_publish(struct registry *registry)
{
	assert(!db_txn_writes(registry->db));
	struct horizon *horizon = registry->store->horizon;
	use_writer(registry);
	enum db_result result = sql_horizon_commit_run(registry->db, registry->pool, NULL);

	// Another connection may mean that the server crashed after what was read.
	if (result == DB_OK && horizon->sessions != db_sessions(registry->db))
		return OUTCOME_UNAVAILABLE;
	const struct sql_horizon_publish in = { .reached = horizon->reached };
	if (result == DB_OK && horizon->reached > horizon->published)
		result = sql_horizon_publish_run(registry->db, registry->pool, &in, NULL);
	if (result != DB_OK)
		return registry_db_failed(result);
	horizon->published = horizon->reached;
	return OUTCOME_OK;
}

enum outcome horizon_advance(struct registry *registry, uint64_t *horizon, uint64_t *newest)
{
	assert(!db_txn_writes(registry->db));
	enum outcome outcome = horizon_ask(registry, NULL, newest);

	if (outcome == OUTCOME_OK && registry->store->horizon->reached > registry->store->horizon->published)
		outcome = horizon_publish(registry);
	if (horizon != NULL)
		*horizon = registry->store->horizon->published;
	return outcome;
}

// The highest id up to top that is known to be committed; the list is of committed ids. Ids above it that are in flight or void
// may be given again by the next writer of a cluster: it has only applied what was committed.
static uint64_t newest_committed(const struct horizon *horizon, const struct db_rows *committed, uint64_t top)
{
	uint64_t newest = horizon->newest;

	for (size_t i = 0; i < committed->n && id_at(committed, i) <= top; i++)
		newest = id_at(committed, i) > newest ? id_at(committed, i) : newest;
	return newest < top ? newest : top;
}

enum outcome horizon_of_two(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t *horizon, bool *all)
{
	const struct horizon *held = registry->store->horizon;
	uint64_t from = after > held->reached ? after : held->reached;
	const struct sql_horizon_ids in = {
		.tenants = { { .id = tenants[0] }, { .id = tenants[1] } },
		.after = from,
		.up_to = held->settled,
		.limit = OF_TWO,
	};
	struct pool *pool = registry->pool;
	enum { UNCOMMITTED, WRITTEN, COMMITTED };
	struct db_call calls[] = {
		[UNCOMMITTED] = sql_session_read_uncommitted_call(pool),
		[WRITTEN] = sql_horizon_ids_call(pool, SQL_HORIZON_RANGE_OF_TWO, &in),
		[COMMITTED] = sql_horizon_ids_call(pool, SQL_HORIZON_RANGE_OF_TWO, &in),
	};
	const struct db_rows *written = &calls[WRITTEN].rows, *committed = &calls[COMMITTED].rows;

	assert(!db_txn_writes(registry->db));
	use_writer(registry);
	*horizon = from;
	*all = held->settled <= from;
	if (*all)
		return OUTCOME_OK;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	if (held->sessions != db_sessions(registry->db))
		return OUTCOME_UNAVAILABLE;
	uint64_t bound = bound_of(written, committed, OF_TWO, held->settled), open = first_open(written, committed, bound);
	uint64_t top = open != 0 ? open - 1 : bound;
	uint64_t known = newest_committed(held, committed, top);
	*all = top == held->settled;
	*horizon = known > from ? known : from;
	return OUTCOME_OK;
}
