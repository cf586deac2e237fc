// SPDX-License-Identifier: Apache-2.0
// Plans a move: what it affects, what is in its way, and tags that change when any of this changes.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/lock.h"
#include "registry/core/settings.h"
#include "registry/crd/internal.h"
#include "registry/move/internal.h"
#include "registry/placement/rules.h"
#include "registry/resource/resource.h"
#include "registry/tenant/internal.h"
#include "registry/tenant/tenant.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"
#include "registry/type/tree.h"

static const char ending_detail[] =
	"the destination's namespace of that name goes once its finalizers are gone, with all that is in it: wait for that";

static const char emptied_detail[] = "the namespace is being deleted with all that is in it: wait until it is gone";

// Runs a statement. Returns OUTCOME_OK if it succeeded, else the outcome of its failure.
static enum outcome run_call(struct registry *registry, struct db_call *call)
{
	enum db_result result = db_run_call(registry->db, registry->pool, call);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- tenants

static enum outcome check_tenant(struct registry *registry, const struct tenant *tenant, struct str name,
	const char *role)
{
	if (tenant->id == 0 || tenant_expired(registry, tenant))
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %s tenant \"%.*s\"", role, STR_ARG(name));
	if (tenant->deleted_us != 0)
		return registry_fail_deleted(registry, tenant->purge_us, "the %s tenant \"%.*s\" was deleted", role,
			STR_ARG(name));
	return OUTCOME_OK;
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
		outcome = run_call(registry, &calls[1]);
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

static int by_type_name(const void *a, const void *b)
{
	return str_cmp(((const struct type_count *)a)->type, ((const struct type_count *)b)->type);
}

static void read_counts(struct registry *registry, const struct db_rows *rows, struct type_counts *counts)
{
	counts->n = rows->n;
	counts->list = POOL_ARRAY(registry->pool, struct type_count, rows->n);
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_move_count_types_row *row = sql_move_count_types_row(rows, i);

		counts->list[i] = (struct type_count){
			type_name(registry->pool, type_of_resource(registry, 0, row->type_id)), row->n
		};
	}
	if (rows->n > 0)
		qsort(counts->list, counts->n, sizeof(*counts->list), by_type_name);
}

static void read_sum(struct move_plan *plan, const struct db_rows *rows, struct state_sum *sum)
{
	const struct sql_move_sum_row *row = sql_move_sum_row(rows, 0);

	*sum = (struct state_sum){ row->n, { row->h0, row->h1, row->h2, row->h3 } };
	plan->action->count = row->n;
	plan->action->bytes = row->bytes;
	plan->found.locked = row->locked;
	plan->found.types = row->types;
}

static struct db_call count_types_call(struct pool *pool, uint64_t tenant_id)
{
	return sql_move_count_types_call(pool, &(struct sql_move_count_types){ .tenant_id = tenant_id });
}

// Reads the sums of the set, and the counts of both tenants. Under the locks it also makes sure that the time of the move is
// not before the last change of any resource that it takes.
static enum outcome sum_set(struct registry *registry, struct move_plan *plan, enum move_look look, struct state_sum *sum)
{
	struct move_action *action = plan->action;
	struct pool *pool = registry->pool;
	static_assert((int)SQL_MOVE_SUMMED_TREE == (int)SQL_MOVE_SET_TREE && (int)SQL_MOVE_DATED_TREE == (int)SQL_MOVE_SET_TREE,
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
	size_t n = 3;

	if (look != MOVE_LOOK_PREVIEW) {
		last = &calls[n++];
		*last = sql_move_last_change_call(pool, (enum sql_move_dated)plan->set.kind, &last_in);
	}
	if (look != MOVE_LOOK_LOCKED) {
		counts = &calls[n];
		calls[n++] = count_types_call(pool, action->source.id);
		calls[n++] = count_types_call(pool, action->dest.id);
	}
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	read_sum(plan, &calls[0].rows, sum);
	action->listed = action->count <= registry->settings->move_list_max;
	plan->found.dest_has_any = calls[1].rows.n > 0;
	plan->found.emptied = calls[2].rows.n > 0;
	if (last != NULL && !sql_move_last_change_row(&last->rows, 0)->at_is_null)
		registry_stamp_after(registry, sql_move_last_change_row(&last->rows, 0)->at);
	if (counts == NULL)
		return OUTCOME_OK;
	read_counts(registry, &counts[0].rows, &action->source_counts);
	read_counts(registry, &counts[1].rows, &action->dest_counts);
	return OUTCOME_OK;
}

// ---- blockers

static void add_blocker(struct registry *registry, struct move_action *action, const struct move_blocker *blocker)
{
	if (action->blockers == NULL)
		action->blockers = POOL_ARRAY(registry->pool, struct move_blocker, MOVE_MAX_BLOCKERS);
	if (action->n_blockers == MOVE_MAX_BLOCKERS)
		action->more_blockers = true;
	else
		action->blockers[action->n_blockers++] = *blocker;
}

static struct db_call obstacles_call(struct registry *registry, const struct move_plan *plan,
	enum sql_move_obstacle obstacle, const struct type *type)
{
	const struct sql_move_obstacles in = {
		.dest_id = plan->action->dest.id,
		.namespaces = type_namespaces(registry)->id,
		.type_id = type != NULL ? type->id : 0,
		.set = plan->set.in,
		.limit = MOVE_MAX_BLOCKERS + 1,
	};

