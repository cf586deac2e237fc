// SPDX-License-Identifier: Apache-2.0
// Every document of the dialect, described once for both JSON and XML.
#include "base/base.h"

#include "api/tenancy/tenancy.h"

#define END { .name = NULL }
#define ATTR(member, kind_) { .name = member, .kind = kind_, .flags = SHAPE_ATTR }
#define OWNED(member, kind_) { .name = member, .kind = kind_, .flags = SHAPE_ATTR | SHAPE_NOT_READ }
// A page of a list: its items below that name, and the address of the next page.
#define PAGE(name_, item_) { .name = name_, .kind = SHAPE_OBJECT, .members = (const struct shape[]){ \
	{ .name = name_, .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = item_ }, ATTR("next", SHAPE_STRING), END } }

// ---- tenants, accounts

#define TENANT_ATTRIBUTES \
	ATTR("id", SHAPE_STRING), ATTR("tier", SHAPE_STRING), OWNED("state", SHAPE_STRING), OWNED("resources", SHAPE_NUMBER), \
	ATTR("etag_required", SHAPE_BOOL), OWNED("created_at", SHAPE_STRING), OWNED("updated_at", SHAPE_STRING), \
	OWNED("purge_at", SHAPE_STRING), OWNED("etag", SHAPE_STRING)
static const struct shape tenant_members[] = {
	TENANT_ATTRIBUTES, { .name = "metadata", .kind = SHAPE_MAP, .flags = SHAPE_INLINE }, END,
};

// With its collections. In XML the entries of the metadata have an element of their own here, since one may have the name
// "collections". Neither is there empty: a PUT of the document would read an empty element as an entry of the metadata.
static const struct shape collection_members[] = {
	ATTR("type", SHAPE_STRING), ATTR("resources", SHAPE_NUMBER), ATTR("href", SHAPE_STRING), END,
};
static const struct shape collection_item = { .name = "collection", .kind = SHAPE_OBJECT, .members = collection_members };
static const struct shape tenant_members_with_collections[] = {
	TENANT_ATTRIBUTES, { .name = "metadata", .kind = SHAPE_MAP, .flags = SHAPE_SKIP_EMPTY },
	{ .name = "collections", .kind = SHAPE_LIST, .flags = SHAPE_SKIP_EMPTY, .item = &collection_item }, END,
};
static const struct shape account_item = { .name = "account", .kind = SHAPE_OBJECT, .members = tenant_members };
static const struct shape tenant_item = { .name = "tenant", .kind = SHAPE_OBJECT, .members = tenant_members };

static const struct repr_document account_document = {
	.root = "account", .body = { .name = "account", .kind = SHAPE_OBJECT, .members = tenant_members }
};
static const struct repr_document tenant_document_v2 = {
	.root = "tenant", .body = { .name = "tenant", .kind = SHAPE_OBJECT, .members = tenant_members }
};
static const struct repr_document account_list_document = { .body = PAGE("accounts", &account_item) };
static const struct repr_document tenant_list_document_v2 = { .body = PAGE("tenants", &tenant_item) };

const struct repr_document *tenant_document(const struct words *words)
{
	return words->number == 1 ? &account_document : &tenant_document_v2;
}

const struct repr_document *tenant_collections_document(const struct words *words)
{
	static const struct repr_document account = {
		.root = "account", .body = { .name = "account", .kind = SHAPE_OBJECT, .members = tenant_members_with_collections }
	};
	static const struct repr_document tenant = {
		.root = "tenant", .body = { .name = "tenant", .kind = SHAPE_OBJECT, .members = tenant_members_with_collections }
	};

	return words->number == 1 ? &account : &tenant;
}

const struct repr_document *tenant_list_document(const struct words *words)
{
	return words->number == 1 ? &account_list_document : &tenant_list_document_v2;
}

// ---- move actions, as the blueprints' examples 4 and 5 show them

#define ACTIONS "http://service.openstack.com/actions"

static const struct shape blocker_members[] = {
	ATTR("resource", SHAPE_STRING), ATTR("reason", SHAPE_STRING), ATTR("detail", SHAPE_STRING), END
};
static const struct shape blocker_item = { .name = "blocker", .kind = SHAPE_OBJECT, .members = blocker_members };
static const struct shape moved_members[] = {
	ATTR("id", SHAPE_STRING), ATTR("uid", SHAPE_STRING), ATTR("tag", SHAPE_STRING), END
};
static const struct shape moved_item = { .name = "resource", .kind = SHAPE_OBJECT, .members = moved_members };
static const struct shape tagged_members[] = {
	ATTR("tag", SHAPE_STRING), ATTR("size", SHAPE_NUMBER), ATTR("total-usage", SHAPE_NUMBER), END
};

