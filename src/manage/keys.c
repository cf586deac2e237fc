// SPDX-License-Identifier: Apache-2.0
// tenure-manage keys: prints each object's key in the layout that clients of etcd know. No column has such a key: within a tenant
// and a type, keys are in the order of the index `address` of resources, by namespace and name. That is not the order of their
// bytes: '-' and '.' in a namespace are less than the '/' behind it.
#include "base/base.h"

#include "base/pool.h"
#include "manage/commands.h"
#include "manage/core/table.h"
#include "sql/keys.h"

enum { ROWS_AT_ONCE = 1000 };

static void put(struct str s)
{
	(void)fwrite(s.p, 1, s.n, stdout);
}

static void put_part(struct pool *pool, struct str s)
{
	(void)putchar('/');
	put(table_printable(pool, s));
}

// Keys of the system space have no tenant; keys of the core group have no group.
static void print_key(struct pool *pool, struct str tenant, const struct sql_key_resources_row *row)
{
	put(STR("/registry"));
	if (row->group_name.n > 0)
		put_part(pool, row->group_name);
	put_part(pool, row->plural);
	if (!str_eq(tenant, STR("system")))
		put_part(pool, tenant);
	if (row->namespace.n > 0)
		put_part(pool, row->namespace);
	put_part(pool, row->name);
	(void)putchar('\n');
}

// Two pools are used in turn, since a page is still needed while the next one is read.
static int print_pages(struct manage *manage, struct pool *pools[2], uint64_t id, struct str tenant)
{
	struct sql_key_resources in = { .tenant_id = id, .namespace = STR(""), .name = STR(""), .limit = ROWS_AT_ONCE };
	struct db_rows rows;
	size_t page = 0;

	do {
		pool_clear(pools[page]);
		enum db_result result = sql_key_resources_run(manage->db, pools[page], &in, &rows);
		if (result != DB_OK)
			return manage_db_fail(manage, result, "can't read the resources");
		for (size_t i = 0; i < rows.n; i++)
			print_key(pools[page], tenant, sql_key_resources_row(&rows, i));
		if (rows.n > 0) {
			const struct sql_key_resources_row *last = sql_key_resources_row(&rows, rows.n - 1);
			in.type_id = last->type_id;
			in.namespace = last->namespace;
			in.name = last->name;
		}
		page = 1 - page;
	} while (rows.n == ROWS_AT_ONCE);
	return EX_OK;
}

static int print_tenant(struct manage *manage, uint64_t id, struct str tenant)
{
	struct pool *pools[2] = { pool_new_or_end(), pool_new_or_end() };

	put(STR("/registry/tenants"));
	put_part(manage->pool, tenant);
	(void)putchar('\n');
	int code = print_pages(manage, pools, id, tenant);
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
		const struct sql_key_tenants in = { .after = after, .limit = ROWS_AT_ONCE };
		enum db_result result = sql_key_tenants_run(manage->db, manage->pool, &in, &rows);
		if (result != DB_OK)
			return manage_db_fail(manage, result, "can't read the tenants");
		for (size_t i = 0; code == EX_OK && i < rows.n; i++) {
			const struct sql_key_tenants_row *row = sql_key_tenants_row(&rows, i);
			after = row->name;
			code = print_tenant(manage, row->id, row->name);
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
	const struct sql_key_tenant in = { .name = str_c(tenant) };
	enum db_result result = sql_key_tenant_run(manage->db, manage->pool, &in, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the tenant");
	if (rows.n == 0)
		return manage_fail(EX_NOINPUT, "there is no tenant \"%s\"", tenant);
	return print_tenant(manage, sql_key_tenant_row(&rows, 0)->id, str_c(tenant));
}
