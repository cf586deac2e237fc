// SPDX-License-Identifier: Apache-2.0
// Sessions of the console (auth/session.h): begin, show, end.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "base/config/config.h"
#include "base/pool.h"

static struct session_place place_of(const struct call *call)
{
	return (struct session_place){ call->config, call->endpoint, call->registry->db, call->pool, call_is_secure(call) };
}

static void set_cookie(struct call *call, struct str value)
{
	const struct session_place place = place_of(call);

	response_set(&call->response, "Set-Cookie", session_set_cookie(&place, value));
}

static void write_session(struct call *call, const struct session *session)
{
	const struct session_place place = place_of(call);
	const struct principal *who = &call->who;
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set_str(pool, doc, "user", who->user);
	if (who->tenant.n > 0)
		doc_set_str(pool, doc, "tenant", who->tenant);
	doc_set_str(pool, doc, "role", str_c(role_name(who->role)));
	doc_set_str(pool, doc, "endpoint", str_c(call->endpoint->name));
	if (session->id.p != NULL) {
		doc_set_str(pool, doc, "id", session->id);
		doc_set_str(pool, doc, "created_at", document_time_text(pool, session->created_us));
		doc_set_str(pool, doc, "used_at", document_time_text(pool, session->used_us));
		doc_set_u64(pool, doc, "idle_seconds", session_idle_s(&place));
		doc_set_str(pool, doc, "ends_at", document_time_text(pool, session->ends_us));
	}
	response_set(&call->response, "Cache-Control", STR("no-store"));
	call_write(call, &session_document, doc);
}

// Beginning and ending a session are for the console alone, as a session is: the credential may be one that a browser sends by
// itself.
static enum outcome check_console(struct call *call)
{
	struct str detail;

	if (!session_by_console(&call->request))
		return call_fail(call, OUTCOME_FORBIDDEN, "this needs the header field X-Tenure-Console: 1");
	if (!session_same_origin(&call->request, &detail))
		return call_fail(call, OUTCOME_FORBIDDEN, "%.*s", STR_ARG(detail));
	return OUTCOME_OK;
}

enum outcome get_session(struct call *call)
{
	write_session(call, &call->session);
	return OUTCOME_OK;
}

enum outcome post_session(struct call *call)
{
	const struct session_place place = place_of(call);
	struct session session;
	struct str value, detail = STR("");
	enum outcome outcome = check_console(call);

	if (outcome != OUTCOME_OK)
		return outcome;
	// A session must not begin another one: otherwise a stolen cookie could be renewed beyond session_max.
	if (call->session.id.p != NULL)
		return call_fail(call, OUTCOME_FORBIDDEN, "a session is begun by a credential of its own, not by a session");
	outcome = session_begin(&place, &call->request, &call->who, &session, &value, &detail);
	if (outcome == OUTCOME_BAD_PARAMETER)
		return call_fail(call, outcome, "%.*s", STR_ARG(detail));
	if (outcome != OUTCOME_CREATED)
		return outcome;
	set_cookie(call, value);
	write_session(call, &session);
	return OUTCOME_CREATED;
}

enum outcome delete_session(struct call *call)
{
	const struct session_place place = place_of(call);
	enum outcome outcome = check_console(call);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (str_eq(call_param(call, "all"), STR("true")) || str_eq(call_param(call, "all"), STR("1")))
		outcome = session_end_all(&place, &call->who);
	else if (call->session.id.p != NULL)
		outcome = session_end(&place, call->session.id);
	if (outcome != OUTCOME_OK)
		return outcome;
	set_cookie(call, STR(""));
	return OUTCOME_NO_CONTENT;
}
