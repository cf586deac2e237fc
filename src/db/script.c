// SPDX-License-Identifier: Apache-2.0
// Text of several statements: a file of the schema, or an @script of sql/statements/. It is cut into statements at each ';'
// that stands outside of quotes and comments.
#include "base/base.h"

#include <errmsg.h>

#include "base/ascii.h"
#include "base/buf.h"
#include "base/pool.h"
#include "db/db_internal.h"

// ---- names put into a script

// The index of the list whose ":LIST" is at the beginning of text; n: none.
static size_t list_at(struct str text, const char *const *lists, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t length = strlen(lists[i]);
		char behind = text.n > 1 + length ? text.p[1 + length] : ' ';

		if (text.n > length && text.p[0] == ':' && memcmp(text.p + 1, lists[i], length) == 0 && behind != '_' &&
			!ascii_is_lower(behind))
			break;
		i++;
	}
	return i;
}

// Adds a name inside quotes of this kind, with what needs an escape there escaped.
static void add_name(struct buf *out, struct str name, char quote)
{
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == quote || (name.p[i] == '\\' && quote == '\''))
			buf_addc(out, name.p[i]);
		buf_addc(out, name.p[i]);
	}
}

// Adds the line with one element of its list. *n_elements: how many the list has; unchanged if the line has no list.
static void add_line(struct buf *out, struct str line, const char *const *lists, const struct db_names *names, size_t n,
	size_t element, size_t *n_elements)
{
	char quote = 0;

	for (size_t i = 0; i < line.n; i++) {
		size_t list = quote != 0 ? list_at(str_part(line, i, line.n), lists, n) : n;

		if (line.p[i] == quote)
			quote = 0;
		else if (quote == 0 && (line.p[i] == '`' || line.p[i] == '\''))
			quote = line.p[i];
		if (list == n) {
			buf_addc(out, line.p[i]);
			continue;
		}
		*n_elements = names[list].n;
		if (element < names[list].n)
			add_name(out, names[list].at[element], quote);
		i += strlen(lists[list]);
	}
	buf_addc(out, '\n');
}

struct str db_script_text(struct pool *pool, const char *script, const char *const *lists, const struct db_names *names,
	size_t n)
{
	struct str rest = str_c(script), line;
	struct buf out = buf_new(pool, rest.n * 2);

	while (rest.n > 0 && str_split(&rest, '\n', &line)) {
		size_t elements = 1, before = out.n;

		add_line(&out, line, lists, names, n, 0, &elements);
		if (elements == 0)
			out.n = before;
		for (size_t i = 1; i < elements; i++)
			add_line(&out, line, lists, names, n, i, &elements);
	}
	return buf_str(&out);
}

// ---- cutting

// The offset behind the quoted text that begins at from. A doubled quote counts as the end of one quoted text and the beginning
// of another, which gives the same result.
static size_t skip_quoted(struct str sql, size_t from)
{
	char quote = sql.p[from];
	size_t i = from + 1;

	while (i < sql.n && sql.p[i] != quote)
		i += sql.p[i] == '\\' && quote != '`' ? 2 : 1;
	return i + 1;
}

static bool at(struct str sql, size_t i, const char *what)
{
	return str_starts(str_part(sql, i, sql.n), str_c(what));
}

// "--" begins a comment only before a blank or a control character; "#" always does.
static bool at_line_comment(struct str sql, size_t i)
{
	return sql.p[i] == '#' || (at(sql, i, "--") && (i + 2 >= sql.n || (unsigned char)sql.p[i + 2] <= ' '));
}

static size_t skip_block_comment(struct str sql, size_t from)
{
	size_t i = from + 2;

	while (i < sql.n && !at(sql, i, "*/"))
		i++;
	return i + 2;
}

