// SPDX-License-Identifier: Apache-2.0
// The worker's part of a watch: checks the request, sends the initial events, and writes the handover by which the watch process
// continues.
#include "base/base.h"

#include "api/spaces/answer/answer.h"
#include "api/spaces/object/as_of.h"
#include "api/spaces/object/object.h"
#include "api/spaces/watch/internal.h"
#include "api/spaces/watch/watch.h"
#include "auth/core/auth.h"
#include "base/buf.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/log/log_position.h"

enum {
	FIRST_MAX_BYTES = 64 << 20, // bytes of the initial events
	SPILL_BYTES = 1 << 20,      // bytes of them that are kept in memory
	SECONDS_DEFAULT = 300,
	SECONDS_MAX = 3600,
};

// A watch that a request begins.
struct watch_begun {
	struct call *call;
	const struct target *target;
	struct list_query query;
	struct watch_handover_head head;
	struct answer_form form;
	const struct table_columns *columns;
	struct buf out;         // the initial events, behind those in the response's spill
	uint64_t spilled;       // bytes in the spill
	struct buf known;       // array of struct known
	bool initial;           // the existing objects are sent as events
	bool from_now;          // the watch begins at the present, not at a version that the client gave
	bool marks_initial;     // a bookmark marks the end of the initial events
	bool too_large;         // the initial events have more than FIRST_MAX_BYTES
};

// ---- events

static struct watch_output output_of(struct watch_begun *begun)
{
	return (struct watch_output){ begun->call, begun->target, begun->form, begun->columns, &begun->out };
}

void watch_event_add(const struct watch_output *output, const char *type, struct stored_place place, struct str object)
{
	struct call *call = output->call;
	struct buf *out = output->out;

	BUF_LIT(out, "{\"type\":\"");
	buf_add(out, str_c(type));
	BUF_LIT(out, "\",\"object\":");
	if (output->form.as == AS_OBJECT) {
		buf_add(out, object);
		BUF_LIT(out, "}\n");
		return;
	}
	const struct doc *doc = stored_document(call->scratch, place, object);
	if (output->form.as == AS_METADATA) {
		table_add_metadata(doc, output->form.version, out);
		BUF_LIT(out, "}\n");
		return;
	}
	BUF_LIT(out, "{\"kind\":\"Table\",\"apiVersion\":");
	json_add_string(out, output->form.version);
	BUF_LIT(out, ",\"metadata\":{\"resourceVersion\":");
	json_add_string(out, spaces_metadata_text(doc, "resourceVersion"));
	BUF_LIT(out, "},\"columnDefinitions\":");
	table_add_columns(output->columns, out);
	BUF_LIT(out, ",\"rows\":[");
	table_add_row(call->scratch, output->columns, doc, answer_included_object(call), call->registry->now_us, out);
	BUF_LIT(out, "]}}\n");
}

// more: further members of metadata, each after a comma.
static void add_bookmark(const struct watch_output *output, uint64_t position, struct str more)
{
	const struct target *target = output->target;
	struct pool *pool = output->call->scratch;
	struct buf object = buf_new(pool, 256);

	BUF_LIT(&object, "{\"kind\":");
	json_add_string(&object, target->definition->kind);
	BUF_LIT(&object, ",\"apiVersion\":");
	json_add_string(&object, type_group_version(pool, target->definition->type->group, target->version->name));
	buf_addf(&object, ",\"metadata\":{\"resourceVersion\":\"%llu\"", (unsigned long long)position);
	buf_add(&object, more);
	BUF_LIT(&object, "}}");
	watch_event_add(output, "BOOKMARK", STORED_NEW, buf_str(&object));
}

void watch_bookmark_add(const struct watch_output *output, uint64_t position)
{
	add_bookmark(output, position, STR(""));
}

// Appends a BOOKMARK that is marked as the end of the initial objects.
static void add_initial_end(const struct watch_output *output, uint64_t position)
{
	add_bookmark(output, position, STR(",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}"));
}

void watch_add_unauthenticated(struct buf *out)
{
	BUF_LIT(out, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		"\"status\":\"Failure\",\"message\":\"the credential that this watch began with is no longer good\","
		"\"reason\":\"Unauthorized\",\"code\":401}}\n");
}

void watch_add_too_costly(struct buf *out)
{
	BUF_LIT(out, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		"\"status\":\"Failure\",\"message\":\"an event of this watch takes more memory or computing time than one is "
		"granted: watch without columns or selectors that search large members\",\"reason\":\"RequestEntityTooLarge\","
		"\"code\":413}}\n");
}

