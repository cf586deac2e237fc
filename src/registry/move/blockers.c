// SPDX-License-Identifier: Apache-2.0
// What is in the way of a move: names that are taken, locks, quota, namespaces and definitions that the destination lacks,
// what belongs to something that stays.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/crd/internal.h"
#include "registry/move/internal.h"
#include "registry/placement/rules.h"
#include "registry/resource/internal.h"
#include "registry/resource/resource.h"
#include "registry/tenant/tenant.h"
#include "registry/type/internal.h"
#include "registry/type/stored_type.h"
#include "registry/type/tree.h"

static const char ending_detail[] =
	"the destination's namespace of that name is being deleted, with all that is in it: wait until it is gone";

static const char waiting_detail[] =
	"it goes once its finalizers are gone, with all that is in it, which would stay in the destination's: wait until it is deleted";

static const char finalizers_detail[] =
	"it has finalizers, and would be deleted at once, as the destination has a namespace of that name: take the finalizers out first";

static const char awaited_detail[] =
	"its namespace is being deleted, and waits until it is gone: take its finalizers out";

static const char emptied_detail[] = "the namespace is being deleted with all that is in it: wait until it is gone";

static void add_blocker(struct registry *registry, struct move_action *action, const struct move_blocker *blocker)
{
	if (action->blockers == NULL)
		action->blockers = POOL_ARRAY(registry->pool, struct move_blocker, MOVE_MAX_BLOCKERS);
	if (action->n_blockers == MOVE_MAX_BLOCKERS)
		action->more_blockers = true;
	else
		action->blockers[action->n_blockers++] = *blocker;
}

static void block_address(struct registry *registry, struct move_action *action, const struct sql_move_address *address,
	const char *reason, const char *detail)
{
	const struct move_blocker blocker = {
		.resource = resource_path(registry->pool, type_of_resource(registry, 0, address->type_id), address->namespace, address->name),
		.reason = reason,
		.detail = str_c(detail),
	};

	add_blocker(registry, action, &blocker);
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

static void block_obstacles(struct registry *registry, struct move_action *action, const struct db_rows *rows,
	const char *reason, const char *detail)
{
	for (size_t i = 0; i < rows->n; i++)
		block_address(registry, action, &sql_move_obstacles_row(rows, i)->address, reason, detail);
}

static const char taken_detail[] = "the destination has a resource of that name; rename, move or delete one of them";

static enum outcome find_taken_by_merge(struct registry *registry, struct move_plan *plan)
{
	struct move_taken taken;
	enum outcome outcome = move_merge_names(registry, plan, MOVE_MAX_BLOCKERS + 1, &taken);

	for (size_t i = 0; outcome == OUTCOME_OK && i < taken.n; i++) {
		const struct move_name *name = &taken.names[i];
		const struct sql_move_address address = { .type_id = name->type_id, .namespace = name->space, .name = name->name };
		block_address(registry, plan->action, &address, "name-taken", taken_detail);
	}
	return outcome;
}

// How many namespaces are read at a time, and then forgotten: a namespace's documents may be large.
enum { NAMESPACES_A_PAGE = 16 };

// Adds a blocker if the namespace, which would be merged, can't be deleted at once.
static void check_merged(struct registry *registry, struct move_action *action, const struct resource *space)
{
	struct move_blocker blocker = { .reason = "waits", .detail = str_c(finalizers_detail) };

	if (space->deletion_requested_us != 0) {
		blocker.reason = "namespace-terminating";
		blocker.detail = str_c(waiting_detail);
	} else if (!resource_has_finalizers(registry, space)) {
		return;
	}
	blocker.resource = resource_path(registry->pool, space->type, space->space, space->name);
	add_blocker(registry, action, &blocker);
}

// A namespace that is merged is deleted at once. So one stays whose deletion waits for finalizers, or would have to wait for
// them.
static enum outcome find_waiting(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	struct sql_move_merged_waiting in = {
		.dest_id = action->dest.id,
		.namespaces = type_namespaces(registry)->id,
		.set = plan->set.in,
		.after = STR(""),
		.limit = NAMESPACES_A_PAGE,
	};
	enum outcome outcome = OUTCOME_OK;
	uint64_t n = NAMESPACES_A_PAGE;

	while (plan->found.merged.count > 0 && outcome == OUTCOME_OK && n == in.limit && !action->more_blockers) {
		struct pool *page = pool_scratch(registry->pool, SIZE_MAX);
		struct db_rows rows;
		enum db_result result = sql_move_merged_waiting_run(registry->db, page, plan->set.kind, &in, &rows);

		outcome = result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
		n = result == DB_OK ? rows.n : 0;
		for (size_t i = 0; i < n; i++) {
			const struct resource space = resource_of_columns(registry, &sql_move_merged_waiting_row(&rows, i)->r);

			check_merged(registry, action, &space);
			if (i + 1 == n)
				in.after = str_dup(registry->pool, space.name);
		}
		pool_scratch_end(registry->pool, page);
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
		block_obstacles(registry, plan->action, &calls[2].rows, "name-taken", taken_detail);
	enum outcome outcome = merges ? find_taken_by_merge(registry, plan) : OUTCOME_OK;
	if (outcome != OUTCOME_OK)
		return outcome;
	block_obstacles(registry, plan->action, &calls[1].rows, "namespace-terminating", ending_detail);
	return find_waiting(registry, plan);
}

// A namespace that is being emptied, by a deletion that was accepted: what is left in it would live on elsewhere.
static enum outcome find_emptied(struct registry *registry, struct move_plan *plan)
{
	struct db_call call = obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_EMPTIED, NULL);
	enum outcome outcome = move_run_call(registry, &call);

	if (outcome == OUTCOME_OK)
		block_obstacles(registry, plan->action, &call.rows, "namespace-terminating", emptied_detail);
	return outcome;
}

static enum outcome find_locked(struct registry *registry, struct move_plan *plan)
{
	struct db_call call = obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_LOCKED, NULL);
	enum outcome outcome = move_run_call(registry, &call);

	if (outcome == OUTCOME_OK)
		block_obstacles(registry, plan->action, &call.rows, "locked", "set metadata.locked to false first");
	return outcome;
}

