// SPDX-License-Identifier: Apache-2.0
// Errors in the form of this API: an object whose error_message is a string that contains JSON. Facts that programs can use stand
// beside it as members.
#include "base/base.h"

#include "api/baremetal/common/baremetal.h"
#include "base/pool.h"

enum { BLOCKERS_TOLD = 10 }; // blockers named in the sentence; the list beside it has all

static const struct {
	int status;
	const char *title;
} titles[] = {
	{ 400, "Bad Request" }, { 404, "Not Found" }, { 405, "Method Not Allowed" }, { 406, "Not Acceptable" },
	{ 414, "URI Too Long" }, { 501, "Not Implemented" },
};

static const char *title_of(int status, enum outcome outcome)
{
	for (size_t i = 0; i < COUNT_OF(titles); i++) {
		if (titles[i].status == status)
			return titles[i].title;
	}
	return outcome_title(outcome);
}

// This API has no 410.
static int status_of(enum outcome outcome)
{
	return outcome == OUTCOME_GONE ? 404 : outcome_status(outcome);
}

// ---- the sentence for people

static const char *default_text(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_NOT_FOUND:
	case OUTCOME_GONE:
		return "The resource could not be found.";
	case OUTCOME_UNAVAILABLE:
		return "The database is away or too busy: try again.";
	case OUTCOME_INTERNAL:
		return "Something went wrong here, and nothing was changed; the log tells more under this request id.";
	default:
		return outcome_title(outcome);
	}
}

static bool has_unexpected_arguments(const struct call *call)
{
	const struct uri *uri = &call->request.uri;

	for (size_t i = 0; i < uri->n_pairs; i++) {
		if (!route_declares(call->match.method, uri->pairs[i].name))
			return true;
	}
	return false;
}

static struct str member(const struct problem *problem, const char *name)
{
	for (size_t i = 0; i < problem->n_members; i++) {
		if (strcmp(problem->members[i].name, name) == 0)
			return problem->members[i].value;
	}
	return STR_NONE;
}

// Adds etag, author and time of the latest change to the sentence, for clients that show nothing else to their users.
static void add_stale(struct buf *text, const struct problem *problem)
{
	struct str etag = member(problem, "etag"), by = member(problem, "changed_by"), at = member(problem, "changed_at");

	if (etag.n > 0)
		buf_addf(text, ". Its etag is now %.*s", STR_ARG(etag));
	if (at.n > 0)
		buf_addf(text, "; it was changed by %.*s at %.*s", STR_ARG(by.n > 0 ? by : STR("nobody known")), STR_ARG(at));
	for (size_t i = 0; i < problem->n_fields; i++)
		buf_addf(text, "%s%.*s", i == 0 ? "; what differs: " : ", ", STR_ARG(problem->fields[i]));
}

static void add_blockers(struct buf *text, const struct problem *problem)
{
	for (size_t i = 0; i < problem->n_causes && i < BLOCKERS_TOLD; i++) {
		const struct problem_cause *cause = &problem->causes[i];
		buf_addf(text, "; %.*s%s%s: %.*s", STR_ARG(cause->subject), cause->subject.n > 0 ? " " : "", cause->reason,
			STR_ARG(cause->message));
	}
}

static struct str sentence(struct call *call, enum outcome outcome, const struct problem *problem)
{
	struct buf text = buf_new(call->pool, 256);

	if (outcome == OUTCOME_BAD_PARAMETER && call->match.method != NULL && has_unexpected_arguments(call))
		BUF_LIT(&text, "Unexpected arguments: ");
	buf_add(&text, problem->detail.n > 0 ? problem->detail : str_c(default_text(outcome)));
	if (outcome == OUTCOME_STALE)
		add_stale(&text, problem);
	if (outcome == OUTCOME_BLOCKED)
		add_blockers(&text, problem);
	return buf_str(&text);
}

// ---- the document

// The error of an unknown address has another form than errors of methods.
static struct doc *fault_doc(struct call *call, enum outcome outcome, struct str text)
{
	struct pool *pool = call->pool;
	struct doc *fault = doc_new_object(pool);
	int status = status_of(outcome);

	if (call->match.method == NULL) {
		doc_set_u64(pool, fault, "code", (uint64_t)status);
		doc_set_str(pool, fault, "title", str_c(title_of(status, outcome)));
		doc_set_str(pool, fault, "description", text);
		return fault;
	}
	doc_set_str(pool, fault, "faultcode", status < 500 ? STR("Client") : STR("Server"));
	doc_set_str(pool, fault, "faultstring", text);
	doc_set(fault, STR("debuginfo"), NULL);
	return fault;
}

static void add_lists(struct call *call, enum outcome outcome, const struct problem *problem, struct doc *doc)
{
	struct pool *pool = call->pool;
	struct doc *fields = doc_new_array(pool), *blockers = doc_new_array(pool);

	for (size_t i = 0; i < problem->n_fields; i++)
		doc_push(fields, doc_new_string(pool, problem->fields[i]));
	for (size_t i = 0; i < problem->n_causes && outcome == OUTCOME_BLOCKED; i++) {
		struct doc *item = doc_new_object(pool);
		doc_set_str(pool, item, "resource", problem->causes[i].subject);
		doc_set_str(pool, item, "reason", str_c(problem->causes[i].reason));
		doc_set_str(pool, item, "detail", problem->causes[i].message);
		doc_push(blockers, item);
	}
	if (problem->fields != NULL)
		doc_set(doc, STR("fields"), fields);
	if (doc_length(blockers) > 0)
		doc_set(doc, STR("blockers"), blockers);
}

void baremetal_render_problem(struct call *call, enum outcome outcome, const struct problem *problem)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);
	struct buf fault = buf_new(pool, 256);

	doc_write_json(fault_doc(call, outcome, sentence(call, outcome, problem)), &fault);
	doc_set_str(pool, doc, "error_message", buf_str(&fault));
	for (size_t i = 0; i < problem->n_members; i++)
		doc_set_str(pool, doc, problem->members[i].name, problem->members[i].value);
	if (problem->nothing_done)
		doc_set(doc, STR("done"), doc_new_bool(pool, false));
	add_lists(call, outcome, problem, doc);
	baremetal_write_json(call, doc);
	call->response.status = status_of(outcome);
}
