// SPDX-License-Identifier: Apache-2.0
// For files of registry/ only: rows of table resources, the locks that every writer takes, and parts of writes.
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

// Makes a resource of a row. The row does not have the tenant's name: the caller sets resource.tenant. The etag that clients see
// is not derived yet (etag_shown()).
struct resource resource_of_columns(struct registry *registry, const struct sql_resource *columns);
// Empties the resource cache and the page cache if the connection to the database is not the one over which they were filled: the
// server may have crashed, and after a crash it may give ids of changes a second time, by which cached entries are validated.
// Call it after the statement that validates a cached entry, before the entry is used, and before an entry is added. True:
// nothing was emptied.
bool resource_caches_hold(struct registry *registry);
// Stores a resource that was just read in the worker's cache, with the etag that clients see, and sets resource->shown if its
// type has secrets. Not within a transaction that writes, since that may be rolled back.
void resource_remember(struct registry *registry, struct resource *resource);

// What a writer reads of a tenant while it locks the tenant's row in share mode, which keeps moves and deletion of the tenant
// away.
struct locked_tenant {
	uint64_t id;
	bool has_limit;
	uint64_t max_resources;
	bool etag_required;
	bool ends; // its deletion was requested and waits for finalizers: nothing new may be created in it
};
// tenant_lock_call() locks and reads the tenant, as a member of a batch. locked_tenant_of() evaluates its rows: OUTCOME_OK,
// _NOT_FOUND, _GONE.
struct db_call tenant_lock_call(struct registry *registry, struct str name);
enum outcome locked_tenant_of(struct registry *registry, struct str name, const struct db_call *call, struct locked_tenant *owner);

// Adds n to the tenant's count of resources. If that exceeds the tier's quota, the call affects no row.
struct db_call tenant_count_up_call(struct registry *registry, const struct locked_tenant *owner, uint64_t n);
struct db_call tenant_count_down_call(struct registry *registry, uint64_t tenant_id, uint64_t n);
// The failure of a request that would have added n. OUTCOME_OVER_QUOTA.
enum outcome resource_fail_quota(struct registry *registry, const struct locked_tenant *owner, uint64_t n);

enum outcome resource_fail_no_space(struct registry *registry, struct str space);
// For lists that found nothing: OUTCOME_OK if there is such a namespace, deleted ones excepted; OUTCOME_NOT_FOUND.
enum outcome resource_check_space(struct registry *registry, struct str tenant, struct str space);
// A text behind which no name comes, in byte order.
struct str resource_last_text(struct pool *pool);
// Was the deletion of the namespace that resource_space_lock_call() locked requested? Then nothing new may be created in it.
bool resource_space_is_ending(const struct db_call *call);
enum outcome resource_fail_space_ends(struct registry *registry, struct str space);
enum outcome tenant_fail_ending(struct registry *registry, struct str tenant);
enum outcome ident_fail_not_found(struct registry *registry, const struct ident *ident);
// resource_lock_call() locks and reads the live resource at an address. resource_space_lock_call() locks a namespace's row in
// share mode, which keeps its deletion away.
struct db_call resource_lock_call(struct registry *registry, const struct address *address);
struct db_call resource_space_lock_call(struct registry *registry, struct str tenant, struct str space);
// Finds out why no live resource is at the address: the outcomes of resource_get(). OUTCOME_OK if one was created meanwhile.
enum outcome resource_elsewhere(struct registry *registry, const struct address *address, struct resource *resource);
// For writers: locks the tenant and the namespace in share mode and the resource's row exclusively, in one round trip.
// OUTCOME_OK; OUTCOME_NO_CONTENT if there is no live resource; OUTCOME_NOT_FOUND or _GONE for the tenant; or as
// registry_take_locks().
struct locked_address {
	struct locked_tenant tenant;
	bool space_missing, space_ends;
};
enum outcome resource_lock_address(struct registry *registry, const struct address *address, struct locked_address *place,
	struct resource *resource);
// The same for a resource that is found by its uid or a lookup key. OUTCOME_OK with *resource, and *owner without the limit of
// its tier, since nothing is added; OUTCOME_NOT_FOUND; _UNAVAILABLE: it was moved or renamed meanwhile, so the transaction runs
// again; or as registry_take_locks().
enum outcome resource_lock_ident(struct registry *registry, const struct ident *ident, struct locked_tenant *owner,
	struct resource *resource);
// The same, and then runs the call `more` in the same round trip, which so reads what stays as it is while the locks are held.
// more NULL: none. Its rows are only there with OUTCOME_OK.
enum outcome resource_lock_ident_with(struct registry *registry, const struct ident *ident, struct locked_tenant *owner,
	struct resource *resource, struct db_call *more);
