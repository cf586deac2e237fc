// SPDX-License-Identifier: Apache-2.0
// Ids of changes are given before their transactions commit, so a reader could see 7 and, later, 6. Who writes a change
// row of a tenant holds that tenant's row; once we hold it alone, all ids given there are visible or void.
#include "base/base.h"

#include "registry/feed.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/pool.h"
#include "registry/catalogue.h"
#include "registry/etag.h"
#include "registry/internal.h"

// Columns as held_tenant() reads them.
static const struct db_query q_hold_alone[2] =
	LOCKING("SELECT t.id, t.deleted_at, t.purge_at, 0, t.etag_required FROM tenants t WHERE t.name = ? AND t.live = 1",
		"FOR UPDATE", "s", "uttuu");
static const struct db_query q_changes = {
	"SELECT c.id, c.at, c.actor, c.request_id, c.verb, c.type_id, c.namespace, c.name, c.uid, c.revision, c.etag_before, "
	"c.etag_after, c.fields, c.tenant_id, c.from_tenant_id, c.moves FROM changes c WHERE c.tenant_id = ? AND c.id > ? ORDER BY c.id LIMIT ?",
	"uuu", "utsbsussbubbsuuu"
};

static struct str text_or_none(const struct db_value *value)
{
	return value->null ? STR_NONE : value->s;
}

// The etag that clients saw, of one in the log.
static struct str told_etag(struct registry *registry, const struct type *type, uint64_t tenant_id, uint64_t moves,
	const struct db_value *stored)
{
	if (stored->null || stored->s.n != DIGEST_SHA512)
		return STR_NONE;
	uint8_t *etag = pool_alloc(registry->pool, DIGEST_SHA512);
	etag_of_owned(registry, type, tenant_id, moves, (const uint8_t *)stored->s.p, etag);
	return str_n((const char *)etag, DIGEST_SHA512);
}

static void from_row(struct registry *registry, struct change *change, const struct db_rows *rows, size_t row)
{
	const struct db_value *v = db_at(rows, row, 0);

	*change = (struct change){
		.id = v[0].u,
		.at_us = v[1].i,
		.actor = v[2].s,
		.verb = v[4].s,
		.type = v[5].null ? NULL : type_by_id(registry, v[5].u),
		.space = text_or_none(&v[6]),
		.name = text_or_none(&v[7]),
		.revision = v[9].u,
		.fields = text_or_none(&v[12]),
	};
	uuid_from_bytes(v[3].s, &change->request_id);
	uuid_from_bytes(v[8].s, &change->uid);
	// A change that is a move is the one that the count was raised by; in a log that is older than the count it is 0.
	bool moved = !v[14].null;
	uint64_t moves = v[15].u, moves_before = moved && moves > 0 ? moves - 1 : moves;
	change->etag_before = told_etag(registry, change->type, moved ? v[14].u : v[13].u, moves_before, &v[10]);
	change->etag_after = told_etag(registry, change->type, v[13].u, moves, &v[11]);
}

enum outcome change_list(struct registry *registry, struct str tenant, uint64_t after, uint64_t limit,
	struct change **list, size_t *n, bool *more)
{
	struct held_tenant held;
	struct db_rows rows;
	struct db_call hold = { .query = locking(registry, q_hold_alone), .in = DB_IN(db_s(tenant)) };
	enum outcome outcome = take_locks(registry, &tenant, 1, &hold, 1);

