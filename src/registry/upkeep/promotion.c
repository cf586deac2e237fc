// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/upkeep/promotion.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/settings.h"
#include "sql/cluster.h"
#include "registry/log/log_position.h"
#include "sql/replication.h"

enum {
	CATCH_UP_S = 10,           // for what a replica has yet to apply
	ATTACH_MS = 10000,         // for a replica to reach its primary
	LOOK_MS = 50, STEADY_MS = 200,
	// A primary that is gone may have raised its epoch by itself, and given numbers of changes that its replicas never saw.
	FORCED_EPOCHS = 1000,
	SKIPPED_NUMBERS = 2 * LOG_IDS_A_SECOND, // so wide a gap shows readers of the change log that these are lost
};

// ---- positions

// The sequence number of that domain in a list of GTIDs; 0: it has none.
static uint64_t last_of_domain(struct str list, struct str domain)
{
	struct str rest = list, gtid;

	while (str_split(&rest, ',', &gtid)) {
		struct str own, server, fields = str_trim(gtid);
		uint64_t number;
		if (str_split(&fields, '-', &own) && str_split(&fields, '-', &server) && str_eq(own, domain) && str_to_u64(fields, &number))
			return number;
	}
	return 0;
}

bool promotion_covers(struct str a, struct str b)
{
	struct str rest = b, gtid;

	while (str_split(&rest, ',', &gtid)) {
		struct str domain, fields = str_trim(gtid);
		if (str_split(&fields, '-', &domain) && last_of_domain(a, domain) < last_of_domain(b, domain))
			return false;
	}
	return true;
}

// ---- addresses

// The host of an item of [database] host, without the port.
static struct str host_of(struct str item)
{
	if (str_starts(item, STR("[")))
		return str_part(item, 1, str_find(item, ']', 0));
	return str_part(item, 0, str_find(item, ':', 0));
}

static bool is_socket(struct str host)
{
	return host.n == 0 || str_eq(host, STR("localhost"));
}

static bool is_loopback(struct str host)
{
	char text[INET6_ADDRSTRLEN];
	struct in_addr v4;
	struct in6_addr v6;

	if (host.n >= sizeof(text))
		return false;
	memcpy(text, host.p, host.n);
	text[host.n] = '\0';
	return inet_pton(AF_INET, text, &v4) == 1 ? ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET :
						    inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

// Does [database] host name a server other than the target on another machine?
static bool has_remote(const struct cluster *cluster, size_t target)
{
	for (size_t i = 0; i < cluster->n; i++) {
		struct str host = host_of(cluster->nodes[i].host);
		if (i != target && !is_socket(host) && !is_loopback(host))
			return true;
	}
	return false;
}

bool promotion_address(const struct cluster *cluster, size_t target, struct str *host)
{
	const struct cluster_node *node = &cluster->nodes[target];

	assert(target < cluster->n);
	*host = node->replication.report_host.n > 0 ? node->replication.report_host : host_of(node->host);
	return !is_socket(*host) && !(is_loopback(*host) && has_remote(cluster, target));
}

// ---- who is who

struct roles {
	// The primary by the newest row of the writer, if it answers; where the row names none, the only server that takes
	// changes. n: neither
	size_t old;
	size_t missing; // how many servers do not answer
	bool gone;      // the row names a primary that does not answer, or a server that may have been it does not
	struct str name; // of the primary by that row; "": none
};

static struct roles find_roles(const struct cluster *cluster)
{
	const struct cluster_writer *writer = cluster_writer(cluster);
	struct roles roles = { .old = cluster->n, .name = writer != NULL ? writer->node : STR("") };

	size_t n_writable = 0, writable = 0;

	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		roles.missing += !node->answers;
		if (node->answers && roles.name.n > 0 && str_eq(node->name, roles.name))
			roles.old = i;
		if (node->answers && !node->read_only) {
			n_writable++;
			writable = i;
		}
	}
	if (roles.name.n == 0 && n_writable == 1)
		roles.old = writable;
	roles.gone = roles.old == cluster->n && (roles.missing > 0 || roles.name.n > 0);
	return roles;
}

static bool is_primary_already(const struct cluster *cluster, const struct roles *roles, size_t target)
{
	return roles->name.n > 0 && roles->old == target && cluster_is_usable(&cluster->nodes[target]);
}

