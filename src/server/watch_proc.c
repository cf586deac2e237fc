// SPDX-License-Identifier: Apache-2.0
// One reading of the change log serves all who have seen everything up to the same change, the front. Who resumes from
// earlier, or could not take what there was, is behind it and is led there page by page, in turn with the rest. Where a
// large transaction holds the front up, as a move of many resources does, who watches a tenant that it has nothing to do
// with is led ahead of it. Events are made while there is room for them, so none has to be dropped.
#include "base/base.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "api/spaces/watcher.h"
#include "auth/auth.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/catalogue.h"
#include "registry/feed.h"
#include "registry/follow.h"
#include "server/handover.h"
#include "server/stream.h"
#include "server/watch_proc.h"
#include "server/worker.h"

enum {
	EVENTS = 64,
	ROUND_MS = 100,               // between two looks at the change log
	AWAY_MS = 1000,               // the same while the database is away
	AHEAD_MS = 500,               // between two looks at what is ahead of the front
	PAGE = 500,                   // changes read at once
	WAITING_MAX = 256 << 10,      // bytes that a client has not taken: it gets no more events until it has
	STUCK_S = 30,                 // so long without taking a byte, it is ended
	BOOKMARK_S = 10,
	ALIVE_S = 30,                 // so long without a word, an empty line shows web servers that it goes on
	CHECK_S = 15,                 // between two looks at a client's credentials
	COUNT_S = 5,                  // between two counts of what was passed
	MARK_S = 60,
};

struct client {
	struct stream stream;
	struct watcher *watcher;
	int64_t ends_us, bookmark_us, alive_us, check_us;
	bool slow;                // has to take what there is first
	bool gone;
	uint32_t interest;        // epoll's
	uint64_t tenant_id;       // 0: not known yet
	bool news;                // there may be some of its tenant, ahead of the front
	// It was told what is behind ahead_from up to ahead_to (0: nothing) before the front came there: so many changes more
	// than the front has met since; and so many of them are in the front's page.
	uint64_t ahead_from, ahead_to;
	int64_t ahead, met;
	struct client *next;
};

// So many changes were seen up to that id.
struct mark {
	uint64_t id, seen;
};

struct watch_proc {
	const struct setup *setup;
	int from, signal_fd, epoll_fd;
	struct db *db;
	struct registry *registry;
	struct auth *auth;
	struct pool *pool;
	struct call *call;
	struct client *clients;
	size_t n_clients;
	uint64_t front;           // read up to this id; 0: not begun
	uint64_t looked;          // for what is ahead of it, up to this id
	uint64_t system_id;       // the system's tenant; 0: not known yet
	struct str only;          // the tenant whose watches alone are served now; p NULL: all are
	struct mark marks[2];     // older, newer
	uint64_t seen;
	int64_t round_us, ahead_us, count_us, mark_us; // when next
	bool stop;
};

static int64_t in_seconds(int64_t seconds)
{
	return clock_tick_us() + seconds * 1000000;
}

// ---- clients

static void set_interest(struct watch_proc *proc, struct client *client)
{
	uint32_t wanted = (client->stream.ended ? 0 : EPOLLIN | EPOLLRDHUP) |
		(stream_waiting(&client->stream) > 0 ? EPOLLOUT : 0);
	struct epoll_event event = { .events = wanted, .data.ptr = client };

	if (wanted == client->interest)
		return;
	if (epoll_ctl(proc->epoll_fd, EPOLL_CTL_MOD, client->stream.fd, &event) < 0)
		client->gone = true;
	client->interest = wanted;
}

static void push(struct watch_proc *proc, struct client *client)
{
	if (client->gone)
		return;
	client->gone = !stream_write(&client->stream) || (client->stream.ended && stream_waiting(&client->stream) == 0);
	if (!client->gone)
		set_interest(proc, client);
}

static void add_text(struct client *client, const struct buf *text)
{
	if (client->gone || client->stream.ended || text->n == 0)
		return;
	client->gone = !stream_add(&client->stream, buf_str(text));
	client->alive_us = in_seconds(ALIVE_S);
}

static void end(struct watch_proc *proc, struct client *client)
{
	if (client->gone || client->stream.ended)
		return;
	client->gone = !stream_end(&client->stream);
	push(proc, client);
}