#define COUNT_MEMBERS(tenant) { ATTR(tenant, SHAPE_STRING), ATTR("type", SHAPE_STRING), ATTR("resources", SHAPE_NUMBER), END }
static const struct shape count_members_v1[] = COUNT_MEMBERS("account");
static const struct shape count_members_v2[] = COUNT_MEMBERS("tenant");
static const struct shape count_item_v1 = { .name = "count", .kind = SHAPE_OBJECT, .members = count_members_v1 };
static const struct shape count_item_v2 = { .name = "count", .kind = SHAPE_OBJECT, .members = count_members_v2 };

static const struct repr_document count_list_document_v1 = { .body = PAGE("counts", &count_item_v1) };
static const struct repr_document count_list_document_v2 = { .body = PAGE("counts", &count_item_v2) };

const struct repr_document *tenancy_count_list_document(const struct words *words)
{
	return words->number == 1 ? &count_list_document_v1 : &count_list_document_v2;
}

// ---- whose resources are

#define FOUND_MEMBERS(tenant) { ATTR(tenant, SHAPE_STRING), ATTR("type", SHAPE_STRING), ATTR("namespace", SHAPE_STRING), \
	ATTR("name", SHAPE_STRING), ATTR("resource", SHAPE_STRING), ATTR("uid", SHAPE_STRING), ATTR("created_at", SHAPE_STRING), \
	ATTR("updated_at", SHAPE_STRING), ATTR("deleted_at", SHAPE_STRING), ATTR("purge_at", SHAPE_STRING), END }
static const struct shape found_members_v1[] = FOUND_MEMBERS("account");
static const struct shape found_members_v2[] = FOUND_MEMBERS("tenant");
static const struct shape found_item_v1 = { .name = "resource", .kind = SHAPE_OBJECT, .members = found_members_v1 };
static const struct shape found_item_v2 = { .name = "resource", .kind = SHAPE_OBJECT, .members = found_members_v2 };

static const struct repr_document found_list_document_v1 = { .body = PAGE("resources", &found_item_v1) };
static const struct repr_document found_list_document_v2 = { .body = PAGE("resources", &found_item_v2) };

const struct repr_document *tenancy_found_list_document(const struct words *words)
{
	return words->number == 1 ? &found_list_document_v1 : &found_list_document_v2;
}

#define COUNTS(item_) { .name = "counts", .kind = SHAPE_LIST, .item = &item_ }
#define TENANTS_V1 { .name = "accounts", .kind = SHAPE_LIST, .item = &account_item }
#define TENANTS_V2 { .name = "tenants", .kind = SHAPE_LIST, .item = &tenant_item }
#define LISTED { .name = "resources", .kind = SHAPE_LIST, .item = &moved_item }
#define TAGGED { .name = "resources", .kind = SHAPE_OBJECT, .members = tagged_members }
#define BLOCKERS { .name = "blockers", .kind = SHAPE_LIST, .flags = SHAPE_SKIP_EMPTY, .item = &blocker_item }
#define MOVE_MEMBERS(name, tenants, counts, resources) \
	static const struct shape name[] = { ATTR("dest", SHAPE_STRING), tenants, resources, counts, BLOCKERS, END }
MOVE_MEMBERS(move_listed_v1, TENANTS_V1, COUNTS(count_item_v1), LISTED);
MOVE_MEMBERS(move_listed_v2, TENANTS_V2, COUNTS(count_item_v2), LISTED);
MOVE_MEMBERS(move_tagged_v1, TENANTS_V1, COUNTS(count_item_v1), TAGGED);
MOVE_MEMBERS(move_tagged_v2, TENANTS_V2, COUNTS(count_item_v2), TAGGED);

#define MOVE_DOCUMENT(members_) \
	{ .root = "move", .xmlns = ACTIONS, .body = { .name = "move", .kind = SHAPE_OBJECT, .members = members_ } }
static const struct repr_document move_documents[2][2] = {
	{ MOVE_DOCUMENT(move_tagged_v1), MOVE_DOCUMENT(move_listed_v1) },
	{ MOVE_DOCUMENT(move_tagged_v2), MOVE_DOCUMENT(move_listed_v2) },
};

const struct repr_document *tenancy_move_document(const struct words *words, bool listed)
{
	return &move_documents[words->number - 1][listed ? 1 : 0];
}

// ---- a background move's progress

