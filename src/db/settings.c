// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/config/config.h"
#include "base/config/setting.h"
#include "base/pool.h"
#include "db/settings.h"

// tls = verify needs tls_ca. Without it Connector/C 3.4 and later accept a self-signed certificate, from a server on
// loopback and from a server that knows the hash of the password.
static const char *check_tls(const void *values, struct pool *pool)
{
	const struct db_settings *settings = values;

	UNUSED(pool);
	if (strcmp(settings->tls, "verify") != 0 || settings->tls_ca[0] != '\0')
		return NULL;
	return "[database] tls: got \"verify\" and no tls_ca; expected tls_ca as well: the PEM file of the authority that signed "
		"the server's certificate, or of the public ones, /etc/ssl/certs/ca-certificates.crt on Debian";
}

#define DATABASE(key, type, member, ...) SETTING_ROW("database", key, type, db_settings, member, __VA_ARGS__)
#define TENURE(key, type, member, ...) SETTING_ROW("tenure", key, type, db_settings, member, __VA_ARGS__)

static const struct setting db_rows[] = {
	DATABASE("host", TEXT, host, "localhost", 0, SETTING_TEXT_MAX, NULL,
		"Database servers, host[:port], comma-separated. Of several nodes of a cluster the writer is used. localhost or "
		"empty: the unix socket."),
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
		"The database rolls back a transaction that has written and then sent nothing for this long (a stopped "
		"process)."),
	DATABASE("retries", NUMBER, retries, "10", 0, 1000, NULL,
		"How often a transaction is retried after a deadlock, a lock timeout or a lost connection."),
	TENURE("sql_dir", TEXT, sql_dir, TENURE_DATADIR "/tenure/sql", 1, SETTING_TEXT_MAX, NULL,
		"Folder with the numbered SQL files that tenure-manage applies."),
};

const struct config_table db_settings_table = {
	.settings = db_rows, .n = COUNT_OF(db_rows), .size = sizeof(struct db_settings), .check = check_tls,
};

const struct db_settings *db_settings(const struct config *config)
{
	return config_values(config, &db_settings_table);
}