// The outcome of a write that does not create, if there is no live resource at the address: as resource_get().
enum outcome resource_fail_missing(struct registry *registry, const struct address *address, struct resource *resource);
// The INSERT of a new resource as a member of a batch. Sets its revision, edits, generation, stored_etag, etag and times.
struct db_call resource_insert_call(struct registry *registry, struct resource *resource);
// Sets resources.changed of the inserted resource. Must follow its change row in the same batch.
struct db_call resource_number_inserted_call(struct registry *registry, const struct resource *resource);

// Changes the content of a locked resource: checks the precondition, calls edit, applies the type's rules, writes. place: what is
// locked beside it; a resource that is in no namespace needs only its tenant. new owner:
// new_owner is the name of the tenant to which the same transaction gives the resource, which counts as a change; p NULL: it
// stays. Outcomes as resource_change().
enum outcome resource_change_content(struct registry *registry, const struct edit *edit, struct guard guard,
	const struct locked_address *place, struct str new_owner, struct resource *resource);
// Changes the traits of a locked resource (resource/traits.h): checks the precondition and writes. Outcomes as
// resource_change_traits(). If nothing changes, the resource keeps its revision.
struct trait_edit; // resource/traits.h
enum outcome resource_change_traits_locked(struct registry *registry, const struct trait_edit *edit, struct guard guard,
	const struct locked_tenant *owner, struct resource *resource);
// Can the deletion of a resource of this type wait for finalizers? Not if it is named by its uid: the clients of Ironic and
// Placement take the answer of DELETE for the end of the resource.
bool resource_type_can_wait(const struct type *type);
// Does the resource have finalizers that a deletion must wait for? Those of a type that can't wait were stored by earlier
// versions, and are ignored.
bool resource_has_finalizers(struct registry *registry, const struct resource *resource);
// Marks a locked resource: it is deleted once its finalizers are gone. OUTCOME_ACCEPTED, or that of a failed statement.
enum outcome resource_mark_for_deletion(struct registry *registry, struct resource *resource);
// What selects the rows of one deletion. resource is the one whose deletion was requested; request_id: the 16 bytes of that
// request's id.
struct sql_deletion resource_deletion(struct registry *registry, const struct resource *resource, struct str request_id);
// Deletes a locked resource that may be deleted, and all that belongs to it. OUTCOME_NO_CONTENT; OUTCOME_LOCKED;
// OUTCOME_ACCEPTED if it is a namespace that is deleted later (resource_space_delete).
enum outcome resource_delete_locked(struct registry *registry, struct resource *resource);

// ---- parts of deletions (delete.c)

// Selects what is deleted along with a namespace, or with the root of a tree.
struct sql_content_of content_of(struct registry *registry, const struct resource *resource);
// Writes the change rows of the content, of about `expected` resources, and deletes it. The resource must have its times of
// deletion. *n: how many resources were deleted. OUTCOME_OK.
enum outcome resource_delete_content(struct registry *registry, enum sql_content kind, struct resource *resource, uint64_t expected,
	uint64_t *n);
// May the locked or just looked at resource be deleted now, without waiting for finalizers? OUTCOME_OK; OUTCOME_ACCEPTED: it
// would wait; _CONFLICT, _LOCKED, or what the rules of its type say.
enum outcome resource_may_delete(struct registry *registry, const struct resource *resource);
// deleted_us: the transaction's time; purge_us: when the retention ends.
void resource_set_deletion_times(struct registry *registry, struct resource *resource);
// Marks the resource's own row as deleted, with its times of deletion, and lowers the tenant's count of resources by it and by
// with_it others. OUTCOME_NO_CONTENT.
enum outcome resource_mark_deleted(struct registry *registry, struct resource *resource, uint64_t with_it);
// Makes the lookup keys of what this request has deleted free for other resources.
struct db_call resource_free_lookup_keys_call(struct registry *registry, const struct resource *resource);
// Describes the problem; returns OUTCOME_LOCKED.
enum outcome resource_fail_content_locked(struct registry *registry, const struct resource *space);

// ---- recovering (recover.c)

// Checks that the root of the tree of a deleted resource is live in the resource's tenant, and locks it in share mode until the
// transaction ends. For the may_recover() of rules that ask for more than that. OUTCOME_OK, also if the resource is in no tree or
// is a root itself; OUTCOME_CONFLICT.
enum outcome resource_check_root(struct registry *registry, const struct resource *resource);

// Recoveries in a transaction that goes on to other work. They leave out what needs the lock of the traits' revision, for which
// writers of traits in all tenants wait until COMMIT. The caller does that last in the transaction, by resource_end_recoveries().
// of: gets the deletion that was taken back, for that call; in registry->pool, or what the caller passed.
//
// resource_recover() of the resource with that uid. OUTCOME_NO_CONTENT; else as resource_recover().
enum outcome resource_begin_recovery(struct registry *registry, const struct address *address, const struct uuid *uid, struct guard guard,
	struct sql_deletion *of);
