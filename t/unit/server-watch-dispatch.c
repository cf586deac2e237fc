// SPDX-License-Identifier: Apache-2.0
// However many changes there are at a time, a round of the watch process ends soon, so that connections and signals do not wait;
// the next rounds go on with them, in order, and clients that are behind get on meanwhile.
#include "base/base.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/spaces/watch/watcher.h"
#include "base/budget.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/cache/coherence.h"
#include "registry/log/horizon.h"
#include "registry/registry.h"
#include "server/request/limits_internal.h"
#include "server/setup/setup.h"
#include "server/watch/client.h"
#include "server/watch/dispatch.h"
#include "tap.h"

#include "logged.h"

// PAGE_MS: what a page of changes takes. All of them take ten times as long as a round may.
enum { PAGE_MS = 10, PAGE = 500, PAGES = 100, BEGIN = 1000000, BEHIND = 2000, LOOKS_MAX = 10, TENANTS = 60 };

struct watcher {
	uint64_t position;
	char tenant[16];
	unsigned asked; // how often its tenant was looked at
};

static struct watcher at_front = { .position = BEGIN, .tenant = "acme" }, behind = { .position = BEGIN - BEHIND, .tenant = "acme" };
static struct watcher others[TENANTS];
static unsigned n_asked; // how many of these were looked at

// ---- in the place of the database

static uint64_t the_horizon = BEGIN, the_settled = BEGIN;
static unsigned n_pages, n_pages_behind;
static uint64_t read_upto = BEGIN;
static bool in_order = true;
static struct change_range looks[LOOKS_MAX];
static unsigned n_looks;
static bool wanted;  // by all watches, every change
static bool starved; // the system has no memory for contents

enum outcome registry_begin(struct registry *registry, struct pool *pool, const struct uuid *request_id, struct str actor,
	struct problem *problem)
{
	UNUSED(request_id);
	UNUSED(actor);
	UNUSED(problem);
	registry->pool = pool;
	return OUTCOME_OK;
}

void coherence_invalidate(struct registry *registry)
{
	UNUSED(registry);
}

enum outcome horizon_ask(struct registry *registry, uint64_t *horizon, uint64_t *newest)
{
	UNUSED(registry);
	UNUSED(newest);
	*horizon = the_horizon;
	return OUTCOME_OK;
}

enum outcome horizon_publish(struct registry *registry)
{
	UNUSED(registry);
	return OUTCOME_OK;
}

enum outcome horizon_of_two(struct registry *registry, const uint64_t tenants[2], uint64_t after, uint64_t *horizon, bool *all)
{
	UNUSED(registry);
	UNUSED(tenants);
	*horizon = after;
	*all = true;
	return OUTCOME_OK;
}

uint64_t horizon_settled(const struct registry *registry)
{
	UNUSED(registry);
	return the_settled;
}

bool horizon_is_asking(const struct registry *registry)
{
	UNUSED(registry);
	return false;
}

// A log without gaps. Pages that are read for the first time have to follow each other.
enum outcome change_stream_read(struct registry *registry, struct change_range range, struct streamed_change **list, size_t *n)
{
	uint64_t left = range.up_to - range.after;

	*n = (size_t)(left < range.limit ? left : range.limit);
	*list = POOL_ARRAY(registry->pool, struct streamed_change, *n);
	for (size_t i = 0; i < *n; i++)
		(*list)[i] = (struct streamed_change){ .id = range.after + 1 + i, .tenant_id = 1, .resource.id = 1 };
	clock_pause_ms(PAGE_MS);
	if (range.after < read_upto) {
		n_pages_behind++;
		return OUTCOME_OK;
	}
	in_order = in_order && range.after == read_upto;
	read_upto = range.after + *n;
	n_pages++;
	return OUTCOME_OK;
}

enum outcome change_stream_read_of(struct registry *registry, const uint64_t tenants[2], struct change_range range,
	struct streamed_change **list, size_t *n)
{
	UNUSED(tenants);
	return change_stream_read(registry, range, list, n);
}

enum outcome change_stream_tenants(struct registry *registry, uint64_t after, uint64_t up_to, uint64_t **ids, size_t *n)
{
	UNUSED(registry);
	UNUSED(ids);
	*n = 0;
	if (n_looks < LOOKS_MAX)
		looks[n_looks++] = (struct change_range){ .after = after, .up_to = up_to };
	return OUTCOME_OK;
}

