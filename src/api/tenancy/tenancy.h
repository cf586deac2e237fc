// SPDX-License-Identifier: Apache-2.0
// For the files of api/tenancy/ only: the two vocabularies, the documents, and what several handlers use.
#ifndef TENURE_API_TENANCY_TENANCY_H
#define TENURE_API_TENANCY_TENANCY_H

#include "api/call.h"
#include "api/conditions.h"
#include "api/patch.h"
#include "registry/core/stored.h"
#include "registry/move/move.h"
#include "registry/trait/trait.h"

// /v1.0/ calls tenants "accounts", /v2.0/ calls them "tenants" (doc/api.md).
struct words {
	const char *version;  // "v2.0"
	const char *singular; // "tenant"
	const char *plural;   // "tenants"
	const char *header;   // "X-Tenant-"
	int number;           // 1 or 2, as stored with a move
};
const struct words *call_vocabulary(const struct call *call);

// ---- documents.c

const struct repr_document *tenant_document(const struct words *words);
const struct repr_document *tenant_collections_document(const struct words *words); // with "collections"; only written
const struct repr_document *tenant_list_document(const struct words *words);
const struct repr_document *tenancy_count_list_document(const struct words *words);
const struct repr_document *tenancy_found_list_document(const struct words *words);
const struct repr_document *tenancy_move_document(const struct words *words, bool listed);
extern const struct repr_document resource_document;
extern const struct repr_document resource_list_document;
extern const struct repr_document change_list_document;
extern const struct repr_document history_document;
extern const struct repr_document undo_document;
extern const struct repr_document problem_document;
extern const struct repr_document versions_document;
extern const struct repr_document health_document;
extern const struct repr_document session_document;
extern const struct repr_document move_status_document;
extern const struct repr_document move_status_list_document;
extern const struct repr_document forward_document;
extern const struct repr_document forward_list_document;
extern const struct repr_document webhook_document;
extern const struct repr_document webhook_list_document;
extern const struct repr_document delivery_list_document;
extern const struct repr_document webhook_done_document;
extern const struct repr_document tier_document;
extern const struct repr_document tier_list_document;
extern const struct repr_document token_document;
extern const struct repr_document token_list_document;
extern const struct repr_document traits_document;

// ---- addresses.c

// Reads the address from the route's parameters. OUTCOME_OK, or _NOT_FOUND with call->problem set: there is no such type, or its
// resources stand elsewhere (in namespaces, or outside of them).
enum outcome address_read(struct call *call, struct address *address);
// The same of a resource of the tenant that a text names as the change log does: "persistentvolumes/disk1",
// "namespaces/default/configmaps/web". OUTCOME_BAD_PARAMETER: it has another form.
enum outcome address_read_path(struct call *call, struct str path, struct address *address);
// Splits such a text. space: p NULL if it has no namespace. False: it has another form.
bool address_split_path(struct str path, struct str *plural, struct str *space, struct str *name);
// The error text if address_split_path() returns false.
#define ADDRESS_PATH_FORM "resource must be a uid, or TYPE/NAME or namespaces/NAMESPACE/TYPE/NAME as the changes show it"
// The path of a resource, "/v2.0/t/namespaces/default/configmaps/c1", with each part encoded.
struct str address_path(struct call *call, struct str tenant, const struct type *type, struct str space, struct str name);
// That of a tenant, "/v2.0/t".
struct str tenant_path(struct call *call, struct str tenant);
// Appends "&NAME=VALUE" for each of these parameters that the request has.
void tenancy_keep_params(const struct call *call, const char *const *names, size_t n, struct buf *url);
// The URL of the next page of the list at that path.
struct str tenancy_next_url(struct call *call, struct str path, uint64_t limit, struct str marker);
// Converts the outcomes _MOVED and _GONE to what this caller may know: a Location (the resource's path and suffix), or 404.
// Returns other outcomes unchanged.
enum outcome tenancy_answer_moved(struct call *call, enum outcome outcome, const struct address *address,
	const struct resource *resource, struct str suffix);

// ---- render.c

struct doc *tenancy_tenant_doc(struct call *call, const struct tenant *tenant);
void tenancy_set_tenant_headers(struct call *call, const struct tenant *tenant);
// Appends the document of a resource: metadata first, then the type's own members, copied from the stored text.
void resource_json(struct call *call, const struct resource *resource, struct buf *out);
void tenancy_write_resource(struct call *call, const struct resource *resource);
struct doc *tenancy_blockers_doc(struct pool *pool, const struct move_blocker *blockers, size_t n);
void tenancy_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);

// The content of a version of a resource, as a client may write it: metadata without what the server sets, but with the traits,
// and the type's own members. Secrets are masked. content: that of the version.
struct former_content; // registry/undo/former.h
struct doc *tenancy_content_doc(struct call *call, const struct resource *resource, const struct former_content *content);

// ---- content.c: from a client's document to the stored text

struct content_edit {
	struct call *call;
	const struct address *address;
	const struct doc *document;
	enum edit_kind kind;
};
enum outcome content_apply(void *arg, const struct resource *current, struct content *content);

// ---- resource.c

