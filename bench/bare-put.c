// SPDX-License-Identifier: Apache-2.0
// bare-put TENANT SECONDS CONNECTIONS: what a PUT of a config map that exists sends to the database, as
// registry/resource_write.c does it: locks in one round trip, writes in another, COMMIT in a third. Each connection
// takes resources of its own. Prints commits per second.
#include "base/base.h"

#include <pthread.h>

#include "bare.h"

enum { MAX_CONNECTIONS = 64, BODY = 300, ETAG = 64 };

#define THIS_TENANT "(SELECT id FROM tenants WHERE name = ? AND live = 1)"

static const char q_hold_tenant[] =
	"SELECT t.id, t.deleted_at, t.purge_at, i.max_resources FROM tenants t JOIN tiers i ON i.id = t.tier_id "
	"WHERE t.name = ? AND t.live = 1 LOCK IN SHARE MODE NOWAIT";
static const char q_lock[] =
	"SELECT r.id, r.uid, r.tenant_id, r.type_id, r.namespace, r.name, r.live, r.locked, r.revision, r.edits, r.etag, "
	"r.meta, r.body, r.created_at, r.updated_at, r.deleted_at, r.purge_at FROM resources r "
	"WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = ? AND r.name = ? AND r.live IN (1, 2) FOR UPDATE NOWAIT";
static const char q_hold_space[] =
	"SELECT r.id FROM resources r WHERE r.tenant_id = " THIS_TENANT
	" AND r.type_id = ? AND r.namespace = '' AND r.name = ? AND r.live IN (1, 2) LOCK IN SHARE MODE NOWAIT";
static const char q_update[] =
	"UPDATE resources SET locked = ?, bytes = ?, revision = ?, edits = ?, etag = ?, meta = ?, body = ?, updated_at = ?, "
	"changed = LAST_INSERT_ID() WHERE id = ?";
static const char q_change[] =
	"INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, "
	"etag_before, etag_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

struct put {
	MYSQL *mysql;
	uint64_t tenant_id, type_id, space_type_id, id, locked, bytes, revision;
	char tenant[256], space[8], name[32], meta[3], verb[8], actor[8], body[BODY + 1];
	uint8_t uid[16], etag[ETAG];
	MYSQL_TIME now;
	MYSQL_BIND name_bind;
	MYSQL_STMT *locks[3], *writes[2];
	uint64_t *ids;
	size_t first, step, n_ids;
	double until;
	uint64_t done;
};

// The ids of the tenant's resources, the row "p1" first.
static void load_ids(struct put *put)
{
	char sql[256];
	MYSQL_RES *result;
	MYSQL_ROW row;

	(void)snprintf(sql, sizeof(sql), "SELECT id FROM resources WHERE tenant_id = %llu AND type_id = %llu AND live = 1 "
		"ORDER BY CAST(SUBSTR(name, 2) AS UNSIGNED)", (unsigned long long)put->tenant_id,
		(unsigned long long)put->type_id);
	bare_query(put->mysql, sql);
	result = mysql_store_result(put->mysql);
	if (result == NULL || mysql_num_rows(result) == 0)
		die("the tenant has no config maps");
	put->ids = calloc((size_t)mysql_num_rows(result), sizeof(*put->ids));
	if (put->ids == NULL)
		die("no memory");
	while ((row = mysql_fetch_row(result)) != NULL)
		put->ids[put->n_ids++] = strtoull(row[0], NULL, 10);
	mysql_free_result(result);
}

static void prepare_locks(struct put *put)
{
	MYSQL_BIND tenant = bare_text(put->tenant), space = bare_text(put->space), type = bare_u(&put->type_id);
	MYSQL_BIND spaces = bare_u(&put->space_type_id), name = bare_text(put->name);

	name.buffer_length = 5;
	put->locks[0] = bare_prepare(put->mysql, q_hold_tenant, &tenant);
	put->locks[2] = bare_prepare(put->mysql, q_lock, (MYSQL_BIND[]){ tenant, type, space, name });
	put->locks[1] = bare_prepare(put->mysql, q_hold_space, (MYSQL_BIND[]){ tenant, spaces, space });
}

