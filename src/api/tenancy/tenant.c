// SPDX-License-Identifier: Apache-2.0
// Tenants: blueprints, "Required Operations"; recovery; the operator's list.
#include "base/base.h"

#include "api/documents.h"
#include "api/settings.h"
#include "api/tenancy/tenancy.h"
#include "api/tenant_metadata.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/log/stale.h"
#include "registry/tenant/selection.h"
#include "registry/tenant/tenant.h"
#include "registry/tenant/type_counts.h"

static void write_tenant(struct call *call, const struct tenant *tenant)
{
	call_write(call, tenant_document(call_vocabulary(call)), tenancy_tenant_doc(call, tenant));
	tenancy_set_tenant_headers(call, tenant);
}

// Used by GET and HEAD, which render the tenant differently.
static enum outcome read_tenant(struct call *call, struct tenant *tenant)
{
	struct conditions conditions;
	enum outcome outcome = conditions_read(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = tenant_get(call->registry, call_param(call, "tenant"), tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	tenancy_set_tenant_headers(call, tenant);
	return tenant_check(call->registry, tenant, conditions_guard(&conditions));
}

// Adds the collections in which the tenant has resources: the blueprints' "list of top level account resources".
static enum outcome set_collections(struct call *call, const struct tenant *tenant, struct doc *doc)
{
	struct doc *collections = doc_new_array(call->pool);
	struct str path = tenant_path(call, tenant->name);
	struct type_count_row *rows;
	size_t counted, n = 0;
	enum outcome outcome = type_counts_list(call->registry, tenant, 1, &counted, &rows, &n);

	for (size_t i = 0; i < n && outcome == OUTCOME_OK; i++) {
		struct doc *collection = doc_new_object(call->pool);
		struct str address = str_printf(call->pool, "%.*s/%.*s", STR_ARG(path), STR_ARG(rows[i].type));

		doc_set_str(call->pool, collection, "type", rows[i].type);
		doc_set_u64(call->pool, collection, "resources", rows[i].resources);
		doc_set_str(call->pool, collection, "href", call_url(call, address));
		doc_push(collections, collection);
	}
	doc_set(doc, STR("collections"), collections);
	return outcome;
}

enum outcome head_tenant(struct call *call)
{
	struct tenant tenant;

	response_set(&call->response, "Vary", STR("Accept")); // as for GET
	enum outcome outcome = read_tenant(call, &tenant);
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}

// Answers HEAD, too, where only GET is published.
enum outcome get_tenant(struct call *call)
{
	if (call->request.method == METHOD_HEAD)
		return head_tenant(call);
	struct tenant tenant;
	struct str wanted = call_param(call, "collections");
	bool with_collections = str_eq(wanted, STR("true")) || str_eq(wanted, STR("1"));
	enum outcome outcome = read_tenant(call, &tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = tenancy_tenant_doc(call, &tenant);
	if (with_collections)
		outcome = set_collections(call, &tenant, doc);
	if (outcome == OUTCOME_OK)
		call_write(call, with_collections ? tenant_collections_document(call_vocabulary(call)) : tenant_document(call_vocabulary(call)), doc);
	return outcome;
}

// ---- PUT

// Is the name, in any case, among the entries? Header fields ignore case, so HEAD could show only one of two such names.
static bool is_among(struct str name, const struct doc_iter *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq_nocase(entries[i].name, name))
			return true;
	return false;
}

static enum outcome check_metadata(struct call *call, const struct doc_iter *it, const struct doc_iter *others, size_t n)
{
	if (n == MAX_META)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "metadata may have %d entries at most", MAX_META);
	if (!tenant_metadata_name_ok(it->name))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"metadata's names begin with a letter or \"_\" and have letters, digits, \"_\", \"-\" and \".\", up to %d",
			MAX_META_NAME);
	if (is_among(it->name, others, n))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "metadata.%.*s has the name of another entry but for its case",
			STR_ARG(it->name));
	if (doc_kind(it->value) != DOC_STRING || doc_string(it->value).n > MAX_META_VALUE)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "metadata.%.*s must be a string of up to %d bytes",
			STR_ARG(it->name), MAX_META_VALUE);
	return OUTCOME_OK;
}

