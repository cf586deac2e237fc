// SPDX-License-Identifier: Apache-2.0
// A worker's loop: waits for requests, reads them, and ends when it is told to. epoll says which connection has something to
// read.
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "api/settings.h"
#include "base/clock.h"
#include "base/log.h"
#include "registry/core/settings.h"
#include "server/setup/settings.h"
#include "server/wire/body.h"
#include "server/wire/fcgi_internal.h"
#include "server/wire/params.h"

enum {
	DRAIN_MAX = 16 << 20,      // bytes beyond max_body that are read to keep a connection usable
	STOP_GRACE_MS = 500,       // time for requests that the web server sends while the worker is told to stop
	STOP_REQUESTS = 1024,      // most requests taken from the queue when finishing, in case they never end
	RETIRE_REQUESTS = 16,      // the same when retiring; those that are left wake other workers
	IN_A_ROW = 16,             // requests taken from the queue before other connections are checked
	OTHER_PARAMS = 64 << 10,   // bytes for parameters that are neither header fields nor the address
};

struct fcgi *fcgi_new(int listen_fd, int wake_fd, const struct config *config)
{
	struct fcgi *fcgi = calloc(1, sizeof(*fcgi));

	assert(listen_fd >= 0);
	if (fcgi == NULL)
		return NULL;
	fcgi->max_body = registry_settings(config)->max_body;
	fcgi->max_headers = server_settings(config)->max_headers;
	fcgi->max_params = (size_t)(server_settings(config)->max_headers + api_settings(config)->max_target) + OTHER_PARAMS;
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
	slots_listen(fcgi);
	if (!fcgi->listening || !slots_watch(fcgi, wake_fd, KEY_WAKE, EPOLLIN))
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

// ---- one request

// Reads stdin to its end, even if it is longer than CONTENT_LENGTH or the body is not wanted. What stays unread in a kept
// connection would be taken for the next request, with parameters of the client's choice.
static enum transport_fault read_body(struct fcgi *fcgi, struct pool *pool, struct str content_length,
	struct request *request)
{
	uint64_t promised = 0;

	if (content_length.p != NULL && (!str_to_u64(content_length, &promised) || promised > fcgi->max_body))
		promised = 0;
	struct body body = body_read(pool, &fcgi->current->fcgx, (size_t)promised, fcgi->max_body, DRAIN_MAX,
		clock_tick_us() + TRANSPORT_BODY_S * INT64_C(1000000));
	fcgi->whole = body.whole;
	request->body = body.text;
	if (body.n > fcgi->max_body)
		return TRANSPORT_BODY_TOO_LARGE;
	if (body.late)
		return TRANSPORT_BODY_LATE;
	return !body.whole ? TRANSPORT_BODY_CUT : params_check_length(content_length, body.n);
}

static enum transport_fault read_request(struct fcgi *fcgi, struct pool *pool, struct request *request)
{
	struct str content_length;
	enum transport_fault head =
		params_read(pool, fcgi->current->fcgx.envp, fcgi->max_headers, request, &content_length);
	enum transport_fault body = read_body(fcgi, pool, content_length, request);

	return head != TRANSPORT_OK ? head : body;
}

// ---- waiting

// Wakes another worker for the connections still in the queue: they woke this one, so no other worker will come for them.
static void leave_queue(struct fcgi *fcgi)
{
	struct slot *slot;

	for (int i = 0; i < RETIRE_REQUESTS && (slot = slot_accept(fcgi)) != NULL; i++)
		slot_watch(fcgi, slot);
	slots_stop_listening(fcgi);
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
		slots_listen(fcgi);
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
		slots_listen(fcgi);
	return timeout_ms < 0 || pause < timeout_ms ? pause : timeout_ms;
}

// Ends the time of grace: requests sent from now on fail at the web server, which can repeat them elsewhere.
static void refuse_all(struct fcgi *fcgi)
{
	fcgi->refusing = true;
	slots_stop_listening(fcgi);
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
	assert(pool != NULL);
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
