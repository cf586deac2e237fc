// SPDX-License-Identifier: Apache-2.0
// Moves and move actions: blueprints, "Optional Operations" and "Ensuring Consistency".
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"

// ---- GET: the move action

// Adds the number of resources of each type that a tenant has. They stand beside the tenants, because in XML each element within
// a tenant is metadata.
static void add_counts(struct call *call, struct doc *list, const struct tenant *tenant, const struct type_counts *counts)
{
	for (size_t i = 0; i < counts->n; i++) {
		struct doc *doc = doc_new_object(call->pool);
		doc_set_str(call->pool, doc, call_vocabulary(call)->singular, tenant->name);
		doc_set_str(call->pool, doc, "type", counts->list[i].type);
		doc_set_u64(call->pool, doc, "resources", counts->list[i].resources);
		doc_push(list, doc);
	}
}

static struct doc *listed_doc(struct call *call, const struct move_action *action)
{
	struct doc *list = doc_new_array(call->pool);

	for (uint64_t i = 0; i < action->count; i++) {
		const struct move_item *item = &action->items[i];
		struct doc *doc = doc_new_object(call->pool);
		doc_set_str(call->pool, doc, "id", item->path);
		doc_set_str(call->pool, doc, "uid", uuid_str(call->pool, item->uid));
		doc_set_str(call->pool, doc, "tag", str_c(item->tag));
		doc_push(list, doc);
	}
	return list;
}

static struct doc *tagged_doc(struct call *call, const struct move_action *action)
{
	struct doc *doc = doc_new_object(call->pool);

	doc_set_str(call->pool, doc, "tag", str_c(action->tag));
	doc_set_u64(call->pool, doc, "size", action->count);
	doc_set_u64(call->pool, doc, "total-usage", action->bytes);
	return doc;
}

static void write_action(struct call *call, const struct move_action *action)
{
	const struct words *words = call_vocabulary(call);
	struct doc *doc = doc_new_object(call->pool), *tenants = doc_new_array(call->pool), *counts = doc_new_array(call->pool);

	doc_push(tenants, tenancy_tenant_doc(call, &action->source));
	doc_push(tenants, tenancy_tenant_doc(call, &action->dest));
	add_counts(call, counts, &action->source, &action->source_counts);
	add_counts(call, counts, &action->dest, &action->dest_counts);
	doc_set_str(call->pool, doc, "dest", action->dest.name);
	doc_set(doc, str_c(words->plural), tenants);
	doc_set(doc, STR("resources"), action->listed ? listed_doc(call, action) : tagged_doc(call, action));
	doc_set(doc, STR("counts"), counts);
	doc_set(doc, STR("blockers"), tenancy_blockers_doc(call->pool, action->blockers, action->n_blockers));
	call_write(call, tenancy_move_document(words, action->listed), doc);
}

// The path behind the address of what is moved: "/action/move?dest=t2".
static struct str action_suffix(struct call *call)
{
	struct buf suffix = buf_new(call->pool, 64);

	BUF_LIT(&suffix, "/action/move?dest=");
	uri_add_value(&suffix, call_param(call, "dest"));
	return buf_str(&suffix);
}

static struct move_order order_of(struct call *call, const struct address *address)
{
	return (struct move_order){
		.source = call_param(call, "tenant"),
		.dest = call_param(call, "dest"),
		.address = address,
		.background = request_prefers(&call->request, "respond-async", NULL),
		.words = call_vocabulary(call)->number,
	};
}

static enum outcome get_action(struct call *call, const struct address *address)
{
	struct move_order order = order_of(call, address);
	struct move_action action;
	struct conditions conditions;
	enum outcome outcome = conditions_read(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = move_preview(call->registry, &order, &action);
	if (outcome == OUTCOME_OK)
		outcome = conditions_check_preview(call, &conditions, action.etag, &action.other_etags);
	if (outcome == OUTCOME_OK)
		write_action(call, &action);
	if (address == NULL || (outcome != OUTCOME_MOVED && outcome != OUTCOME_GONE))
		return outcome;
	return tenancy_answer_moved(call, outcome, address, &action.resource, action_suffix(call));
}

enum outcome get_move_all(struct call *call)
{
	return get_action(call, NULL);
}

enum outcome get_move_one(struct call *call)
{
	struct address address;
	enum outcome outcome = address_read(call, &address);

	return outcome == OUTCOME_OK ? get_action(call, &address) : outcome;
}

// ---- POST: the move

static struct str home_path(struct call *call, const struct move_result *result, const struct address *address)
{
	struct str dest = result->action.dest.name;

	if (address == NULL)
		return tenant_path(call, dest);
	return address_path(call, dest, address->type, address->space, address->name);
}

static enum outcome answer_moved(struct call *call, const struct move_result *result, const struct address *address)
{
	if (request_prefers(&call->request, "return", "minimal")) {
		response_set(&call->response, "Preference-Applied", STR("return=minimal"));
		return OUTCOME_NO_CONTENT;
	}
	response_set(&call->response, "Location", call_url(call, home_path(call, result, address)));
	return OUTCOME_SEE_OTHER;
}

static enum outcome answer_accepted(struct call *call, const struct move_result *result)
{
	struct str source = tenant_path(call, result->action.source.name);
	struct str path = str_printf(call->pool, "%.*s/moves/%.*s", STR_ARG(source), UUID_ARG(call->pool, result->uid));