// Recovers the namespaces that a move merged: all that this request deleted in the tenant and that is in no namespace. The caller
// has moved registry->stamp_us behind the request. request: 16 bytes. OUTCOME_NO_CONTENT; else as resource_recover().
enum outcome resource_begin_recovery_at_large(struct registry *registry, struct str tenant, struct str request, struct sql_deletion *of);
// Makes the hidden traits and classes live that the resources of these n deletions use, and takes from them the mark of their
// deletion. n may be 0. OUTCOME_OK, or that of a failed statement.
enum outcome resource_end_recoveries(struct registry *registry, const struct sql_deletion *of, size_t n);

// ---- looking at a recovery first (recover.c)

// resource_recover(), of what that request deleted: several may have had the same uid. request: 16 bytes.
enum outcome resource_recover_deletion(struct registry *registry, const struct address *address, const struct uuid *uid, struct str request,
	struct guard guard);

// Called with each obstacle: the path of what is to be recovered, and the outcome with which its recovery would fail, which is
// described in registry->problem. Returns OUTCOME_OK, or an outcome to stop with.
struct resource_obstacles {
	enum outcome (*note)(void *arg, struct str path, enum outcome outcome);
	void *arg;
};
// Looks for what of other resources is in the way of a recovery: taken names, uids and lookup keys, and references to what is
// gone; at most `limit` of each. Locks nothing. OUTCOME_OK, or that of a failed statement.
enum outcome resource_recovery_look(struct registry *registry, const struct sql_deletion *of, uint64_t limit, struct resource_obstacles note);

// ---- namespaces that are being deleted (space_end.c)

// Deletes a namespace with its content. The caller has locked its row; it has no finalizers of its own. OUTCOME_NO_CONTENT;
// OUTCOME_LOCKED; OUTCOME_ACCEPTED: it waits for finalizers of its content, or is deleted in the background.
enum outcome resource_space_delete(struct registry *registry, struct resource *space);
// Marks n resources of the namespace as waiting for their finalizers. The caller has locked their rows. Changes the list's
// elements. OUTCOME_OK.
enum outcome resource_space_mark_waiting(struct registry *registry, const struct resource *space, struct resource *list, size_t n);
// Called when the rest of the content is deleted. OUTCOME_OK if the namespace is empty. OUTCOME_ACCEPTED: it waits, and its
// conditions say for what.
enum outcome resource_space_wait(struct registry *registry, struct resource *space);
// Called after a marked resource was deleted: deletes its namespace if that waited for this resource, or updates its
// conditions. OUTCOME_OK.
enum outcome resource_space_settle(struct registry *registry, const struct resource *gone);

// ---- large namespaces (space_pieces.c)

// The resources in a namespace that its deletion has to delete or mark; without those that already wait for their finalizers.
struct space_size {
	uint64_t n; // resources
	bool large; // too much for one transaction; then the other members describe only part of the content
	bool locked; // some of the resources are locked
	bool may_wait; // some of them may have finalizers
	int64_t last_change_us; // of the resource that was changed last; 0: there are none
};
// The caller has locked the namespace's row. OUTCOME_OK; OUTCOME_ACCEPTED: it is being deleted in the background already.
enum outcome resource_space_measure(struct registry *registry, const struct resource *space, struct space_size *size);
// Is no resource in the namespace locked? The caller has locked the namespace's row, so none becomes so meanwhile. OUTCOME_OK;
// OUTCOME_LOCKED.
enum outcome resource_space_check_content(struct registry *registry, const struct resource *space);
// Marks a large namespace as being deleted, so that nothing can be created in it, and queues it for resource_space_take_piece().
// The caller has locked its row. OUTCOME_ACCEPTED; OUTCOME_LOCKED.
enum outcome resource_space_empty_later(struct registry *registry, struct resource *space);
// For the mover: deletes one piece of the namespace that has a row in namespace_deletions with this id or, if nothing is left,
// the namespace itself. Call it in a transaction of its own. Sets the registry's request id to that of the request for the
// deletion. OUTCOME_OK; OUTCOME_NO_CONTENT: another process does it, or it is done.
enum outcome resource_space_take_piece(struct registry *registry, uint64_t id);

// How many of n documents with these sizes in bytes make a page, of at most limit documents. At least one, so that every page
// advances.
size_t resource_page_fitting(const uint64_t *bytes, size_t n, uint64_t limit);

// ---- immutable fields (immutable.c)

// Checks that a change keeps the fields that are immutable in this type. body: as it will be stored. OUTCOME_OK, at once for
// types that have none; OUTCOME_BAD_DOCUMENT with causes.
enum outcome resource_check_immutable(struct registry *registry, const struct address *address, const struct resource *current,
	struct str body);

// ---- lookup keys (lookup_key.c)

// The calls that change the lookup keys from before (NULL: none) to after: at most 2 * LOOKUP_KEYS_MAX. of[i] is the key that
// call i writes: if its result is DB_DUPLICATE, another resource has that key.
size_t lookup_key_calls(struct registry *registry, const struct resource *resource, const struct relations *before,
	const struct relations *after, struct db_call *calls, const struct lookup_key **of);

#endif