static void end_with(struct watch_proc *proc, struct client *client, void (*say)(struct buf *))
{
	struct buf text = buf_new(proc->pool, 256);

	say(&text);
	add_text(client, &text);
	end(proc, client);
}

static void end_expired(struct watch_proc *proc, struct client *client)
{
	end_with(proc, client, watch_expired);
}

static void expire_all(struct watch_proc *proc)
{
	for (struct client *client = proc->clients; client != NULL; client = client->next)
		end_expired(proc, client);
}

static void free_client(struct client *client)
{
	stream_close(&client->stream);
	watcher_free(&client->watcher);
	free(client);
}

static void sweep(struct watch_proc *proc)
{
	for (struct client **at = &proc->clients; *at != NULL;) {
		struct client *client = *at;
		if (!client->gone) {
			at = &client->next;
			continue;
		}
		*at = client->next;
		free_client(client);
		proc->n_clients--;
	}
}

static void take_over(struct watch_proc *proc, const struct handover *handover)
{
	struct client *client = calloc(1, sizeof(*client));

	if (client == NULL) {
		close(handover->fd);
		return;
	}
	stream_open(&client->stream, handover->fd, handover->request_id);
	client->watcher = watcher_new(str_n(handover->order, handover->n));
	client->interest = EPOLLIN | EPOLLRDHUP;
	struct epoll_event event = { .events = client->interest, .data.ptr = client };
	if (client->watcher == NULL || epoll_ctl(proc->epoll_fd, EPOLL_CTL_ADD, handover->fd, &event) < 0) {
		log_error("a watch can't be served: %s", client->watcher == NULL ? "no memory" : strerror(errno));
		free_client(client);
		return;
	}
	client->ends_us = in_seconds(watcher_seconds(client->watcher));
	client->bookmark_us = in_seconds(BOOKMARK_S);
	client->alive_us = in_seconds(ALIVE_S);
	client->check_us = in_seconds(CHECK_S);
	client->news = true;
	client->next = proc->clients;
	proc->clients = client;
	proc->n_clients++;
}

static void take_all_over(struct watch_proc *proc)
{
	struct handover handover;

	while (handover_receive(proc->from, &handover)) {
		take_over(proc, &handover);
		free(handover.order);
	}
}

// ---- events

static struct call *fresh_call(struct watch_proc *proc)
{
	struct call *call = proc->call;

	call->pool = proc->pool;
	call->config = proc->setup->config;
	call->endpoint = proc->setup->endpoint;
	call->routes = proc->setup->routes;
	call->registry = proc->registry;
	return call;
}

static void note_ahead(struct client *client, uint64_t up_to, int64_t changes)
{
	if (client->ahead_to == 0) {
		client->ahead_from = watcher_position(client->watcher);
		client->ahead = 0;
	}
	if (up_to > client->ahead_to)
		client->ahead_to = up_to;
	client->ahead += changes;
}

// False: the database is away.
static bool tell(struct watch_proc *proc, struct client *client, const struct followed *change)
{
	struct pool_mark mark = pool_mark(proc->pool);
	struct buf text = buf_new(proc->pool, 2048);
	enum outcome outcome = watcher_tell(client->watcher, fresh_call(proc), change, &text);

	if (outcome == OUTCOME_UNAVAILABLE)
		return false;
	if (outcome == OUTCOME_OK)
		add_text(client, &text);
	if (outcome != OUTCOME_OK || watcher_is_lost(client->watcher, change))
		end_expired(proc, client);
	pool_rewind(proc->pool, mark);
	client->slow = stream_waiting(&client->stream) > WAITING_MAX;
	if (proc->only.p != NULL)
		note_ahead(client, change->id, 1);
	watcher_advance(client->watcher, change->id);
	return true;
}

// Is it its turn, and has it seen what came up to that id, and room for what follows?
static bool goes_along(const struct watch_proc *proc, const struct client *client, uint64_t after)
{
	if (proc->only.p != NULL && !str_eq(watcher_tenant(client->watcher), proc->only))
		return false;
	return !client->gone && !client->stream.ended && !client->slow && watcher_position(client->watcher) >= after;
}

static bool is_new_to(const struct watch_proc *proc, const struct client *client, uint64_t after,
	const struct followed *change)
{
	return goes_along(proc, client, after) && watcher_position(client->watcher) < change->id;
}

