// SPDX-License-Identifier: Apache-2.0
// Records of a connection on which no request is in progress: what is taken off, what is answered, and what ends the connection.
#include "base/base.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "server/wire/outside.h"
#include "tap.h"

enum { PATIENCE_MS = 50 };

#define MULTIPLEXES "\x0f\0FCGI_MPXS_CONNS"
#define CONNECTIONS "\x0e\0FCGI_MAX_CONNS"
#define BEGIN "\1\1\0\1\0\x8\0\0\0\1\0\0\0\0\0\0"
#define ABORT "\1\2\0\1\0\0\0\0"

static int peer, fd;

static void connect_both(void)
{
	int ends[2];

	if (peer > 0) {
		close(peer);
		close(fd);
	}
	ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "a connection");
	peer = ends[0];
	fd = ends[1];
}

static void put(struct str bytes)
{
	ok(send(peer, bytes.p, bytes.n, MSG_NOSIGNAL) == (ssize_t)bytes.n, "%zu bytes are sent", bytes.n);
}

// What can be read from there without waiting.
static struct str waiting(int from)
{
	static char bytes[1024];
	ssize_t n = recv(from, bytes, sizeof(bytes), MSG_DONTWAIT);

	return str_n(bytes, n > 0 ? (size_t)n : 0);
}

static void begins(void)
{
	ok(!outside_begins((const unsigned char *)"", 0), "nothing is no record");
	ok(outside_begins((const unsigned char *)"\1", 1), "a first byte may be that of a record");
	ok(outside_begins((const unsigned char *)"\1\x9", 2), "FCGI_GET_VALUES");
	ok(!outside_begins((const unsigned char *)"\1\1", 2), "FCGI_BEGIN_REQUEST is of a request");
	ok(!outside_begins((const unsigned char *)"GET /", 5), "no FastCGI is the library's");
}

static const struct {
	const char *what;
	struct str sent, answer, left;
} passes[] = {
	{ "nothing", STR_INIT(""), STR_INIT(""), STR_INIT("") },
	{ "a request", STR_INIT(BEGIN), STR_INIT(""), STR_INIT(BEGIN) },
	{ "no FastCGI", STR_INIT("GET /"), STR_INIT(""), STR_INIT("GET /") },
	{ "records of an ended request before another one", STR_INIT(ABORT "\1\4\0\1\0\3\2\0abc--" "\1\5\0\1\0\0\0\0" "\1\x8\0\1\0\0\0\0" BEGIN), STR_INIT(""),
		STR_INIT(BEGIN) },
	{ "a question about values", STR_INIT("\1\x9\0\0\0\x21\0\0" CONNECTIONS MULTIPLEXES), STR_INIT("\1\xa\0\0\0\x12\0\0\x0f\1FCGI_MPXS_CONNS0"), STR_INIT("") },
	{ "about none that is known", STR_INIT("\1\x9\0\0\0\x10\0\0" CONNECTIONS), STR_INIT("\1\xa\0\0\0\0\0\0"), STR_INIT("") },
	{ "with a name of 2 GiB", STR_INIT("\1\x9\0\0\0\6\0\0\377\377\377\377\0a"), STR_INIT("\1\xa\0\0\0\0\0\0"), STR_INIT("") },
	{ "with a length that is cut", STR_INIT("\1\x9\0\0\0\2\0\0\377\377"), STR_INIT("\1\xa\0\0\0\0\0\0"), STR_INIT("") },
	{ "an unknown type", STR_INIT("\1\x63\0\0\0\1\0\0x" BEGIN), STR_INIT("\1\xb\0\0\0\x8\0\0\x63\0\0\0\0\0\0\0"), STR_INIT(BEGIN) },
	{ "an unknown type of a request", STR_INIT("\1\x63\0\1\0\0\0\0"), STR_INIT(""), STR_INIT("") },
};

static void taken_off(void)
{
	for (size_t i = 0; i < COUNT_OF(passes); i++) {
		connect_both();
		put(passes[i].sent);
		ok(outside_pass(fd, PATIENCE_MS), "%s: the connection goes on", passes[i].what);
		ok(str_eq(waiting(peer), passes[i].answer), "%s: the answer", passes[i].what);
		ok(str_eq(waiting(fd), passes[i].left), "%s: what is left", passes[i].what);
	}
}

static void ended(void)
{
	int64_t begun_us = clock_tick_us();

	connect_both();
	put(STR("\1\x9\0\0\0\x10\0\0\x0e"));
	ok(!outside_pass(fd, PATIENCE_MS), "a record that stays incomplete");
	ok(clock_tick_us() - begun_us >= PATIENCE_MS * 1000, "is waited for");
	connect_both();
	put(STR("\1\x9"));
	(void)shutdown(peer, SHUT_WR);
	begun_us = clock_tick_us();
	ok(!outside_pass(fd, 60000), "not if its peer sends no more");
	ok(clock_tick_us() - begun_us < 30000000, "... which ends the wait");
	connect_both();
	for (int i = 0; i < 64; i++)
		put(STR(ABORT));
	ok(!outside_pass(fd, PATIENCE_MS), "records without end");
	connect_both();
	put(STR("\1\x9\0\0\0\0\0\0"));
	close(peer);
	peer = -1;
	ok(!outside_pass(fd, PATIENCE_MS), "a peer that takes no answer");
	close(fd);
}

int main(void)
{
	begins();
	taken_off();
	ended();
	return done_testing();
}
