// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/upkeep/cluster.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/pool.h"
#include "db/db.h"
#include "db/settings.h"
#include "sql/cluster.h"
#include "sql/replication.h"
#include "sql/schema.h"

enum {
	CONNECT_S = 1, READ_S = 1, // for a look: a node that stops in order may still accept connections
	SWITCH_S = 20,             // for a statement of a switch: the cluster may be about to drop a node
	LOCK_WAIT_S = 1,           // of a switch, for the old writer's transactions to end; all writes wait meanwhile
	AGAIN_S = 3,               // a node that hangs is asked again after so long
	LOST_S = 1,                // one that ended its connection as well: it may be stopping, and then a new connection hangs
	NEXT_S = 3,                // a switch that was begun may take so long to be finished by who began it
	WEAK_S = 2,                // a writer that answers, and can't be used for so long, is replaced
	UNSEEN_S = 8, STEADY_S = 30, // a writer that this host alone may not see is replaced after so long, and not more often
};

// ---- looking

struct cluster *cluster_open(const struct db_settings *settings, enum db_account account)
{
	struct cluster *cluster = memory_zeroed(1, sizeof(*cluster));
	struct db_settings *own = memory_zeroed(1, sizeof(*own));
	struct pool *pool = pool_new_or_end();

	*own = *settings;
	own->connect_timeout = own->connect_timeout < CONNECT_S ? own->connect_timeout : CONNECT_S;
	own->read_timeout = READ_S;
	own->lock_wait = LOCK_WAIT_S;
	*cluster = (struct cluster){ .pool = pool, .settings = own, .account = account };
	cluster->n = db_hosts(settings) < CLUSTER_NODES ? db_hosts(settings) : CLUSTER_NODES;
	for (size_t i = 0; i < cluster->n; i++) {
		cluster->nodes[i].host = db_host(settings, i);
		cluster->nodes[i].db = db_open_node(own, i, account);
	}
	return cluster;
}

void cluster_close(struct cluster **cluster)
{
	if (*cluster == NULL)
		return;
	for (size_t i = 0; i < (*cluster)->n; i++)
		db_close(&(*cluster)->nodes[i].db);
	pool_free(&(*cluster)->pool);
	free((*cluster)->settings);
	free(*cluster);
	*cluster = NULL;
}

// The value of that name among rows of SHOW; "" if it is not there.
static struct str value_of(const struct db_rows *rows, const char *name)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct sql_cluster_status_row *row = sql_cluster_status_row(rows, i);
		if (str_eq_nocase(row->variable_name, str_c(name)))
			return row->value.p != NULL ? row->value : STR("");
	}
	return STR("");
}

static uint64_t number_of(const struct db_rows *rows, const char *name)
{
	uint64_t number;

	return str_to_u64(value_of(rows, name), &number) ? number : 0;
}

