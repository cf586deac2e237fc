// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

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
#include "registry/core/context.h"
#include "registry/registry.h"
#include "registry/trait/catalogue.h"
#include "server/setup/rescue.h"
#include "server/setup/child.h"
#include "server/host/mover_process.h"
#include "server/request/limits.h"
#include "server/request/pipeline.h"
#include "server/setup/settings.h"
#include "server/setup/signals.h"
#include "server/wire/fcgi.h"
#include "server/worker.h"

enum { TICK_MS = 1000, ROTATION_S = 5 };

struct worker {
	const struct setup *setup;
	bool alone;
	int signal_fd;
	int watch_fd;  // socket to the watch process; -1: there is none
	int sender_fd; // socket to the sender, for slow clients; -1: there is none
	struct fcgi *fcgi;
	struct pipeline pipeline;
	struct db_trace trace; // of the present request, if slow ones are logged
	struct pool *pool; // memory of one request
	struct call call;
	struct mover_kick kick;
	const struct shared *host; // memory shared by the processes of the host; NULL: none
	struct limits *limits;
	struct child_life *life; // NULL: there is no master
	int64_t rotation_us;     // when alone: clock_tick_us() at which it looks next whether its access log was moved away
};

// Opens no connection to the database: the first answer may not need one, and would have to wait for it.
static bool worker_open(struct worker *worker, int listen_fd, const struct worker_tools *tools)
{
	const struct setup *setup = worker->setup;
	char *error = NULL;
	sigset_t signals;

	signals_fill(&signals);
	worker->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (worker->signal_fd < 0) {
		log_error("signalfd: %s", strerror(errno));
		return false;
	}
	worker->pool = pool_new();
	worker->limits = limits_new(setup->config, setup->endpoint, tools->host, tools->processes);
	worker->pipeline = (struct pipeline){
		.config = setup->config,
		.endpoint = setup->endpoint,
		.routes = setup->routes,
		.auth = setup_auth(setup, tools->host, &error),
		.placement_policy = setup->placement_policy,
		.db = db_open(db_settings(setup->config), DB_APPLICATION),
		.limits = worker->limits,
		.host = tools->host,
		.may_hand_over = worker->watch_fd >= 0,
	};
	worker->pipeline.logs_json = strcmp(setup->endpoint_settings->access_log_format, "json") == 0;
	if (worker->pipeline.db != NULL && setup->settings->slow_request > 0) {
		worker->pipeline.trace = &worker->trace;
		db_set_trace(worker->pipeline.db, &worker->trace);
	}
	if (worker->pipeline.db != NULL)
		worker->pipeline.store = registry_store_new(setup->config, worker->pipeline.db);
	if (error != NULL)
		log_error("%s", error);
	free(error);
	worker->fcgi = fcgi_new(listen_fd, worker->signal_fd, setup->config);
	return worker->pool != NULL && worker->limits != NULL && worker->pipeline.auth != NULL &&
		worker->pipeline.store != NULL &&
		worker->fcgi != NULL;
}

static void worker_close(struct worker *worker)
{
	fcgi_free(&worker->fcgi);
	limits_free(&worker->limits);
	registry_store_free(&worker->pipeline.store);
	if (worker->pipeline.db != NULL)
		db_close(&worker->pipeline.db);
	auth_free(&worker->pipeline.auth);
	pool_free(&worker->pool);
	if (worker->signal_fd >= 0)
		close(worker->signal_fd);
	(void)log_access_open("");
}

static void take_signals(struct worker *worker)
{
	struct signalfd_siginfo info;

	while (read(worker->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGTERM:
		case SIGINT:
			fcgi_stop(worker->fcgi, FCGI_FINISH);
			break;
		case SIGQUIT:
			fcgi_stop(worker->fcgi, FCGI_RETIRE);
			break;
		default:
			setup_reopen_logs_logged(worker->setup);
			break;
		}
	}
}

// Starts a mover if the request has left work for it and there is no master, whose mover would look for work by itself.
static void look_after_mover(struct worker *worker)
{
	if (worker->alone && (worker->call.registry->left_work || worker->kick.wanted))
		mover_kick(&worker->kick, worker->setup->config, worker->host);
}

