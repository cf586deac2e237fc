// SPDX-License-Identifier: Apache-2.0
// bare-create TENANT SECONDS CONNECTIONS BYTES: what the creation of a config map sends to the database, as
// registry/resource/write.c does it: locks in one round trip, writes in another, COMMIT in a third. The bodies have so
// many bytes, names are new in each run. Prints commits per second.
#include "base/base.h"

#include "bare-write.h"
#include "sql/changes.h"

enum { MAX_BODY = 8192, MAX_NAME = 64 };

struct creator {
	MYSQL *mysql;
	unsigned number;
	uint64_t made, tenant_id, type_id, space_type_id, bytes, h[4];
	char tenant[256], name[MAX_NAME], body[MAX_BODY];
	uint8_t uid[16], request_id[16], etag[ETAG];
	MYSQL_TIME now;
	MYSQL_STMT *locks[4], *writes[5];
};

// The same for all; bound where the values are.
static uint64_t zero = 0, one = 1, most = INT64_MAX;
static char space[] = "default", verb[] = "created", actor[] = "bench", meta[] = "{}";

static void prepare(struct creator *c)
{
	MYSQL_BIND tenant = bare_text(c->tenant), tenant_id = bare_u(&c->tenant_id), type = bare_u(&c->type_id);
	MYSQL_BIND spaces = bare_u(&c->space_type_id), in_space = bare_text(space), name = bare_text(c->name);
	MYSQL_BIND uid = bare_bytes(c->uid, sizeof(c->uid)), etag = bare_bytes(c->etag, ETAG), now = bare_time(&c->now);
	MYSQL_BIND request = bare_bytes(c->request_id, sizeof(c->request_id)), body = bare_bytes(c->body, c->bytes);
	MYSQL_BIND bytes = bare_u(&c->bytes), is_0 = bare_u(&zero), is_1 = bare_u(&one), null = bare_null();
	MYSQL_BIND h0 = bare_u(&c->h[0]), h1 = bare_u(&c->h[1]), h2 = bare_u(&c->h[2]), h3 = bare_u(&c->h[3]);

	bare_locks_of_address(c->mysql, tenant, spaces, in_space, type, name, c->locks);
	c->writes[0] = BARE_PREPARE(c->mysql, &sql_resource_insert_query, { "uid", uid }, { "tenant_id", tenant_id }, { "type_id", type },
		{ "namespace", in_space }, { "name", name }, { "live", is_1 }, { "locked", is_0 }, { "bytes", bytes }, { "h0", h0 },
		{ "h1", h1 }, { "h2", h2 }, { "h3", h3 }, { "etag", etag }, { "meta", bare_text(meta) }, { "body", body }, { "now", now },
		{ "root", null });
	c->writes[1] = BARE_PREPARE(c->mysql, &sql_change_insert_query[SQL_CHANGE_OF_INSERTED], { "request_id", request }, { "now", now },
		{ "actor", bare_text(actor) }, { "verb", bare_text(verb) }, { "tenant_id", tenant_id }, { "uid", uid }, { "type_id", type },
		{ "namespace", in_space }, { "name", name }, { "revision", is_1 }, { "etag_before", null }, { "etag_after", etag },
		{ "fields", null }, { "moves", is_0 }, { "selectable_before", null }, { "bytes_before", is_0 }, { "bytes_after", bytes });
	c->writes[2] = BARE_PREPARE(c->mysql, &sql_resource_number_query, { "uid", uid }, { "type_id", type }, { "live", is_1 });
	c->writes[3] = BARE_PREPARE(c->mysql, &sql_forward_delete_query,
		{ "tenant_id", tenant_id }, { "type_id", type }, { "namespace", in_space }, { "name", name });
	c->writes[4] = BARE_PREPARE(c->mysql, &sql_count_up_query,
		{ "tenant_id", tenant_id }, { "n", is_1 }, { "most", bare_u(&most) });
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
