// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "server/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "server/setup/settings.h"
#include "server/setup/signals.h"
#include "server/wire/handover.h"

enum { EVENTS = 64, LOOK_MS = 1000, AT_ONCE = 1 << 20 };

// What waits for one tenant's clients.
struct account {
	uint64_t tenant;
	uint64_t waiting; // bytes of its unsent answers that are not gone
	size_t n_unsent;  // 0: the next sweep frees it
	struct account *next;
};

// The rest of one answer, which is still to be sent.
struct unsent_answer {
	int fd, file;     // fd: the connection to the web server; file: the bytes to be sent
	off_t at, size;
	struct account *account;
	int64_t moved_us; // clock_tick_us() when the web server last accepted bytes
	bool gone;        // the next sweep closes it
	struct unsent_answer *next;
};

struct sender {
	const struct setup *setup;
	struct shared *host; // NULL: none
	int from;         // where unsent answers are handed over; -1: none is received any more
	int signal_fd, epoll_fd;
	struct unsent_answer *first;
	struct account *accounts;
	uint64_t waiting; // bytes of all unsent answers that are not gone
	unsigned stuck_s; // how long an unsent answer may make no progress
	int64_t stop_us;  // clock_tick_us() at which the process ends, whatever it has; 0: when it receives no more and has sent all
};

static uint64_t bytes_of(const struct unsent_answer *unsent)
{
	return (uint64_t)(unsent->size - unsent->at);
}

// So many bytes of the unsent answer wait no more.
static void count_down(struct sender *sender, struct unsent_answer *unsent, uint64_t bytes)
{
	assert(bytes <= unsent->account->waiting && bytes <= sender->waiting);
	unsent->account->waiting -= bytes;
	sender->waiting -= bytes;
}

// Marks it for the next sweep. Events of it may still be in the batch that epoll returned, so it isn't freed at once.
static void give_up(struct sender *sender, struct unsent_answer *unsent)
{
	if (!unsent->gone)
		count_down(sender, unsent, bytes_of(unsent));
	unsent->gone = true;
}

// Writes what the connection accepts now. Never blocks.
static void push(struct sender *sender, struct unsent_answer *unsent)
{
	while (!unsent->gone && unsent->at < unsent->size) {
		off_t at = unsent->at;
		ssize_t n = sendfile(unsent->fd, unsent->file, &at, AT_ONCE);
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
			return;
		if (n <= 0)
			break;
		count_down(sender, unsent, (uint64_t)n);
		unsent->at = at;
		unsent->moved_us = clock_tick_us();
	}
	give_up(sender, unsent); // everything is sent, or the peer is gone
}

// The worker that handed a connection over may have it open still, and then closing it here does not end epoll's events, whose
// data is the unsent answer.
static void sweep(struct sender *sender)
{
	for (struct unsent_answer **at = &sender->first; *at != NULL;) {
		struct unsent_answer *unsent = *at;
		if (!unsent->gone) {
			at = &unsent->next;
			continue;
		}
		*at = unsent->next;
		(void)epoll_ctl(sender->epoll_fd, EPOLL_CTL_DEL, unsent->fd, NULL);
		close(unsent->fd);
		close(unsent->file);
		unsent->account->n_unsent--;
		free(unsent);
	}
	for (struct account **at = &sender->accounts; *at != NULL;) {
		struct account *account = *at;
		if (account->n_unsent > 0) {
			at = &account->next;
			continue;
		}
		*at = account->next;
		free(account);
	}
}

// ---- limits on what waits

// The tenant's account, a new one if it has none. NULL: no memory.
static struct account *account_of(struct sender *sender, uint64_t tenant)
{
	struct account *account = sender->accounts;

	while (account != NULL && account->tenant != tenant)
		account = account->next;
	if (account != NULL)
		return account;
	account = calloc(1, sizeof(*account));
	if (account == NULL)
		return NULL;
	*account = (struct account){ .tenant = tenant, .next = sender->accounts };
	sender->accounts = account;
	return account;
}

// The connection to close if too many bytes wait: of the tenant with the most bytes, the one without progress for the longest
// time. NULL: nothing waits.
static struct unsent_answer *find_loser(const struct sender *sender)
{
	struct unsent_answer *loser = NULL;
	uint64_t most = 0;

	for (struct unsent_answer *unsent = sender->first; unsent != NULL; unsent = unsent->next) {
		uint64_t bytes = unsent->gone ? 0 : unsent->account->waiting;
		if (bytes > most || (bytes == most && loser != NULL && !unsent->gone && unsent->moved_us < loser->moved_us)) {
			most = bytes;
			loser = unsent;
		}
	}
	return loser;
}

// Events of those that are cut off may be in hand, so they are freed by the next sweep, and only count no more.
static void make_room(struct sender *sender)
{
	struct unsent_answer *loser;

	while (sender->waiting > sender->setup->settings->unsent && (loser = find_loser(sender)) != NULL) {
		log_warning("more than %llu bytes of answers wait for slow clients: one of the tenant with the most is cut off",
			(unsigned long long)sender->setup->settings->unsent);
		give_up(sender, loser);
	}
}

// ---- taking over

