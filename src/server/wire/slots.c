// SPDX-License-Identifier: Apache-2.0
// The connections of a worker, from accept() to the moment at which libfcgi reads a request from them. Each has an FCGX_Request
// of its own, made without a listening socket, so that the library can never block in accept(2).
#include "base/base.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "server/wire/fcgi_internal.h"
#include "server/wire/outside.h"
#include "server/wire/params_ahead.h"

enum {
	IO_TIMEOUT_S = 30,         // longest wait for the web server to send or accept a byte
	LISTEN_PAUSE_MS = 100,     // pause of accepting if there is no room for another connection
	FIRST_BYTE_MS = 500,       // time between a connection and the first byte of its request; also for the rest of a record outside requests
};

// Sizes of parameters that are checked before the library reads them.
enum {
	AHEAD_FIRST = 8192,        // bytes; enough for the parameters of most requests
	AHEAD_MOST = 192 << 10,    // bytes of parameters, with the heads of their records, that a socket's buffer holds for
	                           // certain
	AHEAD_NAP_MS = 1,
	AHEAD_STUCK_MS = 100,
};

bool slot_is_open(const struct slot *slot)
{
	return fcgx_fd(&slot->fcgx) >= 0;
}

void slot_reset(struct slot *slot)
{
	FCGX_InitRequest(&slot->fcgx, -1, 0);
	slot->watched = false;
	slot->served = false;
}

void slot_close(struct slot *slot)
{
	assert(slot_is_open(slot));
	close(fcgx_fd(&slot->fcgx));
	slot_reset(slot);
}

bool slots_watch(struct fcgi *fcgi, int fd, uint32_t key, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u32 = key };

	assert(fd >= 0);
	if (epoll_ctl(fcgi->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	log_error("epoll_ctl: %s", strerror(errno));
	return false;
}

void slots_listen(struct fcgi *fcgi)
{
	if (!fcgi->listening)
		fcgi->listening = slots_watch(fcgi, fcgi->listen_fd, KEY_LISTEN, EPOLLIN | EPOLLEXCLUSIVE);
}

void slots_stop_listening(struct fcgi *fcgi)
{
	if (fcgi->listening)
		(void)epoll_ctl(fcgi->epoll_fd, EPOLL_CTL_DEL, fcgi->listen_fd, NULL);
	fcgi->listening = false;
}

// Stops accepting for LISTEN_PAUSE_MS, so that a lack of descriptors does not turn the loop into a busy one.
static void listen_pause(struct fcgi *fcgi)
{
	slots_stop_listening(fcgi);
	fcgi->listen_again_us = clock_tick_us() + LISTEN_PAUSE_MS * 1000;
}

// ---- connections

void slot_refuse(const struct slot *slot)
{
	assert(slot_is_open(slot));
	(void)shutdown(fcgx_fd(&slot->fcgx), SHUT_RD);
}

enum peek { PEEK_READY, PEEK_QUIET, PEEK_GONE };

// Looks whether bytes have arrived, without reading them: PEEK_QUIET if none have, PEEK_GONE if the peer has closed.
static enum peek slot_peek(const struct slot *slot)
{
	char byte;
	ssize_t n = recv(fcgx_fd(&slot->fcgx), &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n > 0)
		return PEEK_READY;
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? PEEK_QUIET : PEEK_GONE;
}

static struct slot *slot_free(struct fcgi *fcgi)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (!slot_is_open(&fcgi->slots[i]))
			return &fcgi->slots[i];
	}
	return NULL;
}

// May the connection be closed? A kept connection without a request may be, at any time; a new one only if its request does not
// come.
static bool is_idle(const struct slot *slot, int64_t now_us)
{
	return (slot->served || now_us - slot->idle_since_us > IO_TIMEOUT_S * INT64_C(1000000)) &&
		slot_peek(slot) != PEEK_READY;
}

// Makes room by closing the connection that has been idle for the longest time. NULL if no connection is idle.
static struct slot *slot_recycle(struct fcgi *fcgi)
{
	struct slot *oldest = NULL;
	int64_t now_us = clock_tick_us();

	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &fcgi->slots[i];

		if ((oldest == NULL || slot->idle_since_us < oldest->idle_since_us) && is_idle(slot, now_us))
			oldest = slot;
	}
	if (oldest != NULL)
		slot_close(oldest);
	return oldest;
}

// Begins to use a connection. The timeouts end reads and writes of the library whose peer stalls.
static void slot_open(struct slot *slot, int fd)
{
	const struct timeval patience = { .tv_sec = IO_TIMEOUT_S };

	assert(!slot_is_open(slot) && fd >= 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	fcgx_open(&slot->fcgx, fd);
	slot->idle_since_us = clock_tick_us();
}

struct slot *slot_accept(struct fcgi *fcgi)
{
	struct slot *slot = slot_free(fcgi);

	if (slot == NULL)
		slot = slot_recycle(fcgi);
	if (slot == NULL) {
		listen_pause(fcgi);
		return NULL;
	}
	int fd = accept4(fcgi->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0) {
		slot_open(slot, fd);
		if (fcgi->stopping && --fcgi->accepts_left == 0)
			slots_stop_listening(fcgi);
		return slot;
	}
	if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ECONNABORTED && errno != EINTR) {
		log_warning("accept: %s", strerror(errno));
		listen_pause(fcgi);
	}
	return NULL;
}

