// SPDX-License-Identifier: Apache-2.0
// Each page of the change log is read once for all clients that have been sent everything up to the same change, the front. A
// client that resumes from an earlier change, or could not take all events, is behind the front; it is served page by page, in
// turn with the others. If a large transaction, such as a move of many resources, holds the front up, clients that watch a tenant
// not concerned by it are served ahead of the front. Events are only made while there is room for them, so none is ever dropped.
#include "base/base.h"

#include "registry/core/settings.h"
#include "server/watch/dispatch.h"

#include "api/spaces/watch/watcher.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/cache/coherence.h"
#include "registry/log/horizon.h"
#include "registry/registry.h"
#include "registry/trait/catalogue.h"
#include "registry/watch/change_stream.h"
#include "server/setup/setup.h"
#include "server/watch/client.h"

enum {
	ROUND_MS = 100,               // between two reads of the change log
	SOON_MS = 10,                 // the same while the horizon waits for other connections' statements
	AHEAD_MS = 200,               // between two reads ahead of the front
	SLICE_MS = 100,               // a round begins no further page of the same clients after so long: connections and signals wait meanwhile
	PAGE = 500,                   // changes read at a time
	LOOK = 100000,                // ids above the front in which is looked at a time whose changes they are
	EVENT_PER_BODY = 4,           // bytes of an event for each byte of max_body: the object, and a table's cells of it
};

struct call *watch_call(struct watch_dispatcher *dispatcher)
{
	struct call *call = dispatcher->call;

	call->pool = call->scratch = dispatcher->pool;
	call->config = dispatcher->setup->config;
	call->endpoint = dispatcher->setup->endpoint;
	call->routes = dispatcher->setup->routes;
	return call;
}

// Ends the client's watch with 410: it has to list again.
static void expire(struct watch_dispatcher *dispatcher, struct watch_client *client)
{
	watch_client_end_with_event(dispatcher->pool, client, watch_add_expired);
}

static void expire_all(struct watch_dispatcher *dispatcher)
{
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next)
		expire(dispatcher, client);
}

bool watch_within_budget(struct watch_dispatcher *dispatcher, struct watch_client *client, void (*fn)(void *arg), void *arg)
{
	struct pool_mark mark = pool_mark(dispatcher->pool);
	int64_t begun_us = clock_cpu_us();
	size_t waiting = stream_waiting(&client->stream);

	budget_grant(WATCH_EVENT_MEMORY, WATCH_EVENT_CPU_US);
	enum budget_end end = budget_guard(fn, arg);
	budget_end();
	// fn may have been left in the middle, with another pool set.
	dispatcher->call->registry->pool = dispatcher->pool;
	pool_rewind(dispatcher->pool, mark);
	if (end == BUDGET_BROKEN) { // already logged
		watch_client_end_with_event(dispatcher->pool, client, watch_add_broken);
	} else if (end == BUDGET_STARVED) {
		struct str tenant = watcher_user_tenant(client->watcher);
		log_error("watches: the system has no memory for an event for tenant \"%.*s\": its watch is closed", STR_ARG(tenant));
		client->gone = true; // it asks again from where it was: nothing is wrong with what it watches
	} else if (end != BUDGET_KEPT) {
		struct str tenant = watcher_user_tenant(client->watcher);
		log_warning("watches: an event for tenant \"%.*s\" took more %s than one is granted: its watch is ended",
			STR_ARG(tenant), end == BUDGET_TIME ? "CPU time" : "memory");
		watch_client_end_with_event(dispatcher->pool, client, watch_add_too_costly);
	}
	watch_shares_note(&dispatcher->shares, dispatcher->clients, client, clock_cpu_us() - begun_us,
		stream_waiting(&client->stream) > waiting ? stream_waiting(&client->stream) - waiting : 0);
	return end == BUDGET_KEPT;
}

// Arguments of make_event(), which runs within a budget.
struct event {
	struct watch_dispatcher *dispatcher;
	struct watch_client *client;
	const struct streamed_change *change;
	enum outcome outcome;
};

// Makes the event and adds it to the client's stream. If it is larger than an event of any object can be, the budget's error ends
// the watch instead.
static void make_event(void *arg)
{
	struct event *event = arg;
	struct watch_dispatcher *dispatcher = event->dispatcher;
	struct buf text = buf_new(dispatcher->pool, 2048);

	event->outcome = watcher_add_events(event->client->watcher, watch_call(dispatcher), event->change, &text);
	if (event->outcome == OUTCOME_OK && text.n > EVENT_PER_BODY * registry_settings(dispatcher->setup->config)->max_body)
		budget_leave(BUDGET_MEMORY);
	if (event->outcome == OUTCOME_OK)
		watch_client_add(event->client, &text);
}

