// SPDX-License-Identifier: Apache-2.0
// Sends a call, sends it again where that is safe, and describes its outcome.
#include "base/base.h"

#include <stdarg.h>

#include "base/clock.h"
#include "lib/client.h"

enum { DOCUMENT_DEPTH = 200, FIRST_WAIT_MS = 200 };

static bool changes(const struct wish *wish)
{
	return strcmp(wish->method, "GET") != 0 && strcmp(wish->method, "HEAD") != 0;
}

// Can the change be made at most once? What "If-Match: *" asks for still holds after the change was made.
static bool conditional(const struct wish *wish)
{
	return (wish->if_match.n > 0 && !str_eq(wish->if_match, STR("*"))) || wish->if_none_match.n > 0;
}

static void error_clear(struct tenure_client *client)
{
	pool_clear(client->error.pool);
	client->error.text = STR("");
	client->error.location = client->error.document = STR_NONE;
	client->error.http = 0;
}

enum tenure_status client_fail(struct tenure_client *client, enum tenure_status status, const char *format, ...)
{
	va_list args;

	error_clear(client);
	va_start(args, format);
	client->error.text = str_vprintf(client->error.pool, format, args);
	va_end(args);
	return status;
}

enum tenure_status client_parse(struct tenure_client *client, struct pool *pool, struct str text, struct doc **doc)
{
	struct str error;

	if (doc_parse_json(pool, text, (struct doc_limits){ DOCUMENT_DEPTH, 0 }, doc, &error))
		return TENURE_OK;
	return client_fail(client, TENURE_PROTOCOL, "the answer is not JSON: %.*s", STR_ARG(error));
}

// A refused move has blockers in the problems of every dialect.
static enum tenure_status conflict_kind(const struct doc *problem)
{
	const struct doc *type;

	if (doc_get(problem, STR("blockers"), &type) ||
		(doc_get(problem, STR("type"), &type) && str_eq(doc_string(type), STR("urn:tenure:problem:blocked"))))
		return TENURE_BLOCKED;
	return TENURE_CONFLICT;
}

// Where a Location leads in a Tenure service: "/v2.0/acme". n 0: elsewhere, as to a page for logging in.
static struct str path_within(struct str location)
{
	struct str path = str_part(location, 0, str_find(location, '?', 0));

	while (path.n > 0 && !str_starts(path, STR("/v2.0/")))
		path = str_part(path, 1, path.n);
	return path;
}

// problem: what the service says about its refusal; NULL: nothing. A 301 to the same path is one of a web server that wants
// https.
static enum tenure_status status_of(const struct wish *wish, const struct answer *answer, const struct doc *problem)
{
	struct str asked = str_part(wish->path, 0, str_find(wish->path, '?', 0)), leads = path_within(answer->location);
	int http = answer->status;

	switch (http) {
	case 301: return leads.n > 0 && !str_eq(leads, asked) ? TENURE_MOVED : TENURE_PROTOCOL;
	case 303: return leads.n > 0 && wish->sees_other ? TENURE_OK : TENURE_PROTOCOL;
	case 401: return TENURE_UNAUTHENTICATED;
	case 403: return TENURE_FORBIDDEN;
	case 404: return TENURE_NOT_FOUND;
	case 409: return conflict_kind(problem);
	case 410: return TENURE_GONE;
	case 412: return TENURE_STALE;
	case 428: return TENURE_NEEDS_ETAG;
	case 429:
	case 502:
	case 503:
	case 504: return TENURE_UNAVAILABLE;
	default: break;
	}
	return http >= 200 && http < 300 ? TENURE_OK : http >= 400 && http < 500 ? TENURE_REFUSED
		: http >= 500 ? TENURE_FAILED : TENURE_PROTOCOL;
}

// The text before what, or all of it.
static struct str before(struct str text, struct str what)
{
	const char *at = text.n > 0 ? memmem(text.p, text.n, what.p, what.n) : NULL;

	return at != NULL ? str_part(text, 0, (size_t)(at - text.p)) : text;
}

// Placement's detail begins with a sentence that is the same for all errors of a status. Returns the first line after it, without
// the part of the schema, and the value, with which errors of schemas go on.
static struct str placement_reason(struct pool *pool, const struct doc *error)
{
	const struct doc *detail = NULL, *title = NULL;
	struct str text, line;

	doc_get(error, STR("title"), &title);
	if (!doc_get(error, STR("detail"), &detail))
		return str_dup(pool, doc_string(title));
	text = doc_string(detail);
	for (size_t i = 0; i + 1 < text.n; i++) {
		if (text.p[i] == '\n' && text.p[i + 1] == '\n') {
			text = str_part(text, i + 2, text.n);
			break;
		}
	}
	bool there = str_split(&text, '\n', &line);
	line = there ? str_trim(before(line, STR("  Failed validating '"))) : STR("");
	return str_dup(pool, line.n > 0 ? line : doc_string(title));
}

