// SPDX-License-Identifier: Apache-2.0
// Status objects: the answers of calls that return no object, above all errors.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"

// ---- errors of handlers

static void add_member(struct problem *problem, const char *name, struct str value)
{
	assert(problem->n_members < PROBLEM_MAX_MEMBERS);
	problem->members[problem->n_members++] = (struct problem_member){ name, value };
}

static struct str member(const struct problem *problem, const char *name)
{
	for (size_t i = 0; i < problem->n_members; i++)
		if (strcmp(problem->members[i].name, name) == 0)
			return problem->members[i].value;
	return STR_NONE;
}

enum outcome spaces_fail_about(struct call *call, enum outcome outcome, const struct about *about, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	call->problem = (struct problem){ .detail = str_vprintf(call->pool, format, args), .by_dialect = true };
	va_end(args);
	add_member(&call->problem, "name", about->name);
	add_member(&call->problem, "group", about->group);
	add_member(&call->problem, "kind", about->kind);
	return outcome;
}

static struct str qualified(struct pool *pool, struct str group, struct str plural)
{
	return group.n == 0 ? plural : str_printf(pool, "%.*s.%.*s", STR_ARG(plural), STR_ARG(group));
}

enum outcome spaces_fail_unknown(struct call *call)
{
	const struct about nothing = { STR(""), STR(""), STR("") };

	return spaces_fail_about(call, OUTCOME_NOT_FOUND, &nothing, "the server could not find the requested resource");
}

enum outcome spaces_fail_absent(struct call *call, struct str group, struct str plural, struct str name)
{
	const struct about about = { name, group, plural };
	struct str type = qualified(call->pool, group, plural);

	return spaces_fail_about(call, OUTCOME_NOT_FOUND, &about, "%.*s \"%.*s\" not found", STR_ARG(type), STR_ARG(name));
}

static struct about about_object(const struct target *target, struct str name)
{
	return (struct about){ name, target->definition->type->group, target->definition->type->plural };
}

enum outcome spaces_fail_exists(struct call *call, const struct target *target, struct str name)
{
	const struct about about = about_object(target, name);
	struct str type = type_qualified_name(call->pool, target->definition);

	return spaces_fail_about(call, OUTCOME_NAME_TAKEN, &about, "%.*s \"%.*s\" already exists", STR_ARG(type), STR_ARG(name));
}

enum outcome spaces_fail_modified(struct call *call, const struct target *target, struct str name)
{
	const struct about about = about_object(target, name);
	struct str type = type_qualified_name(call->pool, target->definition);

	return spaces_fail_about(call, OUTCOME_CONFLICT, &about,
		"Operation cannot be fulfilled on %.*s \"%.*s\": the object has been modified; please apply your changes to the "
		"latest version and try again", STR_ARG(type), STR_ARG(name));
}

// The text `ConfigMap "c1" is invalid` or `Widget.example.com "w" is invalid`.
static struct str invalid_text(struct call *call, const struct definition *definition, struct str name, struct str what)
{
	struct str kind = definition != NULL ? qualified(call->pool, definition->type->group, definition->kind) : STR("");

	if (definition == NULL)
		return str_printf(call->pool, "the request is invalid: %.*s", STR_ARG(what));
	return str_printf(call->pool, "%.*s \"%.*s\" is invalid: %.*s", STR_ARG(kind), STR_ARG(name), STR_ARG(what));
}

enum outcome spaces_fail_invalid(struct call *call, const struct definition *definition, struct str name,
	const struct field_faults *faults)
{
	size_t n = field_faults_listed(faults);
	struct problem_cause *causes = POOL_ARRAY(call->pool, struct problem_cause, n);
	struct about about = { name, STR(""), STR("") };
	struct str text = invalid_text(call, definition, name, field_faults_text(call->pool, faults));

	assert(faults->n > 0);
	for (size_t i = 0; i < n; i++) {
		const struct field_fault *fault = &faults->list[i];
		causes[i] = (struct problem_cause){ field_reason_name(fault->reason), fault->field, fault->message };
	}
	if (definition != NULL) {
		about.group = definition->type->group;
		about.kind = definition->kind;
	}
	spaces_fail_about(call, OUTCOME_BAD_DOCUMENT, &about, "%.*s", STR_ARG(text));
	call->problem.causes = causes;
	call->problem.n_causes = n;
	return OUTCOME_BAD_DOCUMENT;
}