// Sends one change to one client. False: the database can't be reached.
static bool send_event(struct watch_dispatcher *dispatcher, struct watch_client *client, const struct streamed_change *change)
{
	struct event event = { dispatcher, client, change, OUTCOME_OK };

	if (watch_within_budget(dispatcher, client, make_event, &event) && event.outcome == OUTCOME_UNAVAILABLE)
		return false;
	if (event.outcome != OUTCOME_OK || watcher_is_invalidated(client->watcher, change))
		expire(dispatcher, client);
	client->slow = watch_client_is_slow(client);
	client->unsafe = true;
	watcher_advance(client->watcher, change->id);
	return true;
}

// Is the client at change id `after`, has it room for more, and is its tenant served now?
static bool is_served_from(const struct watch_dispatcher *dispatcher, const struct watch_client *client, uint64_t after)
{
	if (dispatcher->only.p != NULL && !str_eq(watcher_tenant(client->watcher), dispatcher->only))
		return false;
	return !client->gone && !client->stream.ended && !client->slow && watcher_position(client->watcher) >= after;
}

// Is the client served from `after` on, and was it not sent this change yet?
static bool is_new_to(const struct watch_dispatcher *dispatcher, const struct watch_client *client, uint64_t after,
	const struct streamed_change *change)
{
	return is_served_from(dispatcher, client, after) && watcher_position(client->watcher) < change->id;
}

// Does any client at `after` want this change? Also notes whether one of them has to know what selectors saw before the change.
static bool is_wanted(const struct watch_dispatcher *dispatcher, uint64_t after, struct streamed_change *change)
{
	bool wanted = false;

	change->asks_before = false;
	for (const struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (!is_new_to(dispatcher, client, after, change) || !watcher_wants(client->watcher, change))
			continue;
		wanted = true;
		change->asks_before = change->asks_before || watcher_needs_state_before(client->watcher, change);
	}
	return wanted;
}

// Arguments of read_contents(), which runs within a budget.
struct contents {
	struct watch_dispatcher *dispatcher;
	struct streamed_change **batch;
	size_t n;
	enum outcome outcome;
};

static void read_contents(void *arg)
{
	struct contents *contents = arg;

	contents->outcome = change_stream_contents(contents->dispatcher->call->registry, contents->batch, contents->n);
}

// The contents of the change can't be read: ends the watches of clients that would have got it.
static void end_broken(struct watch_dispatcher *dispatcher, uint64_t after, const struct streamed_change *change)
{
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (is_new_to(dispatcher, client, after, change) && watcher_wants(client->watcher, change))
			watch_client_end_with_event(dispatcher->pool, client, watch_add_broken);
	}
}

// Reads the contents of n changes in one round trip, and sends each to the clients that want it. If the contents exceed the
// memory granted, halves the batch; a single change is read without limit. False: the database can't be reached, or the system
// has no memory.
static bool send_batch(struct watch_dispatcher *dispatcher, uint64_t after, struct streamed_change **batch, size_t n)
{
	struct pool_mark mark = pool_mark(dispatcher->pool);

	if (n == 0)
		return true;
	struct contents contents = { dispatcher, batch, n, OUTCOME_OK };
	budget_grant(n > 1 ? WATCH_CONTENTS_MEMORY : 0, 0);
	enum budget_end end = budget_guard(read_contents, &contents);
	budget_end();
	if (end == BUDGET_BROKEN && n == 1) {
		pool_rewind(dispatcher->pool, mark);
		end_broken(dispatcher, after, batch[0]);
		return true;
	}
	if (end == BUDGET_STARVED) {
		log_error("watches: the system has no memory for changes: they are read again");
		return false;
	}
	if (end != BUDGET_KEPT) { // they are too large together, or one can't be read: try fewer at a time
		assert(n > 1);
		pool_rewind(dispatcher->pool, mark);
		return send_batch(dispatcher, after, batch, n / 2) && send_batch(dispatcher, after, batch + n / 2, n - n / 2);
	}
	if (contents.outcome != OUTCOME_OK)
		return false;
	for (size_t i = 0; i < n; i++) {
		for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
			if (!is_new_to(dispatcher, client, after, batch[i]) || !watcher_wants(client->watcher, batch[i]))
				continue;
			if (!watch_shares_allow(&dispatcher->shares, client))
				client->slow = true; // a later round continues with it
			else if (!send_event(dispatcher, client, batch[i]))
				return false;
		}
	}
	pool_rewind(dispatcher->pool, mark);
	return true;
}

