// SPDX-License-Identifier: Apache-2.0
// The steps up to the handler and its transaction.
#include "base/base.h"

#include "api/settings.h"
#include "auth/core/auth.h"
#include "auth/core/settings.h"
#include "base/budget.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "base/siphash.h"
#include "db/db.h"
#include "db/maintenance.h"
#include "http/media.h"
#include "registry/cache/coherence.h"
#include "registry/core/settings.h"
#include "registry/registry.h"
#include "registry/tenant/tenant.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"
#include "server/request/limits.h"
#include "server/request/steps.h"
#include "server/setup/dialects.h"
#include "server/setup/settings.h"

enum { COMPLAINT_INTERVAL_US = 10 * 1000 * 1000 }; // between two log lines about tenants that can't be created

static enum step_result done(struct exchange *exchange, enum outcome outcome)
{
	exchange->outcome = outcome;
	return STEP_DONE;
}

static enum step_result done_because(struct exchange *exchange, enum outcome outcome, struct str detail)
{
	exchange->call->problem = (struct problem){ .detail = detail };
	return done(exchange, outcome);
}

// ---- identify

enum step_result step_identify(struct exchange *exchange)
{
	struct pipeline *pipeline = exchange->pipeline;
	struct call *call = exchange->call;

	call->config = pipeline->config;
	call->endpoint = pipeline->endpoint;
	call->placement_policy = pipeline->placement_policy;
	call->routes = pipeline->routes;
	call->host = pipeline->host;
	registry_attach(call->registry, pipeline->store);
	call->may_hand_over = pipeline->may_hand_over;
	call->started_us = clock_tick_us();
	call->request_id = uuid_new();
	call->who = (struct principal){ .user = STR(""), .tenant = STR(""), .role = ROLE_NONE };
	call->match.dialect = dialect_default()->name;
	call->realm = (struct realm){ .kind = REALM_NONE };
	auth_forget(pipeline->auth);
	response_reset(&call->response, call->pool);
	log_request(uuid_str(call->pool, call->request_id));
	return STEP_NEXT;
}

// ---- route

// Public methods that need no database are answered even if the database can't be reached, so their tokens are not validated.
static bool needs_nobody(const struct route_method *method)
{
	return method->role == ROLE_NONE && method->txn == TXN_NONE;
}

// The format of an error if the method is not known yet, or its own representations don't matter.
static enum repr_format preferred_format(const struct request *request)
{
	static const char *const types[] = {
		"application/json", "application/problem+json",
		"application/xml", "application/problem+xml", "text/xml",
	};
	const int first_xml = 2;

	return media_choose(request_header(request, "accept"), types, COUNT_OF(types)) >= first_xml ? REPR_XML : REPR_JSON;
}

// Decodes the address and finds the method. If the address can't be decoded, only its dialect is found, which words the error.
static enum outcome find_method(struct call *call)
{
	struct request *request = &call->request;
	struct str detail = STR("");

	enum outcome outcome = uri_parse(call->pool, request->target, api_settings(call->config)->max_target, &request->uri, &detail);
	if (outcome == OUTCOME_OK)
		outcome = route_find(call->routes, call->pool, request, &call->match, &detail);
	else
		call->match.dialect = route_dialect(call->routes, &request->uri);
	if (call->match.allow.n > 0 && (outcome == OUTCOME_NO_CONTENT || outcome == OUTCOME_METHOD_NOT_ALLOWED))
		response_set(&call->response, "Allow", call->match.allow);
	call->problem = (struct problem){ .detail = detail };
	return outcome;
}

// Answers 429 with Retry-After.
static enum outcome refuse(struct call *call, const struct limits_refusal *refusal)
{
	response_set(&call->response, "Retry-After", str_printf(call->pool, "%u", refusal->retry_s));
	return call_fail(call, OUTCOME_TOO_MANY_REQUESTS, "%s", refusal->what);
}

