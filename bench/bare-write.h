// SPDX-License-Identifier: Apache-2.0
// What the bare clients that write have in common: the statements with which every write of a resource begins, as
// registry/resource/write.c has them, and clients on connections of their own that do the same for some seconds.
#ifndef TENURE_BENCH_BARE_WRITE_H
#define TENURE_BENCH_BARE_WRITE_H

#include "bare.h"

#include <pthread.h>

enum { BARE_MAX_CLIENTS = 64, ETAG = 64 };

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"
#define COLUMNS \
	"r.id, r.uid, r.tenant_id, r.type_id, r.namespace, r.name, r.live, r.locked, r.revision, r.edits, r.etag, " \
	"r.meta, r.body, r.created_at, r.updated_at, r.deleted_at, r.purge_at, r.root, r.traits, r.changed, r.generation, " \
	"r.doomed_at, r.moves"
#define LAST_CHANGE \
	"GREATEST(r.updated_at, COALESCE(r.deleted_at, r.updated_at), " \
	"COALESCE((SELECT x.at FROM changes x WHERE x.id = r.changed), r.updated_at)) AS last_change_at"

static const char q_hold_tenant[] =
	"SELECT t.id, t.deleted_at, t.purge_at, t.object LIKE '%\"deletionTimestamp\":\"%\"}' AS ends, i.max_resources, "
	"t.etag_required FROM tenants t JOIN tiers i ON i.id = t.tier_id WHERE t.name = ? AND t.live = 1 LOCK IN SHARE MODE NOWAIT";
static const char q_lock[] = "SELECT " COLUMNS ", " LAST_CHANGE " FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IN (1, 2) FOR UPDATE NOWAIT";
static const char q_hold_space[] =
	"SELECT r.id, r.doomed_at FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = '' AND r.name = ? AND r.live IN (1, 2) LOCK IN SHARE MODE NOWAIT";

static inline void bare_random(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)random();
}

struct bare_runner {
	void *client;
	void (*once)(void *client);
	double until;
	uint64_t done;
	pthread_t thread;
};

static inline void *bare_run(void *arg)
{
	struct bare_runner *runner = arg;

	(void)mysql_thread_init();
	for (; bench_seconds() < runner->until; runner->done++)
		runner->once(runner->client);
	mysql_thread_end();
	return NULL;
}

// All at once, each in a thread. Returns how often once was done per second.
static inline double bare_race(void **clients, unsigned n, unsigned seconds, void (*once)(void *client))
{
	struct bare_runner runners[BARE_MAX_CLIENTS];
	double began = bench_seconds();
	uint64_t done = 0;

	for (unsigned i = 0; i < n; i++) {
		runners[i] = (struct bare_runner){ .client = clients[i], .once = once, .until = began + seconds };
		if (pthread_create(&runners[i].thread, NULL, bare_run, &runners[i]) != 0)
			die("pthread_create failed");
	}
	for (unsigned i = 0; i < n; i++) {
		(void)pthread_join(runners[i].thread, NULL);
		done += runners[i].done;
	}
	return (double)done / (bench_seconds() - began);
}

#endif