static bool is_wanted(const struct watch_proc *proc, uint64_t after, const struct followed *change)
{
	for (const struct client *client = proc->clients; client != NULL; client = client->next) {
		if (is_new_to(proc, client, after, change) && watcher_wants(client->watcher, change))
			return true;
	}
	return false;
}

static bool tell_batch(struct watch_proc *proc, uint64_t after, struct followed **batch, size_t n)
{
	struct pool_mark mark = pool_mark(proc->pool);

	if (n == 0)
		return true;
	if (follow_contents(proc->registry, batch, n) != OUTCOME_OK)
		return false;
	for (size_t i = 0; i < n; i++) {
		for (struct client *client = proc->clients; client != NULL; client = client->next) {
			if (is_new_to(proc, client, after, batch[i]) && watcher_wants(client->watcher, batch[i]) &&
				!tell(proc, client, batch[i]))
				return false;
		}
	}
	pool_rewind(proc->pool, mark);
	return true;
}

static void tell_lost(struct watch_proc *proc, uint64_t after, const struct followed *change)
{
	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		if (is_new_to(proc, client, after, change) && watcher_is_lost(client->watcher, change))
			end_expired(proc, client);
	}
}

static bool is_of_types(const struct watch_proc *proc, const struct followed *change)
{
	for (const struct client *client = proc->clients; client != NULL; client = client->next) {
		if (watcher_may_lose_type(client->watcher, change))
			return true;
	}
	return false;
}

// Before anything is told that is newer. False: the database is away.
static bool check_types(struct watch_proc *proc, const struct followed *change)
{
	catalogue_doubt(proc->registry);
	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		struct pool_mark mark = pool_mark(proc->pool);
		if (client->gone || client->stream.ended || !watcher_may_lose_type(client->watcher, change))
			continue;
		enum outcome outcome = watcher_check_type(client->watcher, fresh_call(proc));
		if (outcome == OUTCOME_UNAVAILABLE)
			return false;
		if (outcome != OUTCOME_OK)
			end_expired(proc, client);
		pool_rewind(proc->pool, mark);
	}
	return true;
}

static bool tell_page(struct watch_proc *proc, uint64_t after, struct followed *list, size_t n)
{
	struct followed *batch[DB_MAX_BATCH];
	size_t waiting = 0;

	for (size_t i = 0; i < n; i++) {
		bool of_types = is_of_types(proc, &list[i]);
		if (is_wanted(proc, after, &list[i]))
			batch[waiting++] = &list[i];
		if (waiting < DB_MAX_BATCH && list[i].resource.id != 0 && !of_types)
			continue;
		if (!tell_batch(proc, after, batch, waiting))
			return false;
		waiting = 0;
		if (list[i].resource.id == 0)
			tell_lost(proc, after, &list[i]);
		if (of_types && !check_types(proc, &list[i]))
			return false;
	}
	return tell_batch(proc, after, batch, waiting);
}

// All up to there is told to who goes along.
static void advance(struct watch_proc *proc, uint64_t after, uint64_t reached)
{
	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		if (goes_along(proc, client, after)) {
			if (proc->only.p != NULL)
				note_ahead(client, reached, 0);
			watcher_advance(client->watcher, reached);
		}
		push(proc, client);
	}
}

// How much of what was told ahead the front meets in its page; before the page is told, which takes it apart.
static void count_met(struct watch_proc *proc, const struct followed *list, size_t n)
{
	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		client->met = 0;
		for (size_t i = 0; i < n && client->ahead_to != 0; i++) {
			if (list[i].id > client->ahead_from && list[i].id <= client->ahead_to &&
				(watcher_wants(client->watcher, &list[i]) || watcher_is_lost(client->watcher, &list[i])))
				client->met++;
		}
	}
}

// The front has come so far. If it met what was not told ahead, that came to light late.
static void meet_ahead(struct watch_proc *proc, uint64_t reached)
{
	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		client->ahead -= client->met;
		client->met = 0;
		if (client->ahead_to == 0 || reached < client->ahead_to)
			continue;
		if (client->ahead != 0)
			end_expired(proc, client);
		client->ahead_to = 0;
	}
}