// The credential as the limit on wrong tokens knows it: the cookie or the token, together with a service token beside it. If the
// token alone counted, the owner of a right one could try service tokens without end.
static struct str limited_credential(struct call *call, struct str cookie)
{
	struct str first = cookie.p != NULL ? cookie : auth_token(&call->request);
	struct str service = str_trim(request_header(&call->request, "x-service-token"));

	return first.n == 0 || service.n == 0 ? first :
		str_printf(call->pool, "%.*s\n%.*s", STR_ARG(first), STR_ARG(service));
}

// Authenticates and sets call->who; on failure call->problem says why.
static enum outcome identify_caller(struct exchange *exchange)
{
	struct pipeline *pipeline = exchange->pipeline;
	struct call *call = exchange->call;
	bool secure = request_header(&call->request, "cookie").n > 0 && call_is_secure(call); // to find that out takes longer than to look for a cookie
	const struct session_place place = { pipeline->config, pipeline->endpoint, pipeline->db, call->pool, secure };
	struct str detail = STR(""), credential = limited_credential(call, session_cookie(&place, &call->request));
	struct limits_refusal refusal;

	static_assert((int)AUTH_REVALIDATE_S <= (int)AUTH_REVALIDATE_MOST_S && (int)AUTH_REVALIDATE_MOST_S < (int)LIMITS_REMEMBER_S / 2,
		"a token that is used all the time is remembered all the time");
	if (!limits_may_try(pipeline->limits, call->request.remote_addr, credential, &refusal))
		return refuse(call, &refusal);
	enum outcome outcome = session_open(&place, &call->request, &call->session, &detail);
	if (outcome != OUTCOME_OK) {
		if (outcome == OUTCOME_UNAUTHENTICATED)
			limits_was_wrong(pipeline->limits, call->request.remote_addr);
		call->problem = (struct problem){ .detail = detail };
		return outcome;
	}
	const struct auth_question question = { .db = pipeline->db, .pool = call->pool, .request = &call->request,
		.dialect = call->match.dialect, .may_wait = true };
	outcome = auth_identify(pipeline->auth, &question, &call->who, &detail);
	bool is_right = outcome == OUTCOME_OK || auth_refused_a_good_token(pipeline->auth);
	if (outcome == OUTCOME_UNAUTHENTICATED && !is_right)
		limits_was_wrong(pipeline->limits, call->request.remote_addr);
	// Only what was validated just now: a token, of which a cache entry proves nothing new, or a session, of which the
	// database knows.
	else if (is_right && (auth_has_validated(pipeline->auth) || call->session.id.p != NULL))
		limits_was_right(pipeline->limits, credential);
	if (outcome != OUTCOME_OK)
		call->problem = (struct problem){ .detail = detail };
	return outcome;
}

// An authenticated caller gets the routing error; anybody else gets 401, so that addresses can't be explored without a
// credential.
static enum outcome authenticate_before_error(struct exchange *exchange, enum outcome outcome)
{
	struct call *call = exchange->call;
	const struct problem found = call->problem;

	call->problem = (struct problem){ .n_members = 0 };
	enum outcome asked = identify_caller(exchange);
	if (asked == OUTCOME_OK)
		asked = principal_may(&call->who, ROLE_READER, (struct realm){ .kind = REALM_NONE });
	if (asked == OUTCOME_OK || asked == OUTCOME_FORBIDDEN) {
		call->problem = found;
		return outcome;
	}
	if (call->problem.detail.n == 0)
		call->problem.detail = STR("this needs a credential");
	return asked;
}

enum step_result step_route(struct exchange *exchange)
{
	struct call *call = exchange->call;

