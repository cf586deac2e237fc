// SPDX-License-Identifier: Apache-2.0
// tenure-manage cluster: how the nodes of the database are, which one is the writer, and to make another one the writer.
#include "base/base.h"

#include <time.h>

#include "manage/commands.h"
#include "manage/core/table.h"
#include "registry/upkeep/cluster.h"

static struct cluster *look(const struct manage *manage)
{
	struct cluster *cluster = cluster_open(db_settings(manage->config), true);

	if (cluster != NULL)
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
	return cluster_is_usable(node) ? "ready" : "not used";
}

static void print_nodes(const struct cluster *cluster)
{
	printf("%-24s %-16s %-9s %-16s %s\n", "HOST", "NODE", "ROLE", "STATE", "REMARK");
	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		struct str state = !node->answers ? STR("-") : node->state.n > 0 ? node->state : STR("no Galera");
		struct str name = node->answers ? node->name : STR("-");
		struct str remark = !node->answers ? node->error : node->read_only ? STR("read-only") :
			!node->primary ? STR("not in the primary component") :
			!node->has_writer ? STR("no table writer: run `tenure-manage db init`, or db upgrade") : node->settings;

		printf("%-24.*s %-16.*s %-9s %-16.*s %.*s\n", STR_ARG(node->host), STR_ARG(name), role_of(cluster, node), STR_ARG(state),
			STR_ARG(remark));
	}
}

int command_cluster_status(struct manage *manage)
{
	struct cluster *cluster = look(manage);
	if (cluster == NULL)
		return manage_fail(EXIT_FAILED, "no memory");
	const struct cluster_writer *writer = cluster_writer(cluster);
	int code = EXIT_FAILED;

	print_nodes(cluster);
	if (cluster->n == 1 && cluster->nodes[0].answers) {
		printf("\n[database] host names one server, which takes all changes.\n");
		code = EXIT_CLEAN;
	} else if (writer == NULL) {
		manage_fail(0, "no node answers that is in the primary component and has the schema");
	} else {
		size_t at = cluster_find(cluster, writer->node);
		bool serves = at < cluster->n && cluster_is_usable(&cluster->nodes[at]);

		printf("\nwriter  %.*s\nepoch   %llu\nreason  %.*s\n", STR_ARG(writer->node.n > 0 ? writer->node : STR("none")),
			(unsigned long long)writer->epoch, STR_ARG(writer->reason));
		code = serves ? EXIT_CLEAN : EXIT_FOUND;
		if (writer->held)
			printf("\nAll writes are stopped. `tenure-manage cluster switch NODE` lets them go on.\n");
	}
	cluster_close(&cluster);
	return code;
}

// Only nodes of Galera are fenced (doc/cluster.md): elsewhere a row of the writer would stop nobody.
static int refuse_without_galera(const struct cluster *cluster)
{
	for (size_t i = 0; i < cluster->n; i++) {
		if (cluster->nodes[i].galera && cluster->n > 1)
			return EX_OK;
	}
	return manage_fail(EX_UNAVAILABLE, cluster->n == 1 ? "[database] host names one server, which takes all changes: there is nothing to switch or to stop" :
		"no node of a Galera cluster answers; without Galera, Tenure does not know a writer");
}

static int tell(enum cluster_outcome outcome, struct str why)
{
	if (outcome == CLUSTER_DONE)
		return EX_OK;
	return manage_fail(EX_TEMPFAIL, "%.*s; see `tenure-manage cluster status`", STR_ARG(why));
}

// By way of the present writer, whose transactions are then waited for. If they take too long, or it can't be asked, by way of
// the new one: what is running on the old one is rolled back.
static int switch_to(struct cluster *cluster, size_t target)
{
	const struct cluster_writer *writer = cluster_writer(cluster);
	size_t at = cluster_find(cluster, writer->node);
	struct str why = STR(""), name = cluster->nodes[target].name, reason = STR("tenure-manage cluster switch");
	bool asks = at < cluster->n && at != target && cluster->nodes[at].has_writer && !cluster->nodes[at].read_only;
	enum cluster_outcome outcome = cluster_switch(cluster, asks ? at : target, name, reason, &why);

	if (outcome == CLUSTER_FAILED && asks) {
		cluster_look(cluster);
		target = cluster_find(cluster, name);
		if (target < cluster->n && cluster_is_usable(&cluster->nodes[target]))
			outcome = cluster_switch(cluster, target, cluster->nodes[target].name, reason, &why);
	}
	if (outcome == CLUSTER_DONE)
		printf("%.*s is the writer\n", STR_ARG(name));
	return tell(outcome, why);
}

int command_cluster_switch(struct manage *manage)
{
	struct str name = str_c(manage->arguments[0]);
	struct cluster *cluster = look(manage);
	if (cluster == NULL)
		return manage_fail(EX_OSERR, "no memory");
	const struct cluster_writer *writer = cluster_writer(cluster);
	size_t target = cluster_find(cluster, name);
	int code = refuse_without_galera(cluster);

	if (code != EX_OK)
		; // said already
	else if (target == cluster->n)
		code = manage_fail(EX_DATAERR, "no node that answers is called \"%.*s\"; `tenure-manage cluster status` lists them", STR_ARG(name));
	else if (!cluster_is_usable(&cluster->nodes[target]) || cluster->nodes[target].writer.epoch != writer->epoch)
		code = manage_fail(EX_TEMPFAIL, "%.*s can't be the writer now; `tenure-manage cluster status` says why", STR_ARG(name));
	else if (str_eq(writer->node, cluster->nodes[target].name))
		code = printf("%.*s is the writer already\n", STR_ARG(writer->node)) < 0 ? EX_IOERR : EX_OK;
	else
		code = switch_to(cluster, target);
	cluster_close(&cluster);
	return code;
}

int command_cluster_fence(struct manage *manage)
{
	struct cluster *cluster = look(manage);
	if (cluster == NULL)
		return manage_fail(EX_OSERR, "no memory");
	int code = refuse_without_galera(cluster);
	if (code != EX_OK) {
		cluster_close(&cluster);
		return code;
	}
	const struct cluster_writer *writer = cluster_writer(cluster);
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
	code = tell(outcome, why);
	cluster_close(&cluster);
	return code;
}
