// SPDX-License-Identifier: Apache-2.0
// What a request that fails is answered.
#ifndef TENURE_REGISTRY_CORE_FAILURE_H
#define TENURE_REGISTRY_CORE_FAILURE_H

#include "db/db.h"
#include "registry/core/model.h"

// Fills registry->problem's detail and returns outcome, so that callers can `return registry_fail(…)`.
enum outcome registry_fail(struct registry *registry, enum outcome outcome, const char *format, ...) PRINTF_LIKE(3, 4);
// Adds a member to the problem ("purge_at", …).
void registry_fail_member(struct registry *registry, const char *name, struct str value);

// What a failed statement means for the request.
enum outcome registry_db_failed(enum db_result result);
// registry_fail with OUTCOME_GONE and, unless 0, the member purge_at.
enum outcome fail_gone(struct registry *registry, int64_t purge_us, const char *format, ...) PRINTF_LIKE(3, 4);
enum outcome fail_no_tenant(struct registry *registry, struct str name);
// The tenant is deleted: gone, or no more.
enum outcome fail_tenant_gone(struct registry *registry, struct str name, int64_t purge_us);

struct field_faults; // repr/schema/field_fault.h
// OUTCOME_BAD_DOCUMENT with the faults as causes. what: "Widget \"w1\"".
enum outcome fail_faults(struct registry *registry, struct str what, const struct field_faults *faults);

enum outcome guard_check(struct guard guard, const uint8_t *etag);
// OUTCOME_OK; _PRECONDITION_REQUIRED where the tenant, or the configuration, insists on one.
enum outcome guard_sure(struct registry *registry, struct guard guard, bool tenant_requires);

#endif
