// SPDX-License-Identifier: Apache-2.0
// Explains preconditions that fail: who changed the resource since the caller read it, when, and in which fields.
#ifndef TENURE_REGISTRY_LOG_STALE_H
#define TENURE_REGISTRY_LOG_STALE_H

#include "registry/core/model.h"

// Checks the precondition for an existing tenant. If it returns OUTCOME_STALE, the problem tells who changed the tenant last
// and when (members changed_by, changed_at) and, if the log knows the caller's version, the fields that changed since. Other
// outcomes: OUTCOME_OK, that of guard.check_version, or that of a failed statement.
enum outcome tenant_check(struct registry *registry, const struct tenant *tenant, struct guard guard);

// The same for a resource. Unless the request is an operator's, it leaves out members that would tell of changes from when the
// resource was another tenant's.
enum outcome resource_check(struct registry *registry, const struct resource *resource, struct guard guard);

#endif
