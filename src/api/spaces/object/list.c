// SPDX-License-Identifier: Apache-2.0
// Lists: the objects that selectors select, page by page; and the deletion of a collection.
#include "base/base.h"

#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/object/as_of.h"
#include "api/spaces/object/object.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/log/log_position.h"
#include "registry/resource/resource.h"

enum {
	STEP = 500,                  // resources read at a time
	LIST_MAX_BYTES = 64 << 20,   // bytes of an answer
	DELETE_MAX = 10000,          // objects deleted by one call
};

// ---- the request

// A client that has read the last page watches from the version of the first page, so the log must still have the changes since
// then.
static enum outcome check_version(struct call *call, uint64_t version)
{
	struct log_place place;
	enum outcome outcome = log_position_find(call->registry, version, &place);

	if (outcome == OUTCOME_OK && place.position == LOG_POSITION_AHEAD)
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"continue key is not valid: it is of a list that is still to come");
	if (outcome == OUTCOME_OK && place.position != LOG_POSITION_KEPT)
		return call_fail(call, OUTCOME_GONE,
			"The provided continue parameter is too old to display a consistent list result: begin the list anew, without it");
	return outcome;
}

// Reads a continue token, "41837:default/c1": the version of the first page, and the item behind which the list goes on.
static enum outcome read_continue(struct call *call, struct str text, struct list_query *query)
{
	size_t colon = str_find(text, ':', 0);

	if (colon == text.n || !str_to_u64(str_part(text, 0, colon), &query->version))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"continue key is not valid: it must be metadata.continue of the page before");
	query->marker = str_part(text, colon + 1, text.n);
	return check_version(call, query->version);
}

static enum outcome read_list_query(struct call *call, const struct target *target, struct list_query *query)
{
	const struct uri *uri = &call->request.uri;
	struct str text;
	enum outcome outcome = selection_read(call, target, &query->choice);

	query->limit = query->version = query->exact = 0;
	query->marker = STR_NONE;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (uri_query(uri, STR("limit"), &text) && text.n > 0 && !str_to_u64(text, &query->limit))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "limit must be a number");
	if (uri_query(uri, STR("continue"), &text) && text.n > 0)
		return read_continue(call, text, query);
	return OUTCOME_OK;
}

// ---- reading the objects

struct pool *visit_scratch(struct call *call)
{
	return pool_scratch(call->pool, SIZE_MAX);
}

// Makes room for the next objects at once, because a growing buffer copies its content again and again. 512 bytes cover what an
// answer has of each object besides its stored documents.
static void make_room(struct buf *into, const struct resource *list, size_t n)
{
	size_t room = 0;

	for (size_t i = 0; i < n; i++)
		room += list[i].meta.n + list[i].body.n + 512;
	(void)buf_more(into, room);
}

// Reads one page, and calls take() for the selected objects until the visit ends. *marker: the last object that was looked at; as
// it was if there is none.
static enum outcome take_page(const struct visit *visit, struct object_form *form, struct resource_query *query, bool *more,
	enum visit_next *then, struct str *marker)
{
	struct call *call = visit->call;
	struct resource *list;
	size_t n, i = 0;
	enum outcome outcome = resource_list(call->registry, query, &list, &n, more);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (visit->into != NULL && visit->query->choice.all)
		make_room(visit->into, list, n);
	struct buf object = buf_new(call->scratch, 4096);
	for (; i < n && *then == VISIT_GOES_ON; i++) {
		object.n = 0;
		answer_object_add(form, &list[i], &object);
		if (selection_matches(&visit->query->choice, call->scratch, resource_place(&list[i], "meta or body"),
			buf_str(&object)))
			*then = visit->take(visit->arg, &list[i], buf_str(&object));
		if (*then == VISIT_ENDS_BEFORE)
			break;
		if (visit->as_of != NULL)
			as_of_note(visit->as_of, list[i].id, list[i].changed);
	}
	*more = *more || i < n;
	if (i == 0)
		return OUTCOME_OK;
	*marker = resource_marker(call->scratch, query, &list[i - 1]);
	if (visit->as_of != NULL)
		as_of_note_last(visit->as_of, list[i - 1].id, list[i - 1].space, list[i - 1].name);
	return OUTCOME_OK;
}

