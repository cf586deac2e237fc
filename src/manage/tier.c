// SPDX-License-Identifier: Apache-2.0
// tier list, tier set, tier remove. Each change is one statement, whole in itself.
#include "base/base.h"

#include "manage/manage.h"
#include "manage/table.h"

enum { MAX_NAME = 255, MAX_DESCRIPTION = 1024 }; // characters

static const struct db_query q_list = {
	"SELECT name, max_resources, (SELECT COUNT(*) FROM tenants WHERE tier_id = tiers.id AND live IS NOT NULL),"
	" description FROM tiers ORDER BY id",
	"", "suus"
};
static const struct db_query q_set = {
	"INSERT INTO tiers (name, max_resources, description) VALUES (?, ?, ?)"
	" ON DUPLICATE KEY UPDATE max_resources = IF(?, VALUES(max_resources), max_resources),"
	" description = IF(?, VALUES(description), description)",
	"susuu", ""
};
// The shared lock waits for whoever is just putting a tenant into it.
static const struct db_query q_remove = {
	"DELETE FROM tiers WHERE name = ?"
	" AND NOT EXISTS (SELECT 1 FROM tenants WHERE tier_id = tiers.id AND live IS NOT NULL LOCK IN SHARE MODE)",
	"s", ""
};
static const struct db_query q_exists = { "SELECT COUNT(*) FROM tiers WHERE name = ?", "s", "u" };

static int bad_name(const char *name)
{
	struct str s = str_c(name);
	if (s.n != 0 && str_utf8_ok(s, NULL) && str_utf8_length(s) <= MAX_NAME)
		return EX_OK;
	return manage_fail(EX_USAGE, "a tier's name is 1 to %d characters of UTF-8", MAX_NAME);
}

int command_tier_list(struct manage *manage)
{
	static const struct table_column columns[] = {
		{ "NAME", false }, { "MAX RESOURCES", true }, { "TENANTS", true }, { "DESCRIPTION", false },
	};
	struct db_rows rows;
	struct table table;
	enum db_result result = db_run(manage->db, manage->pool, &q_list, NULL, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the tiers");
	table_init(&table, manage->pool, columns, COUNT_OF(columns));
	for (size_t i = 0; i < rows.n; i++) {
		const struct db_value *most = db_at(&rows, i, 1);
		const struct str cells[COUNT_OF(columns)] = {
			db_at(&rows, i, 0)->s,
			most->null ? STR_NONE : str_printf(manage->pool, "%llu", (unsigned long long)most->u),
			str_printf(manage->pool, "%llu", (unsigned long long)db_at(&rows, i, 2)->u),
			db_at(&rows, i, 3)->s,
		};
		table_add(&table, cells);
	}
	table_print(&table, manage_option(manage, "--json") != NULL, stdout);
	return EX_OK;
}

int command_tier_set(struct manage *manage)
{
	const char *most = manage_option(manage, "--max-resources"), *description = manage_option(manage, "--description");
	struct db_value limit = db_null('u');
	uint64_t number;
	int code = bad_name(manage->arguments[0]);
	if (code != EX_OK)
		return code;
	if (most != NULL && strcmp(most, "none") != 0) {
		if (!str_to_u64(str_c(most), &number))
			return manage_fail(EX_USAGE, "\"%s\" is no number, nor \"none\"", most);
		limit = db_u(number);
	}
	struct str text = str_c(description);
	if (!str_utf8_ok(text, NULL) || str_utf8_length(text) > MAX_DESCRIPTION)
		return manage_fail(EX_USAGE, "a description is up to %d characters of UTF-8", MAX_DESCRIPTION);
	enum db_result result = db_run(manage->db, manage->pool, &q_set, DB_IN(db_s(str_c(manage->arguments[0])), limit,
		db_s(text), db_u(most != NULL), db_u(description != NULL)), NULL);
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result, "can't set the tier");
}

// Why nothing was removed.
static int tell_kept(struct manage *manage, struct str name)
{
	struct db_rows rows;
	enum db_result result = db_run(manage->db, manage->pool, &q_exists, DB_IN(db_s(name)), &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the tiers");
	if (db_at(&rows, 0, 0)->u == 0)
		return manage_fail(EX_NOINPUT, "there is no tier \"%.*s\"", STR_ARG(name));
	return manage_fail(EX_DATAERR, "tenants, perhaps deleted and recoverable ones, are in tier \"%.*s\": put them into "
		"another first", STR_ARG(name));
}

int command_tier_remove(struct manage *manage)
{
	struct str name = str_c(manage->arguments[0]);
	struct db_rows rows;
	if (str_eq_c(name, manage->config->default_tier))
		return manage_fail(EX_DATAERR, "\"%.*s\" is default_tier: what new tenants get", STR_ARG(name));
	enum db_result result = db_run(manage->db, manage->pool, &q_remove, DB_IN(db_s(name)), &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't remove the tier");
	return rows.affected == 1 ? EX_OK : tell_kept(manage, name);
}