// logrotate knows no process of a web server's, and can send it no signal.
static void look_after_log(struct worker *worker)
{
	int64_t now_us = clock_tick_us();

	if (!worker->alone || now_us < worker->rotation_us)
		return;
	worker->rotation_us = now_us + ROTATION_S * INT64_C(1000000);
	setup_follow_rotation(worker->setup);
}

// Hands the connection to the watch process. If that fails the answer has ended, so the watch no longer counts.
static void hand_over(struct worker *worker)
{
	struct call *call = &worker->call;

	if (!fcgi_hand_over(worker->fcgi, worker->pool, &call->response, worker->watch_fd, worker->pipeline.watch, call->handover))
		limits_watch_end(worker->limits, &worker->pipeline.watch);
}

// Runs one request and sends its answer. busy_us tells the master since when, so that it can kill a worker that hangs.
static void answer(struct worker *worker, enum transport_fault fault)
{
	struct call *call = &worker->call;

	if (worker->life != NULL)
		atomic_store(&worker->life->busy_us, clock_tick_us());
	metrics_process_value(worker->host, 1);
	control_apply(worker->host);
	look_after_log(worker);
	worker->pipeline.busy = fcgi_is_busy(worker->fcgi);
	pipeline_run(&worker->pipeline, call, fault);
	if (call->handover.p != NULL && call->response.status == 200)
		hand_over(worker);
	else
		fcgi_answer(worker->fcgi, worker->pool, call->request.method, &call->response,
			&(struct fcgi_slow){ .to = worker->sender_fd, .tenant = limits_tenant(worker->limits) });
	limits_leave(worker->limits);
	if (worker->life != NULL)
		atomic_store(&worker->life->busy_us, 0);
	metrics_process_value(worker->host, 0);
	look_after_mover(worker);
}

// Frees the request's memory, before the next request is granted memory beyond what is in use.
static void give_back(struct worker *worker)
{
	pool_clear(worker->pool);
	registry_store_trim(worker->pipeline.store);
	rescue_prepare();
}

static void serve(struct worker *worker)
{
	for (;;) {
		enum transport_fault fault = TRANSPORT_OK;

		call_clear(&worker->call, worker->pool);
		switch (fcgi_next(worker->fcgi, TICK_MS, worker->pool,
			&worker->call.request, &fault)) {
		case FCGI_REQUEST:
			answer(worker, fault);
			break;
		case FCGI_WAKE:
			take_signals(worker);
			limits_tick(worker->limits);
			control_apply(worker->host);
			metrics_process(worker->host, METRICS_WORKER, 0); // again, as another file may be mapped now
			pipeline_count(&worker->pipeline, clock_tick_us());
			look_after_mover(worker);
			break;
		case FCGI_END:
			pipeline_count(&worker->pipeline, clock_tick_us());
			return;
		}
		give_back(worker);
	}
}

int worker_run(const struct setup *setup, int listen_fd, const struct worker_tools *tools)
{
	assert(listen_fd >= 0);
	// On the heap, because it is large for the stack.
	struct worker *worker = calloc(1, sizeof(*worker));
	int code = EX_OSERR;

	if (worker == NULL)
		return EX_OSERR;
	worker->setup = setup;
	worker->alone = tools->life == NULL;
	worker->watch_fd = tools->watch_fd;
	worker->sender_fd = tools->sender_fd;
	worker->host = tools->host;
	worker->life = tools->life;
	(void)signal(SIGPIPE, SIG_IGN);
	if (worker_open(worker, listen_fd, tools)) {
		coherence_join(worker->pipeline.store, tools->host);
		if (worker->alone) {
			// A mover that ends must not stay as a zombie: nobody waits for it.
			(void)signal(SIGCHLD, SIG_IGN);
			mover_kick(&worker->kick, setup->config, tools->host);
		}
		if (worker->life != NULL)
			atomic_store(&worker->life->ready, true);
		metrics_process(worker->host, METRICS_WORKER, 0);
		metrics_add(worker->host, METRICS_WORKERS_STARTED, 1);
		rescue_prepare();
		serve(worker);
		code = 0;
	}
	worker_close(worker);
	free(worker);
	return code;
}
