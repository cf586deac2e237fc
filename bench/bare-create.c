// SPDX-License-Identifier: Apache-2.0
// bare-create TENANT SECONDS CONNECTIONS BYTES: what the creation of a config map sends to the database, as
// registry/resource/write.c does it: locks in one round trip, writes in another, COMMIT in a third. The bodies have so
// many bytes, names are new in each run. Prints commits per second.
#include "base/base.h"

#include "bare-write.h"

enum { MAX_BODY = 8192, MAX_NAME = 64 };

static const char q_insert[] =
	"INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, "
	"h3, etag, meta, body, created_at, updated_at, root) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
static const char q_change[] =
	"INSERT INTO changes (request_id, at, actor, verb, tenant_id, from_tenant_id, resource_id, uid, type_id, namespace, name, "
	"revision, etag_before, etag_after, fields, moves, selectable_before) VALUES (?, ?, ?, ?, ?, NULL, LAST_INSERT_ID(), ?, ?, ?, "
	"?, ?, ?, ?, NULL, 0, NULL)";
static const char q_number[] = "UPDATE resources SET changed = LAST_INSERT_ID() WHERE uid = ? AND type_id = ? AND live = ?";
static const char q_retire_forward[] =
	"DELETE FROM forwards WHERE tenant_id = ? AND type_id = ? AND namespace = ? AND name = ?";
static const char q_count_up[] =
	"UPDATE tenant_counts SET resources = resources + ? WHERE tenant_id = ? AND resources + ? <= ?";

struct creator {
	MYSQL *mysql;
	unsigned number;
	uint64_t made, tenant_id, type_id, space_type_id, bytes, h[4];
	char tenant[256], name[MAX_NAME], body[MAX_BODY];
	uint8_t uid[16], request_id[16], etag[ETAG];
	MYSQL_TIME now;
	MYSQL_STMT *locks[3], *writes[5];
};

// The same for all; bound where the values are.
static uint64_t zero = 0, one = 1, most = INT64_MAX;
static char space[] = "default", verb[] = "created", actor[] = "bench", meta[] = "{}";

static MYSQL_BIND null_bind(void)
{
	return (MYSQL_BIND){ .buffer_type = MYSQL_TYPE_NULL };
}

static void prepare(struct creator *c)
{
	MYSQL_BIND tenant = bare_text(c->tenant), tenant_id = bare_u(&c->tenant_id), type = bare_u(&c->type_id);
	MYSQL_BIND spaces = bare_u(&c->space_type_id), in_space = bare_text(space), name = bare_text(c->name);
	MYSQL_BIND uid = bare_bytes(c->uid, sizeof(c->uid)), etag = bare_bytes(c->etag, ETAG), now = bare_time(&c->now);
	MYSQL_BIND request = bare_bytes(c->request_id, sizeof(c->request_id)), body = bare_bytes(c->body, c->bytes);
	MYSQL_BIND bytes = bare_u(&c->bytes), is_0 = bare_u(&zero), is_1 = bare_u(&one), null = null_bind();
	MYSQL_BIND h0 = bare_u(&c->h[0]), h1 = bare_u(&c->h[1]), h2 = bare_u(&c->h[2]), h3 = bare_u(&c->h[3]);

	c->locks[0] = bare_prepare(c->mysql, q_hold_tenant, &tenant);
	c->locks[1] = bare_prepare(c->mysql, q_hold_space, (MYSQL_BIND[]){ tenant, spaces, in_space });
	c->locks[2] = bare_prepare(c->mysql, q_lock, (MYSQL_BIND[]){ tenant, type, in_space, name });
	c->writes[0] = bare_prepare(c->mysql, q_insert, (MYSQL_BIND[]){ uid, tenant_id, type, in_space, name, is_1, is_0, bytes,
		is_1, is_1, h0, h1, h2, h3, etag, bare_text(meta), body, now, now, null });
	c->writes[1] = bare_prepare(c->mysql, q_change, (MYSQL_BIND[]){ request, now, bare_text(actor), bare_text(verb),
		tenant_id, uid, type, in_space, name, is_1, null, etag });
	c->writes[2] = bare_prepare(c->mysql, q_number, (MYSQL_BIND[]){ uid, type, is_1 });
	c->writes[3] = bare_prepare(c->mysql, q_retire_forward, (MYSQL_BIND[]){ tenant_id, type, in_space, name });
	c->writes[4] = bare_prepare(c->mysql, q_count_up, (MYSQL_BIND[]){ is_1, tenant_id, is_1, bare_u(&most) });
}

// Where its values are does not change, nor how long they are.
static void next_values(struct creator *c)
{
	int length = (int)strlen(c->name);

	c->now = bare_now();
	bare_random(c->uid, sizeof(c->uid));
	bare_random(c->request_id, sizeof(c->request_id));
	bare_random(c->etag, ETAG);
	for (size_t i = 0; i < COUNT_OF(c->h); i++)
		c->h[i] = (uint64_t)random() & UINT32_MAX;
	(void)snprintf(c->name, sizeof(c->name), "b%010lld-%03u-%010llu", (long long)time(NULL), c->number,
		(unsigned long long)c->made++);
	if (length > 0 && (int)strlen(c->name) != length)
		die("a name of another length");
}

static struct creator *creator_open(const char *tenant, unsigned bytes, unsigned number)
{
	struct creator *c = calloc(1, sizeof(*c));

	if (c == NULL)
		die("no memory");
	c->mysql = bare_connect();
	c->number = number;
	c->bytes = bytes;
	(void)snprintf(c->tenant, sizeof(c->tenant), "%s", tenant);
	c->tenant_id = bare_tenant(c->mysql, tenant);
	c->type_id = bare_number(c->mysql, "SELECT id FROM types WHERE group_name = '' AND plural = 'configmaps'");
	c->space_type_id = bare_number(c->mysql, "SELECT id FROM types WHERE group_name = '' AND plural = 'namespaces'");
	memset(c->body, 'x', bytes);
	next_values(c);
	prepare(c);
	bare_query(c->mysql, "SET autocommit = 0");
	return c;
}

static void create_one(void *arg)
{
	struct creator *c = arg;

	next_values(c);
	bare_batch(c->mysql, c->locks, COUNT_OF(c->locks));
	bare_batch(c->mysql, c->writes, COUNT_OF(c->writes));
	bare_query(c->mysql, "COMMIT");
}

int main(int argc, char **argv)
{
	void *clients[BARE_MAX_CLIENTS];

	if (argc != 5)
		die("usage: bare-create TENANT SECONDS CONNECTIONS BYTES");
	unsigned seconds = bench_number(argv[2], 3600), n = bench_number(argv[3], BARE_MAX_CLIENTS);
	unsigned bytes = bench_number(argv[4], MAX_BODY);
	srandom((unsigned)time(NULL)); // no uid that an earlier run has made
	for (unsigned i = 0; i < n; i++)
		clients[i] = creator_open(argv[1], bytes, i);
	printf("%.1f\n", bare_race(clients, n, seconds, create_one));
	return 0;
}