	call->produce = preferred_format(&call->request);
	if (exchange->fault == TRANSPORT_NO_TARGET) {
		log_error("no REQUEST_URI from the web server; httpd-conf/ shows how to set it up");
		return done(exchange, OUTCOME_INTERNAL);
	}
	enum outcome outcome = find_method(call);
	const struct dialect *dialect = dialect_of(&call->match);
	if (dialect->enter != NULL)
		outcome = dialect->enter(call, outcome);
	if (outcome == OUTCOME_OK) {
		call_set_realm(call, dialect->has_all_tenants);
		return STEP_NEXT;
	}
	bool asks = dialect->asks_first && call->response.status == 0 && (call->match.method == NULL ||
		!needs_nobody(call->match.method));
	return done(exchange, asks ? authenticate_before_error(exchange, outcome) : outcome);
}

// ---- receive

enum step_result step_receive(struct exchange *exchange)
{
	struct call *call = exchange->call;

	switch (exchange->fault) {
	case TRANSPORT_BODY_TOO_LARGE:
		return done(exchange, call_fail(call, OUTCOME_BODY_TOO_LARGE, "the body may have %llu bytes at most",
			(unsigned long long)registry_settings(call->config)->max_body));
	case TRANSPORT_BODY_CUT:
		return done(exchange, call_fail(call, OUTCOME_BAD_REQUEST,
			"the body came incomplete: it must have as many bytes as Content-Length says"));
	case TRANSPORT_BODY_LATE:
		return done(exchange, call_fail(call, OUTCOME_BAD_REQUEST, "the body came too slowly: it may take %d seconds at most",
			TRANSPORT_BODY_S));
	case TRANSPORT_HEADERS_TOO_LARGE:
		return done(exchange, call_fail(call, OUTCOME_HEADERS_TOO_LARGE,
			"the header fields may have %u bytes altogether, and be %d at most",
			server_settings(call->config)->max_headers, REQUEST_MAX_HEADERS));
	case TRANSPORT_NO_TARGET:
	case TRANSPORT_OK:
		break;
	}
	return STEP_NEXT;
}

// ---- authenticate, permit

enum step_result step_authenticate(struct exchange *exchange)
{
	assert(exchange->call->match.method != NULL);
	if (needs_nobody(exchange->call->match.method))
		return STEP_NEXT;
	enum outcome outcome = identify_caller(exchange);
	return outcome == OUTCOME_OK ? STEP_NEXT : done(exchange, outcome);
}

// Does the method change nothing, like the reviews of the Kubernetes API, which are POST?
static bool reads(const struct call *call)
{
	const struct route_method *method = call->match.method;

	return call->request.method == METHOD_GET || call->request.method == METHOD_HEAD || (method->role == ROLE_READER && method->txn != TXN_WRITE);
}

// A proxy of the Kubernetes API that impersonates sends its own credential, and names the user that it acts for in header fields
// Impersonate-User, -Uid, -Group and -Extra-NAME. If they were ignored, each user of the proxy could do what the proxy may, also
// in the other dialects, as far as the proxy passes on their paths. So whoever sends one is refused in each dialect.
static enum outcome refuse_impersonation(struct call *call)
{
	const struct request *request = &call->request;

	for (size_t i = 0; i < request->n_headers; i++) {
		if (str_starts(request->headers[i].name, STR("impersonate-")))
			return call_fail(call, OUTCOME_FORBIDDEN,
				"nobody may act as another user here, as the header field \"%.*s\" asks: send that user's own credential",
				STR_HEAD_ARG(request->headers[i].name, 64));
	}
	return OUTCOME_OK;
}

enum step_result step_permit(struct exchange *exchange)
{
	assert(exchange->call->match.method != NULL);
	struct call *call = exchange->call;
	enum role needed = call->match.method->role;
	enum outcome outcome = reads(call) ? principal_may_read(&call->who, needed, call->realm)
	                             : principal_may(&call->who, needed, call->realm);
	const struct dialect *dialect = dialect_of(&call->match);

