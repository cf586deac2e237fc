// SPDX-License-Identifier: Apache-2.0
// When another node has to be the writer: the decision for all views that a host may have of three nodes, at some times, against
// the rules of doc/cluster.md, "Who switches"; and when a node that was silent is asked again. No server is needed.
#include "base/base.h"

#include "db/settings.h"
#include "registry/upkeep/cluster.h"
#include "tap.h"

enum { NODES = 3, S = 1000000 };
static const int64_t begin_us = INT64_C(77) * S;

// How a node looks to the host.
enum view { AWAY, GOOD, DONOR, READ_ONLY, CUT_OFF, NO_TABLE, BEHIND, NO_GALERA, VIEWS };
static const char *const view_names[VIEWS] = { "away", "good", "donor", "read-only", "cut off", "no table", "behind", "no Galera" };
static const char *const names[NODES] = { "n1", "n2", "n3" };
static const char *const hosts[NODES] = { "h1", "h2", "h3" };

// What the newest row of the writer says.
struct row {
	const char *node, *next; // "n9": none of the nodes
	bool held;
};
static const struct row rows[] = {
	{ "n1", "", false }, { "n2", "", false }, { "n9", "", false }, { "", "", false }, { "", "n2", false }, { "", "n9", false },
	{ "n1", "", true }, { "", "", true },
};

struct scene {
	enum view views[NODES];
	struct row row;
	unsigned unseen; // members of the component that are none of the nodes which this host reaches: an arbitrator
};

static bool is_member(enum view view)
{
	return view == GOOD || view == DONOR || view == READ_ONLY || view == BEHIND || view == NO_TABLE;
}

static struct cluster made(const struct scene *scene, uint64_t epoch)
{
	struct cluster cluster = { .n = NODES };
	uint64_t size = scene->unseen;

	for (size_t i = 0; i < NODES; i++)
		size += is_member(scene->views[i]);
	for (size_t i = 0; i < NODES; i++) {
		enum view view = scene->views[i];
		struct cluster_node *node = &cluster.nodes[i];

		node->host = str_c(hosts[i]);
		if (view == AWAY)
			continue;
		node->answers = true;
		node->name = str_c(names[i]);
		node->galera = view != NO_GALERA;
		node->primary = view != CUT_OFF;
		node->synced = view != DONOR && view != CUT_OFF;
		node->read_only = view == READ_ONLY;
		node->size = view == CUT_OFF ? 1 : size;
		node->has_writer = is_member(view) && view != NO_TABLE;
		if (node->has_writer)
			node->writer = (struct cluster_writer){ .node = str_c(scene->row.node), .next = str_c(scene->row.next), .held = scene->row.held,
				.epoch = epoch };
		if (view == BEHIND)
			node->writer = (struct cluster_writer){ .node = STR("n3"), .epoch = epoch - 1 };
	}
	return cluster;
}

// ---- the rules

// Does that node of the scene exist, and how does it look? AWAY: no.
static enum view view_of(const struct scene *scene, const char *name)
{
	for (size_t i = 0; i < NODES; i++) {
		if (strcmp(names[i], name) == 0)
			return scene->views[i];
	}
	return AWAY;
}

static size_t first_good(const struct scene *scene)
{
	size_t i = 0;

	while (i < NODES && scene->views[i] != GOOD)
		i++;
	return i;
}

// The seconds after which a switch has to come; -1: never.
static double due(const struct scene *scene)
{
	enum view writer = view_of(scene, scene->row.node);

	if (first_good(scene) == NODES || scene->row.held)
		return -1;
	if (scene->row.node[0] == '\0')
		return scene->row.next[0] != '\0' ? 3 : 0.4;
	if (writer == GOOD || writer == BEHIND)
		return -1;
	if (writer == DONOR || writer == READ_ONLY || writer == NO_TABLE || writer == NO_GALERA)
		return 2;
	return scene->unseen > 0 ? 8 : 0;
}

static size_t due_target(const struct scene *scene)
{
	size_t target = first_good(scene);

	for (size_t i = 0; i < NODES; i++) {
		if (scene->row.node[0] == '\0' && strcmp(names[i], scene->row.next) == 0 && scene->views[i] == GOOD)
			target = i;
	}
	return target;
}

