// SPDX-License-Identifier: Apache-2.0
// Converts the registry's structs to what clients read.
#include "base/base.h"

#include "api/documents.h"
#include "api/namespace_status.h"
#include "api/tenancy/tenancy.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "http/media.h"
#include "registry/resource/meta.h"
#include "registry/resource/secret.h"
#include "registry/tags/etag.h"
#include "registry/type/rules.h"
#include "registry/type/type.h"
#include "registry/undo/former.h"

// ---- tenants

static struct str state_text(const struct tenant *tenant)
{
	return tenant->deleted_us != 0 ? STR("deleted") : STR("active");
}

struct doc *tenancy_tenant_doc(struct call *call, const struct tenant *tenant)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "id", tenant->name);
	doc_set_str(pool, doc, "tier", tenant->tier);
	doc_set(doc, STR("metadata"), tenant_metadata_doc(pool, tenant));
	doc_set_str(pool, doc, "state", state_text(tenant));
	doc_set_u64(pool, doc, "resources", tenant->resources);
	if (tenant->etag_required)
		doc_set(doc, STR("etag_required"), doc_new_bool(pool, true));
	doc_set_str(pool, doc, "created_at", document_time_text(pool, tenant->created_us));
	doc_set_str(pool, doc, "updated_at", document_time_text(pool, tenant->updated_us));
	if (tenant->deleted_us != 0)
		doc_set_str(pool, doc, "purge_at", document_time_text(pool, tenant->purge_us));
	doc_set_str(pool, doc, "etag", conditions_etag_text(pool, tenant->etag));
	return doc;
}

// Makes text fit for a header field: everything but plain ASCII is percent-encoded, and so is '%', so that it can be decoded;
// also blanks at both ends, which a header would lose.
static struct str header_value(struct pool *pool, struct str s)
{
	struct buf value = buf_new(pool, s.n + 16);

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		bool inner_blank = c == ' ' && i > 0 && i + 1 < s.n;
		if (inner_blank || (c > ' ' && c < 0x7f && c != '%'))
			buf_addc(&value, (char)c);
		else
			buf_addf(&value, "%%%02X", c);
	}
	return buf_str(&value);
}

static void set_header(struct call *call, const char *name, struct str value)
{
	struct str full = str_printf(call->pool, "%s%s", call_vocabulary(call)->header, name);

	response_set(&call->response, full.p, header_value(call->pool, value));
}

void tenancy_set_tenant_headers(struct call *call, const struct tenant *tenant)
{
	struct doc_iter it = doc_iter(tenant_metadata_doc(call->pool, tenant));

	set_header(call, "Id", tenant->name);
	set_header(call, "Tier", tenant->tier);
	set_header(call, "State", state_text(tenant));
	set_header(call, "Resource-Count", str_printf(call->pool, "%llu", (unsigned long long)tenant->resources));
	if (tenant->etag_required)
		set_header(call, "Etag-Required", STR("true"));
	set_header(call, "Created-At", document_time_text(call->pool, tenant->created_us));
	set_header(call, "Updated-At", document_time_text(call->pool, tenant->updated_us));
	while (doc_next(&it))
		set_header(call, str_printf(call->pool, "Meta-%.*s", STR_ARG(it.name)).p, doc_string(it.value));
	conditions_set_etag(call, tenant->etag);
}

// ---- resources

void resource_json(struct call *call, const struct resource *resource, struct buf *out)
{
	assert(resource->type != NULL);
	BUF_LIT(out, "{\"metadata\":{");
	document_add_member(out, "name", resource->name);
	if (resource->type->namespaced)
		document_add_member(out, "namespace", resource->space);
	document_add_member(out, "tenant", resource->tenant);
	BUF_LIT(out, "\"uid\":\"");
	uuid_add(out, resource->uid);
	BUF_LIT(out, "\",\"resourceVersion\":\"");
	buf_add_u64(out, resource->revision);
	BUF_LIT(out, "\",\"etag\":\"W/");
	buf_add_hex(out, etag_shown(call->registry, resource), sizeof(resource->stored_etag));
	BUF_LIT(out, "\",\"creationTimestamp\":\"");
	clock_add_rfc3339(out, resource->created_us);
	BUF_LIT(out, "\",");
	if (resource->deleted_us != 0 || resource->deletion_requested_us != 0)
		document_add_member(out, "deletionTimestamp",
			document_time_text(call->pool, resource->deleted_us != 0 ? resource->deleted_us : resource->deletion_requested_us));
	if (resource->deleted_us != 0)
		document_add_member(out, "purgeTimestamp", document_time_text(call->pool, resource->purge_us));
	if (resource->traits.n > 0) {
		BUF_LIT(out, "\"traits\":");
		buf_add(out, resource->traits);
		buf_addc(out, ',');
	}
	BUF_LIT(out, "\"selfLink\":");
	json_add_string(out, address_path(call, resource->tenant, resource->type, resource->space, resource->name));
	document_add_stored_members(out, resource_place(resource, "meta"), resource_client_meta(call->pool, resource, META_TRAITS));
	buf_addc(out, '}');
	struct str body = resource_shown(call->pool, resource);
	if (resource->type == type_namespaces(call->registry))
		body = namespace_status_body_text(call->pool, resource, body);
	document_add_stored_members(out, resource_place(resource, "body"), body);
	buf_addc(out, '}');
}

