// SPDX-License-Identifier: Apache-2.0
// A name server that does not answer holds nobody up: neither the transfers beside the one whose host is looked up, nor who drops
// that one, nor an authenticator that asks a service. A receiver that stops answering on a kept connection is said to have timed
// out, not to be unknown.
#include "base/base.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/core/fetch.h"
#include "base/clock.h"
#include "base/pool.h"
#include "server/webhook/transfer.h"
#include "tap.h"

// SILENT_MS: for so long the name server does not answer. SOON_MS: no call may take as long.
// KEPT_TIMEOUT_MS: of a receiver that answers at first.
enum { TIMEOUT_MS = 400, SILENT_MS = 6000, SOON_MS = 3000, KEPT_TIMEOUT_MS = 2000 };

static atomic_int n_asked, n_waiting;
static atomic_bool enough;

// In the place of the resolver's, for libcurl, which calls it in a thread.
__attribute__((visibility("default"))) int getaddrinfo(const char *restrict name, const char *restrict service,
	const struct addrinfo *restrict hints, struct addrinfo **restrict found)
{
	int64_t until_us = clock_tick_us() + SILENT_MS * INT64_C(1000);

	UNUSED(name);
	UNUSED(service);
	UNUSED(hints);
	UNUSED(found);
	n_asked++;
	n_waiting++;
	while (!enough && clock_tick_us() < until_us)
		clock_pause_ms(5);
	n_waiting--;
	return EAI_AGAIN;
}

static int64_t ms_since(int64_t begun_us)
{
	return (clock_tick_us() - begun_us) / 1000;
}

static const struct transfer_request request = { .url = STR_INIT("https://silent.invalid/"), .body = STR_INIT("{}") };

// Waits until the host of a transfer that has begun is looked up.
static void wait_until_asked(struct transfers *transfers, int n)
{
	for (int i = 0; i < 100 && n_asked < n; i++)
		transfers_wait(transfers, 10);
	is_int(n_asked, n, "the name server is asked");
}

static void test_timeout(struct transfers *transfers)
{
	struct transfer_end end;
	int64_t begun_us = clock_tick_us(), longest_ms = 0;
	bool ended = false;
	int asked = n_asked;

	ok(transfers_start(transfers, &request, &end), "a transfer begins");
	wait_until_asked(transfers, asked + 1);
	while (!ended && ms_since(begun_us) < SILENT_MS) {
		int64_t turn_us = clock_tick_us();
		transfers_wait(transfers, 20);
		ended = transfers_next(transfers, &end);
		longest_ms = ms_since(turn_us) > longest_ms ? ms_since(turn_us) : longest_ms;
	}
	ok(ended && end.status == 0 && end.error[0] != '\0', "it fails");
	ok(longest_ms < SOON_MS, "which holds up what goes on beside it for %d ms at most", (int)longest_ms);
	ok(ms_since(begun_us) < SOON_MS, "when its time is over");
	is_int(n_waiting, 1, "the name server has not answered yet");
}

static void test_drop(struct transfers *transfers)
{
	int arg = 0, asked = n_asked;

	ok(transfers_start(transfers, &request, &arg), "another transfer begins");
	wait_until_asked(transfers, asked + 1);
	int64_t begun_us = clock_tick_us();
	ok(transfers_drop(transfers) == &arg, "it is dropped");
	ok(ms_since(begun_us) < SOON_MS, "at once");
}

// ---- a receiver that keeps its connections

// Listens on a port of its own, whose number is returned in *port.
static int listen_here(unsigned *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, 8) != 0 || getsockname(fd, (struct sockaddr *)&address, &n) != 0)
		return -1;
	*port = ntohs(address.sin_port);
	return fd;
}

// Goes on with the transfers until a whole message has come on that connection. False: none came.
static bool take_message(struct transfers *transfers, int connection)
{
	char text[4096];
	size_t n = 0;

	for (int i = 0; i < 500; i++) {
		transfers_wait(transfers, 10);
		ssize_t got = recv(connection, text + n, sizeof(text) - n, MSG_DONTWAIT);
		n += got > 0 ? (size_t)got : 0;
		if (n > 2 && memcmp(text + n - 2, "{}", 2) == 0)
			return true;
	}
	return false;
}

static bool wait_for_end(struct transfers *transfers, struct transfer_end *end)
{
	bool ended = false;

	for (int i = 0; i < 1000 && !ended; i++) {
		transfers_wait(transfers, 10);
		ended = transfers_next(transfers, end);
	}
	return ended;
}

static void test_kept_connection(void)
{
	static const char answer[] = "HTTP/1.1 204 No Content\r\n\r\n";
	struct transfer_rules rules = { .http = true, .ca_file = "", .timeout_ms = KEPT_TIMEOUT_MS };
	struct pool *pool = pool_new();
	struct transfer_end end;
	struct str wrong;
	unsigned port = 0;
	int arg = 0, listener = listen_here(&port);

	ok(listener >= 0 && networks_read(pool, STR("127.0.0.1"), &rules.networks, &wrong), "a receiver");
	struct transfers *transfers = transfers_new(&rules);
	const struct transfer_request message = { .url = str_printf(pool, "http://127.0.0.1:%u/", port), .body = STR("{}") };
	ok(transfers_start(transfers, &message, &arg), "a message for it");
	transfers_wait(transfers, 10);
	int connection = accept(listener, NULL, NULL);
	ok(take_message(transfers, connection), "comes");
	ok(send(connection, answer, sizeof(answer) - 1, MSG_NOSIGNAL) == (ssize_t)sizeof(answer) - 1, "it answers");
	ok(wait_for_end(transfers, &end) && end.status == 204 && end.error[0] == '\0', "the message was received");
	ok(transfers_start(transfers, &message, &arg), "another message");
	ok(take_message(transfers, connection), "comes by the same connection, and is not answered");
	ok(wait_for_end(transfers, &end) && end.status == 0, "it fails");
	ok(strstr(end.error, "timed out") != NULL, "as the time was over: %s", end.error);
	is_str(str_c(end.reason), "", "and not for want of an address");
	transfers_free(&transfers);
	close(connection);
	close(listener);
	pool_free(&pool);
}

static void test_fetch(void)
{
	struct fetcher *fetcher = fetcher_new("");
	struct pool *pool = pool_new();
	const struct fetch_request what = { .url = "https://silent.invalid/", .timeout_ms = TIMEOUT_MS, .max_body = 1000 };
	struct fetch_answer answer;
	struct str error;
	int64_t begun_us = clock_tick_us();

	ok(fetcher != NULL && pool != NULL && !fetch(fetcher, pool, &what, &answer, &error), "an authenticator gets no answer");
	ok(ms_since(begun_us) < SOON_MS, "which it is told in time");
	fetcher_free(&fetcher);
	pool_free(&pool);
}

int main(void)
{
	const struct transfer_rules rules = { .ca_file = "", .timeout_ms = TIMEOUT_MS };
	struct transfers *transfers = transfers_new(&rules);

	if (ok(transfers != NULL, "transfers")) {
		test_timeout(transfers);
		test_drop(transfers);
	}
	test_kept_connection();
	test_fetch();
	int64_t begun_us = clock_tick_us();
	transfers_free(&transfers);
	ok(ms_since(begun_us) < SOON_MS, "all is freed at once");
	enough = true;
	for (int i = 0; i < 1000 && n_waiting > 0; i++)
		clock_pause_ms(5);
	clock_pause_ms(50); // libcurl's threads end
	return done_testing();
}