// One page of changes to all who have seen everything up to after. *reached: up to where it was. False: the database is away.
static bool serve_page(struct watch_proc *proc, uint64_t after, uint64_t up_to, uint64_t *reached, size_t *n)
{
	struct followed *list;

	if (follow_changes(proc->registry, after, up_to, PAGE, &list, n) != OUTCOME_OK)
		return false;
	*reached = *n < PAGE ? up_to : list[*n - 1].id;
	if (after == proc->front)
		count_met(proc, list, *n);
	if (!tell_page(proc, after, list, *n))
		return false;
	if (after == proc->front)
		meet_ahead(proc, *reached);
	advance(proc, after, *reached);
	return true;
}

// ---- the rounds

static bool begin_round(struct watch_proc *proc)
{
	const struct uuid none = { 0 };

	pool_clear(proc->pool);
	return registry_begin(proc->registry, proc->pool, &none, STR("")) == OUTCOME_OK;
}

static void set_marks(struct watch_proc *proc)
{
	proc->seen = 0;
	proc->marks[0] = proc->marks[1] = (struct mark){ .id = proc->front };
	proc->mark_us = in_seconds(MARK_S);
	proc->count_us = in_seconds(COUNT_S);
}

// A gap that was passed as void, and is filled after all, was told to nobody: whoever watches lists again.
static bool count_passed(struct watch_proc *proc)
{
	uint64_t n;

	if (clock_tick_us() < proc->count_us)
		return true;
	if (follow_count(proc->registry, proc->marks[0].id, proc->front, &n) != OUTCOME_OK)
		return false;
	proc->count_us = in_seconds(COUNT_S);
	if (n > proc->seen - proc->marks[0].seen) {
		log_info("a change came to light late: all watches begin anew");
		expire_all(proc);
	}
	if (n != proc->seen - proc->marks[0].seen)
		set_marks(proc); // what is old is removed from the log, too
	if (clock_tick_us() < proc->mark_us)
		return true;
	proc->marks[0] = proc->marks[1];
	proc->marks[1] = (struct mark){ .id = proc->front, .seen = proc->seen };
	proc->mark_us = in_seconds(MARK_S);
	return true;
}

static bool serve_front(struct watch_proc *proc)
{
	uint64_t horizon, reached;
	size_t n;

	if (change_horizon(proc->registry, &horizon) != OUTCOME_OK)
		return false;
	if (horizon < proc->front)
		expire_all(proc); // it is another log
	if (proc->front == 0 || horizon < proc->front) {
		proc->front = proc->looked = horizon;
		proc->system_id = 0;
		set_marks(proc);
	}
	while (proc->front < horizon) {
		if (!begin_round(proc) || !serve_page(proc, proc->front, horizon, &reached, &n))
			return false;
		proc->front = reached;
		proc->seen += n;
	}
	return true;
}

// ---- ahead of the front

static bool is_at_front(const struct watch_proc *proc, const struct client *client)
{
	return goes_along(proc, client, proc->front) && watcher_tenant(client->watcher).p != NULL;
}

// Whose tenants have anything new, up to there.
static bool find_news(struct watch_proc *proc, uint64_t up_to)
{
	uint64_t *ids;
	size_t n;

	if (follow_tenants(proc->registry, proc->looked, up_to, &ids, &n) != OUTCOME_OK)
		return false;
	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		for (size_t i = 0; i < n && !client->news; i++)
			client->news = ids[i] == client->tenant_id;
	}
	proc->looked = up_to;
	return true;
}

// Pages of what two tenants have to do with, to the watches of proc->only.
static bool serve_pages_of(struct watch_proc *proc, const uint64_t tenants[2], uint64_t after, uint64_t up_to)
{
	while (after < up_to) {
		struct followed *list;
		size_t n;
		if (!begin_round(proc) || follow_changes_of(proc->registry, tenants, after, up_to, PAGE, &list, &n) != OUTCOME_OK ||
			!tell_page(proc, after, list, n))
			return false;
		uint64_t reached = n < PAGE ? up_to : list[n - 1].id;
		advance(proc, after, reached);
		after = reached;
	}
	return true;
}

// The least position of those who are served now. Whoever watches another tenant that had the name lists again.
static uint64_t least_position(struct watch_proc *proc, uint64_t tenant_id)
{
	uint64_t least = UINT64_MAX;

	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		if (!is_at_front(proc, client))
			continue;
		if (client->tenant_id != 0 && client->tenant_id != tenant_id) {
			end_expired(proc, client);
			continue;
		}
		client->tenant_id = tenant_id;
		if (watcher_position(client->watcher) < least)
			least = watcher_position(client->watcher);
	}
	return least;
}

