// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config/config.h"
#include "base/control.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/shared.h"
#include "registry/trait/catalogue.h"
#include "server/master.h"
#include "server/host/host.h"
#include "server/sender.h"
#include "server/setup/child.h"
#include "server/setup/dialects.h"
#include "server/setup/host.h"
#include "server/setup/identity.h"
#include "server/setup/notify.h"
#include "server/setup/settings.h"
#include "server/setup/signals.h"
#include "server/watch/process.h"
#include "server/wire/handover.h"
#include "server/worker.h"

enum {
	STOP_LIMIT_MS = 30000, // after this, children still running are killed
	LOOK_US = 1000000,     // between two checks whether a child hangs
};

struct master {
	const struct master_options *options;
	struct setup *setup;
	struct listener *listener;
	struct shared *host; // memory shared by all processes of the host
	pid_t pid;
	sigset_t signals;
	int watch_pair[2];        // socket pair from workers to the watch process (handover.h)
	int sender_pair[2];       // socket pair from workers to the sender
	struct children children; // the workers, the host service, the sender, and the watch process if a dialect has watches
	int64_t look_us;          // clock_tick_us() of the next check whether a child hangs
	struct children *retired; // of earlier configurations, which are about to end: of each that some still run of
	size_t n_retired;
	bool stopping;
	int64_t kill_us; // when stopping: clock_tick_us() at which children are killed; 0: they have been
};

// ---- children of earlier configurations

static void free_retired(struct master *master)
{
	for (size_t i = 0; i < master->n_retired; i++)
		children_free(&master->retired[i]);
	free(master->retired);
	master->retired = NULL;
	master->n_retired = 0;
}

// Moves the present children to the retired ones; they go on working until they are told to end. False: no memory, and all is as
// it was.
static bool retire_children(struct master *master)
{
	struct children *retired;

	if (!children_any_running(&master->children)) {
		children_free(&master->children);
		return true;
	}
	retired = reallocarray(master->retired, master->n_retired + 1, sizeof(*retired));
	if (retired == NULL)
		return false;
	master->retired = retired;
	retired[master->n_retired++] = master->children;
	master->children = (struct children){ .list = NULL };
	return true;
}

// Forgets a retired child that has ended, and its configuration's children when none of them runs any more.
static void forget_retired(struct master *master, pid_t pid)
{
	for (size_t i = 0; i < master->n_retired; i++) {
		struct children *retired = &master->retired[i];
		struct child *child = children_find(retired, pid);
		if (child == NULL)
			continue;
		child->pid = 0;
		if (!children_any_running(retired)) {
			children_free(retired);
			*retired = master->retired[--master->n_retired];
		}
		return;
	}
}

static void signal_retired(const struct master *master, int signal)
{
	for (size_t i = 0; i < master->n_retired; i++)
		children_signal(&master->retired[i], signal);
}

// Tells the children that were retired last to end. By SIGQUIT the watch process stops receiving, since its successor receives
// from the same sockets. Without a successor it gets SIGTERM: it goes on receiving, and ends at once what workers hand over,
// until these have ended.
static void end_retired(const struct master *master, bool has_successor)
{
	if (master->n_retired == 0)
		return;
	const struct children *last = &master->retired[master->n_retired - 1];
	for (size_t i = 0; i < last->n; i++) {
		if (last->list[i].pid != 0)
			(void)kill(last->list[i].pid, last->list[i].kind == CHILD_WATCH && !has_successor ? SIGTERM : SIGQUIT);
	}
}

// ---- children

static unsigned count_workers(const struct setup *setup)
{
	return setup->endpoint_settings->workers + setup->endpoint_settings->reserve;
}

static bool has_watches(const struct setup *setup)
{
	const struct route_method *method;
	const char *path;

	for (size_t i = 0; (method = route_nth(setup->routes, i, &path)) != NULL; i++) {
		const struct dialect *dialect = dialect_find(method->dialect);
		if (dialect != NULL && dialect->watches)
			return true;
	}
	return false;
}

// Called in a child: if the master is killed, the child gets SIGTERM, so no child outlives its master for long.
static void tie_to_master(const struct master *master)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != master->pid)
		(void)raise(SIGTERM); // the master ended before prctl(); the signal is blocked, so it waits until the child reads
				      // signals
}

