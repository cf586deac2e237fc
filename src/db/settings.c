// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/pool.h"
#include "db/db_internal.h"
#include "db/settings.h"

// tls = verify needs tls_ca. Without it Connector/C 3.4 and later accept a self-signed certificate, from a server on
// loopback and from a server that knows the hash of the password.
static const char *check_tls(const struct db_settings *settings)
{
	if (strcmp(settings->tls, "verify") != 0 || settings->tls_ca[0] != '\0')
		return NULL;
	return "[database] tls: got \"verify\" and no tls_ca; expected tls_ca as well: the PEM file of the authority that signed "
		"the server's certificate, or of the public ones, /etc/ssl/certs/ca-certificates.crt on Debian";
}

static bool are_same(const struct db_host *a, const struct db_host *b)
{
	if (a->name == NULL || b->name == NULL)
		return a->name == b->name;
	return a->port == b->port && strcasecmp(a->name, b->name) == 0;
}

// What is wrong with the item of `host` that comes behind n others; NULL: nothing, and it is hosts[n].
static const char *check_host(struct str item, struct db_host *hosts, size_t n, unsigned port, struct pool *pool)
{
	struct str text = str_trim(item);
	struct str what = STR("");

	if (n == DB_MAX_HOSTS)
		what = str_printf(pool, "more than %d servers; expected at most %d, since they are the nodes of one cluster", DB_MAX_HOSTS, DB_MAX_HOSTS);
	else if (!db_conn_parse_host(text, port, &hosts[n]))
		what = str_printf(pool, "\"%.*s\"; expected HOST or HOST:PORT, with an IPv6 address in [ and ]", STR_ARG(text));
	for (size_t i = 0; i < n && what.n == 0; i++) {
		if (are_same(&hosts[i], &hosts[n]))
			what = str_printf(pool, "\"%.*s\" twice; expected each server once", STR_ARG(text));
	}
	return what.n > 0 ? str_cstr(pool, str_printf(pool, "[database] host: got %.*s", STR_ARG(what))) : NULL;
}

static const char *check_hosts(const struct db_settings *settings, struct pool *pool)
{
	struct db_host hosts[DB_MAX_HOSTS + 1] = { { 0 } };
	struct str rest = str_c(settings->host), item;
	bool several = str_find(rest, ',', 0) < rest.n;
	const char *wrong = NULL;

	for (size_t n = 0; wrong == NULL && str_split(&rest, ',', &item); n++)
		wrong = several && str_trim(item).n == 0 ? "[database] host: got an empty name between commas; expected HOST or HOST:PORT" :
			check_host(item, hosts, n, settings->port, pool);
	for (size_t i = 0; i < COUNT_OF(hosts); i++)
		free(hosts[i].name);
	return wrong;
}

// read_from has to be an item of host.
static const char *check_read_from(const struct db_settings *settings, struct pool *pool)
{
	struct str rest = str_c(settings->host), item;
	bool found = settings->read_from[0] == '\0';

	while (!found && str_split(&rest, ',', &item))
		found = str_eq_c(str_trim(item), settings->read_from);
	return found ? NULL : str_cstr(pool, str_printf(pool, "[database] read_from: got \"%s\"; expected one of the servers that host names, as it "
		"stands there, or nothing", settings->read_from));
}

static const char *check(const void *values, struct pool *pool)
{
	const char *wrong = check_tls(values);

	if (wrong == NULL)
		wrong = check_hosts(values, pool);
	return wrong != NULL ? wrong : check_read_from(values, pool);
}

#define DATABASE(key, type, member, ...) SETTING_ROW("database", key, type, db_settings, member, __VA_ARGS__)
#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, db_settings, member, __VA_ARGS__)