// Ends the watches of clients for which this change, which has no contents, invalidates everything they know.
static void end_invalidated(struct watch_dispatcher *dispatcher, uint64_t after, const struct streamed_change *change)
{
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (is_new_to(dispatcher, client, after, change) && watcher_is_invalidated(client->watcher, change))
			expire(dispatcher, client);
	}
}

// May this change alter which definition applies to a type that a client watches?
static bool is_of_types(const struct watch_dispatcher *dispatcher, const struct streamed_change *change)
{
	for (const struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (watcher_may_change_definition(client->watcher, change))
			return true;
	}
	return false;
}

struct type_check {
	struct watch_dispatcher *dispatcher;
	struct watch_client *client;
	enum outcome outcome;
};

static void check_type(void *arg)
{
	struct type_check *check = arg;

	check->outcome = watcher_check_type(check->client->watcher, watch_call(check->dispatcher));
}

// Called before any newer change is sent: ends watches whose definition has changed. False: the database can't be reached.
static bool check_types(struct watch_dispatcher *dispatcher, const struct streamed_change *change)
{
	coherence_invalidate(dispatcher->call->registry);
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		struct type_check check = { dispatcher, client, OUTCOME_OK };
		if (client->gone || client->stream.ended || !watcher_may_change_definition(client->watcher, change))
			continue;
		if (watch_within_budget(dispatcher, client, check_type, &check) && check.outcome == OUTCOME_UNAVAILABLE)
			return false;
		if (check.outcome != OUTCOME_OK)
			expire(dispatcher, client);
	}
	return true;
}

// Sends a page of n changes, in order, to the clients at `after`. Changes are collected into batches. Before a change of a
// definition is passed, the batch is sent and the watched types are checked.
static bool send_page(struct watch_dispatcher *dispatcher, uint64_t after, struct streamed_change *list, size_t n)
{
	struct streamed_change *batch[DB_MAX_BATCH];
	size_t waiting = 0;

	for (size_t i = 0; i < n; i++) {
		bool of_types = is_of_types(dispatcher, &list[i]);
		if (is_wanted(dispatcher, after, &list[i]))
			batch[waiting++] = &list[i];
		if (waiting < DB_MAX_BATCH && list[i].resource.id != 0 && !of_types)
			continue;
		if (!send_batch(dispatcher, after, batch, waiting))
			return false;
		waiting = 0;
		if (list[i].resource.id == 0)
			end_invalidated(dispatcher, after, &list[i]);
		if (of_types && !check_types(dispatcher, &list[i]))
			return false;
	}
	return send_batch(dispatcher, after, batch, waiting);
}

// The database failed before the changes sent last were known to be durable. Closes the clients that have such changes in their
// streams: after a crash the server may never have had them.
static void drop_undurable(struct watch_dispatcher *dispatcher)
{
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next)
		client->gone = client->gone || client->unsafe;
}

static bool is_any_unsafe(const struct watch_dispatcher *dispatcher)
{
	for (const struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (client->unsafe && !client->gone)
			return true;
	}
	return false;
}

// Makes everything durable that was read so far. No event leaves the process before this. False: the database can't be reached.
static bool make_durable(struct watch_dispatcher *dispatcher)
{
	if (horizon_publish(dispatcher->call->registry) != OUTCOME_OK)
		return false;
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next)
		client->unsafe = false;
	return true;
}

// All changes up to `reached` have been sent, and are durable: moves the clients at `after` there.
static void advance(struct watch_dispatcher *dispatcher, uint64_t after, uint64_t reached)
{
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (is_served_from(dispatcher, client, after))
			watcher_advance(client->watcher, reached);
		watch_client_write(dispatcher->clients, client);
	}
}

// Sends one page of changes to all clients that are at `after`. *reached: the last change id of the page. A page below the front
// has only durable changes, but may show newer contents. False: the database can't be reached.
static bool serve_page(struct watch_dispatcher *dispatcher, uint64_t after, uint64_t up_to, uint64_t *reached)
{
	struct streamed_change *list;
	size_t n;
	const struct change_range range = { .after = after, .up_to = up_to, .limit = PAGE };

	if (change_stream_read(dispatcher->call->registry, range, &list, &n) != OUTCOME_OK)
		return false;
	*reached = n < PAGE ? up_to : list[n - 1].id;
	if (!send_page(dispatcher, after, list, n))
		return false;
	if ((after == dispatcher->front || is_any_unsafe(dispatcher)) && !make_durable(dispatcher))
		return false;
	advance(dispatcher, after, *reached);
	return true;
}

// ---- the rounds

