// SPDX-License-Identifier: Apache-2.0
// What all commands of tenure-manage share: messages, exit codes, options.
#include "base/base.h"

#include <stdarg.h>

#include "manage/core/manage.h"
#include "sql/schema.h"

enum { LOCK_SECONDS = 10 };

int manage_fail(int code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("tenure-manage: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return code;
}

struct db *manage_db_open(const struct manage *manage, const struct db_settings *settings, enum db_account account)
{
	struct db *db = db_open(settings, account);

	db_join(db, manage->host);
	return db;
}

int manage_db_fail(const struct manage *manage, enum db_result result, const char *what)
{
	const char *why = db_error(manage->db);
	// db/ has logged the error already.
	if (result == DB_ERROR)
		return manage_fail(EX_SOFTWARE, "%s", what);
	return manage_fail(EX_TEMPFAIL, "%s: %s", what, why != NULL && *why != '\0' ? why : "the database is away or busy");
}

// Numbers of the server's errors.
enum {
	NO_DATABASE = 1049,
	PLUGIN_REFUSED = 1698, // for a user whom only the plugin unix_socket authenticates
	// Of the client library:
	NO_SERVER_AT_SOCKET = 2002,
	NO_SERVER_AT_ADDRESS = 2003,
	NO_MEMORY = 2008,
	NO_TLS = 2026, // or the certificate is refused
};

int manage_connect_fail(const struct manage *manage, enum db_result result)
{
	const struct db_settings *c = db_settings(manage->config);
	bool admin = db_is_operator(manage->db) && c->admin_user[0] != '\0';
	unsigned long number = strtoul(db_error(manage->db), NULL, 10);

	if (result != DB_ERROR && number != NO_TLS && !db_is_refused(manage->db)) {
		int code = manage_db_fail(manage, result, "can't connect to the database");
		if (number == NO_SERVER_AT_SOCKET || number == NO_SERVER_AT_ADDRESS)
			manage_fail(0, "start the database server, or correct host, port and socket in [database]");
		return code;
	}
	manage_fail(0, "can't connect to the database: %s", db_error(manage->db));
	if (number == NO_MEMORY)
		return EX_OSERR;
	if (number == NO_DATABASE)
		return manage_fail(EX_CONFIG, "there is no database \"%s\" yet: `tenure-manage db init` makes it", c->name);
	if (number == PLUGIN_REFUSED)
		manage_fail(0, "the database lets user \"%s\" (%s in [database]) in by its socket, for the system's user of that name alone: "
			"run this as that user", admin ? c->admin_user : c->user, admin ? "admin_user" : "user");
	else if (db_is_refused(manage->db))
		manage_fail(0, "the database has no user \"%s\" with this password and these rights (%s in [database]): have its "
			"administrator run what `tenure-manage db init --print-grants` prints, or correct the configuration",
			admin ? c->admin_user : c->user, admin ? "admin_user, admin_password" : "user, password");
	return EX_CONFIG;
}

int manage_lock_schema(const struct manage *manage, struct db *db)
{
	const struct sql_schema_lock in = { .seconds = LOCK_SECONDS };
	struct db_rows rows;
	enum db_result result = sql_schema_lock_run(db, manage->pool, &in, &rows);

	if (result != DB_OK)
		return manage_fail(result == DB_ERROR ? EX_SOFTWARE : EX_TEMPFAIL, "can't lock the schema: %s", db_error(db));
	if (sql_schema_lock_row(&rows, 0)->locked != 1)
		return manage_fail(EX_TEMPFAIL, "another tenure-manage is working on this schema, or on another one of this database server");
	return EX_OK;
}

int manage_exit_code(enum outcome outcome)
{
	if (outcome_commits(outcome))
		return EX_OK;
	switch (outcome) {
	case OUTCOME_NOT_FOUND:
	case OUTCOME_GONE:
		return EX_NOINPUT;
	case OUTCOME_UNAVAILABLE:
		return EX_TEMPFAIL;
	case OUTCOME_INTERNAL:
		return EX_SOFTWARE;
	default:
		return EX_DATAERR;
	}
}

const char *manage_option(const struct manage *manage, const char *name)
{
	for (size_t i = 0; i < MANAGE_MAX_OPTIONS && manage->command->options[i].name != NULL; i++) {
		if (strcmp(manage->command->options[i].name, name) == 0)
			return manage->options[i];
	}
	assert(!"an option that the command does not list");
	return NULL;
}
