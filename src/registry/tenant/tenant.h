// SPDX-License-Identifier: Apache-2.0
// Tenants: the owners of resources, called "accounts" in the v1.0 API.
#ifndef TENURE_REGISTRY_TENANT_TENANT_H
#define TENURE_REGISTRY_TENANT_TENANT_H

#include "registry/core/model.h"

// OUTCOME_OK; _NOT_FOUND; _GONE: it is deleted but recoverable, and *tenant is filled.
enum outcome tenant_get(struct registry *registry, struct str name, struct tenant *tenant);

// The new content of a tenant. Where p is NULL, the tenant keeps what it has; a new one gets the default tier, and {}.
struct tenant_content {
	struct str tier;
	struct str metadata; // compact JSON object of strings
	struct str object;   // as tenant.object; spec.multiTenancyCRDPolicy, if present, must be one of TYPE_POLICY_…
	// etag_required counts only if tells_etag_required.
	bool tells_etag_required, etag_required;
};
// A write to an existing tenant, or to a resource in it, returns OUTCOME_PRECONDITION_REQUIRED if the tenant or the setting
// etag_required demands a precondition and guard.prevents_lost_update is false.

// Creates or changes the tenant. A new tenant gets its namespace "default". OUTCOME_CREATED; _OK: *tenant is the tenant
// afterwards, changed or not; _STALE; _BAD_PARAMETER: unknown tier, invalid name, or a reserved name, even if there is such a
// tenant; _RECOVERABLE: it is deleted, and *tenant is filled.
enum outcome tenant_put(struct registry *registry, struct str name, const struct tenant_content *content,
	struct guard guard, struct tenant *tenant);
// A change of a tenant. apply computes the new content from the current tenant. It runs while the row is locked, so it must not
// wait.
struct tenant_edit {
	enum outcome (*apply)(void *arg, const struct tenant *current, struct tenant_content *content);
	void *arg;
};
// Changes an existing tenant. OUTCOME_OK, _NOT_FOUND, _GONE, _STALE, _BAD_PARAMETER, or what apply returns.
enum outcome tenant_patch(struct registry *registry, struct str name, const struct tenant_edit *edit, struct guard guard,
	struct tenant *tenant);
// Would a change to this content leave the tenant as it is?
bool tenant_has_content(struct registry *registry, const struct tenant *tenant, const struct tenant_content *content);
// Deletes the tenant: no reader can reach anything in it from then on, and until purge_us it can be recovered exactly as it
// was. If its object has finalizers, the object only gets the time of the request ("deletionTimestamp"), and the tenant_patch()
// that removes the last finalizer deletes it. OUTCOME_NO_CONTENT, _ACCEPTED (it waits), _NOT_FOUND, _GONE (already deleted),
// _CONFLICT (TENANT_SYSTEM, which stays), _STALE.
enum outcome tenant_delete(struct registry *registry, struct str name, struct guard guard, struct tenant *tenant);
// Recovers a deleted tenant. OUTCOME_NO_CONTENT, _NOT_FOUND (none, or purged), _CONFLICT (not deleted), _STALE.
enum outcome tenant_recover(struct registry *registry, struct str name, struct guard guard);

// For changes of what belongs to a tenant beside its document and resources, such as its users' tokens. Locks the tenant's row
// exclusively, so that the changes have one order, and none is made in a deleted tenant. OUTCOME_OK, _NOT_FOUND, _GONE.
enum outcome tenant_lock_live(struct registry *registry, struct str name, struct tenant *tenant);
// Logs such a change as an update of the tenant that leaves its etag and revision: field, a JSON Pointer, says what it was. The
// caller holds the tenant. OUTCOME_OK, or that of a failed statement.
enum outcome tenant_log_beside(struct registry *registry, const struct tenant *tenant, struct str field);

// Was the deletion of this tenant requested, and does it wait for finalizers?
bool tenant_deletion_asked(const struct tenant *tenant);

// Creates the tenant with the default tier, unless it exists. OUTCOME_OK, _GONE (deleted), _BAD_PARAMETER (an invalid name, or
// a reserved one other than TENANT_SYSTEM, even if there is such a tenant).
enum outcome tenant_ensure(struct registry *registry, struct str name);
// The same, but if there is no such tenant and !may_make, OUTCOME_BAD_DOCUMENT. *made: it was created.
enum outcome tenant_find_or_make(struct registry *registry, struct str name, bool may_make, bool *made);
// The same with this content for a new tenant, while one that is there keeps what it has; NULL: it may not be made.
enum outcome tenant_find_or_make_with(struct registry *registry, struct str name, const struct tenant_content *content, bool *made);

enum tenant_choice {
	TENANTS_LIVE,    // live ones, without the system space, which is no customer's
	TENANTS_DELETED, // those that can be recovered
	SPACES_LIVE,     // live ones and the system space
};
struct tenant_page {
	struct tenant *list;
	size_t n;
	bool more; // there are more tenants after the last one here
};
// Reads tenants in byte order of their names, after marker (p NULL: from the first), at most limit, > 0; fewer, but one at least,
// where their documents are large. The page is allocated from pool. OUTCOME_OK, or that of a failed statement.
enum outcome tenant_list(struct registry *registry, struct pool *pool, enum tenant_choice choice, struct str marker,
	uint64_t limit, struct tenant_page *page);

#endif
