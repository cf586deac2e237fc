// SPDX-License-Identifier: Apache-2.0
// A library that tests load into Tenure's processes and MariaDB by LD_PRELOAD: it lets the Nth call of a function of libc fail,
// and moves the clock. Tenure::Shim builds it and writes its orders, a struct orders in the file that TENURE_SHIM names;
// processes map it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// Classes of calls, a bit each in orders.classes; in this order in Tenure::Shim.
enum class { MEMORY, READ, WRITE, WAIT, OPEN, CONNECT, ACCEPT, RANDOM, SYNC, CONTROL, START };

struct orders {
	_Atomic int64_t clock_ns; // added to the clock of the day
	_Atomic int32_t classes;  // which calls count
	_Atomic int32_t left;     // the call that makes this 0 fails; 0 or less: none does
	int32_t error;            // with this errno; 0: it does its work for one byte only
	_Atomic int32_t process;  // only in the process with this id; 0: in those with this name
	_Atomic int32_t passed;   // calls that counted
	char failed[32];          // the function that failed; "": none has
	char function[32];        // only calls of this function count; "": of all in the classes
	char name[16];            // as prctl(PR_GET_NAME) has it
	_Atomic int32_t lasting;  // 1: all later calls fail, too
};

static struct orders *orders;
// Only a process of one of these names has faults or another clock: tests start shells and web servers in the same environment.
static const char *const names[] = { "tenured", "tenured-host", "tenure-manage", "tenure", "mariadbd" };

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("TENURE_SHIM"), *name = program_invocation_short_name;
	bool is_ours = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		is_ours = is_ours || strcmp(name, names[i]) == 0;
	if (path == NULL || !is_ours)
		return;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	void *map = mmap(NULL, sizeof(*orders), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	(void)close(fd);
	if (map != MAP_FAILED)
		orders = map;
}

// Is this the process that is meant?
static bool is_meant(void)
{
	char name[16] = "";

	if (orders->process != 0)
		return orders->process == getpid();
	return orders->name[0] != '\0' && prctl(PR_GET_NAME, name) == 0 && strncmp(name, orders->name, sizeof(name)) == 0;
}

// Does this call fail? Then errno is set, unless it is to do its work for one byte only.
static bool fails(enum class class, const char *function)
{
	if (orders == NULL || (orders->classes & 1 << class) == 0 || !is_meant())
		return false;
	if (orders->function[0] != '\0' && strncmp(function, orders->function, sizeof(orders->function)) != 0)
		return false;
	(void)atomic_fetch_add(&orders->passed, 1);
	if (orders->left <= 0 || atomic_fetch_sub(&orders->left, 1) != 1)
		return false;
	if (orders->lasting != 0)
		orders->left = 1;
	for (size_t i = 0; i + 1 < sizeof(orders->failed) && function[i] != '\0'; i++)
		orders->failed[i] = function[i];
	errno = orders->error;
	return true;
}

#define REAL(function, type, ...) ((type(*)(__VA_ARGS__))real(#function))

static void *real(const char *function)
{
	return dlsym(RTLD_NEXT, function);
}

// ---- memory

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	return fails(MEMORY, __func__) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(MEMORY, __func__) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails(MEMORY, __func__) ? NULL : __libc_realloc(p, size);
}

// ---- descriptors. A short call is one of a byte.

#define BEGIN(class, amount)                                                                                                   \
	if (fails(class, __func__)) {                                                                                          \
		if (orders->error != 0)                                                                                        \
			return -1;                                                                                             \
		amount = amount > 1 ? 1 : amount;                                                                              \
	}

ssize_t read(int fd, void *to, size_t n)
{
	BEGIN(READ, n)
	return REAL(read, ssize_t, int, void *, size_t)(fd, to, n);
}

ssize_t recv(int fd, void *to, size_t n, int flags)
{
	BEGIN(READ, n)
	return REAL(recv, ssize_t, int, void *, size_t, int)(fd, to, n, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	size_t n = 1;

	BEGIN(READ, n)
	return REAL(recvmsg, ssize_t, int, struct msghdr *, int)(fd, message, flags);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	BEGIN(READ, n)
	return REAL(pread, ssize_t, int, void *, size_t, off_t)(fd, to, n, at);
}

ssize_t write(int fd, const void *from, size_t n)
{
	BEGIN(WRITE, n)
	return REAL(write, ssize_t, int, const void *, size_t)(fd, from, n);
}

ssize_t send(int fd, const void *from, size_t n, int flags)
{
	BEGIN(WRITE, n)
	return REAL(send, ssize_t, int, const void *, size_t, int)(fd, from, n, flags);
}

// A message with descriptors has a name of its own: it is no part of an answer.
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (fails(WRITE, message->msg_controllen > 0 ? "sendmsg with descriptors" : __func__) && orders->error != 0)
		return -1;
	return REAL(sendmsg, ssize_t, int, const struct msghdr *, int)(fd, message, flags);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	BEGIN(WRITE, n)
	return REAL(writev, ssize_t, int, const struct iovec *, int)(fd, parts, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
	BEGIN(WRITE, n)
	return REAL(pwrite, ssize_t, int, const void *, size_t, off_t)(fd, from, n, at);
}

// What has no amount does its work where it was to do less.
#define OR_FAIL(class)                                                                                                         \
	if (fails(class, __func__) && orders->error != 0)                                                                      \
		return -1;

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	OR_FAIL(WAIT)
	return REAL(poll, int, struct pollfd *, nfds_t, int)(fds, n, timeout);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	OR_FAIL(WAIT)
	return REAL(ppoll, int, struct pollfd *, nfds_t, const struct timespec *, const sigset_t *)(fds, n, timeout, mask);
}

