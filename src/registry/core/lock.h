// SPDX-License-Identifier: Apache-2.0
// The first locks of a writing transaction: how long it waits for them, and when it gives up because of a large move.
#ifndef TENURE_REGISTRY_CORE_LOCK_H
#define TENURE_REGISTRY_CORE_LOCK_H

#include "db/db.h"
#include "registry/core/model.h"
#include "sql/common.h"

// The form (NOWAIT or waiting) of the first locking statements, by registry->lock_policy (enum lock_policy in core/context.h).
enum sql_wait lock_wait(const struct registry *registry);
// Runs the batch of n locking statements, 1 to DB_MAX_BATCH, then sets the time that the transaction writes (registry->stamp_us).
// tenants are those whose rows the batch locks. May wait for locks as long as lock_wait() says. OUTCOME_OK; OUTCOME_UNAVAILABLE
// if a large move holds one of the tenants, or if the locks were not free, so that db_txn_run() runs the transaction again;
// OUTCOME_INTERNAL.
enum outcome registry_take_locks(struct registry *registry, const struct str *tenants, size_t n_tenants, struct db_call *calls,
	size_t n);

#endif
