// SPDX-License-Identifier: Apache-2.0
// check-sql SOCKET DATABASE schema|plans [NAME]: every statement of sql/statements/ against a real schema, as TAP.
//   schema  prepares each; its parameters and columns have to be as many as its file says, its columns of those names, types
//           and nullability, its parameters of the type of the column that they are compared with or stored in
//   plans   explains each with values from the middle of those columns: it may neither go through a large table, nor through
//           many rows of one for each row of another, nor sort many rows, unless its file says why (@scans, @sorts)
// NAME: the statements for the database of another service (@database NAME) instead of those for ours.
// Run by scripts/check-sql, on a database of some hundred thousand rows.
#include "base/base.h"

#include <mysql.h>
#include <strings.h>

#include "base/buf.h"
#include "base/pool.h"
#include "db/statements.h"
#include "tap.h"

// A part of a plan that looks at more rows than this is a scan, or a large sort. Lists that come as a parameter are
// estimated at 40 rows.
enum { MANY_ROWS = 2000 };

static MYSQL *mysql;
static struct pool *pool;

static MYSQL_RES *ask(const char *sql)
{
	if (mysql_query(mysql, sql) != 0)
		return NULL;
	return mysql_store_result(mysql);
}

// ---- columns of the schema

// A letter for each type of values, for comparing and telling: those of enum db_type, and some that only the server has.
static char letter_of_field(const struct db_field *field)
{
	static const char letters[] = { [DB_TEXT] = 's', [DB_BYTES] = 'b', [DB_UINT] = 'u', [DB_INT] = 'i', [DB_TIME] = 't' };

	return letters[field->type];
}

struct column {
	char letter;
	bool nullable;
};

// "table.column", or "a,b.column": the first of these tables that has it.
static bool find_column(const char *path, struct column *column, struct str *name)
{
	struct str tables = str_part(str_c(path), 0, str_find(str_c(path), '.', 0)), table;
	const char *field = strchr(path, '.') + 1;

	while (str_split(&tables, ',', &table)) {
		struct str sql = str_printf(pool,
			"SELECT data_type, column_type LIKE '%%unsigned%%' OR column_type = 'tinyint(1)', is_nullable = 'YES' FROM "
			"information_schema.columns WHERE table_schema = DATABASE() AND table_name = '%.*s' AND column_name = '%s'",
			STR_ARG(table), field);
		MYSQL_RES *result = ask(str_cstr(pool, sql));
		MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;

		if (row == NULL) {
			mysql_free_result(result);
			continue;
		}
		column->nullable = row[2][0] == '1';
		if (strstr(row[0], "int") != NULL)
			column->letter = row[1][0] == '1' ? 'u' : 'i';
		else if (strstr(row[0], "binary") != NULL || strstr(row[0], "blob") != NULL)
			column->letter = 'b';
		else
			column->letter = strcmp(row[0], "datetime") == 0 ? 't' : 's';
		mysql_free_result(result);
		*name = str_printf(pool, "%.*s.%s", STR_ARG(table), field);
		return true;
	}
	return false;
}

// Lists that come as parameters have columns, too, but are no tables.
static bool is_stored(const MYSQL_FIELD *field)
{
	struct str sql = str_printf(pool,
		"SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '%s'",
		field->org_table != NULL ? field->org_table : "");
	MYSQL_RES *result = ask(str_cstr(pool, sql));
	bool found = result != NULL && mysql_num_rows(result) > 0;

	mysql_free_result(result);
	return found;
}

// ---- the schema

static char letter_of(const MYSQL_FIELD *field)
{
	const unsigned binary = 63; // the character set's number

	switch (field->type) {
	case MYSQL_TYPE_TINY:
	case MYSQL_TYPE_SHORT:
	case MYSQL_TYPE_INT24:
	case MYSQL_TYPE_LONG:
	case MYSQL_TYPE_LONGLONG:
		return (field->flags & UNSIGNED_FLAG) != 0 ? 'u' : 'i';
	case MYSQL_TYPE_DATETIME:
		return 't';
	case MYSQL_TYPE_DECIMAL:
	case MYSQL_TYPE_NEWDECIMAL:
		return 'd';
	case MYSQL_TYPE_NULL:
		return '0';
	default:
		return field->charsetnr == binary ? 'b' : 's';
	}
}

// A number that is computed is signed for the server whether or not it can be below 0; so is TRUE.
static bool types_agree(char told, const MYSQL_FIELD *field)
{
	char is = letter_of(field);
	bool flag = field->type == MYSQL_TYPE_TINY && field->length == 1;

	return told == is || is == '0' || (told == 's' && is == 'd') || (told == 'u' && is == 'i' && (flag || !is_stored(field)));
}

static const char *last_part(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot != NULL ? dot + 1 : path;
}

