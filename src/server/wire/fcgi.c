// SPDX-License-Identifier: Apache-2.0
// The only user of libfcgi. Each connection has an FCGX_Request of its own, made without a listening socket, so that the library
// can never block in accept(2); epoll says which connection has something to read.
#include "base/base.h"

#include <errno.h>
#include <fastcgi.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config/config.h"
#include "base/log.h"
#include "server/wire/fcgi.h"
#include "server/wire/fcgx.h"
#include "server/wire/handover.h"
#include "server/wire/params.h"
#include "server/wire/params_ahead.h"
#include "server/wire/reply.h"

enum {
	SLOTS = 128,               // connections, most of them kept open and idle
	EVENTS = 16,
	KEY_LISTEN = SLOTS,        // data of epoll events: a slot's index, or one of these
	KEY_WAKE,
	DRAIN_MAX = 16 << 20,      // bytes beyond max_body that are read to keep a connection usable
	IO_TIMEOUT_S = 30,         // longest wait for the web server to send or accept a byte
	LARGE_BODY = 16384,        // bytes
	RECORD_MAX = 65528,        // longest content of a record, a multiple of 8
	RECORDS_AT_ONCE = 16,
	RECORDS_OF_FILE = 4,       // the same for records read from a file
	SEND_ROOM_GIVEN = 128 << 10, // bytes of an answer that the default send buffer of a socket holds
	SEND_ROOM = 1 << 20,
	SLOW_MS = 250,             // time for the web server to take an answer before it is handed over to the sender
	STOP_GRACE_MS = 500,       // time for requests that the web server sends while the worker is told to stop
	STOP_REQUESTS = 1024,      // most requests taken from the queue when finishing, in case they never end
	RETIRE_REQUESTS = 16,      // the same when retiring; if more wait, more will come, and these wake other workers
	IN_A_ROW = 16,             // requests taken from the queue before other connections are checked
	LISTEN_PAUSE_MS = 100,     // pause of accepting if there is no room for another connection
	FIRST_BYTE_MS = 500,       // time between a connection and the first byte of its request
};

// Sizes of parameters that are checked before the library reads them.
enum {
	AHEAD_FIRST = 8192,        // bytes; enough for the parameters of most requests
	AHEAD_MOST = 192 << 10,    // bytes of parameters, with the heads of their records, that a socket's buffer holds for
	                           // certain
	AHEAD_OTHERS = 64 << 10,   // bytes for parameters that are neither header fields nor the address
	AHEAD_NAP_MS = 1,
	AHEAD_STUCK_MS = 100,
};

struct slot {
	FCGX_Request fcgx;         // has no connection while the slot is free
	int64_t idle_since_us;
	bool watched;              // it is in the epoll set
	bool served;               // it has had a request
};

struct fcgi {
	uint64_t max_body;
	size_t max_headers;
	size_t max_params;         // limit in bytes of all parameters' names and values
	int listen_fd, wake_fd, epoll_fd;
	bool listening;            // listen_fd is in the epoll set
	int64_t listen_again_us;   // clock_tick_us() at which to listen again; only if not listening
	bool stopping;
	bool refusing;             // when stopping: STOP_GRACE_MS is over, connections accept no more requests
	enum fcgi_stop stop;       // how to stop; only when stopping
	int64_t stop_us;           // when stopping: clock_tick_us() at which STOP_GRACE_MS is over
	unsigned accepts_left;     // if stopping
	struct slot *current;      // the connection whose request is being answered
	unsigned in_a_row;         // requests taken from the queue without waiting, the current one included
	bool whole;                // the current request was read to its end
	int n_events, next_event;
	struct epoll_event events[EVENTS];
	struct slot slots[SLOTS];
};

static bool slot_is_open(const struct slot *slot)
{
	return fcgx_fd(&slot->fcgx) >= 0;
}

// Makes the slot free. Its connection must be closed already, or belong to another process.
static void slot_reset(struct slot *slot)
{
	FCGX_InitRequest(&slot->fcgx, -1, 0);
	slot->watched = false;
	slot->served = false;
}

