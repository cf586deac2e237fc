// SPDX-License-Identifier: Apache-2.0
// Tokens of a tenant as objects: its admins and operators list, make and revoke them. The tenant "system" has the operators'
// own, and a caller who is no operator finds nothing there. A token has its maker's role or a lower one. Only the answer to the
// request that makes a token has the secret.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "auth/core/auth.h"
#include "auth/core/settings.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/tenant/tenant.h"

static struct token_holder holder_of(const struct call *call, const struct tenant *tenant)
{
	if (call->realm.kind == REALM_SYSTEM)
		return (struct token_holder){ .tenant = STR("") };
	return (struct token_holder){ .tenant_id = tenant->id, .tenant = tenant->name };
}

static struct str token_path(struct call *call, struct str id)
{
	struct str path = tenant_path(call, call_param(call, "tenant"));

	return str_printf(call->pool, "%.*s/tokens/%.*s", STR_ARG(path), STR_ARG(id));
}

static struct doc *token_doc(struct call *call, const struct token_info *info)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "id", info->id);
	doc_set_str(pool, doc, "user", info->user);
	doc_set_str(pool, doc, "role", str_c(role_name(info->role)));
	if (info->description.n > 0)
		doc_set_str(pool, doc, "description", info->description);
	doc_set_str(pool, doc, "state", str_c(auth_token_state(info, call->registry->now_us)));
	doc_set_str(pool, doc, "created_at", document_time_text(pool, info->created_us));
	if (info->expires_us != 0)
		doc_set_str(pool, doc, "expires_at", document_time_text(pool, info->expires_us));
	if (info->revoked_us != 0)
		doc_set_str(pool, doc, "revoked_at", document_time_text(pool, info->revoked_us));
	if (info->used_us != 0)
		doc_set_str(pool, doc, "last_used_at", document_time_text(pool, info->used_us));
	return doc;
}

static enum outcome no_such_token(struct call *call)
{
	struct str tenant = call_param(call, "tenant");
	struct str token = call_param(call, "token");

	return call_fail(call, OUTCOME_NOT_FOUND, "tenant \"%.*s\" has no token \"%.*s\"", STR_ARG(tenant), STR_ARG(token));
}

// ---- reading

enum outcome list_tokens(struct call *call)
{
	struct str after = call_param(call, "marker");
	struct tenant tenant;
	struct token_page page;
	uint64_t limit = 0;
	enum outcome outcome = tenancy_read_limit(call, &limit);

	if (outcome != OUTCOME_OK)
		return outcome;
	outcome = tenant_get(call->registry, call_param(call, "tenant"), &tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct token_holder holder = holder_of(call, &tenant);
	outcome = auth_token_page(call->registry->db, call->pool, &holder, after.p != NULL ? after : STR(""), limit, &page);
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = doc_new_object(call->pool), *items = doc_new_array(call->pool);
	for (size_t i = 0; i < page.n; i++)
		doc_push(items, token_doc(call, &page.list[i]));
	doc_set(doc, STR("tokens"), items);
	if (page.more) {
		struct str path = tenant_path(call, call_param(call, "tenant"));
		struct str next = str_printf(call->pool, "%.*s/tokens?limit=%llu&marker=%.*s",
			STR_ARG(path), (unsigned long long)limit, STR_ARG(page.list[page.n - 1].id));

		doc_set_str(call->pool, doc, "next", call_url(call, next));
	}
	call_write(call, &token_list_document, doc);
	return OUTCOME_OK;
}

enum outcome get_token(struct call *call)
{
	struct tenant tenant;
	struct token_info info;
	enum outcome outcome = tenant_get(call->registry, call_param(call, "tenant"), &tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct token_holder holder = holder_of(call, &tenant);
	outcome = auth_token_get(call->registry->db, call->pool, &holder, call_param(call, "token"), &info);
	if (outcome == OUTCOME_NOT_FOUND)
		return no_such_token(call);
	if (outcome == OUTCOME_OK)
		call_write(call, &token_document, token_doc(call, &info));
	return outcome;
}

// ---- making

// Reads the role of the new token: member without one, and operator for the operators' own. The caller's role is the limit.
static enum outcome read_role(struct call *call, const struct doc *body, enum role *role)
{
	bool of_operators = call->realm.kind == REALM_SYSTEM;
	const struct doc *member;