	return sql_move_obstacles_call(registry->pool, obstacle, plan->set.kind, &in);
}

static void add_obstacles(struct registry *registry, struct move_action *action, const struct db_rows *rows,
	const char *reason, const char *detail)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_move_obstacles_row *row = sql_move_obstacles_row(rows, i);
		const struct move_blocker blocker = {
			.resource = resource_path(registry->pool, type_of_resource(registry, 0, row->type_id), row->namespace,
				row->name),
			.reason = reason,
			.detail = str_c(detail),
		};

		add_blocker(registry, action, &blocker);
	}
}

static const char taken_detail[] = "the destination has a resource of that name; rename, move or delete one of them";

static enum outcome find_taken_by_merge(struct registry *registry, struct move_plan *plan)
{
	struct move_taken taken;
	enum outcome outcome = move_merge_names(registry, plan, MOVE_MAX_BLOCKERS + 1, &taken);

	for (size_t i = 0; outcome == OUTCOME_OK && i < taken.n; i++) {
		const struct move_name *name = &taken.names[i];
		const struct move_blocker blocker = {
			.resource = resource_path(registry->pool, type_of_resource(registry, 0, name->type_id), name->space,
				name->name),
			.reason = "name-taken",
			.detail = str_c(taken_detail),
		};
		add_blocker(registry, plan->action, &blocker);
	}
	return outcome;
}

static enum outcome find_taken(struct registry *registry, struct move_plan *plan)
{
	bool merges = move_merges_names(plan);
	const struct sql_move_merged merged_in = {
		.dest_id = plan->action->dest.id,
		.namespaces = type_namespaces(registry)->id,
		.set = plan->set.in,
	};
	struct db_call calls[3] = {
		sql_move_merged_call(registry->pool, plan->set.kind, &merged_in),
		obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_ENDING, NULL),
	};
	if (!merges)
		calls[2] = obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_TAKEN, NULL);
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, merges ? 2 : 3);

	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_move_merged_row *merged = sql_move_merged_row(&calls[0].rows, 0);

	plan->found.merged = (struct state_sum){ merged->n, { merged->h0, merged->h1, merged->h2, merged->h3 } };
	if (!merges)
		add_obstacles(registry, plan->action, &calls[2].rows, "name-taken", taken_detail);
	enum outcome outcome = merges ? find_taken_by_merge(registry, plan) : OUTCOME_OK;
	if (outcome != OUTCOME_OK)
		return outcome;
	add_obstacles(registry, plan->action, &calls[1].rows, "namespace-terminating", ending_detail);
	return OUTCOME_OK;
}

// A namespace that is being emptied, by a deletion that was accepted: what is left in it would live on elsewhere.
static enum outcome find_emptied(struct registry *registry, struct move_plan *plan)
{
	struct db_call call = obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_EMPTIED, NULL);
	enum outcome outcome = run_call(registry, &call);

	if (outcome == OUTCOME_OK)
		add_obstacles(registry, plan->action, &call.rows, "namespace-terminating", emptied_detail);
	return outcome;
}

static enum outcome find_locked(struct registry *registry, struct move_plan *plan)
{
	struct db_call call = obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_LOCKED, NULL);
	enum outcome outcome = run_call(registry, &call);

	if (outcome == OUTCOME_OK)
		add_obstacles(registry, plan->action, &call.rows, "locked", "set metadata.locked to false first");
	return outcome;
}

static void check_quota(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	uint64_t coming = action->count - plan->found.merged.count;

	if (!action->dest.has_limit || coming == 0 || action->dest.resources + coming <= action->dest.max_resources)
		return;
	struct move_blocker blocker = {
		.resource = STR(""),
		.reason = "quota",
		.detail = str_printf(registry->pool,
		"the destination's tier allows %llu resources; it has %llu, and %llu would come",
			(unsigned long long)action->dest.max_resources, (unsigned long long)action->dest.resources,
			(unsigned long long)coming),
	};
	add_blocker(registry, action, &blocker);
}

