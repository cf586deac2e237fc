// SPDX-License-Identifier: Apache-2.0
// The connection: chooses the host, sets the options and the session, drops a lost connection and makes a new one.
#include "base/base.h"

#include <errmsg.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "db/settings.h"
#include "base/digest.h"
#include "base/log.h"
#include "db/db_internal.h"
#include "sql/session.h"

enum { FIRST_PAUSE_US = 10000, LAST_PAUSE_US = 500000, CLUSTER_PAUSE_US = 80000, HANG_FIRST_S = 1, HANG_S = 2 };
// Of connections over TCP: an idle one is probed after KEEP_IDLE_S and every KEEP_PROBE_S, and lost after KEEP_PROBES without an
// answer; bytes that the server's system does not acknowledge lose it after UNSENT_S.
enum { KEEP_IDLE_S = 30, KEEP_PROBE_S = 10, KEEP_PROBES = 3, UNSENT_S = 30 };

// ---- hosts

bool db_conn_parse_host(struct str text, unsigned default_port, struct db_host *host)
{
	struct str name = text, port = STR_NONE;
	uint64_t number = default_port;

	if (str_starts(text, STR("["))) {
		size_t end = str_find(text, ']', 0);

		if (end == text.n || (end + 1 < text.n && text.p[end + 1] != ':'))
			return false;
		name = str_part(text, 1, end);
		if (end + 1 < text.n)
			port = str_part(text, end + 2, text.n);
	} else if (str_find(text, ':', 0) < text.n) {
		name = str_part(text, 0, str_find(text, ':', 0));
		port = str_part(text, name.n + 1, text.n);
	}
	if (port.p != NULL && (!str_to_u64(port, &number) || number == 0 || number > 65535))
		return false;
	host->port = (unsigned)number;
	host->name = name.n == 0 || str_eq_c(name, "localhost") ? NULL : strndup(name.p, name.n);
	if (host->name == NULL && name.n > 0 && !str_eq_c(name, "localhost"))
		memory_end(name.n + 1);
	return true;
}

bool db_is_host(struct str text)
{
	struct db_host host;

	if (str_find(text, ',', 0) < text.n || !db_conn_parse_host(text, 1, &host))
		return false;
	free(host.name);
	return true;
}

// Each process tries the hosts in another order, so the nodes of a cluster share the connections.
static void shuffle_hosts(struct db *db)
{
	for (size_t i = db->n_hosts; i > 1; i--) {
		uint32_t random;

		digest_random(&random, sizeof(random));
		size_t j = random % i;
		struct db_host kept = db->hosts[i - 1];

		db->hosts[i - 1] = db->hosts[j];
		db->hosts[j] = kept;
	}
}

static void read_hosts(struct db *db)
{
	struct str rest = str_c(db->settings->host), item;

	// Of [database] host, more of them and this mistake have been refused with the configuration.
	for (size_t i = 0; i < DB_MAX_HOSTS && str_split(&rest, ',', &item); i++) {
		db->hosts[db->n_hosts].index = i;
		if (!db_conn_parse_host(str_trim(item), db->settings->port, &db->hosts[db->n_hosts]))
			log_error("database host \"%.*s\" is not host[:port]", STR_ARG(item));
		else
			db->n_hosts++;
	}
	if (db->n_hosts == 0)
		db->hosts[db->n_hosts++] = (struct db_host){ .port = db->settings->port };
}

// Leaves the host with that place in settings->host alone.
static void keep_host(struct db *db, size_t index)
{
	size_t kept = 0;

	assert(db->mysql == NULL && index < DB_MAX_HOSTS);
	for (size_t i = 0; i < db->n_hosts; i++) {
		if (db->hosts[i].index == index)
			db->hosts[kept++] = db->hosts[i];
		else
			free(db->hosts[i].name);
	}
	db->n_hosts = kept;
}

size_t db_hosts(const struct db_settings *settings)
{
	struct str rest = str_c(settings->host), item;
	size_t n = 0;

	while (n < DB_MAX_HOSTS && str_split(&rest, ',', &item))
		n++;
	return n > 0 ? n : 1;
}