// ---- reasons

static const char *const privileges[] = { "READ_ONLY ADMIN", "REPLICATION SLAVE ADMIN", "REPLICATION MASTER ADMIN", "SLAVE MONITOR", "RELOAD" };

static bool is_granted(const struct db_rows *rows, const char *privilege)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (str_eq(sql_replication_privileges_row(rows, i)->name, str_c(privilege)))
			return true;
	}
	return false;
}

static void check_privileges(struct cluster *cluster, const struct cluster_node *node, struct buf *reasons)
{
	struct buf missing = buf_new(cluster->pool, 0);
	struct db_rows rows;

	if (sql_replication_privileges_run(node->db, cluster->pool, &rows) != DB_OK) {
		buf_addf(reasons, "%.*s: %s\n", STR_ARG(node->host), db_error(node->db));
		return;
	}
	for (size_t i = 0; i < COUNT_OF(privileges); i++) {
		if (!is_granted(&rows, privileges[i]))
			buf_addf(&missing, "%s%s", missing.n > 0 ? ", " : "", privileges[i]);
	}
	if (missing.n > 0)
		buf_addf(reasons, "%.*s: the admin user lacks privileges: GRANT %.*s ON *.* TO that user\n", STR_ARG(node->host),
			STR_ARG(missing));
}

static void check_target(const struct cluster *cluster, size_t target, const struct roles *roles, struct buf *reasons)
{
	const struct cluster_node *node = &cluster->nodes[target];
	const struct cluster_replication *own = &node->replication;
	const struct cluster_writer *writer = cluster_writer(cluster);
	bool appointed = writer != NULL && writer->epoch > 0;
	struct str address;

	if (!node->has_writer)
		buf_addf(reasons, "%.*s: it has no table writer: it is no replica of the registry's database\n", STR_ARG(node->host));
	if (!own->logs)
		buf_addf(reasons, "%.*s: log_bin and log_slave_updates must be ON, so that others can be its replicas\n", STR_ARG(node->host));
	if (roles->old < cluster->n && roles->old != target && !promotion_address(cluster, target, &address))
		buf_addf(reasons, "%.*s: by this address the other servers don't reach it, so they could not be its replicas: set report_host there, "
			"or name it in [database] host by an address that they reach\n", STR_ARG(node->host));
	if (target != roles->old && appointed && !node->read_only)
		buf_addf(reasons, "%.*s: it takes changes, and is not the writer: it may have some that no other server has; SET GLOBAL "
			"read_only = ON there, and compare\n", STR_ARG(node->host));
	if (!own->known || !own->is_replica)
		return;
	if (!own->uses_gtid)
		buf_addf(reasons, "%.*s: it replicates without GTIDs: CHANGE MASTER TO MASTER_USE_GTID = slave_pos\n", STR_ARG(node->host));
	if (!own->applies)
		buf_addf(reasons, "%.*s: it does not apply what it received: %.*s\n", STR_ARG(node->host),
			STR_ARG(own->error.n > 0 ? own->error : STR("its SQL thread is stopped; START SLAVE there")));
	if (!own->receives && roles->old < cluster->n && roles->old != target)
		buf_addf(reasons, "%.*s: it receives nothing from its primary: %.*s\n", STR_ARG(node->host),
			STR_ARG(own->error.n > 0 ? own->error : STR("its I/O thread does not run; START SLAVE there")));
	if (roles->old < cluster->n && roles->old != target && own->primary_id != 0 &&
		own->primary_id != cluster->nodes[roles->old].replication.server_id)
		buf_addf(reasons, "%.*s: it is a replica of %.*s, which is not the writer\n", STR_ARG(node->host), STR_ARG(own->primary));
}

