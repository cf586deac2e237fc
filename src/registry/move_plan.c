// SPDX-License-Identifier: Apache-2.0
// The move action: what a move affects, what stands in its way, and tags that change when any of it does.
#include "base/base.h"

#include "base/pool.h"
#include "registry/move_internal.h"

// Another resource has the address in the destination; namespaces are merged instead.
#define TAKEN                                                                                                         \
	"JOIN resources d ON d.tenant_id = ? AND d.type_id = r.type_id AND d.namespace = r.namespace AND d.name = r.name " \
	"AND d.live IS NOT NULL "

static const struct db_query q_lock_tenants[2] =
	LOCKING("SELECT id FROM tenants WHERE name IN (?, ?) AND live = 1 ORDER BY id", "FOR UPDATE", "ss", "u");
static const struct db_query q_tenants = {
	"SELECT " TENANT_COLUMNS " FROM " TENANT_TABLES " WHERE t.name IN (?, ?) AND t.live = 1", "ss", TENANT_OUT
};
// All of a tenant's are read from the index that has all these columns. Left to itself, MariaDB (10.11) takes that index for
// one that lacks some when it runs a prepared statement again after another one has read the table's other columns; where
// a tenant has a good part of what is there, it then goes through the whole table.
// In order of types, so all of a tenant's are counted by type in the same go: a row for each, then one for all.
#define SUM(table, set, in)                                                                                                     \
	{ "SELECT COUNT(*), COALESCE(SUM(r.bytes), 0), COALESCE(SUM(r.locked), 0), COALESCE(SUM(r.h0 * r.revision), 0), "         \
	  "COALESCE(SUM(r.h1 * r.revision), 0), COALESCE(SUM(r.h2 * r.revision), 0), COALESCE(SUM(r.h3 * r.revision), 0), "       \
	  "BIT_OR(1 << LEAST(r.type_id, 63)), r.type_id FROM " table " WHERE " set " GROUP BY r.type_id WITH ROLLUP",             \
		in, "uuussssuu" }
static const struct db_query q_sum[MOVE__KINDS] = {
	[MOVE_ALL] = SUM("resources r FORCE INDEX (state)", SET_ALL, "u"),
	[MOVE_ONE] = SUM("resources r", SET_ONE, "u"),
	[MOVE_SPACE] = SUM("resources r", SET_SPACE, "uus"),
	[MOVE_TREE] = SUM("resources r", SET_TREE, "b"),
};
// The time of the last change of any of them: of one that was purged from the log it is past long since.
#define LAST_OF(table, set, in) \
	{ "SELECT MAX(x.at) FROM " table " STRAIGHT_JOIN changes x ON x.id = r.changed WHERE " set, in, "t" }
static const struct db_query q_last_time[MOVE__KINDS] = {
	[MOVE_ALL] = LAST_OF("resources r FORCE INDEX (page)", SET_ALL, "u"),
	[MOVE_ONE] = LAST_OF("resources r", SET_ONE, "u"),
	[MOVE_SPACE] = LAST_OF("resources r", SET_SPACE, "uus"),
	[MOVE_TREE] = LAST_OF("resources r", SET_TREE, "b"),
};
// From the smallest index that has it, in its order: a quarter of what q_sum takes.
static const struct db_query q_counts = {
	"SELECT COUNT(*), r.type_id FROM resources r FORCE INDEX (owner) WHERE r.tenant_id = ? AND r.live = 1 GROUP BY r.type_id",
	"u", "uu"
};
static const struct db_query q_any = {
	"SELECT r.id FROM resources r FORCE INDEX (state) WHERE r.tenant_id = ? AND r.live = 1 LIMIT 1", "u", "u"
};
static const struct db_query q_items[MOVE__KINDS] =
	MOVE_QUERIES("SELECT r.uid, r.type_id, r.namespace, r.name, r.revision FROM resources r WHERE ",
		" ORDER BY r.namespace, r.type_id, r.name LIMIT ?", "", "u", "bussu");
static const struct db_query q_taken[MOVE__KINDS] =
	MOVE_QUERIES("SELECT r.type_id, r.namespace, r.name FROM resources r " TAKEN "WHERE r.type_id <> ? AND ",
		" ORDER BY r.namespace, r.type_id, r.name LIMIT ?", "uu", "u", "uss");