struct str db_host(const struct db_settings *settings, size_t index)
{
	struct str rest = str_c(settings->host), item = STR("");

	assert(index < db_hosts(settings));
	for (size_t i = 0; i <= index && str_split(&rest, ',', &item); i++)
		;
	return str_trim(item);
}

// ---- connecting

static const char *or_null(const char *text)
{
	return text != NULL && text[0] != '\0' ? text : NULL;
}

// tcp: the connection is not over the unix socket, where TLS makes no sense. Options that are off are set, too: Connector/C from
// 3.4 on verifies by default, and refuses a server without TLS even on the socket. If TLS is on without verification and the
// server offers none, Connector/C goes on in clear text in spite of MYSQL_OPT_SSL_ENFORCE; so connect_host() checks that.
static void set_tls(MYSQL *mysql, const struct db_settings *settings, bool tcp)
{
	my_bool enforce = tcp && strcmp(settings->tls, "off") != 0;
	my_bool verify = tcp && strcmp(settings->tls, "verify") == 0;

	(void)mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &enforce);
	(void)mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
	if (!enforce)
		return;
	if (or_null(settings->tls_ca) != NULL)
		(void)mysql_options(mysql, MYSQL_OPT_SSL_CA, settings->tls_ca);
	if (or_null(settings->tls_cert) != NULL)
		(void)mysql_options(mysql, MYSQL_OPT_SSL_CERT, settings->tls_cert);
	if (or_null(settings->tls_key) != NULL)
		(void)mysql_options(mysql, MYSQL_OPT_SSL_KEY, settings->tls_key);
}

// Where there are other hosts, one that hangs must not hold up a request for long: a server that is stopped in order may take a
// connection and never greet. One that is only slow gets more time at the second attempt.
static unsigned connect_timeout(const struct db *db)
{
	unsigned seconds = db->settings->connect_timeout, most = db->hosts[db->host].hung ? HANG_S : HANG_FIRST_S;

	return db->clustered && seconds > most ? most : seconds;
}

// 0: none. tenure-manage (admin) has none, since altering and copying tables takes long.
static unsigned read_timeout(const struct db *db)
{
	return db_is_operator(db) && !db->node ? 0 : db->settings->read_timeout;
}

static void set_options(struct db *db, MYSQL *mysql, bool tcp)
{
	unsigned connect = connect_timeout(db), read = read_timeout(db), off = 0;

	(void)mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
	(void)mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect);
	if (read > 0) {
		(void)mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &read);
		(void)mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &read);
	}
	(void)mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &off);
	(void)mysql_options4(mysql, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "tenure");
	set_tls(mysql, db->settings, tcp);
}

static const char *user_name(const struct db *db)
{
	const char *admin = db_is_operator(db) ? or_null(db->settings->admin_user) : NULL;

	return admin != NULL ? admin : db->settings->user;
}

static const char *user_password(const struct db *db)
{
	bool admin = db_is_operator(db) && or_null(db->settings->admin_user) != NULL;

	return admin ? db->settings->admin_password : db->settings->password;
}

// Reads and drops the answers of a statement, result sets too.
static bool skip_results(MYSQL *mysql)
{
	do {
		MYSQL_RES *result = mysql_use_result(mysql);

		if (result != NULL)
			mysql_free_result(result);
		else if (mysql_field_count(mysql) > 0)
			return false;
	} while (mysql_next_result(mysql) == 0);
	return mysql_errno(mysql) == 0;
}

bool db_conn_skip_answer(struct db *db)
{
	assert(db->mysql != NULL);
	return mysql_read_query_result(db->mysql) == 0 && skip_results(db->mysql);
}

// answers: waits for the first byte, unless the server hangs.
static enum db_result query(struct db *db, const char *sql, size_t n, bool (*answers)(struct db *db))
{
	assert(n > 0);
	assert(db->mysql != NULL);
	db->round_trips++;
	bool sent = mysql_send_query(db->mysql, sql, (unsigned long)n) == 0;

	if (sent && !answers(db))
		return DB_LOST;
	if (!sent || !db_conn_skip_answer(db))
		return db_error_note(db, mysql_errno(db->mysql), mysql_error(db->mysql), NULL);
	return DB_OK;
}