static void check_missing(const struct cluster *cluster, const struct roles *roles, bool force, struct buf *reasons)
{
	bool alone = roles->gone && roles->missing <= 1; // only the primary is missing

	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		if (!node->answers && !alone)
			buf_addf(reasons, "%.*s: it does not answer (%.*s): it may have received what no other replica has, and may still acknowledge "
				"changes of the earlier primary; start it, or take it out of [database] host\n", STR_ARG(node->host), STR_ARG(node->error));
		else if (!node->answers && !force)
			buf_addf(reasons, "%.*s: it does not answer (%.*s), and may be the primary still. If it is gone for good, or until you make it a "
				"replica, stop it or cut it off from all hosts of Tenure, and say --force. Changes that it acknowledged and no replica "
				"received are lost then: none, if it waited for a replica's receipt without a timeout\n", STR_ARG(node->host),
				STR_ARG(node->error));
	}
	if (alone && roles->missing == 0 && !force)
		buf_addf(reasons, "%.*s: it is the writer, and [database] host does not name it, or it has another name now; if it is gone for good, "
			"say --force\n", STR_ARG(roles->name));
	if (force && !roles->gone)
		buf_addf(reasons, "--force is for a primary that is gone, and none is: leave it out\n");
}

struct str promotion_refusal(struct cluster *cluster, size_t target, bool force)
{
	struct buf reasons = buf_new(cluster->pool, 0);
	const struct roles roles = find_roles(cluster);

	check_target(cluster, target, &roles, &reasons);
	if (force || !is_primary_already(cluster, &roles, target))
		check_missing(cluster, &roles, force, &reasons);
	for (size_t i = 0; i < cluster->n; i++) {
		struct cluster_node *node = &cluster->nodes[i];
		if (!node->answers)
			continue;
		check_privileges(cluster, node, &reasons);
		for (size_t k = 0; k < i; k++) {
			if (cluster->nodes[k].answers && str_eq(cluster->nodes[k].name, node->name))
				buf_addf(&reasons, "%.*s: [database] host names it twice: leave one out\n", STR_ARG(node->name));
		}
		if (i != target && i != roles.old && !node->read_only)
			buf_addf(&reasons, "%.*s: it takes changes, and is not the writer: SET GLOBAL read_only = ON there\n", STR_ARG(node->host));
	}
	if (cluster->settings->replication_user[0] == '\0' && cluster->n - roles.missing > 1)
		buf_addf(&reasons, "[database] replication_user is empty: with which user shall the others be replicas?\n");
	return buf_str(&reasons);
}

// ---- carrying it out

struct run {
	struct cluster *cluster;
	size_t target;
	struct roles roles;
	struct str reason;
	struct str name;              // of the target
	struct db_settings settings[CLUSTER_NODES];
	struct db *dbs[CLUSTER_NODES]; // connections with time to wait; NULL: the server does not answer
	int64_t began_us;
	int64_t vacant_us;            // since when nobody is the writer, or may be; 0: not by this run
	bool overtaken;               // somebody else has made a server the primary meanwhile
	bool stopped[CLUSTER_NODES];  // receives nothing any more, by us
	struct str *why;
	struct buf notes;
};

static bool PRINTF_LIKE(3, 4) fail(struct run *run, size_t at, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	struct str text = str_vprintf(run->cluster->pool, format, arguments);
	va_end(arguments);
	*run->why = str_printf(run->cluster->pool, "%.*s: %.*s", STR_ARG(run->cluster->nodes[at].host), STR_ARG(text));
	return false;
}

static bool check(struct run *run, size_t at, enum db_result result)
{
	return result == DB_OK || fail(run, at, "%s", db_error(run->dbs[at]));
}

static bool read_position(struct run *run, size_t at, struct str *position)
{
	struct db_rows rows;
	enum db_result result = sql_replication_position_run(run->dbs[at], run->cluster->pool, &rows);

	if (result == DB_OK)
		*position = sql_replication_position_row(&rows, 0)->position;
	return check(run, at, result);
}

static bool await_position(struct run *run, size_t at, struct str position)
{
	const struct sql_replication_await in = { .position = position, .seconds = CATCH_UP_S };
	struct db_rows rows;

	if (position.n == 0)
		return true;
	if (!check(run, at, sql_replication_await_run(run->dbs[at], run->cluster->pool, &in, &rows)))
		return false;
	const struct sql_replication_await_row *row = sql_replication_await_row(&rows, 0);
	return (!row->result_is_null && row->result >= 0) ||
		fail(run, at, "it has not applied %.*s within %d s: it lags behind too far, or is no replica", STR_ARG(position), CATCH_UP_S);
}

