// SPDX-License-Identifier: Apache-2.0
// What server/wire/fcgx.h relies on in libfcgi, beside its public interface: a library that changed it fails here.
#include "base/base.h"

#include <fastcgi.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/wire/fcgx.h"
#include "tap.h"

// A request without a body, as a web server sends it: BEGIN_REQUEST, one parameter, the end of the parameters, of stdin.
static void send_request(int fd, bool keep)
{
	const unsigned char request[] = {
		FCGI_VERSION_1, FCGI_BEGIN_REQUEST, 0, 1, 0, 8, 0, 0, 0, FCGI_RESPONDER, keep ? FCGI_KEEP_CONN : 0, 0, 0, 0, 0, 0,
		FCGI_VERSION_1, FCGI_PARAMS, 0, 1, 0, 5, 0, 0, 1, 2, 'A', 'b', 'c',
		FCGI_VERSION_1, FCGI_PARAMS, 0, 1, 0, 0, 0, 0,
		FCGI_VERSION_1, FCGI_STDIN, 0, 1, 0, 0, 0, 0,
	};

	ok(send(fd, request, sizeof(request), MSG_NOSIGNAL) == (ssize_t)sizeof(request), "a request is sent");
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

// Takes the web server's side of a new connection; request holds the other.
static int connect_to(FCGX_Request *request)
{
	int ends[2] = { -1, -1 };

	ok(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a connection");
	FCGX_InitRequest(request, -1, 0);
	ok(fcgx_fd(request) < 0, "a new request has no connection");
	fcgx_open(request, ends[1]);
	is_int(fcgx_fd(request), ends[1], "then it has the one that it was given");
	return ends[0];
}

static void accept_it(FCGX_Request *request, bool keep)
{
	int fd = fcgx_fd(request);

	FCGX_Detach(request);
	ok(FCGX_Accept_r(request) >= 0, "the request is read from that connection, none is accepted");
	is_int(fcgx_fd(request), fd, "which is still the request's");
	is_str(str_c(FCGX_GetParam("A", request->envp)), "bc", "with its parameter");
	is_int(fcgx_keeps(request), keep, keep ? "the web server keeps it" : "the web server does not keep it");
	FCGX_PutS("Status: 204\r\n\r\n", request->out);
}

static void kept(void)
{
	FCGX_Request request;
	int web_server = connect_to(&request), fd = fcgx_fd(&request);

	send_request(web_server, true);
	accept_it(&request, true);
	FCGX_Finish_r(&request);
	is_int(fcgx_fd(&request), fd, "a kept connection is the request's still");
	ok(is_open(fd), "and open");
	send_request(web_server, true);
	accept_it(&request, true);
	fcgx_close_after(&request);
	FCGX_Finish_r(&request);
	ok(fcgx_fd(&request) < 0, "told to close it, the library does, and says so");
	ok(!is_open(fd), "really");
	close(web_server);
}

static void not_kept(void)
{
	FCGX_Request request;
	int web_server = connect_to(&request), fd = fcgx_fd(&request);

	send_request(web_server, false);
	accept_it(&request, false);
	FCGX_Finish_r(&request);
	ok(fcgx_fd(&request) < 0, "one that is not kept is closed behind the answer");
	ok(!is_open(fd), "really");
	close(web_server);
}

// Whoever hands a connection over keeps its descriptor: the library forgets the request without closing it.
static void given_away(void)
{
	FCGX_Request request;
	int web_server = connect_to(&request), fd = fcgx_fd(&request);

	send_request(web_server, true);
	accept_it(&request, true);
	FCGX_Free(&request, 0);
	ok(is_open(fd), "FCGX_Free without closing leaves the connection open");
	close(fd);
	close(web_server);
}

// What came in a record is there without waiting, and FCGX_GetStr() takes it from there.
static void ready(void)
{
	const unsigned char head[] = {
		FCGI_VERSION_1, FCGI_BEGIN_REQUEST, 0, 1, 0, 8, 0, 0, 0, FCGI_RESPONDER, 0, 0, 0, 0, 0, 0,
		FCGI_VERSION_1, FCGI_PARAMS, 0, 1, 0, 5, 0, 0, 1, 2, 'A', 'b', 'c',
		FCGI_VERSION_1, FCGI_PARAMS, 0, 1, 0, 0, 0, 0,
	};
	const unsigned char stdin_record[] = { FCGI_VERSION_1, FCGI_STDIN, 0, 1, 0, 5, 0, 0, 'h', 'e', 'l', 'l', 'o' };
	const unsigned char end[] = { FCGI_VERSION_1, FCGI_STDIN, 0, 1, 0, 0, 0, 0 };
	FCGX_Request request;
	int web_server = connect_to(&request);
	char text[8];

	ok(send(web_server, head, sizeof(head), MSG_NOSIGNAL) == (ssize_t)sizeof(head), "a request whose body comes later");
	accept_it(&request, false);
	is_int((int64_t)fcgx_ready(request.in), 0, "of which nothing is ready");
	ok(send(web_server, stdin_record, sizeof(stdin_record), MSG_NOSIGNAL) == (ssize_t)sizeof(stdin_record), "a part of it");
	is_int(FCGX_GetStr(text, 1, request.in), 1, "one byte is read");
	is_int((int64_t)fcgx_ready(request.in), 4, "the others of its record are ready");
	is_int(FCGX_GetStr(text, 4, request.in), 4, "and read without waiting");
	is_str(str_n(text, 4), "ello", "as they were sent");
	ok(send(web_server, end, sizeof(end), MSG_NOSIGNAL) == (ssize_t)sizeof(end), "the end");
	is_int(FCGX_GetStr(text, 1, request.in), 0, "is told");
	is_int((int64_t)fcgx_ready(request.in), 0, "with nothing ready");
	FCGX_Finish_r(&request);
	close(web_server);
}

static void broken_off(void)
{
	FCGX_Request request;
	int web_server = connect_to(&request);

	close(web_server);
	FCGX_Detach(&request);
	ok(FCGX_Accept_r(&request) < 0, "a connection that ends before its request is told");
	ok(fcgx_fd(&request) < 0, "and closed");
}

int main(void)
{
	ok(FCGX_Init() == 0, "the library");
	kept();
	not_kept();
	given_away();
	ready();
	broken_off();
	return done_testing();
}
