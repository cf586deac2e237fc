// SPDX-License-Identifier: Apache-2.0
// tenure-manage db restored: makes a database that was loaded from a backup fit to be served. What ended after the backup was
// made would go on in it: tokens that were revoked since, sessions of the console, and the earlier writer of a cluster.
#include "base/base.h"

#include <errno.h>

#include "auth/core/auth.h"
#include "base/clock.h"
#include "manage/commands.h"
#include "manage/database/schema.h"
#include "registry/log/log_position.h"
#include "registry/upkeep/cluster.h"
#include "sql/dump_all.h"
#include "sql/horizon.h"
#include "sql/moves.h"
#include "sql/schema.h"
#include "sql/session.h"
#include "sql/sessions.h"

// A process that was told to stop may take as long to end its connection.
enum { LAST_CONNECTION_S = 5 };
enum { HORIZON_VERSION = 10 }; // of the schema: log_horizon is there

static bool takes_changes(const struct cluster_node *node)
{
	return node->answers && node->primary && node->synced && !node->read_only;
}

// Sets *at to the server that was restored, and looks at it: any node of Galera, since they have the same data; otherwise the
// only one that takes changes. EX_OK, or an exit code after a message.
static int find_restored(struct manage *manage, struct cluster *cluster, size_t *at)
{
	size_t n = 0, answering = 0;

	cluster_look(cluster);
	for (size_t i = 0; i < cluster->n; i++)
		answering += cluster->nodes[i].answers;
	if (answering == 0) {
		manage->db = db_open_node(db_settings(manage->config), 0, DB_OPERATOR);
		enum db_result result = db_connect(manage->db);
		return result != DB_OK ? manage_connect_fail(manage, result) : manage_fail(EX_TEMPFAIL, "the database has just come back: run this again");
	}
	for (size_t i = 0; i < cluster->n; i++) {
		if (!takes_changes(&cluster->nodes[i]) || (n > 0 && cluster->nodes[i].galera))
			continue;
		*at = i;
		n++;
	}
	if (n > 1)
		return manage_fail(EX_UNAVAILABLE, "several servers take changes: SET GLOBAL read_only = ON on all but the one that was restored; see "
			"`tenure-manage cluster status`");
	if (n == 0 && cluster->n == 1)
		return manage_fail(EX_UNAVAILABLE, "the server takes no changes: it is read-only, or not in the primary component");
	if (n == 0)
		return manage_fail(EX_UNAVAILABLE, "none of the servers takes changes; see `tenure-manage cluster status`");
	// The backup may have been loaded on another node, behind which this one is.
	if (cluster->nodes[*at].galera && sql_session_sync_run(cluster->nodes[*at].db, manage->pool, NULL) != DB_OK)
		return manage_fail(EX_TEMPFAIL, "can't ask %.*s: %s", STR_ARG(cluster->nodes[*at].name), db_error(cluster->nodes[*at].db));
	if (cluster->nodes[*at].galera)
		cluster_look(cluster);
	if (!takes_changes(&cluster->nodes[*at]))
		return manage_fail(EX_TEMPFAIL, "%.*s has not applied what was loaded: run this again", STR_ARG(cluster->nodes[*at].host));
	return EX_OK;
}

// Refuses if others are connected to the server of db as the user of that handle, while it lasts.
static int refuse_connections(const struct manage *manage, struct db *db, struct str server)
{
	uint64_t others = 1;

	for (int tries = 0; others > 0 && tries <= LAST_CONNECTION_S; tries++) {
		struct db_rows rows;
		if (tries > 0)
			clock_sleep_us(INT64_C(1000000));
		if (sql_connections_of_user_run(db, manage->pool, &rows) != DB_OK)
			return manage_fail(EX_TEMPFAIL, "can't list the connections to %.*s: %s", STR_ARG(server), db_error(db));
		others = sql_connections_of_user_row(&rows, 0)->n;
	}
	if (others > 0)
		return manage_fail(EX_UNAVAILABLE, "there %s %llu other connection%s to the database on %.*s: stop tenured and tenured-host, on all hosts",
			others == 1 ? "is" : "are", COUNT_ARG(others), STR_ARG(server));
	return EX_OK;
}

// Workers know what they have read by the ids of changes, which the backup gives anew. So none may be connected, to any of the
// servers. The operator's account need not see the connections of the application's.
static int refuse_others(const struct manage *manage, const struct cluster *cluster)
{
	const struct db_settings *settings = db_settings(manage->config);
	bool own_account = settings->admin_user[0] != '\0' && strcmp(settings->admin_user, settings->user) != 0;
	int code = EX_OK;

	for (size_t i = 0; i < cluster->n && code == EX_OK; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		if (!node->answers)
			continue;
		struct db *db = own_account ? db_open_node(settings, i, DB_APPLICATION) : node->db;
		code = refuse_connections(manage, db, node->name);
		if (own_account)
			db_close(&db);
	}
	return code;
}

// The backup names the writer of its time. The epoch is above all that there were since: a server that was the writer once, and
// comes back, is not used. A single server has no writer, but for a node of Galera, whose cluster may be named later.
static int appoint(const struct manage *manage, struct cluster *cluster, const struct cluster_node *node)
{
	const struct cluster_writer *writer = &node->writer;
	uint64_t now = (uint64_t)(clock_now_us() / 1000000), epoch = writer->epoch < now ? now : writer->epoch + 1;
	const struct cluster_change change = { .epoch = writer->epoch, .node = node->name, .reason = STR("restored") };
	struct str why = STR("");

	if (!node->has_writer || (writer->epoch == 0 && !node->galera)) {
		if (cluster->n > 1)
			printf("writer: none yet; run `tenure-manage cluster switch %.*s`\n", STR_ARG(node->name));
		return EX_OK;
	}
	if (cluster_promote(cluster, manage->db, &change, epoch, &why) != CLUSTER_DONE)
		return manage_fail(EX_TEMPFAIL, "can't make %.*s the writer: %.*s", STR_ARG(node->name), STR_ARG(why));
	printf("writer: %.*s\n", STR_ARG(node->name));
	return EX_OK;
}

