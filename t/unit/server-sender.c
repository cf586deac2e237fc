// SPDX-License-Identifier: Apache-2.0
// The process for slow clients: unsent answers that are sent, or cut off, while the worker that handed them over has their
// connections open still. What epoll watches is looked up in /proc: a connection that stays there has a rest that was freed.
#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "server/sender.h"
#include "server/setup/settings.h"
#include "server/wire/handover.h"
#include "tap.h"

enum { SIZE = 4 << 20, OWN = 2 }; // OWN: what the sender watches besides connections: signals, and what is handed over

static int line[2]; // to the sender that was begun last; this process is its only worker

// How many descriptors the epoll of that process watches; -1: it has none.
static int count_watched(pid_t pid)
{
	char path[300], text[256];
	int n = -1;

	(void)snprintf(path, sizeof(path), "/proc/%ld/fdinfo", (long)pid);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder != NULL && n < 0 && (entry = readdir(folder)) != NULL;) {
		(void)snprintf(path, sizeof(path), "/proc/%ld/fdinfo/%s", (long)pid, entry->d_name);
		FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (file != NULL && fgets(text, sizeof(text), file) != NULL) {
			if (strncmp(text, "tfd:", 4) == 0)
				n = n < 0 ? 1 : n + 1;
		}
		if (file != NULL)
			(void)fclose(file);
	}
	if (folder != NULL)
		(void)closedir(folder);
	return n;
}

static bool comes_to_watch(pid_t pid, int n)
{
	for (int tries = 0; tries < 3000; tries++) {
		if (count_watched(pid) == n)
			return true;
		(void)usleep(10000);
	}
	return false;
}

// Workers give up soon if the sender does not get to take what they hand over. On a busy machine it may need longer.
static bool send_rest(int fd, int file, uint64_t tenant)
{
	for (int tries = 0; tries < 20; tries++) {
		if (handover_send_rest(line[0], fd, file, tenant))
			return true;
	}
	return false;
}

// A connection of which the sender gets one end, which blocks as those of workers do, and a file of SIZE bytes; that end stays
// open here, too.
static bool hand_over(int connection[2], uint64_t tenant)
{
	FILE *file = tmpfile();
	bool done = file != NULL && ftruncate(fileno(file), SIZE) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, connection) == 0 &&
		    send_rest(connection[0], fileno(file), tenant);

	if (file != NULL)
		(void)fclose(file);
	return done;
}

static size_t read_all(int fd, size_t most)
{
	static char bytes[65536];
	size_t got = 0;

	for (ssize_t n; got < most && (n = read(fd, bytes, most - got < sizeof(bytes) ? most - got : sizeof(bytes))) > 0;)
		got += (size_t)n;
	return got;
}

