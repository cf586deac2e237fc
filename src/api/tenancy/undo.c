// SPDX-License-Identifier: Apache-2.0
// Taking back what one request changed: the preview, and the undo itself.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "api/type_role.h"
#include "base/pool.h"
#include "registry/undo/undo.h"

static const char *action_name(enum undo_action action)
{
	static const char *const names[] = { [UNDO_RESTORE] = "restore", [UNDO_DELETE] = "delete", [UNDO_RECOVER] = "recover",
		[UNDO_MOVE] = "move" };

	return names[action];
}

// What a provider has beside its document, under its name; of what is not known, an empty object.
static struct doc *beside_doc(struct pool *pool, struct str name, const struct doc *value)
{
	struct doc *doc = doc_new_object(pool);

	if (value != NULL)
		doc_set(doc, name, doc_copy(pool, value));
	return doc;
}

// now and restored: null where the resource is not there.
static struct doc *item_doc(struct call *call, const struct undo_item *item)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	const struct former_content present = {
		.state = FORMER_KNOWN, .locked = item->resource.locked, .meta = item->resource.meta, .body = item->resource.body,
		.traits = item->resource.traits,
	};
	bool lives = item->resource.live != RESOURCE_DELETED;
	struct doc *content = item->beside.p != NULL ? beside_doc(pool, item->beside, item->beside_now) :
						       tenancy_content_doc(call, &item->resource, &present);

	doc_set_str(pool, doc, "resource", item->path);
	doc_set_str(pool, doc, "uid", uuid_str(pool, item->uid));
	doc_set_str(pool, doc, "action", str_c(action_name(item->action)));
	doc_set(doc, STR("now"), lives ? content : NULL);
	if (item->action == UNDO_RECOVER)
		doc_set(doc, STR("restored"), doc_copy(pool, content));
	else if (item->action == UNDO_DELETE)
		doc_set(doc, STR("restored"), NULL);
	else if (item->action == UNDO_MOVE) // as it is, elsewhere
		doc_set(doc, STR("restored"), doc_copy(pool, content));
	else if (item->beside_restored != NULL)
		doc_set(doc, STR("restored"), beside_doc(pool, item->beside, item->beside_restored));
	else if (item->restored.state == FORMER_KNOWN)
		doc_set(doc, STR("restored"), tenancy_content_doc(call, &item->resource, &item->restored));
	return doc;
}

static struct doc *tenant_doc(struct call *call, const struct tenant *tenant)
{
	struct doc *doc = doc_new_object(call->pool);

	doc_set_str(call->pool, doc, "tier", tenant->tier);
	doc_set(doc, STR("metadata"), tenant_metadata_doc(call->pool, tenant));
	doc_set(doc, STR("etag_required"), doc_new_bool(call->pool, tenant->etag_required));
	doc_set(doc, STR("object"), tenant_object_doc(call->pool, tenant));
	return doc;
}

// The tenant itself, whose path is "".
static struct doc *tenant_item_doc(struct call *call, const struct undo_plan *plan)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "resource", STR(""));
	doc_set_str(pool, doc, "uid", uuid_str(pool, plan->tenant.uid));
	doc_set_str(pool, doc, "action", str_c(action_name(plan->action)));
	doc_set(doc, STR("now"), plan->tenant.deleted_us == 0 ? tenant_doc(call, &plan->tenant) : NULL);
	if (plan->action == UNDO_RECOVER)
		doc_set(doc, STR("restored"), tenant_doc(call, &plan->tenant));
	else if (plan->action == UNDO_DELETE)
		doc_set(doc, STR("restored"), NULL);
	else if (plan->has_former_tenant)
		doc_set(doc, STR("restored"), tenant_doc(call, &plan->former_tenant));
	return doc;
}

static void write_plan(struct call *call, const struct undo_order *order, const struct undo_plan *plan)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool), *items = doc_new_array(pool);

	doc_set_str(pool, doc, "request_id", uuid_str(pool, order->request));
	doc_set_str(pool, doc, "at", document_time_text(pool, plan->at_us));
	doc_set_str(pool, doc, "actor", plan->actor);
	doc_set_u64(pool, doc, "changes", plan->count);
	if (plan->action == UNDO_MOVE && plan->to.p != NULL) {
		doc_set_str(pool, doc, "from", plan->from);
		doc_set_str(pool, doc, "to", plan->to);
	}
	if (plan->of_tenant && plan->tenant.id != 0)
		doc_push(items, tenant_item_doc(call, plan));
	for (size_t i = 0; i < plan->n_items; i++)
		doc_push(items, item_doc(call, &plan->items[i]));
	doc_set(doc, STR("items"), items);
	doc_set(doc, STR("blockers"), tenancy_blockers_doc(pool, plan->blockers, plan->n_blockers));
	call_write(call, &undo_document, doc);
	response_set(&call->response, "ETag", str_printf(pool, "\"%s\"", plan->etag));
}

