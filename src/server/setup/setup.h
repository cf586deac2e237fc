// SPDX-License-Identifier: Apache-2.0
// What a process serves: a configuration, one endpoint of it, its routes. Read-only once loaded.
#ifndef TENURE_SERVER_SETUP_SETUP_H
#define TENURE_SERVER_SETUP_SETUP_H

#include "base/base.h"

struct setup {
	struct config *config;
	const struct endpoint_config *endpoint;
	struct route_table *routes;
};

// Reads the configuration file and the endpoint's WADL and checks what a worker will make of them.
// NULL on failure; *error, from malloc, says what is wrong, with file and line where there are such.
struct setup *setup_load(const char *path, const char *endpoint, char **error);
void setup_free(struct setup **setup);
// Makes the access log, where there is none, for the user that this process is about to become. False, logged, when it
// can't.
bool setup_make_logs(const struct setup *setup);
// Directs log lines where the configuration says and opens the access log. False, logged, when that can't be opened.
bool setup_open_logs(const struct setup *setup);
// Opens the access log alone, again. False with *error (malloc) when it can't: then the one that is open stays.
bool setup_reopen_logs(const struct setup *setup, char **error);
// The same after a rotation: what goes wrong is logged.
void setup_rotate_logs(const struct setup *setup);

// *error becomes the formatted text, from malloc. Returns false, for `return fail_with(error, …)`.
bool fail_with(char **error, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
