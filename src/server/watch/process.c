// SPDX-License-Identifier: Apache-2.0
// The main loop of the watch process. It takes over watches, lets watch/dispatch.c send new changes ten times a second, and ends
// each watch when its time is over.
#include "base/base.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include "api/spaces/watch/watcher.h"
#include "auth/core/auth.h"
#include "base/clock.h"
#include "base/config/config.h"
#include "base/control.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/settings.h"
#include "registry/cache/coherence.h"
#include "registry/registry.h"
#include "registry/trait/catalogue.h"
#include "server/setup/child.h"
#include "server/setup/settings.h"
#include "server/request/limits.h"
#include "server/setup/signals.h"
#include "server/watch/client.h"
#include "server/watch/process.h"
#include "server/watch/dispatch.h"

enum {
	EVENTS = 64,
	IDLE_MS = 1000,               // between two checks of the shared memory while there are no watches
	QUESTION_US = 5000,           // between two queries about tokens, on average
	AWAY_MS = 1000,               // between two rounds while the database can't be reached
	HANGS_MS = 900,               // a query for a single client that takes so long, nearly the shortest timeout, is the last one of its round
	DRAINED_MS = 10,              // time to the next round if a slow client has read what waited for it
	DRAIN_MS = 1000,              // between two rounds when all watches have ended, and some clients have not read all
	STOP_S = 25,                  // clients get so long to read all when the service stops; the master kills what runs after 30 seconds
};

struct watch_process {
	int from;                     // where connections are handed over; -1: none is received any more
	int signal_fd;
	struct db *db;
	struct registry_store *store;
	struct auth *auth;
	struct watch_clients clients;
	struct watch_dispatcher dispatcher;
	const struct shared *host;    // memory that the processes of the host share; NULL: none
	int64_t round_us;             // clock_tick_us() of the next round
	bool asks;                    // the present round may ask the database for a single client
	bool away;                    // the database could not be reached in the last round
	unsigned questions;           // queries about tokens since the pace was set
	int64_t pace_us, pace_due_us; // pace_us: between two checks of a client's credentials; pace_due_us: when it is set again
	bool stopping;                // all watches end, those that are still handed over at once
	int64_t stop_us;              // when stopping: clock_tick_us() at which the process ends, whatever waits; 0: when clients have read all
};

// Arguments of make_bookmark(), which runs within a budget.
struct bookmark {
	struct watch_dispatcher *dispatcher;
	struct watch_client *client;
};

static void make_bookmark(void *arg)
{
	struct bookmark *bookmark = arg;
	struct buf text = buf_new(bookmark->dispatcher->pool, 256);

	if (watcher_add_bookmark(bookmark->client->watcher, watch_call(bookmark->dispatcher), &text) == OUTCOME_OK)
		watch_client_add(bookmark->client, &text);
}

// Is it time to send padding to find out whether the client is still there? Not if other bytes wait for it: those serve as well.
static bool wants_probe(struct watch_process *proc, struct watch_client *client)
{
	int64_t now_us = clock_tick_us();

	if (limits_watch_is_suspect(proc->clients.limits, &client->counted))
		client->probes = WATCH_PROBES;
	if (client->probes == 0 || now_us < client->probe_us || stream_unsent(&client->stream) > 0)
		return false;
	client->probes--;
	client->probe_us = now_us + WATCH_PROBE_MS * INT64_C(1000);
	return true;
}

// To be called after each query for a single client. If the database hangs, that costs one timeout in a round, not one for each
// client: connections and signals wait meanwhile. What is due for the others stays due.
static void note_asked(struct watch_process *proc, int64_t begun_us)
{
	proc->asks = proc->asks && clock_tick_us() - begun_us < HANGS_MS * INT64_C(1000);
}

// Appends what is due without a change: a bookmark, or padding. over: the watch ends now, so its bookmark is written even if it
// is not due, but not if the database would have to be waited for.
static void add_due(struct watch_process *proc, struct watch_client *client, bool over)
{
	int64_t now_us = clock_tick_us();
	struct bookmark bookmark = { &proc->dispatcher, client };
	struct buf text = buf_new(proc->dispatcher.pool, 16);

	if (!client->slow && watcher_wants_bookmarks(client->watcher) && (over || now_us >= client->bookmark_us) && proc->asks) {
		(void)watch_within_budget(&proc->dispatcher, client, make_bookmark, &bookmark);
		note_asked(proc, now_us);
		client->bookmark_us = watch_in_seconds(WATCH_BOOKMARK_S);
	} else if (wants_probe(proc, client) || now_us >= client->alive_us) {
		BUF_LIT(&text, WATCH_PADDING);
	}
	watch_client_add(client, &text);
}