// The methods of which any one makes the reverse change by hand.
enum { ALTERNATIVES = 6 };
static const char *const reverse_methods[UNDO_CALL__N][UNDO_PLACE__N][ALTERNATIVES] = {
	// Content is put back whole, with the lock and the status, which only the writes of tenancy do.
	[UNDO_CALL_WRITE] = {
		[UNDO_PLACE_TENANT] = { "putTenant", "patchTenant" },
		// The Tenant object of the tenant spaces sets the policy for types, too.
		[UNDO_PLACE_POLICY] = { "putTenant", "patchTenant", "putCoreObject", "patchCoreObject" },
		[UNDO_PLACE_AT_LARGE] = { "putResource", "patchResource" },
		[UNDO_PLACE_NAMESPACE] = { "putResource", "patchResource" },
		[UNDO_PLACE_NAMESPACED] = { "putNamespacedResource", "patchNamespacedResource" },
	},
	// Those of spaces_deletes delete the same.
	[UNDO_CALL_DELETE] = {
		[UNDO_PLACE_TENANT] = { "deleteTenant" },
		[UNDO_PLACE_AT_LARGE] = { "deleteResource" },
		[UNDO_PLACE_NAMESPACE] = { "deleteResource" },
		[UNDO_PLACE_NAMESPACED] = { "deleteNamespacedResource" },
	},
	[UNDO_CALL_RECOVER] = {
		[UNDO_PLACE_TENANT] = { "recoverTenant" },
		[UNDO_PLACE_AT_LARGE] = { "recoverResource" },
		[UNDO_PLACE_NAMESPACE] = { "recoverNamespace" },
		[UNDO_PLACE_NAMESPACED] = { "recoverNamespacedResource" },
	},
	[UNDO_CALL_TRAITS] = {
		[UNDO_PLACE_AT_LARGE] = { "putResourceTraits" },
		[UNDO_PLACE_NAMESPACE] = { "putNamespaceTraits" },
		[UNDO_PLACE_NAMESPACED] = { "putNamespacedResourceTraits" },
	},
	[UNDO_CALL_INVENTORIES] = { [UNDO_PLACE_AT_LARGE] = { "putInventories" } },
	[UNDO_CALL_AGGREGATES] = { [UNDO_PLACE_AT_LARGE] = { "putAggregates" } },
	[UNDO_CALL_ALLOCATIONS] = { [UNDO_PLACE_AT_LARGE] = { "putAllocations", "postAllocations" } },
	[UNDO_CALL_RESHAPE] = { [UNDO_PLACE_AT_LARGE] = { "postReshaper" } },
	[UNDO_CALL_MOVE] = {
		[UNDO_PLACE_ALL] = { "postMoveAll" },
		[UNDO_PLACE_AT_LARGE] = { "postMoveOne" },
		[UNDO_PLACE_NAMESPACE] = { "postMoveNamespace" },
		[UNDO_PLACE_NAMESPACED] = { "postMoveNamespaced" },
	},
};
// The methods of the dialect of spaces for UNDO_CALL_DELETE, which have other names for core types (0) and for those of a group
// (1).
static const char *const spaces_deletes[UNDO_PLACE__N][2][2] = {
	[UNDO_PLACE_TENANT] = { { "deleteCoreObject" } },
	[UNDO_PLACE_AT_LARGE] = { { "deleteCoreObject", "deleteCoreTenantObject" }, { "deleteGroupObject", "deleteGroupTenantObject" } },
	[UNDO_PLACE_NAMESPACE] = { { "deleteCoreObject", "deleteCoreTenantObject" } },
	[UNDO_PLACE_NAMESPACED] = { { "deleteCoreNamespacedObject", "deleteCoreTenantNamespacedObject" },
		{ "deleteGroupNamespacedObject", "deleteGroupTenantNamespacedObject" } },
};

// Finds the method among those that the endpoint offers in dialects that have no methods of one name.
static const struct route_method *find_method(const struct route_table *routes, const char *id)
{
	const struct route_method *method;
	const char *path;

	for (size_t i = 0; (method = route_nth(routes, i, &path)) != NULL; i++)
		if (str_eq_c(str_c(method->id), id) &&
			(str_eq_c(str_c(method->dialect), "tenancy") || str_eq_c(str_c(method->dialect), "spaces") ||
				str_eq_c(str_c(method->dialect), "placement")))
			return method;
	return NULL;
}

