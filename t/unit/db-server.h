// SPDX-License-Identifier: Apache-2.0
// A private MariaDB for unit tests, in a temporary folder, stopped and removed at the end, however the test ends.
#ifndef TENURE_T_UNIT_DB_SERVER_H
#define TENURE_T_UNIT_DB_SERVER_H

#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/settings.h"
#include "registry/type/builtin_types.h"
#include "settings/settings.h"
#include "set.h"
#include "db-values.h"
#include "tap.h"

extern char **environ;

static struct {
	char dir[64];
	char socket[96];
	pid_t owner;  // only its end is the server's, not that of a child
	pid_t keeper; // waits for it, and cleans up
	int alive;    // closed by the owner's end
	struct config *config; // leads to it; tests change its settings by SET()
	char option[64]; // one of mariadbd's, set before it is started; "": none
} server;

static const char *source_dir(void)
{
	const char *dir = getenv("TENURE_SRCDIR");

	return dir != NULL && dir[0] != '\0' ? dir : ".";
}

// Runs scripts/private-mariadb VERB DIR; whether it succeeded.
static bool server_do(const char *verb)
{
	char program[4096], verb_copy[16], name[] = "private-mariadb";
	bool starts = strcmp(verb, "start") == 0 && server.option[0] != '\0';
	char *argv[] = { name, verb_copy, server.dir, starts ? server.option : NULL, NULL };
	int status = -1;
	pid_t pid;

	(void)snprintf(program, sizeof(program), "%s/scripts/private-mariadb", source_dir());
	(void)snprintf(verb_copy, sizeof(verb_copy), "%s", verb);
	if (posix_spawn(&pid, program, NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid)
		return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int server_remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	UNUSED(info);
	UNUSED(type);
	UNUSED(where);
	return remove(path);
}

static void server_end(void)
{
	config_free(&server.config);
	if (getpid() != server.owner)
		return;
	(void)close(server.alive);
	(void)waitpid(server.keeper, NULL, 0);
}

// A process of its own session, which sees the test's end even where that was a crash or a signal.
static void server_keep(void)
{
	int ends[2];
	char byte;

	server.owner = getpid();
	if (pipe2(ends, O_CLOEXEC) != 0 || (server.keeper = fork()) < 0)
		bail_out("no keeper for the private MariaDB");
	server.alive = ends[1];
	if (server.keeper != 0) {
		(void)close(ends[0]);
		(void)atexit(server_end);
		return;
	}
	(void)setsid();
	(void)close(ends[1]);
	while (read(ends[0], &byte, 1) > 0)
		continue;
	(void)server_do("stop");
	(void)nftw(server.dir, server_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	_exit(0);
}

// Runs a script on a connection of its own; the test ends when that fails.
TAP_UNUSED_OK static void server_sql(const char *sql)
{
	struct db *db = db_open(db_settings(server.config), DB_OPERATOR);

	if (db_run_script(db, str_c(sql)) != DB_OK) {
		diag("%s", db_error(db));
		bail_out("a statement of the test itself failed");
	}
	db_close(&db);
}

// The same with a file of the source tree.
TAP_UNUSED_OK static void server_sql_file(const char *name)
{
	char path[4096], *text = malloc(1 << 20);
	size_t n = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", source_dir(), name);
	FILE *file = fopen(path, "r");

	if (text != NULL && file != NULL)
		n = fread(text, 1, (1 << 20) - 1, file);
	if (n == 0)
		bail_out("a file of sql/ can't be read");
	text[n] = '\0';
	server_sql(text);
	free(text);
	(void)fclose(file);
}

// All files of the schema, sql/schema/NNN-what.sql, in order, recorded as `tenure-manage db init` does it; and the rows of the
// built-in types that no file has.
TAP_UNUSED_OK static void server_schema(void)
{
	char pattern[4096], record[1024];
	glob_t files;

	(void)snprintf(pattern, sizeof(pattern), "%s/sql/schema/[0-9][0-9][0-9]-*.sql", source_dir());
	if (glob(pattern, 0, NULL, &files) != 0)
		bail_out("no files of the schema");
	for (size_t i = 0; i < files.gl_pathc; i++)
		server_sql_file(files.gl_pathv[i] + strlen(source_dir()) + 1);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		const char *name = files.gl_pathv[i] + strlen(source_dir()) + strlen("/sql/schema/");

		(void)snprintf(record, sizeof(record), i + 1 <= 13 ?
			"INSERT INTO schema_version (version, file) VALUES (%zu, '%s');" :
			"INSERT INTO schema_files (version, file, oldest) VALUES (%zu, '%s', 13);", i + 1, name);
		server_sql(record);
	}
	globfree(&files);
	struct db *db = db_open(db_settings(server.config), DB_OPERATOR);
	struct pool *pool = pool_new();

	if (builtin_types_ensure(db, pool) != DB_OK)
		bail_out("no rows for the built-in types");
	pool_free(&pool);
	db_close(&db);
}

// Starts it and makes the empty schema "t", which server.config leads to.
static void server_start(void)
{
	log_open("test", LOG_SINK_STDERR, getenv("TENURE_TEST_LOG") != NULL ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR);
	if (access("/usr/sbin/mariadbd", X_OK) != 0)
		skip_all("mariadbd not installed");
	const char *tmp = getenv("TMPDIR");

	// A socket's path is short: in a long TMPDIR there would be no room for it.
	if (tmp == NULL || strlen(tmp) > sizeof(server.dir) - sizeof("/tenure-db-XXXXXX"))
		tmp = "/tmp";
	(void)snprintf(server.dir, sizeof(server.dir), "%s/tenure-db-XXXXXX", tmp);
	if (mkdtemp(server.dir) == NULL)
		bail_out("no temporary folder");
	(void)snprintf(server.socket, sizeof(server.socket), "%s/mysql.sock", server.dir);
	server_keep();
	if (!server_do("start"))
		bail_out("no private MariaDB");
	server.config = config_new(settings_tables());
	if (server.config == NULL)
		bail_out("no memory");
	SET(server.config, db)->host = "";
	SET(server.config, db)->socket = server.socket;
	SET(server.config, db)->name = "";
	SET(server.config, db)->user = "root";
	server_sql("CREATE DATABASE t CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin");
	SET(server.config, db)->name = "t";
}

#endif
