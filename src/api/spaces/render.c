// SPDX-License-Identifier: Apache-2.0
// Objects, lists and Tables. An object is spliced from its stored texts, in which most of it lies as it is told.
#include "base/base.h"

#include "api/documents.h"
#include "api/spaces/spaces.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/rules.h"

void write_json_text(struct call *call, struct str text)
{
	call->response.body = text;
	call->response.content_type = STR("application/json");
}

void write_json_doc(struct call *call, const struct doc *doc)
{
	struct buf out = buf_new(call->pool, 1024);

	doc_write_json(doc, &out);
	write_json_text(call, buf_str(&out));
}

// ---- one object

static void add_metadata(const struct definition *definition, const struct definition_version *version,
	const struct resource *resource, struct pool *pool, struct buf *out)
{
	bool has_tenant = definition->scope != SCOPE_CLUSTER;

	BUF_LIT(out, ",\"metadata\":{");
	json_add_member(out, "name", resource->name);
	if (is_namespaced(definition))
		json_add_member(out, "namespace", resource->space);
	if (has_tenant)
		json_add_member(out, "tenant", resource->tenant);
	json_add_member(out, "selfLink",
		object_path(pool, definition, version, resource->tenant, resource->space, resource->name));
	BUF_LIT(out, "\"uid\":\"");
	uuid_add(out, resource->uid);
	BUF_LIT(out, "\",\"resourceVersion\":\"");
	buf_add_u64(out, resource->changed);
	BUF_LIT(out, "\",\"etag\":\"W/");
	buf_add_hex(out, resource->etag, sizeof(resource->etag));
	BUF_LIT(out, "\",");
	if (!definition->builtin) {
		BUF_LIT(out, "\"generation\":");
		buf_add_u64(out, resource->generation);
		buf_addc(out, ',');
	}
	BUF_LIT(out, "\"creationTimestamp\":\"");
	clock_add_rfc3339(out, resource->created_us);
	buf_addc(out, '"');
	if (resource->doomed_us != 0) {
		BUF_LIT(out, ",\"deletionTimestamp\":\"");
		clock_add_rfc3339(out, resource->doomed_us);
		BUF_LIT(out, "\",\"deletionGracePeriodSeconds\":0");
	}
	add_stored_members(out, resource->meta);
	buf_addc(out, '}');
}

static bool mentions(struct str text, struct str quoted)
{
	return memmem(text.p, text.n, quoted.p, quoted.n) != NULL;
}

// The body without members that come from elsewhere: another dialect may have stored them. A namespace's status is
// added apart.
static struct str own_body(struct pool *pool, const struct definition *definition, struct str body)
{
	bool of_namespace = has_identity(definition, "", "namespaces");

	if (!mentions(body, STR("\"apiVersion\"")) && !mentions(body, STR("\"kind\"")) &&
		!(of_namespace && mentions(body, STR("\"status\""))))
		return body;
	struct doc *doc = stored_doc(pool, body);
	struct buf text = buf_new(pool, body.n);
	doc_remove(doc, STR("apiVersion"));
	doc_remove(doc, STR("kind"));
	if (of_namespace)
		doc_remove(doc, STR("status"));
	doc_write_json(doc, &text);
	return buf_str(&text);
}

static struct str body_in_version(struct call *call, const struct definition *definition,
	const struct definition_version *version, struct str body)
{
	if (!has_identity(definition, CRD_GROUP, CRD_PLURAL) || !str_eq(version->name, STR("v1beta1")))
		return body;
	struct pool *pool = call->registry->pool;
	struct buf text = buf_new(pool, body.n + 256);
	doc_write_json(crd_to_v1beta1(pool, stored_doc(pool, body)), &text);
	return buf_str(&text);
}

void object_json(struct call *call, const struct definition *definition, const struct definition_version *version,
	const struct resource *resource, struct buf *out)
{
	struct str shown = resource_shown(call->registry, resource);
	struct str body = own_body(call->registry->pool, definition, shown);

	BUF_LIT(out, "{\"kind\":");
	json_add_string(out, definition->kind);
	BUF_LIT(out, ",\"apiVersion\":");
	json_add_string(out, group_version(call->registry->pool, definition->type->group, version->name));
	add_metadata(definition, version, resource, call->registry->pool, out);
	add_stored_members(out, body_in_version(call, definition, version, body));
	if (has_identity(definition, "", "namespaces"))
		add_namespace_status(call->registry->pool, resource, shown, out);
	buf_addc(out, '}');
}

void answer_text(struct call *call, const struct target *target, struct str object, uint64_t version)
{
	struct listing listing;

	if (wanted_table(call).p == NULL) {
		write_json_text(call, object);
		return;
	}
	listing_begin(&listing, call, target);
	listing_add(&listing, object);
	listing_end(&listing, version, STR_NONE);
}

void answer_object(struct call *call, const struct target *target, const struct resource *resource)
{
	struct buf out = buf_new(call->pool, 1024 + resource->meta.n + resource->body.n);

	set_etag(call, resource->etag);
	object_json(call, target->definition, target->version, resource, &out);
	if (target->part == PART_SCALE) {
		write_json_doc(call, scale_of(call->pool, target, stored_doc(call->pool, buf_str(&out))));
		return;
	}
	answer_text(call, target, buf_str(&out), resource->changed);
}

// ---- lists

static struct str list_kind(struct pool *pool, const struct definition *definition)
{
	if (definition->list_kind.n > 0)
		return definition->list_kind;
	return str_printf(pool, "%.*sList", STR_ARG(definition->kind));
}

void listing_begin(struct listing *listing, struct call *call, const struct target *target)
{
	struct pool *pool = call->pool;
	struct str table = wanted_table(call), version = target->version->name;

	*listing = (struct listing){ .call = call, .target = target, .out = buf_new(pool, 4096) };
	struct buf *out = &listing->out;
	if (table.p != NULL)
		listing->columns = table_columns_of(pool, target->definition, target->version);
	BUF_LIT(out, "{\"kind\":");
	json_add_string(out, table.p != NULL ? STR("Table") : list_kind(pool, target->definition));
	BUF_LIT(out, ",\"apiVersion\":");
	json_add_string(out, table.p != NULL ? table : group_version(pool, target->definition->type->group, version));
	if (table.p == NULL) {
		BUF_LIT(out, ",\"items\":[");
		return;
	}
	BUF_LIT(out, ",\"columnDefinitions\":");
	table_add_columns(listing->columns, out);
	BUF_LIT(out, ",\"rows\":[");
}

void listing_add(struct listing *listing, struct str object)
{
	struct call *call = listing->call;
	struct pool *pool = call->registry->pool;

	if (listing->n++ > 0)
		buf_addc(&listing->out, ',');
	if (listing->columns == NULL)
		buf_add(&listing->out, object);
	else
		table_add_row(pool, listing->columns, stored_doc(pool, object), included_object(call), call->registry->now_us,
			&listing->out);
}

void listing_end(struct listing *listing, uint64_t version, struct str next)
{
	struct buf *out = &listing->out;

	BUF_LIT(out, "],\"metadata\":{\"selfLink\":");
	json_add_string(out, listing->call->request.uri.path);
	BUF_LIT(out, ",\"resourceVersion\":\"");
	buf_add_u64(out, version);
	buf_addc(out, '"');
	if (next.p != NULL) {
		BUF_LIT(out, ",\"continue\":");
		json_add_string(out, next);
	}
	BUF_LIT(out, "}}");
	write_json_text(listing->call, buf_str(out));
}