void watch_add_broken(struct buf *out)
{
	BUF_LIT(out, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		"\"status\":\"Failure\",\"message\":\"what is stored of an object can't be read: tell the operator, whose log "
		"names the row\",\"reason\":\"InternalError\",\"code\":500}}\n");
}

void watch_add_expired(struct buf *out)
{
	BUF_LIT(out, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		"\"status\":\"Failure\",\"message\":\"the history from that resourceVersion on is not to be had: list again, "
		"and watch from the list's\",\"reason\":\"Expired\",\"code\":410}}\n");
}

// ---- the request

// Between one and two times SECONDS_DEFAULT, so that the watches of many clients don't all end at once.
static unsigned random_seconds(void)
{
	const struct uuid dice = uuid_new();
	const struct str bytes = uuid_bytes(&dice);

	return SECONDS_DEFAULT + (unsigned)(unsigned char)bytes.p[bytes.n - 1] * SECONDS_DEFAULT / 256;
}

static enum outcome read_number(struct call *call, const char *name, uint64_t *value)
{
	struct str text;

	*value = 0;
	if (uri_query(&call->request.uri, str_c(name), &text) && text.n > 0 && !str_to_u64(text, value))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "%s must be a number", name);
	return OUTCOME_OK;
}

// Existing objects are sent if sendInitialEvents is true or, without that parameter, if the client gives no version (or 0).
static void read_beginning(struct watch_begun *begun)
{
	struct call *call = begun->call;
	bool asked = spaces_query_has(call, "sendInitialEvents");
	bool wanted = spaces_query_is_true(call, "sendInitialEvents");

	begun->initial = asked ? wanted : begun->head.position == 0;
	begun->from_now = begun->initial || begun->head.position == 0;
	begun->head.bookmarks = spaces_query_is_true(call, "allowWatchBookmarks");
	begun->marks_initial = wanted && begun->head.bookmarks;
}

static enum outcome read_watch(struct watch_begun *begun)
{
	struct call *call = begun->call;
	uint64_t seconds;
	enum version_match match;
	enum outcome outcome = selection_read(call, begun->target, &begun->query.choice);

	if (outcome == OUTCOME_OK)
		outcome = spaces_read_version_match(call, true, &match);
	if (outcome == OUTCOME_OK)
		outcome = read_number(call, "resourceVersion", &begun->head.position);
	if (outcome == OUTCOME_OK)
		outcome = read_number(call, "timeoutSeconds", &seconds);
	if (outcome != OUTCOME_OK)
		return outcome;
	read_beginning(begun);
	begun->head.seconds = seconds == 0 ? random_seconds() : seconds > SECONDS_MAX ? SECONDS_MAX : (uint32_t)seconds;
	begun->head.selective = !begun->query.choice.all;
	begun->head.varying = selection_can_vary(&begun->query.choice);
	begun->head.tenants = definition_has_identity(begun->target->definition, "", "tenants");
	return OUTCOME_OK;
}

// Finds the position at which the watch begins. *expired: the log does not have all changes since the client's version any more,
// or the version is of another log.
static enum outcome find_position(struct watch_begun *begun, bool *expired)
{
	struct log_place place;
	uint64_t *position = &begun->head.position;

	*expired = false;
	enum outcome outcome = log_position_find(begun->call->registry, *position, &place);
	if (outcome != OUTCOME_OK)
		return outcome;
	*expired = place.position == LOG_POSITION_AHEAD || (!begun->from_now && place.position != LOG_POSITION_KEPT);
	return begun->from_now && !*expired ? horizon_advance(begun->call->registry, position, NULL) : OUTCOME_OK;
}

// ---- initial events

// Adds an entry to the handover: whether the client has the object.
static void note_known(struct watch_begun *begun, uint64_t id, enum known_state state)
{
	const struct known known = { .id = id, .state = state };

	buf_add(&begun->known, str_n((const char *)&known, sizeof(known)));
}

// Sends an existing object as ADDED. The handover gets an entry for it if selectors decide what the client has, or if the
// object's last change lies above the position and so will be sent again.
static void tell_first(struct watch_begun *begun, struct stored_place place, uint64_t changed, struct str object)
{
	begun->too_large = begun->spilled + begun->out.n + object.n > FIRST_MAX_BYTES;
	if (begun->too_large)
		return;
	const struct watch_output output = output_of(begun);
	watch_event_add(&output, "ADDED", place, object);
	if (begun->out.n > SPILL_BYTES)
		begun->spilled = response_spill(&begun->call->response, &begun->out);
	if (begun->head.selective || changed > begun->head.position)
		note_known(begun, place.id, KNOWN_CHOSEN);
}

