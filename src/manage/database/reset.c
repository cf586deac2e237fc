// SPDX-License-Identifier: Apache-2.0
// tenure-manage db reset: makes the registry as db init left it, in one step, while workers run.
#include "base/base.h"

#include "base/buf.h"
#include "db/settings.h"
#include "manage/database/database.h"
#include "manage/database/os_traits.h"
#include "manage/database/schema.h"
#include "sql/cluster.h"
#include "sql/doctor.h"
#include "sql/reset.h"
#include "sql/schema.h"
#include "sql/transfer.h"

struct statement {
	struct str text;  // including its semicolon
	struct str table; // the table that it writes to; "": none that matters to a reset
	bool is_seed;     // it adds rows
};

// Does VALUES stand at from, perhaps behind a list of columns in parentheses?
static bool has_values_at(struct str text, size_t from)
{
	size_t at;
	if (schema_next_word(text, from, &at).n == 0 && at < text.n && text.p[at] == '(')
		from = str_find(text, ')', at) + 1;
	return str_eq_nocase(schema_next_word(text, from, &at), STR("VALUES"));
}

// Sets table and is_seed from the text: an INSERT INTO … VALUES, UPDATE or DELETE FROM has a table. An INSERT … SELECT has none:
// it makes rows of others, which do not exist where all tables begin empty; and those that it would read here are the real ones,
// which are about to go.
static void parse_statement(struct statement *statement)
{
	struct str text = statement->text;
	size_t at;
	statement->table = STR("");
	statement->is_seed = false;
	struct str verb = schema_next_word(text, 0, &at);
	if (str_eq_nocase(verb, STR("UPDATE"))) {
		statement->table = schema_next_word(text, at, &at);
		return;
	}
	bool inserts = str_eq_nocase(verb, STR("INSERT"));
	if (!inserts && !str_eq_nocase(verb, STR("DELETE")))
		return;
	struct str word = schema_next_word(text, at, &at);
	if (str_eq_nocase(word, STR("IGNORE")))
		word = schema_next_word(text, at, &at);
	if (!str_eq_nocase(word, STR("INTO")) && !str_eq_nocase(word, STR("FROM")))
		return;
	struct str table = schema_next_word(text, at, &at);
	statement->is_seed = inserts && has_values_at(text, at);
	if (statement->is_seed || !inserts)
		statement->table = table;
}

// Takes the next statement off *rest: up to a semicolon at the end of a line. Comment lines before it are dropped.
static bool next_statement(struct str *rest, struct statement *statement)
{
	size_t start = 0;
	while (start < rest->n) {
		size_t end = str_find(*rest, '\n', start);
		struct str line = str_trim(str_part(*rest, start, end));
		if (line.n != 0 && !str_starts(line, STR("--")))
			break;
		start = end + 1;
	}
	for (size_t at = start; at < rest->n;) {
		size_t end = str_find(*rest, '\n', at);
		if (str_ends(str_trim(str_part(*rest, at, end)), STR(";"))) {
			statement->text = str_part(*rest, start, end);
			parse_statement(statement);
			*rest = str_part(*rest, end, rest->n);
			return true;
		}
		at = end + 1;
	}
	return false;
}

static bool is_in(const struct str *list, size_t n, struct str item)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(list[i], item))
			return true;
	}
	return false;
}

// The parts of the script: tables to which the files add rows, and the statements that add them, in order.
struct seeds {
	struct str *tables;
	size_t n_tables;
	struct buf statements;
};

static struct str traits_as_json(struct pool *pool, const struct trait_list *traits)
{
	struct buf list = buf_new(pool, 32 * (traits->n + 1));
	for (size_t i = 0; i < traits->n; i++)
		buf_addf(&list, "%s\"%.*s\"", i == 0 ? "[" : ",", STR_ARG(traits->names[i])); // A-Z, 0-9, _
	buf_add(&list, traits->n > 0 ? STR("]") : STR("[]"));
	return buf_str(&list);
}

// The rows of table traits come from a list, so it has no statement in the files.
static void collect_seeds(struct manage *manage, const struct schema_files *files, const struct trait_list *traits,
	const struct str *known, size_t n, struct seeds *seeds)
{
	*seeds = (struct seeds){ .tables = POOL_ARRAY(manage->pool, struct str, n), .statements = buf_new(manage->pool, 0) };
	for (size_t i = 0; i < files->n; i++) {
		struct str rest = files->files[i].text;
		for (struct statement s; next_statement(&rest, &s);) {
			// A statement that repairs existing rows is not needed for tables that begin empty.
			bool has_seeds = is_in(seeds->tables, seeds->n_tables, s.table);
			if (s.table.n == 0 || !is_in(known, n, s.table) || (!s.is_seed && !has_seeds))
				continue;
			if (!has_seeds)
				seeds->tables[seeds->n_tables++] = s.table;
			buf_add(&seeds->statements, s.text);
			buf_addc(&seeds->statements, '\n');
		}
	}
	seeds->tables[seeds->n_tables++] = STR("traits");
	const struct str names = traits_as_json(manage->pool, traits);
	const struct sql_reset_standard_traits rows = { .names = { &names, 1 } };
	buf_add(&seeds->statements, sql_reset_standard_traits_text(manage->pool, &rows));
}

