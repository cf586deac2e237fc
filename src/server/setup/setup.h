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
// The authenticators of the endpoint, each process's own. host: memory of all processes of the host; NULL: they keep what they
// learn to themselves. NULL and *error (malloc): what is wrong with their settings.
struct auth *setup_auth(const struct setup *setup, struct shared *host, char **error);
// Creates the access log, if it does not exist, for the user that this process will become. False with errno if that fails; logged.
bool setup_make_logs(const struct setup *setup);
// Sends log lines where the configuration says. program: shown in each; must outlive the process.
void setup_open_error_log(const struct config *config, const char *program);
// setup_open_error_log() for tenured, and opens the access log. False with errno if that can't be opened; logged. is_root_yet: the process will become
// another user, and opens the access log then, by setup_reopen_logs(): the path may be a link of that user's, through which root would make
// a file anywhere.
bool setup_open_logs(const struct setup *setup, bool is_root_yet);
// Reopens the access log only. False with errno and *error from malloc if that fails: the open file stays in use.
bool setup_reopen_logs(const struct setup *setup, char **error);
// setup_reopen_logs() for a rotation: errors are logged.
void setup_reopen_logs_logged(const struct setup *setup);
// The same, if a rotation has moved the access log away: for processes to which nobody sends a signal.
void setup_follow_rotation(const struct setup *setup);

// Sets *error to the formatted text, from malloc. Returns false, so that callers can write `return setup_fail(error, …)`. errno stays.
bool setup_fail(char **error, const char *format, ...) PRINTF_LIKE(2, 3);
// The exit code of a start that failed with this errno: EX_OSERR if the system had no room or no resource, so that another start may succeed,
// else `final`, one of those after which a supervisor does not try again.
int setup_exit_code(int cause, int final);

#endif