// Takes over a connection with its file. False: both stay the caller's. Workers use connections that block; sendfile() would then
// wait until one client has taken all that it was given, and so would all others.
static bool add(struct sender *sender, int fd, int file, uint64_t tenant)
{
	struct unsent_answer *unsent = calloc(1, sizeof(*unsent));
	struct account *account = account_of(sender, tenant);
	struct epoll_event event = { .events = EPOLLOUT, .data.ptr = unsent };
	struct stat st;

	if (unsent == NULL || account == NULL || fstat(file, &st) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
		epoll_ctl(sender->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(unsent);
		return false;
	}
	*unsent = (struct unsent_answer){ .fd = fd, .file = file, .size = st.st_size, .account = account, .moved_us = clock_tick_us(),
		.next = sender->first };
	sender->first = unsent;
	account->n_unsent++;
	account->waiting += bytes_of(unsent);
	sender->waiting += bytes_of(unsent);
	return true;
}

// Receives no more. The descriptor is closed, so that a worker whose unsent answer nobody receives notices that.
static void stop_receiving(struct sender *sender)
{
	if (sender->from < 0)
		return;
	(void)epoll_ctl(sender->epoll_fd, EPOLL_CTL_DEL, sender->from, NULL); // other processes may have it open still
	close(sender->from);
	sender->from = -1;
}

static void take_over(struct sender *sender)
{
	enum handover_found found = HANDOVER_NONE;
	uint64_t tenant;
	int fd, file;

	while (sender->from >= 0 && (found = handover_receive_rest(sender->from, &fd, &file, &tenant)) == HANDOVER_ONE) {
		// Nothing more is read from the connection: a request that the web server sends on it fails there.
		(void)shutdown(fd, SHUT_RD);
		if (add(sender, fd, file, tenant))
			continue;
		log_error("the rest of an answer can't be sent: %s", strerror(errno));
		close(fd);
		close(file);
	}
	if (found == HANDOVER_END)
		stop_receiving(sender);
	make_room(sender);
}

// ---- the loop

// The service stops, and workers finish their requests: they may still hand unsent answers over, until the last of them has
// ended.
static void stop(struct sender *sender)
{
	if (sender->stop_us == 0)
		sender->stop_us = clock_tick_us() + sender->stuck_s * INT64_C(1000000);
}

static void take_signals(struct sender *sender)
{
	struct signalfd_siginfo info;

	while (read(sender->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGQUIT)
			stop_receiving(sender); // a reload: the next sender receives what comes from now on
		else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
			stop(sender);
		else
			setup_reopen_logs_logged(sender->setup);
	}
}

static void take_event(struct sender *sender, const struct epoll_event *event)
{
	if (event->data.ptr == &sender->signal_fd)
		take_signals(sender);
	else if (event->data.ptr == &sender->from)
		take_over(sender);
	else
		push(sender, event->data.ptr); // an error of the connection shows at the write
}

// Closes connections that have not accepted a byte for stuck_s, and those that are finished.
static void end_stuck(struct sender *sender)
{
	int64_t now_us = clock_tick_us();

	for (struct unsent_answer *unsent = sender->first; unsent != NULL; unsent = unsent->next) {
		if (now_us - unsent->moved_us > sender->stuck_s * INT64_C(1000000))
			give_up(sender, unsent);
	}
	sweep(sender);
}

static bool goes_on(const struct sender *sender)
{
	return (sender->from >= 0 || sender->first != NULL) && (sender->stop_us == 0 || clock_tick_us() < sender->stop_us);
}

static void loop(struct sender *sender)
{
	struct epoll_event events[EVENTS];

	while (goes_on(sender)) {
		int n = epoll_wait(sender->epoll_fd, events, EVENTS, sender->first != NULL || sender->stop_us != 0 ? LOOK_MS : -1);
		if (sender->host != NULL)
			(void)shared_refresh(sender->host, clock_tick_us());
		control_apply(sender->host); // before anything is logged
		for (int i = 0; i < n; i++)
			take_event(sender, &events[i]);
		end_stuck(sender);
	}
}

static bool listen_to(const struct sender *sender, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return fd >= 0 && epoll_ctl(sender->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

int sender_main(const struct setup *setup, int from, struct shared *host, unsigned stuck_s)
{
	assert(from >= 0 && stuck_s > 0);
	struct sender sender = { .setup = setup, .from = from, .host = host, .stuck_s = stuck_s };
	struct rlimit limit;
	sigset_t signals;
	int code = EX_OSERR;

	(void)prctl(PR_SET_NAME, "tenured-send"); // the name in ps and top
	(void)signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	signals_fill(&signals);
	sender.signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
	sender.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (sender.epoll_fd >= 0 && listen_to(&sender, sender.signal_fd, &sender.signal_fd) && listen_to(&sender, from,
		&sender.from)) {
		loop(&sender);
		code = EX_OK;
	} else {
		log_error("can't send what is left of answers: %s", strerror(errno));
	}
	for (struct unsent_answer *unsent = sender.first; unsent != NULL; unsent = unsent->next)
		give_up(&sender, unsent);
	sweep(&sender);
	stop_receiving(&sender);
	close(sender.epoll_fd);
	close(sender.signal_fd);
	return code;
}