static bool check_columns(const struct db_statement *statement, MYSQL_STMT *stmt)
{
	const struct db_query *query = statement->query;
	unsigned n = mysql_stmt_field_count(stmt);
	bool good = true;

	if (n != (size_t)query->n_out && n != 0) {
		diag("%u columns, its file names %zu", n, (size_t)query->n_out);
		return false;
	}
	MYSQL_RES *meta = n > 0 ? mysql_stmt_result_metadata(stmt) : NULL;
	for (unsigned i = 0; i < n; i++) {
		const MYSQL_FIELD *field = mysql_fetch_field_direct(meta, i);
		bool may_be_null = (field->flags & NOT_NULL_FLAG) == 0;

		// The columns of SHOW have names in mixed case.
		if (strcasecmp(field->name, last_part(statement->out_names[i])) != 0) {
			diag("column %u is %s, its file says %s", i + 1, field->name, statement->out_names[i]);
			good = false;
		}
		if (!types_agree(letter_of_field(&query->out_fields[i]), field)) {
			diag("%s is of type %c (%d), its file says %c", field->name, letter_of(field), (int)field->type,
				letter_of_field(&query->out_fields[i]));
			good = false;
		}
		// What is computed may be nullable for the server and not be so; the row is refused then (db/bind.c).
		if (may_be_null && is_stored(field) && !query->out_fields[i].nullable) {
			diag("%s may be NULL, its file does not say so", field->name);
			good = false;
		}
	}
	mysql_free_result(meta);
	return good;
}

static bool check_parameters(const struct db_statement *statement, MYSQL_STMT *stmt)
{
	const struct db_query *query = statement->query;
	size_t n = mysql_stmt_param_count(stmt);
	bool good = n == (size_t)query->n_in;

	if (!good)
		diag("%zu parameters, its file names %zu", n, (size_t)query->n_in);
	for (size_t i = 0; good && i < n; i++) {
		struct column column;
		struct str name;

		if (statement->in_columns[i] == NULL || !find_column(statement->in_columns[i], &column, &name))
			continue;
		char told = letter_of_field(&query->in_fields[i]);
		if (column.letter != told && !(column.letter == 'i' && told == 'u')) {
			diag("%s is of type %c, column %.*s of %c", statement->in_names[i], told, STR_ARG(name),
				column.letter);
			good = false;
		}
	}
	return good;
}

static void check_schema(const struct db_statement *statement)
{
	const struct db_query *query = statement->query;
	MYSQL_STMT *stmt = mysql_stmt_init(mysql);
	bool prepared = mysql_stmt_prepare(stmt, query->sql, (unsigned long)strlen(query->sql)) == 0;

	if (!prepared)
		diag("%s", mysql_stmt_error(stmt));
	ok(prepared && check_parameters(statement, stmt) && check_columns(statement, stmt), "%s", query->name);
	mysql_stmt_close(stmt);
}

// ---- plans

static struct str quoted(const char *bytes, unsigned long n, char letter)
{
	struct buf out = buf_new(pool, 2 * n + 4);

	if (letter == 'b') {
		BUF_LIT(&out, "x'");
		buf_add_hex(&out, (const uint8_t *)bytes, n);
	} else {
		char *escaped = pool_alloc(pool, 2 * n + 1);
		unsigned long length = mysql_real_escape_string(mysql, escaped, bytes, n);

		buf_addc(&out, '\'');
		buf_add(&out, str_n(escaped, length));
	}
	buf_addc(&out, '\'');
	return buf_str(&out);
}

// What stands in the middle of that column, by the primary key.
static struct str value_in(struct str path, char letter)
{
	size_t dot = str_find(path, '.', 0);
	struct str table = str_part(path, 0, dot), field = str_part(path, dot + 1, path.n);
	struct str sql = str_printf(pool,
		"SELECT x.%.*s FROM (SELECT %.*s FROM %.*s WHERE %.*s IS NOT NULL LIMIT 2000) x ORDER BY x.%.*s LIMIT 1 OFFSET 50",
		STR_ARG(field), STR_ARG(field), STR_ARG(table), STR_ARG(field), STR_ARG(field));
	MYSQL_RES *result = ask(str_cstr(pool, sql));
	MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
	struct str value = STR_NONE;

	if (row != NULL && row[0] != NULL)
		value = letter == 'u' || letter == 'i' ? str_dup(pool, str_c(row[0]))
						       : quoted(row[0], mysql_fetch_lengths(result)[0], letter);
	mysql_free_result(result);
	return value;
}

// A value that the statement might be run with.
static struct str sample(const struct db_statement *statement, size_t i)
{
	const char *name = statement->in_names[i];
	char type = letter_of_field(&statement->query->in_fields[i]);
	struct column column;
	struct str path, value = STR_NONE;

	// The same member elsewhere in the statement may tell what this one does not.
	for (size_t k = 0; value.p == NULL && k < statement->query->n_in; k++) {
		const char *of = strcmp(statement->in_names[k], name) == 0 ? statement->in_columns[k] : NULL;

		if (of != NULL && find_column(of, &column, &path))
			value = value_in(path, type);
	}
	if (value.p != NULL)
		return value;
	if (strstr(name, "limit") != NULL)
		return STR("100");
	switch (type) {
	case 'u':
	case 'i':
		return STR("1");
	case 't':
		return STR("'2026-01-01 00:00:00'");
	case 'b':
		return STR("x'00112233445566778899aabbccddeeff'");
	default:
		return strstr(name, "path") != NULL ? STR("'$.a'") : STR("'[]'");
	}
}

