// SPDX-License-Identifier: Apache-2.0
// Rows of tenants, and what the files of tenant/ share; for files of registry/ only.
#ifndef TENURE_REGISTRY_TENANT_INTERNAL_H
#define TENURE_REGISTRY_TENANT_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "registry/tenant/tenant.h"
#include "sql/common.h"

// A tenant from its columns.
struct tenant tenant_of_columns(const struct sql_tenant *columns);
// Is it deleted, and past its purge time? Then it is no more, whether or not it was reaped.
bool tenant_expired(const struct registry *registry, const struct tenant *tenant);
// Frees the name of a tenant whose time is up, whose row is locked: a tombstone stays for the change log.
enum outcome tenant_bury(struct registry *registry, const struct tenant *tenant);
// No tenant comes into being, and nothing moves to one, by a reserved name. OUTCOME_OK, _BAD_PARAMETER.
enum outcome check_reserved(struct registry *registry, struct str name);

// ---- for files of tenant/

// Reads the tenant under an exclusive lock of its row, and sets registry->stamp_us behind its last change. OUTCOME_OK, also for
// a deleted tenant (tenant->deleted_us != 0), _NOT_FOUND, _UNAVAILABLE.
enum outcome tenant_lock(struct registry *registry, struct str name, struct tenant *tenant);
// For a tenant with deleted_us != 0: OUTCOME_GONE, or _NOT_FOUND if its time is up.
enum outcome tenant_answer_deleted(struct registry *registry, const struct tenant *tenant);

// The following take a tenant that is locked.

// May the caller change or delete it? OUTCOME_OK, _PRECONDITION_REQUIRED, _STALE.
enum outcome tenant_check_write(struct registry *registry, const struct tenant *tenant, struct guard guard);
// Writes content, and *tenant becomes what it is then. If nothing differs, nothing is written. Workers that hold definitions
// learn of what decides about its types. OUTCOME_OK, _BAD_PARAMETER (no such tier), _BAD_DOCUMENT.
enum outcome tenant_change(struct registry *registry, const struct tenant_content *content, struct tenant *tenant);
// Deletes it, recoverably: *tenant gets the times. OUTCOME_NO_CONTENT.
enum outcome tenant_mark_deleted(struct registry *registry, struct tenant *tenant);
// What a writer makes of the object of a tenant whose deletion was asked for (before): it keeps the time of that if object has
// finalizers; else the time goes, and the caller deletes the tenant.
struct str tenant_object_that_waits(struct registry *registry, const struct tenant *before, struct str object);

#endif