// The sentence in a problem of any dialect: title and detail, the message of a Status of spaces, placement's list of errors, or
// JSON within error_message.
// "": there is none.
static struct str reason_of(struct pool *pool, const struct doc *problem)
{
	const struct doc *title = NULL, *detail = NULL, *message = NULL;
	struct doc *inner;
	struct str unused;

	if (doc_get(problem, STR("title"), &title)) {
		doc_get(problem, STR("detail"), &detail);
		struct str heading = doc_string(title), sentence = doc_string(detail);
		return str_printf(pool, "%.*s%s%.*s", STR_ARG(heading), detail != NULL ? ": " : "", STR_ARG(sentence));
	}
	if (doc_get(problem, STR("kind"), &message) && str_eq(doc_string(message), STR("Status")) &&
		doc_get(problem, STR("message"), &message))
		return str_dup(pool, doc_string(message));
	if (doc_get(problem, STR("errors"), &message) && doc_length(message) > 0)
		return placement_reason(pool, doc_at(message, 0));
	if (!doc_get(problem, STR("error_message"), &message) || doc_kind(message) != DOC_STRING)
		return STR("");
	if (doc_parse_json(pool, doc_string(message), (struct doc_limits){ DOCUMENT_DEPTH, 0 }, &inner, &unused) &&
		(doc_get(inner, STR("faultstring"), &detail) || doc_get(inner, STR("description"), &detail)))
		return str_dup(pool, doc_string(detail));
	return str_dup(pool, doc_string(message));
}

// Keeps what the service says about its refusal.
static enum tenure_status refused(struct tenure_client *client, const struct wish *wish, const struct answer *answer)
{
	struct doc *problem = NULL;
	struct str unused;

	error_clear(client);
	struct pool *pool = client->error.pool;
	if (!doc_parse_json(pool, answer->body, (struct doc_limits){ DOCUMENT_DEPTH, 0 }, &problem, &unused) ||
		doc_kind(problem) != DOC_OBJECT)
		problem = NULL;
	client->error.http = answer->status;
	if (answer->location.p != NULL)
		client->error.location = str_dup(pool, answer->location);
	enum tenure_status status = status_of(wish, answer, problem);
	struct str reason = problem != NULL ? reason_of(pool, problem) : STR("");
	if (reason.n > 0) {
		client->error.document = str_dup(pool, answer->body);
		client->error.text = reason;
	} else if (status == TENURE_MOVED) {
		client->error.text = str_printf(pool, "it was moved to %.*s", STR_ARG(client->error.location));
	} else if (status == TENURE_PROTOCOL && answer->location.p != NULL) {
		client->error.text = str_printf(pool, "%s %.*s was answered %d, not by Tenure, and leads to %.*s: is the service's URL right, and the token?",
			wish->method, STR_ARG(wish->path), answer->status, STR_ARG(answer->location));
	} else {
		// Every dialect's errors are objects of JSON; a web server's own pages are not.
		client->error.text = str_printf(pool, problem == NULL && answer->body.n > 0
				? "%s %.*s was answered %d, and not by Tenure: is that its address, and does it run behind the web server?"
				: "%s %.*s was answered %d without a reason",
			wish->method, STR_ARG(wish->path), answer->status);
	}
	return status;
}

// How long to wait: what Retry-After says, else twice as long each time; at most the client's bound. A random part keeps clients
// that were refused together from coming back together.
static long wait_before(const struct tenure_client *client, const struct answer *answer, unsigned attempt)
{
	long ms = answer->retry_after >= 0 ? answer->retry_after * 1000
		: (long)FIRST_WAIT_MS << (attempt < 10 ? attempt : 10);

	ms += (long)((uint64_t)clock_tick_us() % FIRST_WAIT_MS);
	return ms < client->longest_wait_ms ? ms : client->longest_wait_ms;
}

static bool asks_again(enum sent sent, const struct answer *answer)
{
	return sent != SENT_ANSWERED || answer->status == 429 || answer->status == 502 || answer->status == 503 || answer->status == 504;
}

// Does the service say of its 503 that nothing was done? Each dialect has its place for that. A web server's own 503 does not say
// so.
static bool says_nothing_done(struct pool *pool, const struct answer *answer)
{
	const struct doc *details, *list, *value = NULL;
	struct doc *problem = NULL;
	struct str unused;

	if (answer->status != 503 ||
		!doc_parse_json(pool, answer->body, (struct doc_limits){ DOCUMENT_DEPTH, 0 }, &problem, &unused))
		return false;
	if (doc_get(problem, STR("details"), &details) && doc_get(details, STR("causes"), &list))
		return doc_elements(list) > 0 && doc_get(doc_at(list, 0), STR("reason"), &value) && str_eq(doc_string(value), STR("NothingDone"));
	if (doc_get(problem, STR("errors"), &list) && doc_elements(list) > 0)
		doc_get(doc_at(list, 0), STR("done"), &value);
	else
		doc_get(problem, STR("done"), &value);
	return doc_kind(value) == DOC_BOOL && !doc_bool(value);
}

