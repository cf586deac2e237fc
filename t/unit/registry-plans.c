// SPDX-License-Identifier: Apache-2.0
// What an operation reads depends on what it asks for, not on how much others have: rows are counted, not time.
#include "base/base.h"

#include "registry-fixture.h"
#include "registry-rows.h"

// 40 tenants with 500 resources each, 1 in 10 of them deleted; and 600 tenants without any.
static void fill(void)
{
	server_sql(
		"INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at) SELECT CONCAT('t', seq), "
		"UNHEX(MD5(CONCAT('t', seq))), 1, '{}', REPEAT('e', 64), 1, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_640;\n"
		"INSERT INTO tenant_counts (tenant_id, resources) SELECT id, 0 FROM tenants WHERE name <> 'system';\n"
		"INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, "
		"body, created_at, updated_at) SELECT UNHEX(MD5(CONCAT('n', seq))), 2 + seq % 40, (SELECT id FROM types WHERE "
		"plural = 'namespaces'), '', CONCAT('ns', seq DIV 40), 1, 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', '{}', "
		"UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_0_to_399;\n"
		"INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, "
		"body, created_at, updated_at, deleted_at, purge_at, deletion) SELECT UNHEX(MD5(CONCAT('c', seq))), 2 + seq % 40, "
		"(SELECT id FROM types WHERE plural = 'configmaps'), CONCAT('ns', seq DIV 40 % 10), CONCAT('c', seq), "
		"IF(seq % 10 = 0, NULL, 1), 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), "
		"IF(seq % 10 = 0, UTC_TIMESTAMP(6), NULL), IF(seq % 10 = 0, UTC_TIMESTAMP(6) + INTERVAL 9 DAY, NULL), "
		"IF(seq % 10 = 0, UNHEX(MD5(seq)), NULL) FROM seq_0_to_19999;\n"
		"UPDATE tenant_counts c SET resources = (SELECT COUNT(*) FROM resources r WHERE r.tenant_id = c.tenant_id AND live = 1);\n"
		"INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at) "
		"SELECT 2 + (tenant_id - 1) % 40, type_id, namespace, CONCAT('f', name), id, created_at FROM resources "
		"WHERE id % 5 = 0;\n"
		"ANALYZE TABLE tenants, tenant_counts, resources, forwards;");
}

static long long rows_read(void)
{
	static const struct test_query q_read = {
		"SELECT CAST(SUM(variable_value) AS INT) FROM information_schema.session_status WHERE variable_name IN "
		"('handler_read_key', 'handler_read_next', 'handler_read_prev', 'handler_read_rnd', 'handler_read_rnd_next')",
		"", "i"
	};
	struct db_rows rows;

	return db_run(here.db, here.pool, test_query(&q_read), NULL, &rows) == DB_OK ? db_at(&rows, 0, 0)->i : -1;
}

static long long before;

static void begin(void)
{
	before = rows_read();
	// Asking reads rows, too.
	before += rows_read() - before;
}

static void is_within(long long most, const char *what)
{
	static long long asking = -1;
	long long now = rows_read();

	if (asking < 0)
		asking = rows_read() - now;
	ok(now - before - asking <= most, "%s reads at most %lld rows (%lld)", what, most, now - before - asking);
}

#define READS(most, outcome, what, ...)         \
	do {                                    \
		begin();                        \
		EXPECT(outcome, what, __VA_ARGS__); \
		is_within(most, what);          \
	} while (0)

static void list(const char *what, long long most, size_t want, const struct resource_query *query)
{
	struct resource *list;
	size_t n;
	bool more;
	struct uuid id = uuid_new();

	(void)registry_begin(here.registry, here.pool, &id, STR("tester"), &here.problem);
	begin();
	is_outcome(resource_list(here.registry, query, &list, &n, &more), OUTCOME_OK, what);
	is_within(most, what);
	is_int((long long)n, (long long)want, "%s: its length", what);
}

