// SPDX-License-Identifier: Apache-2.0
// Where [database] host names several servers: which of them is the writer, and the fence that keeps a connection from writing
// once another one is. doc/cluster.md says why it is exact.
#include "base/base.h"

#include <errmsg.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/shared.h"
#include "db/settings.h"
#include "db/db_internal.h"
#include "sql/cluster.h"
#include "sql/session.h"

enum {
	SILENCE_MS = 250,  // a server that says nothing for so long may hang or stop: the others are asked who is the writer
	SILENCES_MS = 500, // and asked again, after so long at most
	ROLE_S = 3,        // the longest wait for a server's answer whether it is the writer
	HUNG_S = 5,        // a server that hangs is not tried again for so long
	REFUSED_S = 1,     // the same for a server that said that it does not serve
	ASK_S = 1,         // the longest wait for another server that may be the writer by now
	CHECK_S = 3,       // the longest wait for each other server, where a server without Galera says that it is the writer
};

// ---- what a server is

// Of the row of table `writer`, and of the server that was asked.
struct role {
	char me[256], node[256]; // what the server is called, and what the writer is called; node "": there is none
	uint64_t epoch;
	bool galera, read_only, held;
	bool known; // false: the schema has no such table yet, or there is no schema
};

static uint64_t number_of(const char *text)
{
	uint64_t number;

	return text != NULL && str_to_u64(str_c(text), &number) ? number : 0;
}

// Closes the connection to a server that does not answer. False.
static bool give_up(struct db *db)
{
	(void)db_error_note(db, CR_SERVER_LOST, "the server does not answer", NULL);
	return false;
}

// poll() of the connection's socket for something to read.
static int wait_for_byte(const struct db *db, int64_t ms)
{
	struct pollfd fd = { .fd = mysql_get_socket(db->mysql), .events = POLLIN };

	return poll(&fd, 1, ms > 0 ? (int)ms : 0);
}

static bool answers_within(struct db *db, unsigned seconds)
{
	return wait_for_byte(db, seconds * INT64_C(1000)) != 0 || give_up(db);
}

bool db_writer_answers(struct db *db)
{
	return db->fenced ? db_writer_await(db) : answers_within(db, ROLE_S);
}

static void take_role(MYSQL_RES *result, struct role *role)
{
	MYSQL_ROW row = mysql_fetch_row(result);

	if (row == NULL || mysql_num_fields(result) != sql_writer_role_query.n_out)
		return;
	(void)snprintf(role->me, sizeof(role->me), "%s", row[0]);
	(void)snprintf(role->node, sizeof(role->node), "%s", row[1]);
	role->epoch = number_of(row[2]);
	role->galera = number_of(row[3]) != 0;
	role->read_only = number_of(row[4]) != 0;
	role->held = number_of(row[5]) != 0;
	role->known = true;
}

// The answer to a query without parameters; NULL: mysql_errno() says why, or the connection was closed. As text, not as a
// prepared statement: it is asked while statements are being made ready.
static MYSQL_RES *ask(struct db *db, const struct db_query *query)
{
	db->round_trips++;
	bool sent = mysql_send_query(db->mysql, query->sql, (unsigned long)strlen(query->sql)) == 0;

	if (!sent || !db_writer_answers(db) || mysql_read_query_result(db->mysql) != 0)
		return NULL;
	return mysql_store_result(db->mysql);
}

// Asks the connected server. query: one of those that answer struct role.
static enum db_result ask_role(struct db *db, const struct db_query *query, struct role *role)
{
	const char *on = sql_session_autocommit_on_query.sql;

	*role = (struct role){ .known = false };
	// With autocommit off it would leave a transaction open.
	if (!db->autocommit && db_conn_query(db, on, strlen(on)) != DB_OK)
		return DB_LOST;
	db->autocommit = true;
	MYSQL_RES *result = ask(db, query);
	if (db->mysql == NULL)
		return DB_LOST;
	if (result != NULL) {
		take_role(result, role);
		mysql_free_result(result);
		return role->known ? DB_OK : DB_ERROR;
	}
	if (db_error_lacks_table(mysql_errno(db->mysql)))
		return DB_OK;
	return db_error_note(db, mysql_errno(db->mysql), mysql_error(db->mysql), query);
}