static void prepare_writes(struct put *put)
{
	MYSQL_BIND tenant = bare_u(&put->tenant_id), type = bare_u(&put->type_id), id = bare_u(&put->id);
	MYSQL_BIND locked = bare_u(&put->locked), bytes = bare_u(&put->bytes), revision = bare_u(&put->revision);
	MYSQL_BIND etag = bare_bytes(put->etag, ETAG), meta = bare_text(put->meta), body = bare_bytes(put->body, BODY);
	MYSQL_BIND now = bare_time(&put->now), uid = bare_bytes(put->uid, sizeof(put->uid)), verb = bare_text(put->verb);
	MYSQL_BIND actor = bare_text(put->actor), space = bare_text(put->space), name = bare_text(put->name);

	name.buffer_length = 5;
	put->writes[1] = bare_prepare(put->mysql, q_update,
		(MYSQL_BIND[]){ locked, bytes, revision, revision, etag, meta, body, now, id });
	put->writes[0] = bare_prepare(put->mysql, q_change, (MYSQL_BIND[]){ uid, now, actor, verb, tenant, id, uid, type,
		space, name, revision, etag, etag });
}

static struct put *put_open(const char *tenant, size_t first, size_t step)
{
	struct put *put = calloc(1, sizeof(*put));

	if (put == NULL)
		die("no memory");
	put->mysql = bare_connect();
	put->first = first;
	put->step = step;
	(void)snprintf(put->tenant, sizeof(put->tenant), "%s", tenant);
	(void)snprintf(put->space, sizeof(put->space), "default");
	(void)snprintf(put->meta, sizeof(put->meta), "{}");
	(void)snprintf(put->verb, sizeof(put->verb), "updated");
	(void)snprintf(put->actor, sizeof(put->actor), "bench");
	put->bytes = BODY + 2;
	put->revision = (uint64_t)time(NULL);
	put->tenant_id = bare_tenant(put->mysql, tenant);
	put->type_id = bare_number(put->mysql, "SELECT id FROM types WHERE plural = 'configmaps'");
	put->space_type_id = bare_number(put->mysql, "SELECT id FROM types WHERE plural = 'namespaces'");
	load_ids(put);
	prepare_locks(put);
	prepare_writes(put);
	bare_query(put->mysql, "SET autocommit = 0");
	return put;
}

static void put_one(struct put *put, size_t at)
{
	put->id = put->ids[at];
	(void)snprintf(put->name, sizeof(put->name), "p%04zu", at + 1);
	put->now = bare_now();
	put->revision++;
	(void)snprintf(put->body, sizeof(put->body), "{\"data\":{\"n\":\"%0*llu\"}}", BODY - 17,
		(unsigned long long)put->revision);
	for (size_t i = 0; i < ETAG; i++)
		put->etag[i] = (uint8_t)random();
	memcpy(put->uid, put->etag, sizeof(put->uid));
	bare_batch(put->mysql, put->locks, COUNT_OF(put->locks));
	bare_batch(put->mysql, put->writes, COUNT_OF(put->writes));
	bare_query(put->mysql, "COMMIT");
	put->done++;
}

static void *put_run(void *arg)
{
	struct put *put = arg;

	(void)mysql_thread_init();
	for (size_t at = put->first; bench_seconds() < put->until; at += put->step)
		put_one(put, at % put->n_ids);
	mysql_thread_end();
	return NULL;
}

int main(int argc, char **argv)
{
	struct put *clients[MAX_CONNECTIONS];
	pthread_t threads[MAX_CONNECTIONS];
	uint64_t done = 0;

	if (argc != 4)
		die("usage: bare-put TENANT SECONDS CONNECTIONS");
	unsigned seconds = bench_number(argv[2], 3600), n = bench_number(argv[3], MAX_CONNECTIONS);
	for (unsigned i = 0; i < n; i++)
		clients[i] = put_open(argv[1], i, n);
	double began = bench_seconds();
	for (unsigned i = 0; i < n; i++) {
		clients[i]->until = began + seconds;
		if (pthread_create(&threads[i], NULL, put_run, clients[i]) != 0)
			die("pthread_create failed");
	}
	for (unsigned i = 0; i < n; i++) {
		(void)pthread_join(threads[i], NULL);
		done += clients[i]->done;
	}
	printf("%.1f\n", (double)done / (bench_seconds() - began));
	return 0;
}