// Sets every session variable that matters, whatever the server's defaults are. The versioned comment is for servers whose
// default is ON (MariaDB 11.6.2 and later; 11.4.2 and later know the variable): there a locking read of a row that was changed
// since the snapshot of its statement fails with 1020, at READ COMMITTED as well. The transaction is then retried behind all
// others that wait for the row, so with many writers of one resource some never succeed. JSON_ARRAYAGG cuts what is longer than
// group_concat_max_len (1M by default, and 1024 in many an option file), with no more than a warning.
static enum db_result set_session(struct db *db)
{
	char sql[1280];
	int n = snprintf(sql, sizeof(sql),
		"SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, SESSION autocommit = 1, SESSION time_zone = '+00:00',"
		" SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
		"NO_ENGINE_SUBSTITUTION', SESSION tx_isolation = 'READ-COMMITTED', SESSION innodb_lock_wait_timeout = %u,"
		" SESSION sql_safe_updates = 0, SESSION sql_select_limit = 18446744073709551615, SESSION sql_big_selects = 1,"
		" SESSION sql_auto_is_null = 0, SESSION unique_checks = 1, SESSION check_constraint_checks = 1,"
		" SESSION max_statement_time = 0, SESSION tx_read_only = 0, SESSION completion_type = 0,"
		" SESSION group_concat_max_len = 4294967295"
		" /*M!110402 , SESSION innodb_snapshot_isolation = OFF */",
		db->settings->lock_wait);

	// Locks of tables, and the global read lock, have a timeout of their own, by default a day: COMMIT waits for the latter,
	// too. A process that is stopped amid a transaction, or whose host vanished, keeps locks and holds up the change log's
	// horizon (registry/log/horizon.h) for idle_write at most. To the server, a transaction that has only locked rows is one
	// that reads.
	if (!db_is_operator(db))
		n += snprintf(sql + n, sizeof(sql) - (size_t)n, ", SESSION lock_wait_timeout = %u, SESSION idle_write_transaction_timeout = %u,"
			" SESSION idle_readonly_transaction_timeout = %u", db->settings->lock_wait, db->settings->idle_write,
			db->may_idle ? 0 : db->settings->idle_write);
	assert(n > 0 && (size_t)n < sizeof(sql));
	db->autocommit = true;
	return query(db, sql, (size_t)n, db->clustered ? db_writer_answers : db_writer_await);
}

// As set_session(), by variables that every server of MariaDB and MySQL knows.
static enum db_result set_foreign_session(struct db *db)
{
	static const char names[] = "SET NAMES utf8mb4, SESSION autocommit = 1, SESSION time_zone = '+00:00',"
				    " SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO', SESSION sql_safe_updates = 0,"
				    " SESSION sql_select_limit = 18446744073709551615, SESSION sql_big_selects = 1,"
				    " SESSION sql_auto_is_null = 0, SESSION unique_checks = 1, SESSION completion_type = 0";
	const char *isolation = sql_session_serializable_query.sql;

	db->autocommit = true;
	enum db_result result = db_conn_query(db, names, strlen(names));
	return result == DB_OK ? db_conn_query(db, isolation, strlen(isolation)) : result;
}

// A firewall may forget an idle connection, and a host may vanish, without a word. So an idle connection is probed, which also
// keeps a firewall from forgetting it, and the next statement after a loss fails at once and is run again. What is cut off amid a
// statement is lost within half of read_timeout, so that there is time to run it again. That is no less than what a server may
// need that reads nothing while it works on the statements before: a window that stays closed counts like bytes that are not
// acknowledged.
static void watch_network(const struct db *db, int fd)
{
	const int on = 1, idle = KEEP_IDLE_S, probe = KEEP_PROBE_S, probes = KEEP_PROBES;
	unsigned half = (read_timeout(db) + 1) / 2, unsent_ms = (half < UNSENT_S ? half : UNSENT_S) * 1000; // 0: the system's own limit

	// What can't be set is not worth a connection.
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &probe, sizeof(probe));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, sizeof(unsent_ms));
}