enum outcome change_stream_tenant(struct registry *registry, struct str name, uint64_t *id)
{
	UNUSED(registry);
	for (size_t i = 0; i < TENANTS; i++) {
		if (!str_eq_c(name, others[i].tenant))
			continue;
		n_asked += others[i].asked++ == 0;
		clock_pause_ms(PAGE_MS);
	}
	*id = 1;
	return OUTCOME_OK;
}

enum outcome change_stream_contents(struct registry *registry, struct streamed_change *const *list, size_t n)
{
	UNUSED(registry);
	UNUSED(list);
	UNUSED(n);
	if (starved)
		budget_leave_if_starved();
	return OUTCOME_OK;
}

// ---- watches that want none of the changes, if not said otherwise

struct watcher *watcher_new(struct str order)
{
	UNUSED(order);
	return NULL;
}

void watcher_free(struct watcher **watcher)
{
	*watcher = NULL;
}

struct str watcher_tenant(const struct watcher *watcher)
{
	return str_c(watcher->tenant);
}

struct str watcher_user_tenant(const struct watcher *watcher)
{
	return watcher_tenant(watcher);
}

uint64_t watcher_position(const struct watcher *watcher)
{
	return watcher->position;
}

void watcher_advance(struct watcher *watcher, uint64_t position)
{
	if (position > watcher->position)
		watcher->position = position;
}

unsigned watcher_seconds(const struct watcher *watcher)
{
	UNUSED(watcher);
	return 300;
}

bool watcher_wants(const struct watcher *watcher, const struct streamed_change *change)
{
	UNUSED(watcher);
	UNUSED(change);
	return wanted;
}

bool watcher_needs_state_before(const struct watcher *watcher, const struct streamed_change *change)
{
	UNUSED(watcher);
	UNUSED(change);
	return false;
}

bool watcher_is_invalidated(const struct watcher *watcher, const struct streamed_change *change)
{
	return watcher_needs_state_before(watcher, change);
}

bool watcher_may_change_definition(const struct watcher *watcher, const struct streamed_change *change)
{
	return watcher_needs_state_before(watcher, change);
}

enum outcome watcher_check_type(struct watcher *watcher, struct call *call)
{
	UNUSED(watcher);
	UNUSED(call);
	return OUTCOME_OK;
}

enum outcome watcher_add_events(struct watcher *watcher, struct call *call, const struct streamed_change *change, struct buf *out)
{
	UNUSED(change);
	UNUSED(out);
	return watcher_check_type(watcher, call);
}

void watch_add_expired(struct buf *out)
{
	UNUSED(out);
}

void watch_add_too_costly(struct buf *out)
{
	UNUSED(out);
}

void watch_add_broken(struct buf *out)
{
	UNUSED(out);
}

// ---- rounds

static struct watch_client list[2 + TENANTS];
static int ends[2 + TENANTS][2];

static void open_client(struct watch_clients *clients, int i, struct watcher *watcher)
{
	struct watch_client *client = &list[i];
	struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP, .data.ptr = client };

	*client = (struct watch_client){ .watcher = watcher, .interest = event.events, .next = clients->first };
	ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]) == 0 && epoll_ctl(clients->epoll_fd, EPOLL_CTL_ADD, ends[i][0], &event) == 0, "a client");
	stream_open(&client->stream, ends[i][0], 1);
	clients->first = client;
	clients->n++;
}

static void test_front(struct watch_dispatcher *dispatcher)
{
	unsigned n_rounds = 1;

	ok(watch_dispatch_round(dispatcher) >= 0, "the first round begins at the horizon");
	behind.position = BEGIN - BEHIND;
	n_pages = n_pages_behind = 0;
	the_horizon = the_settled = BEGIN + PAGES * PAGE;
	is_int(watch_dispatch_round(dispatcher), 0, "a large transaction commits: one round follows the other at once");
	ok(n_pages > 0 && n_pages < PAGES / 2, "the first has %u pages of %d", n_pages, PAGES);
	is_int((int64_t)at_front.position, (int64_t)read_upto, "its client got as far");
	is_int((int64_t)behind.position, BEGIN - BEHIND + PAGE, "one that is behind gets on as well");
	while (watch_dispatch_round(dispatcher) == 0 && n_rounds < 2 * PAGES)
		n_rounds++;
	ok(n_rounds < 2 * PAGES, "after %u rounds nothing is left", n_rounds);
	ok(in_order && n_pages == PAGES, "each page came once, in order");
	is_int((int64_t)at_front.position, (int64_t)the_horizon, "the client got all");
	is_int((int64_t)behind.position, (int64_t)the_horizon, "so did the other one");
}

