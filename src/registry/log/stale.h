// SPDX-License-Identifier: Apache-2.0
// Preconditions that do not hold: who changed it since, when, and in which fields.
#ifndef TENURE_REGISTRY_LOG_STALE_H
#define TENURE_REGISTRY_LOG_STALE_H

#include "registry/core/model.h"

// check, for what is there. OUTCOME_STALE comes with who changed it last and when (members changed_by, changed_at), and
// in which fields, of the problem.
enum outcome tenant_check(struct registry *registry, const struct tenant *tenant, struct guard guard);

// As tenant_check.
enum outcome resource_check(struct registry *registry, const struct resource *resource, struct guard guard);

#endif
