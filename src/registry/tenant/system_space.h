// SPDX-License-Identifier: Apache-2.0
// The system space: the operator's own tenant TENANT_SYSTEM (registry/tenant/tenant.h) with its namespace "default". It is there
// from the first start of a service on; `tenure-manage db init`, `db upgrade` and `db reset` make it.
#ifndef TENURE_REGISTRY_SYSTEM_SPACE_H
#define TENURE_REGISTRY_SYSTEM_SPACE_H

#include "registry/core/context.h"

// Makes the tenant, of the default tier, and its namespace, in a transaction of its own, unless the tenant is there. No row
// of the change log tells of them: their last change is 1, which every reader of the log has behind it
// (sql/schema/012-system-space.sql). Safe to repeat, and to run beside writers. *made: it was not there. OUTCOME_OK; _BAD_PARAMETER if the default tier does not exist
// (registry->problem says so); _UNAVAILABLE, _INTERNAL.
enum outcome system_space_ensure(struct registry *registry, bool *made);

#endif
