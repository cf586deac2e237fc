// SPDX-License-Identifier: Apache-2.0
// The system space: the operator's own tenant TENANT_SYSTEM (tenant.h) with its namespace "default". `tenure-manage db init`,
// `db upgrade` and `db reset` create it, and so does the first start of a service.
#ifndef TENURE_REGISTRY_TENANT_SYSTEM_SPACE_H
#define TENURE_REGISTRY_TENANT_SYSTEM_SPACE_H

#include "registry/core/context.h"

// Creates the tenant with the default tier, and its namespace, in a transaction of its own, unless the tenant exists. The
// change log gets no rows for them: their last change is 1, which is behind every reader of the log
// (sql/schema/012-system-space.sql). It may be called repeatedly, and while others write. *made: the tenant was created.
// OUTCOME_OK; _BAD_PARAMETER if the default tier does not exist (registry->problem says so); _UNAVAILABLE, _INTERNAL.
enum outcome system_space_ensure(struct registry *registry, bool *made);

#endif