// Asks the connected server a question of one number. False: it is 0, or there is no answer.
static bool says_yes(struct db *db, const struct db_query *query)
{
	MYSQL_RES *result = ask(db, query);
	MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
	bool yes = row != NULL && number_of(row[0]) != 0;

	if (result != NULL)
		mysql_free_result(result);
	return yes;
}

// Keeps why this server is not used, and leaves it.
static enum db_result PRINTF_LIKE(2, 3) leave(struct db *db, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(db->error, sizeof(db->error), format, arguments);
	va_end(arguments);
	db->error_number = 0;
	log_debug("database: %s", db->error);
	db_conn_drop(db);
	return DB_LOST;
}

// What the other servers are, as far as they answer in time.
struct others {
	uint64_t epoch; // the highest
	bool writable;  // one of them takes changes
	bool all;       // all have answered
};

// False: hosts[at] does not say what it is within so many seconds, or has no row of the writer.
static bool ask_other(const struct db *db, size_t at, unsigned seconds, struct role *role)
{
	struct db_settings settings = *db->settings;

	settings.connect_timeout = seconds;
	settings.read_timeout = seconds;
	struct db *other = db_open_node(&settings, db->hosts[at].index, db->account);
	other->probes = true;
	bool says = db_connect(other) == DB_OK && ask_role(other, &sql_writer_role_query, role) == DB_OK && role->known;
	db_close(&other);
	return says;
}

static struct others ask_others(const struct db *db)
{
	struct others others = { .all = true };

	for (size_t i = 0; i < db->n_hosts; i++) {
		struct role role;

		if (i == db->host)
			continue;
		if (ask_other(db, i, CHECK_S, &role)) {
			others.epoch = role.epoch > others.epoch ? role.epoch : others.epoch;
			others.writable = others.writable || !role.read_only;
		} else {
			others.all = false;
		}
	}
	return others;
}

// The newest epoch that a server without Galera has named to a process of this host.
struct cluster_memory {
	_Atomic uint64_t newest_epoch;
};

// NULL: the process shares nothing. The area may move, so nothing keeps the pointer.
static _Atomic uint64_t *shared_epoch(const struct db *db)
{
	if (db->shared == NULL)
		return NULL;
	return &((struct cluster_memory *)shared_area(db->shared, SHARED_CLUSTER, sizeof(struct cluster_memory)))->newest_epoch;
}

static uint64_t remembered_epoch(const struct db *db)
{
	uint64_t shared = db->shared == NULL ? 0 : atomic_load(shared_epoch(db));

	return shared > db->newest_epoch ? shared : db->newest_epoch;
}

// before: what the processes of the host remembered when the servers were asked. An earlier epoch than that, as of a dump that
// was restored, counts only if no other process has found another one meanwhile.
static void remember_epoch(struct db *db, uint64_t before, uint64_t epoch)
{
	_Atomic uint64_t *newest = shared_epoch(db);

	db->newest_epoch = epoch;
	if (newest == NULL)
		return;
	if (epoch < before) {
		(void)atomic_compare_exchange_strong(newest, &before, epoch);
		return;
	}
	uint64_t known = atomic_load(newest);
	while (known < epoch && !atomic_compare_exchange_weak(newest, &known, epoch))
		continue;
}

void db_join(struct db *db, const struct shared *host)
{
	db->shared = host;
}

// A server without Galera says that it is the writer, of that epoch; but nobody tells it when another one was made the primary
// while it was away. So all are asked; where one does not answer, what this host's processes have seen counts as well (but not
// otherwise: a dump that was restored has an earlier epoch). And the connection begins with a transaction of the fence alone,
// which proves that the server is one that others take for their primary, where it waits for a replica's receipt: all that is
// read here afterwards has a replica, too (doc/cluster.md, "Primary and replica").
static enum db_result check_epoch(struct db *db, const struct role *role)
{
	// Without a replica that transaction would wait for ever, and keep a session of the server.
	if (says_yes(db, &sql_writer_stands_still_query)) {
		db_writer_refuses(db, db->host);
		return leave(db, "%s commits nothing: it waits for a replica's receipt, and no replica is connected", role->me);
	}
	if (db->mysql == NULL)
		return DB_LOST;
	uint64_t before = db->shared == NULL ? 0 : atomic_load(shared_epoch(db)), known = remembered_epoch(db);
	const struct others others = ask_others(db);
	// Asking takes seconds if one of them hangs: what another process has found meanwhile is later than some of the answers.
	uint64_t now = remembered_epoch(db), remembered = others.all && now <= known ? 0 : now;
	uint64_t newest = others.epoch > remembered ? others.epoch : remembered;