static bool has(struct str text, const char *part)
{
	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static bool is_on(const struct db_rows *variables, const char *name)
{
	return str_eq(value_of(variables, name), STR("ON"));
}

// Would a part of the cluster without the majority go on? From MariaDB 11.4 on these options may be variables of their own, and
// wsrep_provider_options does not show what they are set to.
static bool ignores_quorum(const struct db_rows *variables)
{
	struct str provider = value_of(variables, "wsrep_provider_options");

	return has(provider, "pc.ignore_quorum = true") || has(provider, "pc.ignore_sb = true") ||
	       is_on(variables, "wsrep_provider_pc_ignore_quorum") || is_on(variables, "wsrep_provider_pc_ignore_sb");
}

// What must hold for a node of Galera, so that one writer is exact and numbers of changes rise. variables: rows of SHOW
// VARIABLES.
static struct str complaint(const struct db_rows *variables)
{
	if (ignores_quorum(variables))
		return STR("pc.ignore_quorum or pc.ignore_sb is set: after a partition there would be two clusters; set both to false");
	if (!str_eq(value_of(variables, "wsrep_certify_nonpk"), STR("ON")))
		return STR("wsrep_certify_nonPK is OFF: set it to ON");
	if (!str_eq(value_of(variables, "binlog_format"), STR("ROW")))
		return STR("binlog_format is not ROW: Galera needs it");
	if (!str_eq(value_of(variables, "innodb_autoinc_lock_mode"), STR("2")))
		return STR("innodb_autoinc_lock_mode is not 2: Galera needs it");
	if (number_of(variables, "auto_increment_offset") > number_of(variables, "auto_increment_increment"))
		return STR("auto_increment_offset is larger than auto_increment_increment: MariaDB then ignores it, and two nodes may give the same "
			"numbers; leave both to wsrep_auto_increment_control");
	if (str_eq(value_of(variables, "wsrep_desync"), STR("ON")))
		return STR("wsrep_desync is ON: the node falls behind without limit");
	if (str_eq(value_of(variables, "innodb_flush_log_at_trx_commit"), STR("0")))
		return STR("innodb_flush_log_at_trx_commit is 0: if all nodes fail at once, acknowledged changes are lost; set it to 1");
	return STR("");
}

// What must hold for a server without Galera, so that what it acknowledged is not lost with it.
static struct str complaint_of_server(struct pool *pool, const struct cluster_node *node, const struct db_rows *status,
	const struct db_rows *variables)
{
	const struct cluster_replication *own = &node->replication;
	enum { HOUR_MS = 3600000 };

	if (!own->logs)
		return STR("log_bin or log_slave_updates is off: it can't be the primary of replicas");
	if (number_of(variables, "sync_binlog") != 1)
		return STR("sync_binlog is not 1: after a crash it may lack what its replicas have");
	if (str_eq(value_of(variables, "innodb_flush_log_at_trx_commit"), STR("0")))
		return STR("innodb_flush_log_at_trx_commit is 0: acknowledged changes may be lost by a crash; set it to 1");
	if (node->read_only)
		return own->receipts ? STR("") : STR("rpl_semi_sync_slave_enabled is OFF: no primary waits for it");
	if (!own->waits)
		return STR("rpl_semi_sync_master_enabled is OFF: what it acknowledged last may be lost with it");
	if (!str_eq(value_of(variables, "rpl_semi_sync_master_wait_point"), STR("AFTER_SYNC")))
		return STR("rpl_semi_sync_master_wait_point is not AFTER_SYNC: readers see changes that no replica has yet");
	if (!str_eq(value_of(status, "Rpl_semi_sync_master_status"), STR("ON")))
		return STR("semi-synchronous replication has timed out: no replica has what it acknowledges now");
	if (own->waits_ms < HOUR_MS)
		return str_printf(pool, "rpl_semi_sync_master_timeout is %llu ms: when no replica has answered for so long, it acknowledges what it alone has",
			(unsigned long long)own->waits_ms);
	return own->stands_still ? STR("no replica is connected: all writes wait") : STR("");
}

static void take_server(struct pool *pool, struct cluster_node *node, const struct db_rows *status, const struct db_rows *variables)
{
	struct cluster_replication *own = &node->replication;
	struct str host = value_of(variables, "hostname");

	own->server_id = number_of(variables, "server_id");
	own->logs = is_on(variables, "log_bin") && is_on(variables, "log_slave_updates");
	own->waits = is_on(variables, "rpl_semi_sync_master_enabled");
	own->receipts = is_on(variables, "rpl_semi_sync_slave_enabled");
	own->waits_ms = number_of(variables, "rpl_semi_sync_master_timeout");
	own->waiting_for = number_of(status, "Rpl_semi_sync_master_clients");
	own->stands_still = own->waits && str_eq(value_of(status, "Rpl_semi_sync_master_status"), STR("ON")) && own->waiting_for == 0;
	own->report_host = value_of(variables, "report_host");
	own->port = value_of(variables, "port");
	node->name = str_printf(pool, "%.*s:%.*s", STR_ARG(host), STR_ARG(own->port));
	node->primary = node->synced = true;
	node->settings = complaint_of_server(pool, node, status, variables);
}

static void take_state(struct cluster_node *node, struct pool *pool, const struct db_rows *status, const struct db_rows *variables)
{
	struct str me = value_of(variables, "wsrep_node_name");

	node->answers = true;
	node->galera = str_eq(value_of(variables, "wsrep_on"), STR("ON"));
	node->read_only = !str_eq(value_of(variables, "read_only"), STR("OFF"));
	if (!node->galera) {
		take_server(pool, node, status, variables);
		return;
	}
	node->name = me;
	node->state = value_of(status, "wsrep_local_state_comment");
	node->size = number_of(status, "wsrep_cluster_size");
	node->membership = number_of(status, "wsrep_cluster_conf_id");
	node->primary = str_eq(value_of(status, "wsrep_cluster_status"), STR("Primary")) &&
		str_eq(value_of(status, "wsrep_ready"), STR("ON"));
	node->synced = number_of(status, "wsrep_local_state") == 4;
	node->settings = complaint(variables);
}

// Leaves what does not depend on how the node is.
static void forget(struct cluster_node *node, const char *error)
{
	*node = (struct cluster_node){ .host = node->host, .db = node->db, .ask_again_us = node->ask_again_us, .silent_since = node->silent_since,
		.connected = node->connected, .error = str_c(error) };
}

// A cell of a row of SHOW; "" if it is NULL or not there.
static struct str cell_of(const struct db_cells *cells, const char *name)
{
	for (size_t i = 0; i < cells->n; i++) {
		if (str_eq_nocase(cells->names[i], str_c(name)))
			return cells->values[i].p != NULL ? cells->values[i] : STR("");
	}
	return STR("");
}

static void take_replication(struct pool *pool, struct cluster_replication *own, const struct db_cells *cells)
{
	struct str host = cell_of(cells, "Master_Host"), port = cell_of(cells, "Master_Port"), gtid = cell_of(cells, "Using_Gtid");
	struct str receiving = cell_of(cells, "Last_IO_Error"), applying = cell_of(cells, "Last_SQL_Error");

	own->known = true;
	own->is_replica = host.n > 0;
	own->receives = str_eq(cell_of(cells, "Slave_IO_Running"), STR("Yes"));
	own->applies = str_eq(cell_of(cells, "Slave_SQL_Running"), STR("Yes"));
	own->uses_gtid = gtid.n > 0 && !str_eq(gtid, STR("No"));
	own->tls = str_eq(cell_of(cells, "Master_SSL_Allowed"), STR("Yes"));
	own->verifies = str_eq(cell_of(cells, "Master_SSL_Verify_Server_Cert"), STR("Yes"));
	own->ca = cell_of(cells, "Master_SSL_CA_File");
	own->cert = cell_of(cells, "Master_SSL_Cert");
	own->key = cell_of(cells, "Master_SSL_Key");
	own->primary = str_printf(pool, "%.*s:%.*s", STR_ARG(host), STR_ARG(port));
	own->behind = cell_of(cells, "Seconds_Behind_Master");
	own->received = cell_of(cells, "Gtid_IO_Pos");
	own->state = cell_of(cells, "Slave_IO_State");
	own->error = applying.n > 0 ? applying : receiving;
	if (!str_to_u64(cell_of(cells, "Master_Server_Id"), &own->primary_id))
		own->primary_id = 0;
}

bool cluster_ask_replication(struct cluster *cluster, struct cluster_node *node)
{
	const struct str connection = STR("");
	const struct sql_replication_status in = { .connection = { &connection, 1 } };
	struct db_cells cells;

	node->replication.known = false;
	if (db_run_show(node->db, cluster->pool, sql_replication_status_text(cluster->pool, &in), &cells) != DB_OK) {
		node->error = str_dup(cluster->pool, str_c(db_error(node->db)));
		return false;
	}
	take_replication(cluster->pool, &node->replication, &cells);
	return true;
}

static void look_at(struct cluster *cluster, struct cluster_node *node)
{
	struct pool *pool = cluster->pool;
	struct db_call calls[] = { sql_cluster_status_call(pool), sql_cluster_variables_call(pool) };
	struct db_rows rows;
	int64_t begun_us = clock_tick_us();
	bool was_connected = node->connected;

	forget(node, "it did not answer in time");
	if (node->ask_again_us > begun_us && node->silent_since == cluster->arrivals)
		return;
	node->connected = db_run_batch(node->db, pool, calls, COUNT_OF(calls)) == DB_OK; // SHOW is not repeated by db/
	if (!node->connected) {
		int64_t now_us = clock_tick_us();
		node->error = str_dup(pool, str_c(db_error(node->db)));
		node->silent_since = cluster->arrivals;
		if (now_us - begun_us >= CONNECT_S * INT64_C(900000))
			node->ask_again_us = now_us + AGAIN_S * INT64_C(1000000);
		else if (was_connected)
			node->ask_again_us = now_us + LOST_S * INT64_C(1000000);
		return;
	}
	node->error = STR("");
	take_state(node, pool, &calls[0].rows, &calls[1].rows);
	if (node->primary && node->membership > cluster->membership) {
		cluster->arrivals += node->size >= cluster->size;
		cluster->membership = node->membership;
		cluster->size = node->size;
	}
	if (!node->galera && cluster->account == DB_OPERATOR)
		(void)cluster_ask_replication(cluster, node);
	if (!node->primary || sql_cluster_writer_run(node->db, pool, &rows) != DB_OK || rows.n != 1)
		return;
	const struct sql_cluster_writer_row *row = sql_cluster_writer_row(&rows, 0);
	node->has_writer = true;
	node->writer = (struct cluster_writer){ .node = row->node, .next = row->next, .reason = row->reason, .epoch = row->epoch,
		.held = row->held != 0, .since_us = row->since };
}

// Nodes that answer one after the other may do so on both sides of a change of the membership: only those of one count together.
static bool is_member(const struct cluster_node *node, uint64_t membership)
{
	return node->answers && node->galera && node->primary && node->membership == membership;
}

// Are all members of the candidate's component among the nodes that answered? If so, a node that did not answer is no member.
static bool knows_all_members(const struct cluster *cluster, size_t candidate)
{
	uint64_t members = 0;

	// Two entries of the setting may lead to one node.
	for (size_t i = 0; i < cluster->n; i++)
		members += is_member(&cluster->nodes[i], cluster->nodes[candidate].membership) && cluster_find(cluster, cluster->nodes[i].name) == i;
	return members == cluster->nodes[candidate].size;
}

// How many of the nodes that answered have that name.
static size_t namesakes(const struct cluster *cluster, struct str name)
{
	size_t n = 0;

	for (size_t i = 0; i < cluster->n; i++)
		n += cluster->nodes[i].answers && str_eq(cluster->nodes[i].name, name);
	return n;
}

static void find_namesakes(struct cluster *cluster)
{
	for (size_t i = 0; i < cluster->n; i++) {
		struct cluster_node *node = &cluster->nodes[i];
		if (node->answers && node->galera && namesakes(cluster, node->name) > 1)
			node->settings = STR("another node has the same wsrep_node_name, or [database] host names this one twice: it can't be the writer");
	}
}

void cluster_look(struct cluster *cluster)
{
	pool_clear(cluster->pool);
	for (size_t i = 0; i < cluster->n; i++)
		look_at(cluster, &cluster->nodes[i]);
	find_namesakes(cluster);
}

// The entry of the node that was the writer when the nodes were looked at last; n: not known.
static size_t last_writer(const struct cluster *cluster)
{
	const struct cluster_writer *writer = cluster_writer(cluster);

	return writer != NULL ? cluster_find(cluster, writer->node) : cluster->n;
}

void cluster_glance(struct cluster *cluster)
{
	size_t last = last_writer(cluster), others = cluster->n;

	pool_clear(cluster->pool);
	if (last < cluster->n)
		forget(&cluster->nodes[last], "it has left the cluster");
	for (size_t i = 0; i < cluster->n; i++) {
		if (i == last)
			continue;
		look_at(cluster, &cluster->nodes[i]);
		if (cluster->nodes[i].galera && cluster_is_usable(&cluster->nodes[i]))
			others = i;
	}
	if (last < cluster->n && (others == cluster->n || !knows_all_members(cluster, others)))
		look_at(cluster, &cluster->nodes[last]);
	find_namesakes(cluster);
}

bool cluster_is_usable(const struct cluster_node *node)
{
	return node->answers && node->primary && node->synced && !node->read_only && node->has_writer;
}

bool cluster_has_galera(const struct cluster *cluster)
{
	for (size_t i = 0; i < cluster->n; i++) {
		if (cluster->nodes[i].answers && cluster->nodes[i].galera)
			return true;
	}
	return false;
}

const struct cluster_writer *cluster_writer(const struct cluster *cluster)
{
	const struct cluster_writer *newest = NULL;

	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		if (node->has_writer && (newest == NULL || node->writer.epoch > newest->epoch))
			newest = &node->writer;
	}
	return newest;
}