// A single namespaced resource needs its namespace in the destination. A larger set brings its namespaces along.
static enum outcome check_space(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const struct resource *resource = &action->resource;
	struct db_rows rows;

	if (plan->set.kind != SQL_MOVE_SET_ONE || !resource->type->namespaced)
		return OUTCOME_OK;
	const struct sql_move_namespace in = {
		.tenant_id = action->dest.id,
		.type_id = type_namespaces(registry)->id,
		.name = resource->space,
	};
	enum db_result result = sql_move_namespace_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0 && sql_move_namespace_row(&rows, 0)->doomed_at_is_null)
		return OUTCOME_OK;
	struct move_blocker blocker = {
		.resource = resource_path(registry->pool, resource->type, resource->space, resource->name),
		.reason = "namespace-missing",
		.detail = STR("the destination has no such namespace; make it there, or move the whole namespace"),
	};
	if (rows.n > 0) {
		blocker.reason = "namespace-terminating";
		blocker.detail = str_c(ending_detail);
	}
	add_blocker(registry, action, &blocker);
	return OUTCOME_OK;
}

// A resource of a tree moves only together with the root.
static enum outcome check_attached(struct registry *registry, struct move_plan *plan)
{
	const struct resource *resource = &plan->action->resource;
	struct db_rows rows;

	if (plan->set.kind != SQL_MOVE_SET_ONE || !resource->has_root)
		return OUTCOME_OK;
	const struct sql_move_top in = {
		.uid = uuid_bytes(&resource->root),
		.type_id = tree_type(registry, resource->type)->id,
	};
	enum db_result result = sql_move_top_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	struct str top = STR("what it belongs to");
	if (rows.n > 0) {
		const struct sql_move_top_row *row = sql_move_top_row(&rows, 0);
		top = resource_path(registry->pool, type_of_resource(registry, 0, row->type_id), row->namespace, row->name);
	}
	struct move_blocker blocker = {
		.resource = resource_path(registry->pool, resource->type, resource->space, resource->name),
		.reason = "attached",
		.detail = str_printf(registry->pool, "it belongs to %.*s: move that, and it comes along", STR_ARG(top)),
	};
	add_blocker(registry, plan->action, &blocker);
	return OUTCOME_OK;
}

// Finds out what becomes of the resources of one type whose definition can differ between tenants.
static enum outcome check_type(struct registry *registry, struct move_plan *plan, const struct type *type)
{
	const struct move_action *action = plan->action;
	enum definition_fate fate;
	enum outcome outcome = definition_after_move(registry, action->source.name, action->dest.name,
		plan->set.kind == SQL_MOVE_SET_ALL, type, &fate);

	if (outcome != OUTCOME_OK || fate == DEFINITION_SAME)
		return outcome;
	struct db_call call = obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_OF_TYPE, type);
	outcome = run_call(registry, &call);
	if (outcome == OUTCOME_OK && fate == DEFINITION_NONE)
		add_obstacles(registry, plan->action, &call.rows, "type-unavailable",
			type->builtin ? "the type is the operator's alone; its resources stay in the system's space" :
					"the destination has no such type; define it there, or share it with that tenant");
	else if (outcome == OUTCOME_OK)
		add_obstacles(registry, plan->action, &call.rows, "type-differs",
			"the destination has another definition of the type; move to where it is the same");
	return outcome;
}

static enum outcome check_type_id(struct registry *registry, struct move_plan *plan, uint64_t id)
{
	const struct type *type = type_of_resource(registry, 0, id);

	plan->found.definitions = plan->found.definitions || type == type_definitions(registry);
	return definition_varies(type) ? check_type(registry, plan, type) : OUTCOME_OK;
}

// Checks all types of the set if some of their ids are too large for found.types.
static enum outcome check_many_types(struct registry *registry, struct move_plan *plan)
{
	struct db_call call =
		sql_move_types_call(registry->pool, plan->set.kind, &(struct sql_move_types){ .set = plan->set.in });
	enum outcome outcome = run_call(registry, &call);

	for (size_t i = 0; outcome == OUTCOME_OK && i < call.rows.n; i++)
		outcome = check_type_id(registry, plan, sql_move_types_row(&call.rows, i)->type_id);
	return outcome;
}

static enum outcome check_few_types(struct registry *registry, struct move_plan *plan)
{
	enum outcome outcome = OUTCOME_OK;

	for (unsigned id = 0; outcome == OUTCOME_OK && id < 63; id++) {
		if ((plan->found.types >> id & 1) != 0)
			outcome = check_type_id(registry, plan, id);
	}
	return outcome;
}

static void add_clash(struct registry *registry, struct move_action *action, const struct definition_clash *clash)
{
	struct move_blocker blocker = {
		.resource = resource_path(registry->pool, type_definitions(registry), STR(""), clash->name),
		.reason = "type-shared",
		.detail =
		STR("there it would be shared with other tenants: take its range, or the label that forces it, away first"),
	};
	if (clash->common.p != NULL) {
		blocker.reason = "name-taken";
		blocker.detail = str_printf(registry->pool, "\"%.*s\" is in use there by %.*s: delete or move one of them",
			STR_ARG(clash->common), STR_ARG(clash->other));
	}
	add_blocker(registry, action, &blocker);
}