static void check_quota(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	uint64_t coming = action->count - plan->found.merged.count + plan->returning;

	if (!action->dest.has_limit || coming == 0 || action->dest.resources + coming <= action->dest.max_resources)
		return;
	struct move_blocker blocker = {
		.resource = STR(""),
		.reason = "quota",
		.detail = str_printf(registry->pool,
		"the destination's tier allows %llu resource%s; it has %llu, and %llu would come",
			(unsigned long long)action->dest.max_resources, action->dest.max_resources == 1 ? "" : "s",
			(unsigned long long)action->dest.resources, (unsigned long long)coming),
	};
	add_blocker(registry, action, &blocker);
}

enum space_state { SPACE_MISSING, SPACE_LIVES, SPACE_ENDS };

// Looks for the tenant's namespace in which this resource is, or would be.
static enum outcome look_at_space(struct registry *registry, uint64_t tenant_id, const struct resource *resource, enum space_state *state)
{
	struct db_rows rows;
	const struct sql_move_namespace in = {
		.tenant_id = tenant_id,
		.type_id = type_namespaces(registry)->id,
		.name = resource->space,
	};
	enum db_result result = sql_move_namespace_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*state = rows.n == 0 ? SPACE_MISSING : sql_move_namespace_row(&rows, 0)->doomed_at_is_null ? SPACE_LIVES : SPACE_ENDS;
	return OUTCOME_OK;
}

// A single namespaced resource needs its namespace in the destination, and stays where its own one waits for it: nothing would
// end that one otherwise. A larger set brings its namespaces along.
static enum outcome check_space(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const struct resource *resource = &action->resource;
	enum space_state here = SPACE_LIVES, there;

	if (plan->set.kind != SQL_MOVE_SET_ONE || !resource->type->namespaced)
		return OUTCOME_OK;
	enum outcome outcome = look_at_space(registry, action->dest.id, resource, &there);
	if (outcome == OUTCOME_OK && resource->deletion_requested_us != 0)
		outcome = look_at_space(registry, resource->tenant_id, resource, &here);
	if (outcome != OUTCOME_OK || (here != SPACE_ENDS && there == SPACE_LIVES))
		return outcome;
	struct move_blocker blocker = {
		.resource = resource_path(registry->pool, resource->type, resource->space, resource->name),
		.reason = "namespace-terminating",
		.detail = here == SPACE_ENDS ? str_c(awaited_detail) : str_c(ending_detail),
	};
	if (here != SPACE_ENDS && there == SPACE_MISSING) {
		blocker.reason = "namespace-missing";
		blocker.detail = STR("the destination has no such namespace; make it there, or move the whole namespace");
	}
	add_blocker(registry, action, &blocker);
	return OUTCOME_OK;
}