static enum db_result connect_host(struct db *db, const struct db_host *host)
{
	const char *name = host->name, *schema = or_null(db->settings->name);
	MYSQL *mysql = mysql_init(NULL);

	assert(db->mysql == NULL);
	if (mysql == NULL)
		return db_error_note(db, CR_OUT_OF_MEMORY, "no memory for a connection", NULL);
	set_options(db, mysql, name != NULL);
	if (mysql_real_connect(mysql, name, user_name(db), user_password(db), schema, host->port,
		name == NULL ? or_null(db->settings->socket) : NULL, CLIENT_FOUND_ROWS) == NULL) {
		enum db_result result = db_error_note(db, mysql_errno(mysql), mysql_error(mysql), NULL);

		mysql_close(mysql);
		return result;
	}
	if (name != NULL && strcmp(db->settings->tls, "off") != 0 && mysql_get_ssl_cipher(mysql) == NULL) {
		mysql_close(mysql);
		return db_error_note(db, CR_SSL_CONNECTION_ERROR, "the server offers no TLS, which the setting tls demands",
			NULL);
	}
	(void)fcntl(mysql_get_socket(mysql), F_SETFD, FD_CLOEXEC);
	if (name != NULL)
		watch_network(db, mysql_get_socket(mysql));
	db->mysql = mysql;
	db->max_packet = 0;
	// What the last server was is not said of this one: that another has a later epoch than that one does not mean that this
	// one hangs.
	db->fenced = db->galera = db->unproven = false;
	db->slot = 0;
	db->sessions++;
	db->connected_us = clock_tick_us();
	return db->foreign ? set_foreign_session(db) : set_session(db);
}

// Is the server just connected to the writer? If not, why is copied to refused.
static enum db_result find_writer(struct db *db, char refused[DB_ERROR_BYTES])
{
	enum db_result result = db_writer_find(db);

	if (result == DB_LOST)
		memcpy(refused, db->error, sizeof(db->error));
	return result;
}

// Tries each host once, first the one that served last: after a COMMIT whose answer was lost, only that host surely knows whether
// it happened. *all_refuse: each of them refuses the login.
static enum db_result connect_once(struct db *db, bool *all_refuse)
{
	enum db_result worst = DB_LOST;
	size_t first = db->host, n_refuse = 0;
	char refused[DB_ERROR_BYTES] = ""; // why a server that answers is not used, which says more than that another one does not answer

	assert(db->mysql == NULL && db->n_hosts > 0 && db->host < db->n_hosts);
	for (size_t i = 0; i < db->n_hosts; i++) {
		size_t at = (first + i) % db->n_hosts;
		int64_t begun_us = clock_tick_us();
		if (db->hosts[at].avoided_until_us > begun_us)
			continue;
		db->host = at;
		enum db_result result = connect_host(db, &db->hosts[at]);

		n_refuse += result == DB_LOST && db_error_refuses_login(db->error_number);
		bool hung = result == DB_LOST && clock_tick_us() - begun_us >= connect_timeout(db) * INT64_C(900000);
		if (hung && db->hosts[at].hung)
			db_writer_hangs(db, at);
		db->hosts[at].hung = hung;
		db->host = at;
		if (result == DB_OK && db->clustered)
			result = find_writer(db, refused);
		if (result == DB_OK) {
			db->host = at;
			return DB_OK;
		}
		db_conn_drop(db);
		if (result != DB_LOST)
			worst = DB_ERROR;
	}
	*all_refuse = n_refuse == db->n_hosts;
	if (refused[0] != '\0' && worst == DB_LOST) {
		memcpy(db->error, refused, sizeof(refused));
		db->error_number = 0;
	}
	return worst;
}

enum db_result db_conn_ensure(struct db *db)
{
	assert(db->state != TXN_OPEN || db->mysql != NULL); // never a new connection amid a transaction
	// A cluster has no writer for about half a second when it gets another one.
	int64_t pause = FIRST_PAUSE_US, longest = db->clustered ? CLUSTER_PAUSE_US : LAST_PAUSE_US;
	int64_t end = clock_tick_us() + (int64_t)db->settings->connect_timeout * 1000000;