// The offset behind the quoted text, comment or single character at i.
static size_t step(struct str sql, size_t i)
{
	if (sql.p[i] == '\'' || sql.p[i] == '"' || sql.p[i] == '`')
		return skip_quoted(sql, i);
	if (at(sql, i, "/*"))
		return skip_block_comment(sql, i);
	return at_line_comment(sql, i) ? str_find(sql, '\n', i) + 1 : i + 1;
}

// The text without leading blanks and comments, so that a statement that has nothing else is empty. "/*!" is no comment.
static struct str skip_blank(struct str sql)
{
	size_t i = 0;

	while (i < sql.n) {
		bool blank = (unsigned char)sql.p[i] <= ' ';

		if (!blank && !at_line_comment(sql, i) && (!at(sql, i, "/*") || at(sql, i, "/*!") || at(sql, i, "/*M!")))
			break;
		i = blank ? i + 1 : step(sql, i);
	}
	return str_part(sql, i, sql.n);
}

static size_t statement_end(struct str sql)
{
	size_t i = 0;

	while (i < sql.n && sql.p[i] != ';')
		i = step(sql, i);
	return i < sql.n ? i : sql.n;
}

bool db_script_next(struct str *rest, struct str *statement)
{
	do {
		struct str from = skip_blank(*rest);
		size_t end = statement_end(from);

		*statement = str_part(from, 0, end);
		*rest = str_part(from, end + 1, from.n);
	} while (statement->n == 0 && rest->n > 0);
	return statement->n > 0;
}

enum db_result db_script_begin(struct db *db)
{
	assert(db->state == TXN_OUTSIDE);
	enum db_result result = db_batch_run(db, NULL, NULL, 0);
	if (result != DB_OK)
		return result;
	db->confirmed_us = 0; // the lease is for reads: a switch may have begun within it
	return db_writer_confirm(db);
}

enum db_result db_run_script(struct db *db, struct str sql)
{
	struct str statement;

	assert(db->state == TXN_OUTSIDE);
	enum db_result result = db_txn_check(db);
	if (result == DB_OK)
		result = db_script_begin(db);
	while (result == DB_OK && db_script_next(&sql, &statement)) {
		fault_pass(db, FAULT_STATEMENT);
		if (db->mysql == NULL)
			return db_error_note(db, CR_SERVER_LOST, "the connection was lost", NULL);
		result = db_conn_query(db, statement.p, statement.n);
	}
	return result;
}

static void take_cells(MYSQL_RES *result, struct pool *pool, struct db_cells *cells)
{
	MYSQL_ROW row = mysql_fetch_row(result);
	const MYSQL_FIELD *fields = mysql_fetch_fields(result);
	const unsigned long *lengths = mysql_fetch_lengths(result);
	size_t n = row != NULL ? mysql_num_fields(result) : 0;
	struct str *names = pool_alloc(pool, (n + 1) * sizeof(*names)), *values = pool_alloc(pool, (n + 1) * sizeof(*values));

	for (size_t i = 0; i < n; i++) {
		names[i] = str_dup(pool, (struct str){ fields[i].name, fields[i].name_length });
		values[i] = row[i] != NULL ? str_dup(pool, (struct str){ row[i], lengths[i] }) : STR_NONE;
	}
	*cells = (struct db_cells){ .n = n, .names = names, .values = values };
}

enum db_result db_run_show(struct db *db, struct pool *pool, struct str sql, struct db_cells *cells)
{
	enum db_result result = db_batch_run(db, NULL, NULL, 0);
	struct str statement;

	*cells = (struct db_cells){ .n = 0 };
	assert(db->state == TXN_OUTSIDE);
	if (result != DB_OK || !db_script_next(&sql, &statement))
		return result;
	db->round_trips++;
	MYSQL_RES *answer = mysql_real_query(db->mysql, statement.p, (unsigned long)statement.n) == 0 ? mysql_store_result(db->mysql) : NULL;
	if (answer == NULL)
		return db_error_note(db, mysql_errno(db->mysql), mysql_error(db->mysql), NULL);
	take_cells(answer, pool, cells);
	mysql_free_result(answer);
	return DB_OK;
}
