// SPDX-License-Identifier: Apache-2.0
// The first locks of a writing transaction. A request does not wait for a large move: it is refused instead.
#include "base/base.h"

#include "base/clock.h"
#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "sql/locks.h"

enum sql_wait lock_wait(const struct registry *registry)
{
	return registry->lock_policy == LOCK_NOWAIT ? SQL_WAIT_NOT : SQL_WAIT_LONG;
}

// Asks, without locks, whether a large move from or to the tenant is being carried out.
static enum outcome refuse_while_moving(struct registry *registry, struct str tenant)
{
	struct db_rows rows;
	enum db_result result = sql_tenant_being_moved_run(registry->db, registry->pool,
		&(struct sql_tenant_being_moved){ .tenant = tenant }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_OK;
	return registry_fail(registry, OUTCOME_UNAVAILABLE,
		"a large move from or to this tenant, or a large undo in it, is being carried out: try again when it is done");
}

enum outcome registry_take_locks(struct registry *registry, const struct str *tenants, size_t n_tenants, struct db_call *calls,
	size_t n)
{
	enum outcome outcome = OUTCOME_OK;

	assert(registry->stamp_us >= registry->now_us); // the time that is written never goes back
	assert(db_txn_writes(registry->db) && n > 0);
	// The run before this one met a lock that was not free. Only now is it worth a round trip to ask for the reason.
	for (size_t i = 0; registry->lock_policy == LOCK_AFTER_CONFLICT && outcome == OUTCOME_OK && i < n_tenants; i++)
		outcome = refuse_while_moving(registry, tenants[i]);
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result == DB_RETRY && registry->lock_policy == LOCK_NOWAIT)
		registry->lock_policy = LOCK_AFTER_CONFLICT;
	if (result != DB_OK)
		return registry_db_failed(result);
	registry_stamp_after(registry, clock_now_us());
	return OUTCOME_OK;
}