void slot_watch(struct fcgi *fcgi, struct slot *slot)
{
	assert(slot_is_open(slot));
	if (!slot->watched)
		slot->watched = slots_watch(fcgi, fcgx_fd(&slot->fcgx), (uint32_t)(slot - fcgi->slots), EPOLLIN | EPOLLRDHUP);
	if (!slot->watched)
		slot_close(slot);
}

// ---- checking parameters before the library reads them

static unsigned char ahead[AHEAD_MOST];

// Waits for the rest of the parameters, of which the first n bytes are there. They arrive at once, unless the web server or the
// network is slow. False: they exceed the limits, or don't arrive.
static bool await_params(const struct fcgi *fcgi, int fd, size_t n)
{
	size_t max = fcgi->max_params;
	int room = 2 * AHEAD_MOST;
	int64_t grown_us = clock_tick_us(), now_us;
	bool over = false; // the peer will send nothing more

	// A TCP socket may offer less room at first. A unix socket ignores this option, which does no harm.
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	for (;;) {
		ssize_t got = recv(fd, ahead, sizeof(ahead), MSG_PEEK | MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		now_us = clock_tick_us();
		if (got > (ssize_t)n) {
			n = (size_t)got;
			grown_us = now_us;
		}
		switch (params_ahead_look(ahead, n, max)) {
		case PARAMS_WHOLE:
			return true;
		case PARAMS_TOO_MUCH:
			log_warning("the parameters of a request are more than %zu bytes, or more than %d: the connection is closed", max,
				PARAMS_MOST);
			return false;
		case PARAMS_PART:
			break;
		}
		if (over)
			return false;
		// If the settings allow more than a socket holds, the library has to read the beginning before the rest can
		// arrive.
		if (max > AHEAD_MOST - AHEAD_FIRST && now_us - grown_us > AHEAD_STUCK_MS * 1000)
			return true;
		if (n == sizeof(ahead) || now_us - grown_us > IO_TIMEOUT_S * INT64_C(1000000))
			return max > AHEAD_MOST - AHEAD_FIRST;
		struct pollfd end = { .fd = fd, .events = POLLRDHUP };
		over = poll(&end, 1, AHEAD_NAP_MS) > 0;
	}
}

// Reads the connection's first bytes into `ahead`, without taking them off; returns as recv(2) does.
static ssize_t peek_ahead(const struct slot *slot)
{
	return recv(fcgx_fd(&slot->fcgx), ahead, AHEAD_FIRST, MSG_PEEK | MSG_DONTWAIT);
}

// What can be given to the library from this connection. Records that come before a request are taken off: the library
// understands few of them, and would wait for the request behind them. PEEK_GONE also if the request's parameters exceed the
// limits or don't arrive.
static enum peek slot_look_ahead(const struct fcgi *fcgi, const struct slot *slot)
{
	ssize_t n = peek_ahead(slot);

	if (n > 0 && outside_begins(ahead, (size_t)n)) {
		if (!outside_pass(fcgx_fd(&slot->fcgx), FIRST_BYTE_MS))
			return PEEK_GONE;
		n = peek_ahead(slot);
	}
	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? PEEK_QUIET : PEEK_GONE;
	if (params_ahead_look(ahead, (size_t)n, fcgi->max_params) == PARAMS_WHOLE ||
		await_params(fcgi, fcgx_fd(&slot->fcgx), (size_t)n))
		return PEEK_READY;
	return PEEK_GONE;
}

// From accept() on a connection belongs to this process. If the process began another request before this connection's request
// has arrived, this one would have to wait until the other is answered, although other workers are idle. So the process waits for
// the first byte: a web server connects when it has a request, and sends it at once. A connection that stays silent for
// FIRST_BYTE_MS is put into the epoll set. A wake-up ends the wait, too.
static void await_first_byte(const struct fcgi *fcgi, const struct slot *slot)
{
	struct pollfd either[] = {
		{ .fd = fcgx_fd(&slot->fcgx), .events = POLLIN | POLLRDHUP },
		{ .fd = fcgi->wake_fd, .events = POLLIN },
	};

	(void)poll(either, sizeof(either) / sizeof(*either), FIRST_BYTE_MS);
}

bool slot_begin(struct fcgi *fcgi, struct slot *slot)
{
	assert(fcgi->current == NULL);
	if (!slot_is_open(slot))
		return false; // an event from before the connection was closed
	enum peek peek = slot_look_ahead(fcgi, slot);
	if (peek == PEEK_QUIET && !slot->watched && !slot->served) {
		await_first_byte(fcgi, slot);
		peek = slot_look_ahead(fcgi, slot);
	}
	switch (peek) {
	case PEEK_QUIET:
		slot_watch(fcgi, slot);
		return false;
	case PEEK_GONE:
		slot_close(slot);
		return false;
	case PEEK_READY:
		break;
	}
	FCGX_Detach(&slot->fcgx); // after a protocol error close at once, without waiting for the peer
	if (FCGX_Accept_r(&slot->fcgx) < 0) {
		slot_reset(slot); // the library has closed it
		return false;
	}
	slot->served = true;
	fcgi->current = slot;
	return true;
}

void slot_forget(struct fcgi *fcgi, struct slot *slot)
{
	assert(slot_is_open(slot));
	if (slot->watched)
		(void)epoll_ctl(fcgi->epoll_fd, EPOLL_CTL_DEL, fcgx_fd(&slot->fcgx), NULL);
	FCGX_Free(&slot->fcgx, 0);
	slot_close(slot);
}