	if (dialect->permit != NULL)
		outcome = dialect->permit(call, outcome);
	if (outcome == OUTCOME_OK)
		outcome = refuse_impersonation(call);
	if (outcome != OUTCOME_OK && call->problem.detail.n > 0)
		return done(exchange, outcome);
	switch (outcome) {
	case OUTCOME_OK:
		return STEP_NEXT;
	case OUTCOME_NOT_FOUND: // no detail: the answer must not differ from that for a tenant that doesn't exist
		return done_because(exchange, outcome, STR(""));
	case OUTCOME_UNAUTHENTICATED:
		return done_because(exchange, outcome, STR("this needs a credential"));
	default:
		return done(exchange, call_fail(call, outcome, "this needs the role %s", role_name(needed)));
	}
}

// ---- admit

// Public requests of nobody, such as health checks, are short and are not counted. A caller with a name is counted with public
// methods, too: what they do for him may take long (the usages of his project, in placement).
enum step_result step_admit(struct exchange *exchange)
{
	struct call *call = exchange->call;
	struct limits_refusal refusal;

	assert(exchange->call->match.method != NULL);
	if ((call->match.method->role == ROLE_NONE && call->who.user.n == 0) ||
		limits_enter(exchange->pipeline->limits, &call->who, call->request.remote_addr, &refusal))
		return STEP_NEXT;
	return done(exchange, refuse(call, &refusal));
}

// ---- negotiate

// The format of a media type: XML for "application/xml", "text/xml", "application/problem+xml"; else JSON.
static enum repr_format format_of(const char *type)
{
	return str_ends(str_c(type), STR("xml")) ? REPR_XML : REPR_JSON;
}

// Adds the media types that the method accepts to a 415, in the field that clients read for this method.
static enum step_result refuse_types(struct exchange *exchange, enum outcome outcome, struct str detail)
{
	struct call *call = exchange->call;
	const struct route_method *method = call->match.method;
	struct buf types = buf_new(call->pool, 64);

	for (size_t i = 0; i < method->n_consumes; i++)
		buf_addf(&types, "%s%s", i > 0 ? ", " : "", method->consumes[i]);
	if (outcome == OUTCOME_UNSUPPORTED_MEDIA)
		response_set(&call->response, method->method == METHOD_PATCH ? "Accept-Patch" : "Accept", buf_str(&types));
	return done_because(exchange, outcome, detail);
}

// What codes the body, as gzip; "" if it is as its type says. No coding is undone here, and read as it is, a coded document would
// be called malformed.
static struct str coding_of_body(const struct request *request)
{
	struct str coding = request_header(request, "content-encoding");

	return request->body.n == 0 || str_eq_nocase(coding, STR("identity")) ? STR("") : coding;
}

static enum step_result refuse_coding(struct exchange *exchange, struct str coding)
{
	response_set(&exchange->call->response, "Accept-Encoding", STR("identity"));
	return done(exchange, call_fail(exchange->call, OUTCOME_UNSUPPORTED_MEDIA,
		"the Content-Encoding \"%.*s\" is not taken: send the body as it is", STR_HEAD_ARG(coding, 64)));
}

enum step_result step_negotiate(struct exchange *exchange)
{
	struct call *call = exchange->call;
	const struct route_method *method = call->match.method;
	struct str detail = STR("");
	int produce = -1, consume = -1;

	assert(exchange->call->match.method != NULL);
	enum outcome outcome = route_check_params(call->pool, &call->request, &call->match, &detail);
	if (outcome != OUTCOME_OK)
		return done_because(exchange, outcome, detail);
	outcome = route_negotiate(call->pool, &call->request, method, &produce, &consume, &detail);
	if (outcome != OUTCOME_OK)
		return refuse_types(exchange, outcome, detail);
	struct str coding = coding_of_body(&call->request);
	if (consume >= 0 && coding.n > 0)
		return refuse_coding(exchange, coding);
	if (method->body_required && call->request.body.n == 0)
		return done(exchange, call_fail(call, OUTCOME_BAD_DOCUMENT, "this needs a body"));
	if (produce >= 0) {
		call->produce_type = method->produces[produce];
		call->produce = format_of(call->produce_type);
	}
	if (consume >= 0) {
		call->consume_type = method->consumes[consume];
		call->consume = format_of(call->consume_type);
	}
	return STEP_NEXT;
}