// The main function of a child. It closes the ends of sockets that its kind does not use, so that a socket's end is seen when its
// processes end.
_Noreturn static void run_child(struct master *master, enum child_kind kind, struct child_life *life)
{
	int code = EX_OK;

	tie_to_master(master);
	if (kind != CHILD_WORKER)
		close(master->listener->fd);
	if (kind != CHILD_WATCH)
		close(master->watch_pair[1]);
	if (kind != CHILD_SENDER)
		close(master->sender_pair[1]);
	if (kind != CHILD_WORKER) {
		close(master->watch_pair[0]);
		close(master->sender_pair[0]);
	}
	if (kind == CHILD_HOST)
		(void)log_access_open(""); // it writes none, and is told of no rotation; the master has put off no lines
	switch (kind) {
	case CHILD_WORKER:
		code = worker_run(master->setup, master->listener->fd, &(struct worker_tools){
			.watch_fd = has_watches(master->setup) ? master->watch_pair[0] : -1, .sender_fd = master->sender_pair[0],
			.life = life, .processes = count_workers(master->setup), .host = master->host,
		});
		break;
	case CHILD_HOST:
		code = host_main(&(struct host_options){ .path = NULL }, &master->setup->config, master->host);
		break;
	case CHILD_SENDER:
		code = sender_main(master->setup, master->sender_pair[1], master->host, SENDER_STUCK_S);
		break;
	case CHILD_WATCH:
		code = watch_main(master->setup, master->watch_pair[1], master->host, life);
		break;
	case CHILD_MOVER:
	case CHILD_REAPER:
	case CHILD_OBSERVER:
	case CHILD_WRITER_WATCH:
	case CHILD_USAGE:
	case CHILD_DELIVERER:
		assert(!"a child of the host service");
		break;
	}
	shared_close(&master->host);
	children_free(&master->children);
	free_retired(master);
	free(master->listener->path);
	setup_free(&master->setup);
	exit(code);
}

static void start_due(struct master *master)
{
	for (size_t i = 0; i < master->children.n; i++) {
		struct child *child = &master->children.list[i];

		if (child->pid == 0 && child->due_us <= clock_tick_us() && child_fork(child))
			run_child(master, child->kind, child->life);
	}
}

static bool make_children(struct master *master)
{
	size_t workers = count_workers(master->setup), n = workers + (has_watches(master->setup) ? 3 : 2);

	if (!children_make(&master->children, n))
		return false;
	master->children.list[workers].kind = CHILD_HOST;
	master->children.list[workers + 1].kind = CHILD_SENDER;
	if (n > workers + 2)
		master->children.list[workers + 2].kind = CHILD_WATCH;
	start_due(master); // none has run yet, so all are due
	return true;
}

static void note_end(struct master *master, pid_t pid, int status)
{
	struct child *child = children_find(&master->children, pid);
	char how[64];

	child_describe_end(status, how, sizeof(how));
	if (child == NULL) {
		if (WIFSIGNALED(status))
			log_warning("process %ld ended %s", (long)pid, how);
		forget_retired(master, pid);
		return;
	}
	child_ended(child, clock_tick_us());
	if (master->stopping)
		return;
	if (child->kind == CHILD_WORKER)
		metrics_add(master->host, METRICS_WORKERS_FAILED, 1);
	log_warning("%s %ld ended %s; another starts in %u ms", child_name(child), (long)pid, how, child->delay_ms);
}

// Notes that a child was stopped or continued. A stopped child of an earlier configuration is killed: all it has to do is to end.
static void note_stop(struct master *master, pid_t pid, bool stopped)
{
	struct child *child = children_find(&master->children, pid);

	if (child != NULL)
		child_note_stop(child, stopped);
	else if (stopped)
		(void)kill(pid, SIGKILL);
}

static void reap(struct master *master)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		if (WIFSTOPPED(status) || WIFCONTINUED(status))
			note_stop(master, pid, WIFSTOPPED(status));
		else
			note_end(master, pid, status);
	}
}

// Kills children that hang, once in LOOK_US, retired ones as well: they would keep their locks. Their end is handled like any
// other.
static void kill_hanging(struct master *master)
{
	int64_t now_us = clock_tick_us();

	if (now_us < master->look_us)
		return;
	master->look_us = now_us + LOOK_US;
	children_kill_hanging(&master->children, now_us, master->setup->settings->worker_deadline);
	for (size_t i = 0; i < master->n_retired; i++)
		children_kill_hanging(&master->retired[i], now_us, master->setup->settings->worker_deadline);
}

static bool any_running(const struct master *master)
{
	return children_any_running(&master->children) || master->n_retired > 0;
}

// ---- signals

// Tells children to end, workers by worker_signal (signals.h). Sender and watch process go on to receive from workers that still
// run.
static void end_children(const struct children *children, int worker_signal)
{
	for (size_t i = 0; i < children->n; i++) {
		if (children->list[i].pid != 0)
			(void)kill(children->list[i].pid, children->list[i].kind == CHILD_WORKER ? worker_signal : SIGTERM);
	}
}

// Tells all children to end. The queue of a socket that was opened here gets no more connections once its name is gone, and
// nobody else serves it: the workers do first (SIGTERM). An inherited socket goes on to take connections, so its queue may never
// be empty: the workers leave it to the next master (SIGQUIT).
static void end_all(const struct master *master, bool is_inherited)
{
	int worker_signal = is_inherited ? SIGQUIT : SIGTERM;

	end_children(&master->children, worker_signal);
	for (size_t i = 0; i < master->n_retired; i++)
		end_children(&master->retired[i], worker_signal);
}