// Reads the address and the preconditions of a call that changes one resource, and checks that its type leaves that to the
// caller's role. of_content: as in type_role_check(); PUT begins with true, and content_apply() checks the role again if there is
// no such resource. OUTCOME_OK; _FORBIDDEN; or the outcome of address_read() or conditions_read().
enum outcome tenancy_begin_change(struct call *call, bool of_content, struct address *address, struct conditions *conditions);
// Answers GET for the resource, or for a part of it at suffix below its address. write renders the answer.
enum outcome tenancy_show_resource(struct call *call, struct str suffix,
	void (*write)(struct call *call, const struct resource *resource));

// Reads the parameter limit, the most entries that a page of any list has: 1 to 1000; the WADL has its default, and refuses more.
// OUTCOME_OK, _BAD_PARAMETER.
enum outcome tenancy_read_limit(struct call *call, uint64_t *limit);
// Reads what the parameters of each list of resources say: limit, marker, deleted, required and forbidden. OUTCOME_OK,
// _BAD_PARAMETER.
struct resource_query; // registry/resource/resource.h
enum outcome tenancy_read_list(struct call *call, struct resource_query *query);
// Appends them to the address of the next page.
void tenancy_keep_list(const struct call *call, const struct resource_query *query, struct str marker, struct buf *url);

// ---- traits.c

struct trait_filter; // registry/trait/trait.h
// Reads the parameters required and forbidden. *filter: NULL if neither was given. OUTCOME_OK, _BAD_PARAMETER.
enum outcome tenancy_read_trait_filter(struct call *call, const struct trait_filter **filter);

// ---- changes.c

// Begins the document of a change, in the change log and in a resource's history: which, when, by whom, in which request, what.
struct doc *tenancy_change_doc(struct pool *pool, uint64_t id, int64_t at_us, struct str actor, struct uuid request_id,
	struct str verb);
// Reads a parameter that is a time, "2026-11-21T05:24:00Z"; *us stays as it is if it is not given. OUTCOME_OK, _BAD_PARAMETER.
enum outcome tenancy_read_time(struct call *call, const char *name, int64_t *us);
// Reads a document's member expires_at, a time in the future. without: what an error says of a document that does not have it.
// OUTCOME_OK, _BAD_DOCUMENT.
enum outcome tenancy_read_expiry(struct call *call, const struct doc *member, const char *without, int64_t *us);
// Call it before the handler makes something that outlives the caller's credential (a token), or that sends what the caller may
// read elsewhere from now on (a webhook). OUTCOME_OK; _FORBIDDEN: the credential is lent (is_lent in principal.h).
enum outcome tenancy_may_make_lasting(struct call *call);
// OUTCOME_OK: the parameter is not given, or a text that may be searched for; else _BAD_PARAMETER.
enum outcome tenancy_check_text(struct call *call, const char *name);

// ---- select.c: lists with conditions, or in another order than that of names

struct resource_selected; // registry/resource/selection.h
struct tenant_selected;   // registry/tenant/selection.h
// Does the request have a parameter that filters or sorts the list, so that one of the functions tenancy_select_…() has to read
// it?
bool tenancy_selects(const struct call *call);
// Reads the parameters, and the page of the list that they select. query: tenant, type, space, deleted, marker, limit and traits
// of the list. OUTCOME_OK; _BAD_PARAMETER; or as resource_select().
enum outcome tenancy_select_resources(struct call *call, const struct resource_query *query, struct resource_selected *selected);
// The same of all tenants' resources: by type, name or uid, too. query: deleted, marker, limit and traits.
enum outcome tenancy_select_of_all(struct call *call, const struct resource_query *query, struct resource_selected *selected);
// The same of the list of tenants. OUTCOME_OK; _BAD_PARAMETER; or as tenant_select().
enum outcome tenancy_select_tenants(struct call *call, bool deleted, uint64_t limit, struct tenant_selected *selected);
// Appends these parameters of the call to the address of the next page, "&text=web".
void tenancy_keep_selection(const struct call *call, struct buf *url);

// ---- handlers

handler_fn get_versions, get_health, get_metrics, get_wadl;
handler_fn get_session, post_session, delete_session;
handler_fn list_tenants, get_tenant, head_tenant, put_tenant, patch_tenant, delete_tenant, recover_tenant, list_changes,
	list_all_changes, get_resource_history, get_undo, post_undo, list_usage, list_all_usage, list_counts, list_all_counts;
handler_fn list_all_resources;
handler_fn list_resources, get_resource, put_resource, patch_resource, delete_resource, recover_resource;
handler_fn get_resource_traits, put_resource_traits, put_resource_trait, delete_resource_trait;
handler_fn list_webhooks, get_webhook, put_webhook, delete_webhook, list_deliveries, ping_webhook, revive_webhook, rotate_webhook;
handler_fn get_move_all, post_move_all, get_move_one, post_move_one, get_move, list_moves;
handler_fn list_forwards, put_forward, delete_forward;
handler_fn list_tiers, get_tier, put_tier, delete_tier;
handler_fn list_tokens, get_token, post_token, delete_token;

#endif