// A connection of which the sender gets one end, and nothing can be written to it. Returns the other end; -1: there is none.
static int hand_over_full(FILE *file, uint64_t tenant)
{
	const int least = 1;
	static const char bytes[4096];
	int connection[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, connection) != 0)
		return -1;
	(void)setsockopt(connection[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least));
	while (send(connection[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		continue;
	bool done = errno == EAGAIN && send_rest(connection[0], fileno(file), tenant);
	close(connection[0]);
	return done ? connection[1] : -1;
}

enum { MANY = 4000 };

// The processor time that a list of MANY takes to be gone through MANY times, on this machine and as this program runs, under
// valgrind for example.
static int64_t walks_us(void)
{
	static struct walked {
		struct walked *next;
		volatile uint64_t bytes;
	} list[MANY];
	struct timespec begun, end;
	uint64_t most = 0;

	for (size_t i = 0; i + 1 < MANY; i++)
		list[i].next = &list[i + 1];
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
	for (size_t i = 0; i < MANY; i++) {
		for (const struct walked *at = list; at != NULL; at = at->next)
			most = at->bytes > most ? at->bytes : most;
	}
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return (end.tv_sec - begun.tv_sec) * INT64_C(1000000) + (end.tv_nsec - begun.tv_nsec) / 1000;
}

// Many clients that take nothing, of a hundred tenants: half of them are cut off one by one. Which one is to go is found at a
// cost that grows with the clients, not with their square: the end of the process tells the time that it took.
static void test_many(pid_t pid, uint64_t room)
{
	enum { EACH = 5000 };
	static int ends[MANY];
	struct rlimit limit;
	int n = 0;
	FILE *file = tmpfile();

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (limit.rlim_max < 3 * MANY || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
		skip("too few descriptors for many clients");
		return;
	}
	if (file == NULL || ftruncate(fileno(file), EACH) != 0)
		bail_out("no file");
	while (n < MANY && (ends[n] = hand_over_full(file, 100 + (uint64_t)n % 100)) >= 0)
		n++;
	is_int(n, MANY, "many rests that nobody takes");
	ok(comes_to_watch(pid, OWN + (int)(room / EACH)), "of which as many wait as there is room for");
	for (int i = 0; i < n; i++)
		close(ends[i]);
	ok(comes_to_watch(pid, OWN), "until their clients go");
	(void)fclose(file);
}

// Begins a sender with that limit, as the master does. Its signals are blocked from the start.
static pid_t begin(const struct setup *setup, unsigned stuck_s)
{
	sigset_t blocked;

	fflush(stdout);
	if (!handover_pair(line))
		bail_out("no pair");
	(void)sigfillset(&blocked);
	(void)sigprocmask(SIG_BLOCK, &blocked, NULL);
	pid_t pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(line[0]);
		_exit(sender_main(setup, line[1], NULL, stuck_s));
	}
	close(line[1]);
	(void)sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	return pid;
}

// A client that takes some bytes ten times a second, for longer than a rest may make no progress; then the rest of them.
static size_t read_slowly(int fd, unsigned stuck_s)
{
	size_t got = 0;

	for (unsigned i = 0; i < 10 * (stuck_s + 2); i++) {
		got += read_all(fd, 16384);
		(void)usleep(100000);
	}
	return got + read_all(fd, SIZE - got);
}

static void ends_well(pid_t pid, const char *what)
{
	int status = -1;

	is_int(waitpid(pid, &status, 0), pid, "%s: it ends", what);
	is_int(status, 0, "%s: well", what);
}

// Begins a sender, with a client that reads slowly, and sends it the signal.
static pid_t begin_and_signal(const struct setup *setup, unsigned stuck_s, int signal, int connection[2], const char *what)
{
	pid_t pid = begin(setup, stuck_s);

	ok(comes_to_watch(pid, OWN) && hand_over(connection, 1) && comes_to_watch(pid, OWN + 1), "%s while a client reads slowly", what);
	close(connection[0]);
	(void)kill(pid, signal);
	return pid;
}

// A reload retires the sender, and cuts off nobody. The next sender gets what comes after it; if there is none, the worker sends
// it itself.
static void test_reload(const struct setup *setup)
{
	const unsigned stuck_s = 5;
	int connection[2], another[2];
	pid_t pid = begin_and_signal(setup, stuck_s, SIGQUIT, connection, "a reload");

	ok(comes_to_watch(pid, OWN), "a reload: nothing more is handed over to it");
	ok(!hand_over(another, 1), "a reload: who hands over notices that nobody takes it");
	close(another[0]);
	close(another[1]);
	is_int((int64_t)read_slowly(connection[1], stuck_s), SIZE, "a reload: all is sent, however slowly");
	ends_well(pid, "a reload");
	close(connection[1]);
	close(line[0]);
}

// A stop of the service waits no longer than for somebody who takes nothing. Workers that finish their requests hand over rests
// meanwhile.
static void test_stop(const struct setup *setup)
{
	const unsigned stuck_s = 5;
	int connection[2], later[2];
	pid_t pid = begin_and_signal(setup, stuck_s, SIGTERM, connection, "a stop");

	ok(hand_over(later, 2), "a stop: a worker that has not ended hands over another rest");
	close(later[0]);
	is_int((int64_t)read_all(later[1], SIZE), SIZE, "a stop: it is sent whole");
	ok(read_slowly(connection[1], stuck_s) < SIZE, "a stop: nobody is waited for for ever");
	ends_well(pid, "a stop");
	close(later[1]);
	close(connection[1]);
	close(line[0]);
}

// With the last worker ends the sender, once it has sent all.
static void test_last_worker(const struct setup *setup, int signal)
{
	char what[64];
	int connection[2];

	(void)snprintf(what, sizeof(what), "the last worker has ended, signal %d", signal);
	pid_t pid = begin_and_signal(setup, SENDER_STUCK_S, signal, connection, what);
	close(line[0]);
	ok(comes_to_watch(pid, OWN), "%s: nothing more can come", what);
	is_int((int64_t)read_all(connection[1], SIZE), SIZE, "%s: the client gets all", what);
	ends_well(pid, what);
	close(connection[1]);
}

int main(void)
{
	struct server_settings settings = { .unsent = 2 * SIZE + SIZE / 2 };
	const struct setup setup = { .settings = &settings };
	int first[2], second[2], third[2], status = -1;
	struct rusage usage;

	(void)alarm(600); // nothing here takes so long
	log_open("sender", LOG_SINK_STDERR, LOG_LEVEL_ERROR);
	pid_t pid = begin(&setup, SENDER_STUCK_S);
	ok(comes_to_watch(pid, OWN), "the process waits for rests");

	ok(hand_over(first, 1), "a rest");
	is_int((int64_t)read_all(first[1], SIZE), SIZE, "is sent whole");
	ok(comes_to_watch(pid, OWN), "its connection is watched no more, although it is open here");

	ok(hand_over(first, 1) && comes_to_watch(pid, OWN + 1), "a rest that nobody takes");
	ok(hand_over(second, 2) && comes_to_watch(pid, OWN + 2), "and one of another tenant");
	ok(hand_over(third, 2) && comes_to_watch(pid, OWN + 2), "with one more there is more than may wait: the oldest of that tenant is watched no more");
	close(second[0]);
	ok(read_all(second[1], SIZE) < SIZE, "its client sees that it was cut off");
	is_int((int64_t)read_all(first[1], SIZE), SIZE, "the other tenant's is sent whole");
	is_int((int64_t)read_all(third[1], SIZE), SIZE, "so is the last one");
	ok(comes_to_watch(pid, OWN), "no connection is watched any more");
	test_many(pid, settings.unsent);

	(void)kill(pid, SIGTERM);
	close(line[0]);
	is_int(wait4(pid, &status, 0, &usage), pid, "it ends");
	is_int(status, 0, "well");
	int64_t worked_us = usage.ru_utime.tv_sec * INT64_C(1000000) + usage.ru_utime.tv_usec, walks = walks_us();
	ok(worked_us < 50 * walks, "after %lld us of work; going through as many clients as many times takes %lld us", (long long)worked_us, (long long)walks);

	test_reload(&setup);
	test_stop(&setup);
	test_last_worker(&setup, SIGTERM);
	test_last_worker(&setup, 0);
	return done_testing();
}