static void stop(struct master *master)
{
	bool is_inherited = master->listener->path == NULL;

	if (master->stopping)
		return;
	log_info("stopping");
	notify_supervisor("STOPPING=1");
	listen_unlink(master->listener);
	master->stopping = true;
	master->kill_us = clock_tick_us() + STOP_LIMIT_MS * INT64_C(1000);
	end_all(master, is_inherited);
	// No child is forked any more. The sender and the watch process see by the end of these sockets that the last worker has
	// ended.
	handover_pair_close(master->watch_pair);
	handover_pair_close(master->sender_pair);
}

static void kill_late(struct master *master)
{
	if (!master->stopping || master->kill_us == 0 || clock_tick_us() < master->kill_us || !any_running(master))
		return;
	log_error("not all have ended within %d s: killing the rest", STOP_LIMIT_MS / 1000);
	master->kill_us = 0;
	children_signal(&master->children, SIGKILL);
	signal_retired(master, SIGKILL);
}

// Warns of settings that a reload can't change, only a new start.
static void warn_of_what_stays(const struct master *master, const struct setup *fresh)
{
	if (master->listener->path != NULL && strcmp(master->listener->path, fresh->endpoint_settings->socket) != 0)
		log_warning("socket %s stays in use; %s takes a restart", master->listener->path, fresh->endpoint_settings->socket);
	if (strcmp(master->setup->settings->user, fresh->settings->user) != 0 ||
		strcmp(master->setup->settings->group, fresh->settings->group) != 0)
		log_warning("another user or group takes a restart");
	if (master->listener->path != NULL &&
		strcmp(master->setup->endpoint_settings->socket_owner, fresh->endpoint_settings->socket_owner) != 0)
		log_warning("another socket_owner takes a restart");
}

// Applies what a reload can change of the socket. A mode that somebody has set by hand stays until another one is configured. An
// inherited socket stays as it was handed over.
static void adjust_socket(const struct master *master, const struct setup *fresh)
{
	unsigned mode = fresh->endpoint_settings->socket_mode;

	if (master->listener->path == NULL)
		return;
	(void)listen(master->listener->fd, (int)fresh->endpoint_settings->backlog);
	if (mode != master->setup->endpoint_settings->socket_mode && !listen_set_mode(master->listener, mode))
		log_warning("socket_mode %#o takes a restart: %s: %s", mode, master->listener->path, strerror(errno));
}

// Opens the shared memory of the new configuration, if that names another database or runtime_dir. The retired children keep what
// they have mapped, so processes of two databases never share counts, revisions of what they cache, or the epoch of the writer.
static void share_anew(struct master *master, const struct setup *fresh)
{
	if (host_is_same(master->setup->config, fresh->config))
		return;
	log_info("another database or runtime_dir: counts begin anew");
	shared_close(&master->host);
	master->host = host_shared_open(fresh->config);
}

// Leaves the pair of sockets to the watch process to the retired children. If the master kept its ends where no new process
// receives, a watch that a retired worker hands over after the retired watch process has ended would be stuck there without an
// end.
static void separate_watch_pair(struct master *master)
{
	int fresh[2];

	if (!handover_pair(fresh))
		return;
	handover_pair_close(master->watch_pair);
	memcpy(master->watch_pair, fresh, sizeof(fresh));
}

// Loads the configuration anew, opens its access log and retires the present children. NULL if that fails: the old one stays;
// logged.
static struct setup *load_anew(struct master *master)
{
	char *error = NULL;
	struct setup *fresh = setup_load(master->options->config, master->options->endpoint, &error);

	if (fresh != NULL && setup_reopen_logs(fresh, &error) == EX_OK && retire_children(master))
		return fresh;
	log_error("nothing is reloaded: %s", error != NULL ? error : "no memory");
	free(error);
	setup_free(&fresh);
	return NULL;
}

static void reload(struct master *master)
{
	struct setup *fresh = load_anew(master);

	if (fresh == NULL)
		return;
	notify_supervisor("RELOADING=1");
	warn_of_what_stays(master, fresh);
	adjust_socket(master, fresh);
	share_anew(master, fresh);
	setup_free(&master->setup);
	master->setup = fresh;
	(void)setup_open_logs(fresh, false);
	if (!has_watches(fresh))
		separate_watch_pair(master);
	if (!make_children(master)) {
		log_error("no memory for children");
		stop(master);
		return;
	}
	end_retired(master, has_watches(fresh));
	log_info("reloaded: %u workers serve the new configuration", fresh->endpoint_settings->workers);
	notify_supervisor("READY=1");
}