// The old primary goes on serving while the target applies all changes up to then. Then the old primary stops taking changes, and
// the target applies the rest. Nobody changes tables meanwhile: read_only does not stop the admin user, so that would be done on
// the old primary alone.
static bool hand_over(struct run *run)
{
	size_t at = run->roles.old;
	const struct cluster_change change = { .epoch = run->cluster->nodes[at].writer.epoch, .node = run->name, .reason = run->reason };
	struct str position, why;

	if (cluster_lock_schema(run->cluster, run->dbs[at], &why) != CLUSTER_DONE)
		return fail(run, at, "%.*s", STR_ARG(why));
	if (!read_position(run, at, &position) || !await_position(run, run->target, position))
		return false;
	enum cluster_outcome resigned = cluster_resign(run->cluster, run->dbs[at], &change, false, run->why);
	// A COMMIT that waits for the target's receipt has written its log already, and is valid as soon as the receipt comes.
	if (resigned == CLUSTER_DONE || db_txn_uncertain(run->dbs[at]))
		run->vacant_us = clock_tick_us();
	if (resigned != CLUSTER_DONE)
		return false;
	if (!check(run, at, sql_replication_read_only_run(run->dbs[at], run->cluster->pool, NULL)))
		return false;
	return read_position(run, at, &position) && await_position(run, run->target, position);
}

// The primary is gone: no replica acknowledges anything to it any more, and each applies all that it has received.
static bool cut_off(struct run *run)
{
	struct cluster *cluster = run->cluster;

	for (size_t i = 0; i < cluster->n; i++) {
		struct cluster_node *node = &cluster->nodes[i];
		if (run->dbs[i] == NULL || !node->replication.is_replica)
			continue;
		run->stopped[i] = true;
		if (!check(run, i, sql_replication_stop_receiving_run(run->dbs[i], cluster->pool, NULL)))
			return false;
		if (!cluster_ask_replication(cluster, node))
			return fail(run, i, "%.*s", STR_ARG(node->error));
		if (!await_position(run, i, node->replication.received))
			return false;
	}
	return true;
}

// Has the target all that the others have?
static bool has_all(struct run *run)
{
	struct str own, other;

	if (!read_position(run, run->target, &own))
		return false;
	for (size_t i = 0; i < run->cluster->n; i++) {
		if (i == run->target || run->dbs[i] == NULL)
			continue;
		if (!read_position(run, i, &other))
			return false;
		if (!promotion_covers(own, other))
			return fail(run, run->target, "it lacks changes that %.*s has (%.*s; it has %.*s): switch to that one",
				STR_ARG(run->cluster->nodes[i].host), STR_ARG(other), STR_ARG(own));
	}
	return true;
}

// The numbers of changes go on above all that were given, as far as anybody can know.
static bool keep_numbers(struct run *run)
{
	const struct str by = str_printf(run->cluster->pool, "%d", SKIPPED_NUMBERS);
	struct pool *pool = run->cluster->pool;
	struct db *db = run->dbs[run->target];
	struct db_rows rows;

	if (run->roles.gone) {
		const struct sql_replication_skip_numbers in = { .by = { &by, 1 } };
		if (!check(run, run->target, db_run_script(db, sql_replication_skip_numbers_text(pool, &in))))
			return false;
	}
	if (!check(run, run->target, sql_replication_numbers_run(db, pool, &rows)))
		return false;
	const struct sql_replication_numbers_row *row = sql_replication_numbers_row(&rows, 0);
	return (row->next > row->highest && row->next > row->published) ||
		fail(run, run->target, "AUTO_INCREMENT of table changes is %llu, and changes up to %llu are there or were published: ALTER TABLE changes "
			"AUTO_INCREMENT = a higher number", (unsigned long long)row->next,
			(unsigned long long)(row->highest > row->published ? row->highest : row->published));
}

// ---- replicas

static struct db_names one(const struct str *text)
{
	return (struct db_names){ text, 1 };
}

static struct db_names one_unless_empty(const struct str *text)
{
	return (struct db_names){ text, text->n > 0 ? 1 : 0 };
}