// ---- run

// Runs the handler, which may run again: everything that it has set before is reset first.
static enum outcome run_handler(struct exchange *exchange)
{
	const struct endpoint *endpoint = exchange->call->match.method->handler;

	response_reset(&exchange->call->response, exchange->call->pool);
	exchange->call->problem = (struct problem){ .n_members = 0 };
	exchange->call->dry_run = false;
	exchange->call->handover = STR_NONE;
	exchange->tries++;
	return endpoint->run(exchange->call);
}

// Is the transaction to be committed? Not after an error, nor for a dry run.
static bool is_to_be_committed(const struct exchange *exchange)
{
	return outcome_commits(exchange->outcome) && !exchange->call->dry_run;
}

// Runs the handler once in the transaction. Each attempt starts from nothing: memory of an attempt that was rolled back is freed
// first.
static enum db_verdict attempt_run(void *arg)
{
	struct exchange *exchange = arg;

	exchange->call->pool = exchange->call->scratch = exchange->pool;
	pool_rewind(exchange->pool, exchange->mark);
	registry_begin_run(exchange->call->registry);
	exchange->outcome = run_handler(exchange);
	return is_to_be_committed(exchange) ? DB_COMMIT : DB_ROLLBACK;
}

static enum db_mode db_mode_of(enum txn_mode mode)
{
	switch (mode) {
	case TXN_SNAPSHOT:
		return DB_SNAPSHOT;
	case TXN_WRITE:
		return DB_WRITE;
	case TXN_NONE:
	case TXN_READ:
		break;
	}
	return DB_AUTOCOMMIT;
}

// Discards the answer that the handler had made, and answers with outcome instead.
static enum step_result discard_answer(struct exchange *exchange, enum outcome outcome)
{
	struct call *call = exchange->call;

	unsigned maintenance_s = db_maintenance_s(exchange->pipeline->db);

	if (maintenance_s == 0)
		log_warning("%s: %s", call->match.method->id, db_error(exchange->pipeline->db));
	response_reset(&call->response, call->pool);
	if (maintenance_s > 0)
		response_set(&call->response, "Retry-After", str_printf(call->pool, "%u", maintenance_s));
	if (db_txn_uncertain(exchange->pipeline->db))
		return done_because(exchange, outcome,
			STR("the database went away at the end, and it is not known whether this was done: look before you repeat it"));
	const char *reason = outcome == OUTCOME_UNAVAILABLE ? db_reason(exchange->pipeline->db) : NULL;
	return done_because(exchange, outcome, reason != NULL ? str_c(reason) : STR(""));
}

// A tenant that is created because a credential names it, or none at all.
struct wanted_tenant {
	struct registry *registry;
	struct str name;
	struct tenant_content content;
	enum outcome outcome; // of the last attempt
};

static enum db_verdict ensure_tenant(void *arg)
{
	struct wanted_tenant *wanted = arg;
	bool made;

	registry_begin_run(wanted->registry);
	wanted->outcome = tenant_find_or_make_with(wanted->registry, wanted->name, &wanted->content, &made);
	return wanted->outcome == OUTCOME_OK ? DB_COMMIT : DB_ROLLBACK;
}

// Logs why a tenant can't be created, once in a while: it is tried again with each request.
static void complain_of_tenant(struct pipeline *pipeline, struct str name, struct str why)
{
	int64_t now_us = clock_tick_us();

	if (pipeline->complained_us != 0 && now_us - pipeline->complained_us < COMPLAINT_INTERVAL_US)
		return;
	pipeline->complained_us = now_us;
	log_warning("tenant %.*s is not there and can't be created: %.*s", STR_ARG(name), STR_ARG(why));
}

