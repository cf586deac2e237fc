// SPDX-License-Identifier: Apache-2.0
// The configuration. config_settings in config.c is the only list of keys: name, type, default, and the text for the manual page.
// The configuration file (tenure.conf(5)) is INI: "[section]" or "[endpoint NAME]", then lines "key = value". A line that begins
// with "#" or ";" is a comment. "include = PATTERN" before the first section reads more files; PATTERN is a glob, relative to the
// file's folder. The environment can set every key, too, and overrides the file: TENURE_SECTION_KEY, or TENURE_ENDPOINT_NAME_KEY
// for an endpoint. A value "@FILE" is read from that file, less a newline at its end; use it for secrets.
#ifndef TENURE_BASE_CONFIG_CONFIG_H
#define TENURE_BASE_CONFIG_CONFIG_H

#include "base/str.h"

enum { CONFIG_MAX_ENDPOINTS = 16 };

// Section [endpoint NAME].
struct endpoint_config {
	const char *name;
	const char *socket;       // path of the unix socket that the master opens
	unsigned socket_mode;     // octal, default 0660
	const char *socket_owner; // "user:group", "" to leave as created
	unsigned backlog;         // default 1024
	unsigned workers;         // default 4
	unsigned reserve;         // further workers, which no single tenant can keep busy; default 1
	unsigned watches;         // most watches at the same time, default 1000; 0: no limit
	const char *wadl;         // file in wadl_dir or absolute path, default NAME.wadl
	const char *auth;         // names of base/config/authenticators.def, comma-separated, tried in this order
	const char *remote_user_secret; // secret by which the web server vouches for REMOTE_USER; required with remote-user
	const char *remote_user_role;   // reader | member | admin | operator
	const char *remote_user_tenant; // user (the tenant has the user's name) | domain (the part of the user's name after the last @)
	const char *access_log;   // path, "stderr", or "" for none
	const char *public_url;   // scheme://host[:port][/prefix], comma-separated, for links; "": taken from the request
};