// May the caller make one of these calls? best: what is known of other calls that do the same; *name is that of the call that
// came closest. Roles count as this endpoint's WADL has them.
static enum outcome may_make_one(struct call *call, const char *const *ids, size_t n, enum outcome best, struct str *name)
{
	for (size_t i = 0; best != OUTCOME_OK && i < n && ids[i] != NULL; i++) {
		const struct route_method *method = find_method(call->routes, ids[i]);
		if (method == NULL)
			continue;
		bool may = principal_may(&call->who, method->role, call->realm) == OUTCOME_OK;
		best = may ? OUTCOME_OK : OUTCOME_FORBIDDEN;
		*name = str_c(ids[i]);
	}
	return best;
}

// An undo_may_fn. arg: the call.
static enum outcome may_reverse(void *arg, enum undo_call kind, enum undo_place place, const struct type *type, struct str *name)
{
	const char *const *ids = reverse_methods[kind][place];
	const struct call *call = arg;
	bool of_content = kind != UNDO_CALL_DELETE && kind != UNDO_CALL_RECOVER;

	assert(ids[0] != NULL);
	*name = str_c(ids[0]);
	enum outcome best = may_make_one(arg, ids, ALTERNATIVES, OUTCOME_METHOD_NOT_ALLOWED, name);
	if (kind == UNDO_CALL_DELETE)
		best = may_make_one(arg, spaces_deletes[place][type != NULL && type->group.n > 0], 2, best, name);
	if (best == OUTCOME_OK && kind != UNDO_CALL_MOVE && type != NULL && call->who.role < type_role_needed(type, of_content))
		return OUTCOME_FORBIDDEN;
	return best;
}

static enum outcome read_order(struct call *call, struct undo_order *order)
{
	struct str tenant = call_param(call, "tenant");

	*order = (struct undo_order){
		.tenant = tenant,
		.may = may_reverse,
		.may_arg = call,
		.may_operate = principal_may(&call->who, ROLE_OPERATOR, call->realm) == OUTCOME_OK,
		.may_administer = principal_may(&call->who, ROLE_ADMIN, call->realm) == OUTCOME_OK,
	};
	if (uuid_parse(call_param(call, "request"), &order->request))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_NOT_FOUND, "a request's id is a UUID, as changes show it");
}

// The preview does what the undo would do, and is rolled back.
enum outcome get_undo(struct call *call)
{
	struct undo_order order;
	struct undo_plan plan;
	struct conditions conditions;
	enum outcome outcome = read_order(call, &order);

	call->dry_run = true;
	order.preview = true;
	if (outcome == OUTCOME_OK)
		outcome = conditions_read(call, &conditions);
	if (outcome == OUTCOME_OK)
		outcome = undo_run(call->registry, &order, (struct tag_guard){ .matches = NULL }, &plan);
	if (outcome == OUTCOME_OK)
		outcome = conditions_check_preview(call, &conditions, plan.etag, &plan.other_etags);
	if (outcome == OUTCOME_OK)
		write_plan(call, &order, &plan);
	return outcome;
}

// The undo of a large request is followed as a move is.
static enum outcome answer_accepted(struct call *call, const struct undo_plan *plan)
{
	struct str tenant = tenant_path(call, plan->queued_in);
	struct str path = str_printf(call->pool, "%.*s/moves/%.*s", STR_ARG(tenant), UUID_ARG(call->pool, plan->move));

	response_set(&call->response, "Location", call_url(call, path));
	return OUTCOME_ACCEPTED;
}

enum outcome post_undo(struct call *call)
{
	struct undo_order order;
	struct undo_plan plan;
	struct conditions conditions;
	struct tag_guard guard;
	enum outcome outcome = read_order(call, &order);

	if (outcome == OUTCOME_OK)
		outcome = conditions_move_guard(call, &conditions, &guard);
	if (outcome == OUTCOME_OK)
		outcome = undo_run(call->registry, &order, guard, &plan);
	if (outcome == OUTCOME_STALE && plan.etag[0] != '\0')
		response_set(&call->response, "ETag", str_printf(call->pool, "\"%s\"", plan.etag));
	if (outcome == OUTCOME_OK && plan.n_blockers > 0)
		return undo_fail_blocked(call->registry, &plan);
	if (outcome == OUTCOME_ACCEPTED)
		return answer_accepted(call, &plan);
	if (outcome == OUTCOME_OK)
		write_plan(call, &order, &plan);
	return outcome;
}