// Reads pages until take() ends the visit or all objects were read. *next: the marker of the last object looked at, if there are
// more.
static enum outcome visit_pages(const struct visit *visit, struct object_form *form, struct resource_query *query,
	struct str *next)
{
	struct call *call = visit->call;
	struct pool *scratch = call->scratch;
	enum visit_next then = VISIT_GOES_ON;
	bool more = true;
	struct str marker = STR_NONE;
	enum outcome outcome = OUTCOME_OK;

	// The marker is copied to the call's pool, because it lies in the scratch pool, which each page clears.
	while (outcome == OUTCOME_OK && more && then == VISIT_GOES_ON) {
		outcome = take_page(visit, form, query, &more, &then, &marker);
		if (outcome != OUTCOME_OK || marker.p == NULL)
			break;
		marker = str_dup(call->pool, marker);
		query->marker = marker;
		if (more && then == VISIT_GOES_ON)
			pool_clear(scratch);
	}
	if (outcome != OUTCOME_OK || !more || then == VISIT_GOES_ON)
		return outcome;
	*next = marker;
	if (visit->as_of != NULL)
		as_of_note_page_end(visit->as_of);
	return OUTCOME_OK;
}

// Visits the only object that the selectors' name allows: reads it by its name instead of searching for it.
static enum outcome visit_one(const struct visit *visit)
{
	struct call *call = visit->call;
	const struct target *target = visit->target;
	const struct address address = { target->tenant, target->definition->type, target->space,
		visit->query->choice.name };
	struct buf object = buf_new(call->pool, 1024);
	struct resource resource;
	enum outcome outcome = resource_get(call->registry, &address, &resource);

	if (outcome == OUTCOME_MOVED)
		return OUTCOME_NOT_FOUND;
	if (outcome != OUTCOME_OK)
		return outcome;
	if (visit->as_of != NULL)
		as_of_note(visit->as_of, resource.id, resource.changed);
	answer_object_json(call, target->definition, target->version, &resource, &object);
	if (selection_matches(&visit->query->choice, call->pool, resource_place(&resource, "meta or body"), buf_str(&object)))
		(void)visit->take(visit->arg, &resource, buf_str(&object));
	return OUTCOME_OK;
}

struct str visit_single_name(const struct call *call, const struct target *target, const struct choice *choice)
{
	if (definition_has_identity(target->definition, "", "tenants") && !spaces_may_as_operator(call, VERB_LIST))
		return call->who.tenant;
	return target->all || target->all_spaces ? STR_NONE : choice->name;
}

// How many resources are read at a time. The client's limit counts selected objects, so it says nothing about how many have to be
// read to find them if there are selectors.
static uint64_t rows_of_page(const struct list_query *query)
{
	return query->choice.all && query->limit > 0 && query->limit < STEP ? query->limit : STEP;
}

enum outcome visit_objects(const struct visit *visit, struct str *next)
{
	struct call *call = visit->call;
	const struct target *target = visit->target;
	struct object_form form = object_form(call, target->definition, target->version);
	struct resource_query query = {
		.tenant = target->tenant,
		.all_tenants = target->all,
		.type = target->definition->type,
		.all_spaces = target->all_spaces,
		.space = target->space,
		.marker = visit->query->marker,
		.limit = rows_of_page(visit->query),
		.newest = visit->as_of != NULL ? &visit->as_of->newest : NULL,
	};
	enum outcome outcome;

