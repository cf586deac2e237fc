// SPDX-License-Identifier: Apache-2.0
// What a process serves: the configuration, one endpoint of it, and its routes. Read-only once loaded.
#ifndef TENURE_SERVER_SETUP_SETUP_H
#define TENURE_SERVER_SETUP_SETUP_H

#include "base/base.h"

struct auth;
struct config;
struct shared;

struct setup {
	struct config *config;
	const struct endpoint_config *endpoint;
	const struct server_settings *settings;                   // of config
	const struct server_endpoint_settings *endpoint_settings; // of endpoint
	struct route_table *routes;
	struct placement_policy *placement_policy; // NULL: none is configured
};

// Reads the configuration file and the endpoint's WADL, and checks all that a worker will need of them. NULL on failure; *error,
// from malloc, says what is wrong, with file and line if there are any.
struct setup *setup_load(const char *path, const char *endpoint, char **error);
void setup_free(struct setup **setup);
// Are there the user and the group that a process started by root becomes? False with *error (malloc): which is not.
bool setup_check_user(const struct config *config, char **error);
// The authenticators of the endpoint, each process's own. host: memory of all processes of the host; NULL: they keep what they
// learn to themselves. NULL and *error (malloc): what is wrong with their settings.
struct auth *setup_auth(const struct setup *setup, struct shared *host, char **error);
// Creates the access log, if it does not exist, for the user that this process will become. EX_OK, or the exit code; the reason
// is logged.
int setup_make_logs(const struct setup *setup);
// Sends log lines where the configuration says. program: shown in each; must outlive the process.
void setup_open_error_log(const struct config *config, const char *program);
// setup_open_error_log() for tenured, and opens the access log. EX_OK, or the exit code if that can't be opened; the reason is
// logged. is_root_yet: the process will become another user, and opens the access log then, by setup_reopen_logs(): the path may
// be a link of that user's, through which root would make a file anywhere.
int setup_open_logs(const struct setup *setup, bool is_root_yet);
// Reopens the access log only. EX_OK; or the exit code of a start that fails so, with *error from malloc, and the open file stays
// in use.
int setup_reopen_logs(const struct setup *setup, char **error);
// Could setup_reopen_logs() open the access log? Opens and makes nothing. EX_OK, or the exit code of a start that fails so, with
// *error from malloc.
int setup_check_logs(const struct setup *setup, char **error);
// setup_reopen_logs() for a rotation: errors are logged.
void setup_reopen_logs_logged(const struct setup *setup);
// The same, if a rotation has moved the access log away: for processes to which nobody sends a signal.
void setup_follow_rotation(const struct setup *setup);

// Sets *error to the formatted text, from malloc. Returns false, so that callers can write `return setup_fail(error, …)`.
bool setup_fail(char **error, const char *format, ...) PRINTF_LIKE(2, 3);
// Sets *error to the formatted text, from malloc, and that of `cause`: the errno of the system call that failed; 0: none did.
// Returns the exit code of the start that fails so: EX_OSERR if the system had no room or no resource, so that another start may
// succeed, else `final`, one of those after which a supervisor does not try again.
int setup_fail_start(char **error, int cause, int final, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
