// SPDX-License-Identifier: Apache-2.0
// Forwards as objects: which addresses of a tenant lead to resources elsewhere, until when, and their end. For operators: a
// forward names the tenant that has the resource now, and only who may read there may know it (doc/api.md, "Moves").
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/resource/resource.h"
#include "registry/tenant/forward.h"

static struct doc *forward_doc(struct call *call, const struct forward *forward)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	struct str to = address_path(call, forward->dest, forward->type, forward->space, forward->name);

	doc_set_str(pool, doc, "resource", resource_path(pool, forward->type, forward->space, forward->name));
	doc_set_str(pool, doc, "uid", uuid_str(pool, forward->uid));
	doc_set_str(pool, doc, "dest", forward->dest);
	doc_set_str(pool, doc, "location", call_url(call, to));
	doc_set_str(pool, doc, "state", forward->gone ? STR("gone") : STR("moved"));
	doc_set_str(pool, doc, "moved_at", document_time_text(pool, forward->moved_us));
	if (forward->has_request)
		doc_set_str(pool, doc, "request_id", uuid_str(pool, forward->request_id));
	if (forward->expires_us != 0)
		doc_set_str(pool, doc, "expires_at", document_time_text(pool, forward->expires_us));
	return doc;
}

// ---- the list

// A marker is "TYPE-ID/NAMESPACE/NAME" of the last forward on the page before.
static bool read_marker(struct str marker, struct forward_place *place)
{
	struct str rest = marker, id;

	return str_split(&rest, '/', &id) && str_to_u64(id, &place->type_id) && str_split(&rest, '/', &place->space) &&
	       str_split(&rest, '/', &place->name) && rest.n == 0 && place->name.n > 0 && str_utf8_ok(marker, NULL);
}

static struct str next_url(struct call *call, uint64_t limit, const struct forward *last)
{
	struct str tenant = tenant_path(call, call_param(call, "tenant"));
	struct str path = str_printf(call->pool, "%.*s/forwards", STR_ARG(tenant));
	struct str marker = str_printf(call->pool, "%llu/%.*s/%.*s", (unsigned long long)last->type->id, STR_ARG(last->space),
		STR_ARG(last->name));

	return tenancy_next_url(call, path, limit, marker);
}

enum outcome list_forwards(struct call *call)
{
	struct forward_place after = { .type_id = 0 };
	struct str marker = call_param(call, "marker");
	struct forward_page page;
	uint64_t limit = 0;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (marker.p != NULL && !read_marker(marker, &after))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "marker must be that of the \"next\" link of the page before");
	outcome = forward_list(call->registry, call_param(call, "tenant"), &after, limit, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < page.n; i++)
		doc_push(items, forward_doc(call, &page.list[i]));
	doc_set(doc, STR("forwards"), items);
	if (page.more)
		doc_set_str(call->pool, doc, "next", next_url(call, limit, &page.list[page.n - 1]));
	call_write(call, &forward_list_document, doc);
	return OUTCOME_OK;
}

// ---- one forward

// Reads the time at which the forward is to end. *us: 0 if it has none.
static enum outcome read_expiry(struct call *call, int64_t *us)
{
	struct doc *body;
	const struct doc *member;
	enum outcome outcome = call_read(call, &forward_document, &body);

	*us = 0;
	if (outcome != OUTCOME_OK || !doc_get(body, STR("expires_at"), &member))
		return outcome;
	return tenancy_read_expiry(call, member, "the forward lasts as long as the resource is stored; DELETE ends it now", us);
}

enum outcome put_forward(struct call *call)
{
	struct address address;
	struct forward forward;
	int64_t expires_us;
	enum outcome outcome = address_read(call, &address);

	if (outcome == OUTCOME_OK)
		outcome = read_expiry(call, &expires_us);
	if (outcome == OUTCOME_OK)
		outcome = forward_expire(call->registry, &address, expires_us, &forward);
	if (outcome == OUTCOME_OK)
		call_write(call, &forward_document, forward_doc(call, &forward));
	return outcome;
}

enum outcome delete_forward(struct call *call)
{
	struct address address;
	enum outcome outcome = address_read(call, &address);

	return outcome == OUTCOME_OK ? forward_revoke(call->registry, &address) : outcome;
}