static bool may_be_asked(const struct scene *scene, size_t via)
{
	enum view view = scene->views[via];

	return view == GOOD || (view == DONOR && strcmp(names[via], scene->row.node) == 0);
}

// What is wrong with the decisions for that scene within 40 seconds; NULL: nothing. since_us: the epoch's beginning was seen; 0:
// it is the first that this host sees.
static const char *wrong_with(const struct scene *scene, bool seen_switch)
{
	static const double looks[] = { 0, 0.2, 0.399, 0.401, 1.9, 2.1, 2.9, 3.1, 7.9, 8.1, 14, 20, 26, 29.9, 30.1, 35, 40 };
	struct cluster_memory memory = { 0 };
	double after = due(scene);
	size_t via = 0, target = 0;
	struct str reason = STR("");

	if (seen_switch) {
		struct scene calm = { .views = { GOOD, GOOD, GOOD }, .row = { .node = "n1", .next = "" } };
		struct cluster cluster = made(&calm, 6);
		if (cluster_must_switch(&cluster, &memory, begin_us - S, &via, &target, &reason))
			return "a switch though all is well";
		if (scene->unseen > 0 && after == 8)
			after = 30;
	}
	for (size_t i = 0; i < COUNT_OF(looks); i++) {
		struct cluster cluster = made(scene, 7);
		bool must = cluster_must_switch(&cluster, &memory, begin_us + (int64_t)(looks[i] * S), &via, &target, &reason);

		if (must != (after >= 0 && looks[i] >= after))
			return must ? after < 0 ? "a switch that must not be" : "a switch too early" : "no switch in time";
		if (must && (target >= NODES || scene->views[target] != GOOD))
			return "a target that can't be used";
		if (must && target != due_target(scene))
			return "another target than the next one, or the first in order";
		if (must && !may_be_asked(scene, via))
			return "by way of a node that can't be asked";
		if (must && reason.n == 0)
			return "no reason";
	}
	return NULL;
}

// Nodes that are behind are so beside one that has the newest row.
static bool is_possible(const struct scene *scene)
{
	size_t behind = 0, newest = 0;

	for (size_t i = 0; i < NODES; i++) {
		behind += scene->views[i] == BEHIND;
		newest += scene->views[i] == GOOD || scene->views[i] == DONOR || scene->views[i] == READ_ONLY;
	}
	return behind == 0 || newest > 0;
}

static size_t judge(const struct scene *scene)
{
	size_t n = 0;

	for (int seen = 0; seen < 2; seen++) {
		const char *wrong = wrong_with(scene, seen);
		if (wrong == NULL)
			continue;
		diag("%s: n1 %s, n2 %s, n3 %s, writer \"%s\", next \"%s\"%s, %u unseen%s", wrong, view_names[scene->views[0]],
			view_names[scene->views[1]], view_names[scene->views[2]], scene->row.node, scene->row.next, scene->row.held ? ", held" : "",
			scene->unseen, seen ? ", after a switch" : "");
		n++;
	}
	return n;
}

static void all_views(void)
{
	size_t scenes = 0, n_wrong = 0;

	for (unsigned views = 0; views < VIEWS * VIEWS * VIEWS; views++) {
		for (size_t row = 0; row < COUNT_OF(rows); row++) {
			for (unsigned unseen = 0; unseen < 2; unseen++) {
				struct scene scene = { .views = { views % VIEWS, views / VIEWS % VIEWS, views / VIEWS / VIEWS }, .row = rows[row],
					.unseen = unseen };
				if (!is_possible(&scene))
					continue;
				n_wrong += n_wrong < 10 ? judge(&scene) : 0;
				scenes++;
			}
		}
	}
	is_int((long long)scenes, 7216, "views");
	is_int((long long)n_wrong, 0, "the decision is right for each");
}

