// SPDX-License-Identifier: Apache-2.0
// What one tenant's watches may take: of a round's CPU time, and of the bytes that wait; and who is closed if all is too much.
#include "base/base.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "server/watch/client.h"
#include "server/watch/share.h"
#include "api/spaces/watch/watcher.h"
#include "tap.h"
#include "logged.h"

// Of a watcher these functions ask the tenant alone.
struct watcher {
	struct str tenant;
};

struct str watcher_user_tenant(const struct watcher *watcher)
{
	return watcher->tenant;
}

static struct watcher acme = { STR_INIT("acme") }, globex = { STR_INIT("globex") };
static struct watch_shares shares;
static struct watch_client list[3];
static struct watch_clients clients;

// Three clients, two of which are acme's.
static void begin(void)
{
	static const int of_globex = 2;

	for (int i = 0; i < 3; i++) {
		stream_close(&list[i].stream);
		list[i] = (struct watch_client){ .watcher = i == of_globex ? &globex : &acme, .next = i < 2 ? &list[i + 1] : NULL };
		stream_open(&list[i].stream, dup(0), 1);
	}
	clients = (struct watch_clients){ .first = &list[0], .n = 3 };
	watch_shares_begin(&shares, &clients);
}

static void add(struct watch_client *client, size_t n)
{
	char *text = calloc(1, n);

	ok(text != NULL && stream_add(&client->stream, str_n(text, n)), "%zu bytes wait", n);
	free(text);
	watch_shares_note(&shares, &clients, client, 0, n);
}

static void cpu_time(void)
{
	begin();
	watch_shares_note(&shares, &clients, &list[0], WATCH_ROUND_CPU_US - 1, 0);
	ok(watch_shares_allow(&shares, &list[0]), "a tenant that has not had its time is told more");
	watch_shares_note(&shares, &clients, &list[0], 1, 0);
	ok(!watch_shares_allow(&shares, &list[0]), "one that had it isn't");
	ok(!watch_shares_allow(&shares, &list[1]), "nor is another client of that tenant");
	ok(watch_shares_allow(&shares, &list[2]), "another tenant's is");
	watch_shares_begin(&shares, &clients);
	ok(watch_shares_allow(&shares, &list[0]), "in the next round the first one is again");
}

static void waiting(void)
{
	begin();
	add(&list[0], WATCH_TENANT_WAITING_MAX - 100000);
	ok(watch_shares_allow(&shares, &list[1]), "a tenant for whose clients less waits is told more");
	add(&list[1], 100000);
	ok(!watch_shares_allow(&shares, &list[0]) && !watch_shares_allow(&shares, &list[1]), "one that takes nothing isn't");
	ok(watch_shares_allow(&shares, &list[2]), "another tenant's is");
	watch_shares_begin(&shares, &clients);
	ok(!watch_shares_allow(&shares, &list[0]), "it waits for as long as it takes nothing");
	stream_forget(&list[0].stream);
	watch_shares_begin(&shares, &clients);
	ok(watch_shares_allow(&shares, &list[0]), "and is told more once it did");
	ok(!list[0].gone && !list[1].gone && !list[2].gone, "nobody is closed for that");
}

static void too_much(void)
{
	begin();
	add(&list[0], WATCH_ALL_WAITING_MAX / 4);
	add(&list[1], WATCH_ALL_WAITING_MAX / 2);
	add(&list[2], WATCH_ALL_WAITING_MAX / 4 - 1000);
	ok(!list[0].gone && !list[1].gone && !list[2].gone, "nobody is closed while there is room");
	logged_begin();
	add(&list[2], 2000);
	ok(logged_end_has("watches: a client of tenant \"acme\" has not taken "), "it is logged whose client is closed");
	ok(list[1].gone, "the client for whom most waits is closed");
	ok(stream_waiting(&list[1].stream) == 0, "and what waits for it is dropped");
	ok(!list[0].gone && !list[2].gone, "the others are not");
	add(&list[2], WATCH_ALL_WAITING_MAX / 2);
	ok(list[2].gone && !list[0].gone, "then the next");
}

// Lets the client's answer begin with a file of so many bytes, of which it last took some at moved_us.
static void begin_with(struct watch_client *client, off_t bytes, int64_t moved_us)
{
	int file = memfd_create("initial events", MFD_CLOEXEC);

	stream_close(&client->stream);
	stream_open(&client->stream, open("/dev/null", O_WRONLY | O_CLOEXEC), 1);
	ok(ftruncate(file, bytes) == 0 && stream_begin(&client->stream, file), "%lld bytes wait in a file", (long long)bytes);
	client->stream.moved_us = moved_us;
}

static void files(void)
{
	begin();
	begin_with(&list[0], 3000, 20);
	begin_with(&list[1], 3000, 10);
	begin_with(&list[2], 5000, 1);
	watch_shares_bound_files(&shares, &clients, 11000);
	ok(!list[0].gone && !list[1].gone && !list[2].gone, "nobody is closed while there is room");
	ok(watch_shares_allow(&shares, &list[0]) && shares.all_waiting == 0, "files are not in memory");
	logged_begin();
	watch_shares_bound_files(&shares, &clients, 10999);
	ok(logged_end_has("more than 10999 bytes of answers wait for slow clients"), "it is logged");
	ok(list[1].gone, "of the tenant with the most, the client that took nothing for the longest time is closed");
	ok(!list[0].gone && !list[2].gone, "and no other");
	watch_shares_bound_files(&shares, &clients, 4000);
	ok(list[2].gone && !list[0].gone, "then it is another tenant");
	watch_shares_bound_files(&shares, &clients, 0);
	ok(list[0].gone, "all, if there is no room");
}

int main(void)
{
	log_open("watch-share", LOG_SINK_STDERR, LOG_LEVEL_WARNING);
	for (int i = 0; i < 3; i++)
		stream_open(&list[i].stream, dup(0), 1);
	cpu_time();
	waiting();
	too_much();
	files();
	for (int i = 0; i < 3; i++)
		stream_close(&list[i].stream);
	return done_testing();
}