struct config {
	// Section [database].
	const char *db_host;      // host[:port], comma-separated; each process tries them in an order of its own; "" and
	                          // localhost: the unix socket
	const char *db_socket;
	unsigned db_port;
	const char *db_name;
	const char *db_user;
	const char *db_password;
	const char *db_admin_user;     // for tenure-manage; "" means db_user
	const char *db_admin_password;
	const char *db_tls;       // off | on (encrypt) | verify (encrypt, check chain and name)
	const char *db_tls_ca;
	const char *db_tls_cert;
	const char *db_tls_key;
	unsigned db_connect_timeout;  // seconds, default 5
	unsigned db_read_timeout;     // seconds, default 60: longest wait for a statement
	unsigned db_lock_wait;        // longest wait for a row lock, seconds, default 5
	unsigned db_idle_write;       // seconds after which the database ends an idle transaction that has written, default 10
	unsigned db_retries;          // how often a transaction is run again, default 10
	// Section [tenure], unless another one is named.
	const char *wadl_dir;     // default DATADIR/tenure/wadl
	const char *sql_dir;      // default DATADIR/tenure/sql
	const char *runtime_dir;  // where processes of the host share a file (base/shared.h), default RUNSTATEDIR/tenure
	const char *log;          // stderr | syslog
	const char *log_level;    // error | warning | info | debug
	const char *user;         // user that the master becomes if root started it; "": it stays root
	const char *group;
	const char *default_tier; // default standard
	const char *default_tenant; // tenant of users whose credential names none; "": they have no tenant
	uint64_t max_body;        // bytes, default 3145728
	uint64_t resource_cache;  // bytes of the cache of each worker; 0: no cache
	unsigned max_depth;       // levels of nesting in a document, default 64
	unsigned max_target;      // bytes of path and query together, default 32768
	uint64_t request_memory;  // bytes of a worker's memory for one request, beside four times its body; default 42 MiB
	unsigned request_cpu;     // milliseconds of CPU time for one request, default 2000; 0: no limit
	unsigned max_headers;     // bytes of all headers together, default 65536
	uint64_t retention;       // seconds between deletion and purge, default 2592000 (30 days)
	uint64_t change_retention;  // seconds the change log is kept, default 31536000; 0: for ever
	unsigned move_list_max;   // a move action lists up to this many resources one by one, default 100
	unsigned move_sync_max;   // larger moves are carried out in the background, default 50000
	unsigned delete_sync_max; // larger namespaces are deleted in the background, in pieces of as many resources, default 2000
	const char *etag_required; // no | yes: changes of what exists need If-Match
	unsigned token_cache;     // milliseconds for which a validated token is cached, default 1000; 0: no cache
	// Limits of one client (server/request/limits.h); 0: only the limit that follows from reserve.
	unsigned tenant_requests; // requests in progress of one tenant at one endpoint
	unsigned user_requests;   // requests in progress of one user at one endpoint
	unsigned wrong_tokens;    // from one address within a minute, default 300
	unsigned watches_per_token;  // default 100
	unsigned watches_per_tenant; // default 200
	unsigned worker_deadline; // seconds that a request may take before its worker is killed, default 180; 0: for ever
	uint64_t unsent;          // bytes of answers that slow clients have not taken, of each endpoint; default 256 MiB
	const char *placement_policy;     // [placement] "": by Tenure's own roles; legacy, secure, or a file of rules
	const char *cors_origins;         // [placement] origins of web pages that may ask, with commas; "*": all; "": none
	const char *randomize_candidates; // [placement] yes | no: a random sample of the allocation candidates, or always the same
	unsigned max_candidates;          // [placement] candidates in one answer; 0: no limit
	const char *create_owners; // [baremetal] yes | no: may an operator name an unknown owner of a node, which creates that tenant?
	const char *baremetal_drivers; // comma-separated, default fake-hardware,ipmi,redfish
	// [keystone]: of the authenticator of that name (auth/keystone.c); "" where nothing is said
	const char *keystone_auth_url;
	const char *keystone_challenge;    // www_authenticate_uri
	const char *keystone_username;
	const char *keystone_user_domain;  // names of domains and projects, not ids
	const char *keystone_password;
	const char *keystone_project;
	const char *keystone_project_domain;
	const char *keystone_credential_id;
	const char *keystone_credential_secret;
	const char *keystone_ca_file;
	unsigned keystone_timeout;         // seconds, default 5
	unsigned keystone_cache;           // seconds for which a valid token is believed, default 30
	unsigned keystone_bad_cache;       // seconds for which a refused token is, default 5
	unsigned keystone_waiting;         // workers of an endpoint that wait at a time; 0: all but one
	const char *keystone_roles;        // "NAME:ROLE", with commas
	const char *keystone_service_roles;     // of X-Service-Token
	const char *keystone_operator_roles;    // roles that count as operator …
	const char *keystone_operator_dialects; // … in these dialects, whatever the project
	const char *keystone_operator_projects; // ids of projects whose admins are operators everywhere
	const char *keystone_system_operator;   // yes | no: admins of the system scope are operators everywhere
	const char *keystone_create_tenants;    // yes | no
	struct endpoint_config endpoints[CONFIG_MAX_ENDPOINTS];
	size_t n_endpoints;
};

// Reads the file `path`, the files it includes, and the environment into a new struct, which lives until config_free(). NULL on
// failure: *error, from malloc, says file, line, what is wrong and what would be right. An unknown key or section is an error,
// too.
struct config *config_load(const char *path, char **error);
void config_free(struct config **config);
// NULL when there is no such endpoint.
const struct endpoint_config *config_endpoint(const struct config *config, const char *name);
// Writes every key with its value, default and explanation (for `tenure-manage config show` and the manual page).
// Passwords show as "********".
void config_print(const struct config *config, FILE *out);

#endif