static const struct db_query q_locked[MOVE__KINDS] =
	MOVE_QUERIES("SELECT r.type_id, r.namespace, r.name FROM resources r WHERE r.locked AND ",
		" ORDER BY r.namespace, r.type_id, r.name LIMIT ?", "", "u", "uss");
static const struct db_query q_merged[MOVE__KINDS] =
	MOVE_QUERIES("SELECT COUNT(*), COALESCE(SUM(d.h0), 0), COALESCE(SUM(d.h1), 0), COALESCE(SUM(d.h2), 0), "
		     "COALESCE(SUM(d.h3), 0) FROM resources r " TAKEN "WHERE r.type_id = ? AND ",
		"", "uu", "", "ussss");
// What would be merged into a namespace that is about to go would go with it.
static const struct db_query q_ending[MOVE__KINDS] =
	MOVE_QUERIES("SELECT r.type_id, r.namespace, r.name FROM resources r " TAKEN "WHERE r.type_id = ? AND "
		     "d.doomed_at IS NOT NULL AND ",
		" ORDER BY r.name LIMIT ?", "uu", "u", "uss");
static const struct db_query q_types[MOVE__KINDS] =
	MOVE_QUERIES("SELECT DISTINCT r.type_id FROM resources r WHERE ", "", "", "", "u");
static const struct db_query q_of_type[MOVE__KINDS] =
	MOVE_QUERIES("SELECT r.type_id, r.namespace, r.name FROM resources r WHERE r.type_id = ? AND ",
		" ORDER BY r.namespace, r.name LIMIT ?", "u", "u", "uss");
static const struct db_query q_coming[MOVE__KINDS] =
	MOVE_QUERIES("SELECT r.name, JSON_VALUE(r.body, '$.spec.group'), JSON_QUERY(r.body, '$.spec.names'), r.meta, "
		     "JSON_QUERY(r.body, '$.spec.applicableRange') FROM resources r WHERE r.type_id = ? AND ",
		" ORDER BY r.name", "u", "", "sssss");
static const struct db_query q_space = {
	"SELECT doomed_at FROM resources WHERE tenant_id = ? AND type_id = ? AND namespace = '' AND name = ? AND "
	"live IS NOT NULL",
	"uus", "t"
};
static const char ending_detail[] =
	"the destination's namespace of that name goes once its finalizers are gone, with all that is in it: wait for that";

// From the consumers, of which a tenant that is no project has none, to what they use.
static const struct db_query q_in_use[MOVE__KINDS] =
	MOVE_QUERIES("SELECT DISTINCT r.type_id, r.namespace, r.name, c.uid FROM consumers c "
		     "STRAIGHT_JOIN allocations a ON a.consumer_id = c.id STRAIGHT_JOIN resources r ON r.id = a.resource_id "
		     "WHERE c.project = ? AND ",
		" ORDER BY r.type_id, r.name, c.uid LIMIT ?", "s", "u", "ussb");
static const struct db_query q_root = {
	"SELECT type_id, namespace, name FROM resources WHERE uid = ? AND type_id = ? AND live = 1", "bu", "uss"
};

struct db_call set_call(struct registry *registry, const struct db_query *queries, const struct move_set *set,
	const struct db_value *head, size_t n_head, const struct db_value *tail, size_t n_tail)
{
	struct db_value *in = POOL_ARRAY(registry->pool, struct db_value, n_head + 5 + n_tail);
	size_t n = n_head;
	enum move_kind kind = set->kind;

	for (size_t i = 0; i < n_head; i++)
		in[i] = head[i];
	if (kind == MOVE_TREE || kind == MOVE_TREE_RANGE)
		in[n++] = set->root;
	else
		in[n++] = db_u(kind == MOVE_ONE ? set->resource_id : set->tenant_id);
	if (kind == MOVE_SPACE || kind == MOVE_SPACE_RANGE) {
		in[n++] = db_u(set->resource_id);
		in[n++] = db_s(set->space);
	}
	if (kind >= MOVE_ALL_RANGE) {
		in[n++] = db_u(set->after);
		in[n++] = db_u(set->upto);
	}
	for (size_t i = 0; i < n_tail; i++)
		in[n++] = tail[i];
	return (struct db_call){ .query = &queries[set->kind], .in = in };
}