struct doc *tenancy_content_doc(struct call *call, const struct resource *resource, const struct former_content *content)
{
	struct pool *pool = call->pool;
	struct resource version = former_version(resource, content);
	struct doc *doc = doc_new_object(pool), *metadata = resource_meta_doc(pool, &version);
	struct doc_iter it = doc_iter(stored_document(pool, resource_place(resource, "body"), resource_shown(pool, &version)));

	doc_remove(metadata, STR("traits"));
	if (version.traits.n > 0)
		doc_set(metadata, STR("traits"), resource_traits_doc(pool, &version));
	doc_set(doc, STR("metadata"), metadata);
	while (doc_next(&it))
		doc_set(doc, it.name, doc_copy(pool, it.value));
	return doc;
}

void tenancy_write_resource(struct call *call, const struct resource *resource)
{
	struct buf out = buf_new(call->pool, 768 + resource->meta.n + resource->body.n + resource->traits.n);

	conditions_set_etag(call, etag_shown(call->registry, resource));
	resource_json(call, resource, &out);
	if (call->produce == REPR_XML) {
		call_write(call, &resource_document, stored_document(call->pool, resource_place(resource, "meta or body"),
			buf_str(&out)));
		return;
	}
	call->response.body = buf_str(&out);
	call->response.content_type = STR("application/json");
}

// ---- problems

static struct doc *link_doc(struct call *call, const char *rel, struct str path, const char *method)
{
	struct doc *link = doc_new_object(call->pool);

	doc_set_str(call->pool, link, "rel", str_c(rel));
	doc_set_str(call->pool, link, "href", call_url(call, path));
	doc_set_str(call->pool, link, "method", str_c(method));
	return link;
}

// Adds the links by which a deleted tenant can be recovered, if the caller may recover it.
static void add_links(struct call *call, enum outcome outcome, struct doc *doc)
{
	struct str tenant = call_param(call, "tenant");

	if (outcome != OUTCOME_RECOVERABLE || tenant.p == NULL)
		return;
	struct doc *links = doc_new_array(call->pool);
	struct str path = tenant_path(call, tenant);
	doc_push(links, link_doc(call, "recover", str_printf(call->pool, "%.*s/action/recover", STR_ARG(path)), "POST"));
	doc_set(doc, STR("links"), links);
}

static void push_blocker(struct pool *pool, struct doc *list, struct str resource, const char *reason, struct str detail)
{
	struct doc *item = doc_new_object(pool);

	doc_set_str(pool, item, "resource", resource);
	doc_set_str(pool, item, "reason", str_c(reason));
	doc_set_str(pool, item, "detail", detail);
	doc_push(list, item);
}

struct doc *tenancy_blockers_doc(struct pool *pool, const struct move_blocker *blockers, size_t n)
{
	struct doc *list = doc_new_array(pool);

	for (size_t i = 0; i < n; i++)
		push_blocker(pool, list, blockers[i].resource, blockers[i].reason, blockers[i].detail);
	return list;
}

static void add_blockers(struct call *call, const struct problem *problem, struct doc *doc)
{
	struct doc *list = doc_new_array(call->pool);

	for (size_t i = 0; i < problem->n_causes; i++)
		push_blocker(call->pool, list, problem->causes[i].subject, problem->causes[i].reason, problem->causes[i].message);
	doc_set(doc, STR("blockers"), list);
}

static void add_fields(struct call *call, const struct problem *problem, struct doc *doc)
{
	if (problem->fields == NULL)
		return;
	struct doc *list = doc_new_array(call->pool);
	for (size_t i = 0; i < problem->n_fields; i++)
		doc_push(list, doc_new_string(call->pool, problem->fields[i]));
	doc_set(doc, STR("fields"), list);
}

static struct str default_detail(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_NOT_FOUND:
		return STR("there is nothing at this address that you may see");
	case OUTCOME_UNAVAILABLE:
		return STR("the database is away or too busy: try again");
	case OUTCOME_INTERNAL:
		return STR("something went wrong here, and nothing was changed; the log tells more under this request_id");
	default:
		return STR_NONE;
	}
}

void tenancy_render_problem(struct call *call, enum outcome outcome, const struct problem *problem)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	struct str detail = problem->detail.n > 0 ? problem->detail : default_detail(outcome);

	doc_set_str(pool, doc, "type", str_printf(pool, "urn:tenure:problem:%s", outcome_name(outcome)));
	doc_set_str(pool, doc, "title", str_c(outcome_title(outcome)));
	doc_set_u64(pool, doc, "status", (uint64_t)outcome_status(outcome));
	if (detail.n > 0)
		doc_set_str(pool, doc, "detail", detail);
	doc_set_str(pool, doc, "request_id", uuid_str(pool, call->request_id));
	for (size_t i = 0; i < problem->n_members; i++)
		doc_set_str(pool, doc, problem->members[i].name, problem->members[i].value);
	if (problem->nothing_done)
		doc_set(doc, STR("done"), doc_new_bool(pool, false));
	add_links(call, outcome, doc);
	if (outcome == OUTCOME_BLOCKED)
		add_blockers(call, problem, doc);
	add_fields(call, problem, doc);
	struct buf out = buf_new(pool, 512);
	repr_write(&problem_document, call->produce, doc, &out);
	call->response.status = outcome_status(outcome);
	call->response.body = buf_str(&out);
	call->response.content_type =
		call->produce == REPR_XML ? STR("application/problem+xml") : STR("application/problem+json");
}
