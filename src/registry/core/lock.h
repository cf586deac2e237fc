// SPDX-License-Identifier: Apache-2.0
// The first locks of a writing transaction.
#ifndef TENURE_REGISTRY_CORE_LOCK_H
#define TENURE_REGISTRY_CORE_LOCK_H

#include "db/db.h"
#include "registry/core/model.h"
#include "sql/common.h"

// How the first locks of a writing transaction are taken (core/context.h, enum lock_manner): the form of a locking statement.
enum sql_wait lock_wait(const struct registry *registry);
// Runs the batch that takes them, and then takes the time that the transaction writes (registry->stamp_us).
// tenants: whose rows it locks. OUTCOME_OK; _UNAVAILABLE: one of them is being moved, or
// the transaction is to be run again.
enum outcome take_locks(struct registry *registry, const struct str *tenants, size_t n_tenants, struct db_call *calls,
	size_t n);

#endif
