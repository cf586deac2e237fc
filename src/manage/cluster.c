// SPDX-License-Identifier: Apache-2.0
// tenure-manage cluster: how the nodes of the database are, which one is the writer, and to make another one the writer.
#include "base/base.h"

#include <time.h>

#include "manage/commands.h"
#include "manage/core/table.h"
#include "registry/upkeep/cluster.h"
#include "registry/upkeep/promotion.h"

// Connects to the servers, each of which is asked for its state. The caller closes the cluster.
static struct cluster *open_and_look(const struct manage *manage)
{
	struct cluster *cluster = cluster_open(db_settings(manage->config), DB_OPERATOR);

	cluster_look(cluster);
	return cluster;
}

static const char *role_of(const struct cluster *cluster, const struct cluster_node *node)
{
	const struct cluster_writer *writer = cluster_writer(cluster);

	if (!node->answers)
		return "away";
	if (writer != NULL && str_eq(writer->node, node->name))
		return "writer";
	if (!node->galera && node->replication.is_replica && node->read_only)
		return "replica";
	return cluster_is_usable(node) && (node->galera || writer == NULL || writer->epoch == 0) ? "ready" : "not used";
}

static bool is_writer(const struct cluster *cluster, const struct cluster_node *node)
{
	const struct cluster_writer *writer = cluster_writer(cluster);

	return writer != NULL && node->answers && writer->node.n > 0 && str_eq(writer->node, node->name);
}

// A server without Galera that takes changes, though another one, or none, is the writer.
static bool is_rival(const struct cluster *cluster, const struct cluster_node *node)
{
	const struct cluster_writer *writer = cluster_writer(cluster);

	return node->answers && !node->galera && !node->read_only && cluster->n > 1 && writer != NULL && writer->epoch > 0 && !is_writer(cluster, node);
}

static struct str state_of(const struct manage *manage, const struct cluster *cluster, const struct cluster_node *node)
{
	const struct cluster_replication *own = &node->replication;

	if (!node->answers)
		return STR("-");
	if (node->galera)
		return node->state;
	if (is_writer(cluster, node))
		return own->waits ? str_printf(manage->pool, "semi-sync, %llu replica%s", (unsigned long long)own->waiting_for, own->waiting_for == 1 ? "" : "s") :
			STR("not semi-sync");
	if (!own->known || !own->is_replica)
		return STR("no replica");
	if (!own->receives || !own->applies)
		return own->applies ? STR("receives nothing") : STR("applies nothing");
	return str_printf(manage->pool, "replica, %.*s s behind", STR_ARG(own->behind.n > 0 ? own->behind : STR("?")));
}

static struct str remark_of(const struct cluster *cluster, const struct cluster_node *node)
{
	if (!node->answers)
		return node->error;
	if (is_rival(cluster, node))
		return STR("it takes changes, and is not the writer: SET GLOBAL read_only = ON there");
	if (!node->galera && !node->replication.known)
		return node->error;
	if (node->read_only && (node->galera || is_writer(cluster, node) || (node->replication.error.n == 0 && node->settings.n == 0)))
		return STR("read-only");
	if (!node->galera && node->replication.error.n > 0)
		return node->replication.error;
	return !node->primary ? STR("not in the primary component") :
		!node->has_writer ? STR("no table writer: run `tenure-manage db init`, or db upgrade") : node->settings;
}

// Returns how many servers take changes and may not.
static size_t print_nodes(const struct manage *manage, const struct cluster *cluster)
{
	static const struct table_column columns[] = { { "HOST", false }, { "NODE", false }, { "ROLE", false }, { "STATE", false }, { "REMARK", false } };
	struct table table;
	size_t rivals = 0;

	table_init(&table, manage->pool, columns, COUNT_OF(columns));
	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		bool alone = cluster->n == 1 && node->answers && !node->galera;
		const struct str cells[] = {
			node->host.n > 0 ? node->host : STR("localhost"),
			node->answers ? node->name : STR("-"),
			str_c(role_of(cluster, node)),
			alone ? STR("-") : state_of(manage, cluster, node),
			alone ? STR("") : remark_of(cluster, node),
		};
		table_add(&table, cells);
		rivals += is_rival(cluster, node);
	}
	table_print(&table, false, stdout);
	return rivals;
}