// Sorts metadata by name, so that the same metadata always gives the same text.
static enum outcome read_metadata(struct call *call, const struct doc *metadata, struct str *text)
{
	struct doc_iter entries[MAX_META];
	size_t n = 0, bytes = 0;
	struct doc *sorted = doc_new_object(call->pool);

	for (struct doc_iter it = doc_iter(metadata); doc_next(&it);) {
		enum outcome outcome = check_metadata(call, &it, entries, n);
		if (outcome != OUTCOME_OK)
			return outcome;
		bytes += it.name.n + doc_string(it.value).n;
		entries[n++] = it;
	}
	if (bytes > MAX_META_ALL)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "metadata's names and values may have %d bytes altogether",
			MAX_META_ALL);
	document_sort_members(entries, n);
	for (size_t i = 0; i < n; i++)
		doc_set(sorted, entries[i].name, doc_new_string(call->pool, doc_string(entries[i].value)));
	*text = document_json_text(call->pool, sorted);
	return OUTCOME_OK;
}

static enum outcome read_members(struct call *call, const struct doc *body, struct tenant_content *content)
{
	const struct doc *member;
	struct str name = call_param(call, "tenant");

	*content = (struct tenant_content){ .tier = STR_NONE, .metadata = STR_NONE };
	if (doc_get(body, STR("id"), &member) && !(doc_kind(member) == DOC_STRING && str_eq(doc_string(member), name)))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "id contradicts the address, which says \"%.*s\": leave it out",
			STR_ARG(name));
	if (doc_get(body, STR("tier"), &member))
		content->tier = doc_string(member);
	content->tells_etag_required = doc_get(body, STR("etag_required"), &member);
	content->etag_required = content->tells_etag_required && doc_bool(member);
	if (doc_get(body, STR("metadata"), &member))
		return read_metadata(call, member, &content->metadata);
	return OUTCOME_OK;
}

static enum outcome read_content(struct call *call, struct tenant_content *content)
{
	struct doc *body;
	enum outcome outcome = call_read(call, tenant_document(call_vocabulary(call)), &body);

	*content = (struct tenant_content){ .tier = STR_NONE, .metadata = STR_NONE };
	return outcome == OUTCOME_OK && body != NULL ? read_members(call, body, content) : outcome;
}

enum outcome put_tenant(struct call *call)
{
	struct tenant_content content;
	struct conditions conditions;
	struct tenant tenant;
	enum outcome outcome = conditions_read(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = read_content(call, &content);
	if (outcome == OUTCOME_OK)
		outcome = tenant_put(call->registry, call_param(call, "tenant"), &content, conditions_guard(&conditions),
			&tenant);
	if (outcome != OUTCOME_OK && outcome != OUTCOME_CREATED)
		return outcome;
	write_tenant(call, &tenant);
	if (outcome == OUTCOME_OK)
		return OUTCOME_ACCEPTED;
	response_set(&call->response, "Location", call_url(call, tenant_path(call, tenant.name)));
	return OUTCOME_CREATED;
}

// ---- PATCH

struct tenant_patching {
	struct call *call;
	enum edit_kind kind;
	const struct doc *patch;
};

// Reads the patched document like one sent by a client, with the same rules for what is allowed and what is ignored.
static enum outcome read_patched(struct call *call, const struct doc *whole, struct tenant_content *content)
{
	const struct doc_limits limits = { .depth = api_settings(call->config)->max_depth };
	struct str text = document_json_text(call->pool, whole), error;
	struct doc *body;

	if (!repr_read(call->pool, tenant_document(call_vocabulary(call)), REPR_JSON, text, limits, &body, &error))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "patched, it is no %s any more: %.*s",
			call_vocabulary(call)->singular,
			STR_ARG(error));
	enum outcome outcome = read_members(call, body, content);
	if (outcome == OUTCOME_OK && content->tier.p == NULL)
		outcome = call_fail(call, OUTCOME_BAD_DOCUMENT, "a tier can be replaced, not removed");
	// If the patch removed metadata it is now empty; a PUT without metadata would keep the stored one.
	if (content->metadata.p == NULL)
		content->metadata = STR("{}");
	content->tells_etag_required = true;
	return outcome;
}