// Readers know the log by the ids of changes that were made after the backup: these ids are not given again.
static int raise_change_ids(const struct manage *manage)
{
	const struct str table = STR("changes");
	struct db_rows rows;
	enum db_result result = sql_horizon_newest_run(manage->db, manage->pool, &rows);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't read the change log");
	uint64_t newest = sql_horizon_newest_row(&rows, 0)->newest, first = (uint64_t)clock_now_us() / 1000000 * LOG_IDS_A_SECOND;
	if (first < newest + 2 * LOG_IDS_A_SECOND) // the clock is wrong
		first = newest + 2 * LOG_IDS_A_SECOND;
	const struct str next = str_printf(manage->pool, "{\"changes\":%llu}", (unsigned long long)first);
	const struct sql_restore_all_next_ids in = { .tables = { &table, 1 }, .next = { &next, 1 } };
	const struct sql_horizon_publish publish = { .reached = first - 1 };
	result = db_run_script(manage->db, sql_restore_all_next_ids_text(manage->pool, &in));
	if (result == DB_OK)
		result = sql_horizon_publish_run(manage->db, manage->pool, &publish, NULL);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't raise the ids of changes");
	printf("changes go on at id %llu\n", (unsigned long long)first);
	return EX_OK;
}

static int end_sessions(const struct manage *manage)
{
	struct db_rows rows, ended;
	enum db_result result = sql_schema_registry_tables_run(manage->db, manage->pool, &rows);
	bool found = false;

	// An earlier release has none.
	for (size_t i = 0; result == DB_OK && i < rows.n; i++)
		found |= str_eq(sql_schema_registry_tables_row(&rows, i)->table_name, STR("sessions"));
	if (result == DB_OK && found)
		result = sql_session_delete_all_run(manage->db, manage->pool, &ended);
	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't end the sessions of the console");
	if (found)
		printf("sessions ended: %llu\n", (unsigned long long)ended.affected);
	return EX_OK;
}

static int give_up_moves(const struct manage *manage)
{
	const struct sql_mover_give_up in = { .detail = STR("given up after a restore"), .now = clock_now_us() };
	struct db_rows rows;
	enum db_result result = sql_mover_give_up_run(manage->db, manage->pool, &in, &rows);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't give up the moves");
	printf("moves given up: %llu\n", (unsigned long long)rows.affected);
	return EX_OK;
}

// ids NULL: all.
static int revoke_tokens(struct manage *manage, FILE *ids, const char *name)
{
	uint64_t n = 0;

	if (ids != NULL)
		return manage_revoke_listed(manage, ids, name);
	enum outcome outcome = auth_token_revoke_all(manage->db, manage->pool, STR_NONE, &n);
	if (!outcome_commits(outcome))
		return manage_fail(manage_exit_code(outcome), "%s", outcome_title(outcome));
	printf("revoked %llu\n", (unsigned long long)n);
	return EX_OK;
}

// manage->db is connected to the server that was restored, nodes[at].
static int put_right(struct manage *manage, struct cluster *cluster, size_t at, FILE *ids)
{
	enum schema_state state;
	uint64_t version;
	int code = manage_lock_schema(manage, manage->db);

	if (code == EX_OK && !schema_ask(manage, &state, &version))
		code = EX_TEMPFAIL;
	if (code == EX_OK && state != SCHEMA_PRESENT)
		code = manage_fail(EX_DATAERR, "database \"%s\" has no whole schema: see `tenure-manage db status`", db_settings(manage->config)->name);
	if (code == EX_OK)
		code = appoint(manage, cluster, &cluster->nodes[at]);
	if (code == EX_OK && version >= HORIZON_VERSION)
		code = raise_change_ids(manage);
	if (code == EX_OK)
		code = end_sessions(manage);
	if (code == EX_OK)
		code = revoke_tokens(manage, ids, manage_option(manage, "--revoke"));
	if (code == EX_OK && manage_option(manage, "--cancel-moves") != NULL)
		code = give_up_moves(manage);
	return code;
}

int command_db_restored(struct manage *manage)
{
	const char *list = manage_option(manage, "--revoke");
	bool all = manage_option(manage, "--revoke-all") != NULL;
	struct db_settings settings;
	FILE *ids = NULL;
	size_t at = 0;

	if (all == (list != NULL))
		return manage_fail(EX_USAGE, "db restored takes either --revoke FILE or --revoke-all: tokens that were revoked after the backup was made are "
			"valid in it");
	if (list != NULL)
		ids = strcmp(list, "-") == 0 ? stdin : fopen(list, "r");
	if (list != NULL && ids == NULL)
		return manage_fail(EX_NOINPUT, "can't open %s: %s", list, strerror(errno));
	struct cluster *cluster = cluster_open(db_settings(manage->config), DB_OPERATOR);
	int code = find_restored(manage, cluster, &at);
	if (code == EX_OK)
		code = refuse_others(manage, cluster);
	if (code == EX_OK) {
		manage->db = cluster_open_patient(cluster, &settings, at);
		code = put_right(manage, cluster, at, ids);
	}
	db_close(&manage->db);
	cluster_close(&cluster);
	if (ids != NULL && ids != stdin)
		fclose(ids);
	return code;
}
