// SPDX-License-Identifier: Apache-2.0
// tenure-manage tier list, tier set, tier remove. Each change is a single statement.
#include "base/base.h"

#include "manage/commands.h"
#include "manage/core/table.h"
#include "registry/core/settings.h"
#include "registry/tenant/tier.h"
#include "sql/tiers.h"

static int bad_name(const char *name)
{
	struct str s = str_c(name);
	if (s.n != 0 && str_utf8_ok(s, NULL) && str_utf8_length(s) <= TIER_NAME_MAX)
		return EX_OK;
	return manage_fail(EX_USAGE, "a tier's name is 1 to %d characters of UTF-8", TIER_NAME_MAX);
}

int command_tier_list(struct manage *manage)
{
	static const struct table_column columns[] = {
		{ "NAME", false }, { "MAX RESOURCES", true }, { "TENANTS", true }, { "DESCRIPTION", false },
	};
	struct db_rows rows;
	struct table table;
	enum db_result result = sql_tier_list_run(manage->db, manage->pool, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the tiers");
	table_init(&table, manage->pool, columns, COUNT_OF(columns));
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_tier_list_row *tier = sql_tier_list_row(&rows, i);
		const struct str cells[COUNT_OF(columns)] = {
			tier->name,
			tier->max_resources_is_null ? STR_NONE
				: str_printf(manage->pool, "%llu", (unsigned long long)tier->max_resources),
			str_printf(manage->pool, "%llu", (unsigned long long)tier->tenants),
			tier->description,
		};
		table_add(&table, cells);
	}
	table_print(&table, manage_option(manage, "--json") != NULL, stdout);
	return EX_OK;
}

int command_tier_set(struct manage *manage)
{
	const char *most = manage_option(manage, "--max-resources"), *description = manage_option(manage, "--description");
	struct sql_tier_put in = {
		.name = str_c(manage->arguments[0]),
		.max_resources_is_null = most == NULL || strcmp(most, "none") == 0,
		.description = str_c(description),
		.sets_max = most != NULL,
		.sets_description = description != NULL,
	};
	int code = bad_name(manage->arguments[0]);
	if (code != EX_OK)
		return code;
	if (!in.max_resources_is_null && (!str_to_u64(str_c(most), &in.max_resources) || in.max_resources > TIER_MOST_RESOURCES))
		return manage_fail(EX_USAGE, "--max-resources takes a number from 0 to %llu, or \"none\", not \"%s\"",
			(unsigned long long)TIER_MOST_RESOURCES, most);
	if (!str_utf8_ok(in.description, NULL) || str_utf8_length(in.description) > TIER_DESCRIPTION_MAX)
		return manage_fail(EX_USAGE, "a description is up to %d characters of UTF-8", TIER_DESCRIPTION_MAX);
	enum db_result result = sql_tier_put_run(manage->db, manage->pool, &in, NULL);
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "can't set the tier");
}

// Prints why the tier was not removed.
static int tell_kept(struct manage *manage, struct str name)
{
	struct db_rows rows;
	enum db_result result = sql_tier_exists_run(manage->db, manage->pool, &(struct sql_tier_exists){ .name = name }, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the tiers");
	if (sql_tier_exists_row(&rows, 0)->n == 0)
		return manage_fail(EX_NOINPUT, "there is no tier \"%.*s\"", STR_ARG(name));
	return manage_fail(EX_DATAERR, "tenants, perhaps deleted and recoverable ones, are in tier \"%.*s\": put them into "
		"another first", STR_ARG(name));
}

int command_tier_remove(struct manage *manage)
{
	struct str name = str_c(manage->arguments[0]);
	struct db_rows rows;
	if (str_eq_c(name, registry_settings(manage->config)->default_tier))
		return manage_fail(EX_DATAERR, "\"%.*s\" is default_tier: what new tenants get", STR_ARG(name));
	enum db_result result = sql_tier_delete_run(manage->db, manage->pool, &(struct sql_tier_delete){ .name = name }, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't remove the tier");
	return rows.affected == 1 ? EX_OK : tell_kept(manage, name);
}
