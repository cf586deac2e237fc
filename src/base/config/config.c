// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"

// Folders that configure chose; the build defines them.
#ifndef TENURE_DATADIR
#define TENURE_DATADIR "/usr/local/share"
#endif
#ifndef TENURE_RUNSTATEDIR
#define TENURE_RUNSTATEDIR "/run"
#endif

enum {
	HOUR = 3600,
	DAY = 86400,
	KIB = 1024,
	MIB = 1048576,
	TEXT_MAX = 4096,
	SOCKET_PATH_MAX = 107, // sun_path has 108 bytes
};

#define OF_CONFIG(member) offsetof(struct config, member), sizeof(((struct config *)NULL)->member)
#define OF_ENDPOINT(member) offsetof(struct endpoint_config, member), sizeof(((struct endpoint_config *)NULL)->member)
#define DATABASE(key, type, ...) { "database", key, SETTING_##type, __VA_ARGS__ }
#define TENURE(key, type, ...) { "tenure", key, SETTING_##type, __VA_ARGS__ }
#define BAREMETAL(key, type, ...) { "baremetal", key, SETTING_##type, __VA_ARGS__ }
#define PLACEMENT(key, type, ...) { "placement", key, SETTING_##type, __VA_ARGS__ }
#define KEYSTONE(key, type, ...) { "keystone", key, SETTING_##type, __VA_ARGS__ }
#define ENDPOINT(key, type, ...) { "endpoint", key, SETTING_##type, __VA_ARGS__ }

// The choices of the setting auth, each after a comma: ",token,remote-user,…".
static const char authenticator_names[] =
#define AUTHENTICATOR(symbol, name) "," name
#include "base/config/authenticators.def"
#undef AUTHENTICATOR
	;

