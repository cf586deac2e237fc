// SPDX-License-Identifier: Apache-2.0
// The settings of the database connection.
#ifndef TENURE_DB_SETTINGS_H
#define TENURE_DB_SETTINGS_H

struct config;
struct config_table;

struct db_settings {
	const char *host;         // host[:port], comma-separated: nodes of a cluster, of which the writer is used; "" and localhost: the unix socket
	const char *read_from;    // one of them, for what only reads; "": the writer
	unsigned read_wait;       // seconds: longest wait for read_from to catch up
	const char *socket;       // path; "": the client library's default
	unsigned port;            // of hosts that name none
	const char *name;         // of the database
	const char *user;
	const char *password;
	const char *admin_user;   // for tenure-manage; "": the same as user
	const char *admin_password;
	const char *replication_user; // with which a replica connects to its primary; "": `tenure-manage cluster switch` makes no server a replica
	const char *replication_password;
	const char *tls;          // off | on (encrypt) | verify (encrypt, check chain and name)
	const char *tls_ca;       // PEM files; "": none
	const char *tls_cert;
	const char *tls_key;
	unsigned connect_timeout; // seconds, for one host
	unsigned read_timeout;    // seconds: longest wait for a statement
	unsigned lock_wait;       // seconds: longest wait of a statement for a lock of a row or a table, or the global read lock
	unsigned idle_write;      // seconds after which the database ends an idle transaction
	unsigned retries;         // how often a transaction is run again
	const char *sql_dir;      // folder of the schema's files
};
extern const struct config_table db_settings_table;
const struct db_settings *db_settings(const struct config *config);

#endif