// Creates a tenant if it was never there. It has a transaction and a request id of its own, because after an uncertain COMMIT the
// change log is searched for the request's id. True: nothing is left to do; the tenant is there, or was deleted, or can't have
// such a name. False: that failed, and is logged; perhaps it can be done later.
static bool make_tenant(struct pipeline *pipeline, struct call *call, struct str name, struct str metadata)
{
	if (!registry_id_is_valid(name))
		return true;
	struct registry registry;
	struct wanted_tenant wanted = { .registry = &registry, .name = name, .content = { .metadata = metadata } };
	struct uuid id = uuid_new();

	registry_attach(&registry, pipeline->store);
	if (registry_begin(&registry, call->pool, &id, STR("tenured"), &call->problem) != OUTCOME_OK)
		return false;
	if (db_txn_run(pipeline->db, DB_WRITE, &id, ensure_tenant, &wanted) != DB_OK) {
		if (db_maintenance_s(pipeline->db) == 0)
			complain_of_tenant(pipeline, name, str_c(db_error(pipeline->db)));
		return false;
	}
	if (wanted.outcome != OUTCOME_OK && wanted.outcome != OUTCOME_GONE) { // a tier that is missing, for example
		complain_of_tenant(pipeline, name, call->problem.detail);
		return false;
	}
	coherence_committed(&registry);
	return true;
}

// Creates the default tenant (for users whose credential names none) if it is missing, once in each worker, and again if a
// request misses it (forget_missing_tenant). If it is deleted, it stays so as long as it can be recovered.
static void ensure_default_tenant(struct pipeline *pipeline, struct call *call)
{
	if (!pipeline->has_home && auth_settings(pipeline->config)->default_tenant[0] != '\0')
		pipeline->has_home = make_tenant(pipeline, call, str_c(auth_settings(pipeline->config)->default_tenant), STR_NONE);
}

// Has the worker looked for that tenant of a credential? *place: where its hash is or belongs.
static bool has_looked_for(struct pipeline *pipeline, struct str tenant, uint64_t *hash, uint64_t **place)
{
	static const uint64_t fixed[SIPHASH_KEY] = { 0, 0 }; // tenants' names that collide cost a look

	*hash = siphash(fixed, tenant);
	*place = &pipeline->callers[*hash % COUNT_OF(pipeline->callers)];
	return **place == *hash;
}

// Creates the tenant of a credential that may bring a new one, with its other name as metadata. Each worker looks once for each
// of the last tenants that it served, and again if a request misses it (forget_missing_tenant).
static void ensure_tenant_of_caller(struct pipeline *pipeline, struct call *call)
{
	uint64_t hash, *known;

	if (!call->who.makes_tenant || call->who.tenant.n == 0 || has_looked_for(pipeline, call->who.tenant, &hash, &known))
		return;
	struct buf metadata = buf_new(call->pool, 128);
	if (call->who.tenant_label.n > 0) {
		BUF_LIT(&metadata, "{\"name\":");
		json_add_string(&metadata, call->who.tenant_label);
		buf_addc(&metadata, '}');
	}
	if (make_tenant(pipeline, call, call->who.tenant, metadata.n > 0 ? buf_str(&metadata) : STR_NONE))
		*known = hash;
}

// Did the run fail because a tenant is missing that this worker was sure of? `db reset` removes tenants, and so does the end of
// the time within which a deleted one can be recovered. Then the worker forgets that it was there, so that it is created as on
// its first use.
static bool forget_missing_tenant(struct pipeline *pipeline, struct call *call)
{
	struct str home = str_c(auth_settings(pipeline->config)->default_tenant);
	uint64_t hash, *known;

	if (pipeline->has_home && registry_id_is_valid(home) && registry_misses(call->registry, home)) {
		pipeline->has_home = false;
		return true;
	}
	if (!call->who.makes_tenant || !registry_id_is_valid(call->who.tenant) || !registry_misses(call->registry, call->who.tenant) ||
		!has_looked_for(pipeline, call->who.tenant, &hash, &known))
		return false;
	*known = 0;
	return true;
}

