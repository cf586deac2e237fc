// SPDX-License-Identifier: Apache-2.0
// How a request fails: functions that describe the failure in registry->problem and return the outcome.
#ifndef TENURE_REGISTRY_CORE_FAILURE_H
#define TENURE_REGISTRY_CORE_FAILURE_H

#include "db/db.h"
#include "registry/core/model.h"

// Describes a failure: sets registry->problem to the formatted text alone. Returns outcome, so that callers can write `return
// registry_fail(…)`.
enum outcome registry_fail(struct registry *registry, enum outcome outcome, const char *format, ...) PRINTF_LIKE(3, 4);
// Adds a member ("purge_at", …) to the problem that registry_fail() has begun. value must live as long as the request's pool.
// At most PROBLEM_MAX_MEMBERS.
void registry_fail_member(struct registry *registry, const char *name, struct str value);

// The outcome of a request whose statement failed with result, which is not DB_OK: OUTCOME_UNAVAILABLE if the same request may
// succeed later (conflict, lost connection, full disk), else OUTCOME_INTERNAL.
enum outcome registry_db_failed(enum db_result result);
// Runs n calls, at most DB_MAX_BATCH, in one round trip, as db_run_batch() does, with the request's memory. OUTCOME_OK, also if
// one found a duplicate (its own result says so), or registry_db_failed() of the first that failed.
enum outcome registry_run_calls(struct registry *registry, struct db_call *calls, size_t n);
// registry_fail() with OUTCOME_GONE. The problem gets the member purge_at unless purge_us (microseconds since 1970) is 0.
enum outcome registry_fail_deleted(struct registry *registry, int64_t purge_us, const char *format, ...) PRINTF_LIKE(3, 4);
// OUTCOME_NOT_FOUND: there is no tenant of that name. So the request does not concern it (registry_concerns_no).
enum outcome registry_fail_no_tenant(struct registry *registry, struct str name);
// For a deleted tenant: OUTCOME_GONE while it can be recovered, OUTCOME_NOT_FOUND from purge_us on.
enum outcome registry_fail_tenant_deleted(struct registry *registry, struct str name, int64_t purge_us);

struct field_faults; // repr/schema/field_fault.h
// OUTCOME_BAD_DOCUMENT, with the faults as the problem's causes. what names the document in the text: "Widget \"w1\"".
enum outcome registry_fail_faults(struct registry *registry, struct str what, const struct field_faults *faults);

// Checks the precondition against an etag of 64 bytes, or NULL if the resource does not exist. Returns what guard.check
// returns, or OUTCOME_OK if there is no precondition.
enum outcome guard_check(struct guard guard, const uint8_t *etag);
// Does the request have a precondition where one is required? A tenant (tenant_requires) or the setting etag_required may
// require one that prevents lost updates (guard.prevents_lost_update). OUTCOME_OK or OUTCOME_PRECONDITION_REQUIRED.
enum outcome guard_check_required(struct registry *registry, struct guard guard, bool tenant_requires);

#endif
