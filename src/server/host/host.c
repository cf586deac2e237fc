// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config/config.h"
#include "base/control.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/shared.h"
#include "base/uuid.h"
#include "db/db.h"
#include "db/settings.h"
#include "server/host/host.h"
#include "server/host/metrics_socket.h"
#include "server/host/mover_process.h"
#include "server/host/observer.h"
#include "server/host/reaper.h"
#include "server/host/usage_counter.h"
#include "server/host/writer_watch.h"
#include "server/setup/child.h"
#include "server/setup/host.h"
#include "server/setup/notify.h"
#include "server/setup/settings.h"
#include "server/setup/setup.h"
#include "server/setup/signals.h"
#include "server/webhook/deliverer.h"
#include "settings/settings.h"

enum {
	LOOK_MS = 1000,             // between two looks at the lock, at hanging children and at the shared memory
	METRICS_AGAIN_US = 5000000, // between two attempts to open the socket of /metrics
	STOP_LIMIT_MS = 30000,      // children that still run so long after they were told to end are killed
};

static const enum child_kind kinds[] = { CHILD_MOVER, CHILD_REAPER, CHILD_OBSERVER, CHILD_WRITER_WATCH, CHILD_USAGE, CHILD_DELIVERER };

struct host {
	const struct host_options *options;
	struct config *config;
	struct shared *shared;
	struct host_lock lock;
	struct metrics_socket *metrics; // while it holds the lock; NULL: none
	int64_t metrics_due_us;         // clock_tick_us() before which the socket is not opened
	bool metrics_logged;            // why it can't be opened is in the log
	int signal_fd;
	pid_t pid;
	struct uuid claim;       // under which its deliverers hold the lease of webhooks, one after the other
	struct children children; // they run while it holds the lock
	bool works;               // it holds the lock, and children are to run
	bool stopping;
	bool logged;     // why the lock can't be taken is in the log
	int64_t kill_us; // clock_tick_us() at which children that were told to end are killed; 0: none was told, or they were killed
};

// ---- children

// What a child is called in ps and top, at most 15 bytes; and what the log says if there is no memory for it.
struct child_words {
	const char *name;
	const char *purpose;
};

static struct child_words words_of(enum child_kind kind)
{
	switch (kind) {
	case CHILD_MOVER:
		return (struct child_words){ "tenured-mover", "the mover" };
	case CHILD_REAPER:
		return (struct child_words){ "tenured-reaper", "the reaper" };
	case CHILD_OBSERVER:
		return (struct child_words){ "tenured-observe", "the observer" };
	case CHILD_USAGE:
		return (struct child_words){ "tenured-usage", "the usage counter" };
	case CHILD_DELIVERER:
		return (struct child_words){ "tenured-deliver", "webhooks" };
	default:
		assert(kind == CHILD_WRITER_WATCH);
		return (struct child_words){ "tenured-writer", "the watch of the cluster's writer" };
	}
}

// In a child: it must not outlive the service for long, and has no use for the service's descriptors.
static void begin_child(struct host *host, struct child_words words)
{
	memory_end_with_code(words.purpose);
	(void)prctl(PR_SET_NAME, words.name);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != host->pid)
		(void)raise(SIGTERM); // the service ended before prctl(); the signal is blocked until the child unblocks it
	close(host->signal_fd);
	metrics_socket_forget(&host->metrics);
}

_Noreturn static void run_child(struct host *host, enum child_kind kind)
{
	begin_child(host, words_of(kind));
	if (kind == CHILD_MOVER)
		_exit(mover_process_main(host->config, host->shared));
	if (kind == CHILD_DELIVERER)
		_exit(deliverer_run(host->config, host->shared, &host->claim));
	signals_stop_by(SIG_DFL);
	if (kind == CHILD_REAPER)
		reaper_run(host->config, host->shared);
	if (kind == CHILD_WRITER_WATCH)
		writer_watch_run(host->config, host->shared);
	if (kind == CHILD_USAGE)
		usage_counter_run(host->config, host->shared);
	observer_run(host->config, host->shared);
}

// Is this child needed by the configuration?
static bool is_wanted(const struct host *host, const struct child *child)
{
	if (child->kind == CHILD_WRITER_WATCH)
		return db_hosts(db_settings(host->config)) > 1;
	return child->kind != CHILD_REAPER || host_settings(host->config)->reap_interval > 0;
}