	if (db->mysql != NULL)
		return DB_OK;
	for (;;) {
		bool all_refuse = false;
		enum db_result result = connect_once(db, &all_refuse);

		if (result == DB_OK)
			db->away = false;
		if (result != DB_LOST)
			return result;
		if (db->away || all_refuse || clock_tick_us() >= end) {
			db->away = true; // the requests that follow do not wait as long
			return DB_LOST;
		}
		clock_pause_us(pause);
		pause = pause * 2 < longest ? pause * 2 : longest;
	}
}

void db_conn_drop(struct db *db)
{
	if (db->mysql == NULL)
		return;
	mysql_close(db->mysql);
	db->mysql = NULL;
	stmt_cache_clear(&db->cache);
}

unsigned db_conn_answer_s(const struct db_settings *settings)
{
	return settings->lock_wait < settings->read_timeout ? settings->lock_wait + 1 : settings->read_timeout;
}

enum db_result db_conn_query(struct db *db, const char *sql, size_t n)
{
	return query(db, sql, n, db_writer_await);
}

// ---- the handle

static struct db *open_handle(const struct db_settings *settings, enum db_account account)
{
	struct db *db = memory_zeroed(1, sizeof(*db));

	assert(settings != NULL);
	db->settings = settings;
	db->account = account;
	db->away = true;
	read_hosts(db);
	fault_parse(db->faults);
	for (size_t i = 0; i < FAULT__COUNT; i++)
		db->faulty = db->faulty || db->faults[i].kind != FAULT_NONE;
	return db;
}

struct db *db_open(const struct db_settings *settings, enum db_account account)
{
	struct db *db = open_handle(settings, account);

	db->clustered = db->n_hosts > 1;
	if (account == DB_APPLICATION)
		shuffle_hosts(db);
	return db;
}

struct db *db_open_node(const struct db_settings *settings, size_t index, enum db_account account)
{
	struct db *db = open_handle(settings, account);

	assert(index < db_hosts(settings));
	db->node = true;
	keep_host(db, index);
	return db;
}

void db_may_idle(struct db *db)
{
	assert(db->mysql == NULL);
	db->may_idle = true;
}

struct db *db_open_foreign(const struct db_settings *settings)
{
	struct db *db = open_handle(settings, DB_APPLICATION);

	shuffle_hosts(db);
	db->foreign = true;
	return db;
}

void db_close(struct db **handle)
{
	struct db *db = *handle;

	if (db == NULL)
		return;
	db_conn_drop(db);
	db_close(&db->reader);
	free(db->reader_settings);
	free(db->cache.places);
	for (size_t i = 0; i < db->n_hosts; i++)
		free(db->hosts[i].name);
	free(db);
	*handle = NULL;
}

void db_forget_after_fork(struct db **handle)
{
	struct db *db = *handle;

	if (db == NULL)
		return;
	db_forget_after_fork(&db->reader);
	if (db->mysql != NULL) {
		// mysql_close() sends a last packet. An unconnected socket in place of the connection keeps it from the server.
		int nowhere = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (nowhere < 0 || dup3(nowhere, mysql_get_socket(db->mysql), O_CLOEXEC) < 0)
			abort();
		(void)close(nowhere);
	}
	db_close(handle);
}

enum db_result db_connect(struct db *db)
{
	assert(db->state == TXN_OUTSIDE);
	return db_conn_ensure(db);
}

const char *db_error(const struct db *db)
{
	return db->error;
}

uint64_t db_round_trips(const struct db *db)
{
	return db->round_trips + (db->reader != NULL ? db->reader->round_trips : 0);
}

void db_statement_uses(const struct db *db, uint64_t *prepared, uint64_t *reused)
{
	*prepared = db->prepared;
	*reused = db->reused;
}

uint64_t db_sessions(const struct db *db)
{
	return db->sessions;
}

uint64_t db_schema_errors(const struct db *db)
{
	return db->schema_errors;
}

bool db_is_operator(const struct db *db)
{
	return db->account == DB_OPERATOR;
}