// An answer with a handover continues in the watch process. It is counted as a watch and may be refused.
static enum step_result admit_watch(struct exchange *exchange)
{
	struct pipeline *pipeline = exchange->pipeline;
	struct call *call = exchange->call;
	struct limits_refusal refusal;
	struct str credential = auth_token(&call->request);

	pipeline->watch = (struct limits_watch){ .index = 0 };
	if (call->handover.p == NULL || !outcome_commits(exchange->outcome))
		return STEP_DONE;
	if (credential.n == 0)
		credential = call->who.user;
	if (limits_watch_begin(pipeline->limits, &call->who, credential, &pipeline->watch, &refusal))
		return STEP_DONE;
	call->handover = STR_NONE;
	response_reset(&call->response, call->pool);
	return done(exchange, refuse(call, &refusal));
}

// The versions of the tenant spaces' lists need to know which transactions are in flight, and the writer alone knows that.
static bool may_read_on_reader(const struct route_method *method)
{
	return method->txn != TXN_WRITE && strcmp(method->dialect, "spaces") != 0;
}

// Creates the tenants that the request may expect, and runs the handler in a transaction of its method's mode. OUTCOME_OK, and
// *result says how the transaction ended; or why it has not begun.
static enum outcome run_in_transaction(struct exchange *exchange, enum db_result *result)
{
	struct pipeline *pipeline = exchange->pipeline;
	struct call *call = exchange->call;
	const struct route_method *method = call->match.method;

	db_heed_maintenance(pipeline->db, true);
	ensure_default_tenant(pipeline, call);
	ensure_tenant_of_caller(pipeline, call);
	enum outcome begun = registry_begin(call->registry, call->pool, &call->request_id, call->who.user,
		&call->problem);
	if (begun != OUTCOME_OK)
		return begun;
	call->registry->privileged = call->who.role == ROLE_OPERATOR;
	exchange->mark = pool_mark(call->pool);
	exchange->marked = true;
	db_heed_maintenance(pipeline->db, !reads(call)); // some reads need a transaction of that mode, and write nothing
	*result = (may_read_on_reader(method) ? db_txn_run_on_reader : db_txn_run)(pipeline->db, db_mode_of(method->txn),
		&call->request_id, attempt_run, exchange);
	return OUTCOME_OK;
}

enum step_result step_run(struct exchange *exchange)
{
	struct pipeline *pipeline = exchange->pipeline;
	struct call *call = exchange->call;
	enum db_result result;

	assert(exchange->call->match.method != NULL && exchange->call->registry->store != NULL);
	exchange->in_doubt = true; // until it is known how the transaction ended, also if this step is left by longjmp
	if (call->match.method->txn == TXN_NONE)
		return done(exchange, run_handler(exchange));
	enum outcome begun = run_in_transaction(exchange, &result);
	if (begun == OUTCOME_OK && result == DB_OK && !is_to_be_committed(exchange) && forget_missing_tenant(pipeline, call)) {
		response_reset(&call->response, call->pool);
		begun = run_in_transaction(exchange, &result);
	}
	// A lost COMMIT of which the log has no change may have written what leaves none.
	exchange->in_doubt = db_txn_uncertain(pipeline->db) || db_txn_commit_was_lost(pipeline->db);
	if (begun != OUTCOME_OK)
		return done(exchange, begun);
	budget_end(); // the transaction has ended: no limit may prevent its answer
	switch (result) {
	case DB_OK:
		if (is_to_be_committed(exchange))
			coherence_committed(call->registry);
		return admit_watch(exchange);
	case DB_LOST:
	case DB_RETRY:
	case DB_FULL:
		return discard_answer(exchange, OUTCOME_UNAVAILABLE);
	case DB_DUPLICATE:
	case DB_REFUSED:
	case DB_ERROR:
		break;
	}
	return discard_answer(exchange, OUTCOME_INTERNAL);
}