// All who watch that tenant, and are at the front.
static bool serve_tenant(struct watch_proc *proc, struct str tenant)
{
	uint64_t tenants[2] = { 0, proc->system_id }, horizon, after;

	proc->only = tenant;
	if (!begin_round(proc) || follow_tenant(proc->registry, tenant, &tenants[0]) != OUTCOME_OK)
		return false;
	if (tenants[0] == 0) // what comes of it, when it is there, the front will tell
		return true;
	after = least_position(proc, tenants[0]);
	if (change_horizon_of(proc->registry, tenants, after, &horizon) != OUTCOME_OK ||
		!serve_pages_of(proc, tenants, after, horizon))
		return false;
	// What is its own and in flight, or more than was looked at, is looked for again.
	bool all = horizon >= change_settled(proc->registry);
	for (struct client *client = proc->clients; client != NULL; client = client->next) {
		if (client->tenant_id == tenants[0] && all && watcher_position(client->watcher) >= horizon)
			client->news = false;
	}
	return true;
}

static bool is_due_ahead(struct watch_proc *proc)
{
	if (!change_is_stuck(proc->registry) || change_settled(proc->registry) <= proc->front ||
		clock_tick_us() < proc->ahead_us)
		return false;
	if (proc->looked < proc->front)
		proc->looked = proc->front;
	return true;
}

// A gap takes a second to be known for one, so what is ahead is told a second late.
static bool serve_ahead(struct watch_proc *proc)
{
	bool well = true;

	if (!is_due_ahead(proc))
		return true;
	if (!begin_round(proc) ||
		(change_settled(proc->registry) > proc->looked && !find_news(proc, change_settled(proc->registry))) ||
		(proc->system_id == 0 && follow_tenant(proc->registry, STR(TENANT_SYSTEM), &proc->system_id) != OUTCOME_OK))
		return false;
	for (const struct client *client = proc->clients; well && client != NULL; client = client->next) {
		if (client->news && is_at_front(proc, client))
			well = serve_tenant(proc, watcher_tenant(client->watcher));
		proc->only = STR_NONE;
	}
	proc->ahead_us = clock_tick_us() + AHEAD_MS * 1000;
	return well;
}

// *more: somebody is behind still, and could be served.
static bool serve_behind(struct watch_proc *proc, bool *more)
{
	uint64_t first = proc->front, reached;
	size_t n;

	for (const struct client *client = proc->clients; client != NULL; client = client->next) {
		if (goes_along(proc, client, 0) && watcher_position(client->watcher) < first)
			first = watcher_position(client->watcher);
	}
	*more = first < proc->front;
	return !*more || (begin_round(proc) && serve_page(proc, first, proc->front, &reached, &n));
}

static void add_due(struct watch_proc *proc, struct client *client, bool over)
{
	int64_t now_us = clock_tick_us();
	struct buf text = buf_new(proc->pool, 256);

	if (!client->slow && watcher_wants_bookmarks(client->watcher) && (over || now_us >= client->bookmark_us)) {
		if (watcher_bookmark(client->watcher, fresh_call(proc), &text) != OUTCOME_OK)
			text.n = 0;
		client->bookmark_us = in_seconds(BOOKMARK_S);
	} else if (now_us >= client->alive_us) {
		buf_addc(&text, '\n');
	}
	add_text(client, &text);
}

// Whose credential was revoked, or says something else than it did, is told no more.
static void check_user(struct watch_proc *proc, struct client *client)
{
	struct pool_mark mark = pool_mark(proc->pool);

	if (watcher_check_user(client->watcher, fresh_call(proc), proc->auth, proc->db) == OUTCOME_UNAUTHENTICATED)
		end_with(proc, client, watch_unauthenticated);
	client->check_us = in_seconds(CHECK_S);
	pool_rewind(proc->pool, mark);
}

static void look_at_time(struct watch_proc *proc, struct client *client)
{
	int64_t now_us = clock_tick_us();
	bool over = now_us >= client->ends_us;

	if (stream_waiting(&client->stream) > 0 && now_us - client->stream.moved_us > STUCK_S * INT64_C(1000000))
		client->gone = true;
	client->slow = stream_waiting(&client->stream) > WAITING_MAX;
	if (!client->gone && !client->stream.ended && now_us >= client->check_us)
		check_user(proc, client);
	if (client->gone || client->stream.ended)
		return;
	add_due(proc, client, over);
	if (over)
		end(proc, client);
	push(proc, client);
}

