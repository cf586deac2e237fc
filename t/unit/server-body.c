// SPDX-License-Identifier: Apache-2.0
// The body of a request, which may come slowly, be too long, or not end.
#include "base/base.h"

#include <fastcgi.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/pool.h"
#include "server/wire/body.h"
#include "tap.h"

enum { MAX = 1000, DRAIN = 500, LONG_MS = 60000, SHORT_MS = 200, NAP_MS = 5 };

static struct pool *pool;
static FCGX_Request request;
static int web_server;

static void put(const void *bytes, size_t n)
{
	ok(send(web_server, bytes, n, MSG_NOSIGNAL) == (ssize_t)n, "%zu bytes are sent", n);
}

static void put_stdin(size_t n)
{
	unsigned char record[FCGI_HEADER_LEN + 2000] = { FCGI_VERSION_1, FCGI_STDIN, 0, 1, (unsigned char)(n >> 8), (unsigned char)n };

	memset(record + FCGI_HEADER_LEN, 'x', n);
	put(record, FCGI_HEADER_LEN + n);
}

// A request up to its body.
static void begin(void)
{
	const unsigned char head[] = {
		FCGI_VERSION_1, FCGI_BEGIN_REQUEST, 0, 1, 0, 8, 0, 0, 0, FCGI_RESPONDER, FCGI_KEEP_CONN, 0, 0, 0, 0, 0,
		FCGI_VERSION_1, FCGI_PARAMS, 0, 1, 0, 5, 0, 0, 1, 2, 'A', 'b', 'c',
		FCGI_VERSION_1, FCGI_PARAMS, 0, 1, 0, 0, 0, 0,
	};
	int ends[2] = { -1, -1 };

	ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a connection");
	web_server = ends[0];
	FCGX_InitRequest(&request, -1, 0);
	fcgx_open(&request, ends[1]);
	put(head, sizeof(head));
	FCGX_Detach(&request);
	ok(FCGX_Accept_r(&request) >= 0, "a request begins");
}

static void end(void)
{
	fcgx_close_after(&request);
	FCGX_Finish_r(&request);
	close(web_server);
}

static struct body read_for(int64_t ms)
{
	return body_read(pool, &request, 0, MAX, DRAIN, clock_tick_us() + ms * 1000);
}

static void in_time(void)
{
	begin();
	put_stdin(300);
	put_stdin(400);
	put_stdin(0);
	struct body body = read_for(LONG_MS);
	ok(body.whole && !body.late, "a body in two records is whole");
	is_int((int64_t)body.n, 700, "with all its bytes");
	is_int((int64_t)body.text.n, 700, "which are there");
	end();
}

static void too_long(void)
{
	begin();
	put_stdin(MAX);
	put_stdin(1);
	put_stdin(0);
	struct body body = read_for(LONG_MS);
	ok(body.whole, "one that is too long is read to its end");
	is_int((int64_t)body.n, MAX + 1, "is counted");
	is_int((int64_t)body.text.n, 0, "and not kept");
	end();
	begin();
	put_stdin(MAX);
	put_stdin(DRAIN + 1);
	put_stdin(0);
	ok(!read_for(LONG_MS).whole, "one that is much too long is not read to its end");
	end();
}

static void broken(void)
{
	begin();
	put_stdin(10);
	close(web_server);
	struct body body = read_for(LONG_MS);
	ok(!body.whole && !body.late, "a connection that ends within the body is not taken for a slow one");
	web_server = -1;
	end();
}

// However late it is read: the process may have been stopped.
static void arrived(void)
{
	begin();
	put_stdin(300);
	put_stdin(400);
	put_stdin(0);
	struct body body = read_for(-SHORT_MS);
	ok(body.whole && !body.late, "a body that has arrived is read after the time, too");
	is_int((int64_t)body.n, 700, "to its end");
	end();
}

static void *trickle(void *unused)
{
	const unsigned char record[] = { FCGI_VERSION_1, FCGI_STDIN, 0, 1, 0, 1, 0, 0, 'x' };

	UNUSED(unused);
	for (size_t i = 0; i < 10 * MAX && send(web_server, record, sizeof(record), MSG_NOSIGNAL) > 0; i++)
		clock_pause_ms(NAP_MS);
	return NULL;
}

// A peer that sends a byte now and then never stalls, and would hold the process as long as it likes.
static void slow(void)
{
	pthread_t peer;

	begin();
	ok(pthread_create(&peer, NULL, trickle, NULL) == 0, "a body that comes byte by byte");
	struct body body = read_for(SHORT_MS);
	ok(body.late && !body.whole, "is given up when the time is over");
	ok(body.n > 0 && body.n < MAX, "in its midst");
	(void)shutdown(fcgx_fd(&request), SHUT_RDWR);
	(void)pthread_join(peer, NULL);
	end();
}

int main(void)
{
	pool = pool_new();
	ok(FCGX_Init() == 0 && pool != NULL, "the library");
	in_time();
	too_long();
	broken();
	arrived();
	slow();
	pool_free(&pool);
	return done_testing();
}