static void slot_close(struct slot *slot)
{
	close(fcgx_fd(&slot->fcgx));
	slot_reset(slot);
}

static bool watch(struct fcgi *fcgi, int fd, uint32_t key, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.u32 = key };

	if (epoll_ctl(fcgi->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	log_error("epoll_ctl: %s", strerror(errno));
	return false;
}

// EPOLLEXCLUSIVE: a new connection wakes one worker, not all.
static void listen_on(struct fcgi *fcgi)
{
	if (!fcgi->listening)
		fcgi->listening = watch(fcgi, fcgi->listen_fd, KEY_LISTEN, EPOLLIN | EPOLLEXCLUSIVE);
}

static void listen_off(struct fcgi *fcgi)
{
	if (fcgi->listening)
		(void)epoll_ctl(fcgi->epoll_fd, EPOLL_CTL_DEL, fcgi->listen_fd, NULL);
	fcgi->listening = false;
}

// Stops accepting for LISTEN_PAUSE_MS, so that a lack of descriptors does not turn the loop into a busy one.
static void listen_pause(struct fcgi *fcgi)
{
	listen_off(fcgi);
	fcgi->listen_again_us = clock_tick_us() + LISTEN_PAUSE_MS * 1000;
}

struct fcgi *fcgi_new(int listen_fd, int wake_fd, const struct config *config)
{
	struct fcgi *fcgi = calloc(1, sizeof(*fcgi));

	if (fcgi == NULL)
		return NULL;
	fcgi->max_body = config->max_body;
	fcgi->max_headers = config->max_headers;
	fcgi->max_params = (size_t)(config->max_headers + config->max_target) + AHEAD_OTHERS;
	fcgi->listen_fd = listen_fd;
	fcgi->wake_fd = wake_fd;
	// How long, in milliseconds, the library waits for the peer to close a connection that was not read to its end.
	(void)setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "250", 0);
	fcgi->epoll_fd = FCGX_Init() == 0 ? epoll_create1(EPOLL_CLOEXEC) : -1;
	for (size_t i = 0; i < SLOTS; i++)
		slot_reset(&fcgi->slots[i]);
	int flags = fcntl(listen_fd, F_GETFL);
	if (fcgi->epoll_fd < 0 || flags < 0 || fcntl(listen_fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		log_error("can't set up FastCGI: %s", strerror(errno));
		fcgi_free(&fcgi);
		return NULL;
	}
	listen_on(fcgi);
	if (!fcgi->listening || !watch(fcgi, wake_fd, KEY_WAKE, EPOLLIN))
		fcgi_free(&fcgi);
	return fcgi;
}

void fcgi_free(struct fcgi **fcgi)
{
	if (*fcgi == NULL)
		return;
	for (size_t i = 0; i < SLOTS; i++) {
		if (slot_is_open(&(*fcgi)->slots[i]))
			slot_close(&(*fcgi)->slots[i]);
	}
	if ((*fcgi)->epoll_fd >= 0)
		close((*fcgi)->epoll_fd);
	free(*fcgi);
	*fcgi = NULL;
}

// ---- connections

// From now on, what the peer sends fails there instead of staying unread here. FastCGI has no message for "this was the last
// answer": without this, a request sent between that answer and the close would be lost, and the web server would not know.
static void slot_refuse(const struct slot *slot)
{
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

	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	fcgx_open(&slot->fcgx, fd);
	slot->idle_since_us = clock_tick_us();
}

// Accepts one connection from the queue. NULL if none is waiting, or there is no room.
static struct slot *slot_accept(struct fcgi *fcgi)
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
			listen_off(fcgi);
		return slot;
	}
	if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ECONNABORTED && errno != EINTR) {
		log_warning("accept: %s", strerror(errno));
		listen_pause(fcgi);
	}
	return NULL;
}