	response_set(&call->response, "Location", call_url(call, path));
	if (request_prefers(&call->request, "respond-async", NULL))
		response_set(&call->response, "Preference-Applied", STR("respond-async"));
	return OUTCOME_ACCEPTED;
}

static enum outcome post_action(struct call *call, const struct address *address)
{
	struct move_order order = order_of(call, address);
	struct move_result result;
	struct conditions conditions;
	struct tag_guard guard;
	enum outcome outcome = conditions_move_guard(call, &conditions, &guard);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = move_run(call->registry, &order, guard, &result);
	if (outcome == OUTCOME_SEE_OTHER)
		return answer_moved(call, &result, address);
	if (outcome == OUTCOME_ACCEPTED)
		return answer_accepted(call, &result);
	if (outcome == OUTCOME_STALE)
		response_set(&call->response, "ETag", str_printf(call->pool, "\"%s\"", result.action.etag));
	if (address == NULL || (outcome != OUTCOME_MOVED && outcome != OUTCOME_GONE))
		return outcome;
	return tenancy_answer_moved(call, outcome, address, &result.action.resource, action_suffix(call));
}

enum outcome post_move_all(struct call *call)
{
	return post_action(call, NULL);
}

enum outcome post_move_one(struct call *call)
{
	struct address address;
	enum outcome outcome = address_read(call, &address);

	return outcome == OUTCOME_OK ? post_action(call, &address) : outcome;
}

// ---- a background move's progress

static const char *state_name(enum move_state state)
{
	static const char *const names[] = {
		[MOVE_QUEUED] = "queued", [MOVE_RUNNING] = "running", [MOVE_DONE] = "done", [MOVE_FAILED] = "failed"
	};

	return names[state];
}

static struct doc *status_doc(struct pool *pool, const struct move_status *status)
{
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "id", uuid_str(pool, status->uid));
	doc_set_str(pool, doc, "state", str_c(state_name(status->state)));
	doc_set_str(pool, doc, "source", status->source);
	doc_set_str(pool, doc, "dest", status->dest);
	if (status->resource.n > 0)
		doc_set_str(pool, doc, "resource", status->resource);
	if (status->is_undo)
		doc_set_str(pool, doc, "undo_of", uuid_str(pool, status->undone));
	doc_set_str(pool, doc, "actor", status->actor);
	doc_set_u64(pool, doc, "total", status->total);
	doc_set_u64(pool, doc, "moved", status->moved);
	if (status->state == MOVE_FAILED) {
		doc_set_str(pool, doc, "reason", status->outcome);
		doc_set_str(pool, doc, "detail", status->detail);
	}
	doc_set_str(pool, doc, "created_at", document_time_text(pool, status->created_us));
	if (status->finished_us != 0)
		doc_set_str(pool, doc, "finished_at", document_time_text(pool, status->finished_us));
	return doc;
}

// The path that a finished move redirects to: the resource, or the destination tenant if all was moved. For an undo within one
// tenant: the resource if there is one, else the tenant's changes.
static struct str end_path(struct call *call, const struct move_status *status)
{
	struct str tenant = tenant_path(call, status->dest);
	bool within = str_eq(status->source, status->dest);

	if (within && !(status->type != NULL && status->is_there))
		return str_printf(call->pool, "%.*s/changes?order=newest", STR_ARG(tenant));
	return status->type == NULL ? tenant : address_path(call, status->dest, status->type, status->dest_space, status->dest_name);
}

// Operators, and callers that may read what operators may, can follow every move. An undo within one tenant can be followed by
// anybody whom the method lets read that tenant.
static bool may_follow(struct call *call, const struct move_status *status)
{
	return principal_may_read(&call->who, ROLE_OPERATOR, call->realm) == OUTCOME_OK || str_eq(status->source, status->dest);
}

enum outcome get_move(struct call *call)
{
	struct uuid uid;
	struct move_status status;

	if (!uuid_parse(call_param(call, "move"), &uid))
		return call_fail(call, OUTCOME_NOT_FOUND, "a move's id is a UUID, as the Location of a 202 has it");
	enum outcome outcome = move_get(call->registry, call_param(call, "tenant"), uid, &status);
	if (outcome == OUTCOME_OK && !may_follow(call, &status)) {
		struct str tenant = call_param(call, "tenant");
		outcome = call_fail(call, OUTCOME_NOT_FOUND, "there is no such undo of tenant \"%.*s\"; moves are for operators",
			STR_ARG(tenant));
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	if (status.state != MOVE_DONE) {
		call_write(call, &move_status_document, status_doc(call->pool, &status));
		return OUTCOME_OK;
	}
	if (!status.dest_is_there)
		return call_fail(call, OUTCOME_GONE, "the move was done; its destination, then called \"%.*s\", was purged since", STR_ARG(status.dest));
	response_set(&call->response, "Location", call_url(call, end_path(call, &status)));
	return OUTCOME_SEE_OTHER;
}

// ---- the moves of a tenant

static struct str next_moves_url(struct call *call, uint64_t limit, uint64_t below)
{
	struct str path = tenant_path(call, call_param(call, "tenant"));

	return call_url(call, str_printf(call->pool, "%.*s/moves?limit=%llu&before=%llu",
		STR_ARG(path), (unsigned long long)limit, (unsigned long long)below));
}

enum outcome list_moves(struct call *call)
{
	struct str before = call_param(call, "before");
	uint64_t limit = 0, below = INT64_MAX;
	struct move_page page;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (before.p != NULL && !str_to_u64(before, &below))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "before must be the number in the \"next\" link of the page before");
	outcome = move_list(call->registry, call_param(call, "tenant"), below, limit, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < page.n; i++)
		doc_push(items, status_doc(call->pool, &page.list[i]));
	doc_set(doc, STR("moves"), items);
	if (page.more)
		doc_set_str(call->pool, doc, "next", next_moves_url(call, limit, page.list[page.n - 1].number));
	call_write(call, &move_status_list_document, doc);
	return OUTCOME_OK;
}
