// SPDX-License-Identifier: Apache-2.0
// Writes objects and lists, in each form. Most of an object is copied from its stored texts without being parsed.
#include "base/base.h"

#include "api/documents.h"
#include "api/spaces/answer/answer.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/resource/meta.h"
#include "registry/resource/secret.h"
#include "registry/tags/etag.h"
#include "registry/type/rules.h"

// ---- one object

// Writes the part of metadata that objects of one tenant and namespace have in common.
static void set_place(struct object_form *form, struct str tenant, struct str space)
{
	struct buf place = buf_new(form->call->pool, 256);

	form->tenant = str_dup(form->call->pool, tenant);
	form->space = str_dup(form->call->pool, space);
	if (definition_is_namespaced(form->definition))
		document_add_member(&place, "namespace", space);
	if (form->definition->scope != SCOPE_CLUSTER)
		document_add_member(&place, "tenant", tenant);
	document_add_member(&place, "selfLink",
		spaces_object_path(form->call->pool, form->definition, form->version, tenant, space, STR_NONE));
	form->place = str_part(buf_str(&place), 0, place.n - 2); // up to the last quote, before which the name is inserted
}

static void add_metadata(struct object_form *form, const struct resource *resource, struct buf *out)
{
	if (form->place.p == NULL || !str_eq(form->space, resource->space) || !str_eq(form->tenant, resource->tenant))
		set_place(form, resource->tenant, resource->space);
	document_add_member(out, "name", resource->name);
	buf_add(out, form->place);
	buf_addc(out, '/');
	uri_add_segment(out, resource->name);
	BUF_LIT(out, "\",\"uid\":\"");
	uuid_add(out, resource->uid);
	if (!form->is_trial) {
		BUF_LIT(out, "\",\"resourceVersion\":\"");
		buf_add_u64(out, resource->changed);
		BUF_LIT(out, "\",\"etag\":\"W/");
		buf_add_hex(out, etag_shown(form->call->registry, resource), sizeof(resource->stored_etag));
	}
	BUF_LIT(out, "\",");
	if (!form->definition->builtin) {
		BUF_LIT(out, "\"generation\":");
		buf_add_u64(out, resource->generation);
		buf_addc(out, ',');
	}
	BUF_LIT(out, "\"creationTimestamp\":\"");
	clock_add_rfc3339(out, resource->created_us);
	buf_addc(out, '"');
	if (resource->deletion_requested_us != 0) {
		BUF_LIT(out, ",\"deletionTimestamp\":\"");
		clock_add_rfc3339(out, resource->deletion_requested_us);
		BUF_LIT(out, "\",\"deletionGracePeriodSeconds\":0");
	}
	unsigned sets = (form->definition->builtin ? 0 : META_GENERATION) | (resource->deletion_requested_us != 0 ? META_GRACE_PERIOD : 0);
	document_add_stored_members(out, resource_place(resource, "meta"), resource_client_meta(form->call->scratch, resource, sets));
	buf_addc(out, '}');
}

// Does text contain one of the first n words?
static bool mentions(struct str text, size_t n)
{
	static const struct str words[] = { STR_INIT("\"apiVersion\""), STR_INIT("\"kind\""), STR_INIT("\"status\"") };

	for (size_t at = str_find(text, '"', 0); at + 1 < text.n; at = str_find(text, '"', at + 1)) {
		char first = text.p[at + 1];
		for (size_t i = 0; i < n && (first == 'a' || first == 'k' || first == 's'); i++) {
			if (str_starts(str_part(text, at, text.n), words[i]))
				return true;
		}
	}
	return false;
}

// The body without members that are written from elsewhere; another dialect may have stored some. The status of a namespace is
// added separately.
static struct str own_body(struct pool *pool, bool of_namespace, struct stored_place place, struct str body)
{
	if (!mentions(body, of_namespace ? 3 : 2))
		return body;
	struct doc *doc = stored_document(pool, place, body);
	struct buf text = buf_new(pool, body.n);
	doc_remove(doc, STR("apiVersion"));
	doc_remove(doc, STR("kind"));
	if (of_namespace)
		doc_remove(doc, STR("status"));
	doc_write_json(doc, &text);
	return buf_str(&text);
}

static struct str body_of_beta(struct pool *pool, struct stored_place place, struct str body)
{
	struct buf text = buf_new(pool, body.n + 256);

	doc_write_json(definition_to_v1beta1(pool, stored_document(pool, place, body)), &text);
	return buf_str(&text);
}

struct object_form object_form(struct call *call, const struct definition *definition,
	const struct definition_version *version)
{
	struct buf head = buf_new(call->pool, 128);

	assert(definition != NULL && version != NULL);
	BUF_LIT(&head, "{\"kind\":");
	json_add_string(&head, definition->kind);
	BUF_LIT(&head, ",\"apiVersion\":");
	json_add_string(&head, type_group_version(call->pool, definition->type->group, version->name));
	BUF_LIT(&head, ",\"metadata\":{");
	return (struct object_form){
		.call = call,
		.definition = definition,
		.version = version,
		.head = buf_str(&head),
		.of_namespace = definition_has_identity(definition, "", "namespaces"),
		.of_beta = definition_has_identity(definition, CRD_GROUP, CRD_PLURAL) && str_eq(version->name, STR("v1beta1")),
	};
}