// With one name connections do not look for the writer, and nothing is fenced (db/writer.c). It may be a load balancer's, or on
// each host that of another node.
void manage_tell_unfenced(FILE *to, uint64_t nodes)
{
	fprintf(to, "[database] host names one server of a cluster of %llu: nothing keeps hosts of Tenure from writing to several of them at once; name all "
		"nodes\n", (unsigned long long)nodes);
}

int command_cluster_status(struct manage *manage)
{
	struct cluster *cluster = open_and_look(manage);
	const struct cluster_writer *writer = cluster_writer(cluster);
	int code = EXIT_FAILED;

	size_t rivals = print_nodes(manage, cluster);
	if (cluster->n == 1 && cluster->nodes[0].size > 1) {
		printf("\n");
		manage_tell_unfenced(stdout, cluster->nodes[0].size);
		code = EXIT_FOUND;
	} else if (cluster->n == 1 && cluster->nodes[0].answers) {
		printf("\n[database] host names one server, which takes all changes.\n");
		code = EXIT_CLEAN;
	} else if (writer == NULL) {
		manage_fail(0, "no node answers that is in the primary component and has the schema");
	} else {
		size_t at = cluster_find(cluster, writer->node);
		bool serves = at < cluster->n && cluster_is_usable(&cluster->nodes[at]) && !cluster->nodes[at].replication.stands_still;

		printf("\nwriter  %.*s\nepoch   %llu\nreason  %.*s\n", STR_ARG(writer->node.n > 0 ? writer->node : STR("none")),
			(unsigned long long)writer->epoch, STR_ARG(writer->reason));
		code = serves && rivals == 0 ? EXIT_CLEAN : EXIT_FOUND;
		if (writer->held)
			printf("\nAll writes are stopped. `tenure-manage cluster switch NODE` lets them go on.\n");
	}
	cluster_close(&cluster);
	return code;
}

static int refuse_single_server(const struct cluster *cluster)
{
	if (cluster->n > 1)
		return EX_OK;
	return manage_fail(EX_UNAVAILABLE, "[database] host names one server, which takes all changes: there is nothing to switch or to stop");
}

// Prints why it was not done, if so.
static int exit_code_of(enum cluster_outcome outcome, struct str why)
{
	if (outcome == CLUSTER_DONE)
		return EX_OK;
	return manage_fail(EX_TEMPFAIL, "%.*s; see `tenure-manage cluster status`", STR_ARG(why));
}

// By way of the present writer, whose transactions are then waited for. If they take too long, or it can't be asked, by way of
// the new one: what is running on the old one is rolled back.
static int switch_to(const struct manage *manage, struct cluster *cluster, size_t target)
{
	const struct cluster_writer *writer = cluster_writer(cluster);
	size_t at = cluster_find(cluster, writer->node);
	struct str why = STR(""), name = str_dup(manage->pool, cluster->nodes[target].name), reason = STR("tenure-manage cluster switch");
	bool asks = at < cluster->n && at != target && cluster->nodes[at].has_writer && !cluster->nodes[at].read_only;

	// A writer that does not answer any more runs no command either.
	if (at < cluster->n && cluster->nodes[at].answers && cluster_lock_schema(cluster, cluster->nodes[at].db, &why) == CLUSTER_OVERTAKEN)
		return exit_code_of(CLUSTER_OVERTAKEN, why);
	enum cluster_outcome outcome = cluster_switch(cluster, asks ? at : target, name, reason, &why);

	if (outcome == CLUSTER_FAILED && asks) {
		why = str_dup(manage->pool, why);
		cluster_look(cluster);
		target = cluster_find(cluster, name);
		if (target < cluster->n && cluster_is_usable(&cluster->nodes[target]))
			outcome = cluster_switch(cluster, target, cluster->nodes[target].name, reason, &why);
	}
	if (outcome == CLUSTER_DONE)
		printf("%.*s is the writer\n", STR_ARG(name));
	return exit_code_of(outcome, why);
}

