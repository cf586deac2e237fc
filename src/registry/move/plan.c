// SPDX-License-Identifier: Apache-2.0
// Plans a move: what it affects, and tags that change when any of this, or what is in its way (blockers.c), changes.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "registry/core/settings.h"
#include "registry/move/internal.h"
#include "registry/resource/resource.h"
#include "registry/tenant/internal.h"
#include "registry/tenant/tenant.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"
#include "registry/type/tree.h"

static bool locks(enum move_look look)
{
	return look == MOVE_LOOK_LOCKED || look == MOVE_LOOK_COMPARE;
}

// Is the etag of the action wanted?
static bool tells(enum move_look look)
{
	return look == MOVE_LOOK_PREVIEW || look == MOVE_LOOK_COMPARE;
}

// ---- tenants

static enum outcome check_tenant(struct registry *registry, const struct tenant *tenant, struct str name,
	const char *role)
{
	if (tenant->id == 0 || tenant_expired(registry, tenant)) {
		registry_concerns_no(registry, name);
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %s tenant \"%.*s\"", role, STR_ARG(name));
	}
	if (tenant->deleted_us != 0)
		return registry_fail_deleted(registry, tenant->purge_us, "the %s tenant \"%.*s\" was deleted", role,
			STR_ARG(name));
	return OUTCOME_OK;
}

enum outcome move_lock_tenants(struct registry *registry, struct str source, struct str dest)
{
	const struct sql_move_lock_tenants lock = { .source = source, .dest = dest };
	struct db_call call = sql_move_lock_tenants_call(registry->pool, lock_wait(registry), &lock);
	const struct str tenants[] = { source, dest };

	assert(db_txn_writes(registry->db));
	return registry_take_locks(registry, tenants, COUNT_OF(tenants), &call, 1);
}

static enum outcome read_tenants(struct registry *registry, const struct move_order *order, bool locked,
	struct move_action *action)
{
	const struct sql_move_lock_tenants lock = { .source = order->source, .dest = order->dest };
	const struct sql_move_tenants read = { .source = order->source, .dest = order->dest };
	struct db_call calls[2] = {
		sql_move_lock_tenants_call(registry->pool, lock_wait(registry), &lock),
		sql_move_tenants_call(registry->pool, &read),
	};
	const struct str tenants[] = { order->source, order->dest };
	enum outcome outcome = OUTCOME_OK;

	if (locked)
		outcome = registry_take_locks(registry, tenants, COUNT_OF(tenants), calls, COUNT_OF(calls));
	else
		outcome = move_run_call(registry, &calls[1]);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < calls[1].rows.n; i++) {
		const struct tenant tenant = tenant_of_columns(&sql_move_tenants_row(&calls[1].rows, i)->t);

		if (str_eq(tenant.name, order->source))
			action->source = tenant;
		if (str_eq(tenant.name, order->dest))
			action->dest = tenant;
	}
	return check_tenant(registry, &action->source, order->source, "source");
}

static enum outcome check_dest(struct registry *registry, const struct move_order *order,
	const struct move_action *action)
{
	if (str_eq(order->source, order->dest))
		return registry_fail(registry, OUTCOME_CONFLICT,
			"source and destination are the same tenant: name another one in dest");
	enum outcome outcome = str_eq_c(order->dest, TENANT_SYSTEM) ? OUTCOME_OK : tenant_check_reserved(registry, order->dest);
	if (outcome == OUTCOME_OK)
		outcome = check_tenant(registry, &action->dest, order->dest, "destination");
	if (outcome == OUTCOME_OK && tenant_deletion_asked(&action->dest))
		outcome = registry_fail(registry, OUTCOME_CONFLICT,
			"the destination tenant \"%.*s\" is being terminated: it goes once "
			"its finalizers are gone, with all that is in it", STR_ARG(order->dest));
	return outcome;
}

// ---- the set

static enum outcome choose_set(struct registry *registry, const struct move_order *order, struct move_plan *plan)
{
	struct move_action *action = plan->action;

	plan->set = (struct move_set){ .kind = SQL_MOVE_SET_ALL, .in.tenant_id = action->source.id };
	if (order->changed.upto > 0) {
		assert(order->address == NULL && order->changed.first > 0);
		plan->set.kind = SQL_MOVE_SET_CHANGED;
		plan->set.in.changed_after = order->changed.after;
		plan->set.in.changed_upto = order->changed.upto;
		plan->set.in.after = order->changed.first - 1;
		plan->set.in.upto = order->changed.last;
		plan->returning = order->changed.returning;
	}
	if (order->address == NULL)
		return OUTCOME_OK;
	enum outcome outcome = resource_get(registry, order->address, &action->resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (action->resource.live == RESOURCE_PINNED)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the namespace \"default\" belongs to its tenant and does not move; what is in it does");
	const struct type *type = action->resource.type;
	plan->set.in.resource_id = action->resource.id;
	plan->set.in.space = action->resource.name;
	if (type == type_namespaces(registry)) {
		plan->set.kind = SQL_MOVE_SET_SPACE;
	} else if (resource_is_top(&action->resource)) {
		plan->set.kind = SQL_MOVE_SET_TREE;
		plan->set.in.root = tree_value(registry, type, &action->resource.uid);
	} else {
		plan->set.kind = SQL_MOVE_SET_ONE;
	}
	return OUTCOME_OK;
}

