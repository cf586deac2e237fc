// SPDX-License-Identifier: Apache-2.0
// tenure-manage config check, config show.
#include "base/base.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "api/settings.h"
#include "auth/core/auth.h"
#include "auth/jwt/jwt_settings.h"
#include "auth/keystone/keystone_settings.h"
#include "auth/policy/placement_policy.h"
#include "db/settings.h"
#include "manage/commands.h"
#include "registry/webhook/settings.h"
#include "server/setup/settings.h"
#include "wadl/settings.h"
#include "wadl/wadl.h"

// The handlers are part of tenured. Here any value stands for one.
static const void *any_handler(void *arg, const char *dialect, const char *id)
{
	UNUSED(arg);
	UNUSED(dialect);
	return id;
}

static int check_endpoint(const struct manage *manage, const struct endpoint_config *endpoint)
{
	char *error = NULL;
	struct route_table *table = wadl_load(wadl_settings(manage->config)->wadl_dir, wadl_endpoint_settings(endpoint)->wadl,
		any_handler, NULL, &error);
	struct auth *auth = NULL;
	if (table != NULL)
		auth = auth_new(&(struct auth_setup){ .config = manage->config, .endpoint = endpoint }, &error);
	int code = EX_OK;
	if (table == NULL || auth == NULL)
		code = manage_fail(EX_CONFIG, "[endpoint %s]: %s", endpoint->name, error != NULL ? error : "no memory");
	free(error);
	if (auth != NULL)
		auth_free(&auth);
	if (table != NULL)
		wadl_free(&table);
	return code;
}

// Is the file system with the access log full?
static bool has_no_room(const char *access_log)
{
	struct statvfs fs;
	const char *slash = strrchr(access_log, '/');
	char dir[4096];

	if (slash == NULL || slash == access_log || (size_t)(slash - access_log) >= sizeof(dir))
		return false;
	memcpy(dir, access_log, (size_t)(slash - access_log));
	dir[slash - access_log] = '\0';
	return statvfs(dir, &fs) == 0 && fs.f_blocks > 0 && (fs.f_bavail == 0 || (fs.f_files > 0 && fs.f_favail == 0));
}

static bool is_number(struct str name)
{
	uint64_t number;

	return str_to_u64(name, &number);
}

static void warn_of_user(const char *place, const char *key, struct str name)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
	if (name.n > 0 && !is_number(name) && getpwnam(text) == NULL)
		fprintf(stderr, "warning: [%s] %s: this machine has no user \"%s\"\n", place, key, text);
}

static void warn_of_group(const char *place, const char *key, struct str name)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "%.*s", STR_ARG(name));
	if (name.n > 0 && !is_number(name) && getgrnam(text) == NULL)
		fprintf(stderr, "warning: [%s] %s: this machine has no group \"%s\"\n", place, key, text);
}

// socket_owner is USER, USER:GROUP or :GROUP.
static void warn_of_owner(const char *place, struct str owner)
{
	struct str user = STR(""), group = STR("");

	if (!str_split(&owner, ':', &user))
		return;
	warn_of_user(place, "socket_owner", user);
	if (str_split(&owner, ':', &group))
		warn_of_group(place, "socket_owner", group);
}

static void warn_of_relative(const char *place, const char *key, const char *path)
{
	if (path[0] != '\0' && path[0] != '/')
		fprintf(stderr, "warning: [%s] %s: \"%s\" is relative to the folder in which a program is started: give a path that begins with /\n",
			place, key, path);
}

// Warns if a file that is read only when it is needed, so by no start and no check, can't be read.
static void warn_of_file(const char *place, const char *key, const char *path)
{
	warn_of_relative(place, key, path);
	if (path[0] != '\0' && access(path, R_OK) != 0)
		fprintf(stderr, "warning: [%s] %s: can't read \"%s\": %s\n", place, key, path, strerror(errno));
}

static void warn_of_files(const struct config *config)
{
	const struct db_settings *database = db_settings(config);

	warn_of_file("database", "tls_ca", database->tls_ca);
	warn_of_file("database", "tls_cert", database->tls_cert);
	warn_of_file("database", "tls_key", database->tls_key);
	warn_of_file("keystone", "ca_file", keystone_settings(config)->ca_file);
	warn_of_file("jwt", "ca_file", jwt_settings(config)->ca_file);
	warn_of_file("webhooks", "ca_file", webhook_settings(config)->ca_file);
}