static void test_ahead(struct watch_dispatcher *dispatcher)
{
	uint64_t front = the_horizon;

	the_settled = front + 250000;
	for (int i = 0; i < LOOKS_MAX && watch_dispatch_round(dispatcher) == 0; i++)
		;
	is_int(n_looks, 3, "three looks at whose changes a large transaction in flight has");
	for (unsigned i = 0; i < n_looks; i++) {
		is_int((int64_t)looks[i].after, (int64_t)(i == 0 ? front : looks[i - 1].up_to), "each begins where the one before ended");
		ok(looks[i].up_to - looks[i].after <= 100000, "and is bounded");
	}
	is_int((int64_t)looks[2].up_to, (int64_t)the_settled, "up to the last change in flight");
}

// Of very many tenants each round looks at some, and the next ones at the rest.
static void test_many_ahead(struct watch_dispatcher *dispatcher)
{
	unsigned n_rounds = 0, n_looking = 0, most = 0;

	for (int i = 0; i < TENANTS; i++) {
		others[i].position = dispatcher->front;
		(void)snprintf(others[i].tenant, sizeof(others[i].tenant), "t%d", i);
		open_client(dispatcher->clients, 2 + i, &others[i]);
		list[2 + i].news = true;
	}
	for (; n_asked < TENANTS && n_rounds < 2 * TENANTS; n_rounds++) {
		unsigned before = n_asked;
		int pause_ms = watch_dispatch_round(dispatcher);
		n_looking += n_asked > before;
		most = others[0].asked > most ? others[0].asked : most;
		if (n_asked > 0 && n_asked < TENANTS)
			is_int(pause_ms, 0, "%u of %d tenants were looked at: the next round goes on at once", n_asked, TENANTS);
		clock_pause_ms((unsigned)pause_ms);
	}
	ok(n_looking > 2, "they are looked at in more rounds than two: %u", n_looking);
	is_int(n_asked, TENANTS, "all were looked at");
	is_int(most, 1, "each once");
}

static void starve(void *unused)
{
	UNUSED(unused);
	budget_leave_if_starved();
}

// However few changes are read at a time, the system has no memory for them.
static void test_starved(struct watch_dispatcher *dispatcher)
{
	uint64_t front = the_horizon;

	the_horizon = the_settled = front + 10;
	wanted = starved = true;
	logged_begin();
	is_int(watch_dispatch_round(dispatcher), -1, "without memory for changes a round fails");
	is_int((int64_t)logged_end_count("watches: the system has no memory for changes"), 1, "the log says why, once");
	is_int((int64_t)at_front.position, (int64_t)front, "no change is passed over");
	ok(!list[0].gone, "the watch is open still");
	wanted = starved = false;
	while (watch_dispatch_round(dispatcher) == 0)
		;
	is_int((int64_t)at_front.position, (int64_t)the_horizon, "a later round sends them");
	logged_begin();
	ok(!watch_within_budget(dispatcher, &list[0], starve, NULL), "without memory for an event");
	is_int((int64_t)logged_end_count("watches: the system has no memory for an event for tenant \"acme\""), 1, "the log says so");
	ok(list[0].gone && !list[0].stream.ended, "the watch is closed without a last word: its client asks again from where it was");
}

int main(void)
{
	struct limits limits = { .shared = NULL };
	struct watch_clients clients = { .epoll_fd = epoll_create1(EPOLL_CLOEXEC), .limits = &limits };
	const struct setup setup = { .config = NULL };
	struct call call = { .pool = NULL };
	struct watch_dispatcher dispatcher = { .setup = &setup, .clients = &clients, .pool = pool_new(), .call = &call };

	open_client(&clients, 0, &at_front);
	open_client(&clients, 1, &behind);
	test_front(&dispatcher);
	test_ahead(&dispatcher);
	test_many_ahead(&dispatcher);
	test_starved(&dispatcher);
	for (int i = 0; i < 2 + TENANTS; i++) {
		stream_close(&list[i].stream);
		close(ends[i][1]);
	}
	pool_free(&dispatcher.pool);
	close(clients.epoll_fd);
	return done_testing();
}