static void read_sum(struct move_plan *plan, const struct db_rows *rows)
{
	const struct sql_move_sum_row *row = sql_move_sum_row(rows, 0);

	plan->found.sum = (struct state_sum){ row->n, { row->h0, row->h1, row->h2, row->h3 } };
	plan->action->count = row->n;
	plan->action->bytes = row->bytes;
	plan->found.locked = row->locked;
	plan->found.types = row->types;
}

// Reads the sums of the set, and the counts of both tenants. Under the locks it also makes sure that the time of the move is
// not before the last change of any resource that it takes.
static enum outcome sum_set(struct registry *registry, struct move_plan *plan, enum move_look look)
{
	struct move_action *action = plan->action;
	struct pool *pool = registry->pool;
	static_assert((int)SQL_MOVE_SUMMED_CHANGED == (int)SQL_MOVE_SET_CHANGED &&
			(int)SQL_MOVE_DATED_CHANGED == (int)SQL_MOVE_SET_CHANGED,
		"the kinds of sets stand in one order");
	const struct sql_move_sum sum_in = { .set = plan->set.in };
	const struct sql_move_last_change last_in = { .set = plan->set.in };
	const struct sql_move_any_emptied emptied_in = { .set = plan->set.in };
	struct db_call calls[6] = {
		sql_move_sum_call(pool, (enum sql_move_summed)plan->set.kind, &sum_in),
		sql_move_any_call(pool, &(struct sql_move_any){ .tenant_id = action->dest.id }),
		sql_move_any_emptied_call(pool, plan->set.kind, &emptied_in),
	};
	struct db_call *last = NULL, *counts = NULL;
	bool by_sum = move_counts_by_sum(plan);
	size_t n = 3;

	if (locks(look)) {
		last = &calls[n++];
		*last = sql_move_last_change_call(pool, (enum sql_move_dated)plan->set.kind, &last_in);
	}
	if (tells(look)) {
		counts = &calls[n];
		calls[n++] = move_count_call(pool, action->dest.id);
		if (!by_sum)
			calls[n++] = move_count_call(pool, action->source.id);
	}
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	read_sum(plan, &calls[0].rows);
	action->listed = action->count <= registry->settings->move_list_max;
	plan->found.dest_has_any = calls[1].rows.n > 0;
	plan->found.emptied = calls[2].rows.n > 0;
	if (last != NULL && !sql_move_last_change_row(&last->rows, 0)->at_is_null)
		registry_stamp_after(registry, sql_move_last_change_row(&last->rows, 0)->at);
	if (counts == NULL)
		return OUTCOME_OK;
	move_read_counts(registry, &counts[0].rows, &action->dest_counts);
	if (by_sum)
		return move_count_by_sum(registry, plan, &action->source_counts);
	move_read_counts(registry, &counts[1].rows, &action->source_counts);
	return OUTCOME_OK;
}

enum outcome move_plan(struct registry *registry, const struct move_order *order, enum move_look look,
	struct move_plan *plan)
{
	bool locked = locks(look);
	struct move_action *action = plan->action;

	assert(plan->action != NULL && (!locked || db_txn_writes(registry->db)));
	action->resource.tenant = order->source; // the address that was asked for, also if the resource is not found
	// SUM over no rows yields "0".
	plan->found.merged = (struct state_sum){ 0, { STR("0"), STR("0"), STR("0"), STR("0") } };
	enum outcome outcome = read_tenants(registry, order, locked, action);

	if (locked)
		// a policy or definition may have changed while this transaction waited for the locks
		definitions_invalidate(registry);
	if (outcome == OUTCOME_OK)
		outcome = choose_set(registry, order, plan);
	if (outcome == OUTCOME_OK)
		outcome = check_dest(registry, order, action);
	if (outcome == OUTCOME_OK)
		outcome = sum_set(registry, plan, look);
	if (outcome == OUTCOME_OK)
		outcome = move_find_blockers(registry, plan);
	if (outcome != OUTCOME_OK)
		return outcome;
	move_state_tag(registry, &action->source.uid, &plan->found.sum, action->tag, &action->other_tags);
	if (tells(look))
		move_state_tag_of_action(registry, action, &plan->found.sum, &plan->found.merged);
	return OUTCOME_OK;
}

// ---- the preview

static enum outcome list_items(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const struct sql_move_items in = { .set = plan->set.in, .limit = action->count };
	struct db_call call = sql_move_items_call(registry->pool, plan->set.kind, &in);
	enum outcome outcome = move_run_call(registry, &call);

	if (outcome != OUTCOME_OK)
		return outcome;
	assert(call.rows.n == action->count); // both are read in one snapshot
	action->items = POOL_ARRAY(registry->pool, struct move_item, call.rows.n);
	for (size_t i = 0; i < call.rows.n; i++) {
		struct move_item *item = &action->items[i];
		const struct sql_move_items_row *row = sql_move_items_row(&call.rows, i);

		uuid_from_bytes(row->uid, &item->uid);
		item->path = resource_path(registry->pool, type_of_resource(registry, 0, row->type_id), row->namespace,
			row->name);
		move_state_tag_of_one(registry, &item->uid, row->revision, item->tag);
	}
	return OUTCOME_OK;
}

enum outcome move_preview(struct registry *registry, const struct move_order *order, struct move_action *action)
{
	struct move_plan plan = { .action = action };

	*action = (struct move_action){ 0 };
	enum outcome outcome = move_plan(registry, order, MOVE_LOOK_PREVIEW, &plan);
	if (outcome != OUTCOME_OK)
		return outcome;
	return action->listed ? list_items(registry, &plan) : OUTCOME_OK;
}