// Frees the memory of the last page and begins a reading without a user or a request id. False: the database can't be reached.
static bool begin_round(struct watch_dispatcher *dispatcher)
{
	const struct uuid none = { 0 };

	pool_clear(dispatcher->pool);
	return registry_begin(dispatcher->call->registry, dispatcher->pool, &none, STR(""), &dispatcher->call->problem) == OUTCOME_OK;
}

// Starts the front at the horizon: in the first round, or after the database was replaced by another one.
static bool begin_front(struct watch_dispatcher *dispatcher, uint64_t horizon)
{
	if (!make_durable(dispatcher))
		return false;
	if (horizon < dispatcher->front)
		expire_all(dispatcher);
	dispatcher->front = dispatcher->looked = horizon;
	dispatcher->system_id = 0;
	return true;
}

// Is the time over that this round has for pages?
static bool is_slice_over(const struct watch_dispatcher *dispatcher)
{
	return clock_tick_us() >= dispatcher->slice_us;
}

// Finds the horizon, and sends the changes up to it to the clients at the front: one page at least. *more: there are more.
static bool serve_front(struct watch_dispatcher *dispatcher, bool *more)
{
	uint64_t horizon, reached;

	if (horizon_ask(dispatcher->call->registry, &horizon, NULL) != OUTCOME_OK)
		return false;
	if ((dispatcher->front == 0 || horizon < dispatcher->front) && !begin_front(dispatcher, horizon))
		return false;
	for (bool over = false; dispatcher->front < horizon && !over; over = is_slice_over(dispatcher)) {
		if (!begin_round(dispatcher) || !serve_page(dispatcher, dispatcher->front, horizon, &reached))
			return false;
		dispatcher->front = reached;
	}
	*more = dispatcher->front < horizon;
	return true;
}

// ---- ahead of the front

// Has the client got everything up to the front, and does it watch only one tenant, so that it can be served ahead of it?
static bool is_at_front(const struct watch_dispatcher *dispatcher, const struct watch_client *client)
{
	return is_served_from(dispatcher, client, dispatcher->front) && watcher_tenant(client->watcher).p != NULL;
}

// Marks the clients whose tenants have changes up to that id, committed or not. Gets LOOK ids further at most.
static bool find_news(struct watch_dispatcher *dispatcher, uint64_t settled)
{
	uint64_t *ids, up_to = settled - dispatcher->looked > LOOK ? dispatcher->looked + LOOK : settled;
	size_t n;

	if (change_stream_tenants(dispatcher->call->registry, dispatcher->looked, up_to, &ids, &n) != OUTCOME_OK)
		return false;
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		for (size_t i = 0; i < n && !client->news; i++)
			client->news = ids[i] == client->tenant_id;
	}
	dispatcher->looked = up_to;
	return true;
}

// Sends pages of the changes of two tenants to the watches of dispatcher->only: one at least, and all if there is time.
static bool serve_pages_of(struct watch_dispatcher *dispatcher, const uint64_t tenants[2], uint64_t after, uint64_t up_to)
{
	for (bool over = false; after < up_to && !over; over = is_slice_over(dispatcher)) {
		struct streamed_change *list;
		size_t n;
		const struct change_range range = { .after = after, .up_to = up_to, .limit = PAGE };
		if (!begin_round(dispatcher) || change_stream_read_of(dispatcher->call->registry, tenants, range, &list, &n) != OUTCOME_OK ||
			!send_page(dispatcher, after, list, n) || !make_durable(dispatcher))
			return false;
		uint64_t reached = n < PAGE ? up_to : list[n - 1].id;
		advance(dispatcher, after, reached);
		after = reached;
	}
	return true;
}

// The least position of the clients served now. A client that watches an earlier tenant of the same name has to list again.
static uint64_t least_position(struct watch_dispatcher *dispatcher, uint64_t tenant_id)
{
	uint64_t least = UINT64_MAX;

	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (!is_at_front(dispatcher, client))
			continue;
		if (client->tenant_id != 0 && client->tenant_id != tenant_id) {
			expire(dispatcher, client);
			continue;
		}
		client->tenant_id = tenant_id;
		if (watcher_position(client->watcher) < least)
			least = watcher_position(client->watcher);
	}
	return least;
}

