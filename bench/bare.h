// SPDX-License-Identifier: Apache-2.0
// A bare client of the database: Connector/C as it is, prepared statements, several sent before the first answer is
// read. BENCH_DB_SOCKET and BENCH_DB_NAME in the environment say where; the user is root, who needs no password there.
#ifndef TENURE_BENCH_BARE_H
#define TENURE_BENCH_BARE_H

#include "bench.h"
#include "db/statements.h"

#include <mysql.h>

static inline void bare_query(MYSQL *mysql, const char *sql)
{
	if (mysql_query(mysql, sql) != 0)
		die("%s: %s", sql, mysql_error(mysql));
}

// With the session that Tenure has.
static inline MYSQL *bare_connect(void)
{
	MYSQL *mysql = mysql_init(NULL);

	if (mysql == NULL)
		die("no memory");
	(void)mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	if (mysql_real_connect(mysql, NULL, "root", "", getenv("BENCH_DB_NAME"), 0, getenv("BENCH_DB_SOCKET"),
		CLIENT_FOUND_ROWS) == NULL)
		die("%s", mysql_error(mysql));
	bare_query(mysql, "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, SESSION time_zone = '+00:00', "
		"SESSION tx_isolation = 'READ-COMMITTED'");
	return mysql;
}

static inline MYSQL_STMT *bare_prepare(MYSQL *mysql, const char *sql, MYSQL_BIND *in)
{
	MYSQL_STMT *stmt = mysql_stmt_init(mysql);

	if (stmt == NULL || mysql_stmt_prepare(stmt, sql, (unsigned long)strlen(sql)) != 0)
		die("%s: %s", sql, mysql_error(mysql));
	if (in != NULL && mysql_stmt_bind_param(stmt, in) != 0)
		die("%s: %s", sql, mysql_stmt_error(stmt));
	return stmt;
}

// A value of a statement, by the name that its parameter has in sql/statements/.
struct bare_value {
	const char *name;
	MYSQL_BIND bind;
};

enum { BARE_MAX_VALUES = 64 };

// Which of the values the parameter has. *used notes it.
static inline MYSQL_BIND bare_value_of(const struct db_query *query, const char *name, const struct bare_value *values, size_t n, bool *used)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(values[i].name, name) == 0) {
			used[i] = true;
			return values[i].bind;
		}
	}
	die("%s: no value for :%s", query->name, name);
}

// Prepares a statement of Tenure's: its text is the one that Tenure sends. Each parameter must have a value, and each value a
// parameter.
static inline MYSQL_STMT *bare_prepare_values(MYSQL *mysql, const struct db_query *query, const struct bare_value *values, size_t n)
{
	bool used[BARE_MAX_VALUES] = { false };
	MYSQL_BIND in[BARE_MAX_VALUES];
	size_t at = 0;

	while (at < db_n_statements && db_statements[at].query != query)
		at++;
	if (at == db_n_statements || query->n_in > BARE_MAX_VALUES || n > BARE_MAX_VALUES)
		die("%s: no such statement", query->name);
	for (size_t i = 0; i < query->n_in; i++)
		in[i] = bare_value_of(query, db_statements[at].in_names[i], values, n, used);
	for (size_t i = 0; i < n; i++) {
		if (!used[i])
			die("%s: it has no parameter :%s", query->name, values[i].name);
	}
	return bare_prepare(mysql, query->sql, query->n_in > 0 ? in : NULL);
}

// The same with the values as { NAME, BIND }, …
#define BARE_PREPARE(mysql, query, ...) \
	bare_prepare_values(mysql, query, (const struct bare_value[]){ __VA_ARGS__ }, \
		sizeof((const struct bare_value[]){ __VA_ARGS__ }) / sizeof(struct bare_value))

static inline MYSQL_BIND bare_u(uint64_t *value)
{
	return (MYSQL_BIND){ .buffer_type = MYSQL_TYPE_LONGLONG, .buffer = value, .is_unsigned = 1 };
}

static inline MYSQL_BIND bare_bytes(void *p, size_t n)
{
	return (MYSQL_BIND){ .buffer_type = MYSQL_TYPE_BLOB, .buffer = p, .buffer_length = (unsigned long)n };
}

static inline MYSQL_BIND bare_text(char *text)
{
	return (MYSQL_BIND){ .buffer_type = MYSQL_TYPE_STRING, .buffer = text, .buffer_length = (unsigned long)strlen(text) };
}

static inline MYSQL_BIND bare_null(void)
{
	return (MYSQL_BIND){ .buffer_type = MYSQL_TYPE_NULL };
}

static inline MYSQL_BIND bare_time(MYSQL_TIME *time)
{
	return (MYSQL_BIND){ .buffer_type = MYSQL_TYPE_DATETIME, .buffer = time };
}

static inline MYSQL_TIME bare_now(void)
{
	time_t now = time(NULL);
	struct tm tm;

	(void)gmtime_r(&now, &tm);
	return (MYSQL_TIME){
		.year = (unsigned)tm.tm_year + 1900,
		.month = (unsigned)tm.tm_mon + 1,
		.day = (unsigned)tm.tm_mday,
		.hour = (unsigned)tm.tm_hour,
		.minute = (unsigned)tm.tm_min,
		.second = (unsigned)tm.tm_sec,
		.time_type = MYSQL_TIMESTAMP_DATETIME,
	};
}

// All of them in one round trip; what they answer is read and dropped.
static inline void bare_batch(MYSQL *mysql, MYSQL_STMT **stmts, size_t n)
{
	my_bool skip = 1;

	(void)mysql_options(mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &skip);
	for (size_t i = 0; i < n; i++) {
		if (mysql_stmt_execute(stmts[i]) != 0)
			die("%s", mysql_stmt_error(stmts[i]));
	}
	skip = 0;
	(void)mysql_options(mysql, MARIADB_OPT_SKIP_READ_RESPONSE, &skip);
	for (size_t i = 0; i < n; i++) {
		if (mysql->methods->db_read_execute_response(stmts[i]) != 0 ||
			(mysql_stmt_field_count(stmts[i]) > 0 && mysql_stmt_free_result(stmts[i]) != 0))
			die("%s", mysql_stmt_error(stmts[i]));
	}
}

// The one number that a query answers.
static inline uint64_t bare_number(MYSQL *mysql, const char *sql)
{
	MYSQL_RES *result;
	MYSQL_ROW row;

	bare_query(mysql, sql);
	result = mysql_store_result(mysql);
	row = result != NULL ? mysql_fetch_row(result) : NULL;
	if (row == NULL || row[0] == NULL)
		die("%s: no row", sql);
	uint64_t number = strtoull(row[0], NULL, 10);
	mysql_free_result(result);
	return number;
}

static inline uint64_t bare_tenant(MYSQL *mysql, const char *name)
{
	char sql[512];

	(void)snprintf(sql, sizeof(sql), "SELECT id FROM tenants WHERE live = 1 AND name = '%s'", name);
	return bare_number(mysql, sql);
}

#endif