static struct str attach_text(struct run *run, struct str host)
{
	const struct db_settings *settings = run->cluster->settings;
	const struct cluster_replication *own = &run->cluster->nodes[run->target].replication;
	bool tls = own->is_replica ? own->tls : strcmp(settings->tls, "off") != 0;
	bool verifies = own->is_replica ? own->verifies : strcmp(settings->tls, "verify") == 0;
	const struct str user = str_c(settings->replication_user), password = str_c(settings->replication_password);
	const struct str tls_text = tls ? STR("1") : STR("0"), verify_text = verifies ? STR("1") : STR("0");
	const struct sql_replication_attach in = {
		.host = one(&host), .port = one(&own->port), .user = one(&user), .password = one(&password),
		.tls = one(&tls_text), .verify = one(&verify_text),
		.ca = one_unless_empty(&own->ca), .cert = one_unless_empty(&own->cert), .key = one_unless_empty(&own->key),
	};

	return sql_replication_attach_text(run->cluster->pool, &in);
}

static bool follows(const struct run *run, const struct cluster_node *node)
{
	const struct cluster_replication *own = &node->replication;

	return own->known && own->is_replica && own->receives && own->applies && own->error.n == 0 &&
		own->primary_id == run->cluster->nodes[run->target].replication.server_id;
}

// It has asked for the primary's log, and was not refused.
static bool waits_for_events(const struct run *run, const struct cluster_node *node)
{
	return follows(run, node) && str_starts(node->replication.state, STR("Waiting for"));
}

static bool reaches_primary(struct run *run, struct cluster_node *node)
{
	int64_t end_us = clock_tick_us() + ATTACH_MS * INT64_C(1000);
	bool reached = false;

	while (cluster_ask_replication(run->cluster, node) && clock_tick_us() < end_us && (node->replication.error.n == 0 || !node->replication.known)) {
		if (waits_for_events(run, node) && reached)
			return true;
		reached = waits_for_events(run, node);
		clock_pause_ms(reached ? STEADY_MS : LOOK_MS);
	}
	return false;
}

// Makes all others replicas of the target. Returns how many tell it what they received.
static size_t attach_others(struct run *run)
{
	struct cluster *cluster = run->cluster;
	struct str host;
	size_t n = 0;
	bool known = promotion_address(cluster, run->target, &host);

	for (size_t i = 0; i < cluster->n; i++) {
		struct cluster_node *node = &cluster->nodes[i];
		if (i == run->target || run->dbs[i] == NULL)
			continue;
		bool attached = follows(run, node) && !run->stopped[i];
		if (!attached && !known) {
			buf_addf(&run->notes, "%.*s is no replica now: [database] host names %.*s by an address that it does not reach; set report_host there\n",
				STR_ARG(node->host), STR_ARG(run->name));
			continue;
		}
		attached = attached || (db_run_script(run->dbs[i], attach_text(run, host)) == DB_OK && reaches_primary(run, node));
		n += attached && node->replication.receipts;
		if (attached)
			buf_addf(&run->notes, "%.*s is its replica\n", STR_ARG(node->host));
		else {
			struct str why = node->replication.error.n > 0 ? node->replication.error : str_c(db_error(run->dbs[i]));
			buf_addf(&run->notes, "%.*s is no replica of it: %.*s; if it has changes that %.*s lacks, make it anew from a copy of that\n",
				STR_ARG(node->host), STR_ARG(why),
				STR_ARG(run->name));
		}
	}
	return n;
}

// Without a replica that tells what it received, a primary that waits for one would never acknowledge anything.
static bool set_waiting(struct run *run, size_t n_replicas)
{
	struct pool *pool = run->cluster->pool;
	struct db *db = run->dbs[run->target];

	if (n_replicas > 0)
		return check(run, run->target, sql_replication_wait_for_receipts_run(db, pool, NULL));
	buf_addf(&run->notes, "%.*s has no semi-synchronous replica: what it acknowledges is lost if it is. When another server is back, run `tenure-manage "
		"cluster switch %.*s` again\n", STR_ARG(run->name), STR_ARG(run->name));
	return check(run, run->target, sql_replication_wait_for_none_run(db, pool, NULL));
}

// ---- in the end