	assert(visit->take != NULL);
	*next = STR_NONE;
	if (visit_single_name(call, target, &visit->query->choice).p != NULL) {
		outcome = visit_one(visit);
	} else {
		query.pool = call->scratch = visit_scratch(call);
		outcome = visit_pages(visit, &form, &query, next);
		call->scratch = call->pool;
	}
	if (outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_GONE)
		return OUTCOME_OK;
	return outcome;
}

// ---- the answer

// The state of one list while its objects are written.
struct listed {
	struct listing listing;
	const struct list_query *query;
	const struct str *forced; // names of forced definitions, which come last and hide the space's own
	size_t n_forced;
	bool too_large;
};

// Adds an object to the page, and ends the reading if the page is full. limit is only a maximum, so a page may end before the
// object that would make it too large; a list without limit is refused then.
static enum visit_next add_to_page(struct listed *listed, struct stored_place place, struct str object)
{
	uint64_t limit = listed->query->limit;

	if (listed->listing.spilled + listed->listing.out.n + object.n > LIST_MAX_BYTES) {
		listed->too_large = limit == 0 || listed->listing.n == 0;
		return listed->too_large ? VISIT_ENDS : VISIT_ENDS_BEFORE;
	}
	listing_add(&listed->listing, place, object);
	return limit == 0 || listed->listing.n < limit ? VISIT_GOES_ON : VISIT_ENDS;
}

// Is the object a definition of the space that a forced definition of that name hides?
static bool is_hidden(const struct str *forced, size_t n_forced, const struct resource *resource)
{
	for (size_t i = 0; i < n_forced; i++)
		if (str_eq(forced[i], resource->name))
			return true;
	return false;
}

// The function take() of a visit.
static enum visit_next list_one(void *arg, const struct resource *resource, struct str object)
{
	const struct listed *listed = arg;

	if (is_hidden(listed->forced, listed->n_forced, resource))
		return VISIT_GOES_ON;
	return add_to_page(arg, resource_place(resource, "meta or body"), object);
}

// A tenants_visit's take(), which has to check the selectors itself.
static enum visit_next list_tenant(void *arg, const struct tenant *tenant, struct str object)
{
	struct listed *listed = arg;
	const struct stored_place place = tenant_place(tenant, "metadata or object");

	if (!selection_matches(&listed->query->choice, listed->listing.call->scratch, place, object))
		return VISIT_GOES_ON;
	return add_to_page(listed, place, object);
}

// Writes one page of a list; forced definitions follow the last object. *next: the marker at which the list goes on; p NULL: it
// is complete.
static enum outcome list_some(struct listed *listed, struct call *call, const struct target *target, struct as_of *as_of,
	struct str *next)
{
	struct visit visit = {
		.call = call, .target = target, .query = listed->query, .take = list_one, .arg = listed, .as_of = as_of,
	};
	const struct tenants_visit tenants = {
		.call = call, .target = target, .query = listed->query, .take = list_tenant, .arg = listed, .as_of = as_of,
	};
	enum outcome outcome = OUTCOME_OK;

	*next = STR_NONE;
	listing_begin(&listed->listing, call, target);
	if (listed->listing.form.as == AS_OBJECT) // the size of another form can't be estimated
		visit.into = &listed->listing.out;
	if (definition_has_identity(target->definition, "", "tenants"))
		outcome = visit_tenants(&tenants, next);
	else if (target->definition->stored)
		outcome = visit_objects(&visit, next);
	if (outcome == OUTCOME_OK && listed->too_large)
		return call_fail(call, OUTCOME_BODY_TOO_LARGE, "the list has more than %d bytes: ask for pages, with limit",
			LIST_MAX_BYTES);
	for (size_t i = 0; outcome == OUTCOME_OK && next->p == NULL && i < listed->n_forced; i++)
		outcome = object_list_forced(&listed->listing, &listed->query->choice, listed->forced[i]);
	return outcome;
}

static enum outcome fail_not_kept(struct call *call, uint64_t version)
{
	return call_fail(call, OUTCOME_GONE,
		"what there was at resourceVersion %llu is not kept: list without resourceVersionMatch=Exact",
		(unsigned long long)version);
}