// Rewords faults that the registry's rules found, so that they are about this object.
static enum outcome retell_invalid(struct call *call, const struct target *target, struct str name)
{
	const struct problem found = call->problem;
	struct about about = { name, target->definition->type->group, target->definition->kind };
	struct str what = found.faults.p != NULL ? found.faults : found.detail;
	struct str text = invalid_text(call, target->definition, name, what);

	spaces_fail_about(call, OUTCOME_BAD_DOCUMENT, &about, "%.*s", STR_ARG(text));
	call->problem.causes = found.causes;
	call->problem.n_causes = found.n_causes;
	return OUTCOME_BAD_DOCUMENT;
}

enum outcome spaces_explain(struct call *call, const struct target *target, struct str name, enum outcome outcome)
{
	const struct type *type = target->definition->type;
	bool retold = !call->problem.by_dialect; // the registry wrote it

	switch (outcome) {
	case OUTCOME_NOT_FOUND:
	case OUTCOME_GONE:
	case OUTCOME_MOVED:
		return retold ? spaces_fail_absent(call, type->group, type->plural, name) : OUTCOME_NOT_FOUND;
	case OUTCOME_BAD_DOCUMENT:
		return retold && call->problem.n_causes > 0 ? retell_invalid(call, target, name) : outcome;
	default:
		return outcome;
	}
}

// ---- the Status object of a success

static void set_nonempty(struct call *call, struct doc *doc, const char *name, struct str value)
{
	if (value.n > 0)
		doc_set_str(call->pool, doc, name, value);
}

static struct doc *status_doc(struct call *call, const char *status)
{
	struct doc *doc = doc_new_object(call->pool);

	doc_set_str(call->pool, doc, "kind", STR("Status"));
	doc_set_str(call->pool, doc, "apiVersion", STR("v1"));
	doc_set(doc, STR("metadata"), doc_new_object(call->pool));
	doc_set_str(call->pool, doc, "status", str_c(status));
	return doc;
}

void spaces_write_success(struct call *call, const struct target *target, struct str name, const struct uuid *uid)
{
	struct doc *doc = status_doc(call, "Success"), *details = doc_new_object(call->pool);

	set_nonempty(call, details, "name", name);
	set_nonempty(call, details, "group", target->definition->type->group);
	doc_set_str(call->pool, details, "kind", target->definition->type->plural);
	doc_set_str(call->pool, details, "uid", uuid_str(call->pool, *uid));
	doc_set(doc, STR("details"), details);
	spaces_write_json_doc(call, doc);
}

// ---- the Status object of an error

// The reasons and codes of outcomes, as the Kubernetes API server has them.
static const struct {
	enum outcome outcome;
	int code; // 0: that of the outcome
	const char *reason;
} reasons[] = {
	{ OUTCOME_UNAUTHENTICATED, 0, "Unauthorized" },
	{ OUTCOME_FORBIDDEN, 0, "Forbidden" },
	{ OUTCOME_NOT_FOUND, 0, "NotFound" },
	{ OUTCOME_GONE, 0, "Expired" },
	{ OUTCOME_METHOD_NOT_ALLOWED, 0, "MethodNotAllowed" },
	{ OUTCOME_UNKNOWN_METHOD, 0, "MethodNotAllowed" },
	{ OUTCOME_NOT_ACCEPTABLE, 0, "NotAcceptable" },
	{ OUTCOME_CONFLICT, 0, "Conflict" },
	{ OUTCOME_LOCKED, 0, "Conflict" },
	{ OUTCOME_BLOCKED, 0, "Conflict" },
	{ OUTCOME_STALE, 0, "Conflict" },
	{ OUTCOME_NAME_TAKEN, 0, "AlreadyExists" },
	{ OUTCOME_RECOVERABLE, 0, "AlreadyExists" },
	{ OUTCOME_OVER_QUOTA, 403, "Forbidden" },
	{ OUTCOME_BODY_TOO_LARGE, 0, "RequestEntityTooLarge" },
	{ OUTCOME_TARGET_TOO_LONG, 0, "BadRequest" },
	{ OUTCOME_UNSUPPORTED_MEDIA, 0, "UnsupportedMediaType" },
	{ OUTCOME_TOO_COSTLY, 0, "Invalid" },
	{ OUTCOME_PRECONDITION_REQUIRED, 0, "Conflict" },
	{ OUTCOME_TOO_MANY_REQUESTS, 0, "TooManyRequests" },
	{ OUTCOME_HEADERS_TOO_LARGE, 0, "BadRequest" },
	{ OUTCOME_INTERNAL, 0, "InternalError" },
	{ OUTCOME_UNAVAILABLE, 0, "ServiceUnavailable" },
	{ OUTCOME_NOT_YET, 0, "Timeout" },
};

