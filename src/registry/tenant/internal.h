// SPDX-License-Identifier: Apache-2.0
// Rows of tenants, for files of registry/ only.
#ifndef TENURE_REGISTRY_TENANT_INTERNAL_H
#define TENURE_REGISTRY_TENANT_INTERNAL_H

#include "db/db.h"
#include "registry/core/model.h"
#include "sql/common.h"

// A tenant from its columns.
struct tenant tenant_of_columns(const struct sql_tenant *columns);
// Is it deleted, and past its purge time? Then it is no more, whether or not it was reaped.
bool tenant_expired(const struct registry *registry, const struct tenant *tenant);
// Frees the name of a tenant whose time is up, whose row is locked: a tombstone stays for the change log.
enum outcome tenant_bury(struct registry *registry, const struct tenant *tenant);
// No tenant comes into being, and nothing moves to one, by a reserved name. OUTCOME_OK, _BAD_PARAMETER.
enum outcome check_reserved(struct registry *registry, struct str name);

#endif
