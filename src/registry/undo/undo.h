// SPDX-License-Identifier: Apache-2.0
// Takes back what one request changed, as the request's rows of the change log tell it.
#ifndef TENURE_REGISTRY_UNDO_UNDO_H
#define TENURE_REGISTRY_UNDO_UNDO_H

#include "registry/move/move.h"
#include "registry/undo/former.h"

// A request that changed more resources than UNDO_MAX is taken back in the background, by statements over the whole set, if it
// moved them, or deleted or recovered one namespace or tree. Of other large requests nothing is taken back, since each resource
// costs memory and processor time of the undo, which the settings request_memory and request_cpu bound, and the tenants' writers
// wait meanwhile. Up to UNDO_SHOWN resources are shown one by one.
enum { UNDO_MAX = 20000, UNDO_SHOWN = 100 };

// What becomes of what the request changed.
enum undo_action { UNDO_RESTORE, UNDO_DELETE, UNDO_RECOVER, UNDO_MOVE };

// A resource that the request changed.
struct undo_item {
	struct str path; // resource_path()
	struct uuid uid;
	enum undo_action action;
	struct resource resource; // as it is before the undo
	struct former_content restored; // UNDO_RESTORE: the content after the undo; else its state alone counts
	// Of a change of inventories, aggregates or allocations: their name, and what they are now and after the undo; NULL: not
	// known. Else p NULL.
	struct str beside;
	const struct doc *beside_now, *beside_restored;
};

// The call by which the reverse change is made by hand, and what it is about.
enum undo_call {
	UNDO_CALL_WRITE,
	UNDO_CALL_DELETE,
	UNDO_CALL_RECOVER,
	UNDO_CALL_TRAITS,
	UNDO_CALL_MOVE,
	UNDO_CALL_INVENTORIES, // of providers, which are in no namespace
	UNDO_CALL_AGGREGATES,
	UNDO_CALL_ALLOCATIONS,
	UNDO_CALL_RESHAPE, // inventories and allocations together
	UNDO_CALL__N
};
enum undo_place {
	UNDO_PLACE_TENANT,     // the tenant itself
	UNDO_PLACE_ALL,        // all resources of the tenant: UNDO_CALL_MOVE alone
	UNDO_PLACE_POLICY,     // the tenant's policy for types
	UNDO_PLACE_AT_LARGE,   // a resource of the tenant that is in no namespace
	UNDO_PLACE_NAMESPACE,  // a namespace
	UNDO_PLACE_NAMESPACED, // a resource in a namespace
	UNDO_PLACE__N
};

// May the caller make that call for a resource of this type (NULL: it is about the tenant, or a move)? OUTCOME_OK; _FORBIDDEN:
// the caller's role does not suffice; _METHOD_NOT_ALLOWED: the endpoint does not offer the call. Unless OUTCOME_OK, *call_name is
// the call's name, which lives as long as arg.
typedef enum outcome undo_may_fn(void *arg, enum undo_call call, enum undo_place place, const struct type *type,
	struct str *call_name);

struct undo_order {
	struct str tenant;
	struct uuid request;
	undo_may_fn *may;
	void *may_arg;
	bool may_operate; // the caller is an operator: he may change tenants
	bool may_administer; // he may change the tenant's policy for types
	bool preview; // the caller will roll the transaction back, so nothing is queued for the mover
};

struct undo_plan {
	enum undo_action action;
	int64_t at_us; // when the request made its first change
	struct str actor; // whose request it was
	uint64_t count; // changes that the undo takes back
	struct undo_item *items; // in order of the changes, at most UNDO_SHOWN
	size_t n_items;
	struct str from, to; // UNDO_MOVE: the tenant that has what was moved, and the one that had it; p NULL: purged
	struct uuid move; // if the undo goes on in the background: the id of what was queued for the mover
	struct str queued_in; // the tenant whose list of moves has it
	bool of_tenant; // the tenant itself was changed
	struct tenant tenant; // as it is before the undo
	bool has_former_tenant;
	struct tenant former_tenant; // UNDO_RESTORE of a tenant: tier, metadata, object and etag_required after the undo
	// Every reason, up to MOVE_MAX_BLOCKERS, why nothing can be taken back. Reasons: changed-since not-kept purged too-large
	// several-kinds several-tenants deletion-requested not-empty not-offered not-restorable waits token tier, those of moves,
	// and the names of outcomes of what was tried.
	struct move_blocker *blockers;
	size_t n_blockers;
	bool more_blockers; // there were more than MOVE_MAX_BLOCKERS
	char etag[MOVE_TAG_HEX + 1]; // of all that the plan shows
	struct state_tags other_etags; // those that former keys make of the same
};

// Takes the request back, in the transaction that calls it. guard: compared with plan->etag. Call it for a preview, too, without
// a guard, and roll the transaction back: so a preview finds every reason that the undo would find. It locks the tenant's row
// exclusively, for a move those of both tenants, so no other writer comes between. A request that changed more than UNDO_MAX
// resources is looked at without locks and its undo queued for the mover, which looks again under locks. Returns
//   OUTCOME_OK         done; or, if plan->n_blockers > 0, not to be committed: the caller returns undo_fail_blocked() or shows the plan
//   _ACCEPTED          the mover will do it, as plan->move
//   _NOT_FOUND         no such tenant; or the change log has no change of the tenant by that request
//   _FORBIDDEN         the reverse change is an operator's, or the tenant's admin's; or order->may forbids a call that makes it
//   _STALE             by the guard
enum outcome undo_run(struct registry *registry, const struct undo_order *order, struct tag_guard guard, struct undo_plan *plan);
// Describes the plan's blockers in registry->problem. Returns OUTCOME_BLOCKED.
enum outcome undo_fail_blocked(struct registry *registry, const struct undo_plan *plan);

// ---- for the mover

struct undo_task {
	struct str tenant; // the one, or one of the two, whose resources it takes back
	struct uuid request;
};
// Carries out an undo that was queued for the mover. *count: how many resources it takes back. *roll_back: it was refused after
// it had changed something, so the caller has to roll the transaction back. Returns OUTCOME_SEE_OTHER: done; _BLOCKED,
// _NOT_FOUND: refused; or that of a failed statement.
enum outcome undo_carry_out(struct registry *registry, const struct undo_task *task, uint64_t *count, bool *roll_back);

#endif
