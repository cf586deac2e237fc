// SPDX-License-Identifier: Apache-2.0
// Resources at /{version}/{tenant}/{plural}/{name} and …/namespaces/{namespace}/{plural}/{name}.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "api/type_role.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/log/stale.h"
#include "registry/resource/resource.h"
#include "registry/resource/selection.h"
#include "registry/tags/etag.h"
#include "registry/type/type.h"

// Reads the address and the preconditions of a call about one resource. OUTCOME_OK, or the outcome of address_read() or
// conditions_read().
static enum outcome begin_resource(struct call *call, struct address *address, struct conditions *conditions)
{
	enum outcome outcome = address_read(call, address);

	return outcome == OUTCOME_OK ? conditions_read(call, conditions) : outcome;
}

enum outcome tenancy_begin_change(struct call *call, bool of_content, struct address *address, struct conditions *conditions)
{
	enum outcome outcome = address_read(call, address);

	if (outcome == OUTCOME_OK)
		outcome = type_role_check(call, address->type, of_content);
	return outcome == OUTCOME_OK ? conditions_read(call, conditions) : outcome;
}

enum outcome tenancy_show_resource(struct call *call, struct str suffix,
	void (*write)(struct call *call, const struct resource *resource))
{
	struct address address;
	struct conditions conditions;
	struct resource resource;

	assert(write != NULL);
	enum outcome outcome = begin_resource(call, &address, &conditions);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = resource_get(call->registry, &address, &resource);
	if (outcome != OUTCOME_OK)
		return tenancy_answer_moved(call, outcome, &address, &resource, suffix);
	outcome = resource_check(call->registry, &resource, conditions_guard(&conditions));
	if (outcome == OUTCOME_OK)
		write(call, &resource);
	else if (outcome == OUTCOME_NOT_MODIFIED)
		conditions_set_etag(call, etag_shown(call->registry, &resource));
	return outcome;
}

// Also serves HEAD: the transport omits the body.
enum outcome get_resource(struct call *call)
{
	return tenancy_show_resource(call, STR(""), tenancy_write_resource);
}

// Is the change only to be tried? Then the whole of it is done, all that can refuse it included, and rolled back.
static void read_dry_run(struct call *call)
{
	struct str text = call_param(call, "dry_run");

	call->dry_run = str_eq(text, STR("true")) || str_eq(text, STR("1"));
}

// Writes a resource by PUT or PATCH and renders the answer. The registry calls content_apply() with the locked row.
static enum outcome write_with(struct call *call, const struct address *address, struct conditions *conditions,
	enum edit_kind kind, const struct doc *document)
{
	struct resource resource;
	struct content_edit edit = { .call = call, .address = address, .document = document, .kind = kind };

	read_dry_run(call);
	enum outcome outcome = resource_write(call->registry, address,
		&(struct edit){ .apply = content_apply, .arg = &edit, .creates = kind == EDIT_PUT }, conditions_guard(conditions),
		&resource);

	// A 301 has no document: tenancy_answer_moved() decides what the caller may know.
	if (outcome == OUTCOME_CREATED || outcome == OUTCOME_OK)
		tenancy_write_resource(call, &resource);
	if (outcome == OUTCOME_CREATED)
		response_set(&call->response, "Location",
			call_url(call, address_path(call, address->tenant, address->type, address->space, address->name)));
	return tenancy_answer_moved(call, outcome, address, &resource, STR(""));
}

enum outcome put_resource(struct call *call)
{
	struct address address;
	struct conditions conditions;
	struct doc *document;
	enum outcome outcome = tenancy_begin_change(call, true, &address, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = call_read(call, &resource_document, &document);
	if (outcome == OUTCOME_OK && document == NULL)
		outcome = call_fail(call, OUTCOME_BAD_DOCUMENT,
			"a body is needed: the resource as a JSON object or its XML form");
	return outcome == OUTCOME_OK ? write_with(call, &address, &conditions, EDIT_PUT, document) : outcome;
}

enum outcome patch_resource(struct call *call)
{
	struct address address;
	struct conditions conditions;
	enum edit_kind kind;
	struct doc *patch;
	enum outcome outcome = tenancy_begin_change(call, true, &address, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = patch_read_body(call, &kind, &patch);
	return outcome == OUTCOME_OK ? write_with(call, &address, &conditions, kind, patch) : outcome;
}

enum outcome delete_resource(struct call *call)
{
	struct address address;
	struct conditions conditions;
	struct resource resource;
	enum outcome outcome = tenancy_begin_change(call, false, &address, &conditions);