static struct str with_samples(const struct db_statement *statement)
{
	struct str rest = str_c(statement->query->sql);
	struct buf sql = buf_new(pool, rest.n + 256);
	bool quotes = false;
	size_t parameter = 0;

	BUF_LIT(&sql, "EXPLAIN ");
	for (size_t i = 0; i < rest.n; i++) {
		if (rest.p[i] == '\'')
			quotes = !quotes;
		if (rest.p[i] == '?' && !quotes)
			buf_add(&sql, sample(statement, parameter++));
		else
			buf_addc(&sql, rest.p[i]);
	}
	return buf_str(&sql);
}

// The columns of EXPLAIN.
enum { PLAN_ID = 0, PLAN_TABLE = 2, PLAN_TYPE = 3, PLAN_KEY = 5, PLAN_ROWS = 8, PLAN_EXTRA = 9 };

// inner: the part is joined to the one before, so it is done for each row of that.
static bool looks_good(const struct db_statement *statement, MYSQL_ROW row, bool inner)
{
	uint64_t rows = 0;
	const char *type = row[PLAN_TYPE] != NULL ? row[PLAN_TYPE] : "", *extra = row[PLAN_EXTRA] != NULL ? row[PLAN_EXTRA] : "";
	const char *table = row[PLAN_TABLE] != NULL ? row[PLAN_TABLE] : "";
	bool whole = strcmp(type, "ALL") == 0 || strcmp(type, "index") == 0 || strstr(extra, "join buffer") != NULL;
	bool sorts = strstr(extra, "filesort") != NULL || strstr(extra, "temporary") != NULL;

	if (row[PLAN_ROWS] == NULL || !str_to_u64(str_c(row[PLAN_ROWS]), &rows) || rows <= MANY_ROWS)
		return true;
	if (whole && statement->scans == NULL)
		diag("%s: goes through %llu rows of %s", statement->query->name, (unsigned long long)rows, table);
	if (sorts && statement->sorts == NULL)
		diag("%s: sorts %llu rows of %s (%s)", statement->query->name, (unsigned long long)rows, table, extra);
	if (inner && !whole && statement->scans == NULL)
		diag("%s: goes through %llu rows of %s for each row before", statement->query->name, (unsigned long long)rows, table);
	return !((whole || inner) && statement->scans == NULL) && !(sorts && statement->sorts == NULL);
}

static bool has_plan(const char *sql)
{
	return strncmp(sql, "SELECT", 6) == 0 || strncmp(sql, "(SELECT", 7) == 0 || strncmp(sql, "UPDATE", 6) == 0 || strncmp(sql, "DELETE", 6) == 0 ||
	       (strncmp(sql, "INSERT", 6) == 0 && strstr(sql, "SELECT") != NULL);
}

static void check_plan(const struct db_statement *statement)
{
	struct str sql = with_samples(statement);
	struct str part = { 0 }; // the id of the row before
	bool good = true;

	if (!has_plan(statement->query->sql))
		return;
	MYSQL_RES *result = ask(str_cstr(pool, sql));
	if (result == NULL) {
		ok(false, "%s", statement->query->name);
		diag("%s\n%.*s", mysql_error(mysql), STR_ARG(sql));
		return;
	}
	for (MYSQL_ROW row; (row = mysql_fetch_row(result)) != NULL;) {
		struct str id = str_c(row[PLAN_ID] != NULL ? row[PLAN_ID] : "");

		good = looks_good(statement, row, id.n > 0 && str_eq(id, part)) && good;
		part = id;
	}
	mysql_free_result(result);
	ok(good, "%s", statement->query->name);
	if (!good)
		diag("%.*s", STR_ARG(sql));
}

int main(int argc, char **argv)
{
	bool plans = argc >= 4 && strcmp(argv[3], "plans") == 0;
	const char *database = argc == 5 ? argv[4] : "";

	if (argc < 4 || argc > 5 || (!plans && strcmp(argv[3], "schema") != 0)) {
		fprintf(stderr, "usage: check-sql SOCKET DATABASE schema|plans [NAME]\n");
		return 64;
	}
	pool = pool_new();
	mysql = mysql_init(NULL);
	if (pool == NULL || mysql == NULL || mysql_real_connect(mysql, NULL, "root", "", argv[2], 0, argv[1], 0) == NULL) {
		printf("Bail out! %s\n", mysql != NULL ? mysql_error(mysql) : "no memory");
		return 1;
	}
	(void)mysql_set_character_set(mysql, "utf8mb4");
	(void)mysql_query(mysql, "SET collation_connection = 'utf8mb4_nopad_bin', sql_mode = 'STRICT_ALL_TABLES'");
	for (size_t i = 0; i < db_n_statements; i++) {
		if (strcmp(db_statements[i].database != NULL ? db_statements[i].database : "", database) != 0)
			continue;
		if (plans)
			check_plan(&db_statements[i]);
		else
			check_schema(&db_statements[i]);
	}
	mysql_close(mysql);
	pool_free(&pool);
	return done_testing();
}