// A definition that moves must satisfy the same conditions as one that is created in the destination.
static enum outcome check_definitions(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const struct sql_move_definitions in = { .type_id = type_definitions(registry)->id, .set = plan->set.in };
	struct db_call call = sql_move_definitions_call(registry->pool, plan->set.kind, &in);
	struct definition_clash *clashes;
	size_t n = 0;
	unsigned too_many = 0;
	enum outcome outcome = run_call(registry, &call);

	if (outcome == OUTCOME_OK)
		outcome = definitions_meet(registry, action->dest.name, &call.rows, &clashes, &n, &too_many);
	for (size_t i = 0; outcome == OUTCOME_OK && i < n; i++)
		add_clash(registry, action, &clashes[i]);
	if (outcome == OUTCOME_OK && too_many > 0) {
		struct move_blocker blocker = {
			.resource = STR(""),
			.reason = "quota",
			.detail = str_printf(registry->pool, "a tenant defines %u types at most: delete some there", too_many),
		};
		add_blocker(registry, action, &blocker);
	}
	return outcome;
}

static enum outcome check_types(struct registry *registry, struct move_plan *plan)
{
	bool many = (plan->found.types & MOVE_OTHER_TYPES) != 0;
	enum outcome outcome = many ? check_many_types(registry, plan) : check_few_types(registry, plan);

	return outcome == OUTCOME_OK && plan->found.definitions ? check_definitions(registry, plan) : outcome;
}

// Providers that consumers of the source tenant's own project use do not move, since the consumers would stay behind.
static enum outcome find_in_use(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const struct sql_move_in_use in = {
		.project = action->source.name,
		.set = plan->set.in,
		.limit = MOVE_MAX_BLOCKERS + 1,
	};
	struct db_call call = sql_move_in_use_call(registry->pool, plan->set.kind, &in);
	bool concerns = plan->set.kind == SQL_MOVE_SET_ALL || action->resource.type->rules == &provider_rules;
	enum outcome outcome = concerns ? run_call(registry, &call) : OUTCOME_OK;

	for (size_t i = 0; concerns && outcome == OUTCOME_OK && i < call.rows.n; i++) {
		const struct sql_move_in_use_row *row = sql_move_in_use_row(&call.rows, i);
		struct uuid consumer = { 0 };
		uuid_from_bytes(row->consumer, &consumer);
		struct move_blocker blocker = {
			.resource = resource_path(registry->pool, type_of_resource(registry, 0, row->type_id), row->namespace,
				row->name),
			.reason = "in-use",
			.detail = str_printf(registry->pool,
			"consumer %.*s of project \"%.*s\" has allocations on it: delete them first",
				STR_ARG(uuid_str(registry->pool, consumer)), STR_ARG(action->source.name)),
		};
		add_blocker(registry, action, &blocker);
	}
	return outcome;
}

static enum outcome find_blockers(struct registry *registry, struct move_plan *plan)
{
	enum outcome outcome = OUTCOME_OK;

	if (plan->action->count > 0 && plan->found.dest_has_any)
		outcome = find_taken(registry, plan);
	if (outcome == OUTCOME_OK && plan->found.emptied)
		outcome = find_emptied(registry, plan);
	if (outcome == OUTCOME_OK && plan->found.locked > 0)
		outcome = find_locked(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = check_space(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = check_attached(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = check_types(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = find_in_use(registry, plan);
	if (outcome == OUTCOME_OK)
		check_quota(registry, plan);
	return outcome;
}

enum outcome move_plan(struct registry *registry, const struct move_order *order, enum move_look look,
	struct move_plan *plan)
{
	bool locked = look != MOVE_LOOK_PREVIEW;
	struct state_sum sum = { 0 };
	struct move_action *action = plan->action;

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
		outcome = sum_set(registry, plan, look, &sum);
	if (outcome == OUTCOME_OK)
		outcome = find_blockers(registry, plan);
	if (outcome != OUTCOME_OK)
		return outcome;
	move_state_tag(registry, &action->source.uid, &sum, action->tag);
	if (look != MOVE_LOOK_LOCKED)
		move_state_tag_of_action(registry, action, &sum, &plan->found.merged);
	return OUTCOME_OK;
}

// ---- the preview

static enum outcome list_items(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const struct sql_move_items in = { .set = plan->set.in, .limit = action->count };
	struct db_call call = sql_move_items_call(registry->pool, plan->set.kind, &in);
	enum outcome outcome = run_call(registry, &call);

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