// Columns: section, key, type, member, default, least, most, choices, help.
const struct setting config_settings[] = {
	DATABASE("host", TEXT, OF_CONFIG(db_host), "localhost", 0, TEXT_MAX, NULL,
		"Database servers, host[:port], comma-separated. Each process tries them in a random order. localhost or "
		"empty: the unix socket."),
	DATABASE("socket", TEXT, OF_CONFIG(db_socket), "", 0, SOCKET_PATH_MAX, NULL,
		"Path of the server's unix socket. Empty: the client library's default."),
	DATABASE("port", NUMBER, OF_CONFIG(db_port), "3306", 1, 65535, NULL,
		"TCP port for hosts that name none."),
	DATABASE("name", TEXT, OF_CONFIG(db_name), "tenure", 1, 64, NULL,
		"Name of the database (schema)."),
	DATABASE("user", TEXT, OF_CONFIG(db_user), "tenure", 0, 128, NULL,
		"The application's database user; needs SELECT, INSERT, UPDATE and DELETE."),
	DATABASE("password", SECRET, OF_CONFIG(db_password), "", 0, TEXT_MAX, NULL,
		"That user's password; @FILE reads it from a file. Empty with unix_socket authentication."),
	DATABASE("admin_user", TEXT, OF_CONFIG(db_admin_user), "", 0, 128, NULL,
		"The database user with which tenure-manage creates and alters tables. Empty: the same as user."),
	DATABASE("admin_password", SECRET, OF_CONFIG(db_admin_password), "", 0, TEXT_MAX, NULL,
		"The password of admin_user."),
	DATABASE("tls", CHOICE, OF_CONFIG(db_tls), "off", 0, 0, "off,on,verify",
		"off: no TLS. on: encrypt. verify: encrypt, and check the server's certificate and name."),
	DATABASE("tls_ca", TEXT, OF_CONFIG(db_tls_ca), "", 0, TEXT_MAX, NULL,
		"PEM file with the certificate authorities to trust."),
	DATABASE("tls_cert", TEXT, OF_CONFIG(db_tls_cert), "", 0, TEXT_MAX, NULL,
		"PEM file with the client certificate."),
	DATABASE("tls_key", TEXT, OF_CONFIG(db_tls_key), "", 0, TEXT_MAX, NULL,
		"PEM file with the client certificate's key."),
	DATABASE("connect_timeout", SECONDS, OF_CONFIG(db_connect_timeout), "5", 1, HOUR, NULL,
		"Longest time to connect to one host."),
	DATABASE("read_timeout", SECONDS, OF_CONFIG(db_read_timeout), "60", 1, DAY, NULL,
		"Longest time to wait for a statement; then the connection is closed."),
	DATABASE("lock_wait", SECONDS, OF_CONFIG(db_lock_wait), "5", 1, HOUR, NULL,
		"Longest time a statement waits for a lock; then its transaction is retried."),
	DATABASE("idle_write_timeout", SECONDS, OF_CONFIG(db_idle_write), "10", 1, HOUR, NULL,
		"The database rolls back a transaction that has written and then sent nothing for this long (a stopped "
		"process)."),
	DATABASE("retries", NUMBER, OF_CONFIG(db_retries), "10", 0, 1000, NULL,
		"How often a transaction is retried after a deadlock, a lock timeout or a lost connection."),

	TENURE("wadl_dir", TEXT, OF_CONFIG(wadl_dir), TENURE_DATADIR "/tenure/wadl", 1, TEXT_MAX, NULL,
		"Folder with the WADL files."),
	TENURE("sql_dir", TEXT, OF_CONFIG(sql_dir), TENURE_DATADIR "/tenure/sql", 1, TEXT_MAX, NULL,
		"Folder with the numbered SQL files that tenure-manage applies."),
	TENURE("runtime_dir", TEXT, OF_CONFIG(runtime_dir), TENURE_RUNSTATEDIR "/tenure", 1, TEXT_MAX, NULL,
		"Folder of the file in which all workers of this host count requests and watches for the limits below."),
	TENURE("log", CHOICE, OF_CONFIG(log), "stderr", 0, 0, "stderr,syslog",
		"Where log lines go."),
	TENURE("log_level", CHOICE, OF_CONFIG(log_level), "info", 0, 0, "error,warning,info,debug",
		"The least severe lines that are logged."),
	TENURE("user", TEXT, OF_CONFIG(user), "", 0, 128, NULL,
		"The user that a master started by root switches to. Empty: it stays root."),
	TENURE("group", TEXT, OF_CONFIG(group), "", 0, 128, NULL,
		"The group that it switches to. Empty: the user's primary group."),
	TENURE("default_tier", TEXT, OF_CONFIG(default_tier), "standard", 1, 255, NULL,
		"The tier of a tenant created without one."),
	TENURE("default_tenant", TEXT, OF_CONFIG(default_tenant), "", 0, 255, NULL,
		"The tenant of users whose credential names none. Empty: such users have no tenant."),
	TENURE("max_body", SIZE, OF_CONFIG(max_body), "3M", KIB, 1024 * MIB, NULL,
		"The largest request body."),
	TENURE("max_depth", NUMBER, OF_CONFIG(max_depth), "64", 4, 256, NULL,
		"How deep objects, arrays and elements may be nested."),
	TENURE("max_target", SIZE, OF_CONFIG(max_target), "32K", KIB, MIB, NULL,
		"The longest path and query together."),
	TENURE("max_headers", SIZE, OF_CONFIG(max_headers), "64K", KIB, 16 * MIB, NULL,
		"The largest size of all request header fields together."),
	TENURE("request_memory", SIZE, OF_CONFIG(request_memory), "42M", 16 * MIB, 65536ULL * MIB, NULL,
		"Memory that one request may allocate in a worker, in addition to four times its body's size."),
	TENURE("request_cpu", NUMBER, OF_CONFIG(request_cpu), "2000", 0, HOUR * 1000, NULL,
		"Milliseconds of CPU time that one request may use in a worker. 0: no limit."),
	TENURE("retention", SECONDS, OF_CONFIG(retention), "30d", 0, 36500ULL * DAY, NULL,
		"How long deleted tenants and resources stay recoverable."),
	TENURE("change_retention", SECONDS, OF_CONFIG(change_retention), "365d", 0, 36500ULL * DAY, NULL,
		"How long rows of the change log are kept. 0: forever."),
	TENURE("move_list_max", NUMBER, OF_CONFIG(move_list_max), "100", 0, 100000, NULL,
		"A move action lists up to this many resources one by one; if there are more, it gives their number and one "
		"tag."),
	TENURE("move_sync_max", NUMBER, OF_CONFIG(move_sync_max), "50000", 0, 100000000, NULL,
		"A move of more resources than this runs in the background."),
	TENURE("delete_sync_max", NUMBER, OF_CONFIG(delete_sync_max), "2000", 0, 100000, NULL,
		"A namespace with more resources than this is deleted in the background, in pieces of as many."),
	TENURE("etag_required", CHOICE, OF_CONFIG(etag_required), "no", 0, 0, "no,yes",
		"yes: every change of an existing tenant or resource needs If-Match. no: only in tenants that require it."),
	TENURE("token_cache", NUMBER, OF_CONFIG(token_cache), "1000", 0, HOUR * 1000, NULL,
		"Milliseconds for which a validated token is cached. 0: the database is asked for every request."),
	TENURE("resource_cache", SIZE, OF_CONFIG(resource_cache), "2M", 0, 1024 * MIB, NULL,
		"Size of each worker's resource cache; every entry is checked against the database before use. 0: no cache."),
	TENURE("tenant_requests", NUMBER, OF_CONFIG(tenant_requests), "0", 0, 100000, NULL,
		"Requests that one tenant may have in progress at an endpoint. 0: as many as the endpoint's workers setting."),
	TENURE("user_requests", NUMBER, OF_CONFIG(user_requests), "0", 0, 100000, NULL,
		"Requests that one user may have in progress at an endpoint. 0: as many as the tenant may."),
	TENURE("wrong_tokens", NUMBER, OF_CONFIG(wrong_tokens), "300", 0, 1000000, NULL,
		"Wrong tokens that one address may send within a minute before it gets 429. 0: no limit."),
	TENURE("watches_per_token", NUMBER, OF_CONFIG(watches_per_token), "100", 0, 100000, NULL,
		"Watches that may be open with one token at an endpoint. 0: no limit."),
	TENURE("watches_per_tenant", NUMBER, OF_CONFIG(watches_per_tenant), "200", 0, 100000, NULL,
		"Watches that one tenant may have open at an endpoint. 0: no limit."),
	TENURE("worker_deadline", SECONDS, OF_CONFIG(worker_deadline), "180", 0, DAY, NULL,
		"A worker that has been busy with one request for this long is killed and replaced. 0: never."),
	TENURE("unsent", SIZE, OF_CONFIG(unsent), "256M", MIB, 64 * 1024ULL * MIB, NULL,
		"Memory for answers that slow clients have not read yet, for each endpoint; beyond it, the tenant with the "
		"most unread bytes loses a connection."),
	TENURE("baremetal_drivers", NAMES, OF_CONFIG(baremetal_drivers), "fake-hardware,ipmi,redfish", 1, TEXT_MAX, NULL,
		"Drivers that bare-metal nodes may name, comma-separated."),

	BAREMETAL("create_owners", CHOICE, OF_CONFIG(create_owners), "yes", 0, 0, "no,yes",
		"yes: if an operator names an unknown owner of a node, that tenant is created, with a warning. no: the request "
		"is refused."),

	PLACEMENT("policy", TEXT, OF_CONFIG(placement_policy), "", 0, TEXT_MAX, NULL,
	          "Who may do what in the placement dialect. Empty: operators; users may read traits and their own project's usages. legacy, "
	          "secure: Placement's rules. Otherwise the path of a file of rules in oslo.policy's YAML form, on top of legacy."),
	PLACEMENT("cors_allowed_origin", TEXT, OF_CONFIG(cors_origins), "", 0, TEXT_MAX, NULL,
	          "Origins of web pages that may use the placement dialect, comma-separated: https://console.example.org. *: all. Empty: "
	          "none."),
	PLACEMENT("randomize_allocation_candidates", CHOICE, OF_CONFIG(randomize_candidates), "no", 0, 0, "no,yes",
	          "no: equal requests get equal allocation candidates while nothing changes. yes: a random sample each time."),
	PLACEMENT("max_allocation_candidates", NUMBER, OF_CONFIG(max_candidates), "0", 0, 1000000, NULL,
	          "Allocation candidates that one answer has at most, also where the request gives no limit. 0: no maximum."),

	KEYSTONE("auth_url", URLS, OF_CONFIG(keystone_auth_url), "", 0, TEXT_MAX, NULL,
		"Address of OpenStack's Identity service (Keystone), with or without /v3. Required with auth = keystone."),
	KEYSTONE("www_authenticate_uri", URLS, OF_CONFIG(keystone_challenge), "", 0, TEXT_MAX, NULL,
		"Address of the Identity service that clients are told with 401. Empty: auth_url."),
	KEYSTONE("username", TEXT, OF_CONFIG(keystone_username), "", 0, 255, NULL,
		"The service user, who may validate tokens: role service or admin on its project."),
	KEYSTONE("user_domain_name", TEXT, OF_CONFIG(keystone_user_domain), "Default", 1, 255, NULL,
		"Name of that user's domain."),
	KEYSTONE("password", SECRET, OF_CONFIG(keystone_password), "", 0, TEXT_MAX, NULL,
		"That user's password; @FILE reads it from a file."),
	KEYSTONE("project_name", TEXT, OF_CONFIG(keystone_project), "service", 0, 255, NULL,
		"Name of the project that the service user logs in to."),
	KEYSTONE("project_domain_name", TEXT, OF_CONFIG(keystone_project_domain), "Default", 1, 255, NULL,
		"Name of that project's domain."),
	KEYSTONE("application_credential_id", TEXT, OF_CONFIG(keystone_credential_id), "", 0, 255, NULL,
		"Id of an application credential of the service user, in place of username and password."),
	KEYSTONE("application_credential_secret", SECRET, OF_CONFIG(keystone_credential_secret), "", 0, TEXT_MAX, NULL,
		"That credential's secret; @FILE reads it from a file."),
	KEYSTONE("ca_file", TEXT, OF_CONFIG(keystone_ca_file), "", 0, TEXT_MAX, NULL,
		"PEM file with the certificate authorities to trust for an https auth_url. Empty: those of the system."),
	KEYSTONE("timeout", SECONDS, OF_CONFIG(keystone_timeout), "5", 1, 60, NULL,
		"Longest time that a request waits for Keystone."),
	KEYSTONE("token_cache_time", SECONDS, OF_CONFIG(keystone_cache), "30", 0, HOUR, NULL,
		"How long a validated token is cached for all workers of the host; a revoked token, or a role taken away, counts for "
		"so long. 0: Keystone is asked for every request."),
	KEYSTONE("invalid_cache_time", SECONDS, OF_CONFIG(keystone_bad_cache), "5", 0, HOUR, NULL,
		"How long it is cached that a token is invalid."),
	KEYSTONE("max_waiting", NUMBER, OF_CONFIG(keystone_waiting), "0", 0, 1024, NULL,
		"Workers of an endpoint that may wait for Keystone at a time; further requests wait a fifth of timeout for a place, then get "
		"503. 0: all but one."),
	KEYSTONE("roles", TEXT, OF_CONFIG(keystone_roles), "reader:reader,member:member,manager:member,admin:admin", 0, TEXT_MAX, NULL,
		"Which role of Keystone gives which role in the project's tenant: NAME:reader, NAME:member or NAME:admin, "
		"comma-separated. The highest counts."),
	KEYSTONE("service_token_roles", TEXT, OF_CONFIG(keystone_service_roles), "service", 0, TEXT_MAX, NULL,
		"Roles, comma-separated, one of which X-Service-Token must have so that the user's own token may have expired."),
	KEYSTONE("operator_roles", TEXT, OF_CONFIG(keystone_operator_roles), "admin,service", 0, TEXT_MAX, NULL,
		"Roles, comma-separated, that count as operator in the dialects of operator_dialects, on whichever project."),
	KEYSTONE("operator_dialects", LIST, OF_CONFIG(keystone_operator_dialects), "placement,baremetal", 0, 0,
		"none,placement,baremetal,tenancy,spaces",
		"Dialects in which operator_roles count as operator, comma-separated. With tenancy or spaces here, the admin of any "
		"project reads and changes what is every tenant's."),
	KEYSTONE("operator_projects", TEXT, OF_CONFIG(keystone_operator_projects), "", 0, TEXT_MAX, NULL,
		"Ids of projects, comma-separated, whose admins are operators in all dialects."),
	KEYSTONE("system_admin_is_operator", CHOICE, OF_CONFIG(keystone_system_operator), "yes", 0, 0, "no,yes",
		"yes: the role admin on the system is the operator in all dialects."),
	KEYSTONE("create_tenants", CHOICE, OF_CONFIG(keystone_create_tenants), "no", 0, 0, "no,yes",
		"yes: the tenant of a project is created when a token of the project is used first; its name is the project's id."),

	ENDPOINT("socket", TEXT, OF_ENDPOINT(socket), TENURE_RUNSTATEDIR "/tenure/NAME.sock", 1, SOCKET_PATH_MAX, NULL,
		"Path of the unix socket on which the master listens."),
	ENDPOINT("socket_mode", OCTAL, OF_ENDPOINT(socket_mode), "0660", 0, 0777, NULL,
		"Permissions of the socket."),
	ENDPOINT("socket_owner", TEXT, OF_ENDPOINT(socket_owner), "", 0, 128, NULL,
		"user:group that owns the socket. Empty: unchanged."),
	ENDPOINT("backlog", NUMBER, OF_ENDPOINT(backlog), "1024", 1, 65535, NULL,
		"Connections that may wait while all workers are busy; further ones are refused, and the web server reports an "
		"error."),
	ENDPOINT("workers", NUMBER, OF_ENDPOINT(workers), "4", 1, 1024, NULL,
		"Number of worker processes."),
	ENDPOINT("reserve", NUMBER, OF_ENDPOINT(reserve), "1", 0, 1024, NULL,
		"Additional workers that no single tenant or user can keep busy. 0: one tenant may keep all workers busy."),
	ENDPOINT("watches", NUMBER, OF_ENDPOINT(watches), "1000", 0, 30000, NULL,
		"Watches that may be open at once; the last tenth is reserved for operators. 0: no limit."),
	ENDPOINT("wadl", TEXT, OF_ENDPOINT(wadl), "NAME.wadl", 1, TEXT_MAX, NULL,
		"WADL file that lists the methods of this endpoint: a name in wadl_dir or an absolute path. Files that it "
		"refers to are looked up in its own folder, then in wadl_dir."),
	ENDPOINT("auth", LIST, OF_ENDPOINT(auth), "token", 0, 0, authenticator_names + 1,
		"Authenticators, comma-separated, tried in this order. noauth is for development only."),
	ENDPOINT("remote_user_secret", SECRET, OF_ENDPOINT(remote_user_secret), "", 0, TEXT_MAX, NULL,
		"Shared secret that the web server sends as TENURE_REMOTE_USER_SECRET where it has authenticated the user, and "
		"nowhere else. Required with auth = remote-user."),
	ENDPOINT("remote_user_role", CHOICE, OF_ENDPOINT(remote_user_role), "member", 0, 0,
	         "reader,member,admin,operator", "Role of users authenticated by the web server."),
	ENDPOINT("remote_user_tenant", CHOICE, OF_ENDPOINT(remote_user_tenant), "user", 0, 0, "user,domain",
		"Tenant of users authenticated by the web server. user: has the user's name. domain: the part of the name "
		"after the last @."),
	ENDPOINT("access_log", TEXT, OF_ENDPOINT(access_log), "", 0, TEXT_MAX, NULL,
		"Path of the access log, or stderr; reopened on SIGHUP and SIGUSR1. Empty: no access log."),
	ENDPOINT("public_url", URLS, OF_ENDPOINT(public_url), "", 0, TEXT_MAX, NULL,
		"scheme://host[:port][/prefix] for Location and next links, comma-separated: the one by which the request "
		"came, else the first. Empty: the request's Host."),
};
const size_t config_n_settings = COUNT_OF(config_settings);

