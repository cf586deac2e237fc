// SPDX-License-Identifier: Apache-2.0
// Resources, for files of registry/ only: their rows, the locks that every writer takes, and parts of writes.
#ifndef TENURE_REGISTRY_RESOURCE_INTERNAL_H
#define TENURE_REGISTRY_RESOURCE_INTERNAL_H

#include "base/buf.h"
#include "base/config/config.h"
#include "db/db.h"
#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "registry/core/stored.h"
#include "registry/resource/resource.h"
#include "registry/type/rules.h"
#include "sql/common.h"
#include "sql/deletions.h"

// A resource from its columns. The tenant's name is not among them.
struct resource resource_of_columns(struct registry *registry, const struct sql_resource *columns);

// A writer's view of the tenant: row locked shared against moves and deletion.
struct held_tenant {
	uint64_t id;
	bool has_limit;
	uint64_t max_resources;
	bool etag_required;
	bool ends; // its deletion was requested and waits for its finalizers: nothing new may come into it
};
// The call for a batch, and what its rows mean: OUTCOME_OK, _NOT_FOUND, _GONE.
struct db_call hold_tenant_call(struct registry *registry, struct str name);
enum outcome held_tenant(struct registry *registry, struct str name, const struct db_call *call, struct held_tenant *held);

// Counts n more resources in the tenant, unless its tier's quota forbids (then the call affects no row).
struct db_call count_up_call(struct registry *registry, const struct held_tenant *held, uint64_t n);
struct db_call count_down_call(struct registry *registry, uint64_t tenant_id, uint64_t n);
enum outcome fail_quota(struct registry *registry, const struct held_tenant *held);

enum outcome fail_no_space(struct registry *registry, struct str space);
// Does the namespace that hold_space_call held only wait for its finalizers? Nothing new may come into it.
bool space_ends(const struct db_call *call);
enum outcome fail_space_ends(struct registry *registry, struct str space);
enum outcome fail_tenant_ends(struct registry *registry, struct str tenant);
enum outcome fail_no_resource(struct registry *registry, const struct address *address);
enum outcome fail_not_there(struct registry *registry, const struct ident *ident);
// The live resource's row at an address, locked; its namespace's row, locked against deletion.
struct db_call lock_resource_call(struct registry *registry, const struct address *address);
struct db_call hold_space_call(struct registry *registry, struct str tenant, struct str space);
// What stands at an address without live resource, as resource_get answers it; OUTCOME_OK when one has come meanwhile.
enum outcome resource_elsewhere(struct registry *registry, const struct address *address, struct resource *resource);
// For writers: locks the tenant and namespace shared, the resource's row exclusive. OUTCOME_OK; OUTCOME_NO_CONTENT when
// nothing lives there; OUTCOME_NOT_FOUND, _GONE for the tenant.
struct held_address {
	struct held_tenant tenant;
	bool space_missing, space_ends;
};
enum outcome lock_address(struct registry *registry, const struct address *address, struct held_address *held,
	struct resource *resource);
// The same for a resource by what it is. Tenant shared, its row exclusive. OUTCOME_OK with held and *resource; _NOT_FOUND.
enum outcome lock_ident(struct registry *registry, const struct ident *ident, struct held_tenant *held,
	struct resource *resource);
// Nothing lives there, and the writer does not create: where did it go?
enum outcome refuse_missing(struct registry *registry, const struct address *address, struct resource *resource);
// For a new resource: fills revision, edits, etag and times, and makes its INSERT.
struct db_call insert_resource_call(struct registry *registry, struct resource *resource);
// Right behind its change row in that batch: the resource's last change.
struct db_call number_inserted_call(struct registry *registry, const struct resource *resource);

// A change of content under the locks: guard, edit, the type's rules, the writes. heir: the name of the tenant it is given
// to in the same transaction, which is a change in itself; p NULL: it stays. Outcomes as resource_change.
enum outcome change_content(struct registry *registry, const struct edit *edit, struct guard guard,
	const struct held_tenant *held, struct str heir, struct resource *resource);
// Has it finalizers that a deletion waits for? Types whose resources are named by their uids have none.
bool has_finalizers(struct registry *registry, const struct resource *resource);
// Marks what is locked as to be deleted once its finalizers are gone. OUTCOME_ACCEPTED.
enum outcome mark_for_deletion(struct registry *registry, struct resource *resource);
// What one deletion took, of which resource is the one that was asked for; request_id: the 16 bytes of that request's.
struct sql_deletion deletion_of(struct registry *registry, const struct resource *resource, struct str request_id);
// Deletes what is locked and may go. OUTCOME_NO_CONTENT, _LOCKED; _ACCEPTED: a namespace that waits for its content.
enum outcome carry_out_deletion(struct registry *registry, struct resource *resource);

// ---- namespaces that end (space_end.c)

// Marks the content that has finalizers. *waits: there is some. OUTCOME_OK.
enum outcome space_mark_waiting(struct registry *registry, const struct resource *space, bool *waits);
// Once all else is deleted: OUTCOME_OK if nothing is left in it; _ACCEPTED: it waits, and its conditions tell for what.
enum outcome space_wait(struct registry *registry, struct resource *space);
// After the deletion of something that was marked: does its namespace go now, or what does it wait for? OUTCOME_OK.
enum outcome space_settle(struct registry *registry, const struct resource *gone);

// How many of n documents of these sizes make a page of at most limit; at least one, so that each page goes on.
size_t page_fitting(const uint64_t *bytes, size_t n, uint64_t limit);

// ---- what stays as it is (immutable.c)

// Before a change of content: does body, as it is to be stored, keep what of objects of that type may not change?
// OUTCOME_OK, at once for other types; _BAD_DOCUMENT with causes.
enum outcome immutable_check(struct registry *registry, const struct address *address, const struct resource *current,
	struct str body);

// ---- aliases (lookup_key.c)

// The calls that bring the aliases from before (NULL: it had none) to after; at most 2 * ALIASES_MAX. *of[i] is what call i
// writes: on DB_DUPLICATE another resource has it.
size_t alias_calls(struct registry *registry, const struct resource *resource, const struct relations *before,
	const struct relations *after, struct db_call *calls, const struct alias **of);

#endif
