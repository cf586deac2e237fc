// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "auth/core/auth.h"
#include "auth/policy/placement_policy.h"
#include "base/config/config.h"
#include "base/log.h"
#include "server/setup/dialects.h"
#include "server/setup/identity.h"
#include "server/setup/settings.h"
#include "server/setup/setup.h"
#include "settings/settings.h"
#include "wadl/settings.h"
#include "wadl/wadl.h"

bool setup_fail(char **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(error, format, args) < 0)
		*error = NULL;
	va_end(args);
	return false;
}

// EROFS is none of them: a unit's sandbox answers so where its ReadWritePaths lack a folder.
static int exit_code(int cause, int final)
{
	switch (cause) {
	case ENOSPC:
	case EDQUOT:
	case EIO:
	case ENOMEM:
	case ENOBUFS:
	case EMFILE:
	case ENFILE:
		return EX_OSERR;
	default:
		return final;
	}
}

int setup_fail_start(char **error, int cause, int final, const char *format, ...)
{
	char *what;
	va_list args;

	va_start(args, format);
	if (vasprintf(&what, format, args) < 0)
		what = NULL;
	va_end(args);
	*error = NULL;
	if (what != NULL)
		(void)setup_fail(error, "%s%s%s", what, cause != 0 ? ": " : "", cause != 0 ? strerror(cause) : "");
	free(what);
	return exit_code(cause, final);
}

bool setup_check_user(const struct config *config, char **error)
{
	uid_t user;
	gid_t group;

	const struct server_settings *settings = server_settings(config);

	return !identity_changes(settings->user) || identity_find(settings->user, settings->group, &user, &group, error);
}

struct auth *setup_auth(const struct setup *setup, struct shared *host, char **error)
{
	return auth_new(&(struct auth_setup){ .config = setup->config, .endpoint = setup->endpoint,
		.processes = setup->endpoint_settings->workers + setup->endpoint_settings->reserve, .shared = host }, error);
}

// Can a process of the present user make them? False with *error (malloc), as setup_auth().
static bool check_auth(const struct setup *setup, char **error)
{
	struct auth *auth = setup_auth(setup, NULL, error);
	bool good = auth != NULL;

	auth_free(&auth);
	return good;
}

static bool load(struct setup *setup, const char *path, const char *endpoint, char **error)
{
	setup->config = config_load(path, settings_tables(), error);
	if (setup->config == NULL)
		return false;
	if (!setup_check_user(setup->config, error))
		return false;
	setup->settings = server_settings(setup->config);
	setup->endpoint = config_endpoint(setup->config, endpoint);
	if (setup->endpoint == NULL)
		return setup_fail(error, "%s: there is no section [endpoint %s]", path, endpoint);
	setup->endpoint_settings = server_endpoint_settings(setup->endpoint);
	if (!check_auth(setup, error))
		return false;
	if (!placement_policy_new(setup->config, &setup->placement_policy, error))
		return false;
	setup->routes = wadl_load(wadl_settings(setup->config)->wadl_dir, wadl_endpoint_settings(setup->endpoint)->wadl,
		dialect_handler, NULL, error);
	return setup->routes != NULL;
}

struct setup *setup_load(const char *path, const char *endpoint, char **error)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	*error = NULL;
	if (setup != NULL && !load(setup, path, endpoint, error))
		setup_free(&setup);
	if (setup == NULL && *error == NULL)
		(void)setup_fail(error, "no memory");
	return setup;
}

void setup_free(struct setup **setup)
{
	if (*setup == NULL)
		return;
	wadl_free(&(*setup)->routes);
	placement_policy_free(&(*setup)->placement_policy);
	config_free(&(*setup)->config);
	free(*setup);
	*setup = NULL;
}

// Creates the access log for the user that the process becomes, while it still is root: the log's folder may be writable for root
// only. Only a file that is created here changes its owner: an existing file, perhaps a symbolic link placed by an attacker,
// keeps its own.
static int make_access_log(const char *path, uid_t user, gid_t group, char **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640), failure = 0;

	if (fd < 0 && errno == EEXIST)
		return EX_OK;
	if (fd < 0 || fchmod(fd, 0640) != 0 || fchown(fd, user, group) != 0)
		failure = errno;
	if (fd >= 0)
		close(fd);
	return failure == 0 ? EX_OK : setup_fail_start(error, failure, EX_CANTCREAT, "can't make access log %s", path);
}

// Logs the error of a function that returned the code, unless that is EX_OK. Returns the code.
static int complain(char *error, int code)
{
	if (code != EX_OK)
		log_error("%s", error != NULL ? error : "no memory");
	free(error);
	return code;
}

int setup_make_logs(const struct setup *setup)
{
	const struct server_settings *settings = setup->settings;
	const char *path = setup->endpoint_settings->access_log;
	char *error = NULL;
	uid_t user;
	gid_t group;

	if (!identity_changes(settings->user) || path[0] == '\0' || strcmp(path, "stderr") == 0)
		return EX_OK;
	bool found = identity_find(settings->user, settings->group, &user, &group, &error);
	int code = found ? make_access_log(path, user, group, &error) : EX_CANTCREAT;
	return complain(error, code);
}

void setup_open_error_log(const struct config *config, const char *program)
{
	const struct server_settings *settings = server_settings(config);
	enum log_level level = LOG_LEVEL_INFO;

	(void)log_level_parse(str_c(settings->log_level), &level); // can't fail: config_load() has checked it
	log_open(program, strcmp(settings->log, "syslog") == 0 ? LOG_SINK_SYSLOG : LOG_SINK_STDERR, level);
}

int setup_open_logs(const struct setup *setup, bool is_root_yet)
{
	char *error = NULL;

	setup_open_error_log(setup->config, "tenured");
	int code = is_root_yet ? EX_OK : setup_reopen_logs(setup, &error);
	return complain(error, code);
}

int setup_reopen_logs(const struct setup *setup, char **error)
{
	const char *path = setup->endpoint_settings->access_log;

	return log_access_open(path) ? EX_OK : setup_fail_start(error, errno, EX_CANTCREAT, "can't open access log %s", path);
}

// May the present user write to the file, or make it if it does not exist? If not, errno says why.
static bool can_write(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (access(path, W_OK) == 0)
		return true;
	if (errno != ENOENT)
		return false;
	if (slash == NULL || slash == path)
		return access(slash == NULL ? "." : "/", W_OK | X_OK) == 0;
	char *folder = strndup(path, (size_t)(slash - path));
	bool can = folder != NULL && access(folder, W_OK | X_OK) == 0;
	int failure = errno;
	free(folder);
	errno = failure;
	return can;
}

int setup_check_logs(const struct setup *setup, char **error)
{
	const char *path = setup->endpoint_settings->access_log;

	if (path[0] == '\0' || strcmp(path, "stderr") == 0 || can_write(path))
		return EX_OK;
	return setup_fail_start(error, errno, EX_CANTCREAT, "can't open access log %s", path);
}

void setup_reopen_logs_logged(const struct setup *setup)
{
	char *error = NULL;
	int code = setup_reopen_logs(setup, &error);

	(void)complain(error, code);
}

void setup_follow_rotation(const struct setup *setup)
{
	if (log_access_moved(setup->endpoint_settings->access_log))
		setup_reopen_logs_logged(setup);
}