// Each check of credentials is one query per token. The more tokens watch, the longer the time between two checks.
static void set_pace(struct watch_process *proc)
{
	static_assert((int)WATCH_CHECK_MOST_S <= (int)AUTH_POLL_S, "authenticators rely on it");
	int64_t now_us = clock_tick_us(), least_us = WATCH_CHECK_S * INT64_C(1000000), most_us =
		WATCH_CHECK_MOST_S * INT64_C(1000000);
	int64_t wanted_us = (int64_t)proc->questions * QUESTION_US;

	if (now_us < proc->pace_due_us)
		return;
	proc->pace_us = wanted_us < least_us ? least_us : wanted_us > most_us ? most_us : wanted_us;
	proc->pace_due_us = now_us + proc->pace_us;
	proc->questions = 0;
}

// Ends the client's watch if its credential was revoked, or now stands for another user, tenant, role or right to read
// everything.
static void check_user(struct watch_process *proc, struct watch_client *client)
{
	struct pool_mark mark = pool_mark(proc->dispatcher.pool);
	int64_t begun_us = clock_tick_us();

	if (watcher_check_user(client->watcher, watch_call(&proc->dispatcher), proc->auth, proc->db) == OUTCOME_UNAUTHENTICATED)
		watch_client_end_with_event(proc->dispatcher.pool, client, watch_add_unauthenticated);
	note_asked(proc, begun_us);
	proc->questions += auth_has_validated(proc->auth);
	client->check_us = clock_tick_us() + proc->pace_us;
	pool_rewind(proc->dispatcher.pool, mark);
}

// Checks the deadlines of one client: stuck, credentials, bookmark, padding, end.
static void look_at_time(struct watch_process *proc, struct watch_client *client)
{
	int64_t now_us = clock_tick_us();
	bool over = now_us >= client->ends_us;

	if (stream_unsent(&client->stream) > 0 && now_us - client->stream.moved_us > WATCH_STUCK_S * INT64_C(1000000))
		client->gone = true;
	client->slow = watch_client_is_slow(client);
	if (!client->gone && !client->stream.ended && now_us >= client->check_us && proc->asks)
		check_user(proc, client);
	if (!client->gone && !client->stream.ended) {
		add_due(proc, client, over);
		if (over)
			watch_client_end(client);
	}
	watch_client_write(&proc->clients, client);
}

// Sends new changes to all clients, and checks the deadlines of all.
static void round_of_all(struct watch_process *proc)
{
	int pause_ms = proc->stopping ? DRAIN_MS : watch_dispatch_round(&proc->dispatcher);

	proc->away = pause_ms < 0;
	proc->asks = !proc->away;
	set_pace(proc);
	for (struct watch_client *client = proc->clients.first; client != NULL; client = client->next)
		look_at_time(proc, client);
	proc->round_us = clock_tick_us() + (pause_ms >= 0 ? pause_ms : AWAY_MS) * 1000;
}

// ---- the loop

// Receives no more. The descriptor is closed, so that a worker whose watch nobody receives notices that.
static void stop_receiving(struct watch_process *proc)
{
	if (proc->from < 0)
		return;
	(void)epoll_ctl(proc->clients.epoll_fd, EPOLL_CTL_DEL, proc->from, NULL); // other processes may have it open still
	close(proc->from);
	proc->from = -1;
}

// Ends every watch, so that its client connects again; what was sent to it before is still written.
static void stop(struct watch_process *proc)
{
	proc->stopping = true;
	watch_clients_end(&proc->clients);
}

static void take_over(struct watch_process *proc)
{
	bool more = watch_clients_take_over(&proc->clients, proc->from);

	watch_shares_bound_files(&proc->dispatcher.shares, &proc->clients, proc->dispatcher.setup->settings->unsent);
	if (!more)
		stop_receiving(proc);
	if (!more || proc->stopping)
		stop(proc);
}

// SIGQUIT comes with a reload: the next watch process receives what comes from now on. The others come with the end of the
// service, or with a reload that withdraws the watches, and workers that finish their requests may still hand connections over.
static void take_signals(struct watch_process *proc)
{
	struct signalfd_siginfo info;

	while (read(proc->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGQUIT:
			stop_receiving(proc);
			stop(proc);
			break;
		case SIGTERM:
		case SIGINT:
			if (proc->stop_us == 0)
				proc->stop_us = watch_in_seconds(STOP_S);
			stop(proc);
			break;
		default:
			setup_reopen_logs_logged(proc->dispatcher.setup);
			break;
		}
	}
}

// Handles one event of epoll: a signal, connections handed over, or a client's connection.
static void take_event(struct watch_process *proc, const struct epoll_event *event)
{
	struct watch_client *client = event->data.ptr;

	if (event->data.ptr == &proc->signal_fd) {
		take_signals(proc);
		return;
	}
	if (event->data.ptr == &proc->from) {
		if (proc->from >= 0)
			take_over(proc);
		return;
	}
	if ((event->events & (EPOLLERR | EPOLLHUP)) != 0 ||
		((event->events & (EPOLLIN | EPOLLRDHUP)) != 0 && !stream_read(&client->stream)))
		client->gone = true;
	watch_client_write(&proc->clients, client);
}

