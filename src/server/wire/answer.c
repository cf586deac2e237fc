// SPDX-License-Identifier: Apache-2.0
// Answers: by libfcgi, or, if they are large, without it; the rest of a slow one goes to the sender, and a watch, with the rest
// of its beginning, to its process.
#include "base/base.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pool.h"
#include "server/wire/fcgi_internal.h"
#include "server/wire/handover.h"
#include "server/wire/records.h"
#include "server/wire/reply.h"

enum {
	LARGE_BODY = 16384,        // bytes
	SEND_ROOM_GIVEN = 128 << 10, // bytes of an answer that the default send buffer of a socket holds
	SEND_ROOM = 1 << 20,
	SLOW_MS = 250,             // time for the web server to take an answer before it is handed over to the sender
};

// Gives the connection with the rest of the answer to the sender. False: it stays here.
static bool hand_rest_over(struct fcgi *fcgi, struct slot *slot, struct records records, const struct fcgi_slow *slow)
{
	int file = records_rest_file(records, true);
	bool handed = file >= 0 && handover_send_rest(slow->to, fcgx_fd(&slot->fcgx), file, slow->tenant);

	if (file >= 0)
		close(file);
	if (handed)
		slot_forget(fcgi, slot);
	return handed;
}

// Sends the body without the library, which would copy it and send it in pieces of 8 kB, each of which wakes the web server.
// Bytes in the system's buffer don't delay the worker; what the web server does not accept within SLOW_MS goes to the sender.
// False: the sender has the connection, too.
static bool send_body(struct fcgi *fcgi, struct slot *slot, const struct response *response, const struct fcgi_slow *slow)
{
	FCGX_Request *request = &slot->fcgx;
	uint64_t n = response_length(response);
	int room = (int)(n < SEND_ROOM ? n : SEND_ROOM);
	struct records records = records_make((uint16_t)request->requestId, response->spill, response->body);

	if (n <= LARGE_BODY && spill_size(response->spill) == 0) {
		FCGX_PutStr(response->body.p, (int)response->body.n, request->out);
		return true;
	}
	if (FCGX_FFlush(request->out) != 0)
		return true; // the library has seen that the web server is gone
	// A larger buffer lets the system take a large answer at once, so the worker is free earlier.
	if (n > SEND_ROOM_GIVEN)
		(void)setsockopt(fcgx_fd(request), SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	// If a part of the request was left unread, only the library closes the connection correctly.
	bool may_hand_over = slow->to >= 0 && fcgi->whole;
	bool sent = records_send(fcgx_fd(request), &records, may_hand_over ? clock_tick_us() + SLOW_MS * 1000 : 0);
	if (!sent && may_hand_over && errno == EAGAIN) {
		if (hand_rest_over(fcgi, slot, records, slow))
			return false;
		sent = records_send(fcgx_fd(request), &records, 0);
	}
	if (sent)
		return true;
	fcgx_close_after(request); // what would follow could not be understood
	(void)shutdown(fcgx_fd(request), SHUT_RDWR);
	return true;
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
	if (method != METHOD_HEAD && reply_has_body(response) && response_length(response) > 0 && !send_body(fcgi, slot, response, slow))
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

// Sends the beginning of an answer that continues elsewhere. *rest: a file with what the web server did not accept within
// SLOW_MS, which the caller closes; -1: it accepted all. False: the web server is gone, or the answer breaks off.
static bool send_beginning(struct slot *slot, const struct response *response, int *rest)
{
	FCGX_Request *request = &slot->fcgx;
	struct str body = response->body;

	*rest = -1;
	if (spill_size(response->spill) == 0 && body.n <= LARGE_BODY) {
		if (body.n > 0)
			FCGX_PutStr(body.p, (int)body.n, request->out);
		return FCGX_FFlush(request->out) == 0;
	}
	if (FCGX_FFlush(request->out) != 0)
		return false;
	struct records records = records_make((uint16_t)request->requestId, response->spill, body);
	if (records_send(fcgx_fd(request), &records, clock_tick_us() + SLOW_MS * 1000))
		return true;
	if (errno == EAGAIN)
		*rest = records_rest_file(records, false);
	return *rest >= 0;
}

bool fcgi_hand_over(struct fcgi *fcgi, struct pool *pool, const struct response *response, int to, struct limits_watch watch,
	struct str handover)
{
	struct slot *slot = fcgi->current;
	struct buf head = buf_new(pool, 1024);
	int rest = -1;

	assert(slot != NULL);
	reply_head_open(&head, response);
	FCGX_PutStr(head.p, (int)head.n, slot->fcgx.out);
	fcgi->current = NULL;
	bool begun = fcgi->whole && send_beginning(slot, response, &rest);
	bool handed = begun && handover_send(to, fcgx_fd(&slot->fcgx), (uint16_t)slot->fcgx.requestId, watch, handover, rest);
	if (!begun || (!handed && rest >= 0))
		(void)shutdown(fcgx_fd(&slot->fcgx), SHUT_RDWR); // what would follow could not be understood
	if (rest >= 0)
		close(rest);
	if (handed)
		slot_forget(fcgi, slot);
	else
		finish_begun(fcgi, slot);
	return handed;
}
