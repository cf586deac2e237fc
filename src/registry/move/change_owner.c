// SPDX-License-Identifier: Apache-2.0
// Gives a resource to another tenant and changes its content, in one transaction.
#include "base/base.h"

#include "base/pool.h"
#include "registry/move/internal.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/tenant/tenant.h"

// Plans the move under exclusive locks of both tenants, so nobody else writes the resource from here on.
static enum outcome plan_change(struct registry *registry, const struct move_order *order, struct move_plan *plan)
{
	enum outcome outcome = move_plan(registry, order, MOVE_LOOK_LOCKED, plan);

	if (outcome != OUTCOME_NOT_FOUND && outcome != OUTCOME_MOVED && outcome != OUTCOME_GONE)
		return outcome;
	db_txn_again(registry->db); // it was moved or deleted before the lock was taken; the next run finds out
	return OUTCOME_UNAVAILABLE;
}

static enum outcome give(struct registry *registry, const struct move_order *order, const struct edit *edit,
	struct guard guard, struct resource *resource)
{
	struct move_action action = { 0 };
	struct move_plan plan = { .action = &action };
	enum outcome outcome = plan_change(registry, order, &plan);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct locked_address place = {
		.tenant = { .id = action.source.id, .etag_required = action.source.etag_required },
	};
	*resource = action.resource;
	outcome = resource_change_content(registry, edit, guard, &place, order->dest, resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (action.n_blockers > 0)
		return move_fail_blocked(registry, &action);
	outcome = move_execute(registry, &plan);
	if (outcome == OUTCOME_SEE_OTHER)
		outcome = move_record(registry, order, &plan, STR_NONE, MOVE_DONE);
	resource->tenant_id = action.dest.id;
	resource->revision++;
	resource->moves++;
	etag_derive(registry, resource);
	return outcome;
}

enum outcome resource_change_owner(struct registry *registry, const struct ident *ident, struct owner_change *change,
	const struct edit *edit, struct guard guard, struct resource *resource)
{
	assert(db_txn_writes(registry->db) && change->new_owner.p != NULL);
	const struct str dest = change->new_owner;
	enum outcome outcome = resource_find(registry, ident, resource);

	change->made = false;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (str_eq(resource->tenant, dest))
		return resource_change(registry, ident, edit, guard, resource);
	const struct address address = { resource->tenant, resource->type, resource->space, resource->name };
	const struct move_order order = { .source = resource->tenant, .dest = dest, .address = &address, .words = 2 };
	outcome = tenant_find_or_make(registry, dest, change->may_make, &change->made);
	return outcome == OUTCOME_OK ? give(registry, &order, edit, guard, resource) : outcome;
}
