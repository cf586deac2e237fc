// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/usage/usage_count.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/log/horizon.h"
#include "sql/usage.h"

enum {
	CHANGES_AT_ONCE = 5000,
	RESOURCES_AT_ONCE = 5000,
	TENANTS_AT_ONCE = 500,
	ROWS_AT_ONCE = 2000, // rows of a period that are closed, or of an old opening balance that are deleted
	CALL_US = 1000000,   // usage_count() begins no other step after this time, though there is more to do
	// Another opening balance is taken when no change without sizes was made for so long, or for a period if that is shorter.
	QUIET_S = 60,
};

// One step, which is a transaction of its own. Each run reads the row of table usage_progress anew, under its lock, and saves it
// at its end.
struct step {
	struct registry *registry;
	struct usage_counter *counter;
	uint64_t period_s; // the setting
	uint64_t horizon;  // changes up to this id are visible to all (log/horizon.h)
	struct sql_usage_progress progress;
	int64_t now_us; // the database's clock, read with progress
	bool idle;      // there was nothing to do
	bool unsized;   // the step has met a change without sizes
	enum outcome outcome;
};

// ---- periods

// The end of the period of that length in which at_us lies. Periods begin at multiples of their length since 1970.
static int64_t aligned_end(int64_t at_us, uint64_t period_s)
{
	int64_t length_us = (int64_t)period_s * 1000000;

	assert(period_s > 0 && at_us >= 0);
	return (at_us / length_us + 1) * length_us;
}

// The end of the period in which at_us lies; sql/statements/usage.sql computes the same (usage_end_of_period). Periods before
// grid_since, the moment from which on period_s counts, are no longer than up to that moment.
static int64_t end_of_period(const struct sql_usage_progress *progress, int64_t at_us)
{
	return at_us < progress->grid_since ? progress->grid_since : aligned_end(at_us, progress->period_s);
}

// The period in which an event counts, which is never a closed one.
struct place {
	int64_t until_us; // the period's end
	int64_t rest_us;  // from the moment at which the event counts to the period's end
};

static struct place place_of(const struct sql_usage_progress *progress, int64_t at_us)
{
	int64_t counts_us = at_us > progress->closed_until ? at_us : progress->closed_until;
	int64_t until_us = end_of_period(progress, counts_us);

	return (struct place){ .until_us = until_us, .rest_us = until_us - counts_us };
}

// ---- helpers of the steps

// Runs n calls, and saves the progress in the same round trip. calls has room for one more.
static enum outcome run_and_save(struct step *step, struct db_call *calls, size_t n)
{
	struct registry *registry = step->registry;
	const struct sql_usage_save in = { .p = step->progress };

	assert(db_txn_writes(registry->db));
	calls[n] = sql_usage_save_call(registry->pool, &in);
	return registry_run_calls(registry, calls, n + 1);
}

static enum outcome save(struct step *step)
{
	struct db_call calls[1];

	return run_and_save(step, calls, 0);
}

