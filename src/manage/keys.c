// SPDX-License-Identifier: Apache-2.0
// keys: where each object stands in the layout that clients of etcd know. There is no key column: the index `address` of
// resources has the same order within a tenant and a type, and the names around it are the tenant's and the type's.
#include "base/base.h"

#include "manage/manage.h"

enum { ROWS_AT_ONCE = 1000 };

static const struct db_query q_tenants = {
	"SELECT id, name FROM tenants WHERE live = 1 AND deleted_at IS NULL AND name > ? ORDER BY name LIMIT ?", "su", "us"
};
static const struct db_query q_tenant = {
	"SELECT id, name FROM tenants WHERE live = 1 AND deleted_at IS NULL AND name = ?", "s", "us"
};
static const struct db_query q_resources = {
	"SELECT r.type_id, r.namespace, r.name, y.group_name, y.plural FROM resources r JOIN types y ON y.id = r.type_id "
	"WHERE r.tenant_id = ? AND r.type_id >= ? AND (r.type_id > ? OR (r.namespace >= ? AND (r.namespace > ? OR r.name > ?))) "
	"AND r.live IS NOT NULL ORDER BY r.type_id, r.namespace, r.name LIMIT ?",
	"uuusssu", "ussss"
};

static void put(struct str s)
{
	(void)fwrite(s.p, 1, s.n, stdout);
}

static void put_part(struct str s)
{
	(void)putchar('/');
	put(s);
}

// The system space has no tenant in its keys, the core group no name.
static void print_key(struct str tenant, const struct db_value *row)
{
	put(STR("/registry"));
	if (row[3].s.n > 0)
		put_part(row[3].s);
	put_part(row[4].s);
	if (!str_eq(tenant, STR("system")))
		put_part(tenant);
	if (row[1].s.n > 0)
		put_part(row[1].s);
	put_part(row[2].s);
	(void)putchar('\n');
}

// A page lives in one of two pools while the next one is read into the other.
static int print_pages(struct manage *manage, struct pool *pools[2], uint64_t id, struct str tenant)
{
	struct db_value type = db_u(0), space = db_s(STR("")), name = db_s(STR(""));
	struct db_rows rows;
	size_t page = 0;

	do {
		pool_clear(pools[page]);
		enum db_result result = db_run(manage->db, pools[page], &q_resources,
			DB_IN(db_u(id), type, type, space, space, name, db_u(ROWS_AT_ONCE)), &rows);
		if (result != DB_OK)
			return manage_db_fail(manage, result, "can't read the resources");
		for (size_t i = 0; i < rows.n; i++)
			print_key(tenant, db_at(&rows, i, 0));
		if (rows.n > 0) {
			type = *db_at(&rows, rows.n - 1, 0);
			space = *db_at(&rows, rows.n - 1, 1);
			name = *db_at(&rows, rows.n - 1, 2);
		}
		page = 1 - page;
	} while (rows.n == ROWS_AT_ONCE);
	return EX_OK;
}

static int print_tenant(struct manage *manage, uint64_t id, struct str tenant)
{
	struct pool *pools[2] = { pool_new(), pool_new() };
	int code = EX_TEMPFAIL;

	put(STR("/registry/tenants"));
	put_part(tenant);
	(void)putchar('\n');
	if (pools[0] != NULL && pools[1] != NULL)
		code = print_pages(manage, pools, id, tenant);
	pool_free(&pools[0]);
	pool_free(&pools[1]);
	return code;
}

static int print_tenants(struct manage *manage)
{
	struct str after = STR("");
	struct db_rows rows;
	int code = EX_OK;

	do {
		enum db_result result =
			db_run(manage->db, manage->pool, &q_tenants, DB_IN(db_s(after), db_u(ROWS_AT_ONCE)), &rows);
		if (result != DB_OK)
			return manage_db_fail(manage, result, "can't read the tenants");
		for (size_t i = 0; code == EX_OK && i < rows.n; i++) {
			after = db_at(&rows, i, 1)->s;
			code = print_tenant(manage, db_at(&rows, i, 0)->u, after);
		}
	} while (code == EX_OK && rows.n == ROWS_AT_ONCE);
	return code;
}

int command_keys(struct manage *manage)
{
	const char *tenant = manage_option(manage, "--tenant");
	struct db_rows rows;

	if (tenant == NULL)
		return print_tenants(manage);
	enum db_result result = db_run(manage->db, manage->pool, &q_tenant, DB_IN(db_s(str_c(tenant))), &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the tenant");
	if (rows.n == 0)
		return manage_fail(EX_DATAERR, "there is no tenant \"%s\"", tenant);
	return print_tenant(manage, db_at(&rows, 0, 0)->u, str_c(tenant));
}