static void lists(void)
{
	const struct type *maps = type_called(here.registry, "configmaps");
	struct tenant_page page;

	list("a list", 30, 10, &(struct resource_query){ .tenant = STR("t7"), .type = maps, .space = STR("ns3"), .limit = 10 });
	list("a page of a list", 30, 10, &(struct resource_query){ .tenant = STR("t7"), .type = maps, .space = STR("ns3"),
		.marker = STR("c13"), .limit = 10 });
	list("a list of all namespaces", 40, 10, &(struct resource_query){ .tenant = STR("t7"), .type = maps,
		.all_spaces = true, .limit = 10 });
	list("a page of it", 40, 10, &(struct resource_query){ .tenant = STR("t7"), .type = maps, .all_spaces = true,
		.marker = STR("ns4/c5"), .limit = 10 });
	list("a list of all tenants", 150, 10, &(struct resource_query){ .all_tenants = true, .type = maps, .all_spaces = true,
		.limit = 10 });
	list("a page of that", 150, 10, &(struct resource_query){ .all_tenants = true, .type = maps, .all_spaces = true,
		.marker = STR("9000"), .limit = 10 });
	list("a list of what was deleted", 3000, 10, &(struct resource_query){ .tenant = STR("t11"), .type = maps,
		.all_spaces = true, .deleted = true, .limit = 10 });
	begin();
	is_outcome(tenant_list(here.registry, here.pool, TENANTS_LIVE, STR("t3"), 10, &page), OUTCOME_OK, "a list of tenants");
	is_within(80, "a list of tenants");
	is_int((long long)page.n, 10, "its length");
	begin();
	is_outcome(tenant_list(here.registry, here.pool, TENANTS_DELETED, STR_NONE, 10, &page), OUTCOME_OK, "deleted tenants");
	is_within(20, "a list of deleted tenants");
}

// The content of a namespace is found by its index where the tenant has much beside it.
static void space_of_large(void)
{
	server_sql("INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, "
		   "etag, meta, body, created_at, updated_at) SELECT UNHEX(MD5(CONCAT('o', seq))), (SELECT id FROM tenants WHERE name = 't40'), "
		   "(SELECT id FROM types WHERE plural = 'configmaps'), 'ns5', CONCAT('o', seq), 1, 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), "
		   "'{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_20000;\n"
		   "UPDATE tenant_counts SET resources = resources + 20000 WHERE tenant_id = (SELECT id FROM tenants WHERE name = 't40');\n"
		   "ANALYZE TABLE resources;");
	READS(550, NO_CONTENT, "deletion of a namespace in a large tenant", DELETE, "t40", "ns3/");
	READS(700, NO_CONTENT, "its recovery", RECOVER, "t40", "ns3/");
}

#define T41 "(SELECT id FROM tenants WHERE name = 't41')"

// Half of all there is. A statement that was prepared before another one read more of the same table is run again.
static void large(void)
{
	server_sql("INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, "
		   "etag, meta, body, created_at, updated_at) SELECT UNHEX(MD5(CONCAT('l', seq))), " T41 ", (SELECT id FROM types WHERE "
		   "plural = 'persistentvolumes'), '', CONCAT('l', seq), 1, 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', '{}', "
		   "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM seq_1_to_20000;\n"
		   "UPDATE tenant_counts SET resources = resources + 20000 WHERE tenant_id = " T41 ";\nANALYZE TABLE resources;");
	for (int i = 0; i < 3; i++) {
		(void)DO(GET, "t7", i % 2 == 0 ? "ns3/c126" : "ns3/none");
		// Once for the sum, from an index; for the counts by type only the few resources of other types.
		READS(23000, OK, "a look at all of a large tenant's", PREVIEW, "t41", NULL, "t600");
	}
}

// The counts by type that a look at all of t41 shows are those of the database.
static void counted(const char *what)
{
	struct buf shown = buf_new(here.pool, 1024);
	const struct type_counts *counts = &here.action.source_counts;

	is_outcome(DO(PREVIEW, "t41", NULL, "t600"), OUTCOME_OK, what);
	for (size_t i = 0; i < counts->n; i++)
		buf_addf(&shown, "%s%.*s %llu", i > 0 ? ", " : "", STR_ARG(counts->list[i].type),
			(unsigned long long)counts->list[i].resources);
	struct str known = sql_text("SELECT GROUP_CONCAT(CONCAT(type, ' ', n) ORDER BY BINARY type SEPARATOR ', ') FROM (SELECT "
		"IF(y.builtin, y.plural, CONCAT(y.plural, '.', y.group_name)) AS type, COUNT(*) AS n FROM resources r JOIN types y ON "
		"y.id = r.type_id WHERE r.tenant_id = " T41 " AND r.live = 1 GROUP BY y.id) c");
	ok(str_eq(buf_str(&shown), known), "%s: %.*s", what, STR_ARG(shown));
	if (!str_eq(buf_str(&shown), known))
		diag("the database has %.*s", STR_ARG(known));
}