void answer_object_add(struct object_form *form, const struct resource *resource, struct buf *out)
{
	struct pool *pool = form->call->scratch;
	struct str shown = resource_shown(form->call->scratch, resource);
	const struct stored_place place = resource_place(resource, "body");
	struct str body = own_body(pool, form->of_namespace, place, shown);

	buf_add(out, form->head);
	add_metadata(form, resource, out);
	document_add_stored_members(out, place, form->of_beta ? body_of_beta(pool, place, body) : body);
	if (form->of_namespace)
		kind_add_namespace_status(pool, resource, shown, out);
	buf_addc(out, '}');
}

void answer_object_json(struct call *call, const struct definition *definition, const struct definition_version *version,
	const struct resource *resource, struct buf *out)
{
	struct object_form form = object_form(call, definition, version);

	answer_object_add(&form, resource, out);
}

void answer_text(struct call *call, const struct target *target, struct stored_place place, struct str object,
	uint64_t version)
{
	const struct answer_form form = answer_wanted_form(call, false);
	struct listing listing;

	if (form.as == AS_OBJECT) {
		spaces_write_json_text(call, object);
		return;
	}
	if (form.as == AS_METADATA) {
		struct buf out = buf_new(call->pool, 1024);
		table_add_metadata(stored_document(call->pool, place, object), form.version, &out);
		spaces_write_json_text(call, buf_str(&out));
		return;
	}
	listing_begin(&listing, call, target);
	listing_add(&listing, place, object);
	listing_end(&listing, version, STR_NONE);
}

static void answer_as(struct object_form *form, const struct target *target, const struct resource *resource)
{
	struct call *call = form->call;
	const struct stored_place place = resource_place(resource, "meta or body");
	struct buf out = buf_new(call->pool, 1024 + resource->meta.n + resource->body.n);

	answer_object_add(form, resource, &out);
	if (target->part == PART_SCALE) {
		spaces_write_json_doc(call, kind_scale(call->pool, target, stored_document(call->pool, place, buf_str(&out))));
		return;
	}
	answer_text(call, target, place, buf_str(&out), form->is_trial ? 0 : resource->changed);
}

void answer_object(struct call *call, const struct target *target, const struct resource *resource)
{
	assert(target->definition != NULL && resource->type != NULL);
	struct object_form form = object_form(call, target->definition, target->version);

	conditions_set_etag(call, etag_shown(call->registry, resource));
	answer_as(&form, target, resource);
}

void answer_trial_object(struct call *call, const struct target *target, const struct resource *resource)
{
	assert(target->definition != NULL && resource->type != NULL && call->dry_run);
	struct object_form form = object_form(call, target->definition, target->version);

	form.is_trial = true;
	answer_as(&form, target, resource);
}

// ---- lists

static struct str list_kind(struct pool *pool, enum answer_as as, const struct definition *definition)
{
	if (as != AS_OBJECT)
		return as == AS_TABLE ? STR("Table") : STR("PartialObjectMetadataList");
	if (definition->list_kind.n > 0)
		return definition->list_kind;
	return str_printf(pool, "%.*sList", STR_ARG(definition->kind));
}

enum { SPILL_BYTES = 1 << 20 }; // bytes of a list that are kept in memory

void listing_begin(struct listing *listing, struct call *call, const struct target *target)
{
	struct pool *pool = call->pool;
	const struct answer_form form = answer_wanted_form(call, true);

	*listing = (struct listing){ .call = call, .target = target, .form = form, .out = buf_new(pool, 4096) };
	response_unspill(&call->response); // the handler may run again
	struct buf *out = &listing->out;
	if (form.as == AS_TABLE)
		listing->columns = table_columns_for(call->pool, target->definition,
			definition_details(call->registry, target->definition, target->version));
	BUF_LIT(out, "{\"kind\":");
	json_add_string(out, list_kind(pool, form.as, target->definition));
	BUF_LIT(out, ",\"apiVersion\":");
	json_add_string(out, form.as != AS_OBJECT ? form.version :
		type_group_version(pool, target->definition->type->group, target->version->name));
	if (form.as != AS_TABLE) {
		BUF_LIT(out, ",\"items\":[");
		return;
	}
	BUF_LIT(out, ",\"columnDefinitions\":");
	table_add_columns(listing->columns, out);
	BUF_LIT(out, ",\"rows\":[");
}

void listing_add(struct listing *listing, struct stored_place place, struct str object)
{
	struct call *call = listing->call;
	struct pool *pool = call->scratch;

	assert(listing->call != NULL);
	if (listing->n++ > 0)
		buf_addc(&listing->out, ',');
	if (listing->form.as == AS_OBJECT)
		buf_add(&listing->out, object);
	else if (listing->form.as == AS_METADATA)
		table_add_metadata(stored_document(pool, place, object), listing->form.version, &listing->out);
	else
		table_add_row(pool, listing->columns, stored_document(pool, place, object), answer_included_object(call),
			call->registry->now_us, &listing->out);
	if (listing->out.n > SPILL_BYTES)
		listing->spilled = response_spill(&call->response, &listing->out);
}

void listing_end(struct listing *listing, uint64_t version, struct str next)
{
	struct buf *out = &listing->out;

	assert(listing->call != NULL);
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
	spaces_write_json_text(listing->call, buf_str(out));
}