// What a Status object says of an error.
struct failure {
	enum outcome outcome;
	int code;
	const char *reason;
};

// Is the request for another tenant's space? The policy step, which knows only the tenant in the path, answers it by "not found".
// In this API the answer is 403, whether or not the space exists.
static bool is_stranger(const struct call *call, enum outcome outcome, const struct problem *problem)
{
	return outcome == OUTCOME_NOT_FOUND && problem->detail.n == 0 && call->match.method != NULL &&
	       call_param(call, "tenant").p != NULL && !str_eq(call_param(call, "tenant"), call->who.tenant);
}

// The reason and the status for an outcome. "BadRequest" stands for all outcomes without a row above.
static struct failure failure_of(const struct call *call, enum outcome outcome, const struct problem *problem)
{
	struct failure failure = { outcome, outcome_status(outcome), "BadRequest" };

	if (outcome == OUTCOME_BAD_DOCUMENT && problem->n_causes > 0)
		return (struct failure){ outcome, 422, "Invalid" };
	if (is_stranger(call, outcome, problem))
		failure.outcome = OUTCOME_FORBIDDEN;
	for (size_t i = 0; i < COUNT_OF(reasons); i++) {
		if (reasons[i].outcome != failure.outcome)
			continue;
		failure.reason = reasons[i].reason;
		failure.code = reasons[i].code != 0 ? reasons[i].code : outcome_status(failure.outcome);
	}
	return failure;
}

// The verb of the request's method, as Kubernetes calls it: "get", "list", "deletecollection".
static const char *verb_of(const struct call *call)
{
	bool item = call_param(call, "name").p != NULL;

	switch (call->request.method) {
	case METHOD_GET:
	case METHOD_HEAD:
		if (item)
			return "get";
		return spaces_query_is_true(call, "watch") ? "watch" : "list";
	case METHOD_POST:
		return "create";
	case METHOD_PUT:
		return "update";
	case METHOD_PATCH:
		return "patch";
	case METHOD_DELETE:
		return item ? "delete" : "deletecollection";
	default:
		return "use";
	}
}

// The sentence of Kubernetes for 403, which names user, verb, resource and group, or, if the address has no type, the user and
// "this path"; the problem's detail follows.
static struct str forbidden_text(struct call *call, const struct problem *problem)
{
	struct buf text = buf_new(call->pool, 256);
	struct str plural = call_param(call, "plural"), group = call_param(call, "group");
	struct str name = call_param(call, "name"), space = call_param(call, "namespace");
	struct str tenant = call_param(call, "tenant");

