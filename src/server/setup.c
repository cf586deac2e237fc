// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <stdarg.h>

#include "auth/auth.h"
#include "base/config.h"
#include "base/log.h"
#include "server/dialects.h"
#include "server/setup.h"
#include "wadl/wadl.h"

bool fail_with(char **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return false;
}

static bool load(struct setup *setup, const char *path, const char *endpoint, char **error)
{
	struct auth *auth;

	setup->config = config_load(path, error);
	if (setup->config == NULL)
		return false;
	setup->endpoint = config_endpoint(setup->config, endpoint);
	if (setup->endpoint == NULL)
		return fail_with(error, "%s: there is no section [endpoint %s]", path, endpoint);
	// Each worker makes its own; here it is made to learn early that it can be.
	auth = auth_new(setup->config, setup->endpoint, error);
	if (auth == NULL)
		return false;
	auth_free(&auth);
	setup->routes = wadl_load(setup->config->wadl_dir, setup->endpoint->wadl, dialect_handler, NULL, error);
	return setup->routes != NULL;
}

struct setup *setup_load(const char *path, const char *endpoint, char **error)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	*error = NULL;
	if (setup != NULL && !load(setup, path, endpoint, error))
		setup_free(&setup);
	if (setup == NULL && *error == NULL)
		(void)fail_with(error, "no memory");
	return setup;
}

void setup_free(struct setup **setup)
{
	if (*setup == NULL)
		return;
	wadl_free(&(*setup)->routes);
	config_free(&(*setup)->config);
	free(*setup);
	*setup = NULL;
}

bool setup_open_logs(const struct setup *setup)
{
	enum log_level level = LOG_LEVEL_INFO;

	(void)log_level_parse(str_c(setup->config->log_level), &level); // config_load has checked it
	log_open("tenured", strcmp(setup->config->log, "syslog") == 0 ? LOG_SINK_SYSLOG : LOG_SINK_STDERR, level);
	return setup_reopen_logs(setup);
}

bool setup_reopen_logs(const struct setup *setup)
{
	if (log_access_open(setup->endpoint->access_log))
		return true;
	log_error("can't open access log %s: %s", setup->endpoint->access_log, strerror(errno));
	return false;
}