static enum outcome run_call(struct registry *registry, struct db_call *call)
{
	enum db_result result = db_run(registry->db, registry->pool, call->query, call->in, &call->rows);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// ---- tenants

static enum outcome check_tenant(struct registry *registry, const struct tenant *tenant, struct str name,
	const char *role)
{
	if (tenant->id == 0 || tenant_expired(registry, tenant))
		return registry_fail(registry, OUTCOME_NOT_FOUND, "there is no %s tenant \"%.*s\"", role, STR_ARG(name));
	if (tenant->deleted_us != 0)
		return fail_gone(registry, tenant->purge_us, "the %s tenant \"%.*s\" was deleted", role, STR_ARG(name));
	return OUTCOME_OK;
}

static enum outcome read_tenants(struct registry *registry, const struct move_order *order, bool locked,
	struct move_action *action)
{
	struct db_call calls[2] = {
		{ .query = locking(registry, q_lock_tenants), .in = DB_IN(db_s(order->source), db_s(order->dest)) },
		{ .query = &q_tenants, .in = DB_IN(db_s(order->source), db_s(order->dest)) },
	};
	const struct str tenants[] = { order->source, order->dest };
	enum outcome outcome = OUTCOME_OK;

	if (locked)
		outcome = take_locks(registry, tenants, COUNT_OF(tenants), calls, COUNT_OF(calls));
	else
		outcome = run_call(registry, &calls[1]);
	if (outcome != OUTCOME_OK)
		return outcome;
	for (size_t i = 0; i < calls[1].rows.n; i++) {
		struct tenant tenant;
		tenant_from_row(&tenant, &calls[1].rows, i);
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
	enum outcome outcome = str_eq_c(order->dest, TENANT_SYSTEM) ? OUTCOME_OK : check_reserved(registry, order->dest);
	return outcome == OUTCOME_OK ? check_tenant(registry, &action->dest, order->dest, "destination") : outcome;
}

// ---- the set

static enum outcome choose_set(struct registry *registry, const struct move_order *order, struct move_plan *plan)
{
	struct move_action *action = plan->action;

	plan->set = (struct move_set){ .kind = MOVE_ALL, .tenant_id = action->source.id };
	if (order->address == NULL)
		return OUTCOME_OK;
	enum outcome outcome = resource_get(registry, order->address, &action->resource);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (action->resource.live == RESOURCE_KEPT)
		return registry_fail(registry, OUTCOME_CONFLICT,
			"the namespace \"default\" belongs to its tenant and does not move; what is in it does");
	const struct type *type = action->resource.type;
	plan->set.kind = type == type_namespaces(registry) ? MOVE_SPACE : resource_is_top(&action->resource) ? MOVE_TREE : MOVE_ONE;
	plan->set.resource_id = action->resource.id;
	plan->set.space = action->resource.name;
	if (plan->set.kind == MOVE_TREE)
		plan->set.root = db_b(tree_value(registry, type, &action->resource.uid));
	return OUTCOME_OK;
}

// The count in the first column, the sums of lanes from the column lanes on.
static void sum_from_row(const struct db_rows *rows, size_t row, size_t lanes, struct state_sum *sum)
{
	sum->count = db_at(rows, row, 0)->u;
	for (size_t i = 0; i < COUNT_OF(sum->sums); i++)
		sum->sums[i] = db_at(rows, row, lanes + i)->s;
}

// The sum over no resources.
static const struct state_sum nothing = { 0, { STR_INIT("0"), STR_INIT("0"), STR_INIT("0"), STR_INIT("0") } };

static int by_type_name(const void *a, const void *b)
{
	return str_cmp(((const struct type_count *)a)->type, ((const struct type_count *)b)->type);
}

// The first n rows: a count in the first column, a type's id in the column type.
static void counts_from_rows(struct registry *registry, const struct db_rows *rows, size_t n, size_t type,
	struct type_counts *counts)
{
	counts->n = n;
	counts->list = POOL_ARRAY(registry->pool, struct type_count, n);
	for (size_t i = 0; i < n; i++)
		counts->list[i] = (struct type_count){
			type_name(registry->pool, type_by_id(registry, db_at(rows, i, type)->u)), db_at(rows, i, 0)->u
		};
	if (n > 0)
		qsort(counts->list, n, sizeof(*counts->list), by_type_name);
}

static void sums_from_rows(struct move_plan *plan, const struct db_rows *rows, struct state_sum *sum)
{
	struct move_action *action = plan->action;
	size_t all = rows->n - 1; // behind those of each type

	*sum = nothing;
	if (rows->n > 0) {
		sum_from_row(rows, all, 3, sum);
		action->bytes = db_at(rows, all, 1)->u;
		plan->found.locked = db_at(rows, all, 2)->u;
		plan->found.types = db_at(rows, all, 7)->u;
	}
	action->count = sum->count;
}

// What moves, and what both tenants have. Under the locks the move gets a time that is not before the last change of anything
// it takes.
static enum outcome sum_set(struct registry *registry, struct move_plan *plan, enum move_look look, struct state_sum *sum)
{
	struct move_action *action = plan->action;
	const struct db_value source = db_u(action->source.id), dest = db_u(action->dest.id);
	struct db_call calls[5] = {
		set_call(registry, q_sum, &plan->set, NULL, 0, NULL, 0),
		{ .query = &q_any, .in = &dest },
	};
	struct db_call *last = NULL, *counts = NULL;
	bool counted = plan->set.kind == MOVE_ALL; // the source's, by the sum
	size_t n = 2;

