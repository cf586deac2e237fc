// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/clock.h"
#include "base/control.h"
#include "base/log.h"
#include "db/settings.h"
#include "registry/upkeep/cluster.h"
#include "server/host/writer_watch.h"

enum {
	LOOK_MS = 250,
	// While the writer does not answer, as often as that: the sooner its leaving is seen, the sooner there is another one.
	UNSEEN_MS = 50, UNSEEN_LOOKS = 200,
};

static void replace_writer(struct cluster *cluster, size_t via, size_t target, struct str reason)
{
	struct str why = STR(""), name = cluster->nodes[target].name, before = cluster->nodes[via].writer.node;

	log_warning("%.*s: making %.*s the writer (before: %.*s)", STR_ARG(reason), STR_ARG(name), STR_ARG(before.n > 0 ? before : STR("none")));
	switch (cluster_switch(cluster, via, name, reason, &why)) {
	case CLUSTER_DONE:
		log_warning("%.*s is the writer", STR_ARG(name));
		break;
	case CLUSTER_OVERTAKEN:
		log_info("%.*s", STR_ARG(why));
		break;
	case CLUSTER_FAILED:
		log_warning("%.*s could not be made the writer: %.*s", STR_ARG(name), STR_ARG(why));
		break;
	}
}

// Once: what is wrong with the settings of nodes.
static void warn_of_settings(const struct cluster *cluster, bool warned[CLUSTER_NODES])
{
	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		if (node->settings.n > 0 && !warned[i])
			log_warning("node %.*s: %.*s", STR_ARG(node->name), STR_ARG(node->settings));
		warned[i] = node->settings.n > 0;
	}
}

// Without Galera: warns of a server that takes changes and is not the writer, once when that begins. Workers do not use such a
// server, but other clients may.
static void warn_of_rivals(const struct cluster *cluster, bool warned[CLUSTER_NODES])
{
	const struct cluster_writer *writer = cluster_writer(cluster);

	for (size_t i = 0; i < cluster->n && writer != NULL && writer->epoch > 0; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		bool rival = node->answers && !node->galera && !node->read_only && !str_eq(node->name, writer->node) && writer->node.n > 0;
		if (rival && !warned[i])
			log_warning("node %.*s takes changes, and %.*s is the writer: SET GLOBAL read_only = ON there", STR_ARG(node->name),
				STR_ARG(writer->node));
		warned[i] = rival;
	}
}

// Does the writer answer, or is there none because an operator wants none?
static bool is_calm(const struct cluster *cluster)
{
	const struct cluster_writer *writer = cluster_writer(cluster);
	size_t at = writer != NULL ? cluster_find(cluster, writer->node) : cluster->n;

	return (at < cluster->n && cluster->nodes[at].answers) || (writer != NULL && writer->held);
}

void writer_watch_run(const struct config *config, const struct shared *host)
{
	struct cluster *cluster = cluster_open(db_settings(config), DB_APPLICATION);
	struct cluster_memory memory = { 0 };
	bool warned[CLUSTER_NODES] = { false }, warned_rivals[CLUSTER_NODES] = { false };
	unsigned unseen = 0; // looks in a row

	for (;;) {
		size_t via, target;
		struct str reason;

		control_apply(host);
		cluster_glance(cluster);
		warn_of_settings(cluster, warned);
		warn_of_rivals(cluster, warned_rivals);
		if (cluster_must_switch(cluster, &memory, clock_tick_us(), &via, &target, &reason))
			replace_writer(cluster, via, target, reason);
		unseen = is_calm(cluster) ? 0 : unseen + (unseen <= UNSEEN_LOOKS);
		clock_pause_ms(unseen > 0 && unseen <= UNSEEN_LOOKS ? UNSEEN_MS : LOOK_MS);
	}
}