uint64_t cluster_size_at(struct db *db, struct pool *pool)
{
	struct db_rows rows;

	return sql_cluster_status_run(db, pool, &rows) == DB_OK ? number_of(&rows, "wsrep_cluster_size") : 0;
}

size_t cluster_find(const struct cluster *cluster, struct str name)
{
	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		if (name.n > 0 && ((node->answers && str_eq(node->name, name)) || str_eq(node->host, name)))
			return i;
	}
	return cluster->n;
}

// ---- switching

enum cluster_outcome cluster_lock_schema(struct cluster *cluster, struct db *db, struct str *why)
{
	const struct sql_schema_lock in = { .seconds = 0 };
	struct db_rows rows;

	if (sql_schema_lock_run(db, cluster->pool, &in, &rows) != DB_OK) {
		*why = str_dup(cluster->pool, str_c(db_error(db)));
		return CLUSTER_FAILED;
	}
	if (sql_schema_lock_row(&rows, 0)->locked == 1)
		return CLUSTER_DONE;
	*why = STR("`tenure-manage db upgrade`, or another command that changes tables or empties them, is running: wait until it ends");
	return CLUSTER_OVERTAKEN;
}

// One transaction of a switch: from epoch to raised.
struct step {
	struct db *db;
	struct pool *pool;
	struct db_call change; // of the row of the writer
	uint64_t raised;
	struct str node, reason;
	bool overtaken;
};

