// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: what the commands of tenure-manage share.
#ifndef TENURE_MANAGE_CORE_MANAGE_H
#define TENURE_MANAGE_CORE_MANAGE_H

#include <signal.h>
#include <sysexits.h>

#include "base/config/config.h"
#include "base/options.h"
#include "base/outcome.h"
#include "base/pool.h"
#include "base/problem.h"
#include "base/str.h"
#include "db/db.h"
#include "db/settings.h"

enum { MANAGE_MAX_OPTIONS = 8, MANAGE_MAX_ARGUMENTS = 4 };

// Exit codes of db status, db upgrade and doctor beside those of <sysexits.h>.
enum { EXIT_CLEAN = 0, EXIT_FOUND = 1, EXIT_FAILED = 2 };

enum manage_needs {
	NEEDS_CONFIG,
	NEEDS_DATABASE,
	// the database, as the application's user: for commands that write the change log (registry/log/horizon.h)
	NEEDS_WRITER,
};

struct manage;
struct registry;
struct registry_store;

struct manage_command {
	const char *noun;
	const char *verb;      // NULL: the noun alone is the command
	const char *arguments; // "NAME", "" for none
	size_t n_arguments;    // all of them are required
	enum manage_needs needs;
	int (*run)(struct manage *manage); // exit code
	const char *help;      // one line
	const char *more;      // further paragraphs of --help, may be ""
	struct option_row options[MANAGE_MAX_OPTIONS]; // ends with name NULL
	bool checks;           // if it cannot do its work, also without configuration or connection, its exit code is EXIT_FAILED
};

struct manage {
	const char *config_path;
	bool help; // --help was given
	const struct manage_command *command;
	const char *arguments[MANAGE_MAX_ARGUMENTS];
	const char *options[MANAGE_MAX_OPTIONS]; // values; "" for a switch; NULL if not given
	struct config *config;
	struct db_settings patient; // those of config, for statements that may take long
	struct shared *host; // what the processes of this host share; NULL: none has made it, or it is not this user's to see
	struct db *db; // connected if the command needs the database
	struct pool *pool;
	struct problem problem; // the last problem that the registry described
};

// The value of an option of the running command; "" for a switch; NULL if not given.
const char *manage_option(const struct manage *manage, const char *name);

// For "%llu thing%s": the number, and the s of the plural.
#define COUNT_ARG(n) (unsigned long long)(n), (n) == 1 ? "" : "s"

// Writes "tenure-manage: text" to stderr and returns code.
int manage_fail(int code, const char *format, ...) PRINTF_LIKE(2, 3);
// db_open() for the registry's database: the handle knows which writer the service's processes on this host have last seen.
struct db *manage_db_open(const struct manage *manage, const struct db_settings *settings, enum db_account account);
// Prints why a statement failed, and returns the exit code for that.
int manage_db_fail(const struct manage *manage, enum db_result result, const char *what);
// Prints why the database can't be connected to, and what to do if it refused the user or nothing answers. Returns the exit code.
int manage_connect_fail(const struct manage *manage, enum db_result result);
// Takes the lock of schemas on the server of db, for as long as that connection lasts: for statements that change or empty
// tables. There is one for all databases of the server, because `cluster switch` takes it, too, and switches the whole server.
// Waits ten seconds for the holder: another such command, perhaps on another database, or `cluster switch`. EX_OK, or an exit
// code after a message.
int manage_lock_schema(const struct manage *manage, struct db *db);
// The exit code for an outcome; EX_OK for outcomes that commit.
int manage_exit_code(enum outcome outcome);

// Begins a registry session on the connection of manage, whose changes have the actor "tenure-manage" in the log. The caller
// frees
// *store, whatever the outcome. OUTCOME_OK, or why there is no session: manage->problem may have the details.
enum outcome manage_begin(struct manage *manage, struct registry_store **store, struct registry *registry);
// Writes to stderr why an operation of the registry failed: the details in manage->problem, else the outcome's title.
void manage_tell_outcome(const struct manage *manage, enum outcome outcome);
// Adds the rows of built-in types that the database lacks, and the system space if there is none. The schema must be of this
// program's version. EX_OK, or an exit code after a message.
int manage_fill_registry(struct manage *manage);

// From here on SIGTERM, SIGINT and SIGHUP stop the work cleanly: they set what is returned. Statements in progress are not
// interrupted. A signal that is ignored stays so, as SIGHUP under nohup.
const volatile sig_atomic_t *manage_stop_by_signals(void);

// "90", "15m", "12h", "30d", "4w": seconds, or with a unit. False on anything else, zero, and above 100 years.
bool manage_duration_parse(struct str text, int64_t *us);

#endif