// Writes the first page of a list. *version: the version of the list.
static enum outcome list_first(struct listed *listed, struct call *call, const struct target *target, uint64_t *version,
	struct str *next)
{
	uint64_t exact = listed->query->exact;
	struct as_of as_of;
	bool again = true, is_exact;
	enum outcome outcome = as_of_begin(&as_of, call, target, visit_single_name(call, target, &listed->query->choice));

	while (outcome == OUTCOME_OK && again) {
		outcome = list_some(listed, call, target, &as_of, next);
		// A list as of an exact version is read once: if anything has changed since, reading again can't help.
		if (outcome != OUTCOME_OK || exact != 0)
			break;
		outcome = as_of_end(&as_of, version, &is_exact, &again);
		if (outcome == OUTCOME_OK && again)
			outcome = as_of_restart(&as_of);
	}
	if (outcome != OUTCOME_OK || exact == 0)
		return outcome;
	*version = exact;
	outcome = as_of_is_unchanged(&as_of, exact, &is_exact);
	return outcome == OUTCOME_OK && !is_exact ? fail_not_kept(call, exact) : outcome;
}

// Answers with a page. Later pages (query->version is not 0) keep the version of the first one.
static enum outcome list_page(struct call *call, const struct target *target, const struct list_query *query)
{
	struct listed listed = { .query = query };
	struct str next;
	uint64_t version = query->version;
	enum outcome outcome = object_read_forced(call, target, &listed.forced, &listed.n_forced);

	if (outcome == OUTCOME_OK)
		outcome = version != 0 ? list_some(&listed, call, target, NULL, &next) :
			list_first(&listed, call, target, &version, &next);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (next.p != NULL)
		next = str_printf(call->pool, "%llu:%.*s", (unsigned long long)version, STR_ARG(next));
	listing_end(&listed.listing, version, next);
	return OUTCOME_OK;
}

enum outcome object_list_collection(struct call *call, const struct target *target)
{
	struct list_query query;
	uint64_t version = 0;
	enum version_match match = MATCH_ANY;
	enum outcome outcome = spaces_read_version(call, &version);

	if (outcome == OUTCOME_OK)
		outcome = spaces_read_version_match(call, false, &match);
	if (outcome == OUTCOME_OK)
		outcome = read_list_query(call, target, &query);
	if (outcome != OUTCOME_OK)
		return outcome;
	query.exact = match == MATCH_EXACT ? version : 0;
	return list_page(call, target, &query);
}

// ---- deleting a collection

struct collected {
	struct call *call;
	uint64_t limit;          // objects that the client wants deleted by this call; 0: all
	const struct str *forced; // as in struct listed: what GET does not show can't be deleted
	size_t n_forced;
	struct guard guard;       // with the preconditions of DeleteOptions: each object must fulfil them
	struct { struct str space, name; } *list;
	size_t n;
	bool too_many;
	struct listing listing;
};

static enum visit_next collect_one(void *arg, const struct resource *resource, struct str object)
{
	struct collected *collected = arg;

	if (is_hidden(collected->forced, collected->n_forced, resource))
		return VISIT_GOES_ON;
	if (collected->n == DELETE_MAX) {
		collected->too_many = true;
		return VISIT_ENDS;
	}
	collected->list[collected->n].space = str_dup(collected->call->pool, resource->space);
	collected->list[collected->n++].name = str_dup(collected->call->pool, resource->name);
	listing_add(&collected->listing, resource_place(resource, "meta or body"), object);
	return collected->limit == 0 || collected->n < collected->limit ? VISIT_GOES_ON : VISIT_ENDS;
}

// Objects that others have deleted or moved since they were listed are no longer there to be deleted.
static bool is_absent(enum outcome outcome)
{
	return outcome == OUTCOME_NOT_FOUND || outcome == OUTCOME_GONE || outcome == OUTCOME_MOVED;
}