int epoll_wait(int fd, struct epoll_event *events, int n, int timeout)
{
	// The kernel needs no memory for this one, unlike poll().
	if (fails(WAIT, __func__) && orders->error != ENOMEM && orders->error != 0)
		return -1;
	return REAL(epoll_wait, int, int, struct epoll_event *, int, int)(fd, events, n, timeout);
}

int select(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout)
{
	OR_FAIL(WAIT)
	return REAL(select, int, int, fd_set *, fd_set *, fd_set *, struct timeval *)(n, in, out, other, timeout);
}

int open(const char *path, int flags, ...)
{
	va_list rest;

	va_start(rest, flags);
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;

	va_end(rest);
	OR_FAIL(OPEN)
	return REAL(open, int, const char *, int, ...)(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	va_list rest;

	va_start(rest, flags);
	mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;

	va_end(rest);
	OR_FAIL(OPEN)
	return REAL(openat, int, int, const char *, int, ...)(dir, path, flags, mode);
}

int socket(int domain, int type, int protocol)
{
	OR_FAIL(OPEN)
	return REAL(socket, int, int, int, int)(domain, type, protocol);
}

int connect(int fd, const struct sockaddr *address, socklen_t n)
{
	OR_FAIL(CONNECT)
	return REAL(connect, int, int, const struct sockaddr *, socklen_t)(fd, address, n);
}

int accept(int fd, struct sockaddr *address, socklen_t *n)
{
	OR_FAIL(ACCEPT)
	return REAL(accept, int, int, struct sockaddr *, socklen_t *)(fd, address, n);
}

int accept4(int fd, struct sockaddr *address, socklen_t *n, int flags)
{
	OR_FAIL(ACCEPT)
	return REAL(accept4, int, int, struct sockaddr *, socklen_t *, int)(fd, address, n, flags);
}

ssize_t getrandom(void *to, size_t n, unsigned flags)
{
	BEGIN(RANDOM, n)
	return REAL(getrandom, ssize_t, void *, size_t, unsigned)(to, n, flags);
}

int getentropy(void *to, size_t n)
{
	OR_FAIL(RANDOM)
	return REAL(getentropy, int, void *, size_t)(to, n);
}

int fsync(int fd)
{
	OR_FAIL(SYNC)
	return REAL(fsync, int, int)(fd);
}

int fdatasync(int fd)
{
	OR_FAIL(SYNC)
	return REAL(fdatasync, int, int)(fd);
}

int ftruncate(int fd, off_t n)
{
	OR_FAIL(CONTROL)
	return REAL(ftruncate, int, int, off_t)(fd, n);
}

off_t lseek(int fd, off_t at, int from)
{
	OR_FAIL(CONTROL)
	return REAL(lseek, off_t, int, off_t, int)(fd, at, from);
}

// ---- what a process does when it starts

pid_t fork(void)
{
	OR_FAIL(START)
	return REAL(fork, pid_t, void)();
}

int epoll_create1(int flags)
{
	OR_FAIL(START)
	return REAL(epoll_create1, int, int)(flags);
}

int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
	OR_FAIL(START)
	return REAL(epoll_ctl, int, int, int, int, struct epoll_event *)(epoll, what, fd, event);
}

int signalfd(int fd, const sigset_t *signals, int flags)
{
	OR_FAIL(START)
	return REAL(signalfd, int, int, const sigset_t *, int)(fd, signals, flags);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
	OR_FAIL(START)
	return REAL(socketpair, int, int, int, int, int *)(domain, type, protocol, ends);
}

int memfd_create(const char *name, unsigned flags)
{
	OR_FAIL(START)
	return REAL(memfd_create, int, const char *, unsigned)(name, flags);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	if (fails(START, __func__) && orders->error != 0)
		return MAP_FAILED;
	return REAL(mmap, void *, void *, size_t, int, int, int, off_t)(at, n, protection, flags, fd, offset);
}

// ---- the clock of the day; the monotonic clock stays

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int rc = REAL(clock_gettime, int, clockid_t, struct timespec *)(clock, time);

	if (rc != 0 || orders == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
		return rc;
	int64_t ns = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + orders->clock_ns;

	*time = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	return 0;
}

int gettimeofday(struct timeval *time, void *zone)
{
	struct timespec now;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &now) != 0)
		return -1;
	*time = (struct timeval){ .tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000 };
	return 0;
}

time_t time(time_t *to)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (to != NULL)
		*to = now.tv_sec;
	return now.tv_sec;
}