static void round_of_all(struct watch_proc *proc)
{
	bool more = false, well;

	well = begin_round(proc) && serve_front(proc) && serve_ahead(proc) && serve_behind(proc, &more) && count_passed(proc);
	for (struct client *client = proc->clients; client != NULL; client = client->next)
		look_at_time(proc, client);
	proc->round_us = clock_tick_us() + (well ? more ? 0 : ROUND_MS : AWAY_MS) * 1000;
}

// ---- the loop

static void take_signals(struct watch_proc *proc)
{
	struct signalfd_siginfo info;

	while (read(proc->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT)
			proc->stop = true;
		else
			setup_rotate_logs(proc->setup);
	}
}

static void take_event(struct watch_proc *proc, const struct epoll_event *event)
{
	struct client *client = event->data.ptr;

	if (event->data.ptr == &proc->signal_fd) {
		take_signals(proc);
		return;
	}
	if (event->data.ptr == &proc->from) {
		take_all_over(proc);
		return;
	}
	if ((event->events & (EPOLLERR | EPOLLHUP)) != 0 ||
		((event->events & (EPOLLIN | EPOLLRDHUP)) != 0 && !stream_read(&client->stream)))
		client->gone = true;
	push(proc, client);
}

static int patience_ms(const struct watch_proc *proc)
{
	int64_t us = proc->round_us - clock_tick_us();

	if (proc->n_clients == 0)
		return -1;
	return us <= 0 ? 0 : (int)((us + 999) / 1000);
}

static void loop(struct watch_proc *proc)
{
	struct epoll_event events[EVENTS];

	while (!proc->stop) {
		int n = epoll_wait(proc->epoll_fd, events, EVENTS, patience_ms(proc));
		for (int i = 0; i < n; i++)
			take_event(proc, &events[i]);
		sweep(proc);
		if (proc->n_clients == 0)
			proc->front = 0; // what is not read for anybody is not followed
		else if (clock_tick_us() >= proc->round_us)
			round_of_all(proc);
		sweep(proc);
	}
	for (struct client *client = proc->clients; client != NULL; client = client->next)
		end(proc, client);
}

static bool listen_to(struct watch_proc *proc, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return fd >= 0 && epoll_ctl(proc->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static bool open_all(struct watch_proc *proc, struct catalogue_shared *shared)
{
	sigset_t signals;
	char *error = NULL;

	worker_signals(&signals);
	proc->auth = auth_new(proc->setup->config, proc->setup->endpoint, &error);
	if (error != NULL)
		log_error("%s", error);
	free(error);
	proc->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	proc->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	proc->pool = pool_new();
	proc->call = calloc(1, sizeof(*proc->call));
	proc->db = db_open(proc->setup->config, false);
	if (proc->db != NULL)
		proc->registry = registry_new(proc->setup->config, proc->db);
	if (proc->registry != NULL)
		catalogue_join(proc->registry, shared);
	return proc->registry != NULL && proc->auth != NULL && proc->pool != NULL && proc->call != NULL && proc->epoll_fd >= 0 &&
	       listen_to(proc, proc->signal_fd, &proc->signal_fd) && listen_to(proc, proc->from, &proc->from);
}

static void close_all(struct watch_proc *proc)
{
	while (proc->clients != NULL) {
		struct client *client = proc->clients;
		proc->clients = client->next;
		free_client(client);
	}
	registry_free(&proc->registry);
	auth_free(&proc->auth);
	if (proc->db != NULL)
		db_close(&proc->db);
	pool_free(&proc->pool);
	free(proc->call);
	close(proc->epoll_fd);
	close(proc->signal_fd);
}

// Each watch has a descriptor: as many as the system grants.
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int watch_main(const struct setup *setup, int from, struct catalogue_shared *shared)
{
	struct watch_proc proc = { .setup = setup, .from = from };
	int code = EX_OSERR;

	(void)prctl(PR_SET_NAME, "tenured-watch"); // for ps and top
	(void)signal(SIGPIPE, SIG_IGN);
	allow_descriptors();
	if (open_all(&proc, shared)) {
		loop(&proc);
		code = EX_OK;
	} else {
		log_error("can't serve watches: %s", strerror(errno));
	}
	close_all(&proc);
	return code;
}