// Serves all clients of that tenant that are at the front.
static bool serve_tenant(struct watch_dispatcher *dispatcher, struct str tenant)
{
	uint64_t tenants[2] = { 0, dispatcher->system_id }, horizon, after;
	bool all;

	dispatcher->only = tenant;
	if (!begin_round(dispatcher) || change_stream_tenant(dispatcher->call->registry, tenant, &tenants[0]) != OUTCOME_OK)
		return false;
	if (tenants[0] == 0) // the tenant does not exist yet; clients see its creation at the front
		return true;
	after = least_position(dispatcher, tenants[0]);
	if (horizon_of_two(dispatcher->call->registry, tenants, after, &horizon, &all) != OUTCOME_OK ||
		!serve_pages_of(dispatcher, tenants, after, horizon))
		return false;
	// If the tenant itself has changes in flight, or more than were read, it is looked at again.
	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (client->tenant_id == tenants[0] && all && watcher_position(client->watcher) >= horizon)
			client->news = client->due = false;
	}
	return true;
}

// Serves the tenants whose clients are due: one at least, and all if there is time. *more: there was not.
static bool serve_due(struct watch_dispatcher *dispatcher, bool *more)
{
	bool served = false;

	for (struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (!client->due || !is_at_front(dispatcher, client))
			continue;
		*more = served && is_slice_over(dispatcher);
		if (*more)
			return true;
		client->due = false;
		served = true;
		bool well = serve_tenant(dispatcher, watcher_tenant(client->watcher));
		dispatcher->only = STR_NONE;
		if (!well)
			return false;
	}
	return true;
}

static bool is_any_due(const struct watch_dispatcher *dispatcher)
{
	const struct watch_client *client = dispatcher->clients->first;

	while (client != NULL && !(client->due && is_at_front(dispatcher, client)))
		client = client->next;
	return client != NULL;
}

// Serves clients ahead of the front, tenant by tenant, if a large transaction holds the horizon up. *more: there are more ids to
// look for their changes in, which comes first, or more tenants. A look that ran out of time goes on where it ended, so no tenant
// waits for ever.
static bool serve_ahead(struct watch_dispatcher *dispatcher, bool *more)
{
	uint64_t settled = horizon_settled(dispatcher->call->registry);

	if (settled <= dispatcher->front || clock_tick_us() < dispatcher->ahead_us)
		return true;
	// settled goes back when the connection was lost: ids above it may be given again.
	if (dispatcher->looked < dispatcher->front || dispatcher->looked > settled)
		dispatcher->looked = dispatcher->front;
	if (!begin_round(dispatcher) || (settled > dispatcher->looked && !find_news(dispatcher, settled)) ||
		(dispatcher->system_id == 0 && change_stream_tenant(dispatcher->call->registry, STR(TENANT_SYSTEM),
		&dispatcher->system_id) != OUTCOME_OK))
		return false;
	*more = dispatcher->looked < settled;
	if (*more)
		return true;
	bool goes_on = is_any_due(dispatcher);
	for (struct watch_client *client = dispatcher->clients->first; client != NULL && !goes_on; client = client->next)
		client->due = client->news;
	if (!serve_due(dispatcher, more))
		return false;
	if (!*more)
		dispatcher->ahead_us = clock_tick_us() + AHEAD_MS * 1000;
	return true;
}

// Serves the clients behind the front. *more: one of them is still behind, and has room for more.
static bool serve_behind(struct watch_dispatcher *dispatcher, bool *more)
{
	uint64_t first = dispatcher->front, reached;

	for (const struct watch_client *client = dispatcher->clients->first; client != NULL; client = client->next) {
		if (is_served_from(dispatcher, client, 0) && watcher_position(client->watcher) < first)
			first = watcher_position(client->watcher);
	}
	*more = first < dispatcher->front;
	return !*more || (begin_round(dispatcher) && serve_page(dispatcher, first, dispatcher->front, &reached));
}

// Serves those at the front, those ahead of it, and those behind it. Nobody is served ahead of the front while that has more to
// do. *more: the next round should go on at once.
static bool serve_all(struct watch_dispatcher *dispatcher, bool *more)
{
	bool behind = false;

	*more = false;
	if (!begin_round(dispatcher) || !serve_front(dispatcher, more) || (!*more && !serve_ahead(dispatcher, more)) ||
		!serve_behind(dispatcher, &behind))
		return false;
	*more = *more || behind;
	return true;
}

int watch_dispatch_round(struct watch_dispatcher *dispatcher)
{
	bool more;

	watch_shares_begin(&dispatcher->shares, dispatcher->clients);
	dispatcher->slice_us = clock_tick_us() + SLICE_MS * INT64_C(1000);
	if (!serve_all(dispatcher, &more)) {
		drop_undurable(dispatcher);
		return -1;
	}
	assert(!is_any_unsafe(dispatcher));
	return more ? 0 : horizon_is_asking(dispatcher->call->registry) ? SOON_MS : ROUND_MS;
}

void watch_dispatch_pause(struct watch_dispatcher *dispatcher)
{
	dispatcher->front = 0;
}