	*role = of_operators ? ROLE_OPERATOR : ROLE_MEMBER;
	if (doc_get(body, STR("role"), &member) && !role_parse(doc_string(member), role))
		*role = ROLE_NONE;
	if (of_operators && *role != ROLE_OPERATOR)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "the tokens of \"" REALM_WORD_SYSTEM "\" are the operators': role must be "
			"operator");
	if (!of_operators && (*role < ROLE_READER || *role > ROLE_ADMIN))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "role must be reader, member or admin");
	if (*role > call->who.role)
		return call_fail(call, OUTCOME_FORBIDDEN, "a token has your own role, %s, or a lower one",
			role_name(call->who.role));
	return OUTCOME_OK;
}

static enum outcome read_token(struct call *call, struct token_info *info)
{
	const struct doc *member;
	struct doc *body;
	enum outcome outcome = call_read(call, &token_document, &body);

	*info = (struct token_info){ .created_us = call->registry->now_us, .description = STR("") };
	if (outcome != OUTCOME_OK)
		return outcome;
	if (body == NULL || !doc_get(body, STR("user"), &member))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "user is missing: the name of the user whom the token stands for");
	info->user = doc_string(member);
	if (doc_get(body, STR("description"), &member))
		info->description = doc_string(member);
	if (doc_get(body, STR("expires_at"), &member))
		outcome = tenancy_read_expiry(call, member, "the token lasts until it is revoked", &info->expires_us);
	if (outcome != OUTCOME_OK)
		return outcome;
	return read_role(call, body, &info->role);
}

enum outcome post_token(struct call *call)
{
	struct tenant tenant;
	struct token_info info;
	struct str secret, detail = STR_NONE;
	enum outcome outcome = tenancy_may_make_lasting(call);

	if (outcome == OUTCOME_OK)
		outcome = read_token(call, &info);
	if (outcome == OUTCOME_OK)
		outcome = tenant_lock_live(call->registry, call_param(call, "tenant"), &tenant);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct token_holder holder = holder_of(call, &tenant);
	outcome = auth_token_add(call->registry->db, call->pool, &holder, auth_settings(call->config)->tenant_tokens, &info, &secret,
		&detail);
	if (outcome != OUTCOME_CREATED)
		return detail.n > 0 ? call_fail(call, outcome, "%.*s", STR_ARG(detail)) : outcome;
	outcome = tenant_log_beside(call->registry, &tenant, str_printf(call->pool, "/tokens/%.*s", STR_ARG(info.id)));
	if (outcome != OUTCOME_OK)
		return outcome;
	struct doc *doc = token_doc(call, &info);
	doc_set_str(call->pool, doc, "secret", secret);
	call_write(call, &token_document, doc);
	response_set(&call->response, "Location", call_url(call, token_path(call, info.id)));
	response_set(&call->response, "Cache-Control", STR("no-store"));
	return OUTCOME_CREATED;
}

// ---- revoking

enum outcome delete_token(struct call *call)
{
	struct tenant tenant;
	struct str id = call_param(call, "token");
	bool revoked;
	enum outcome outcome = tenant_lock_live(call->registry, call_param(call, "tenant"), &tenant);

	if (outcome != OUTCOME_OK)
		return outcome;
	const struct token_holder holder = holder_of(call, &tenant);
	outcome = auth_token_end(call->registry->db, call->pool, &holder, id, call->registry->now_us, &revoked);
	if (outcome == OUTCOME_NOT_FOUND)
		return no_such_token(call);
	if (outcome == OUTCOME_OK && revoked)
		outcome = tenant_log_beside(call->registry, &tenant,
			str_printf(call->pool, "/tokens/%.*s/revoked_at", STR_ARG(id)));
	return outcome == OUTCOME_OK ? OUTCOME_NO_CONTENT : outcome;
}
