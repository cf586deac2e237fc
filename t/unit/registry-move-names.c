// SPDX-License-Identifier: Apache-2.0
// The names that two large tenants both have: found by a merge of both indexes, as a join in the database finds them.
#include "base/base.h"

#include "registry-fixture.h"
#include "registry/move/internal.h"

enum { MAX = 51 };

static uint64_t tenant_id(const char *tenant)
{
	return (uint64_t)sql_number("SELECT id FROM tenants WHERE name = '%s'", tenant);
}

// Gives the tenant a resource for each number from 1 to n for which the condition holds, of one of three types, in one of three
// namespaces; names are made of the number by the expression. One in 50 is deleted.
static void fill(const char *tenant, unsigned n, const char *condition, const char *name)
{
	char sql[2000];

	snprintf(sql, sizeof(sql),
		"INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, "
		"body, created_at, updated_at) SELECT RANDOM_BYTES(16), %llu, (SELECT id FROM types WHERE group_name = '' AND plural = "
		"ELT(1 + seq %% 3, 'configmaps', 'persistentvolumes', 'secrets')), IF(seq %% 3 = 1, '', CONCAT('n', seq %% 4)), %s, "
		"IF(seq %% 50 = 0, NULL, 1), 4, 1, 1, 1, 1, 1, 1, REPEAT('e', 64), '{}', '{}', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) "
		"FROM seq_1_to_%u WHERE %s;", (unsigned long long)tenant_id(tenant), name, n, condition);
	server_sql(sql);
}

static void empty(void)
{
	server_sql("DELETE FROM resources WHERE h0 = 1 AND h1 = 1;");
}

static struct str joined(uint64_t source, uint64_t dest)
{
	static const struct test_query q_names = {
		"SELECT r.namespace, r.type_id, r.name FROM resources r JOIN resources d ON d.tenant_id = ? AND d.type_id = r.type_id AND "
		"d.namespace = r.namespace AND d.name = r.name AND d.live IS NOT NULL WHERE r.tenant_id = ? AND r.live = 1 AND r.type_id <> "
		"(SELECT id FROM types WHERE group_name = '' AND plural = 'namespaces') ORDER BY r.namespace, r.type_id, r.name LIMIT 51",
		"uu", "sus"
	};
	struct buf out = buf_new(here.pool, 4096);
	struct db_rows rows;

	if (db_run(here.db, here.pool, test_query(&q_names), DB_IN(db_u(dest), db_u(source)), &rows) != DB_OK)
		bail_out("no join");
	for (size_t i = 0; i < rows.n; i++) {
		struct str namespace = db_at(&rows, i, 0)->s, name = db_at(&rows, i, 2)->s;
		buf_addf(&out, "%.*s/%llu/%.*s ", STR_ARG(namespace), (unsigned long long)db_at(&rows, i, 1)->u, STR_ARG(name));
	}
	return buf_str(&out);
}

static struct str merged(uint64_t source, uint64_t dest)
{
	struct move_action action = { .source.id = source, .dest.id = dest };
	struct move_plan plan = { .action = &action };
	struct move_taken taken = { 0 };
	struct buf out = buf_new(here.pool, 4096);

	is_outcome(move_merge_names(here.registry, &plan, MAX, &taken), OUTCOME_OK, "a merge");
	for (size_t i = 0; i < taken.n; i++)
		buf_addf(&out, "%.*s/%llu/%.*s ", STR_ARG(taken.names[i].space), (unsigned long long)taken.names[i].type_id,
			STR_ARG(taken.names[i].name));
	return buf_str(&out);
}

static void compare(bool any, const char *what)
{
	uint64_t a = tenant_id("a"), b = tenant_id("b");
	struct str expected = joined(a, b);

	ok((expected.n > 0) == any, "%s: %s", what, any ? "some are taken" : "none is taken");
	is_strs(merged(a, b), expected, "%s: one way", what);
	is_strs(merged(b, a), joined(b, a), "%s: and the other", what);
	empty();
}

static void merge(void)
{
	EXPECT(CREATED, "one tenant", PUT_TENANT, "a");
	EXPECT(CREATED, "another", PUT_TENANT, "b");
	compare(false, "empty tenants");
	fill("a", 3000, "TRUE", "CONCAT('x', seq)");
	compare(false, "one empty tenant");
	fill("a", 3000, "TRUE", "CONCAT('x', seq)");
	fill("b", 3000, "TRUE", "CONCAT('x', seq)");
	compare(true, "the same names");
	fill("a", 3000, "TRUE", "MD5(seq)");
	fill("b", 4000, "seq % 7 = 0 OR seq > 3000", "MD5(seq)");
	compare(true, "a seventh the same, in any order");
	fill("a", 3000, "TRUE", "MD5(seq)");
	fill("b", 3000, "TRUE", "MD5(seq + 100000)");
	compare(false, "none the same, in any order");
	fill("a", 9000, "TRUE", "CONCAT('b', MD5(seq))");
	fill("b", 9000, "seq > 9", "CONCAT('a', MD5(seq))");
	fill("b", 9, "TRUE", "CONCAT('b', MD5(seq))");
	compare(true, "one behind the other, but for a few");
	fill("a", 3000, "TRUE", "CONCAT('ä', CONVERT(CHAR(0x10000 + seq USING utf32) USING utf8mb4), REPEAT('ü', seq % 200))");
	fill("b", 6000, "seq % 2 = 0", "CONCAT('ä', CONVERT(CHAR(0x10000 + seq USING utf32) USING utf8mb4), REPEAT('ü', seq % 200))");
	compare(true, "names of long characters");
}

int main(void)
{
	fixture_start();
	merge();
	return fixture_end();
}
