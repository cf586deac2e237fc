// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/clock.h"
#include "base/memory.h"
#include "manage/database/nodes.h"
#include "registry/upkeep/cluster.h"
#include "sql/schema.h"

enum { LOOK_MS = 200, TELL_EACH_LOOKS = 50 };

// A connection to each node, which holds the lock of the schema there: whoever runs `tenure-manage db upgrade` connects to the
// writer, which changes meanwhile. locks[i] NULL: the lock there is held by the connection that the command began with.
struct nodes {
	struct cluster *cluster;
	struct db *locks[CLUSTER_NODES];
	struct db *first; // the command's own connection, once it was replaced
};

static bool is_synced(const struct cluster_node *node)
{
	return node->answers && node->galera && node->primary && node->synced;
}

// All nodes that the cluster has are named, answer and are synced.
static bool is_whole(const struct cluster *cluster)
{
	for (size_t i = 0; i < cluster->n; i++) {
		if (!is_synced(&cluster->nodes[i]) || cluster->nodes[i].size != cluster->n)
			return false;
	}
	return cluster->n > 1;
}

static size_t writer_of(const struct cluster *cluster)
{
	const struct cluster_writer *writer = cluster_writer(cluster);
	return writer != NULL ? cluster_find(cluster, writer->node) : cluster->n;
}

// False: somebody else upgrades through that node, or it can't be asked.
static bool lock_node(struct manage *manage, struct nodes *nodes, size_t i)
{
	struct db_rows rows;
	const struct sql_schema_lock in = { .seconds = 0 };
	nodes->locks[i] = db_open_node(&manage->patient, i, DB_OPERATOR);
	return sql_schema_lock_run(nodes->locks[i], manage->pool, &in, &rows) == DB_OK && sql_schema_lock_row(&rows, 0)->locked == 1;
}

struct nodes *nodes_open(struct manage *manage)
{
	struct nodes *nodes = memory_zeroed(1, sizeof(*nodes));
	nodes->cluster = cluster_open(db_settings(manage->config), DB_OPERATOR);
	cluster_look(nodes->cluster);
	size_t writer = writer_of(nodes->cluster);
	bool is_ready = is_whole(nodes->cluster) && writer < nodes->cluster->n;
	for (size_t i = 0; is_ready && i < nodes->cluster->n; i++)
		is_ready = i == writer || lock_node(manage, nodes, i);
	if (is_ready)
		return nodes;
	if (cluster_has_galera(nodes->cluster))
		printf("  not all nodes of the cluster can build it one after the other (tenure-manage cluster status): writers wait until it is built\n");
	nodes_close(&nodes);
	return NULL;
}

void nodes_close(struct nodes **nodes)
{
	if (*nodes == NULL)
		return;
	for (size_t i = 0; i < CLUSTER_NODES; i++)
		db_close(&(*nodes)->locks[i]);
	db_close(&(*nodes)->first);
	cluster_close(&(*nodes)->cluster);
	free(*nodes);
	*nodes = NULL;
}

static int not_whole(const struct cluster *cluster)
{
	for (size_t i = 0; i < cluster->n; i++) {
		if (!is_synced(&cluster->nodes[i]))
			return manage_fail(EX_TEMPFAIL, "%.*s has left the cluster, or does not follow it; run `tenure-manage db upgrade` again when it is back",
				STR_ARG(cluster->nodes[i].host));
	}
	return manage_fail(EX_TEMPFAIL, "the cluster has another number of nodes than [database] host names; run `tenure-manage db upgrade` again");
}

// What the node missed while it built indexes, it gets behind that.
static int wait_until_whole(struct cluster *cluster)
{
	for (size_t looks = 1;; looks++) {
		bool is_behind = false;
		cluster_look(cluster);
		if (is_whole(cluster) && writer_of(cluster) < cluster->n)
			return EX_OK;
		// One that catches up is in the primary component all the time.
		for (size_t i = 0; i < cluster->n; i++)
			is_behind |= cluster->nodes[i].answers && cluster->nodes[i].primary && !cluster->nodes[i].synced;
		if (!is_behind && looks > TELL_EACH_LOOKS)
			return not_whole(cluster);
		if (looks % TELL_EACH_LOOKS == 0) {
			printf("  waiting until all nodes of the cluster have caught up\n");
			fflush(stdout);
		}
		clock_pause_ms(LOOK_MS);
	}
}

// By two connections of its own, so that no other statement is done on one node alone.
static int build_on(struct manage *manage, const struct cluster *cluster, size_t node, struct str statements, nodes_run *run)
{
	struct db *db = db_open_node(&manage->patient, node, DB_OPERATOR), *guard = db_open_node(&manage->patient, node, DB_OPERATOR);
	struct str statement;
	printf("  on %.*s\n", STR_ARG(cluster->nodes[node].name));
	fflush(stdout);
	enum db_result result = sql_schema_on_one_node_run(db, manage->pool, NULL);
	while (result == DB_OK && db_script_next(&statements, &statement))
		result = run(db, guard, statement);
	int code = EX_OK;
	if (result != DB_OK)
		code = manage_fail(EX_TEMPFAIL, "%.*s could not build the indexes: %s; run `tenure-manage db upgrade` again", STR_ARG(cluster->nodes[node].name),
			db_error(db));
	db_close(&guard);
	db_close(&db);
	return code;
}

// The command goes on by connections to the new writer; the one that it began with keeps its lock.
static int switch_writer(struct nodes *nodes, struct manage *manage, struct db **guard, size_t from, size_t to)
{
	struct str why = STR("");
	struct str name = nodes->cluster->nodes[to].name;
	enum cluster_outcome outcome = cluster_switch(nodes->cluster, from, name, STR("tenure-manage db upgrade"), &why);
	if (outcome == CLUSTER_FAILED)
		return manage_fail(EX_TEMPFAIL, "%.*s could not be made the writer: %.*s; run `tenure-manage db upgrade` again", STR_ARG(name), STR_ARG(why));
	if (outcome == CLUSTER_DONE)
		printf("  %.*s is the writer\n", STR_ARG(name));
	if (nodes->first == NULL)
		nodes->first = manage->db;
	else
		db_close(&manage->db);
	db_close(guard);
	manage->db = manage_db_open(manage, &manage->patient, DB_OPERATOR);
	*guard = manage_db_open(manage, &manage->patient, DB_OPERATOR);
	return EX_OK;
}

int nodes_build(struct nodes *nodes, struct manage *manage, struct db **guard, struct str statements, nodes_run *run)
{
	struct cluster *cluster = nodes->cluster;
	bool is_built[CLUSTER_NODES] = { false };
	for (size_t n_built = 0; n_built < cluster->n;) {
		int code = wait_until_whole(cluster);
		if (code != EX_OK)
			return code;
		size_t writer = writer_of(cluster), next = 0, other = writer == 0 ? 1 : 0;
		while (next < cluster->n && (next == writer || is_built[next]))
			next++;
		if (next < cluster->n) {
			code = build_on(manage, cluster, next, statements, run);
			is_built[next] = true;
			n_built++;
		} else if (is_built[writer]) {
			break;
		} else {
			code = switch_writer(nodes, manage, guard, writer, other);
		}
		if (code != EX_OK)
			return code;
	}
	return wait_until_whole(cluster);
}