	remember_epoch(db, before, newest > role->epoch ? newest : role->epoch);
	if (role->epoch < newest)
		return leave(db, "%s was the writer once, of epoch %llu; there is a later one, of epoch %llu", role->me,
			(unsigned long long)role->epoch, (unsigned long long)newest);
	db->unproven = true;
	return DB_OK;
}

static enum db_result judge(struct db *db, const struct role *role)
{
	if (role->read_only)
		return leave(db, "%s takes no changes: it is read-only", role->me);
	if (strcmp(role->me, role->node) == 0) {
		db->fenced = true;
		db->epoch = role->epoch;
		return role->galera ? DB_OK : check_epoch(db, role);
	}
	if (role->epoch == 0 && !role->galera) {
		if (ask_others(db).writable)
			return leave(db, "%s and another server take changes, and neither was named the writer: `tenure-manage cluster switch NODE`", role->me);
		return DB_OK; // a primary that was never appointed; no other server that answers takes changes
	}
	if (role->node[0] != '\0')
		return leave(db, "%s is not the writer, %s is", role->me, role->node);
	if (role->held)
		return leave(db, "an operator has stopped all writes, until `tenure-manage cluster switch NODE` (asked %s)", role->me);
	return leave(db, "no node is the writer at the moment: %s`tenure-manage cluster switch NODE` (asked %s)",
		role->galera ? "tenured-host appoints one, or " : "", role->me);
}

enum db_result db_writer_find(struct db *db)
{
	struct role role;
	int64_t asked_us = clock_tick_us();

	assert(db->mysql != NULL && db->clustered && !db->fenced);
	enum db_result result = ask_role(db, &sql_writer_role_now_query, &role);
	db->galera = role.galera;
	if (result == DB_OK && role.known)
		result = judge(db, &role);
	else if (result == DB_OK && !db_is_operator(db))
		result = leave(db, "the schema is older than this program: run `tenure-manage db upgrade`");
	else if (result == DB_OK && says_yes(db, &sql_writer_read_only_query)) // the schema must not be made on a replica
		result = leave(db, "it takes no changes: it is read-only");
	if (result == DB_OK && db->mysql == NULL)
		result = DB_LOST;
	if (result == DB_OK)
		db->confirmed_us = asked_us;
	return result;
}

// ---- the fence

struct db_call db_writer_fence(struct db *db)
{
	static_assert(sizeof(struct sql_writer_fence) == sizeof(db->fence), "slot and epoch");
	db->fence[0] = db->slot;
	db->fence[1] = db->epoch;
	return (struct db_call){ .query = &sql_writer_fence_query, .in = db->fence };
}

struct db_call db_writer_stream(void)
{
	return (struct db_call){ .query = &sql_writer_stream_query };
}

struct db_call db_writer_check(const struct db *db)
{
	static_assert(sizeof(struct sql_writer_check) == sizeof(db->epoch), "the epoch");
	return (struct db_call){ .query = &sql_writer_check_query, .in = &db->epoch };
}

enum db_result db_writer_is_open(struct db *db, bool *is_open)
{
	const struct db_query *query = &sql_writer_is_open_query;

	assert(db->mysql != NULL);
	MYSQL_RES *result = ask(db, query);
	MYSQL_ROW row = result != NULL ? mysql_fetch_row(result) : NULL;
	bool has_row = row != NULL;

	*is_open = has_row && number_of(row[0]) != 0;
	if (result != NULL)
		mysql_free_result(result);
	if (db->mysql == NULL)
		return DB_LOST;
	return has_row ? DB_OK : db_error_note(db, mysql_errno(db->mysql), mysql_error(db->mysql), query);
}