static const struct shape move_status_members[] = {
	ATTR("id", SHAPE_STRING),
	ATTR("state", SHAPE_STRING),
	ATTR("source", SHAPE_STRING),
	ATTR("dest", SHAPE_STRING),
	ATTR("resource", SHAPE_STRING),
	ATTR("undo_of", SHAPE_STRING),
	ATTR("actor", SHAPE_STRING),
	ATTR("total", SHAPE_NUMBER),
	ATTR("moved", SHAPE_NUMBER),
	ATTR("reason", SHAPE_STRING),
	ATTR("detail", SHAPE_STRING),
	ATTR("created_at", SHAPE_STRING),
	ATTR("finished_at", SHAPE_STRING),
	END,
};
const struct repr_document move_status_document = {
	.root = "move", .body = { .name = "move", .kind = SHAPE_OBJECT, .members = move_status_members }
};

static const struct shape move_status_item = { .name = "move", .kind = SHAPE_OBJECT, .members = move_status_members };
const struct repr_document move_status_list_document = { .body = PAGE("moves", &move_status_item) };

// ---- forwards. Of what a client sends, expires_at alone counts.

static const struct shape forward_members[] = {
	OWNED("resource", SHAPE_STRING),
	OWNED("uid", SHAPE_STRING),
	OWNED("dest", SHAPE_STRING),
	OWNED("location", SHAPE_STRING),
	OWNED("state", SHAPE_STRING),
	OWNED("moved_at", SHAPE_STRING),
	OWNED("request_id", SHAPE_STRING),
	ATTR("expires_at", SHAPE_STRING),
	END,
};
const struct repr_document forward_document = {
	.root = "forward", .body = { .name = "forward", .kind = SHAPE_OBJECT, .members = forward_members }
};

static const struct shape forward_item = { .name = "forward", .kind = SHAPE_OBJECT, .members = forward_members };
const struct repr_document forward_list_document = { .body = PAGE("forwards", &forward_item) };

// ---- tiers. Without max_resources a tier has no quota.

static const struct shape tier_members[] = {
	ATTR("name", SHAPE_STRING), ATTR("max_resources", SHAPE_NUMBER), ATTR("description", SHAPE_STRING), OWNED("tenants", SHAPE_NUMBER),
	OWNED("etag", SHAPE_STRING), END
};
const struct repr_document tier_document = {
	.body = { .name = "tier", .kind = SHAPE_OBJECT, .members = tier_members }
};
static const struct shape tier_item = { .name = "tier", .kind = SHAPE_OBJECT, .members = tier_members };
const struct repr_document tier_list_document = { .body = PAGE("tiers", &tier_item) };

// ---- tokens. A client sends user, role, description and expires_at; the answer to that has the secret, once.

static const struct shape token_members[] = {
	OWNED("id", SHAPE_STRING),
	ATTR("user", SHAPE_STRING),
	ATTR("role", SHAPE_STRING),
	ATTR("description", SHAPE_STRING),
	OWNED("state", SHAPE_STRING),
	OWNED("created_at", SHAPE_STRING),
	ATTR("expires_at", SHAPE_STRING),
	OWNED("revoked_at", SHAPE_STRING),
	OWNED("last_used_at", SHAPE_STRING),
	OWNED("secret", SHAPE_STRING),
	END,
};
const struct repr_document token_document = {
	.root = "token", .body = { .name = "token", .kind = SHAPE_OBJECT, .members = token_members }
};

static const struct shape token_item = { .name = "token", .kind = SHAPE_OBJECT, .members = token_members };
const struct repr_document token_list_document = { .body = PAGE("tokens", &token_item) };

// ---- traits of a resource

static const struct shape trait_item = { .name = "trait", .kind = SHAPE_STRING };
static const struct shape traits_members[] = {
	{ .name = "traits", .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = &trait_item },
	END,
};
const struct repr_document traits_document = {
	.body = { .name = "traits", .kind = SHAPE_OBJECT, .members = traits_members }
};

// ---- resources

const struct repr_document resource_document = { .body = { .name = NULL, .kind = SHAPE_ANY } };

static const struct shape resource_item = { .name = "resource", .kind = SHAPE_ANY };
const struct repr_document resource_list_document = { .body = PAGE("resources", &resource_item) };

// ---- the change log