	if (plural.p == NULL)
		return str_printf(call->pool, "forbidden: User \"%.*s\" cannot %s this path%s%.*s", STR_ARG(call->who.user),
			call->request.method == METHOD_GET ? "get" : "use", problem->detail.n > 0 ? ": " : "",
			STR_ARG(problem->detail));
	buf_add(&text, qualified(call->pool, group, plural));
	if (name.p != NULL)
		buf_addf(&text, " \"%.*s\"", STR_ARG(name));
	buf_addf(&text, " is forbidden: User \"%.*s\" cannot %s resource \"%.*s\" in API group \"%.*s\"",
		STR_ARG(call->who.user), verb_of(call), STR_ARG(plural), STR_ARG(group));
	if (space.p != NULL)
		buf_addf(&text, " in the namespace \"%.*s\"", STR_ARG(space));
	if (tenant.p != NULL)
		buf_addf(&text, " of the tenant \"%.*s\"", STR_ARG(tenant));
	if (problem->detail.n > 0)
		buf_addf(&text, ": %.*s", STR_ARG(problem->detail));
	return buf_str(&text);
}

// The message if call->problem has none.
static struct str default_text(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_UNAUTHENTICATED:
		return STR("Unauthorized");
	case OUTCOME_NOT_FOUND:
		return STR("the server could not find the requested resource");
	case OUTCOME_UNAVAILABLE:
		return STR("the database is away or too busy: try again");
	case OUTCOME_INTERNAL:
		return STR("something went wrong here, and nothing was changed; the log tells more under this request's id");
	default:
		return str_c(outcome_title(outcome));
	}
}

static struct str message_of(struct call *call, const struct failure *failure, const struct problem *problem)
{
	if (failure->outcome == OUTCOME_FORBIDDEN)
		return forbidden_text(call, problem);
	return problem->detail.n > 0 ? problem->detail : default_text(failure->outcome);
}

static struct doc *causes_doc(struct call *call, const struct problem *problem)
{
	struct doc *list = doc_new_array(call->pool);

	for (size_t i = 0; i < problem->n_causes; i++) {
		struct doc *cause = doc_new_object(call->pool);
		doc_set_str(call->pool, cause, "reason", str_c(problem->causes[i].reason));
		doc_set_str(call->pool, cause, "message", problem->causes[i].message);
		set_nonempty(call, cause, "field", problem->causes[i].subject);
		doc_push(list, cause);
	}
	return list;
}

// Kubernetes has no member for this; causes are open to any reason.
static struct doc *nothing_done_doc(struct call *call)
{
	struct doc *list = doc_new_array(call->pool), *cause = doc_new_object(call->pool);

	doc_set_str(call->pool, cause, "reason", STR("NothingDone"));
	doc_set_str(call->pool, cause, "message", STR("nothing was changed"));
	doc_push(list, cause);
	return list;
}

// The object that an error is about: the one that the handler named, else that of the address.
static struct doc *details_doc(struct call *call, const struct failure *failure, const struct problem *problem)
{
	struct doc *details = doc_new_object(call->pool);
	bool named = member(problem, "kind").p != NULL;
	struct str name = named ? member(problem, "name") : call_param(call, "name");
	struct str group = named ? member(problem, "group") : call_param(call, "group");
	struct str kind = named ? member(problem, "kind") : call_param(call, "plural");

	set_nonempty(call, details, "name", name);
	if (kind.n > 0)
		set_nonempty(call, details, "group", group);
	set_nonempty(call, details, "kind", kind);
	if (problem->n_causes > 0 && failure->outcome != OUTCOME_BLOCKED)
		doc_set(details, STR("causes"), causes_doc(call, problem));
	if (problem->nothing_done)
		doc_set(details, STR("causes"), nothing_done_doc(call));
	if (failure->code == 503 || failure->code == 504)
		doc_set_u64(call->pool, details, "retryAfterSeconds", 1);
	return details;
}

void spaces_render_problem(struct call *call, enum outcome outcome, const struct problem *problem)
{
	const struct failure failure = failure_of(call, outcome, problem);
	struct doc *doc = status_doc(call, "Failure");

	doc_set_str(call->pool, doc, "message", message_of(call, &failure, problem));
	doc_set_str(call->pool, doc, "reason", str_c(failure.reason));
	// Before authentication the answer repeats nothing of the address.
	if (failure.code != 401)
		doc_set(doc, STR("details"), details_doc(call, &failure, problem));
	doc_set_u64(call->pool, doc, "code", (uint64_t)failure.code);
	spaces_write_json_doc(call, doc);
	call->response.status = failure.code;
}
