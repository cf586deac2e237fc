// SPDX-License-Identifier: Apache-2.0
// A file of sql/: cut into statements at each ';' that stands outside of quotes and comments.
#include "base/base.h"

#include "db/db_internal.h"

// Behind the quoted text that begins at from. A doubled quote ends one and begins the next, which comes to the same.
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

// The offset of the next thing after what stands at i, which is skipped whole.
static size_t step(struct str sql, size_t i)
{
	if (sql.p[i] == '\'' || sql.p[i] == '"' || sql.p[i] == '`')
		return skip_quoted(sql, i);
	if (at(sql, i, "/*"))
		return skip_block_comment(sql, i);
	return at_line_comment(sql, i) ? str_find(sql, '\n', i) + 1 : i + 1;
}

// Without blanks and comments in front, so that a statement of those alone is seen to be empty. "/*!" is no comment.
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

enum db_result db_run_script(struct db *db, struct str sql)
{
	enum db_result result = txn_check(db);

	assert(db->state == TXN_OUTSIDE);
	if (result == DB_OK)
		result = batch_run(db, NULL, NULL, 0); // connects, and takes the session out of the last transaction
	for (struct str rest = skip_blank(sql); result == DB_OK && rest.n > 0;) {
		size_t end = statement_end(rest);

		if (end > 0)
			result = conn_query(db, rest.p, end);
		rest = skip_blank(str_part(rest, end + 1, rest.n));
	}
	return result;
}