static void start_due(struct host *host)
{
	for (size_t i = 0; i < host->children.n; i++) {
		struct child *child = &host->children.list[i];

		if (child->pid == 0 && child->due_us <= clock_tick_us() && is_wanted(host, child) && child_fork(child))
			run_child(host, child->kind);
	}
}

// Tells all children to end, and to do so in time.
static void end_children(struct host *host)
{
	children_signal(&host->children, SIGTERM);
	children_signal(&host->children, SIGCONT); // one that is stopped would not read it
	host->kill_us = clock_tick_us() + STOP_LIMIT_MS * INT64_C(1000);
}

static void note_end(struct host *host, struct child *child, int status)
{
	pid_t pid = child->pid;
	char how[64];

	child_describe_end(status, how, sizeof(how));
	child_ended(child, clock_tick_us());
	if (host->kill_us == 0)
		log_warning("%s %ld ended %s; another starts in %u ms", child_name(child), (long)pid, how, child->delay_ms);
	else
		child->due_us = 0; // it was told to end: what replaces it, if anything does, starts at once
}

// Looks which children have ended, were stopped or continued.
static void reap_children(struct host *host)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		struct child *child = children_find(&host->children, pid);

		if (child == NULL)
			continue;
		if (WIFSTOPPED(status) || WIFCONTINUED(status))
			child_note_stop(child, WIFSTOPPED(status));
		else
			note_end(host, child, status);
	}
	if (!children_any_running(&host->children))
		host->kill_us = 0;
}

// Kills children that hang, and those that were told to end and did not in time.
static void kill_late(struct host *host)
{
	int64_t now_us = clock_tick_us();

	children_kill_hanging(&host->children, now_us, 0);
	if (host->kill_us != 0 && now_us >= host->kill_us && children_any_running(&host->children)) {
		log_error("not all have ended within %d s: killing the rest", STOP_LIMIT_MS / 1000);
		children_signal(&host->children, SIGKILL);
		host->kill_us = INT64_MAX;
	}
}

// ---- the lock

static void say_who_works(struct host *host, pid_t holder)
{
	if (host->logged)
		return;
	host->logged = true;
	if (holder != 0)
		log_info("process %ld does this host's background work; this one waits until it ends", (long)holder);
	else
		log_info("another process does this host's background work; this one waits until it ends");
}

// Opens the socket of /metrics unless it is open and can be reached: its file may have been removed, or the path be another
// process's when it was tried last.
static void open_metrics(struct host *host)
{
	int64_t now_us = clock_tick_us();

	if ((host->metrics != NULL && metrics_socket_is_reached(host->metrics)) || now_us < host->metrics_due_us)
		return;
	metrics_socket_close(&host->metrics);
	host->metrics = metrics_socket_open(host->config, host->shared, &host->metrics_logged);
	host->metrics_due_us = now_us + METRICS_AGAIN_US;
}

static void close_metrics(struct host *host)
{
	metrics_socket_close(&host->metrics);
	host->metrics_due_us = 0;
	host->metrics_logged = false;
}

static void try_lock(struct host *host)
{
	pid_t holder;

	switch (host_lock_take(&host->lock, host->config, &holder)) {
	case HOST_LOCK_HELD:
		host->works = true;
		host->logged = false;
		open_metrics(host);
		log_info("does this host's background work");
		break;
	case HOST_LOCK_ELSEWHERE:
		say_who_works(host, holder);
		break;
	case HOST_LOCK_FAILED:
		if (!host->logged)
			log_error("no background work is done, since there is no lock in %s: %s",
				server_settings(host->config)->runtime_dir, strerror(errno));
		host->logged = true;
		break;
	}
}

// Somebody removed the lock's file, so another process may hold a lock of that name. Takes the new one, or lets the other work.
static void check_lock(struct host *host)
{
	if (host_lock_is_valid(&host->lock))
		return;
	log_warning("%s was removed or replaced", host->lock.path);
	host_lock_release(&host->lock);
	close_metrics(host);
	host->works = false;
	try_lock(host);
	if (!host->works)
		end_children(host);
}

// ---- signals

// Reads the configuration again. NULL: that failed, or it needs a restart; logged; the old one stays.
static struct config *load_anew(const struct host *host)
{
	char *error = NULL;
	struct config *fresh = config_load(host->options->path, settings_tables(), &error);