struct db_call db_writer_look(struct db *db)
{
	static_assert(sizeof(struct sql_writer_goes_on) == sizeof(db->fence), "slot and epoch");
	db->fence[0] = db->slot;
	db->fence[1] = db->epoch;
	return (struct db_call){ .query = &sql_writer_goes_on_query, .in = db->fence };
}

void db_writer_whole(struct db *db)
{
	const char *whole = sql_writer_whole_query.sql;

	if (db->mysql != NULL && db_conn_query(db, whole, strlen(whole)) != DB_OK)
		db_conn_drop(db);
}

enum db_result db_writer_lost(struct db *db)
{
	assert(db->n_hosts > 0);
	log_info("database: the node is no longer the writer");
	db->host = (db->host + 1) % db->n_hosts;
	return leave(db, "the node is no longer the writer");
}

// ---- reads

enum db_result db_writer_confirm(struct db *db)
{
	struct role role;
	int64_t asked_us = clock_tick_us();

	if (!db->fenced || asked_us - db->confirmed_us <= DB_LEASE_MS * INT64_C(1000))
		return DB_OK;
	if (db->mysql == NULL)
		return DB_LOST; // at the end of the transaction: nobody can be asked any more whether what it read was the writer's state
	enum db_result result = ask_role(db, &sql_writer_role_now_query, &role);
	if (result == DB_OK && role.known && strcmp(role.me, role.node) == 0 && role.epoch == db->epoch) {
		db->confirmed_us = asked_us;
		return DB_OK;
	}
	return db->mysql != NULL ? db_writer_lost(db) : DB_LOST;
}

// ---- servers that hang

// Asks the others whether there is a later writer. It ends as soon as the own server answers, and leaves out who was silent a
// moment ago: else one server that is away would delay each statement that takes its time.
static bool is_replaced(struct db *db)
{
	for (size_t i = 0; i < db->n_hosts && wait_for_byte(db, 0) == 0; i++) {
		int64_t begun_us = clock_tick_us();
		struct role role;

		if (i == db->host || db->hosts[i].silent_until_us > begun_us)
			continue;
		bool says = ask_other(db, i, ASK_S, &role);
		if (says && role.epoch > db->epoch) // nothing more can be written by this connection
			return true;
		if (!says && clock_tick_us() - begun_us >= ASK_S * INT64_C(900000))
			db->hosts[i].silent_until_us = clock_tick_us() + HUNG_S * INT64_C(1000000);
	}
	return false;
}

bool db_writer_await(struct db *db)
{
	if (db->mysql == NULL)
		return true;
	if (!db->fenced)
		return db->answer_s == 0 || answers_within(db, db->answer_s);
	unsigned longest_s = db->answer_s > 0 ? db->answer_s : db->settings->read_timeout;
	bool for_ever = db->answer_s == 0 && db_is_operator(db);
	int64_t end_us = for_ever ? INT64_MAX / 2 : clock_tick_us() + longest_s * INT64_C(1000000);
	for (int wait_ms = SILENCE_MS;; wait_ms = wait_ms * 2 < SILENCES_MS ? wait_ms * 2 : SILENCES_MS) {
		int64_t left_ms = (end_us - clock_tick_us() + 999) / 1000;
		int n = wait_for_byte(db, left_ms < wait_ms ? left_ms : wait_ms);

		if (n > 0 || (n < 0 && errno != EINTR))
			return true; // reading tells what is wrong, if anything is
		if (clock_tick_us() >= end_us) // reading would wait for read_timeout once more
			return give_up(db);
		if (n == 0 && is_replaced(db))
			break;
	}
	db_writer_hangs(db, db->host);
	(void)db_error_note(db, CR_SERVER_LOST, "the server does not answer, and another is the writer by now", NULL);
	return false;
}

void db_writer_hangs(struct db *db, size_t host)
{
	assert(host < db->n_hosts);
	if (db->clustered)
		db->hosts[host].avoided_until_us = clock_tick_us() + HUNG_S * INT64_C(1000000);
}

void db_writer_refuses(struct db *db, size_t host)
{
	assert(host < db->n_hosts);
	if (db->clustered)
		db->hosts[host].avoided_until_us = clock_tick_us() + REFUSED_S * INT64_C(1000000);
}