static enum db_verdict run_step(void *arg)
{
	struct step *step = arg;
	const struct sql_cluster_fence fence = { .epoch = step->raised };
	const struct sql_cluster_record record = { .epoch = step->raised, .node = step->node, .reason = step->reason };
	struct db_call rest[] = { sql_cluster_fence_call(step->pool, &fence), sql_cluster_record_call(step->pool, &record) };

	step->overtaken = false;
	enum db_result result = db_run_call(step->db, step->pool, &step->change);
	step->overtaken = result == DB_OK && step->change.rows.affected == 0;
	if (result != DB_OK || step->overtaken)
		return DB_ROLLBACK;
	return db_run_batch(step->db, step->pool, rest, COUNT_OF(rest)) == DB_OK ? DB_COMMIT : DB_ROLLBACK;
}

static enum cluster_outcome end_step(struct step *step, struct str *why)
{
	enum db_result result = db_txn_run(step->db, DB_WRITE, NULL, run_step, step);

	if (result == DB_OK && !step->overtaken)
		return CLUSTER_DONE;
	*why = result == DB_OK ? STR("somebody else has switched meanwhile") : str_dup(step->pool, str_c(db_error(step->db)));
	return result == DB_OK ? CLUSTER_OVERTAKEN : CLUSTER_FAILED;
}