const struct setting *setting_find(struct str section, struct str key)
{
	for (size_t i = 0; i < config_n_settings; i++) {
		if (str_eq_c(section, config_settings[i].section) && str_eq_c(key, config_settings[i].key))
			return &config_settings[i];
	}
	return NULL;
}

const struct endpoint_config *config_endpoint(const struct config *config, const char *name)
{
	for (size_t i = 0; i < config->n_endpoints; i++) {
		if (strcmp(config->endpoints[i].name, name) == 0)
			return &config->endpoints[i];
	}
	return NULL;
}

static void print_setting(const struct setting *setting, const void *base, FILE *out)
{
	fprintf(out, "# %s Default: %s\n%s =", setting->help, setting->standard[0] != '\0' ? setting->standard : "none",
	        setting->key);
	setting_print(setting, base, out);
	fputc('\n', out);
}

static void print_section(const char *section, const void *base, FILE *out)
{
	for (size_t i = 0; i < config_n_settings; i++) {
		if (strcmp(config_settings[i].section, section) == 0)
			print_setting(&config_settings[i], base, out);
	}
}

void config_print(const struct config *config, FILE *out)
{
	fputs("[database]\n", out);
	print_section("database", config, out);
	fputs("\n[tenure]\n", out);
	print_section("tenure", config, out);
	fputs("\n[baremetal]\n", out);
	print_section("baremetal", config, out);
	fputs("\n[placement]\n", out);
	print_section("placement", config, out);
	fputs("\n[keystone]\n", out);
	print_section("keystone", config, out);
	for (size_t i = 0; i < config->n_endpoints; i++) {
		fprintf(out, "\n[endpoint %s]\n", config->endpoints[i].name);
		print_section("endpoint", &config->endpoints[i], out);
	}
}