static const struct setting db_rows[] = {
	DATABASE("host", TEXT, host, "localhost", 0, SETTING_TEXT_MAX, NULL,
		"Database servers, host[:port], comma-separated, at most 16. Of several nodes of a cluster the writer is used. localhost or "
		"empty: the unix socket."),
	DATABASE("read_from", TEXT, read_from, "", 0, SETTING_TEXT_MAX, NULL,
		"One of the servers of host, as it stands there: what only reads is read there, once it has all that was committed before. Empty: "
		"the writer reads."),
	DATABASE("read_wait", SECONDS, read_wait, "1", 1, SETTING_HOUR, NULL,
		"Longest time that a read waits for read_from to catch up; then the writer is asked."),
	DATABASE("socket", TEXT, socket, "", 0, SETTING_SOCKET_MAX, NULL,
		"Path of the server's unix socket. Empty: the client library's default."),
	DATABASE("port", NUMBER, port, "3306", 1, 65535, NULL,
		"TCP port for hosts that name none."),
	DATABASE("name", TEXT, name, "tenure", 1, 64, NULL,
		"Name of the database (schema)."),
	DATABASE("user", TEXT, user, "tenure", 0, 128, NULL,
		"The application's database user; needs SELECT, INSERT, UPDATE and DELETE."),
	DATABASE("password", SECRET, password, "", 0, SETTING_TEXT_MAX, NULL,
		"That user's password; @FILE reads it from a file. Empty with unix_socket authentication."),
	DATABASE("admin_user", TEXT, admin_user, "", 0, 128, NULL,
		"The database user with which tenure-manage creates and alters tables. Empty: the same as user."),
	DATABASE("admin_password", SECRET, admin_password, "", 0, SETTING_TEXT_MAX, NULL,
		"The password of admin_user."),
	DATABASE("replication_user", TEXT, replication_user, "", 0, 128, NULL,
		"Without Galera: the user with which replicas connect to the primary. tenure-manage cluster switch needs it."),
	DATABASE("replication_password", SECRET, replication_password, "", 0, 96, NULL,
		"The password of replication_user."),
	DATABASE("tls", CHOICE, tls, "off", 0, 0, "off,on,verify",
		"off: no TLS. on: encrypt. verify: encrypt, and check the server's certificate and name."),
	DATABASE("tls_ca", TEXT, tls_ca, "", 0, SETTING_TEXT_MAX, NULL,
		"PEM file with the certificate authorities to trust."),
	DATABASE("tls_cert", TEXT, tls_cert, "", 0, SETTING_TEXT_MAX, NULL,
		"PEM file with the client certificate."),
	DATABASE("tls_key", TEXT, tls_key, "", 0, SETTING_TEXT_MAX, NULL,
		"PEM file with the client certificate's key."),
	DATABASE("connect_timeout", SECONDS, connect_timeout, "5", 1, SETTING_HOUR, NULL,
		"Longest time to connect to one host."),
	DATABASE("read_timeout", SECONDS, read_timeout, "60", 1, SETTING_DAY, NULL,
		"Longest time to wait for a statement; then the connection is closed."),
	DATABASE("lock_wait", SECONDS, lock_wait, "5", 1, SETTING_HOUR, NULL,
		"Longest time a statement waits for a lock; then its transaction is retried."),
	DATABASE("idle_write_timeout", SECONDS, idle_write, "10", 1, SETTING_HOUR, NULL,
		"The database rolls back a transaction that has locked or written and then sent nothing for this long (a "
		"stopped process)."),
	DATABASE("retries", NUMBER, retries, "10", 0, 1000, NULL,
		"How often a transaction is retried after a deadlock, a lock timeout or a lost connection."),
	TENURE("sql_dir", TEXT, sql_dir, TENURE_DATADIR "/tenure/sql", 1, SETTING_TEXT_MAX, NULL,
		"Folder with the numbered SQL files that tenure-manage applies."),
};

const struct config_table db_settings_table = {
	.settings = db_rows, .n = COUNT_OF(db_rows), .size = sizeof(struct db_settings), .check = check,
};

const struct db_settings *db_settings(const struct config *config)
{
	return config_values(config, &db_settings_table);
}