enum cluster_outcome cluster_resign(struct cluster *cluster, struct db *db, const struct cluster_change *change, bool held, struct str *why)
{
	const struct sql_cluster_resign in = { .epoch = change->epoch, .next = change->node, .held = held, .reason = change->reason };
	struct step step = { .db = db, .pool = cluster->pool, .raised = change->epoch + 1, .node = STR(""), .reason = change->reason };

	step.change = sql_cluster_resign_call(cluster->pool, &in);
	return end_step(&step, why);
}

static enum cluster_outcome appoint(struct cluster *cluster, struct db *db, const struct cluster_change *change, struct str *why)
{
	const struct sql_cluster_appoint in = { .epoch = change->epoch, .node = change->node, .reason = change->reason };
	struct step step = { .db = db, .pool = cluster->pool, .raised = change->epoch + 1, .node = change->node, .reason = change->reason };

	step.change = sql_cluster_appoint_call(cluster->pool, &in);
	return end_step(&step, why);
}

struct db *cluster_open_patient(const struct cluster *cluster, struct db_settings *settings, size_t node)
{
	assert(node < cluster->n);
	*settings = *cluster->settings;
	settings->read_timeout = SWITCH_S;
	return db_open_node(settings, node, cluster->account);
}

enum cluster_outcome cluster_promote(struct cluster *cluster, struct db *db, const struct cluster_change *change, uint64_t raised,
	struct str *why)
{
	const struct sql_cluster_promote in = { .raised = raised, .node = change->node, .reason = change->reason, .epoch = change->epoch };
	struct step step = { .db = db, .pool = cluster->pool, .raised = raised, .node = change->node, .reason = change->reason };

	assert(raised > change->epoch);
	step.change = sql_cluster_promote_call(cluster->pool, &in);
	return end_step(&step, why);
}

enum cluster_outcome cluster_switch(struct cluster *cluster, size_t via, struct str node, struct str reason, struct str *why)
{
	const struct cluster_writer *writer = &cluster->nodes[via].writer;
	struct cluster_change change = { .epoch = writer->epoch, .node = node, .reason = reason };
	struct db_settings settings;
	enum cluster_outcome outcome = CLUSTER_DONE;