// Notes an object that is not selected now. Only an object that was changed above the position needs an entry: that change will
// be sent, and the log may say that the object was selected before it, although the client never got it.
static void note_unchosen(struct watch_begun *begun, uint64_t id, uint64_t changed)
{
	if (changed > begun->head.position)
		note_known(begun, id, KNOWN_ABSENT);
}

// The version for an object's event: at most the position, because changes above it follow as events of their own.
static uint64_t as_of_position(const struct watch_begun *begun, uint64_t changed)
{
	return changed > begun->head.position ? begun->head.position : changed;
}

// A visit's take() for initial events. The object is written anew, as of the position.
static enum visit_next take_first(void *arg, const struct resource *resource, struct str object)
{
	struct watch_begun *begun = arg;
	struct call *call = begun->call;
	const struct stored_place place = resource_place(resource, "meta or body");
	bool fits = selection_matches(&begun->query.choice, call->scratch, place, object);
	struct resource now = *resource;
	struct buf text = buf_new(call->scratch, 1024 + now.meta.n + now.body.n);

	if (!fits) {
		note_unchosen(begun, resource->id, resource->changed);
		return VISIT_GOES_ON;
	}
	now.changed = as_of_position(begun, now.changed);
	answer_object_json(call, begun->target->definition, begun->target->version, &now, &text);
	tell_first(begun, place, resource->changed, buf_str(&text));
	return begun->too_large ? VISIT_ENDS : VISIT_GOES_ON;
}

static enum visit_next take_first_tenant(void *arg, const struct tenant *tenant, struct str object)
{
	struct watch_begun *begun = arg;
	struct call *call = begun->call;
	const struct stored_place place = tenant_place(tenant, "metadata or object");
	bool fits = selection_matches(&begun->query.choice, call->scratch, place, object);
	struct tenant now = *tenant;

	if (!fits) {
		note_unchosen(begun, tenant->id, tenant->changed);
		return VISIT_GOES_ON;
	}
	now.changed = as_of_position(begun, now.changed);
	tell_first(begun, place, tenant->changed, tenant_object_text(call, begun->target, &now));
	return begun->too_large ? VISIT_ENDS : VISIT_GOES_ON;
}

static enum outcome visit_first(struct watch_begun *begun, struct as_of *as_of)
{
	struct list_query everything = begun->query;
	const struct visit visit = {
		.call = begun->call, .target = begun->target, .query = &everything, .take = take_first, .arg = begun, .as_of = as_of,
	};
	const struct tenants_visit tenants = {
		.call = begun->call, .target = begun->target, .query = &everything, .take = take_first_tenant, .arg = begun,
		.as_of = as_of,
	};
	enum outcome outcome = OUTCOME_OK;
	struct str next;

	everything.choice.all = true;
	response_unspill(&begun->call->response);
	begun->spilled = begun->out.n = begun->known.n = 0;
	if (begun->head.tenants)
		outcome = visit_tenants(&tenants, &next);
	else if (begun->target->definition->stored)
		outcome = visit_objects(&visit, &next);
	if (outcome == OUTCOME_OK && begun->too_large)
		return call_fail(begun->call, OUTCOME_BODY_TOO_LARGE,
			"what is there already has more than %d bytes: list it by pages, and watch from the list's resourceVersion",
			FIRST_MAX_BYTES);
	return outcome;
}

// Sends all existing objects, and sets the position at which the watch goes on. If no position fits what was read, an earlier one
// is used, and newer changes are sent twice.
static enum outcome send_all_objects(struct watch_begun *begun)
{
	struct call *call = begun->call;
	struct as_of as_of;
	bool exact = false, again = true;
	enum outcome outcome = as_of_begin(&as_of, call, begun->target,
		visit_single_name(call, begun->target, &begun->query.choice));

	while (outcome == OUTCOME_OK && again) {
		begun->head.position = UINT64_MAX;
		outcome = visit_first(begun, &as_of);
		if (outcome == OUTCOME_OK)
			outcome = as_of_end(&as_of, &begun->head.position, &exact, &again);
		if (outcome == OUTCOME_OK && again)
			outcome = as_of_restart(&as_of);
	}
	return outcome == OUTCOME_OK && !exact ? visit_first(begun, NULL) : outcome;
}