	if (outcome != OUTCOME_OK)
		return outcome;
	read_dry_run(call);
	outcome = resource_delete(call->registry, &address, conditions_guard(&conditions), &resource);
	if (outcome == OUTCOME_NO_CONTENT)
		response_set(&call->response, "X-Purge-At", document_time_text(call->pool, resource.purge_us));
	return tenancy_answer_moved(call, outcome, &address, &resource, STR(""));
}

enum outcome recover_resource(struct call *call)
{
	struct address address;
	struct conditions conditions;
	struct uuid uid;
	struct str text = call_param(call, "uid");
	enum outcome outcome = tenancy_begin_change(call, false, &address, &conditions);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (text.p != NULL && !uuid_parse(text, &uid))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "uid must be a UUID, as a list with deleted=true shows it");
	return resource_recover(call->registry, &address, text.p != NULL ? &uid : NULL, conditions_guard(&conditions));
}

// ---- lists

enum outcome tenancy_read_limit(struct call *call, uint64_t *limit)
{
	if (!str_to_u64(call_param(call, "limit"), limit) || *limit == 0)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "limit must be a number from 1 to 1000");
	return OUTCOME_OK;
}

enum outcome tenancy_read_list(struct call *call, struct resource_query *query)
{
	struct str deleted = call_param(call, "deleted");

	query->marker = call_param(call, "marker");
	query->deleted = str_eq(deleted, STR("true")) || str_eq(deleted, STR("1"));
	enum outcome outcome = tenancy_read_limit(call, &query->limit);
	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = tenancy_read_trait_filter(call, &query->traits);
	if (outcome == OUTCOME_OK && query->traits != NULL && query->deleted)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "required and forbidden are for what lives: leave out deleted=true");
	return outcome;
}

void tenancy_keep_list(const struct call *call, const struct resource_query *query, struct str marker, struct buf *url)
{
	assert(query->limit > 0 && marker.p != NULL);
	buf_addf(url, "?limit=%llu%s&marker=", (unsigned long long)query->limit, query->deleted ? "&deleted=true" : "");
	uri_add_value(url, marker);
	for (size_t i = 0; i < call->match.n; i++) {
		const char *name = call->match.values[i].name;
		if (strcmp(name, "required") != 0 && strcmp(name, "forbidden") != 0)
			continue;
		buf_addf(url, "&%s=", name);
		uri_add_value(url, call->match.values[i].value);
	}
	tenancy_keep_selection(call, url);
}

// The URL of the next page. It repeats the conditions and the order, which hold for the whole list.
static struct str next_url(struct call *call, const struct resource_query *query, struct str marker)
{
	struct buf path = buf_new(call->pool, 256);

	buf_add(&path, tenant_path(call, query->tenant));
	if (query->type->namespaced && !query->all_spaces) {
		BUF_LIT(&path, "/namespaces/");
		uri_add_segment(&path, query->space);
	}
	struct str type = type_name(call->pool, query->type);
	buf_addf(&path, "/%.*s", STR_ARG(type));
	tenancy_keep_list(call, query, marker, &path);
	return call_url(call, buf_str(&path));
}

// The list as a tree, for XML; JSON is copied from the stored texts. If the text can't be parsed, finds the resource that is
// damaged.
static struct doc *list_doc(struct call *call, const struct resource *list, size_t n, struct str text)
{
	struct doc *doc;
	struct str error;

	if (stored_read(call->pool, text, &doc, &error))
		return doc;
	for (size_t i = 0; i < n; i++) {
		(void)resource_meta_doc(call->pool, &list[i]);
		(void)resource_body_doc(call->pool, &list[i]);
	}
	return stored_document(call->pool, STORED_NEW, text);
}

static void write_list(struct call *call, const struct resource *list, size_t n, struct str next)
{
	struct buf out = buf_new(call->pool, 256 + n * 768);

	BUF_LIT(&out, "{\"resources\":[");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(&out, ',');
		resource_json(call, &list[i], &out);
	}
	buf_addc(&out, ']');
	if (next.n > 0) {
		BUF_LIT(&out, ",\"next\":");
		json_add_string(&out, next);
	}
	buf_addc(&out, '}');
	if (call->produce == REPR_XML) {
		call_write(call, &resource_list_document, list_doc(call, list, n, buf_str(&out)));
		return;
	}
	call->response.body = buf_str(&out);
	call->response.content_type = STR("application/json");
}

// A page may be empty and have a next one: what its share of the work did not find is looked for there.
static enum outcome list_selected(struct call *call, const struct resource_query *query)
{
	struct resource_selected selected;
	enum outcome outcome = tenancy_select_resources(call, query, &selected);

	if (outcome != OUTCOME_OK)
		return outcome;
	write_list(call, selected.list, selected.n, selected.next.p != NULL ? next_url(call, query, selected.next) : STR_NONE);
	return OUTCOME_OK;
}

enum outcome list_resources(struct call *call)
{
	struct address address;
	struct resource *list;
	size_t n;
	bool more;
	enum outcome outcome = address_read(call, &address);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct resource_query query = {
		.tenant = address.tenant,
		.type = address.type,
		.all_spaces = address.type->namespaced && call_param(call, "namespace").p == NULL,
		.space = address.space,
	};
	outcome = tenancy_read_list(call, &query);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (tenancy_selects(call))
		return list_selected(call, &query);
	outcome = resource_list(call->registry, &query, &list, &n, &more);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct str next = STR_NONE;
	if (more)
		next = next_url(call, &query, resource_marker(call->pool, &query, &list[n - 1]));
	write_list(call, list, n, next);
	return OUTCOME_OK;
}