// *upto: the last id of the next slice, which begins behind after; last if what remains is at most one slice of that size.
static enum outcome next_slice(struct step *step, enum sql_usage_slice_of of, uint64_t after, uint64_t last, uint64_t size,
	uint64_t *upto)
{
	struct registry *registry = step->registry;
	const struct sql_usage_slice in = { .after = after, .upto = last, .size = size };
	struct db_rows rows;
	enum db_result result = sql_usage_slice_run(registry->db, registry->pool, of, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*upto = rows.n > 0 ? sql_usage_slice_row(&rows, 0)->id : last;
	return OUTCOME_OK;
}

// Changes the stage; usage_count.h has their names and order.
static void enter(struct step *step, const char *stage)
{
	step->progress.stage = str_c(stage);
	step->progress.slice = 0;
}

static bool is_at(const struct step *step, const char *stage)
{
	return str_eq_c(step->progress.stage, stage);
}

// ---- waiting, and the opening balance

// Some change has no sizes, so the balance can't be known from the log. Waits until no such change was made for a while.
static enum outcome wait_for_sizes(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;
	uint64_t quiet_s = step->period_s < QUIET_S ? step->period_s : QUIET_S;

	enter(step, "waiting");
	step->unsized = true;
	progress->position = step->horizon;
	progress->opens_at = step->now_us + (int64_t)quiet_s * 1000000;
	progress->opens_at_is_null = false;
	return save(step);
}

// Looks at the changes behind the position, up to upto: the first without sizes, and the first of a tenant as a whole.
static enum outcome find_obstacles(struct step *step, uint64_t upto, struct sql_usage_obstacles_row *found)
{
	struct registry *registry = step->registry;
	const struct sql_usage_obstacles in = { .after = step->progress.position, .upto = upto };
	struct db_rows rows;
	enum db_result result = sql_usage_obstacles_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*found = *sql_usage_obstacles_row(&rows, 0);
	return OUTCOME_OK;
}

// Deletes some of the rows that an earlier opening balance has left. *any: there were some.
static enum outcome delete_leftovers(struct step *step, bool *any)
{
	struct registry *registry = step->registry;
	const struct sql_usage_clear in = { .limit = ROWS_AT_ONCE };
	struct db_call calls[] = {
		sql_usage_clear_call(registry->pool, SQL_USAGE_LEFTOVER_OPENING, &in),
		sql_usage_clear_call(registry->pool, SQL_USAGE_LEFTOVER_SUSPENDED, &in),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	*any = calls[0].rows.affected + calls[1].rows.affected > 0;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Begins an opening balance as of the horizon: of what every tenant has after the changes up to that id.
static enum outcome begin_opening(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;

	enter(step, "opening");
	progress->opened_id = progress->position = step->horizon;
	progress->opened_at = step->now_us;
	progress->opened_at_is_null = false;
	progress->opened = true;
	if (progress->closed_until_is_null) {
		progress->closed_until = step->now_us;
		progress->period_s = step->period_s;
		progress->grid_since = aligned_end(step->now_us, step->period_s);
		progress->closed_until_is_null = progress->grid_since_is_null = false;
	}
	return save(step);
}

static enum outcome step_waiting(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;
	struct sql_usage_obstacles_row found;
	uint64_t upto;
	bool any;

	if (!progress->opens_at_is_null && progress->position < step->horizon) {
		enum outcome outcome =
			next_slice(step, SQL_USAGE_SLICE_OF_CHANGES, progress->position, step->horizon, CHANGES_AT_ONCE, &upto);
		if (outcome == OUTCOME_OK)
			outcome = find_obstacles(step, upto, &found);
		if (outcome != OUTCOME_OK)
			return outcome;
		progress->position = upto;
		return found.unsized_is_null ? save(step) : wait_for_sizes(step);
	}
	if (!progress->opens_at_is_null && step->now_us < progress->opens_at) {
		step->idle = true;
		return OUTCOME_OK;
	}
	enum outcome outcome = delete_leftovers(step, &any);
	return outcome != OUTCOME_OK || any ? outcome : begin_opening(step);
}

// Adds a slice of table resources to the opening balance.
static enum outcome step_opening(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;
	struct db_call calls[2];
	uint64_t upto;
	enum outcome outcome =
		next_slice(step, SQL_USAGE_SLICE_OF_RESOURCES, progress->slice, INT64_MAX, RESOURCES_AT_ONCE, &upto);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct sql_usage_open in = { .after = progress->slice, .upto = upto, .opened_id = progress->opened_id };
	calls[0] = sql_usage_open_call(step->registry->pool, &in);
	progress->slice = upto;
	if (upto == INT64_MAX)
		enter(step, "sharing");
	return run_and_save(step, calls, 1);
}

// Takes deleted tenants, which count nothing, out of the opening balance, and adds a slice of tenants to the period of the
// opening.
static enum outcome step_sharing(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;
	struct pool *pool = step->registry->pool;
	struct db_call calls[4];
	uint64_t upto, after = progress->slice;
	enum outcome outcome = next_slice(step, SQL_USAGE_SLICE_OF_TENANTS, after, INT64_MAX, TENANTS_AT_ONCE, &upto);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct place place = place_of(progress, progress->opened_at);
	const struct sql_usage_open_suspended mark = { .after = after, .upto = upto, .opened_id = progress->opened_id };
	const struct sql_usage_share_suspended suspended = { .after = after, .upto = upto };
	const struct sql_usage_share share = { .after = after, .upto = upto, .until = place.until_us, .rest_us = place.rest_us };
	calls[0] = sql_usage_open_suspended_call(pool, &mark);
	calls[1] = sql_usage_share_suspended_call(pool, &suspended);
	calls[2] = sql_usage_share_call(pool, &share);
	progress->slice = upto;
	if (upto == INT64_MAX)
		enter(step, "counting");
	return run_and_save(step, calls, 3);
}

// ---- counting

// Counts the changes up to that id. None of them is without sizes or of a tenant as a whole.
static enum outcome count_slice(struct step *step, uint64_t upto)
{
	struct sql_usage_progress *progress = &step->progress;
	struct pool *pool = step->registry->pool;
	const struct sql_usage_count in = {
		.after = progress->position,
		.upto = upto,
		.closed_until = progress->closed_until,
		.grid_since = progress->grid_since,
		.period_s = progress->period_s,
	};
	const struct sql_usage_count_suspended suspended = {
		.after = progress->position, .upto = upto, .closed_until = progress->closed_until
	};
	struct db_call calls[3] = { sql_usage_count_call(pool, &in), sql_usage_count_suspended_call(pool, &suspended) };

	progress->position = upto;
	return run_and_save(step, calls, 2);
}

// Counts the change by which a tenant is deleted, recovered or purged: all that the tenant has no longer counts, or counts again.
static enum outcome count_tenant(struct step *step, uint64_t id)
{
	struct sql_usage_progress *progress = &step->progress;
	struct registry *registry = step->registry;
	struct pool *pool = registry->pool;
	struct db_rows rows;
	enum db_result result =
		sql_usage_tenant_change_run(registry->db, pool, &(struct sql_usage_tenant_change){ .id = id }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0) {
		progress->position = id; // the log was shortened meanwhile
		return save(step);
	}
	const struct sql_usage_tenant_change_row *change = sql_usage_tenant_change_row(&rows, 0);
	const struct place place = place_of(progress, change->at);
	bool deleted = str_eq_c(change->verb, "deleted"), recovered = str_eq_c(change->verb, "recovered");
	const struct sql_usage_suspend suspend = { .after = change->tenant_id - 1, .upto = change->tenant_id };
	const struct sql_usage_forget_suspended forget = { .tenant_id = change->tenant_id };
	const struct sql_usage_resume resume = {
		.tenant_id = change->tenant_id, .sign = deleted ? -1 : 1, .until = place.until_us, .rest_us = place.rest_us
	};
	struct db_call calls[3];
	size_t n = 0;
	if (deleted && change->suspended_is_null)
		calls[n++] = sql_usage_suspend_call(pool, &suspend);
	if ((deleted && change->suspended_is_null) || (recovered && !change->suspended_is_null))
		calls[n++] = sql_usage_resume_call(pool, &resume);
	if (!deleted)
		calls[n++] = sql_usage_forget_suspended_call(pool, &forget);
	progress->position = id;
	return run_and_save(step, calls, n);
}

// If the setting has another length of periods than the progress, takes it over from the end of the open period for which
// something was counted. If there are several such periods, it leaves that to a later call.
static enum outcome change_length(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;
	struct registry *registry = step->registry;
	struct db_rows rows;

	if (progress->period_s == step->period_s || progress->closed_until < progress->grid_since)
		return OUTCOME_OK;
	enum db_result result = sql_usage_pending_ends_run(registry->db, registry->pool, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_usage_pending_ends_row *ends = sql_usage_pending_ends_row(&rows, 0);
	if (ends->n > 1)
		return OUTCOME_OK;
	progress->grid_since = ends->last_is_null ? end_of_period(progress, progress->closed_until) : ends->last;
	progress->period_s = step->period_s;
	return OUTCOME_OK;
}

// Closes the period if all that was committed before its end has been counted.
static enum outcome close_if_over(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;
	struct usage_counter *counter = step->counter;

	if (!counter->waits || progress->position < counter->newest) {
		step->idle = true;
		return OUTCOME_OK;
	}
	enum outcome outcome = change_length(step);
	int64_t end_us = end_of_period(progress, progress->closed_until);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (end_us > counter->clock_us) {
		counter->waits = false;
		step->idle = true;
		return OUTCOME_OK;
	}
	enter(step, "closing");
	progress->closing_until = end_us;
	progress->closing_until_is_null = false;
	return save(step);
}

static enum outcome step_counting(struct step *step)
{
	const struct sql_usage_progress *progress = &step->progress;
	struct sql_usage_obstacles_row found;
	uint64_t upto;

	if (progress->position >= step->horizon)
		return close_if_over(step);
	enum outcome outcome =
		next_slice(step, SQL_USAGE_SLICE_OF_CHANGES, progress->position, step->horizon, CHANGES_AT_ONCE, &upto);
	if (outcome == OUTCOME_OK)
		outcome = find_obstacles(step, upto, &found);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!found.unsized_is_null)
		return wait_for_sizes(step);
	if (found.of_tenant_is_null)
		return count_slice(step, upto);
	// What a tenant's change takes away depends on all changes before it, so these are counted first.
	return found.of_tenant == progress->position + 1 ? count_tenant(step, found.of_tenant) : count_slice(step, found.of_tenant - 1);
}

// ---- closing a period

static enum outcome step_closing(struct step *step)
{
	struct sql_usage_progress *progress = &step->progress;
	struct registry *registry = step->registry;
	struct pool *pool = registry->pool;
	int64_t until_us = progress->closing_until, since_us = progress->closed_until;
	const struct sql_usage_slice_pending slice = { .until = until_us, .after = progress->slice, .size = ROWS_AT_ONCE };
	struct db_rows rows;
	enum db_result result = sql_usage_slice_pending_run(registry->db, pool, &slice, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t upto = rows.n > 0 ? sql_usage_slice_pending_row(&rows, 0)->id : INT64_MAX;
	const struct sql_usage_close close = {
		.until = until_us, .since = since_us, .length_us = until_us - since_us, .after = progress->slice, .upto = upto
	};
	const struct sql_usage_closed closed = { .until = until_us, .after = progress->slice, .upto = upto };
	const struct sql_usage_close_period period = {
		.until = until_us,
		.since = since_us,
		.last_change = progress->position,
		.closed_at = step->now_us,
		.opened = progress->opened,
	};
	struct db_call calls[4] = { sql_usage_close_call(pool, &close), sql_usage_closed_call(pool, &closed) };
	size_t n = 2;
	progress->slice = upto;
	if (upto == INT64_MAX) {
		calls[n++] = sql_usage_close_period_call(pool, &period);
		enter(step, "counting");
		progress->closed_until = until_us;
		progress->closing_until_is_null = true;
		progress->opened = false;
	}
	return run_and_save(step, calls, n);
}

// ---- the loop

static enum outcome read_progress(struct registry *registry, enum sql_usage_locking locking, struct sql_usage_progress_row *progress)
{
	struct db_rows rows;
	enum db_result result = sql_usage_progress_run(registry->db, registry->pool, locking, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n != 1) {
		log_error("table usage_progress has no row: it belongs to the schema");
		return OUTCOME_INTERNAL;
	}
	*progress = *sql_usage_progress_row(&rows, 0);
	return OUTCOME_OK;
}

static enum outcome take_step(struct step *step)
{
	struct sql_usage_progress_row row;
	enum outcome outcome = read_progress(step->registry, SQL_USAGE_LOCKING_UPDATE, &row);

	if (outcome != OUTCOME_OK)
		return outcome;
	step->progress = row.p;
	step->now_us = row.now;
	step->idle = step->unsized = false;
	if (is_at(step, "waiting"))
		return step_waiting(step);
	if (is_at(step, "opening"))
		return step_opening(step);
	if (is_at(step, "sharing"))
		return step_sharing(step);
	return is_at(step, "closing") ? step_closing(step) : step_counting(step);
}

static enum db_verdict step_run(void *arg)
{
	struct step *step = arg;

	step->outcome = take_step(step);
	return step->outcome == OUTCOME_OK ? DB_COMMIT : DB_ROLLBACK;
}

// Logs once, until a period is closed again, that changes without sizes were met.
static void warn_of_unsized(struct usage_counter *counter, const struct step *step)
{
	if (step->unsized && !counter->logged)
		log_warning("usage is counted again from another opening balance: a program of an earlier release has changed something");
	if (step->unsized || is_at(step, "closing"))
		counter->logged = step->unsized;
}

enum outcome usage_count(struct registry *registry, struct usage_counter *counter, uint64_t period_s, bool *more)
{
	struct step step = { .registry = registry, .counter = counter, .period_s = period_s };
	int64_t ends_us = clock_tick_us() + CALL_US;
	struct usage_state state;
	uint64_t newest;

	assert(period_s > 0 && !db_txn_writes(registry->db));
	enum outcome outcome = usage_state(registry, &state);
	if (outcome == OUTCOME_OK)
		outcome = horizon_advance(registry, &step.horizon, &newest); // after the clock was read
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!counter->waits)
		*counter = (struct usage_counter){ .waits = true, .newest = newest, .clock_us = state.now_us, .logged = counter->logged };
	while (outcome == OUTCOME_OK && !step.idle && clock_tick_us() < ends_us) {
		struct pool_mark mark = pool_mark(registry->pool);

		// No request id: if the answer to COMMIT is lost, the next step reads from the database how far counting is.
		enum db_result result = db_txn_run(registry->db, DB_WRITE, NULL, step_run, &step);
		outcome = result == DB_OK ? step.outcome : registry_db_failed(result);
		if (outcome == OUTCOME_OK)
			warn_of_unsized(counter, &step);
		pool_rewind(registry->pool, mark);
	}
	*more = !step.idle;
	return outcome;
}

enum outcome usage_state(struct registry *registry, struct usage_state *state)
{
	struct sql_usage_progress_row row;
	enum outcome outcome = read_progress(registry, SQL_USAGE_LOCKING_NOT, &row);

	if (outcome != OUTCOME_OK)
		return outcome;
	*state = (struct usage_state){ .stage = row.p.stage, .position = row.p.position, .now_us = row.now };
	if (!row.p.closed_until_is_null) {
		state->closed_until_us = row.p.closed_until;
		state->next_end_us = end_of_period(&row.p, row.p.closed_until);
	}
	return OUTCOME_OK;
}

enum outcome usage_uncounted_since(struct registry *registry, int64_t *at_us)
{
	struct db_rows rows;
	enum db_result result = sql_usage_uncounted_run(registry->db, registry->pool, &rows);

	*at_us = result == DB_OK && rows.n > 0 ? sql_usage_uncounted_row(&rows, 0)->at : 0;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}
