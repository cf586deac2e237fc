// SPDX-License-Identifier: Apache-2.0
// For files in manage/ only: what the commands of tenure-manage work with.
#ifndef TENURE_MANAGE_MANAGE_H
#define TENURE_MANAGE_MANAGE_H

#include <sysexits.h>

#include "base/config/config.h"
#include "base/outcome.h"
#include "base/pool.h"
#include "base/problem.h"
#include "base/str.h"
#include "db/db.h"

enum { MANAGE_MAX_OPTIONS = 8, MANAGE_MAX_ARGUMENTS = 4 };

// Exit codes that are not sysexits': of db status, db upgrade, doctor.
enum { EXIT_CLEAN = 0, EXIT_FOUND = 1, EXIT_FAILED = 2 };

struct manage_option {
	const char *name;  // with its dashes: "--tenant"
	const char *value; // what it takes, for the usage line; NULL for a switch
	const char *help;
};

enum manage_needs {
	NEEDS_CONFIG,
	NEEDS_DATABASE,
	NEEDS_WRITER, // the database, as the user of the application: whoever writes the change log (registry/log/horizon.h)
};

struct manage;

struct manage_command {
	const char *noun;
	const char *verb;      // NULL: the noun alone is the command
	const char *arguments; // "NAME", "" for none
	size_t n_arguments;    // all of them are required
	enum manage_needs needs;
	int (*run)(struct manage *manage); // exit code
	const char *help;      // one line
	const char *more;      // further paragraphs of --help, may be ""
	struct manage_option options[MANAGE_MAX_OPTIONS]; // ends with name NULL
	bool checks;           // its exit code is EXIT_FAILED if it can't do its work, also if there is no connection
};

struct manage {
	const char *config_path;
	const struct manage_command *command;
	const char *arguments[MANAGE_MAX_ARGUMENTS];
	const char *options[MANAGE_MAX_OPTIONS]; // values, "" for switches, NULL when not given
	struct config *config;
	struct config patient; // the same for statements that may take long
	struct db *db; // as the command's needs say; connected when it needs the database
	struct pool *pool;
	struct problem problem; // what the registry said last
};

// Value of an option of the running command, "" for a switch that was given, NULL when it was not given.
const char *manage_option(const struct manage *manage, const char *name);

// Writes "tenure-manage: text" to stderr and returns code.
int manage_fail(int code, const char *format, ...) PRINTF_LIKE(2, 3);
// Tells why a statement did not work and returns the exit code for it.
int manage_db_fail(const struct manage *manage, enum db_result result, const char *what);
// Exit code that stands for an outcome; EX_OK for those that commit.
int manage_exit_code(enum outcome outcome);

// Makes the system space where there is none. Only on a schema of this program's version. EX_OK, or an exit code, told.
int manage_ensure_system_space(struct manage *manage);

// "90", "15m", "12h", "30d", "4w": seconds, or with a unit. False on anything else, zero, and above 100 years.
bool duration_parse(struct str text, int64_t *us);

// The commands' functions, one file for each noun.
int command_db_init(struct manage *manage);
int command_db_status(struct manage *manage);
int command_db_upgrade(struct manage *manage);
int command_db_reset(struct manage *manage);
int command_token_create(struct manage *manage);
int command_token_list(struct manage *manage);
int command_token_revoke(struct manage *manage);
int command_tier_list(struct manage *manage);
int command_tier_set(struct manage *manage);
int command_tier_remove(struct manage *manage);
int command_os_traits_sync(struct manage *manage);
int command_reap(struct manage *manage);
int command_doctor(struct manage *manage);
int command_keys(struct manage *manage);
int command_config_check(struct manage *manage);
// Tells on standard error of settings that are correct and yet unsafe: config check and doctor do.
void settings_warn(const struct config *config);
// Tells on standard error of endpoints whose authenticators are wrong, with which tenured does not start: doctor does; config
// check finds it by itself.
void settings_check_auth(const struct config *config);
int command_config_show(struct manage *manage);

extern const struct manage_command manage_commands[]; // ends with noun NULL

#endif