// May this attempt have changed something? If the service lost its database during COMMIT, it does not know that itself. A 429 is
// answered before anything of the request is done.
static bool leaves_doubt(struct pool *pool, const struct wish *wish, enum sent sent, const struct answer *answer)
{
	if (!changes(wish) || sent == SENT_NEVER)
		return false;
	return sent != SENT_ANSWERED || (answer->status != 429 && !says_nothing_done(pool, answer));
}

// That a change was answered so, and what the service says why.
static struct str answered(struct pool *pool, const struct answer *answer)
{
	struct doc *problem = NULL;
	struct str unused, reason = STR("");

	if (doc_parse_json(pool, answer->body, (struct doc_limits){ DOCUMENT_DEPTH, 0 }, &problem, &unused) && doc_kind(problem) == DOC_OBJECT)
		reason = reason_of(pool, problem);
	return reason.n > 0 ? str_printf(pool, "the answer was %d: %.*s", answer->status, STR_ARG(reason))
		: str_printf(pool, "the answer was %d", answer->status);
}

// An earlier attempt may have changed something. Could this be the answer because it did? A resource that the attempt deleted or
// moved is gone or elsewhere now, its etag is stale, and who deleted what admitted him is admitted no more. What is refused for
// what was sent would have been refused the first time as well.
static bool may_be_own_doing(const struct wish *wish, const struct answer *answer)
{
	enum tenure_status status = status_of(wish, answer, NULL);

	return status != TENURE_OK && status != TENURE_REFUSED;
}

// An attempt may have changed something, and no later answer can tell whether it did.
static enum tenure_status uncertain(struct tenure_client *client, const struct wish *wish, struct str why)
{
	return client_fail(client, TENURE_UNCERTAIN, "%s %.*s may have been done or not (%.*s): read it again",
		wish->method, STR_ARG(wish->path), STR_ARG(why));
}

// The same where a later attempt was answered. first: how the earlier one ended.
static enum tenure_status uncertain_still(struct tenure_client *client, struct pool *pool, const struct wish *wish,
	const struct answer *answer, struct str first)
{
	struct str then = answered(pool, answer);

	return uncertain(client, wish, str_printf(pool, "%.*s; when it was sent again, %.*s", STR_ARG(first), STR_ARG(then)));
}

static enum tenure_status ended(struct tenure_client *client, const struct wish *wish, const struct answer *answer)
{
	if (status_of(wish, answer, NULL) != TENURE_OK)
		return refused(client, wish, answer);
	error_clear(client);
	return TENURE_OK;
}

// why: how the last attempt ended if it was not answered. first: how the one that left a doubt ended; p NULL: none did.
static enum tenure_status gave_up(struct tenure_client *client, struct pool *pool, const struct wish *wish, const struct answer *answer,
	enum sent sent, struct str why, struct str first)
{
	if (first.p != NULL && sent == SENT_ANSWERED && !leaves_doubt(pool, wish, sent, answer))
		return uncertain_still(client, pool, wish, answer, first);
	if (first.p != NULL)
		return uncertain(client, wish, first);
	if (sent == SENT_ANSWERED)
		return refused(client, wish, answer);
	return client_fail(client, TENURE_UNAVAILABLE, "no answer from %.*s: %.*s", STR_ARG(client->url), STR_ARG(why));
}

enum tenure_status client_call(struct tenure_client *client, struct pool *pool, const struct wish *given,
	struct answer *answer)
{
	struct str why = STR(""), first = STR_NONE; // first: how the last attempt ended that may have changed something; p NULL: none may
	struct wish queried = *given;
	const struct wish *wish = &queried;

	if (changes(wish) && client->change_query != NULL)
		queried.path = str_printf(pool, "%.*s%s", STR_ARG(given->path), client->change_query);
	*answer = (struct answer){ .retry_after = -1 };
	client->nothing_sent = changes(wish) && client->before_change != NULL &&
		!client->before_change(client, wish, client->before_change_arg);
	if (client->nothing_sent)
		return TENURE_OK;
	for (unsigned attempt = 0;; attempt++) {
		enum sent sent = transport_send(client, pool, wish, answer, &why);
		if (sent == SENT_ANSWERED && answer->warnings.n > 0 && client->warned != NULL)
			client->warned(answer->warnings, client->warned_arg);
		if (!asks_again(sent, answer))
			return first.p != NULL && may_be_own_doing(wish, answer) ? uncertain_still(client, pool, wish, answer, first)
				: ended(client, wish, answer);
		if (leaves_doubt(pool, wish, sent, answer))
			first = sent == SENT_ANSWERED ? answered(pool, answer) : why;
		if (attempt >= client->retries || (first.p != NULL && !conditional(wish)))
			return gave_up(client, pool, wish, answer, sent, why, first);
		clock_sleep_us(wait_before(client, answer, attempt) * INT64_C(1000));
	}
}
