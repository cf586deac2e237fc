// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "server/watch/share.h"

#include "api/spaces/watch/watcher.h"
#include "base/digest.h"
#include "base/log.h"
#include "server/watch/client.h"

// The place of the caller's tenant: an operator's watch of a tenant counts for the operator.
static size_t place_of(const struct watch_shares *shares, const struct watch_client *client)
{
	return siphash(shares->key, watcher_user_tenant(client->watcher)) % WATCH_SHARES;
}

static void count_waiting(struct watch_shares *shares, const struct watch_clients *clients)
{
	memset(shares->waiting, 0, sizeof(shares->waiting));
	shares->all_waiting = 0;
	for (const struct watch_client *client = clients->first; client != NULL; client = client->next) {
		size_t waiting = stream_waiting(&client->stream);
		if (waiting == 0)
			continue;
		shares->waiting[place_of(shares, client)] += waiting;
		shares->all_waiting += waiting;
	}
}

void watch_shares_begin(struct watch_shares *shares, const struct watch_clients *clients)
{
	digest_random(shares->key, sizeof(shares->key));
	memset(shares->cpu_us, 0, sizeof(shares->cpu_us));
	count_waiting(shares, clients);
}

bool watch_shares_allow(const struct watch_shares *shares, const struct watch_client *client)
{
	size_t place = place_of(shares, client);

	return shares->cpu_us[place] < WATCH_ROUND_CPU_US && shares->waiting[place] < WATCH_TENANT_WAITING_MAX;
}

// Closes the client with the most waiting bytes. False: no bytes wait for any client.
static bool close_largest(struct watch_shares *shares, struct watch_clients *clients)
{
	struct watch_client *largest = NULL;

	for (struct watch_client *client = clients->first; client != NULL; client = client->next) {
		if (!client->gone && stream_waiting(&client->stream) > 0 &&
			(largest == NULL || stream_waiting(&client->stream) > stream_waiting(&largest->stream)))
			largest = client;
	}
	if (largest == NULL)
		return false;
	size_t waiting = stream_waiting(&largest->stream);
	struct str tenant = watcher_user_tenant(largest->watcher);
	log_warning("watches: a client of tenant \"%.*s\" has not taken %zu bytes, and too much waits: closed",
		STR_ARG(tenant), waiting);
	shares->waiting[place_of(shares, largest)] -= waiting;
	shares->all_waiting -= waiting;
	stream_forget(&largest->stream);
	largest->gone = true;
	return true;
}

void watch_shares_note(struct watch_shares *shares, struct watch_clients *clients, const struct watch_client *client,
	int64_t cpu_us, size_t bytes)
{
	size_t place = place_of(shares, client);

	assert(cpu_us >= 0);
	shares->cpu_us[place] += cpu_us;
	shares->waiting[place] += bytes;
	shares->all_waiting += bytes;
	while (shares->all_waiting > WATCH_ALL_WAITING_MAX) {
		count_waiting(shares, clients); // some clients may have read bytes meanwhile
		if (shares->all_waiting <= WATCH_ALL_WAITING_MAX || !close_largest(shares, clients))
			break;
	}
}

// Counts the bytes that wait in files, of each tenant. Returns those of all.
static uint64_t count_in_files(struct watch_shares *shares, const struct watch_clients *clients)
{
	uint64_t all = 0;

	memset(shares->in_files, 0, sizeof(shares->in_files));
	for (const struct watch_client *client = clients->first; client != NULL; client = client->next) {
		uint64_t bytes = client->gone ? 0 : stream_waiting_in_file(&client->stream);
		if (bytes == 0)
			continue;
		shares->in_files[place_of(shares, client)] += bytes;
		all += bytes;
	}
	return all;
}

// The client to be closed; NULL: none waits.
static struct watch_client *find_loser(const struct watch_shares *shares, const struct watch_clients *clients)
{
	struct watch_client *loser = NULL;
	uint64_t most = 0;

	for (struct watch_client *client = clients->first; client != NULL; client = client->next) {
		if (client->gone || stream_waiting_in_file(&client->stream) == 0)
			continue;
		uint64_t bytes = shares->in_files[place_of(shares, client)];
		if (loser == NULL || bytes > most || (bytes == most && client->stream.moved_us < loser->stream.moved_us)) {
			most = bytes;
			loser = client;
		}
	}
	return loser;
}

void watch_shares_bound_files(struct watch_shares *shares, struct watch_clients *clients, uint64_t most)
{
	struct watch_client *loser;

	while (count_in_files(shares, clients) > most && (loser = find_loser(shares, clients)) != NULL) {
		log_warning("more than %llu bytes of answers wait for slow clients: one of the tenant with the most is cut off",
			(unsigned long long)most);
		loser->gone = true;
	}
}