// Two entries of the setting may lead to one node. It is one member.
static void one_node_twice(void)
{
	struct scene scene = { .views = { GOOD, GOOD, AWAY }, .row = { .node = "n3", .next = "" }, .unseen = 0 };
	struct cluster cluster = made(&scene, 7);
	struct cluster_memory memory = { 0 };
	struct str reason;
	size_t via, target;

	ok(cluster_must_switch(&cluster, &memory, begin_us, &via, &target, &reason), "two nodes are all members: the third is gone");
	cluster.nodes[1].name = str_c(names[0]);
	ok(!cluster_must_switch(&cluster, &memory, begin_us, &via, &target, &reason), "one node by two names, of two members: the other may be well");
}

// A node that does not know the newest membership yet counts in none of another one.
static void one_membership(void)
{
	struct scene scene = { .views = { GOOD, GOOD, AWAY }, .row = { .node = "n3", .next = "" }, .unseen = 0 };
	struct cluster cluster = made(&scene, 7);
	struct cluster_memory memory = { 0 };
	struct str reason;
	size_t via, target;

	cluster.nodes[0].membership = 12;
	cluster.nodes[1].membership = 11;
	ok(!cluster_must_switch(&cluster, &memory, begin_us, &via, &target, &reason), "two answers of different memberships: the third may be a member");
	cluster.nodes[1].membership = 12;
	ok(cluster_must_switch(&cluster, &memory, begin_us, &via, &target, &reason), "two of one membership: it is gone");
}

// That the writer is gone has to be seen all the time: a partition, or a look that did not come, begins it anew.
static void begun_anew(void)
{
	const struct scene gone = { .views = { GOOD, GOOD, AWAY }, .row = { .node = "n3", .next = "" }, .unseen = 1 };
	const struct scene cut_off = { .views = { CUT_OFF, CUT_OFF, AWAY }, .row = { .node = "n3", .next = "" }, .unseen = 1 };
	struct cluster cluster = made(&gone, 7), cut = made(&cut_off, 7);
	struct cluster_memory memory = { 0 };
	struct str reason;
	size_t via, target;

	for (int at = 0; at <= 7; at++)
		ok(!cluster_must_switch(at == 4 ? &cut : &cluster, &memory, begin_us + (int64_t)at * S, &via, &target, &reason), "gone for %d s", at);
	for (int at = 8; at < 13; at++)
		ok(!cluster_must_switch(&cluster, &memory, begin_us + (int64_t)at * S, &via, &target, &reason), "... but cut off 4 s after it began: %d s", at);
	ok(cluster_must_switch(&cluster, &memory, begin_us + INT64_C(13) * S, &via, &target, &reason), "eight seconds behind that it is");
	ok(!cluster_must_switch(&cluster, &memory, begin_us + INT64_C(60) * S, &via, &target, &reason), "after a long pause it is not known");
	ok(!cluster_must_switch(&cluster, &memory, begin_us + INT64_C(67) * S, &via, &target, &reason), "nor a few seconds later");
	ok(cluster_must_switch(&cluster, &memory, begin_us + INT64_C(68) * S, &via, &target, &reason), "but eight seconds later");
}

// A node that was silent is left alone for a while; but if one has come to the cluster since, it may be that one. Here nothing
// listens at its address, so that its error tells whether it was asked.
static void asked_again(void)
{
	const struct str unasked = STR("it did not answer in time");
	const struct db_settings settings = { .host = "127.0.0.1:1", .read_from = "", .socket = "", .name = "", .user = "", .password = "",
		.admin_user = "", .admin_password = "", .tls = "off", .tls_ca = "", .tls_cert = "", .tls_key = "" };
	struct cluster *cluster = cluster_open(&settings, DB_APPLICATION);
	struct cluster_node *node = &cluster->nodes[0];

	node->ask_again_us = INT64_MAX;
	node->silent_since = cluster->arrivals;
	cluster_look(cluster);
	is_str(node->error, "it did not answer in time", "a node that was silent is not asked at once");
	cluster->arrivals++;
	cluster_look(cluster);
	ok(!str_eq(node->error, unasked), "but when a node has come: %.*s", STR_ARG(node->error));
	is_int((long long)node->silent_since, (long long)cluster->arrivals, "and left alone until another one does");
	cluster_close(&cluster);
}

int main(void)
{
	all_views();
	one_membership();
	begun_anew();
	one_node_twice();
	asked_again();
	return done_testing();
}
