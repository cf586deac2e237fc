// SPDX-License-Identifier: Apache-2.0
// The watch process's part of a watch: converts changes to events for one client.
#include "base/base.h"

#include "api/settings.h"
#include "api/spaces/answer/answer.h"
#include "api/spaces/object/object.h"
#include "api/spaces/watch/internal.h"
#include "auth/core/auth.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "http/uri.h"

struct watcher {
	struct watch_handover_head head;
	struct str texts[WATCH_TEXTS];
	struct known *known; // sorted by id
	size_t n_known, known_room;
	char bytes[];
};

// ---- reading the handover

static int by_id(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static bool read_known(struct watcher *watcher, const char *bytes)
{
	watcher->n_known = watcher->known_room = watcher->head.known_bytes / sizeof(*watcher->known);
	if (watcher->n_known == 0)
		return true;
	watcher->known = calloc(watcher->n_known, sizeof(*watcher->known));
	if (watcher->known == NULL)
		return false;
	memcpy(watcher->known, bytes, watcher->n_known * sizeof(*watcher->known));
	qsort(watcher->known, watcher->n_known, sizeof(*watcher->known), by_id);
	return true;
}

// May the handover's flags be read as bool? They are adjacent bytes, each of which has to be 0 or 1.
static bool flags_are_bools(struct str handover)
{
	for (size_t i = offsetof(struct watch_handover_head, all); i <= offsetof(struct watch_handover_head, bookmarks); i++) {
		if ((unsigned char)handover.p[i] > 1)
			return false;
	}
	return true;
}

// Do known_bytes and the sizes of the texts add up to the rest of the handover, without overflow? *n_texts: bytes of all texts.
static bool sizes_add_up(const struct watch_handover_head *head, uint64_t rest, uint64_t *n_texts)
{
	*n_texts = 0;
	if (head->known_bytes > rest)
		return false;
	rest -= head->known_bytes;
	for (size_t i = 0; i < WATCH_TEXTS; i++) {
		if (head->sizes[i] > rest - *n_texts)
			return false;
		*n_texts += head->sizes[i];
	}
	return *n_texts == rest;
}

struct watcher *watcher_new(struct str handover)
{
	struct watch_handover_head head;
	uint64_t n_texts;

	if (handover.n < sizeof(head) || !flags_are_bools(handover))
		return NULL;
	memcpy(&head, handover.p, sizeof(head));
	if (!sizes_add_up(&head, handover.n - sizeof(head), &n_texts))
		return NULL;
	// One allocation for the struct and its texts: a process may have thousands of watches.
	struct watcher *watcher = calloc(1, sizeof(*watcher) + n_texts + 1);
	if (watcher == NULL)
		return NULL;
	watcher->head = head;
	const char *known = handover.p + sizeof(head);
	memcpy(watcher->bytes, known + head.known_bytes, n_texts);
	for (size_t i = 0, at = 0; i < WATCH_TEXTS; at += head.sizes[i++])
		watcher->texts[i] = str_n(watcher->bytes + at, head.sizes[i]);
	if (!read_known(watcher, known))
		watcher_free(&watcher);
	return watcher;
}

void watcher_free(struct watcher **watcher)
{
	if (*watcher == NULL)
		return;
	free((*watcher)->known);
	free(*watcher);
	*watcher = NULL;
}

struct str watcher_tenant(const struct watcher *watcher)
{
	return watcher->head.all || watcher->head.tenants ? STR_NONE : watcher->texts[WATCH_TENANT];
}

struct str watcher_user_tenant(const struct watcher *watcher)
{
	return watcher->texts[WATCH_USER_TENANT];
}

uint64_t watcher_position(const struct watcher *watcher)
{
	return watcher->head.position;
}

void watcher_advance(struct watcher *watcher, uint64_t position)
{
	if (position > watcher->head.position)
		watcher->head.position = position;
}

unsigned watcher_seconds(const struct watcher *watcher)
{
	return watcher->head.seconds;
}

bool watcher_wants_bookmarks(const struct watcher *watcher)
{
	return watcher->head.bookmarks;
}

// ---- objects that the client has

// The entry for the object; NULL if there is none. Entries are sorted by id.
static struct known *find_known(const struct watcher *watcher, uint64_t id)
{
	const struct known key = { .id = id };

	return watcher->n_known == 0 ? NULL
		: bsearch(&key, watcher->known, watcher->n_known, sizeof(*watcher->known), by_id);
}

static void forget_known(struct watcher *watcher, struct known *known)
{
	size_t at = (size_t)(known - watcher->known);

	memmove(known, known + 1, (--watcher->n_known - at) * sizeof(*known));
}

static void add_known(struct watcher *watcher, uint64_t id, enum known_state state)
{
	size_t at = watcher->n_known;

	if (watcher->n_known == watcher->known_room) {
		size_t room = watcher->known_room * 2 + 8;
		struct known *more = reallocarray(watcher->known, room, sizeof(*more));
		// Without the entry the client would get wrong events. All its clients connect again if the process ends.
		if (more == NULL)
			memory_end(room * sizeof(*more));
		watcher->known = more;
		watcher->known_room = room;
	}
	while (at > 0 && watcher->known[at - 1].id > id)
		at--;
	memmove(&watcher->known[at + 1], &watcher->known[at], (watcher->n_known++ - at) * sizeof(*watcher->known));
	watcher->known[at] = (struct known){ .id = id, .state = state };
}

// ---- which changes concern the watch

// Does the watch cover this tenant's space? p NULL: no tenant.
static bool is_in(const struct watcher *watcher, struct str tenant)
{
	return tenant.p != NULL && (watcher->head.all || str_eq(tenant, watcher->texts[WATCH_TENANT]));
}

static bool is_move(const struct streamed_change *change)
{
	return str_eq(change->verb, STR("moved"));
}

// The name of the tenant that changed, also if it was purged since.
static struct str tenant_name(const struct streamed_change *change)
{
	return change->tenant.p != NULL ? change->tenant : change->former;
}

// A caller of a tenant sees only that tenant's object, unless it may read everything.
static bool wants_tenant(const struct watcher *watcher, const struct streamed_change *change)
{
	if (!watcher->head.tenants || !streamed_change_is_of_tenant(change) || change->beside)
		return false;
	if (watcher->head.role != ROLE_OPERATOR && !watcher->head.reads_all && !str_eq(change->tenant, watcher->texts[WATCH_USER_TENANT]))
		return false;
	return !watcher->head.named || str_eq(tenant_name(change), watcher->texts[WATCH_NAME]);
}

bool watcher_wants(const struct watcher *watcher, const struct streamed_change *change)
{
	const struct resource *resource = &change->resource;

	if (str_eq(change->verb, STR("purged")))
		return false;
	if (watcher->head.tenants || streamed_change_is_of_tenant(change))
		return wants_tenant(watcher, change);
	if (resource->type == NULL || resource->type->id != watcher->head.type_id)
		return false;
	if (!watcher->head.all_spaces && !str_eq(resource->space, watcher->texts[WATCH_SPACE]))
		return false;
	if (watcher->head.named && !str_eq(resource->name, watcher->texts[WATCH_NAME]))
		return false;
	return is_in(watcher, change->tenant) || (is_move(change) && is_in(watcher, change->from));
}

// Is it a change of a CustomResourceDefinition?
static bool is_of_definition(const struct streamed_change *change)
{
	const struct type *type = change->resource.type;

	return type != NULL && str_eq_c(type->group, CRD_GROUP) && str_eq_c(type->plural, CRD_PLURAL);
}

// Which definition applies depends on the definitions of the tenant and of the system, and on the tenant's policy and
// annotations.
bool watcher_may_change_definition(const struct watcher *watcher, const struct streamed_change *change)
{
	struct str concerned[] = { change->tenant, change->from };

	if (uuid_is_zero(watcher->head.definition) || !(streamed_change_is_of_tenant(change) || is_of_definition(change)))
		return false;
	for (size_t i = 0; i < COUNT_OF(concerned); i++) {
		if (is_in(watcher, concerned[i]) || (concerned[i].p != NULL && str_eq_c(concerned[i], TENANT_SYSTEM)))
			return true;
	}
	return false;
}

bool watcher_needs_state_before(const struct watcher *watcher, const struct streamed_change *change)
{
	bool comes = str_eq(change->verb, STR("created")) || str_eq(change->verb, STR("recovered")) ||
		(is_move(change) && !is_in(watcher, change->from));

	return watcher->head.varying && !comes &&
	       find_known(watcher, streamed_change_is_of_tenant(change) ? change->tenant_id : change->resource.id) == NULL;
}

// A tenant that was purged since is looked for by the name that it had: no other change says that its objects are gone. A watch
// of its successor of that name, from before that one was made, lists again without need. A watch of Tenants is told of the
// deletion by an event.
bool watcher_is_invalidated(const struct watcher *watcher, const struct streamed_change *change)
{
	struct str tenant = watcher->head.tenants ? change->tenant : tenant_name(change);

	return streamed_change_is_of_tenant(change) && is_in(watcher, tenant) &&
	       (str_eq(change->verb, STR("deleted")) || str_eq(change->verb, STR("recovered")));
}

// ---- events

// What making the events of one change needs.
struct telling {
	struct watcher *watcher;
	struct call *call;
	struct target target;
	struct choice choice;
	struct answer_form form;
	const struct table_columns *columns;
	struct buf *out;
};

// Repeats the checks of the request for each event, because roles, tenants and definitions may have changed since.
static enum outcome begin_telling(struct telling *telling, struct watcher *watcher, struct call *call, struct buf *out)
{
	struct str detail;

	*telling = (struct telling){ .watcher = watcher, .call = call, .out = out };
	memset(&call->request, 0, sizeof(call->request));
	call->request.method = METHOD_GET;
	call->request.target = watcher->texts[WATCH_TARGET];
	call->who = (struct principal){ .user = watcher->texts[WATCH_USER], .tenant = watcher->texts[WATCH_USER_TENANT],
		.role = (enum role)watcher->head.role, .reads_all = watcher->head.reads_all };
	call->problem = (struct problem){ .n_members = 0 };
	enum outcome outcome = uri_parse(call->pool, call->request.target, api_settings(call->config)->max_target, &call->request.uri,
		&detail);
	if (outcome == OUTCOME_OK && watcher->texts[WATCH_ACCEPT].n > 0)
		outcome = request_add_header(call->pool, &call->request, STR("accept"), watcher->texts[WATCH_ACCEPT]);
	if (outcome == OUTCOME_OK)
		outcome = route_find(call->routes, call->pool, &call->request, &call->match, &detail);
	if (outcome == OUTCOME_OK) {
		call_set_realm(call, true); // as spaces_dialect has it
		outcome = spaces_read_target(call, VERB_WATCH, &telling->target);
	}
	if (outcome == OUTCOME_OK && !uuid_eq(telling->target.definition->uid, watcher->head.definition))
		outcome = OUTCOME_GONE; // the type of that name is another one now
	if (outcome == OUTCOME_OK)
		outcome = selection_read(call, &telling->target, &telling->choice);
	telling->form = answer_wanted_form(call, false);
	if (outcome == OUTCOME_OK && telling->form.as == AS_TABLE)
		telling->columns = table_columns_for(call->pool, telling->target.definition,
			definition_details(call->registry, telling->target.definition, telling->target.version));
	return outcome;
}

enum outcome watcher_check_type(struct watcher *watcher, struct call *call)
{
	struct telling telling;

	return begin_telling(&telling, watcher, call, NULL);
}

// Restores the header fields with the credentials of the request, for authentication.
static enum outcome add_credentials(const struct watcher *watcher, struct call *call)
{
	struct str rest = watcher->texts[WATCH_CREDENTIALS], line;
	enum outcome outcome = OUTCOME_OK;

	while (outcome == OUTCOME_OK && str_split(&rest, '\n', &line)) {
		size_t colon = str_find(line, ':', 0);
		if (colon < line.n)
			outcome = request_add_header(call->pool, &call->request, str_part(line, 0, colon),
				str_part(line, colon + 1, line.n));
	}
	return outcome;
}

enum outcome watcher_check_user(struct watcher *watcher, struct call *call, struct auth *auth, struct db *db)
{
	struct principal who = { .role = ROLE_NONE };
	struct str detail = STR("");

	// The service that knows the credential may be away, and its answer no longer in the cache.
	if (watcher->head.expires_us != 0 && clock_now_us() >= watcher->head.expires_us)
		return OUTCOME_UNAUTHENTICATED;
	memset(&call->request, 0, sizeof(call->request));
	call->request.remote_user = watcher->texts[WATCH_REMOTE_USER];
	call->request.remote_user_secret = watcher->texts[WATCH_REMOTE_USER_SECRET];
	call->request.client_verify = watcher->texts[WATCH_CLIENT_VERIFY];
	call->request.client_certificate = watcher->texts[WATCH_CLIENT_CERTIFICATE];
	call->request.certificate_secret = watcher->texts[WATCH_CERTIFICATE_SECRET];
	enum outcome outcome = add_credentials(watcher, call);
	if (outcome == OUTCOME_OK)
		outcome = auth_identify(auth, &(struct auth_question){ .db = db, .pool = call->pool, .request = &call->request,
			.dialect = "spaces" }, &who, &detail);
	if (outcome != OUTCOME_OK)
		return outcome == OUTCOME_UNAVAILABLE ? outcome : OUTCOME_UNAUTHENTICATED;
	bool same = str_eq(who.user, watcher->texts[WATCH_USER]) && str_eq(who.tenant, watcher->texts[WATCH_USER_TENANT]) &&
		(uint32_t)who.role == watcher->head.role && who.reads_all == watcher->head.reads_all;
	return same ? OUTCOME_OK : OUTCOME_UNAUTHENTICATED;
}

// The id under which entries for the change's object stand: the resource's, or the tenant's.
static uint64_t known_id(const struct streamed_change *change)
{
	return streamed_change_is_of_tenant(change) ? change->tenant_id : change->resource.id;
}

// The object of a purged tenant: only its name is known.
static struct str tenant_object_of(const struct telling *telling, const struct streamed_change *change)
{
	struct tenant tenant = { .name = tenant_name(change), .uid = change->resource.uid, .metadata = STR("{}"),
		.changed = change->id, .created_us = change->resource.created_us };

	return tenant_object_text(telling->call, &telling->target, change->itself != NULL ? change->itself : &tenant);
}

// Does what was read belong to the tenant? If the resource was moved to another tenant, its content is now that tenant's. A
// client that is told of an earlier change, or of the move itself, must not see it.
static bool is_own_content(const struct telling *telling, const struct streamed_change *change, struct str tenant)
{
	if (streamed_change_is_of_tenant(change) || telling->watcher->head.all || change->newest)
		return true;
	return change->tenant.p != NULL && str_eq(tenant, change->tenant) &&
	       (change->resource.tenant_id == 0 || change->resource.tenant_id == change->tenant_id);
}

// The object for an event; only its names if it no longer belongs to the tenant.
static struct str object_of(const struct telling *telling, const struct streamed_change *change, struct str tenant)
{
	if (streamed_change_is_of_tenant(change))
		return tenant_object_of(telling, change);
	struct resource resource = change->resource;
	if (!is_own_content(telling, change, tenant))
		resource.meta = resource.body = STR("{}");
	struct buf text = buf_new(telling->call->pool, 1024 + resource.meta.n + resource.body.n);

	resource.tenant = tenant;
	answer_object_json(telling->call, telling->target.definition, telling->target.version, &resource, &text);
	return buf_str(&text);
}

// Where the object of the change is stored, for errors.
static struct stored_place place_of(const struct streamed_change *change)
{
	if (!streamed_change_is_of_tenant(change))
		return resource_place(&change->resource, "meta or body");
	return (struct stored_place){ .table = "tenants", .column = "metadata or object", .id = change->tenant_id };
}

static void tell(const struct telling *telling, const char *type, const struct streamed_change *change, struct str object)
{
	const struct watch_output output = { telling->call, &telling->target, telling->form, telling->columns, telling->out };

	watch_event_add(&output, type, place_of(change), object);
}

// The object as selectors saw it before the change: what the log has of it, and its names, which never change.
static struct str object_before(const struct telling *telling, const struct streamed_change *change)
{
	struct pool *pool = telling->call->pool;
	const struct stored_place place = { .table = "changes", .column = "selectable_before", .id = change->id };
	struct doc *object = stored_document(pool, place, change->before.p != NULL ? change->before : STR("{}")), *metadata;
	const struct doc *there = NULL;
	struct buf text = buf_new(pool, 256);

	(void)doc_get(object, STR("metadata"), &there);
	metadata = there != NULL ? doc_copy(pool, there) : doc_new_object(pool);
	doc_set_str(pool, metadata, "name", streamed_change_is_of_tenant(change) ? tenant_name(change) : change->resource.name);
	if (!streamed_change_is_of_tenant(change) && change->resource.space.n > 0)
		doc_set_str(pool, metadata, "namespace", change->resource.space);
	doc_set(object, STR("metadata"), metadata);
	doc_write_json(object, &text);
	return buf_str(&text);
}

// *had: did the client have the object before the change? comes: the change brought the object to the watched space. OUTCOME_OK;
// _GONE: this is not known.
static enum outcome find_had(const struct telling *telling, const struct streamed_change *change, bool comes, bool *had)
{
	const struct watcher *watcher = telling->watcher;
	const struct known *known = find_known(watcher, known_id(change));

	*had = !comes;
	if (known != NULL && (watcher->head.selective || comes))
		*had = known->state == KNOWN_CHOSEN;
	if (known != NULL || comes || !watcher->head.selective)
		return OUTCOME_OK;
	if (watcher->head.varying && (!change->asks_before || change->before.p == NULL))
		return OUTCOME_GONE;
	*had = selection_matches(&telling->choice, telling->call->pool, STORED_NEW, object_before(telling, change));
	return OUTCOME_OK;
}

// Notes whether the client has the object after this change. No entry is needed if the client does not have the object and the
// change is the object's newest: at the next change the log tells what selectors saw before it.
static void keep_known(struct watcher *watcher, const struct streamed_change *change, bool has)
{
	struct known *known = find_known(watcher, known_id(change));
	bool kept = has || !change->newest;

	if (known != NULL && kept)
		known->state = has ? KNOWN_CHOSEN : KNOWN_ABSENT;
	else if (known != NULL)
		forget_known(watcher, known);
	else if (kept)
		add_known(watcher, known_id(change), has ? KNOWN_CHOSEN : KNOWN_ABSENT);
}

// Adds the event of a change after which the object exists. comes: the change brought the object to the watched space.
// OUTCOME_OK; _GONE as find_had().
static enum outcome tell_present(const struct telling *telling, const struct streamed_change *change, bool comes)
{
	struct watcher *watcher = telling->watcher;
	struct str object = object_of(telling, change, change->tenant);
	bool had, has;
	enum outcome outcome = find_had(telling, change, comes, &had);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!is_own_content(telling, change, change->tenant)) {
		// The object left the tenant by a later change, whose event will follow.
		if (watcher->head.varying)
			keep_known(watcher, change, had);
		return OUTCOME_OK;
	}
	has = !watcher->head.selective || selection_matches(&telling->choice, telling->call->pool, place_of(change), object);
	if (has)
		tell(telling, had ? "MODIFIED" : "ADDED", change, object);
	else if (had)
		tell(telling, "DELETED", change, object);
	if (watcher->head.varying)
		keep_known(watcher, change, has);
	return OUTCOME_OK;
}