	if (look != MOVE_LOOK_PREVIEW) {
		last = &calls[n++];
		*last = set_call(registry, q_last_time, &plan->set, NULL, 0, NULL, 0);
	}
	if (look != MOVE_LOOK_LOCKED) {
		counts = &calls[n++];
		*counts = (struct db_call){ .query = &q_counts, .in = &dest };
		if (!counted)
			calls[n++] = (struct db_call){ .query = &q_counts, .in = &source };
	}
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	sums_from_rows(plan, &calls[0].rows, sum);
	action->listed = action->count <= registry->config->move_list_max;
	plan->found.dest_has_any = calls[1].rows.n > 0;
	if (last != NULL && !db_at(&last->rows, 0, 0)->null)
		registry_stamp_after(registry, db_at(&last->rows, 0, 0)->i);
	if (counts == NULL)
		return OUTCOME_OK;
	counts_from_rows(registry, &counts[0].rows, counts[0].rows.n, 1, &action->dest_counts);
	if (!counted)
		counts_from_rows(registry, &counts[1].rows, counts[1].rows.n, 1, &action->source_counts);
	else if (calls[0].rows.n > 0)
		counts_from_rows(registry, &calls[0].rows, calls[0].rows.n - 1, 8, &action->source_counts);
	return OUTCOME_OK;
}

// ---- blockers

static void add_blocker(struct registry *registry, struct move_action *action, const struct blocker *blocker)
{
	if (action->blockers == NULL)
		action->blockers = POOL_ARRAY(registry->pool, struct blocker, MOVE_MAX_BLOCKERS);
	if (action->n_blockers == MOVE_MAX_BLOCKERS)
		action->more_blockers = true;
	else
		action->blockers[action->n_blockers++] = *blocker;
}

// A blocker for each row of (type, namespace, name).
static void add_blockers(struct registry *registry, struct move_action *action, const struct db_rows *rows,
	const char *reason, const char *detail)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct type *type = type_by_id(registry, db_at(rows, i, 0)->u);
		struct blocker blocker = {
			.resource = resource_path(registry->pool, type, db_at(rows, i, 1)->s, db_at(rows, i, 2)->s),
			.reason = reason,
			.detail = str_c(detail),
		};
		add_blocker(registry, action, &blocker);
	}
}

static enum outcome find_taken(struct registry *registry, struct move_plan *plan)
{
	struct db_value head[] = { db_u(plan->action->dest.id), db_u(type_namespaces(registry)->id) };
	struct db_value limit = db_u(MOVE_MAX_BLOCKERS + 1);
	struct db_call taken = set_call(registry, q_taken, &plan->set, head, COUNT_OF(head), &limit, 1);
	struct db_call merged = set_call(registry, q_merged, &plan->set, head, COUNT_OF(head), NULL, 0);
	struct db_call ending = set_call(registry, q_ending, &plan->set, head, COUNT_OF(head), &limit, 1);
	struct db_call calls[] = { taken, merged, ending };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));

	if (result != DB_OK)
		return registry_db_failed(result);
	add_blockers(registry, plan->action, &calls[0].rows, "name-taken",
		"the destination has a resource of that name; rename, move or delete one of them");
	sum_from_row(&calls[1].rows, 0, 1, &plan->found.merged);
	add_blockers(registry, plan->action, &calls[2].rows, "namespace-terminating", ending_detail);
	return OUTCOME_OK;
}