	if (outcome == OUTCOME_OK)
		outcome = held_tenant(registry, tenant, &hold, &held);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = db_run(registry->db, registry->pool, &q_changes,
		DB_IN(db_u(held.id), db_u(after), db_u(limit + 1)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*more = rows.n > limit;
	*n = *more ? (size_t)limit : rows.n;
	*list = POOL_ARRAY(registry->pool, struct change, *n);
	for (size_t i = 0; i < *n; i++)
		from_row(registry, &(*list)[i], &rows, i);
	return OUTCOME_OK;
}

// ---- the horizon

// Changes that are written and not yet committed are seen by a reader who doesn't mind. What is missing between the others
// is of transactions that were rolled back; or of a statement that has taken its id and not yet written its row, which
// takes no second.
#define CHANGES_ABOVE "FROM changes c WHERE c.id > ? ORDER BY c.id LIMIT ?"
static const struct db_query q_last = { "SELECT COALESCE(MAX(id), 0) FROM changes", "", "u" };
// For the next statement alone.
static const struct db_query q_dont_mind = { "SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", "", "" };
static const struct db_query q_written = { "SELECT c.id " CHANGES_ABOVE, "uu", "u" };
static const struct db_query q_committed = { "SELECT c.id, c.at " CHANGES_ABOVE, "uu", "ut" };
static const struct db_query q_first = {
	"SELECT c.id FROM changes c WHERE c.id > ? AND c.id <= ? ORDER BY c.id LIMIT 1", "uu", "u"
};

static const struct db_query q_of_two = { CHANGES_OF_TWO, CHANGES_OF_TWO_IN, "u" };

enum {
	HORIZON_ROWS = 10000,
	HORIZON_BACK = 100000,
	HORIZON_SETTLES_US = 1000000,
	HORIZON_OLD_US = 10000000,
	HORIZON_STUCK_US = 50000,
};

// The highest id up to which there is no gap between what is committed. Gaps up to settled are void, and so are those
// before what is old.
static uint64_t first_gap(const struct db_rows *committed, uint64_t from, uint64_t settled, int64_t old_us)
{
	uint64_t reached = from;

	for (size_t i = 0; i < committed->n; i++) {
		uint64_t id = db_at(committed, i, 0)->u;
		if (id > reached + 1 && id > settled + 1 && db_at(committed, i, 1)->i > old_us)
			return settled > reached ? settled : reached;
		reached = id;
	}
	return reached;
}

// Below the first that is written and not committed.
static uint64_t first_open(const struct db_rows *written, const struct db_rows *committed, uint64_t up_to)
{
	size_t k = 0;

	for (size_t i = 0; i < written->n; i++) {
		uint64_t id = db_at(written, i, 0)->u;
		while (k < committed->n && db_at(committed, k, 0)->u < id)
			k++;
		if (id <= up_to && (k == committed->n || db_at(committed, k, 0)->u != id))
			return id - 1;
	}
	return up_to;
}

struct db_call newest_change_call(void)
{
	return (struct db_call){ .query = &q_last };
}

uint64_t newest_change(const struct db_call *call)
{
	return db_at(&call->rows, 0, 0)->u;
}

enum outcome change_newest(struct registry *registry, uint64_t *newest)
{
	struct db_call call = newest_change_call();
	enum db_result result = db_run_batch(registry->db, registry->pool, &call, 1);

	if (result != DB_OK)
		return registry_db_failed(result);
	*newest = newest_change(&call);
	return OUTCOME_OK;
}

static void go_on_from(struct horizon *held, uint64_t complete)
{
	held->complete = complete;
	held->next = 0;
	held->backlog = 0;
}

// What is so far below the newest, or below the first that is written, is done with.
static enum outcome begin_anew(struct registry *registry, uint64_t newest)
{
	uint64_t below = newest > HORIZON_BACK ? newest - HORIZON_BACK : 0;
	struct db_call calls[] = { { .query = &q_dont_mind }, { .query = &q_written, .in = DB_IN(db_u(below), db_u(1)) } };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t first = calls[1].rows.n > 0 ? db_at(&calls[1].rows, 0, 0)->u : newest + 1;
	registry->horizon = (struct horizon){ .complete = first - 1 };
	return OUTCOME_OK;
}

// Where to look from: what was seen complete, unless the log was emptied since.
static enum outcome begin_horizon(struct registry *registry, uint64_t *newest)
{
	struct horizon *held = &registry->horizon;
	uint64_t complete = catalogue_complete(registry); // asked first: meanwhile it may grow
	enum outcome outcome = change_newest(registry, newest);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (*newest == 0) // all that there was is so old that it was reaped: ids go on from there
		*newest = held->complete > complete ? held->complete : complete;
	if (*newest < complete)
		catalogue_forget_complete(registry, complete);
	else if (held->complete < complete)
		go_on_from(held, complete);
	return held->complete == 0 || *newest < held->complete ? begin_anew(registry, *newest) : OUTCOME_OK;
}

static void note_reach(struct horizon *held, uint64_t newest, int64_t now_us)
{
	if (held->setting_us == 0 || now_us - held->setting_us >= HORIZON_OLD_US) {
		held->solid = held->setting;
		held->setting = held->complete;
		held->setting_us = now_us;
	}
	if (held->given_us == 0 || now_us - held->given_us >= HORIZON_SETTLES_US) {
		held->passed = held->given;
		held->given = newest;
		held->given_us = now_us;
	}
	if (newest <= held->complete) {
		held->stuck_us = 0;
	} else if (held->stuck_us == 0 || held->stuck != held->complete) {
		held->stuck = held->complete;
		held->stuck_us = now_us;
	}
}

uint64_t change_solid(const struct registry *registry)
{
	return registry->horizon.solid;
}

uint64_t change_settled(const struct registry *registry)
{
	return registry->horizon.passed;
}

size_t change_backlog(const struct registry *registry, uint64_t horizon)
{
	return registry->horizon.complete == horizon ? registry->horizon.backlog : 0;
}

bool change_is_stuck(const struct registry *registry)
{
	const struct horizon *held = &registry->horizon;

	return held->stuck_us != 0 && clock_tick_us() - held->stuck_us > HORIZON_STUCK_US;
}

enum outcome change_horizon(struct registry *registry, uint64_t *horizon)
{
	uint64_t newest;

	return change_reach(registry, horizon, &newest);
}

static uint64_t last_of(const struct db_rows *rows)
{
	return rows->n > 0 ? db_at(rows, rows->n - 1, 0)->u : 0;
}

// How many rows are not above.
static size_t up_to(const struct db_rows *rows, uint64_t id)
{
	size_t n = 0;

	while (n < rows->n && db_at(rows, n, 0)->u <= id)
		n++;
	return n;
}

static uint64_t first_above(const struct db_rows *rows, uint64_t id)
{
	size_t at = up_to(rows, id);

	return at < rows->n ? db_at(rows, at, 0)->u : 0;
}

// What is above the horizon, so many rows of it. *more: nothing held it up, and there may be more. It may be much: a move
// writes a change for each of its resources.
static enum outcome look_once(struct registry *registry, int64_t now_us, uint64_t *newest, bool *more)
{
	struct horizon *held = &registry->horizon;
	const struct db_value *in = DB_IN(db_u(held->complete), db_u(HORIZON_ROWS));
	struct db_call calls[] = {
		{ .query = &q_dont_mind }, { .query = &q_written, .in = in }, { .query = &q_committed, .in = in }
	};
	const struct db_rows *written = &calls[1].rows, *committed = &calls[2].rows;
	uint64_t before = held->next;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	if (held->seen_us != 0 && now_us - held->seen_us >= HORIZON_SETTLES_US) {
		held->settled = held->seen;
		held->seen_us = 0;
	}
	uint64_t reached = first_gap(committed, held->complete, held->settled, registry->now_us - HORIZON_OLD_US);
	go_on_from(held, first_open(written, committed, reached));
	catalogue_note_complete(registry, held->complete);
	uint64_t last = last_of(committed);
	held->next = first_above(written, held->complete);
	held->next_open = held->next != first_above(committed, held->complete);
	held->backlog = committed->n - up_to(committed, held->complete);
	if (held->next == 0) {
		held->seen_us = 0;
	} else if (held->next != before || held->seen_us == 0) {
		held->seen = last;
		held->seen_us = clock_tick_us();
	}
	*newest = last > *newest ? last : *newest;
	*more = committed->n == HORIZON_ROWS && held->complete == last;
	return OUTCOME_OK;
}

static enum outcome look(struct registry *registry, int64_t now_us, uint64_t *newest)
{
	enum outcome outcome = OUTCOME_OK;
	bool more = true;

	for (int i = 0; outcome == OUTCOME_OK && more && i <= HORIZON_BACK / HORIZON_ROWS; i++)
		outcome = look_once(registry, now_us, newest, &more);
	return outcome;
}

// *same: what the last look found to hold the horizon up is neither committed nor filled. A large move holds it up for as
// long as it lasts, and for a second behind it where it left a gap in the ids: all that is above must not be gone through
// each time.
static enum outcome is_still_held(struct registry *registry, int64_t now_us, bool *same)
{
	const struct horizon *held = &registry->horizon;
	struct db_rows committed;

	*same = held->next != 0 && held->seen_us != 0 && now_us - held->seen_us < HORIZON_SETTLES_US;
	if (!*same)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_first, DB_IN(db_u(held->complete), db_u(held->next)),
		&committed);
	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t first = committed.n > 0 ? db_at(&committed, 0, 0)->u : 0;
	*same = first == (held->next_open ? 0 : held->next);
	return OUTCOME_OK;
}

enum outcome change_reach(struct registry *registry, uint64_t *horizon, uint64_t *newest)
{
	struct horizon *held = &registry->horizon;
	int64_t now_us = clock_tick_us();
	bool same;
	enum outcome outcome = begin_horizon(registry, newest);

	if (outcome == OUTCOME_OK && *newest > held->complete) {
		outcome = is_still_held(registry, now_us, &same);
		if (outcome == OUTCOME_OK && !same)
			outcome = look(registry, now_us, newest);
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	*horizon = held->complete;
	note_reach(held, *newest, clock_tick_us());
	return OUTCOME_OK;
}

enum outcome change_horizon_of(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t *horizon)
{
	const struct horizon *held = &registry->horizon;
	uint64_t from = after > held->complete ? after : held->complete;
	const struct db_value *in = CHANGES_OF_TWO_VALUES(tenants, from, held->passed, HORIZON_ROWS);
	struct db_call calls[] = {
		{ .query = &q_dont_mind }, { .query = &q_of_two, .in = in }, { .query = &q_of_two, .in = in }
	};
	const struct db_rows *written = &calls[1].rows, *committed = &calls[2].rows;

	*horizon = from;
	if (held->passed <= from)
		return OUTCOME_OK;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	*horizon = first_open(written, committed, written->n == HORIZON_ROWS ? last_of(written) : held->passed);
	return OUTCOME_OK;
}