// Adds the event DELETED if the client had the object, which is no longer in that tenant.
static enum outcome tell_absent(const struct telling *telling, const struct streamed_change *change, struct str tenant)
{
	struct watcher *watcher = telling->watcher;
	struct known *known;
	bool had;
	enum outcome outcome = find_had(telling, change, false, &had);

	if (outcome == OUTCOME_OK && had)
		tell(telling, "DELETED", change, object_of(telling, change, tenant));
	known = find_known(watcher, known_id(change));
	if (known != NULL)
		forget_known(watcher, known);
	return outcome;
}

// Adds the event of a change of an object that is in a space the watch covers.
static enum outcome tell_there(const struct telling *telling, const struct streamed_change *change)
{
	if (str_eq(change->verb, STR("deleted")))
		return tell_absent(telling, change, change->tenant);
	return tell_present(telling, change, !str_eq(change->verb, STR("updated")));
}

enum outcome watcher_add_events(struct watcher *watcher, struct call *call, const struct streamed_change *change, struct buf *out)
{
	struct telling telling;
	bool moved = is_move(change);
	enum outcome outcome = begin_telling(&telling, watcher, call, out);

	if (outcome != OUTCOME_OK)
		return outcome;
	// A move between two watched spaces gives two events.
	if (moved && is_in(watcher, change->from))
		outcome = tell_absent(&telling, change, change->from);
	if (outcome == OUTCOME_OK && (streamed_change_is_of_tenant(change) || is_in(watcher, change->tenant)))
		outcome = tell_there(&telling, change);
	return outcome;
}

enum outcome watcher_add_bookmark(struct watcher *watcher, struct call *call, struct buf *out)
{
	struct telling telling;
	enum outcome outcome = begin_telling(&telling, watcher, call, out);

	const struct watch_output output = { call, &telling.target, telling.form, telling.columns, out };

	if (outcome == OUTCOME_OK)
		watch_bookmark_add(&output, watcher->head.position);
	return outcome;
}