static void take_signal(struct master *master, int signal)
{
	switch (signal) {
	case SIGTERM:
	case SIGINT:
	case SIGQUIT:
		stop(master);
		break;
	case SIGHUP:
		if (!master->stopping)
			reload(master);
		break;
	case SIGUSR1:
		setup_reopen_logs_logged(master->setup);
		children_signal(&master->children, SIGUSR1);
		signal_retired(master, SIGUSR1);
		break;
	default: // SIGCHLD, or 0 because something is due: the main loop does what there is to do
		break;
	}
}

// ---- the loop

// The next time, in clock_tick_us(), at which something has to be done without a signal; INT64_MAX: never.
static int64_t next_due(const struct master *master)
{
	int64_t due = master->look_us;

	if (master->stopping)
		return master->kill_us == 0 ? INT64_MAX : master->kill_us;
	for (size_t i = 0; i < master->children.n; i++) {
		const struct child *child = &master->children.list[i];

		if (child->pid == 0 && child->due_us < due)
			due = child->due_us;
	}
	return due;
}

// Waits for a signal or until something is due; returns the signal, or 0 if something is due.
static int wait_for_signal(const struct master *master)
{
	int64_t due = next_due(master);
	int signal;

	if (due == INT64_MAX) {
		signal = sigwaitinfo(&master->signals, NULL);
	} else {
		int64_t us = due - clock_tick_us();
		us = us > 0 ? us : 0;
		const struct timespec limit = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };
		signal = sigtimedwait(&master->signals, NULL, &limit);
	}
	return signal > 0 ? signal : 0;
}

static void supervise(struct master *master)
{
	while (!master->stopping || any_running(master)) {
		take_signal(master, wait_for_signal(master));
		if (master->host != NULL)
			(void)shared_refresh(master->host, clock_tick_us());
		control_apply(master->host);
		reap(master);
		if (master->stopping)
			kill_late(master);
		else
			kill_hanging(master);
		if (!master->stopping)
			start_due(master);
	}
}

static void block_signals(struct master *master)
{
	signals_fill(&master->signals);
	sigaddset(&master->signals, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &master->signals, NULL);
	(void)signal(SIGCHLD, SIG_DFL); // if the parent had SIGCHLD ignored, waitpid(2) would not report children that end
}

// Can the present user load the configuration with all files that it names, as each reload does? False with *error.
static bool can_load(const struct master *master, char **error)
{
	struct setup *again = setup_load(master->options->config, master->options->endpoint, error);
	bool good = again != NULL;

	setup_free(&again);
	return good;
}

// Called when nothing more needs root: the socket is open and the access log made. What the user will open, the configuration at
// each reload and the access log after each rotation, is opened by the user here, so that the start fails and not a reload that
// matters.
static int become_user(struct master *master, char **error)
{
	const struct config *config = master->setup->config;

	if (!identity_changes(server_settings(config)->user)) {
		if (geteuid() == 0)
			log_warning("running as root, workers too: set user in [tenure]");
		return EX_OK;
	}
	if (!identity_become(server_settings(config)->user, server_settings(config)->group, error))
		return EX_OSERR;
	if (!can_load(master, error))
		return EX_CONFIG;
	return setup_reopen_logs(master->setup, error);
}

// Returns EX_OK, or the exit code; the reason is logged.
static int begin(struct master *master)
{
	const char *pid_file = master->options->pid_file;
	char *error = NULL;
	int code = become_user(master, &error);

	master->host = host_shared_open(master->setup->config);
	if (code == EX_OK && pid_file != NULL && !notify_write_pid(pid_file, &error))
		code = EX_CANTCREAT;
	if (code == EX_OK && (!handover_pair(master->watch_pair) || !handover_pair(master->sender_pair) || !make_children(master)))
		code = EX_OSERR;
	if (code != EX_OK)
		log_error("%s", error != NULL ? error : "no memory");
	free(error);
	return code;
}

int master_run(const struct master_options *options, struct setup *setup, struct listener *listener)
{
	struct master master = { .options = options, .setup = setup, .listener = listener, .pid = getpid(),
		.watch_pair = { -1, -1 }, .sender_pair = { -1, -1 } };
	block_signals(&master);
	int code = begin(&master);
	if (code == EX_OK) {
		log_info("%s: %u workers serve %s", setup->endpoint->name, setup->endpoint_settings->workers,
			listener->path != NULL ? listener->path : "the socket handed over");
		notify_supervisor("READY=1");
		supervise(&master);
		log_info("stopped");
	}
	listen_close(listener);
	shared_close(&master.host);
	if (options->pid_file != NULL)
		notify_remove_pid(options->pid_file);
	children_free(&master.children);
	free_retired(&master);
	setup_free(&master.setup);
	(void)log_access_open("");
	return code;
}