static enum outcome apply_patch(void *arg, const struct tenant *current, struct tenant_content *content)
{
	const struct tenant_patching *patching = arg;
	struct call *call = patching->call;
	struct doc *whole = doc_new_object(call->pool);
	const struct doc *patched;

	doc_set(whole, str_c(call_vocabulary(call)->singular), tenancy_tenant_doc(call, current));
	enum outcome outcome = patch_apply(call, patching->kind, NULL, whole, patching->patch, &patched);
	return outcome == OUTCOME_OK ? read_patched(call, patched, content) : outcome;
}

enum outcome patch_tenant(struct call *call)
{
	struct tenant_patching patching = { .call = call };
	struct conditions conditions;
	struct tenant tenant;
	struct doc *patch;
	enum outcome outcome = conditions_read(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = patch_read_body(call, &patching.kind, &patch);
	if (outcome != OUTCOME_OK)
		return outcome;
	patching.patch = patch;
	outcome = tenant_patch(call->registry, call_param(call, "tenant"), &(struct tenant_edit){ apply_patch, &patching },
		conditions_guard(&conditions), &tenant);
	if (outcome == OUTCOME_OK)
		write_tenant(call, &tenant);
	return outcome;
}

// ---- DELETE, recover

enum outcome delete_tenant(struct call *call)
{
	struct conditions conditions;
	struct tenant tenant;
	enum outcome outcome = conditions_read(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = tenant_delete(call->registry, call_param(call, "tenant"), conditions_guard(&conditions), &tenant);
	if (outcome == OUTCOME_NO_CONTENT)
		response_set(&call->response, str_printf(call->pool, "%sPurge-At", call_vocabulary(call)->header).p,
			document_time_text(call->pool, tenant.purge_us));
	return outcome;
}

enum outcome recover_tenant(struct call *call)
{
	struct conditions conditions;
	enum outcome outcome = conditions_read(call, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = tenant_recover(call->registry, call_param(call, "tenant"), conditions_guard(&conditions));
	return outcome;
}

// ---- the list

static struct str next_url(struct call *call, bool deleted, uint64_t limit, struct str marker)
{
	struct buf path = buf_new(call->pool, 128);

	buf_addf(&path, "/%s?limit=%llu%s&marker=", call_vocabulary(call)->version, (unsigned long long)limit,
		deleted ? "&state=deleted" : "");
	uri_add_value(&path, marker);
	tenancy_keep_selection(call, &path);
	return call_url(call, buf_str(&path));
}

static void write_list(struct call *call, const struct tenant *list, size_t n, struct str next)
{
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);

	for (size_t i = 0; i < n; i++)
		doc_push(items, tenancy_tenant_doc(call, &list[i]));
	doc_set(doc, str_c(call_vocabulary(call)->plural), items);
	if (next.p != NULL)
		doc_set_str(call->pool, doc, "next", next);
	call_write(call, tenant_list_document(call_vocabulary(call)), doc);
}

// A page may be empty and have a next one: what its share of the work did not find is looked for there.
static enum outcome list_selected(struct call *call, bool deleted, uint64_t limit)
{
	struct tenant_selected selected;
	enum outcome outcome = tenancy_select_tenants(call, deleted, limit, &selected);

	if (outcome != OUTCOME_OK)
		return outcome;
	write_list(call, selected.list, selected.n,
		selected.next.p != NULL ? next_url(call, deleted, limit, selected.next) : STR_NONE);
	return OUTCOME_OK;
}

enum outcome list_tenants(struct call *call)
{
	struct tenant_page page;
	bool deleted = str_eq(call_param(call, "state"), STR("deleted"));
	uint64_t limit = 0;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (tenancy_selects(call))
		return list_selected(call, deleted, limit);
	outcome = tenant_list(call->registry, call->pool, deleted ? TENANTS_DELETED : TENANTS_LIVE, call_param(call, "marker"), limit, &page);
	if (outcome == OUTCOME_OK)
		write_list(call, page.list, page.n, page.more ? next_url(call, deleted, limit, page.list[page.n - 1].name) : STR_NONE);
	return outcome;
}