	if (fresh == NULL)
		log_error("nothing is reloaded: %s", error != NULL ? error : "no memory");
	free(error);
	// The lock and the shared memory stay those of one registry, so children that work for another one must not have them.
	if (fresh != NULL && !host_is_same(host->config, fresh)) {
		log_error("nothing is reloaded: another runtime_dir or database takes a restart");
		config_free(&fresh);
	}
	return fresh;
}

static void reload(struct host *host)
{
	struct config *fresh = host->options->path != NULL ? load_anew(host) : NULL;

	if (fresh == NULL)
		return;
	notify_supervisor("RELOADING=1");
	config_free(&host->config);
	host->config = fresh;
	setup_open_error_log(fresh, host->options->program);
	end_children(host); // others with the new configuration take their places
	close_metrics(host);
	if (host->works)
		open_metrics(host);
	log_info("reloaded");
	notify_supervisor("READY=1");
}

static void stop(struct host *host)
{
	if (host->stopping)
		return;
	if (host->options->path != NULL) {
		log_info("stopping");
		notify_supervisor("STOPPING=1");
	}
	host->stopping = true;
	end_children(host);
}

static void take_signals(struct host *host)
{
	struct signalfd_siginfo info;

	while (read(host->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT)
			stop(host);
		else if (info.ssi_signo == SIGHUP && !host->stopping)
			reload(host);
	}
}

// ---- the loop

// What is done once a second, and after each signal.
static void look(struct host *host)
{
	reap_children(host);
	kill_late(host);
	if (host->shared != NULL)
		(void)shared_refresh(host->shared, clock_tick_us());
	control_apply(host->shared);
	if (host->stopping)
		return;
	if (host->works)
		check_lock(host);
	else if (!children_any_running(&host->children))
		try_lock(host);
	if (host->works)
		open_metrics(host);
	if (host->works && host->kill_us == 0)
		start_due(host);
}

// Milliseconds until look() has something to do if no signal comes.
static int patience_ms(const struct host *host)
{
	int64_t us = LOOK_MS * INT64_C(1000), now_us = clock_tick_us();

	for (size_t i = 0; host->works && host->kill_us == 0 && i < host->children.n; i++) {
		const struct child *child = &host->children.list[i];
		if (child->pid == 0 && is_wanted(host, child) && child->due_us - now_us < us)
			us = child->due_us > now_us ? child->due_us - now_us : 0;
	}
	int ms = host->metrics != NULL ? metrics_socket_patience_ms(host->metrics, now_us) : -1;
	return ms >= 0 && ms < us / 1000 ? ms : (int)((us + 999) / 1000);
}

static void loop(struct host *host)
{
	struct pollfd polls[1 + METRICS_SOCKET_POLLS];

	while (!host->stopping || children_any_running(&host->children)) {
		look(host);
		polls[0] = (struct pollfd){ .fd = host->signal_fd, .events = POLLIN };
		size_t n = host->metrics != NULL ? metrics_socket_prepare(host->metrics, polls + 1) : 0;
		if (poll(polls, 1 + n, patience_ms(host)) < 0)
			continue; // errno is EINTR or ENOMEM
		if (host->metrics != NULL)
			metrics_socket_work(host->metrics, polls + 1, n, clock_tick_us());
		take_signals(host); // last, since a reload opens another socket
		reap_children(host);
	}
}

static bool host_open(struct host *host)
{
	sigset_t signals;

	signals_fill(&signals);
	sigaddset(&signals, SIGCHLD);
	host->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	if (host->signal_fd < 0 || !children_make(&host->children, COUNT_OF(kinds)))
		return false;
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		host->children.list[i].kind = kinds[i];
	return true;
}

int host_main(const struct host_options *options, struct config **config, struct shared *shared)
{
	struct host host = { .options = options, .config = *config, .shared = shared, .pid = getpid(), .claim = uuid_new() };
	int code = EX_OK;

	(void)prctl(PR_SET_NAME, "tenured-host");
	(void)signal(SIGCHLD, SIG_DFL); // if the parent had SIGCHLD ignored, waitpid(2) would not report children that end
	if (host_open(&host)) {
		if (options->path != NULL)
			notify_supervisor("READY=1");
		loop(&host);
	} else {
		log_error("can't do this host's background work: %s", strerror(errno));
		code = EX_OSERR;
	}
	metrics_socket_close(&host.metrics);
	host_lock_release(&host.lock);
	if (host.signal_fd >= 0)
		close(host.signal_fd);
	children_free(&host.children);
	*config = host.config;
	return code;
}