// A slow client that has read what waited for it gets more soon, not only in the next regular round. It may be far behind, and
// each round gives it little more than WATCH_WAITING_MAX bytes.
static void hurry_for_drained(struct watch_process *proc)
{
	int64_t soon_us = clock_tick_us() + DRAINED_MS * 1000;

	if (!proc->clients.drained)
		return;
	for (struct watch_client *client = proc->clients.first; client != NULL; client = client->next)
		client->slow = watch_client_is_slow(client);
	proc->clients.drained = false;
	if (proc->round_us > soon_us && !proc->away)
		proc->round_us = soon_us;
}

// Milliseconds that epoll may wait for events. Without clients nothing is due but the upkeep of the shared memory.
static int patience_ms(const struct watch_process *proc)
{
	int64_t us = proc->round_us - clock_tick_us();

	if (proc->clients.n == 0)
		return IDLE_MS;
	return us <= 0 ? 0 : (int)((us + 999) / 1000);
}

static bool goes_on(const struct watch_process *proc)
{
	if (!proc->stopping)
		return true;
	return (proc->from >= 0 || proc->clients.n > 0) && (proc->stop_us == 0 || clock_tick_us() < proc->stop_us);
}

// Runs until a signal, or the end of all workers, stops the process; then until no connection comes any more and the clients have
// read all, or are stuck.
static void loop(struct watch_process *proc)
{
	struct epoll_event events[EVENTS];

	while (goes_on(proc)) {
		hurry_for_drained(proc);
		int n = epoll_wait(proc->clients.epoll_fd, events, EVENTS, patience_ms(proc));
		for (int i = 0; i < n; i++)
			take_event(proc, &events[i]);
		watch_clients_sweep(&proc->clients);
		limits_tick(proc->clients.limits);
		control_apply(proc->host);
		metrics_process(proc->host, METRICS_WATCH, (uint32_t)proc->clients.n);
		if (proc->clients.n == 0)
			watch_dispatch_pause(&proc->dispatcher);
		else if (clock_tick_us() >= proc->round_us)
			round_of_all(proc);
		watch_clients_sweep(&proc->clients);
	}
}

static bool listen_to(struct watch_process *proc, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return fd >= 0 && epoll_ctl(proc->clients.epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

// Opens what the process needs. False, with errno or a logged reason: something is missing; close_all() frees the rest.
static bool open_all(struct watch_process *proc, struct shared *host)
{
	sigset_t signals;
	char *error = NULL;

	signals_fill(&signals);
	proc->auth = setup_auth(proc->dispatcher.setup, host, &error);
	if (error != NULL)
		log_error("%s", error);
	free(error);
	proc->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	proc->clients.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	proc->dispatcher.pool = pool_new();
	proc->dispatcher.call = calloc(1, sizeof(*proc->dispatcher.call));
	proc->db = db_open(db_settings(proc->dispatcher.setup->config), DB_APPLICATION);
	if (proc->db != NULL)
		proc->store = registry_store_new(proc->dispatcher.setup->config, proc->db);
	if (proc->store == NULL || proc->dispatcher.call == NULL)
		return false;
	coherence_join(proc->store, host);
	proc->host = host;
	registry_attach(proc->dispatcher.call->registry, proc->store);
	return proc->auth != NULL && proc->dispatcher.pool != NULL && proc->clients.epoll_fd >= 0 &&
	       listen_to(proc, proc->signal_fd, &proc->signal_fd) && listen_to(proc, proc->from, &proc->from);
}

static void close_all(struct watch_process *proc)
{
	watch_clients_free(&proc->clients);
	limits_free(&proc->clients.limits);
	registry_store_free(&proc->store);
	auth_free(&proc->auth);
	if (proc->db != NULL)
		db_close(&proc->db);
	pool_free(&proc->dispatcher.pool);
	free(proc->dispatcher.call);
	stop_receiving(proc);
	close(proc->clients.epoll_fd);
	close(proc->signal_fd);
}

// Raises the limit of open descriptors as far as the system permits, since each watch needs one.
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

int watch_main(const struct setup *setup, int from, struct shared *host, struct child_life *life)
{
	struct watch_process proc = { .from = from, .dispatcher = { .setup = setup, .clients = &proc.clients } };
	int code = EX_OSERR;

	assert(from >= 0);
	(void)prctl(PR_SET_NAME, "tenured-watch"); // the name in ps and top
	(void)signal(SIGPIPE, SIG_IGN);
	allow_descriptors();
	proc.clients.limits = limits_new(setup->config, setup->endpoint, host, 0);
	if (proc.clients.limits != NULL && open_all(&proc, host)) {
		atomic_store(&life->ready, true);
		loop(&proc);
		code = EX_OK;
	} else {
		log_error("can't serve watches: %s", strerror(errno));
	}
	close_all(&proc);
	return code;
}