// Only one process can listen on a socket: with two of one path the second one does not start, or serves without it.
static void warn_of_equal_sockets(const struct config *config, const char *place, const char *key, const char *socket, size_t n_before)
{
	for (size_t i = 0; i < n_before; i++) {
		const struct endpoint_config *other = &config->endpoints[i];
		if (strcmp(server_endpoint_settings(other)->socket, socket) == 0)
			fprintf(stderr, "warning: [%s] %s: \"%s\" is the socket of [endpoint %s]: each needs one of its own\n", place, key, socket,
				other->name);
	}
}

// What `tenured` says at its start alone, on this machine.
static void warn_of_places(const struct config *config)
{
	const struct server_settings *server = server_settings(config);

	warn_of_user("tenure", "user", str_c(server->user));
	warn_of_group("tenure", "group", str_c(server->group));
	warn_of_relative("tenure", "runtime_dir", server->runtime_dir);
	warn_of_relative("host", "metrics_socket", host_settings(config)->metrics_socket);
	warn_of_equal_sockets(config, "host", "metrics_socket", host_settings(config)->metrics_socket, config->n_endpoints);
	warn_of_files(config);
	for (size_t i = 0; i < config->n_endpoints; i++) {
		const struct server_endpoint_settings *settings = server_endpoint_settings(&config->endpoints[i]);
		char place[64];

		(void)snprintf(place, sizeof(place), "endpoint %s", config->endpoints[i].name);
		warn_of_owner(place, str_c(settings->socket_owner));
		warn_of_relative(place, "socket", settings->socket);
		warn_of_equal_sockets(config, place, "socket", settings->socket, i);
		if (strcmp(settings->access_log, "stderr") != 0)
			warn_of_relative(place, "access_log", settings->access_log);
	}
}

void settings_warn(const struct config *config)
{
	warn_of_places(config);
	for (size_t i = 0; i < config->n_endpoints; i++) {
		const struct endpoint_config *endpoint = &config->endpoints[i];

		if (api_endpoint_settings(endpoint)->public_url[0] == '\0')
			fprintf(stderr, "warning: [endpoint %s] public_url is empty: links in answers, Location among them, begin with "
				"whatever Host a client names; set it to the address under which users reach this endpoint, such as "
				"https://tenure.example.org\n", endpoint->name);
		if (has_no_room(server_endpoint_settings(endpoint)->access_log))
			fprintf(stderr, "warning: [endpoint %s] the file system of access_log %s is full: lines are lost until there is room\n",
				endpoint->name, server_endpoint_settings(endpoint)->access_log);
		if ((server_endpoint_settings(endpoint)->socket_mode & 0002) != 0)
			fprintf(stderr, "warning: [endpoint %s] socket_mode %#o lets every user of this machine write to the socket: let that "
				"be the web server's group alone, 0660\n", endpoint->name, server_endpoint_settings(endpoint)->socket_mode);
	}
}

void settings_check_auth(const struct config *config)
{
	for (size_t i = 0; i < config->n_endpoints; i++) {
		char *error = NULL;
		struct auth *auth = auth_new(&(struct auth_setup){ .config = config, .endpoint = &config->endpoints[i] }, &error);

		if (auth == NULL)
			fprintf(stderr, "warning: tenured does not start: %s\n", error != NULL ? error : "no memory");
		free(error);
		auth_free(&auth);
	}
}

static bool check_policy(const struct config *config)
{
	struct placement_policy *policy;
	char *error = NULL;
	bool good = placement_policy_new(config, &policy, &error);

	if (!good)
		(void)manage_fail(EX_CONFIG, "%s", error);
	free(error);
	placement_policy_free(&policy);
	return good;
}

int command_config_check(struct manage *manage)
{
	int code = EX_OK;
	if (manage->config->n_endpoints == 0)
		code = manage_fail(EX_CONFIG, "%s: there is no [endpoint NAME] section", manage->config_path);
	for (size_t i = 0; i < manage->config->n_endpoints; i++) {
		int one = check_endpoint(manage, &manage->config->endpoints[i]);
		if (one != EX_OK)
			code = one;
	}
	if (!check_policy(manage->config))
		code = EX_CONFIG;
	settings_warn(manage->config);
	if (code == EX_OK)
		printf("%s: correct; `tenured -c %s -e ENDPOINT -t` checks handlers as well\n", manage->config_path,
			manage->config_path);
	return code;
}

int command_config_show(struct manage *manage)
{
	config_print(manage->config, stdout);
	return EX_OK;
}