static bool appoint(struct run *run)
{
	struct cluster *cluster = run->cluster;
	struct pool *pool = cluster->pool;
	struct db *db = run->dbs[run->target];
	uint64_t newest = cluster_writer(cluster)->epoch;
	struct db_rows rows;

	// If the writer was stopped before this run, by `cluster fence` or by a run that failed, no clock of this host tells
	// since when.
	int64_t waited_us = clock_tick_us() - (run->vacant_us != 0 ? run->vacant_us : run->began_us);
	if (newest > 0 && waited_us < DB_VACANCY_MS * INT64_C(1000))
		clock_sleep_us(DB_VACANCY_MS * INT64_C(1000) - waited_us);
	if (!check(run, run->target, sql_replication_writable_run(db, pool, NULL)) ||
		!check(run, run->target, sql_cluster_writer_run(db, pool, &rows)))
		return false;
	uint64_t epoch = rows.n == 1 ? sql_cluster_writer_row(&rows, 0)->epoch : 0;
	if (rows.n != 1 || epoch < newest)
		return fail(run, run->target, "its row of the writer is older than another server's: it lacks changes");
	const struct cluster_change change = { .epoch = epoch, .node = run->name, .reason = run->reason };
	enum cluster_outcome outcome = cluster_promote(cluster, db, &change, epoch + (run->roles.gone ? FORCED_EPOCHS : 1), run->why);
	run->overtaken = outcome == CLUSTER_OVERTAKEN;
	return outcome == CLUSTER_DONE;
}

static void add_vacancy(struct run *run)
{
	*run->why = str_printf(run->cluster->pool, "%.*s; and nobody is the writer now: run `tenure-manage cluster switch` again", STR_ARG(*run->why));
}

// The switch failed before the target was changed: the primary goes on.
static void take_back(struct run *run)
{
	struct cluster *cluster = run->cluster;
	struct pool *pool = cluster->pool;
	size_t old = run->roles.old;
	struct str why;

	for (size_t i = 0; i < cluster->n; i++) {
		if (run->stopped[i])
			(void)sql_replication_receive_run(run->dbs[i], pool, NULL);
	}
	if (run->vacant_us == 0)
		return;
	const struct cluster_change change = {
		.epoch = cluster->nodes[old].writer.epoch + 1, .node = cluster->nodes[old].name, .reason = STR("a switch failed")
	};
	// Overtaken: its resignation did not come into force, or somebody else has made a server the primary.
	if (sql_replication_writable_run(run->dbs[old], pool, NULL) != DB_OK ||
		cluster_promote(cluster, run->dbs[old], &change, change.epoch + 1, &why) == CLUSTER_FAILED)
		add_vacancy(run);
}

static bool carry_out(struct run *run)
{
	struct pool *pool = run->cluster->pool;
	struct db *db = run->dbs[run->target];
	bool planned = run->roles.old < run->cluster->n && run->roles.old != run->target;

	if (is_primary_already(run->cluster, &run->roles, run->target))
		return set_waiting(run, attach_others(run));
	if ((planned && !hand_over(run)) || (run->roles.gone && !cut_off(run)) || !has_all(run)) {
		take_back(run);
		return false;
	}
	bool done = check(run, run->target, sql_replication_stop_run(db, pool, NULL)) && check(run, run->target, sql_replication_end_run(db, pool, NULL)) &&
		keep_numbers(run) && set_waiting(run, attach_others(run)) && appoint(run);
	if (!done && !run->overtaken)
		add_vacancy(run);
	return done;
}

enum cluster_outcome promotion_run(struct cluster *cluster, size_t target, bool force, struct str reason, struct str *why, struct str *notes)
{
	struct run run = { .cluster = cluster, .target = target, .roles = find_roles(cluster), .reason = reason, .why = why,
		.name = cluster->nodes[target].name, .began_us = clock_tick_us(), .notes = buf_new(cluster->pool, 0) };

	assert(cluster->account == DB_OPERATOR && cluster->nodes[target].answers && (force || !run.roles.gone));
	for (size_t i = 0; i < cluster->n; i++)
		run.dbs[i] = cluster->nodes[i].answers ? cluster_open_patient(cluster, &run.settings[i], i) : NULL;
	bool done = carry_out(&run);
	for (size_t i = 0; i < cluster->n; i++)
		db_close(&run.dbs[i]);
	*notes = buf_str(&run.notes);
	return done ? CLUSTER_DONE : CLUSTER_FAILED;
}