// Lets epoll report the connection. Closes it if epoll can't.
static void slot_watch(struct fcgi *fcgi, struct slot *slot)
{
	if (!slot->watched)
		slot->watched = watch(fcgi, fcgx_fd(&slot->fcgx), (uint32_t)(slot - fcgi->slots), EPOLLIN | EPOLLRDHUP);
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
		switch (params_look_ahead(ahead, n, max)) {
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

// What can be given to the library from this connection. PEEK_GONE also if its parameters exceed the limits or don't arrive.
static enum peek slot_look_ahead(const struct fcgi *fcgi, const struct slot *slot)
{
	ssize_t n = recv(fcgx_fd(&slot->fcgx), ahead, AHEAD_FIRST, MSG_PEEK | MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? PEEK_QUIET : PEEK_GONE;
	if (params_look_ahead(ahead, (size_t)n, fcgi->max_params) == PARAMS_WHOLE ||
		await_params(fcgi, fcgx_fd(&slot->fcgx), (size_t)n))
		return PEEK_READY;
	return PEEK_GONE;
}

// From accept() on a connection belongs to this process. If the process began another request before this connection's request has
// arrived, this one would have to wait until the other is answered, although other workers are idle. So the process waits for the
// first byte: a web server connects when it has a request, and sends it at once. A connection that stays silent for FIRST_BYTE_MS
// is put into the epoll set. A wake-up ends the wait, too.
static void await_first_byte(const struct fcgi *fcgi, const struct slot *slot)
{
	struct pollfd either[] = {
		{ .fd = fcgx_fd(&slot->fcgx), .events = POLLIN | POLLRDHUP },
		{ .fd = fcgi->wake_fd, .events = POLLIN },
	};

	(void)poll(either, sizeof(either) / sizeof(*either), FIRST_BYTE_MS);
}

// Reads the request's beginning and parameters. False if there is no request: nothing has arrived yet, the peer has closed, or
// what it sent is not FastCGI.
static bool slot_begin(struct fcgi *fcgi, struct slot *slot)
{
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

// Frees a slot whose connection continues in another process, in a copy of its descriptor. It has to be removed from epoll, which
// would otherwise go on reporting it.
static void slot_forget(struct fcgi *fcgi, struct slot *slot)
{
	if (slot->watched)
		(void)epoll_ctl(fcgi->epoll_fd, EPOLL_CTL_DEL, fcgx_fd(&slot->fcgx), NULL);
	FCGX_Free(&slot->fcgx, 0);
	slot_close(slot);
}

// ---- one request

// Reads stdin to its end, even if it is longer than CONTENT_LENGTH or the body is not wanted. What stays unread in a kept
// connection would be taken for the next request, with parameters of the client's choice.
static enum transport_fault read_body(struct fcgi *fcgi, struct pool *pool, struct str content_length,
	struct request *request)
{
	FCGX_Stream *in = fcgi->current->fcgx.in;
	uint64_t promised = 0, total = 0;
	char chunk[16384];
	int n;

	if (content_length.p != NULL && (!str_to_u64(content_length, &promised) || promised > fcgi->max_body))
		promised = 0;
	struct buf body = buf_new(pool, (size_t)promised);
	while ((n = FCGX_GetStr(chunk, sizeof(chunk), in)) > 0) {
		total += (uint64_t)n;
		if (total <= fcgi->max_body)
			buf_add(&body, str_n(chunk, (size_t)n));
		else if (total > fcgi->max_body + DRAIN_MAX)
			break;
	}
	// An error is not due to a stop signal, since these are blocked: the peer has gone, aborted, stalled, or sent an invalid
	// record.
	bool broken = FCGX_GetError(in) != 0;
	fcgi->whole = n <= 0 && !broken;
	request->body = buf_str(&body);
	if (total > fcgi->max_body)
		request->body = STR("");
	if (total > fcgi->max_body)
		return TRANSPORT_BODY_TOO_LARGE;
	return broken ? TRANSPORT_BODY_CUT : params_check_length(content_length, total);
}

static enum transport_fault read_request(struct fcgi *fcgi, struct pool *pool, struct request *request)
{
	struct str content_length;
	enum transport_fault head =
		params_read(pool, fcgi->current->fcgx.envp, fcgi->max_headers, request, &content_length);
	enum transport_fault body = read_body(fcgi, pool, content_length, request);

	return head != TRANSPORT_OK ? head : body;
}

// An answer's body as FastCGI records: each has a head and up to RECORD_MAX bytes. Positions count heads and contents.
struct records {
	struct str body;
	const struct spill *spill; // if not NULL, the body is in this file; body.n is its length then
	uint16_t request_id;
	size_t at, n; // bytes sent so far; bytes in all
};

struct record_parts {
	unsigned char heads[RECORDS_AT_ONCE][FCGI_HEADER_LEN];
	struct iovec parts[2 * RECORDS_AT_ONCE];
	size_t n;
};

static struct records make_records(uint16_t request_id, struct str body, const struct spill *spill)
{
	return (struct records){ .body = body, .spill = spill, .request_id = request_id,
		.n = body.n + (body.n + RECORD_MAX - 1) / RECORD_MAX * FCGI_HEADER_LEN };
}

// Adds n bytes to be sent, less the first *skip, which were sent before; *skip is reduced by the bytes skipped.
static void add_part(struct record_parts *parts, void *p, size_t n, size_t *skip)
{
	size_t less = *skip < n ? *skip : n;

	*skip -= less;
	if (n > less)
		parts->parts[parts->n++] = (struct iovec){ .iov_base = (char *)p + less, .iov_len = n - less };
}

// Up to RECORD_MAX bytes of the body from `at`. index: the record's number among those that are sent at once.
static struct str content_of(const struct records *records, size_t index, size_t at)
{
	static char pieces[RECORDS_OF_FILE][RECORD_MAX];
	size_t to = records->body.n - at > RECORD_MAX ? at + RECORD_MAX : records->body.n, got = 0, n;

	if (records->spill == NULL)
		return str_part(records->body, at, to);
	while (got < to - at && (n = spill_read(records->spill, at + got, pieces[index] + got, to - at - got)) > 0)
		got += n;
	return str_n(pieces[index], got);
}

// Fills the records that follow at the present position, as many as there is room for. False: the body can't be read.
static bool fill_parts(const struct records *records, struct record_parts *parts)
{
	size_t whole = RECORD_MAX + FCGI_HEADER_LEN, at = records->at / whole * RECORD_MAX, skip = records->at % whole;
	size_t most = records->spill != NULL ? RECORDS_OF_FILE : RECORDS_AT_ONCE;

	parts->n = 0;
	for (size_t i = 0; i < most && at < records->body.n; i++) {
		struct str content = content_of(records, i, at);
		if (content.n < RECORD_MAX && at + content.n < records->body.n)
			return false;
		memcpy(parts->heads[i], (unsigned char[]){ FCGI_VERSION_1, FCGI_STDOUT, (unsigned char)(records->request_id >> 8),
			(unsigned char)records->request_id, (unsigned char)(content.n >> 8), (unsigned char)content.n, 0, 0 },
			FCGI_HEADER_LEN);
		add_part(parts, parts->heads[i], FCGI_HEADER_LEN, &skip);
		add_part(parts, (void *)(uintptr_t)content.p, content.n, &skip);
		at += content.n;
	}
	return true;
}

// Sends the records. Waits until until_us at most; 0: as long as the web server takes bytes at all. False: not everything could
// be sent; errno is EAGAIN if the web server did not accept it in time.
static bool send_records(int fd, struct records *records, int64_t until_us)
{
	struct record_parts parts;

	while (records->at < records->n) {
		if (!fill_parts(records, &parts)) {
			errno = EIO;
			return false;
		}
		struct msghdr message = { .msg_iov = parts.parts, .msg_iovlen = parts.n };
		ssize_t n = sendmsg(fd, &message, MSG_NOSIGNAL | (until_us != 0 ? MSG_DONTWAIT : 0));
		if (n >= 0) {
			records->at += (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		struct pollfd wait = { .fd = fd, .events = POLLOUT };
		int64_t left_us = until_us - clock_tick_us();
		if (errno != EAGAIN || until_us == 0)
			return false;
		if (left_us <= 0 || poll(&wait, 1, (int)(left_us / 1000) + 1) == 0) {
			errno = EAGAIN;
			return false;
		}
	}
	return true;
}

// Writes the rest of an answer, up to its end, to a file in memory, and returns its descriptor. -1: there is no room for it.
static int file_of_rest(struct records records)
{
	const unsigned char end[] = { FCGI_VERSION_1, FCGI_STDOUT, (unsigned char)(records.request_id >> 8),
		(unsigned char)records.request_id, 0, 0, 0, 0, FCGI_VERSION_1, FCGI_END_REQUEST,
		(unsigned char)(records.request_id >> 8), (unsigned char)records.request_id, 0, 8, 0, 0, 0, 0, 0, 0,
		FCGI_REQUEST_COMPLETE, 0, 0, 0 };
	struct record_parts parts;
	int file = memfd_create("answer", MFD_CLOEXEC);

	while (file >= 0 && records.at < records.n) {
		ssize_t n = fill_parts(&records, &parts) ? writev(file, parts.parts, (int)parts.n) : -1;
		if (n <= 0) {
			close(file);
			return -1;
		}
		records.at += (size_t)n;
	}
	if (file < 0 || write(file, end, sizeof(end)) == (ssize_t)sizeof(end))
		return file;
	close(file);
	return -1;
}

// Gives the connection with the rest of the answer to the sender. False: it stays here.
static bool hand_rest_over(struct fcgi *fcgi, struct slot *slot, struct records records, const struct fcgi_slow *slow)
{
	int file = file_of_rest(records);
	bool handed = file >= 0 && handover_pass(slow->to, fcgx_fd(&slot->fcgx), file, slow->tenant);

	if (file >= 0)
		close(file);
	if (handed)
		slot_forget(fcgi, slot);
	return handed;
}

// Sends the body without the library, which would copy it and send it in pieces of 8 kB, each of which wakes the web server.
// Bytes in the system's buffer don't delay the worker; what the web server does not accept within SLOW_MS goes to the sender.
// False: the sender has the connection, too.
static bool send_body(struct fcgi *fcgi, struct slot *slot, struct str body, const struct spill *spill,
	const struct fcgi_slow *slow)
{
	FCGX_Request *request = &slot->fcgx;
	int room = (int)(body.n < SEND_ROOM ? body.n : SEND_ROOM);
	struct records records = make_records((uint16_t)request->requestId, body, spill);

	if (spill != NULL && FCGX_FFlush(request->out) != 0)
		return true; // the library has seen that the web server is gone
	if (spill == NULL && (body.n <= LARGE_BODY || FCGX_FFlush(request->out) != 0)) {
		FCGX_PutStr(body.p, (int)body.n, request->out);
		return true;
	}
	// A larger buffer lets the system take a large answer at once, so the worker is free earlier.
	if (body.n > SEND_ROOM_GIVEN)
		(void)setsockopt(fcgx_fd(request), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	// If a part of the request was left unread, only the library closes the connection correctly.
	bool may_hand_over = slow->to >= 0 && fcgi->whole;
	bool sent = send_records(fcgx_fd(request), &records, may_hand_over ? clock_tick_us() + SLOW_MS * 1000 : 0);
	if (!sent && may_hand_over && errno == EAGAIN) {
		if (hand_rest_over(fcgi, slot, records, slow))
			return false;
		sent = send_records(fcgx_fd(request), &records, 0);
	}
	if (sent)
		return true;
	fcgx_close_after(request); // what would follow could not be understood
	(void)shutdown(fcgx_fd(request), SHUT_RDWR);
	return true;
}

// If the body begins in a file, all of it is put there. If that fails, the answer breaks off, which its reader notices by its
// length.
static bool send_whole(struct fcgi *fcgi, struct slot *slot, const struct response *response, const struct fcgi_slow *slow)
{
	struct spill *spill = response->spill;

	if (spill_size(spill) == 0)
		return send_body(fcgi, slot, response->body, NULL, slow);
	(void)spill_add(spill, response->body);
	return send_body(fcgi, slot, (struct str){ NULL, (size_t)response_length(response) - response->body.n }, spill, slow);
}

void fcgi_answer(struct fcgi *fcgi, struct pool *pool, enum http_method method, const struct response *response,
	const struct fcgi_slow *slow)
{
	struct slot *slot = fcgi->current;
	struct buf head = buf_new(pool, 1024);

	assert(slot != NULL);
	if (fcgx_keeps(&slot->fcgx) && (!fcgi->whole || fcgi->stopping)) {
		fcgx_close_after(&slot->fcgx);
		slot_refuse(slot);
	}
	reply_head(&head, response);
	FCGX_PutStr(head.p, (int)head.n, slot->fcgx.out);
	fcgi->current = NULL;
	if (method != METHOD_HEAD && reply_has_body(response) && response_length(response) > 0 && !send_whole(fcgi, slot, response, slow))
		return;
	// The library closes an attached connection only after the peer has closed it, or after a while. That is necessary if a
	// part of the request was left unread: if it were closed at once, TCP would drop the answer.
	if (!fcgi->whole)
		FCGX_Attach(&slot->fcgx);
	FCGX_Finish_r(&slot->fcgx);
	if (!slot_is_open(slot)) {
		slot_reset(slot);
		return;
	}
	slot->idle_since_us = clock_tick_us();
	slot_watch(fcgi, slot);
}

// Ends an answer that could not be handed over, and closes its connection.
static void finish_begun(struct fcgi *fcgi, struct slot *slot)
{
	fcgx_close_after(&slot->fcgx);
	slot_refuse(slot);
	FCGX_Finish_r(&slot->fcgx);
	slot_reset(slot);
	UNUSED(fcgi);
}

bool fcgi_hand_over(struct fcgi *fcgi, struct pool *pool, const struct response *response, int to, struct limits_watch watch,
	struct str order)
{
	struct slot *slot = fcgi->current;
	struct buf head = buf_new(pool, 1024);

	assert(slot != NULL);
	reply_head_open(&head, response);
	FCGX_PutStr(head.p, (int)head.n, slot->fcgx.out);
	if (response->body.n > 0)
		FCGX_PutStr(response->body.p, (int)response->body.n, slot->fcgx.out);
	fcgi->current = NULL;
	if (FCGX_FFlush(slot->fcgx.out) == 0 && fcgi->whole &&
		handover_send(to, fcgx_fd(&slot->fcgx), (uint16_t)slot->fcgx.requestId, watch, order)) {
		slot_forget(fcgi, slot);
		return true;
	}
	finish_begun(fcgi, slot);
	return false;
}

// ---- waiting

// Wakes another worker for the connections still in the queue: they woke this one, so no other worker will come for them.
static void leave_queue(struct fcgi *fcgi)
{
	struct slot *slot;

	for (int i = 0; i < RETIRE_REQUESTS && (slot = slot_accept(fcgi)) != NULL; i++)
		slot_watch(fcgi, slot);
	listen_off(fcgi);
}

void fcgi_stop(struct fcgi *fcgi, enum fcgi_stop stop)
{
	if (fcgi->stopping && (stop == fcgi->stop || stop == FCGI_RETIRE))
		return;
	fcgi->stopping = true;
	fcgi->stop = stop;
	fcgi->stop_us = clock_tick_us() + STOP_GRACE_MS * 1000;
	fcgi->accepts_left = STOP_REQUESTS;
	if (stop == FCGI_RETIRE)
		leave_queue(fcgi);
	else
		listen_on(fcgi);
}

// Is there a connection on which a request may be arriving? When finishing: a new one, whose request must come. When retiring:
// also a kept one, because its web server does not know yet that it will be closed.
static bool expects_more(const struct fcgi *fcgi)
{
	for (size_t i = 0; i < SLOTS; i++) {
		const struct slot *slot = &fcgi->slots[i];

		if (slot_is_open(slot) && (fcgi->stop == FCGI_RETIRE || !slot->served))
			return true;
	}
	return false;
}

static int until_ms(int64_t then_us)
{
	int64_t us = then_us - clock_tick_us();

	return us <= 0 ? 0 : (int)((us + 999) / 1000);
}

// How many milliseconds epoll may wait.
static int patience_ms(struct fcgi *fcgi, int timeout_ms)
{
	if (fcgi->stopping)
		return expects_more(fcgi) && !fcgi->refusing ? until_ms(fcgi->stop_us) : 0;
	if (fcgi->listening)
		return timeout_ms;
	int pause = until_ms(fcgi->listen_again_us);
	if (pause == 0)
		listen_on(fcgi);
	return timeout_ms < 0 || pause < timeout_ms ? pause : timeout_ms;
}

// Ends the time of grace: requests sent from now on fail at the web server, which can repeat them elsewhere.
static void refuse_all(struct fcgi *fcgi)
{
	fcgi->refusing = true;
	listen_off(fcgi);
	for (size_t i = 0; i < SLOTS; i++) {
		if (slot_is_open(&fcgi->slots[i]))
			slot_refuse(&fcgi->slots[i]);
	}
}

// Takes the next request from the queue, if one is waiting.
static bool take_waiting(struct fcgi *fcgi)
{
	struct slot *slot = NULL;

	while (fcgi->listening && !fcgi->stopping && fcgi->in_a_row++ < IN_A_ROW && (slot = slot_accept(fcgi)) != NULL) {
		if (slot_begin(fcgi, slot))
			return true;
	}
	fcgi->in_a_row = 0;
	return false;
}

bool fcgi_is_busy(const struct fcgi *fcgi)
{
	return fcgi->in_a_row > 0;
}

// Waits and fills the events. False if the time is over.
static bool wait_for_events(struct fcgi *fcgi, int timeout_ms)
{
	log_access_flush();
	int n = epoll_wait(fcgi->epoll_fd, fcgi->events, EVENTS, patience_ms(fcgi, timeout_ms));

	if (n < 0 && errno != EINTR) {
		log_error("epoll_wait: %s", strerror(errno));
		abort(); // the master starts another worker
	}
	fcgi->n_events = n < 0 ? 0 : n;
	fcgi->next_event = 0;
	return n != 0;
}

enum fcgi_event fcgi_next(struct fcgi *fcgi, int timeout_ms, struct pool *pool, struct request *request,
	enum transport_fault *fault)
{
	assert(fcgi->current == NULL);
	for (;;) {
		while (fcgi->next_event < fcgi->n_events) {
			uint32_t key = fcgi->events[fcgi->next_event++].data.u32;

			if (key == KEY_WAKE)
				return FCGI_WAKE;
			// Requests from epoll come first; after those of this round, the queue of new connections is looked at.
			struct slot *slot = key == KEY_LISTEN ? slot_accept(fcgi) : &fcgi->slots[key];
			if (slot != NULL && slot_begin(fcgi, slot)) {
				*fault = read_request(fcgi, pool, request);
				return FCGI_REQUEST;
			}
		}
		if (take_waiting(fcgi)) {
			*fault = read_request(fcgi, pool, request);
			return FCGI_REQUEST;
		}
		if (wait_for_events(fcgi, timeout_ms))
			continue;
		if (!fcgi->stopping)
			return FCGI_WAKE;
		if (fcgi->refusing)
			return FCGI_END;
		refuse_all(fcgi); // then one more look for requests that came before that
	}
}