// Without Galera: a promotion, which an operator alone decides.
static int promote(struct cluster *cluster, size_t target, bool force)
{
	struct str name = cluster->nodes[target].name, reasons = promotion_refusal(cluster, target, force), why = STR(""), notes = STR(""), line;

	if (reasons.n > 0)
		(void)manage_fail(0, "%.*s can't be made the primary:", STR_ARG(name));
	while (reasons.n > 0 && str_split(&reasons, '\n', &line)) {
		if (line.n > 0)
			fprintf(stderr, "  %.*s\n", STR_ARG(line));
		if (reasons.n == 0)
			return EX_TEMPFAIL;
	}
	enum cluster_outcome outcome = promotion_run(cluster, target, force, force ? STR("tenure-manage cluster switch --force") :
		STR("tenure-manage cluster switch"), &why, &notes);
	if (outcome == CLUSTER_DONE)
		printf("%.*s is the writer\n", STR_ARG(name));
	fprintf(outcome == CLUSTER_DONE ? stdout : stderr, "%.*s", STR_ARG(notes));
	return exit_code_of(outcome, why);
}

int command_cluster_switch(struct manage *manage)
{
	bool force = manage_option(manage, "--force") != NULL;
	struct str name = str_c(manage->arguments[0]);
	struct cluster *cluster = open_and_look(manage);
	const struct cluster_writer *writer = cluster_writer(cluster);
	size_t target = cluster_find(cluster, name);
	int code = refuse_single_server(cluster);

	if (code != EX_OK)
		; // said already
	else if (target == cluster->n || !cluster->nodes[target].answers)
		code = manage_fail(EX_DATAERR, "no node that answers is called \"%.*s\"; `tenure-manage cluster status` lists them", STR_ARG(name));
	else if (!cluster_has_galera(cluster))
		code = promote(cluster, target, force);
	else if (force)
		code = manage_fail(EX_USAGE, "--force is for a primary with replicas; this is a cluster of Galera, which decides itself who is gone");
	else if (!cluster_is_usable(&cluster->nodes[target]) || cluster->nodes[target].writer.epoch != writer->epoch)
		code = manage_fail(EX_TEMPFAIL, "%.*s can't be the writer now; `tenure-manage cluster status` says why", STR_ARG(name));
	else if (str_eq(writer->node, cluster->nodes[target].name))
		code = printf("%.*s is the writer already\n", STR_ARG(writer->node)) < 0 ? EX_IOERR : EX_OK;
	else
		code = switch_to(manage, cluster, target);
	cluster_close(&cluster);
	return code;
}

int command_cluster_fence(struct manage *manage)
{
	struct cluster *cluster = open_and_look(manage);
	const struct cluster_writer *writer = cluster_writer(cluster);
	int code = refuse_single_server(cluster);
	if (code == EX_OK && !cluster_has_galera(cluster) && (writer == NULL || writer->epoch == 0))
		code = manage_fail(EX_UNAVAILABLE, "no server was made the writer yet, so none can be stopped: `tenure-manage cluster switch NODE`");
	if (code != EX_OK) {
		cluster_close(&cluster);
		return code;
	}
	enum cluster_outcome outcome = CLUSTER_FAILED;
	struct str why = STR("no node can be asked");
	size_t at = writer != NULL ? cluster_find(cluster, writer->node) : cluster->n;

	if (at < cluster->n && cluster->nodes[at].has_writer)
		outcome = cluster_fence(cluster, at, STR("tenure-manage cluster fence"), &why);
	for (size_t i = 0; outcome == CLUSTER_FAILED && i < cluster->n; i++) {
		if (cluster_is_usable(&cluster->nodes[i]) && cluster->nodes[i].writer.epoch == writer->epoch)
			outcome = cluster_fence(cluster, i, STR("tenure-manage cluster fence"), &why);
	}
	if (outcome == CLUSTER_DONE)
		printf("nothing is written any more\n");
	code = exit_code_of(outcome, why);
	cluster_close(&cluster);
	return code;
}
