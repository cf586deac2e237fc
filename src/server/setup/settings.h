// SPDX-License-Identifier: Apache-2.0
// The settings of the processes: their user, log, limits; of the host service; and of an endpoint's socket and workers.
#ifndef TENURE_SERVER_SETUP_SETTINGS_H
#define TENURE_SERVER_SETUP_SETTINGS_H

struct config;
struct config_table;
struct endpoint_config;

// A limit of 0 requests is the one that follows from the endpoint's setting reserve (server/request/limits.h).
struct server_settings {
	const char *runtime_dir;  // where processes of the host share a file (base/shared.h)
	const char *log;          // stderr | syslog
	const char *log_level;    // error | warning | info | debug
	const char *user;         // user that the master becomes if root started it; "": it stays root
	const char *group;
	unsigned max_headers;     // bytes of all headers together
	unsigned request_cpu;     // milliseconds of CPU time for one request; 0: no limit
	unsigned tenant_requests; // requests in progress of one tenant at one endpoint
	unsigned user_requests;   // requests in progress of one user at one endpoint
	unsigned wrong_tokens;    // from one address within a minute; 0: no limit
	unsigned watches_per_token;  // at one endpoint, as the next; 0: no limit
	unsigned watches_per_tenant;
	unsigned slow_request;    // milliseconds of worker time above which a request is logged with its statements; 0: none is
	unsigned worker_deadline; // seconds that a request may take before its worker is killed; 0: for ever
	uint64_t unsent;          // bytes of answers that slow clients have not taken, of each endpoint
};
extern const struct config_table server_settings_table;
const struct server_settings *server_settings(const struct config *config);

// Of the host service (server/host/host.h).
struct host_settings {
	const char *metrics_socket;   // path of the unix socket that answers GET /metrics; "": none
	unsigned metrics_socket_mode; // octal
	uint64_t token_use_interval; // seconds between two writes of a token's last use; 0: it is not written
	uint64_t reap_interval;   // seconds between two purges of what is past its retention; 0: it purges nothing
};
extern const struct config_table host_settings_table;
const struct host_settings *host_settings(const struct config *config);

struct server_endpoint_settings {
	const char *socket;       // path of the unix socket that the master opens
	unsigned socket_mode;     // octal
	const char *socket_owner; // "user:group", "" to leave as created
	unsigned backlog;         // connections that wait while all workers are busy
	unsigned workers;
	unsigned reserve;         // further workers, which no single tenant can keep busy
	unsigned watches;         // most watches at the same time; 0: no limit
	const char *access_log_format; // combined | json
	const char *access_log;   // path, "stderr", or "" for none
};
extern const struct config_table server_endpoint_settings_table;
const struct server_endpoint_settings *server_endpoint_settings(const struct endpoint_config *endpoint);

#endif