static enum outcome delete_each(struct call *call, const struct target *target, const struct collected *collected)
{
	struct resource resource;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; i < collected->n; i++) {
		const struct address address = { target->tenant, target->definition->type, collected->list[i].space,
			collected->list[i].name };
		bool kept = definition_has_identity(target->definition, "", "namespaces") && str_eq(address.name, STR("default"));
		if (kept)
			continue;
		outcome = resource_delete(call->registry, &address, collected->guard, &resource);
		if (is_absent(outcome))
			call->problem = (struct problem){ .n_members = 0 };
		else if (outcome != OUTCOME_NO_CONTENT && outcome != OUTCOME_ACCEPTED)
			return spaces_explain(call, target, address.name, outcome);
	}
	return OUTCOME_OK;
}

// Reads the request, up to what is deleted. OUTCOME_OK; or another outcome, with call->problem set.
static enum outcome begin_delete_all(struct call *call, struct target *target, struct list_query *query, struct collected *collected)
{
	struct conditions conditions;
	enum outcome outcome = spaces_read_target(call, VERB_DELETECOLLECTION, target);

	if (outcome == OUTCOME_OK) {
		target_warn_if_deprecated(call, target);
		outcome = spaces_check_role(call, target->definition, VERB_DELETECOLLECTION);
	}
	if (outcome == OUTCOME_OK && (target->all || target->all_spaces || target->name.p != NULL || !target->definition->stored))
		outcome = call_fail(call, OUTCOME_METHOD_NOT_ALLOWED,
			"a collection is deleted in the space of one tenant, and in one namespace of it");
	if (outcome == OUTCOME_OK)
		outcome = spaces_read_dry_run(call);
	if (outcome == OUTCOME_OK)
		outcome = object_read_delete_options(call, &collected->guard);
	if (outcome == OUTCOME_OK)
		outcome = read_list_query(call, target, query);
	if (outcome == OUTCOME_OK)
		outcome = conditions_read(call, &conditions);
	if (outcome == OUTCOME_OK)
		outcome = conditions_check_collection(&conditions);
	if (outcome == OUTCOME_OK)
		outcome = object_read_forced(call, target, &collected->forced, &collected->n_forced);
	collected->limit = query->limit;
	return outcome;
}

// The value of metadata.continue, by which the client deletes the objects after that marker. Each object was locked and deleted
// by itself, so the list has no version, but a token has to have one (read_continue()): the newest.
static enum outcome continue_after(struct call *call, struct str marker, struct str *token)
{
	struct log_place place;
	enum outcome outcome = log_position_find(call->registry, 0, &place);

	if (outcome == OUTCOME_OK)
		*token = str_printf(call->pool, "%llu:%.*s", (unsigned long long)place.newest, STR_ARG(marker));
	return outcome;
}

enum outcome delete_all_in_space(struct call *call)
{
	struct target target;
	struct list_query query;
	struct collected collected = { .call = call };
	struct str next;
	enum outcome outcome = begin_delete_all(call, &target, &query, &collected);

	if (outcome != OUTCOME_OK)
		return outcome;
	collected.list = pool_calloc(call->pool, DELETE_MAX, sizeof(*collected.list));
	listing_begin(&collected.listing, call, &target);
	const struct visit visit = { .call = call, .target = &target, .query = &query, .take = collect_one, .arg = &collected };
	outcome = visit_objects(&visit, &next);
	if (outcome == OUTCOME_OK && collected.too_many)
		outcome = call_fail(call, OUTCOME_BODY_TOO_LARGE,
			"these are more than %d objects: choose fewer, with limit, labelSelector or fieldSelector", DELETE_MAX);
	if (outcome == OUTCOME_OK)
		outcome = delete_each(call, &target, &collected);
	if (outcome == OUTCOME_OK && next.p != NULL)
		outcome = continue_after(call, next, &next);
	if (outcome == OUTCOME_OK)
		listing_end(&collected.listing, 0, next);
	return outcome;
}
