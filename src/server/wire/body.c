// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <sys/socket.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "server/wire/body.h"

// Reads up to n bytes, as soon as there are any. FCGX_GetStr() alone would wait until it has all n, which takes hours if they
// come one by one. 0: the body has ended, or is broken.
static size_t read_some(FCGX_Stream *in, char *to, size_t n)
{
	size_t ready = fcgx_ready(in);

	// If none are ready, the first one is waited for.
	return (size_t)FCGX_GetStr(to, (int)(ready == 0 ? 1 : ready < n ? ready : n), in);
}

// Lets reads of the connection wait for so long, and returns how long they could before.
static struct timeval set_patience(int fd, struct timeval patience)
{
	struct timeval before = { 0 };
	socklen_t size = sizeof(before);

	(void)getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &before, &size);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return before;
}

struct body body_read(struct pool *pool, FCGX_Request *request, size_t expected, uint64_t max, uint64_t drain, int64_t until_us)
{
	struct buf text = buf_new(pool, expected);
	struct timeval patience;
	struct body body = { 0 };
	bool over = false;
	char chunk[16384];
	size_t n = 0;

	while (body.n <= max + drain && (n = read_some(request->in, chunk, sizeof(chunk))) > 0) {
		body.n += n;
		if (body.n <= max)
			buf_add(&text, str_n(chunk, n));
		// A body that has arrived is read after the time, too, as this process may have been stopped. But nothing is
		// waited for.
		if (!over && clock_tick_us() >= until_us) {
			over = true;
			patience = set_patience(fcgx_fd(request), (struct timeval){ .tv_usec = 1 });
		}
	}
	// An error is not due to a stop signal, since these are blocked: the peer has gone, aborted, stalled, or sent an invalid
	// record.
	bool broken = FCGX_GetError(request->in) != 0;
	body.whole = n == 0 && !broken;
	body.late = over && broken;
	body.text = body.n <= max ? buf_str(&text) : STR("");
	if (over)
		(void)set_patience(fcgx_fd(request), patience);
	return body;
}
