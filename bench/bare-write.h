// SPDX-License-Identifier: Apache-2.0
// What the bare clients that write have in common: the statements with which every write of a resource begins, as
// registry/resource/lock.c has them, and clients on connections of their own that do the same for some seconds.
#ifndef TENURE_BENCH_BARE_WRITE_H
#define TENURE_BENCH_BARE_WRITE_H

#include "bare.h"
#include "sql/maintenance.h"
#include "sql/resources.h"

#include <pthread.h>

enum { BARE_MAX_CLIENTS = 64, ETAG = 64 };

// The first statement of every transaction that writes.
static inline MYSQL_STMT *bare_gate(MYSQL *mysql)
{
	return bare_prepare(mysql, sql_maintenance_gate_query.sql, NULL);
}

// The locks of a resource at an address. tenant, space, name: texts. spaces: the id of the type of namespaces.
static inline void bare_locks_of_address(MYSQL *mysql, MYSQL_BIND tenant, MYSQL_BIND spaces, MYSQL_BIND space, MYSQL_BIND type,
	MYSQL_BIND name, MYSQL_STMT *locks[4])
{
	locks[0] = bare_gate(mysql);
	locks[1] = BARE_PREPARE(mysql, &sql_resource_lock_tenant_query[SQL_TENANT_LOCK_SHARED][SQL_WAIT_NOT], { "tenant", tenant });
	locks[2] = BARE_PREPARE(mysql, &sql_resource_lock_namespace_query[SQL_WAIT_NOT],
		{ "tenant", tenant }, { "type_id", spaces }, { "name", space });
	locks[3] = BARE_PREPARE(mysql, &sql_resource_lock_query[SQL_WAIT_NOT],
		{ "tenant", tenant }, { "type_id", type }, { "namespace", space }, { "name", name });
}

// The locks of a resource by its uid.
static inline void bare_locks_of_uid(MYSQL *mysql, MYSQL_BIND uid, MYSQL_BIND type, MYSQL_STMT *locks[3])
{
	locks[0] = bare_gate(mysql);
	locks[1] = BARE_PREPARE(mysql, &sql_resource_lock_own_tenant_query[SQL_RESOURCE_IDENT_UID][SQL_WAIT_NOT],
		{ "uid", uid }, { "type_id", type });
	locks[2] = BARE_PREPARE(mysql, &sql_resource_lock_own_query[SQL_RESOURCE_IDENT_UID][SQL_WAIT_NOT],
		{ "uid", uid }, { "type_id", type });
}

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
