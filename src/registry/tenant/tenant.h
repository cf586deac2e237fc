// SPDX-License-Identifier: Apache-2.0
// Tenants: the owners of resources ("accounts" in the v1.0 vocabulary). Rules: specs accounts-blueprint and
// tenants-blueprint, "Required Operations".
#ifndef TENURE_REGISTRY_TENANT_TENANT_H
#define TENURE_REGISTRY_TENANT_TENANT_H

#include "registry/core/model.h"

// OUTCOME_OK; _NOT_FOUND; _GONE with *tenant filled (its name, purge_us) when it is deleted and recoverable.
enum outcome tenant_get(struct registry *registry, struct str name, struct tenant *tenant);

// What a PUT brings; a member with p NULL keeps what the tenant has (a new one: the default tier, {}).
struct tenant_content {
	struct str tier;
	struct str metadata; // compact JSON object of strings
	struct str object;   // as tenant.object; spec.multiTenancyCRDPolicy, where it is there, has to be a TYPE_POLICY_…
	bool tells_etag_required, etag_required;
};
// Writes to a tenant, or to what is in it, are answered OUTCOME_PRECONDITION_REQUIRED where the tenant or the
// configuration has etag_required and the guard is not sure. What does not exist yet needs no precondition.

// Creates or modifies. A new tenant gets its namespace "default". OUTCOME_CREATED; _OK (changed or not; *tenant is as it
// stands now); _STALE; _BAD_PARAMETER (unknown tier, unusable id, a reserved name even if there is such a tenant);
// _RECOVERABLE (deleted: *tenant filled).
enum outcome tenant_put(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, struct tenant *tenant);
// Computes what becomes of the tenant from what it is; runs under the row's lock, so it must not wait for anything.
struct tenant_edit {
	enum outcome (*apply)(void *arg, const struct tenant *current, struct tenant_content *content);
	void *arg;
};
// Modifies. OUTCOME_OK; _NOT_FOUND, _GONE, _STALE, _BAD_PARAMETER, or what apply says.
enum outcome tenant_patch(struct registry *registry, struct str name, const struct tenant_edit *edit, struct guard guard,
	struct tenant *tenant);
// Marks it deleted: everything in it is gone for readers at once and recoverable, exactly as it was, until purge_us.
// One whose object has finalizers only gets the time of this in its object ("deletionTimestamp"), and goes with the
// tenant_patch that empties them. OUTCOME_NO_CONTENT, _ACCEPTED (it waits), _NOT_FOUND, _GONE (deleted already), _STALE.
enum outcome tenant_delete(struct registry *registry, struct str name, struct guard guard, struct tenant *tenant);
// OUTCOME_NO_CONTENT, _NOT_FOUND (none, or purged), _CONFLICT (not deleted), _STALE.
enum outcome tenant_recover(struct registry *registry, struct str name, struct guard guard);

// Was its deletion asked for, which waits for its finalizers?
bool tenant_deletion_asked(const struct tenant *tenant);

// Makes the tenant, with the default tier, unless it is there. OUTCOME_OK, _GONE (deleted), _BAD_PARAMETER (no id, or a
// reserved name other than TENANT_SYSTEM, even if there is such a tenant).
enum outcome tenant_ensure(struct registry *registry, struct str name);
// The same, but made only if may_make; else _BAD_DOCUMENT. *made: it was not there.
enum outcome tenant_find_or_make(struct registry *registry, struct str name, bool may_make, bool *made);

enum tenant_choice {
	TENANTS_LIVE,    // all but the system space, which is no customer's
	TENANTS_DELETED, // those that can be recovered
	SPACES_LIVE,     // TENANTS_LIVE and the system space
};
// Tenants by name, byte order, after marker (p NULL: from the first), at most limit. *more: there are others behind.
enum outcome tenant_list(struct registry *registry, enum tenant_choice choice, struct str marker, uint64_t limit,
	struct tenant **list, size_t *n, bool *more);

#endif