static enum outcome find_locked(struct registry *registry, struct move_plan *plan)
{
	struct db_value limit = db_u(MOVE_MAX_BLOCKERS + 1);
	struct db_call call = set_call(registry, q_locked, &plan->set, NULL, 0, &limit, 1);
	enum outcome outcome = run_call(registry, &call);

	if (outcome == OUTCOME_OK)
		add_blockers(registry, plan->action, &call.rows, "locked", "set metadata.locked to false first");
	return outcome;
}

static void check_quota(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	uint64_t coming = action->count - plan->found.merged.count;

	if (!action->dest.has_limit || coming == 0 || action->dest.resources + coming <= action->dest.max_resources)
		return;
	struct blocker blocker = {
		.resource = STR(""),
		.reason = "quota",
		.detail = str_printf(registry->pool, "the destination's tier allows %llu resources; it has %llu, and %llu would come",
			(unsigned long long)action->dest.max_resources, (unsigned long long)action->dest.resources,
			(unsigned long long)coming),
	};
	add_blocker(registry, action, &blocker);
}

// A single resource of a namespaced type needs its namespace there; a whole move brings it along.
static enum outcome check_space(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	const struct resource *resource = &action->resource;
	struct db_rows rows;

	if (plan->set.kind != MOVE_ONE || !resource->type->namespaced)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_space,
		DB_IN(db_u(action->dest.id), db_u(type_namespaces(registry)->id), db_s(resource->space)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0 && db_at(&rows, 0, 0)->null)
		return OUTCOME_OK;
	struct blocker blocker = {
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

// What hangs on another resource moves with that one only.
static enum outcome check_attached(struct registry *registry, struct move_plan *plan)
{
	const struct resource *resource = &plan->action->resource;
	struct db_rows rows;

	if (plan->set.kind != MOVE_ONE || !resource->has_root)
		return OUTCOME_OK;
	enum db_result result =
		db_run(registry->db, registry->pool, &q_root,
		DB_IN(db_uuid(&resource->root), db_u(tree_type(registry, resource->type)->id)), &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	struct str top = STR("what it belongs to");
	if (rows.n > 0)
		top = resource_path(registry->pool, type_by_id(registry, db_at(&rows, 0, 0)->u), db_at(&rows, 0, 1)->s,
			db_at(&rows, 0, 2)->s);
	struct blocker blocker = {
		.resource = resource_path(registry->pool, resource->type, resource->space, resource->name),
		.reason = "attached",
		.detail = str_printf(registry->pool, "it belongs to %.*s: move that, and it comes along", STR_ARG(top)),
	};
	add_blocker(registry, plan->action, &blocker);
	return OUTCOME_OK;
}

// What becomes of the resources of one type, which is not the same for everybody.
static enum outcome check_type(struct registry *registry, struct move_plan *plan, const struct type *type)
{
	const struct move_action *action = plan->action;
	struct db_value of = db_u(type->id), limit = db_u(MOVE_MAX_BLOCKERS + 1);
	enum definition_fate fate;
	enum outcome outcome = definition_after_move(registry, action->source.name, action->dest.name,
		plan->set.kind == MOVE_ALL, type, &fate);

	if (outcome != OUTCOME_OK || fate == DEFINITION_SAME)
		return outcome;
	struct db_call call = set_call(registry, q_of_type, &plan->set, &of, 1, &limit, 1);
	outcome = run_call(registry, &call);
	if (outcome == OUTCOME_OK && fate == DEFINITION_NONE)
		add_blockers(registry, plan->action, &call.rows, "type-unavailable",
			type->builtin ? "the type is the operator's alone; its resources stay in the system's space" :
					"the destination has no such type; define it there, or share it with that tenant");
	else if (outcome == OUTCOME_OK)
		add_blockers(registry, plan->action, &call.rows, "type-differs",
			"the destination has another definition of the type; move to where it is the same");
	return outcome;
}

static enum outcome check_type_id(struct registry *registry, struct move_plan *plan, uint64_t id)
{
	const struct type *type = type_by_id(registry, id);

	plan->found.definitions = plan->found.definitions || type == type_definitions(registry);
	return type != NULL && definition_varies(type) ? check_type(registry, plan, type) : OUTCOME_OK;
}

// Types whose ids are no bits.
static enum outcome check_many_types(struct registry *registry, struct move_plan *plan)
{
	struct db_call call = set_call(registry, q_types, &plan->set, NULL, 0, NULL, 0);
	enum outcome outcome = run_call(registry, &call);

	for (size_t i = 0; outcome == OUTCOME_OK && i < call.rows.n; i++)
		outcome = check_type_id(registry, plan, db_at(&call.rows, i, 0)->u);
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
	struct blocker blocker = {
		.resource = resource_path(registry->pool, type_definitions(registry), STR(""), clash->name),
		.reason = "type-shared",
		.detail = STR("there it would be shared with other tenants: take its range, or the label that forces it, away first"),
	};
	if (clash->common.p != NULL) {
		blocker.reason = "name-taken";
		blocker.detail = str_printf(registry->pool, "\"%.*s\" is in use there by %.*s: delete or move one of them",
			STR_ARG(clash->common), STR_ARG(clash->other));
	}
	add_blocker(registry, action, &blocker);
}

// Definitions that come along are to be what they would have to be if they were made there.
static enum outcome check_definitions(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	struct db_value type = db_u(type_definitions(registry)->id);
	struct db_call call = set_call(registry, q_coming, &plan->set, &type, 1, NULL, 0);
	struct definition_clash *clashes;
	size_t n = 0;
	unsigned too_many = 0;
	enum outcome outcome = run_call(registry, &call);

	if (outcome == OUTCOME_OK)
		outcome = definitions_meet(registry, action->dest.name, &call.rows, &clashes, &n, &too_many);
	for (size_t i = 0; outcome == OUTCOME_OK && i < n; i++)
		add_clash(registry, action, &clashes[i]);
	if (outcome == OUTCOME_OK && too_many > 0) {
		struct blocker blocker = {
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

// What consumers of the tenant's own use does not go elsewhere: they would be left behind.
static enum outcome find_in_use(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	struct db_value project = db_s(action->source.name), limit = db_u(MOVE_MAX_BLOCKERS + 1);
	struct db_call call = set_call(registry, q_in_use, &plan->set, &project, 1, &limit, 1);
	bool concerns = plan->set.kind == MOVE_ALL || action->resource.type->rules == &provider_rules;
	enum outcome outcome = concerns ? run_call(registry, &call) : OUTCOME_OK;

	for (size_t i = 0; concerns && outcome == OUTCOME_OK && i < call.rows.n; i++) {
		const struct db_value *v = db_at(&call.rows, i, 0);
		struct uuid consumer = { 0 };
		uuid_from_bytes(v[3].s, &consumer);
		struct blocker blocker = {
			.resource = resource_path(registry->pool, type_by_id(registry, v[0].u), v[1].s, v[2].s),
			.reason = "in-use",
			.detail = str_printf(registry->pool, "consumer %.*s of project \"%.*s\" has allocations on it: delete them first",
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

	action->resource.tenant = order->source; // that it is asked for there, whatever is found
	plan->found.merged = nothing;
	enum outcome outcome = read_tenants(registry, order, locked, action);

	if (locked)
		definitions_doubt(registry); // a policy or a type of theirs may have changed while we waited for them
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
	state_tag(registry, &action->source.uid, &sum, action->tag);
	if (look != MOVE_LOOK_LOCKED)
		state_tag_of_action(registry, action, &sum, &plan->found.merged);
	return OUTCOME_OK;
}

// ---- the preview

static enum outcome list_items(struct registry *registry, struct move_plan *plan)
{
	struct move_action *action = plan->action;
	struct db_value limit = db_u(action->count);
	struct db_call call = set_call(registry, q_items, &plan->set, NULL, 0, &limit, 1);
	enum outcome outcome = run_call(registry, &call);

	if (outcome != OUTCOME_OK)
		return outcome;
	assert(call.rows.n == action->count); // one snapshot
	action->items = POOL_ARRAY(registry->pool, struct move_item, call.rows.n);
	for (size_t i = 0; i < call.rows.n; i++) {
		struct move_item *item = &action->items[i];
		const struct type *type = type_by_id(registry, db_at(&call.rows, i, 1)->u);
		uuid_from_bytes(db_at(&call.rows, i, 0)->s, &item->uid);
		item->path = resource_path(registry->pool, type, db_at(&call.rows, i, 2)->s, db_at(&call.rows, i, 3)->s);
		state_tag_of_one(registry, &item->uid, db_at(&call.rows, i, 4)->u, item->tag);
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