	assert(via < cluster->n && cluster->nodes[via].has_writer);
	if (namesakes(cluster, node) > 1) { // two nodes would both take themselves for the writer
		*why = str_printf(cluster->pool, "two nodes are called \"%.*s\"", STR_ARG(node));
		return CLUSTER_FAILED;
	}
	struct db *db = cluster_open_patient(cluster, &settings, via);
	if (writer->node.n > 0) {
		outcome = cluster_resign(cluster, db, &change, false, why);
		change.epoch++;
	}
	// If there was none already, no clock of this host tells since when.
	if (outcome == CLUSTER_DONE && writer->epoch > 0)
		clock_sleep_us(DB_VACANCY_MS * INT64_C(1000));
	if (outcome == CLUSTER_DONE)
		outcome = appoint(cluster, db, &change, why);
	db_close(&db);
	return outcome;
}

enum cluster_outcome cluster_fence(struct cluster *cluster, size_t via, struct str reason, struct str *why)
{
	struct db_settings settings;

	assert(via < cluster->n && cluster->nodes[via].has_writer);
	const struct cluster_change change = { .epoch = cluster->nodes[via].writer.epoch, .node = STR(""), .reason = reason };
	struct db *db = cluster_open_patient(cluster, &settings, via);
	enum cluster_outcome outcome = cluster_resign(cluster, db, &change, true, why);
	db_close(&db);
	return outcome;
}

// ---- deciding

// Can that node be made the writer? Not one whose row of the writer is not the newest: it may have been frozen, and not know yet
// that it was dropped.
static bool can_be_writer(const struct cluster_node *node, uint64_t epoch)
{
	return cluster_is_usable(node) && node->galera && node->writer.epoch == epoch;
}

// The first such node in the order of the setting; n: none.
static size_t candidate(const struct cluster *cluster, uint64_t epoch)
{
	size_t i = 0;

	while (i < cluster->n && !can_be_writer(&cluster->nodes[i], epoch))
		i++;
	return i;
}

// What was so at the last look was not seen to last if more time has passed since than a look takes: the process stood still.
static void forget_gap(const struct cluster *cluster, struct cluster_memory *memory, int64_t now_us)
{
	int64_t most_us = (int64_t)(cluster->n * (CONNECT_S + READ_S) + 1) * 1000000;

	if (now_us - memory->looked_us > most_us)
		memory->gone_us = memory->weak_us = memory->vacant_us = 0;
	memory->looked_us = now_us;
}

static bool lasts(int64_t *since_us, int64_t now_us, int64_t ms)
{
	if (*since_us == 0)
		*since_us = now_us;
	return now_us - *since_us >= ms * 1000;
}

bool cluster_must_switch(const struct cluster *cluster, struct cluster_memory *memory, int64_t now_us, size_t *via, size_t *target,
	struct str *reason)
{
	const struct cluster_writer *writer = cluster_writer(cluster);
	size_t best = writer != NULL ? candidate(cluster, writer->epoch) : cluster->n;

	forget_gap(cluster, memory, now_us);
	if (best == cluster->n || writer->held) {
		memory->gone_us = memory->weak_us = memory->vacant_us = 0;
		return false;
	}
	if (memory->epoch != writer->epoch)
		*memory = (struct cluster_memory){ .epoch = writer->epoch, .looked_us = now_us, .switched_us = memory->epoch != 0 ? now_us : 0 };
	*via = *target = best;
	if (writer->node.n == 0) {
		size_t next = cluster_find(cluster, writer->next);
		*target = next < cluster->n && can_be_writer(&cluster->nodes[next], writer->epoch) ? next : best;
		*reason = STR("there was no writer");
		return lasts(&memory->vacant_us, now_us, writer->next.n > 0 ? NEXT_S * 1000 : DB_VACANCY_MS);
	}
	size_t at = cluster_find(cluster, writer->node);
	const struct cluster_node *node = at < cluster->n ? &cluster->nodes[at] : NULL;
	if (node != NULL && cluster_is_usable(node)) {
		memory->gone_us = memory->weak_us = 0;
		return false;
	}
	if (node != NULL && node->answers && node->primary) {
		memory->gone_us = 0;
		*via = node->has_writer && !node->read_only ? at : best;
		*reason = !node->has_writer ? STR("the writer does not answer queries") :
			node->read_only ? STR("the writer is read-only") : STR("the writer is not synced");
		return lasts(&memory->weak_us, now_us, WEAK_S * 1000);
	}
	memory->weak_us = 0;
	*reason = STR("the writer is gone");
	if (knows_all_members(cluster, best))
		return true;
	return lasts(&memory->gone_us, now_us, UNSEEN_S * 1000) &&
		(memory->switched_us == 0 || now_us - memory->switched_us >= STEADY_S * INT64_C(1000000));
}