// The script is one text. If the connection is lost, it must not go on over another one, where its temporary tables do not
// exist.
static struct str write_script(struct manage *manage, const struct seeds *seeds, const struct str *tables, size_t n, struct db_names epoch)
{
	struct str *emptied = POOL_ARRAY(manage->pool, struct str, n);
	struct buf script = buf_new(manage->pool, 4096);
	size_t n_emptied = 0;
	for (size_t i = 0; i < n; i++) {
		// The script itself names changes, whose ids continue.
		if (!is_in(seeds->tables, seeds->n_tables, tables[i]) && !str_eq(tables[i], STR("changes")))
			emptied[n_emptied++] = tables[i];
	}
	const struct db_names seeded = { seeds->tables, seeds->n_tables };
	const struct sql_reset_hide hide = { .seeded = seeded };
	const struct sql_reset_replace replace = { .seeded = seeded, .emptied = { emptied, n_emptied }, .epoch = epoch };
	buf_add(&script, sql_reset_hide_text(manage->pool, &hide));
	buf_add(&script, buf_str(&seeds->statements));
	buf_add(&script, sql_reset_replace_text(manage->pool, &replace));
	return buf_str(&script);
}

// The epoch of the writer, which the script compares with the one that it finds behind its locks. NULL: host names one server, so
// there is nothing to compare.
static enum db_result read_epoch(struct manage *manage, struct str *epoch)
{
	struct db_rows rows;
	*epoch = STR_NONE;
	if (db_hosts(db_settings(manage->config)) == 1)
		return DB_OK;
	enum db_result result = sql_cluster_writer_run(manage->db, manage->pool, &rows);
	if (result == DB_OK && rows.n == 1)
		*epoch = str_printf(manage->pool, "%llu", (unsigned long long)sql_cluster_writer_row(&rows, 0)->epoch);
	return result;
}

static int empty_tables(struct manage *manage, const struct schema_files *files, const struct trait_list *traits)
{
	struct db_rows rows;
	struct seeds seeds;
	struct str epoch;
	enum db_result result = sql_schema_registry_tables_run(manage->db, manage->pool, &rows);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't list the tables");
	result = read_epoch(manage, &epoch);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't ask for the writer's epoch");
	struct str *tables = POOL_ARRAY(manage->pool, struct str, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		tables[i] = sql_schema_registry_tables_row(&rows, i)->table_name;
	collect_seeds(manage, files, traits, tables, rows.n, &seeds);
	result = db_run_script(manage->db, write_script(manage, &seeds, tables, rows.n, (struct db_names){ &epoch, epoch.p != NULL }));
	return result == DB_OK ? EX_OK : manage_db_fail(manage, result,
		"the registry could not be emptied (a long transaction may hold it: run this again)");
}

int command_db_reset(struct manage *manage)
{
	struct schema_files files;
	struct trait_list traits;
	enum schema_state state;
	uint64_t version;
	if (manage_option(manage, "--yes") == NULL)
		return manage_fail(EX_USAGE, "this empties the whole registry in database \"%s\"; say --yes",
			db_settings(manage->config)->name);
	int code = schema_read(manage, &files);
	if (code == EX_OK)
		code = trait_list_read(manage, NULL, &traits);
	if (code == EX_OK)
		code = manage_lock_schema(manage, manage->db);
	if (code != EX_OK)
		return code;
	if (!schema_ask(manage, &state, &version))
		return EX_TEMPFAIL;
	if (state != SCHEMA_PRESENT || version != files.latest)
		return manage_fail(EX_DATAERR, "the schema is not of this release: see `tenure-manage db status`");
	// First, so that a registry that is empty is never exported over what was imported into it, and that no doctor goes on
	// with what another one found in it before.
	enum db_result result = sql_transfer_forget_run(manage->db, manage->pool, NULL);
	if (result == DB_OK)
		result = sql_doctor_position_forget_run(manage->db, manage->pool, NULL);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "nothing was emptied");
	code = empty_tables(manage, &files, &traits);
	return code == EX_OK ? manage_fill_registry(manage) : code;
}