static void add_of_type(const char *plural, unsigned from, unsigned to)
{
	char sql[1000];

	snprintf(sql, sizeof(sql),
		"INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, "
		"meta, body, created_at, updated_at) SELECT RANDOM_BYTES(16), " T41 ", y.id, '', CONCAT('k', s.seq), IF(s.seq %% 40 = 0, "
		"NULL, 1), 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM types y "
		"STRAIGHT_JOIN seq_%u_to_%u s WHERE y.plural = '%s' AND y.group_name IN ('', 'counted.example');", from, to, plural);
	server_sql(sql);
}

// By the sum, as the tenant has many: of no large type but one, of several, of as many types as fit a round trip and of more,
// and of a type whose id the sum does not tell.
static void types_counted(void)
{
	counted("one large type");
	add_of_type("secrets", 1, 499);
	counted("a small one beside it");
	add_of_type("secrets", 500, 2000);
	add_of_type("pods", 1, 900);
	counted("three large ones");
	add_of_type("services", 1, 3);
	add_of_type("persistentvolumeclaims", 1, 513);
	counted("five and more");
	server_sql("UPDATE resources r JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS k FROM resources WHERE tenant_id = " T41 " AND "
		   "name LIKE 'l%') o ON o.id = r.id JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS k FROM types WHERE builtin AND "
		   "plural NOT IN ('customresourcedefinitions', 'nodes')) y ON "
		   "y.k = 1 + o.k % 18 SET r.type_id = y.id;");
	counted("more types than a round trip has");
	server_sql("INSERT INTO types (id, group_name, version, kind, plural, singular, namespaced, builtin) VALUES (1000, "
		   "'counted.example', 'v1', 'Other', 'others', 'other', FALSE, FALSE);");
	add_of_type("others", 1, 700);
	counted("a custom type");
}

static void upkeep(void)
{
	struct reap_counts counts;
	struct uuid id = uuid_new();

	server_sql("UPDATE tenants SET live = NULL WHERE name = 't600';");
	(void)registry_begin(here.registry, here.pool, &id, STR("reaper"), &here.problem);
	begin();
	is_outcome(reap(here.registry, REAP_PURGE, NULL, &counts), OUTCOME_OK, "reaping nothing");
	is_within(10000, "reaping nothing"); // forwards are looked through: 4080 of them
	is_int((long long)counts.resources, 0, "nothing was reaped");
}

int main(void)
{
	fixture_start();
	fill();
	(void)DO(GET, "t7", "ns3/c126"); // the server reads statistics with the first ones
	(void)DO(PUT, "t7", "ns3/first");
	(void)DO(PUT, "t7", "ns3/first", .body = "{\"n\":1}");
	(void)DO(DELETE, "t7", "ns3/first");
	(void)DO(RECOVER, "t7", "ns3/first");
	READS(10, OK, "a read", GET, "t7", "ns3/c126");
	READS(20, NOT_FOUND, "a read of nothing", GET, "t7", "ns3/none");
	READS(30, OK, "a change", PUT, "t7", "ns3/c126", .body = "{\"n\":1}");
	READS(30, CREATED, "making", PUT, "t7", "ns3/new");
	READS(30, NO_CONTENT, "a deletion", DELETE, "t7", "ns3/new");
	READS(45, NO_CONTENT, "a recovery", RECOVER, "t7", "ns3/new");
	READS(65, SEE_OTHER, "a move of one", MOVE, "t7", "ns3/new", "t8");
	READS(1200, OK, "a look at all of a tenant's", PREVIEW, "t9", NULL, "t600");
	// MariaDB 11.8 looks for its content among all of a tenant that has no more than 500, five times.
	READS(2500, NO_CONTENT, "deletion of a namespace", DELETE, "t9", "ns3/");
	READS(700, NO_CONTENT, "its recovery", RECOVER, "t9", "ns3/");
	lists();
	space_of_large();
	large();
	types_counted();
	upkeep();
	return fixture_end();
}