// A client that resumes from a version has the objects that were selected at that version, so nothing is read for it: of each
// later change the log has what selectors saw before it.
static enum outcome send_initial_events(struct watch_begun *begun)
{
	enum outcome outcome = OUTCOME_OK;

	if (begun->initial)
		outcome = send_all_objects(begun);
	if (outcome == OUTCOME_OK && begun->marks_initial) {
		const struct watch_output output = output_of(begun);
		add_initial_end(&output, begun->head.position);
	}
	return outcome;
}

// ---- writing the handover

static void write_handover(struct watch_begun *begun)
{
	struct call *call = begun->call;
	const struct target *target = begun->target;
	struct watch_handover_head *head = &begun->head;
	const struct str accept = request_header(&call->request, "accept");
	const struct str texts[WATCH_TEXTS] = {
		[WATCH_TARGET] = call->request.target, [WATCH_ACCEPT] = accept, [WATCH_USER] = call->who.user,
		[WATCH_USER_TENANT] = call->who.tenant, [WATCH_TENANT] = target->tenant, [WATCH_SPACE] = target->space,
		[WATCH_NAME] = begun->query.choice.name, [WATCH_CREDENTIALS] = auth_header_lines(call->pool, &call->request),
		[WATCH_REMOTE_USER] = call->request.remote_user,
		[WATCH_REMOTE_USER_SECRET] = call->request.remote_user_secret,
		[WATCH_CLIENT_VERIFY] = call->request.client_verify,
		[WATCH_CLIENT_CERTIFICATE] = call->request.client_certificate,
		[WATCH_CERTIFICATE_SECRET] = call->request.certificate_secret,
	};
	struct buf handover = buf_new(call->pool, 1024 + begun->known.n);

	head->all = target->all;
	head->all_spaces = target->all_spaces;
	head->named = begun->query.choice.name.p != NULL;
	head->definition = target->definition->uid;
	head->role = (uint32_t)call->who.role;
	head->reads_all = call->who.reads_all;
	head->expires_us = call->who.expires_us;
	head->type_id = target->definition->stored ? target->definition->type->id : 0;
	for (size_t i = 0; i < WATCH_TEXTS; i++)
		head->sizes[i] = texts[i].n;
	head->known_bytes = begun->known.n;
	buf_add(&handover, str_n((const char *)head, sizeof(*head)));
	buf_add(&handover, buf_str(&begun->known));
	for (size_t i = 0; i < WATCH_TEXTS; i++)
		buf_add(&handover, texts[i]);
	call->handover = buf_str(&handover);
}

static enum outcome fail_no_watch(struct call *call)
{
	return call_fail(call, OUTCOME_METHOD_NOT_ALLOWED,
		"watch is not offered by a service that the web server starts itself: read the list again (kubectl delete takes "
		"--wait=false)");
}

// The watch process knows credentials, and no sessions: the watch would go on after its session has ended.
static enum outcome fail_session(struct call *call)
{
	return call_fail(call, OUTCOME_FORBIDDEN, "a watch needs a credential of its own: a session of the console can't begin one");
}

enum outcome watch_in_space(struct call *call, const struct target *target)
{
	struct watch_begun begun = { .call = call, .target = target, .out = buf_new(call->pool, 1024),
		.known = buf_new(call->pool, 64) };
	bool expired = false;

	if (!call->may_hand_over)
		return fail_no_watch(call);
	if (call->session.id.p != NULL)
		return fail_session(call);
	enum outcome outcome = read_watch(&begun);
	if (outcome == OUTCOME_OK)
		outcome = find_position(&begun, &expired);
	begun.form = answer_wanted_form(call, false);
	if (begun.form.as == AS_TABLE)
		begun.columns = table_columns_for(call->pool, target->definition,
			definition_details(call->registry, target->definition, target->version));
	if (outcome == OUTCOME_OK && !expired)
		outcome = send_initial_events(&begun);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (expired)
		watch_add_expired(&begun.out);
	// HEAD gets the header fields only, so there is nothing that could go on.
	else if (call->request.method == METHOD_GET)
		write_handover(&begun);
	spaces_write_json_text(call, buf_str(&begun.out));
	response_set(&call->response, "X-Accel-Buffering", STR("no")); // switches off nginx's buffering
	return OUTCOME_OK;
}
