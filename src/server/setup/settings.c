// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/pool.h"
#include "server/setup/settings.h"

// The setting `group` needs `user`: only root can change its group, and without `user` the process would stay root.
static const char *check_group(const void *values, struct pool *pool)
{
	const struct server_settings *settings = values;

	if (settings->group[0] == '\0' || settings->user[0] != '\0')
		return NULL;
	return str_printf(pool, "[tenure] group: got \"%.80s\" and no user; expected user as well", settings->group).p;
}

#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, server_settings, member, __VA_ARGS__)

static const struct setting server_rows[] = {
	TENURE("runtime_dir", TEXT, runtime_dir, TENURE_RUNSTATEDIR "/tenure", 1, SETTING_TEXT_MAX, NULL,
		"Folder of the file in which all workers of this host count requests and watches for the limits below."),
	TENURE("log", CHOICE, log, "stderr", 0, 0, "stderr,syslog",
		"Where log lines go."),
	TENURE("log_level", CHOICE, log_level, "info", 0, 0, "error,warning,info,debug",
		"The least severe lines that are logged."),
	TENURE("user", TEXT, user, "", 0, 128, NULL,
		"The user that a master started by root switches to. Empty: it stays root."),
	TENURE("group", TEXT, group, "", 0, 128, NULL,
		"The group that it switches to. Empty: the user's primary group."),
	TENURE("max_headers", SIZE, max_headers, "64K", SETTING_KIB, 16 * SETTING_MIB, NULL,
		"The largest size of all request header fields together."),
	TENURE("request_cpu", NUMBER, request_cpu, "2000", 0, SETTING_HOUR * 1000, NULL,
		"Milliseconds of CPU time that one request may use in a worker. 0: no limit."),
	TENURE("tenant_requests", NUMBER, tenant_requests, "0", 0, 100000, NULL,
		"Requests that one tenant may have in progress at an endpoint. 0: as many as the endpoint's workers setting."),
	TENURE("user_requests", NUMBER, user_requests, "0", 0, 100000, NULL,
		"Requests that one user may have in progress at an endpoint. 0: as many as the tenant may."),
	TENURE("wrong_tokens", NUMBER, wrong_tokens, "300", 0, 1000000, NULL,
		"Wrong tokens that one address may send within a minute before it gets 429. 0: no limit."),
	TENURE("watches_per_token", NUMBER, watches_per_token, "100", 0, 100000, NULL,
		"Watches that may be open with one token at an endpoint. 0: no limit."),
	TENURE("watches_per_tenant", NUMBER, watches_per_tenant, "200", 0, 100000, NULL,
		"Watches that one tenant may have open at an endpoint. 0: no limit."),
	TENURE("slow_request", NUMBER, slow_request, "0", 0, SETTING_HOUR * 1000, NULL,
		"Milliseconds of worker time above which a request is logged, with its statements and their times. 0: none is."),
	TENURE("worker_deadline", SECONDS, worker_deadline, "180", 0, SETTING_DAY, NULL,
		"A worker that has been busy with one request for this long is killed and replaced. 0: never."),
	TENURE("unsent", SIZE, unsent, "256M", SETTING_MIB, 64 * 1024ULL * SETTING_MIB, NULL,
		"Memory for answers that slow clients have not read yet, for each endpoint, and as much for the initial events of watches; "
		"beyond it, the tenant with the most unread bytes loses a connection."),
};

const struct config_table server_settings_table = {
	.settings = server_rows, .n = COUNT_OF(server_rows), .size = sizeof(struct server_settings), .check = check_group,
};

const struct server_settings *server_settings(const struct config *config)
{
	return config_values(config, &server_settings_table);
}

#define HOST(key, type, member, ...) SETTING_ROW("host", key, type, host_settings, member, __VA_ARGS__)

static const struct setting host_rows[] = {
	HOST("metrics_socket", TEXT, metrics_socket, TENURE_RUNSTATEDIR "/tenure/metrics.sock", 0, SETTING_SOCKET_MAX, NULL,
		"Path of the unix socket on which the host service answers GET /metrics. Empty: none. Two registries on one host need one each."),
	HOST("metrics_socket_mode", OCTAL, metrics_socket_mode, "0660", 0, 0777, NULL,
		"Permissions of that socket."),
	HOST("token_use_interval", SECONDS, token_use_interval, "5m", 0, SETTING_DAY, NULL,
		"How often the time at which a token was used last is written into the database, at most. 0: never."),
	HOST("reap_interval", SECONDS, reap_interval, "1d", 0, 366 * SETTING_DAY, NULL,
		"How often the host service purges what is past its retention. 0: never; `tenure-manage reap` does."),
};

const struct config_table host_settings_table = {
	.settings = host_rows, .n = COUNT_OF(host_rows), .size = sizeof(struct host_settings),
};

const struct host_settings *host_settings(const struct config *config)
{
	return config_values(config, &host_settings_table);
}

#define ENDPOINT(key, type, member, ...) SETTING_ROW("endpoint", key, type, server_endpoint_settings, member, __VA_ARGS__)

static const struct setting server_endpoint_rows[] = {
	ENDPOINT("socket", TEXT, socket, TENURE_RUNSTATEDIR "/tenure/NAME.sock", 1, SETTING_SOCKET_MAX, NULL,
		"Path of the unix socket on which the master listens."),
	ENDPOINT("socket_mode", OCTAL, socket_mode, "0660", 0, 0777, NULL,
		"Permissions of the socket."),
	ENDPOINT("socket_owner", TEXT, socket_owner, "", 0, 128, NULL,
		"user:group that owns the socket. Empty: unchanged."),
	ENDPOINT("backlog", NUMBER, backlog, "1024", 1, 65535, NULL,
		"Connections that may wait while all workers are busy; further ones are refused, and the web server reports an "
		"error."),
	ENDPOINT("workers", NUMBER, workers, "4", 1, 1024, NULL,
		"Number of worker processes."),
	ENDPOINT("reserve", NUMBER, reserve, "1", 0, 1024, NULL,
		"Additional workers that no single tenant or user can keep busy. 0: one tenant may keep all workers busy."),
	ENDPOINT("watches", NUMBER, watches, "1000", 0, 30000, NULL,
		"Watches that may be open at once; the last tenth is reserved for operators. 0: no limit."),
	ENDPOINT("access_log_format", CHOICE, access_log_format, "combined", 0, 0, "combined,json",
		"Apache's combined format with more fields, or an object of JSON on each line."),
	ENDPOINT("access_log", TEXT, access_log, "", 0, SETTING_TEXT_MAX, NULL,
		"Path of the access log, or stderr; reopened on SIGHUP and SIGUSR1. Empty: no access log."),
};

const struct config_table server_endpoint_settings_table = {
	.settings = server_endpoint_rows, .n = COUNT_OF(server_endpoint_rows), .size = sizeof(struct server_endpoint_settings), .of_endpoint = true,
};

const struct server_endpoint_settings *server_endpoint_settings(const struct endpoint_config *endpoint)
{
	return config_endpoint_values(endpoint, &server_endpoint_settings_table);
}
