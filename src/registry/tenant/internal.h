// SPDX-License-Identifier: Apache-2.0
// Rows of table tenants, and what the files of tenant/ share. For files of registry/ only.
#ifndef TENURE_REGISTRY_TENANT_INTERNAL_H
#define TENURE_REGISTRY_TENANT_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "registry/tenant/change_list.h"
#include "registry/tenant/tenant.h"
#include "sql/common.h"
#include "sql/tenant_changes.h"

// Makes a tenant of its row.
struct tenant tenant_of_columns(const struct sql_tenant *columns);
// Is the tenant deleted, and past its purge time? Then it counts as purged, whether or not it was reaped.
bool tenant_expired(const struct registry *registry, const struct tenant *tenant);
// Purges a tenant that is past its purge time, whose row is locked: its name becomes free, and a row without content stays for
// the change log. OUTCOME_OK, or that of a failed statement.
enum outcome tenant_purge(struct registry *registry, const struct tenant *tenant);
// Refuses a reserved name for a new tenant or the destination of a move. OUTCOME_OK, _BAD_PARAMETER.
enum outcome tenant_check_reserved(struct registry *registry, struct str name);

// Locks the tenant's row exclusively, reads it, and moves registry->stamp_us behind its last change. OUTCOME_OK, also for a
// deleted tenant (tenant->deleted_us != 0); _NOT_FOUND; _UNAVAILABLE.
enum outcome tenant_lock(struct registry *registry, struct str name, struct tenant *tenant);
// Locks the rows of these tenants, n > 0, exclusively in this order, which has to be that of their ids. Names without a tenant do
// not matter. OUTCOME_OK; else as registry_take_locks().
enum outcome tenant_lock_several(struct registry *registry, const struct str *names, size_t n);
// For a tenant with deleted_us != 0: OUTCOME_GONE, or OUTCOME_NOT_FOUND from its purge time on.
enum outcome tenant_answer_deleted(struct registry *registry, const struct tenant *tenant);
// For a tenant with deleted_us != 0: OUTCOME_GONE, whatever the time is.
enum outcome tenant_fail_deleted(struct registry *registry, const struct tenant *tenant);

// Makes a change of its columns. OUTCOME_OK; or that of a failed statement, which was to find its type.
enum outcome change_of_columns(struct registry *registry, const struct sql_told_change *columns, struct change *change);

// ---- for files of tenant/

// The following functions need the tenant's row locked.

// Does the precondition allow to change or delete the tenant? OUTCOME_OK, _PRECONDITION_REQUIRED, _STALE.
enum outcome tenant_check_write(struct registry *registry, const struct tenant *tenant, struct guard guard);
// Writes content; *tenant is the tenant afterwards. If nothing differs, nothing is written. If metadata or object change,
// workers read again which definitions serve the tenant. OUTCOME_OK, _BAD_PARAMETER (no such tier), _BAD_DOCUMENT.
enum outcome tenant_change(struct registry *registry, const struct tenant_content *content, struct tenant *tenant);
// Deletes the tenant so that it can be recovered, and sets its times in *tenant. OUTCOME_NO_CONTENT.
enum outcome tenant_mark_deleted(struct registry *registry, struct tenant *tenant);
// For a write to a tenant whose deletion was requested (before): returns object with the time of that request if object still
// has finalizers, else without. In the latter case the caller deletes the tenant.
struct str tenant_object_that_waits(struct registry *registry, const struct tenant *before, struct str object);

// For the doctor: the object with the members of "spec" and others that the database can't read, because they are nested too
// deep, behind those that it searches; the time of a requested deletion stays last. The same text if nothing has to move.
struct str tenant_object_shallow_first(struct registry *registry, const struct tenant *tenant);

#endif