// A set of any resources: each needs its namespace in the destination, stays where its own one waits for it, and takes along what
// belongs to it.
static enum outcome check_any_resources(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const uint64_t namespaces = type_namespaces(registry)->id, limit = MOVE_MAX_BLOCKERS + 1;

	if (plan->set.kind != SQL_MOVE_SET_CHANGED)
		return OUTCOME_OK;
	const struct sql_move_missing_namespace missing = {
		.dest_id = action->dest.id,
		.namespaces = namespaces,
		.set = plan->set.in,
		.limit = limit,
	};
	const struct sql_move_left_behind left = { .namespaces = namespaces, .set = plan->set.in, .limit = limit };
	const struct sql_move_terminating_namespace terminating = { .namespaces = namespaces, .set = plan->set.in, .limit = limit };
	struct db_call calls[] = {
		sql_move_missing_namespace_call(registry->pool, plan->set.kind, &missing),
		sql_move_left_behind_call(registry->pool, &left),
		sql_move_terminating_namespace_call(registry->pool, &terminating),
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < calls[0].rows.n; i++)
		block_address(registry, action, &sql_move_missing_namespace_row(&calls[0].rows, i)->address, "namespace-missing",
			"the destination has no such namespace, or it is being deleted: make it there");
	for (size_t i = 0; i < calls[1].rows.n; i++)
		block_address(registry, action, &sql_move_left_behind_row(&calls[1].rows, i)->address, "not-empty",
			"it was added since to what would move, and would stay behind: move or delete it first");
	for (size_t i = 0; i < calls[2].rows.n; i++)
		block_address(registry, action, &sql_move_terminating_namespace_row(&calls[2].rows, i)->address, "namespace-terminating", awaited_detail);
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

// Reads the definitions of the set, if it has any.
static enum outcome read_definitions(struct registry *registry, struct move_plan *plan)
{
	const struct sql_move_definitions in = { .type_id = type_definitions(registry)->id, .set = plan->set.in };
	unsigned bit = in.type_id < 63 ? (unsigned)in.type_id : 63;
	struct db_call call = sql_move_definitions_call(registry->pool, plan->set.kind, &in);

	if ((plan->found.types >> bit & 1) == 0)
		return OUTCOME_OK;
	enum outcome outcome = move_run_call(registry, &call);
	plan->found.definitions = call.rows;
	return outcome;
}

// Does the source's own definition of the type move, too?
static bool brings_definition(struct registry *registry, const struct move_plan *plan, const struct type *type)
{
	struct str name = type_name(registry->pool, type);

	for (size_t i = 0; i < plan->found.definitions.n; i++)
		if (str_eq(sql_move_definitions_row(&plan->found.definitions, i)->name, name))
			return true;
	return false;
}

// Finds out what becomes of the resources of one type whose definition can differ between tenants.
static enum outcome check_type(struct registry *registry, struct move_plan *plan, const struct type *type)
{
	const struct move_action *action = plan->action;
	enum definition_fate fate;
	bool with_definition = brings_definition(registry, plan, type);
	enum outcome outcome = definition_after_move(registry, action->source.name, action->dest.name, with_definition, type, &fate);

	if (outcome != OUTCOME_OK || fate == DEFINITION_SAME)
		return outcome;
	struct db_call call = obstacles_call(registry, plan, SQL_MOVE_OBSTACLE_OF_TYPE, type);
	outcome = move_run_call(registry, &call);
	if (outcome == OUTCOME_OK && fate == DEFINITION_NONE)
		block_obstacles(registry, plan->action, &call.rows, "type-unavailable",
			type->builtin ? "the type is the operator's alone; its resources stay in the system's space" :
					"the destination has no such type; define it there, or share it with that tenant");
	else if (outcome == OUTCOME_OK)
		block_obstacles(registry, plan->action, &call.rows, "type-differs",
			"the destination has another definition of the type; move to where it is the same");
	return outcome;
}

static enum outcome check_type_id(struct registry *registry, struct move_plan *plan, uint64_t id)
{
	const struct type *type = type_of_resource(registry, 0, id);

	return definition_varies(type) ? check_type(registry, plan, type) : OUTCOME_OK;
}

// Checks all types of the set if some of their ids are too large for found.types.
static enum outcome check_many_types(struct registry *registry, struct move_plan *plan)
{
	struct db_call call =
		sql_move_types_call(registry->pool, plan->set.kind, &(struct sql_move_types){ .set = plan->set.in });
	enum outcome outcome = move_run_call(registry, &call);

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
	struct definition_clash *clashes;
	size_t n = 0;
	struct str excess;
	enum outcome outcome = definitions_meet(registry, action->dest.name, &plan->found.definitions, &clashes, &n, &excess);

	for (size_t i = 0; outcome == OUTCOME_OK && i < n; i++)
		add_clash(registry, action, &clashes[i]);
	if (outcome == OUTCOME_OK && excess.p != NULL) {
		struct move_blocker blocker = { .resource = STR(""), .reason = "quota", .detail = excess };
		add_blocker(registry, action, &blocker);
	}
	return outcome;
}

static enum outcome check_types(struct registry *registry, struct move_plan *plan)
{
	bool many = (plan->found.types & MOVE_OTHER_TYPES) != 0;
	enum outcome outcome = read_definitions(registry, plan);

	if (outcome == OUTCOME_OK)
		outcome = many ? check_many_types(registry, plan) : check_few_types(registry, plan);
	return outcome == OUTCOME_OK && plan->found.definitions.n > 0 ? check_definitions(registry, plan) : outcome;
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
	bool concerns = plan->set.kind == SQL_MOVE_SET_ALL || plan->set.kind == SQL_MOVE_SET_CHANGED ||
		action->resource.type->rules == &provider_rules;
	enum outcome outcome = concerns ? move_run_call(registry, &call) : OUTCOME_OK;

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
				UUID_ARG(registry->pool, consumer), STR_ARG(action->source.name)),
		};
		add_blocker(registry, action, &blocker);
	}
	return outcome;
}

enum outcome move_find_blockers(struct registry *registry, struct move_plan *plan)
{
	enum outcome outcome = OUTCOME_OK;

	assert(plan->action->n_blockers == 0);
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
		outcome = check_any_resources(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = check_types(registry, plan);
	if (outcome == OUTCOME_OK)
		outcome = find_in_use(registry, plan);
	if (outcome == OUTCOME_OK)
		check_quota(registry, plan);
	return outcome;
}