static const struct shape field_item = { .name = "field", .kind = SHAPE_STRING };
static const struct shape change_members[] = {
	ATTR("id", SHAPE_NUMBER),
	ATTR("at", SHAPE_STRING),
	ATTR("actor", SHAPE_STRING),
	ATTR("request_id", SHAPE_STRING),
	ATTR("verb", SHAPE_STRING),
	ATTR("tenant", SHAPE_STRING),
	ATTR("from_tenant", SHAPE_STRING),
	ATTR("moved", SHAPE_STRING),
	ATTR("resource", SHAPE_STRING),
	ATTR("uid", SHAPE_STRING),
	ATTR("revision", SHAPE_NUMBER),
	ATTR("etag_before", SHAPE_STRING),
	ATTR("etag_after", SHAPE_STRING),
	{ .name = "fields", .kind = SHAPE_LIST, .item = &field_item },
	END,
};
static const struct shape change_item = { .name = "change", .kind = SHAPE_OBJECT, .members = change_members };
static const struct shape change_list_members[] = {
	{ .name = "changes", .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = &change_item },
	ATTR("upto", SHAPE_NUMBER),
	ATTR("oldest", SHAPE_NUMBER),
	ATTR("next", SHAPE_STRING),
	END,
};
const struct repr_document change_list_document = {
	.body = { .name = "changes", .kind = SHAPE_OBJECT, .members = change_list_members }
};

// before and after: content as clients write it; null where there was none.
static const struct shape version_members_of_history[] = {
	ATTR("id", SHAPE_NUMBER),
	ATTR("at", SHAPE_STRING),
	ATTR("actor", SHAPE_STRING),
	ATTR("request_id", SHAPE_STRING),
	ATTR("verb", SHAPE_STRING),
	ATTR("revision", SHAPE_NUMBER),
	{ .name = "fields", .kind = SHAPE_LIST, .item = &field_item },
	{ .name = "before", .kind = SHAPE_ANY },
	{ .name = "after", .kind = SHAPE_ANY },
	END,
};
static const struct shape history_item = { .name = "change", .kind = SHAPE_OBJECT, .members = version_members_of_history };
static const struct shape history_members[] = {
	ATTR("resource", SHAPE_STRING),
	ATTR("uid", SHAPE_STRING),
	{ .name = "history", .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = &history_item },
	ATTR("next", SHAPE_STRING),
	END,
};
const struct repr_document history_document = {
	.body = { .name = "history", .kind = SHAPE_OBJECT, .members = history_members }
};

static const struct shape undone_members[] = {
	ATTR("resource", SHAPE_STRING),
	ATTR("uid", SHAPE_STRING),
	ATTR("action", SHAPE_STRING),
	{ .name = "now", .kind = SHAPE_ANY },
	{ .name = "restored", .kind = SHAPE_ANY },
	END,
};
static const struct shape undone_item = { .name = "item", .kind = SHAPE_OBJECT, .members = undone_members };
static const struct shape undo_members[] = {
	ATTR("request_id", SHAPE_STRING),
	ATTR("at", SHAPE_STRING),
	ATTR("actor", SHAPE_STRING),
	ATTR("changes", SHAPE_NUMBER),
	ATTR("from", SHAPE_STRING),
	ATTR("to", SHAPE_STRING),
	{ .name = "items", .kind = SHAPE_LIST, .item = &undone_item },
	BLOCKERS,
	END,
};
const struct repr_document undo_document = {
	.body = { .name = "undo", .kind = SHAPE_OBJECT, .members = undo_members }
};

// ---- webhooks

static const struct shape verb_item = { .name = "verb", .kind = SHAPE_STRING };
static const struct shape type_item = { .name = "type", .kind = SHAPE_STRING };
static const struct shape actor_item = { .name = "actor", .kind = SHAPE_STRING };
static const struct shape webhook_members[] = {
	ATTR("name", SHAPE_STRING),
	ATTR("url", SHAPE_STRING),
	ATTR("description", SHAPE_STRING),
	ATTR("paused", SHAPE_BOOL),
	{ .name = "verbs", .kind = SHAPE_LIST, .item = &verb_item },
	{ .name = "types", .kind = SHAPE_LIST, .item = &type_item },
	{ .name = "actors", .kind = SHAPE_LIST, .item = &actor_item },
	OWNED("tenant", SHAPE_STRING),
	OWNED("secret", SHAPE_STRING),
	OWNED("old_secret_until", SHAPE_STRING),
	OWNED("state", SHAPE_STRING),
	OWNED("upto", SHAPE_NUMBER),
	OWNED("delivered_at", SHAPE_STRING),
	OWNED("failing_since", SHAPE_STRING),
	OWNED("attempts", SHAPE_NUMBER),
	OWNED("next_attempt_at", SHAPE_STRING),
	OWNED("disabled_at", SHAPE_STRING),
	OWNED("status", SHAPE_NUMBER),
	OWNED("error", SHAPE_STRING),
	OWNED("dead", SHAPE_NUMBER),
	OWNED("created_at", SHAPE_STRING),
	OWNED("updated_at", SHAPE_STRING),
	OWNED("revision", SHAPE_NUMBER),
	OWNED("etag", SHAPE_STRING),
	END,
};
const struct repr_document webhook_document = {
	.body = { .name = "webhook", .kind = SHAPE_OBJECT, .members = webhook_members }
};
static const struct shape webhook_item = { .name = "webhook", .kind = SHAPE_OBJECT, .members = webhook_members };
const struct repr_document webhook_list_document = { .body = PAGE("webhooks", &webhook_item) };

static const struct shape delivery_members[] = {
	ATTR("message", SHAPE_STRING),
	ATTR("kind", SHAPE_STRING),
	ATTR("state", SHAPE_STRING),
	ATTR("after", SHAPE_NUMBER),
	ATTR("upto", SHAPE_NUMBER),
	ATTR("attempts", SHAPE_NUMBER),
	ATTR("next_attempt_at", SHAPE_STRING),
	ATTR("created_at", SHAPE_STRING),
	ATTR("ended_at", SHAPE_STRING),
	ATTR("status", SHAPE_NUMBER),
	ATTR("error", SHAPE_STRING),
	END,
};
static const struct shape delivery_item = { .name = "delivery", .kind = SHAPE_OBJECT, .members = delivery_members };
const struct repr_document delivery_list_document = { .body = PAGE("deliveries", &delivery_item) };

static const struct shape webhook_done_members[] = { ATTR("message", SHAPE_STRING), ATTR("revived", SHAPE_NUMBER), END };
const struct repr_document webhook_done_document = {
	.body = { .name = "queued", .kind = SHAPE_OBJECT, .members = webhook_done_members }
};

// ---- problems (RFC 9457; its XML form is that of RFC 7807), versions, health

static const struct shape link_members[] = {
	ATTR("rel", SHAPE_STRING), ATTR("href", SHAPE_STRING), ATTR("method", SHAPE_STRING), END
};
static const struct shape link_item = { .name = "link", .kind = SHAPE_OBJECT, .members = link_members };
static const struct shape problem_members[] = {
	{ .name = "type", .kind = SHAPE_STRING },
	{ .name = "title", .kind = SHAPE_STRING },
	{ .name = "status", .kind = SHAPE_NUMBER },
	{ .name = "detail", .kind = SHAPE_STRING },
	{ .name = "request_id", .kind = SHAPE_STRING },
	{ .name = "done", .kind = SHAPE_BOOL },
	{ .name = "etag", .kind = SHAPE_STRING },
	{ .name = "changed_by", .kind = SHAPE_STRING },
	{ .name = "changed_at", .kind = SHAPE_STRING },
	{ .name = "fields", .kind = SHAPE_LIST, .item = &field_item },
	{ .name = "purge_at", .kind = SHAPE_STRING },
	{ .name = "links", .kind = SHAPE_LIST, .item = &link_item },
	{ .name = "blockers", .kind = SHAPE_LIST, .item = &blocker_item },
	END,
};
const struct repr_document problem_document = {
	.xmlns = "urn:ietf:rfc:7807",
	.body = { .name = "problem", .kind = SHAPE_OBJECT, .members = problem_members },
};

static const struct shape version_members[] = {
	ATTR("id", SHAPE_STRING),
	ATTR("status", SHAPE_STRING),
	{ .name = "links", .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = &link_item },
	END,
};
static const struct shape version_item = { .name = "version", .kind = SHAPE_OBJECT, .members = version_members };
static const struct shape versions_members[] = {
	{ .name = "versions", .kind = SHAPE_LIST, .flags = SHAPE_INLINE, .item = &version_item }, END
};
const struct repr_document versions_document = {
	.body = { .name = "versions", .kind = SHAPE_OBJECT, .members = versions_members }
};

static const struct shape session_members[] = {
	ATTR("user", SHAPE_STRING), ATTR("tenant", SHAPE_STRING), ATTR("role", SHAPE_STRING), ATTR("endpoint", SHAPE_STRING),
	ATTR("id", SHAPE_STRING), ATTR("created_at", SHAPE_STRING), ATTR("used_at", SHAPE_STRING), ATTR("idle_seconds", SHAPE_NUMBER), ATTR("ends_at", SHAPE_STRING), END
};
const struct repr_document session_document = {
	.body = { .name = "session", .kind = SHAPE_OBJECT, .members = session_members }
};

static const struct shape health_members[] = { ATTR("status", SHAPE_STRING), ATTR("access_log", SHAPE_STRING), END };
const struct repr_document health_document = {
	.body = { .name = "health", .kind = SHAPE_OBJECT, .members = health_members }
};
