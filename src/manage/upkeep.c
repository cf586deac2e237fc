// SPDX-License-Identifier: Apache-2.0
// tenure-manage reap and doctor: run the registry's housekeeping and print what it reports.
#include "base/base.h"

#include "base/clock.h"
#include "db/maintenance.h"
#include "manage/commands.h"
#include "manage/core/table.h"
#include "registry/core/settings.h"
#include "registry/registry.h"
#include "registry/upkeep/cluster.h"
#include "registry/upkeep/doctor.h"
#include "registry/upkeep/reap.h"
#include "registry/usage/usage_count.h"
#include "registry/webhook/delivery.h"
#include "registry/webhook/health.h"
#include "registry/webhook/settings.h"
#include "server/setup/host.h"
#include "sql/moves.h"
#include "sql/session.h"

static void print_reaped(const struct reap_counts *counts, bool dry_run)
{
	printf("%s %llu tenants, %llu resources, %llu forwards, %llu moves, %llu changes, %llu periods of usage, %llu tokens\n",
		dry_run ? "would purge" : "purged", (unsigned long long)counts->tenants, (unsigned long long)counts->resources,
		(unsigned long long)counts->forwards, (unsigned long long)counts->moves, (unsigned long long)counts->changes,
		(unsigned long long)counts->periods, (unsigned long long)counts->tokens);
}

int command_reap(struct manage *manage)
{
	bool dry_run = manage_option(manage, "--dry-run") != NULL;
	struct reap_counts counts = { 0 };
	struct registry_store *store = NULL;
	struct registry registry;
	struct db_maintenance maintenance;
	enum db_result looked = db_maintenance_read(manage->db, manage->pool, &maintenance);
	if (looked != DB_OK)
		return manage_db_fail(manage, looked, "can't read the settings");
	if (maintenance.on && !dry_run)
		return manage_fail(EX_TEMPFAIL, "changes are stopped for maintenance: `tenure-manage maintenance off` allows them again");
	db_heed_maintenance(manage->db, true);
	enum outcome outcome = manage_begin(manage, &store, &registry);
	const volatile sig_atomic_t *stop = manage_stop_by_signals();
	if (outcome == OUTCOME_OK) {
		outcome = reap(&registry, dry_run ? REAP_COUNT : REAP_PURGE, stop, &counts);
		print_reaped(&counts, dry_run);
	}
	if (counts.ahead_s != 0)
		fprintf(stderr, "tenure-manage: this host's clock is %lld s %s the database's: only what is past its time by both is purged\n",
			llabs((long long)counts.ahead_s), counts.ahead_s > 0 ? "ahead of" : "behind");
	if (!outcome_commits(outcome))
		manage_tell_outcome(manage, outcome);
	else if (counts.stopped)
		fprintf(stderr, "tenure-manage: stopped; the next run purges the rest\n");
	else if (counts.uncounted)
		fprintf(stderr, "tenure-manage: older changes stay in the change log, as usage has not counted them yet: tenured-host does that\n");
	registry_store_free(&store);
	return outcome_commits(outcome) && counts.stopped ? EX_TEMPFAIL : manage_exit_code(outcome);
}

struct findings {
	struct table table;
	uint64_t left; // found and not repaired
	int64_t began_us, told_us; // the run's begin, and when its progress was shown last
};

enum { TELL_US = 10000000 }; // progress is shown once in so many microseconds

static void tell_progress(void *arg, const char *table, uint64_t at, uint64_t last)
{
	struct findings *findings = arg;
	int64_t now_us = clock_tick_us();

	if (now_us - findings->told_us < TELL_US)
		return;
	findings->told_us = now_us;
	fprintf(stderr, "tenure-manage: %s: up to id %llu of %llu, after %lld s\n", table, (unsigned long long)at, (unsigned long long)last,
		(long long)((now_us - findings->began_us) / 1000000));
}

static void note_finding(void *arg, const char *check, uint64_t found, uint64_t fixed, const char *example)
{
	struct findings *findings = arg;
	struct pool *pool = findings->table.pool;
	struct str seen = str_dup(pool, str_c(example));
	const struct str cells[] = {
		str_dup(pool, str_c(check)),
		str_printf(pool, "%llu", (unsigned long long)found),
		str_printf(pool, "%llu", (unsigned long long)fixed),
		seen.n != 0 ? seen : STR_NONE,
	};
	table_add(&findings->table, cells);
	findings->left += found - (fixed < found ? fixed : found);
}

// Warns if work waits for a host service (server/host/host.h) and none runs on this host. It may run on another one, so that is
// no finding.
static void warn_of_host_service(struct manage *manage)
{
	struct db_rows rows;
	pid_t holder;
	enum host_service service = host_service_find(manage->config, &holder);

	if (service == HOST_SERVICE_RUNS || sql_mover_counts_run(manage->db, manage->pool, &rows) != DB_OK || rows.n == 0)
		return;
	const struct sql_mover_counts_row *row = sql_mover_counts_row(&rows, 0);
	if (row->queued == 0 && row->namespaces == 0)
		return;
	fprintf(stderr, "tenure-manage: warning: %llu move%s and %llu deletion%s of namespaces wait, and %s: start tenured-host here or on "
		"another host of this registry\n", COUNT_ARG(row->queued), COUNT_ARG(row->namespaces),
		service == HOST_SERVICE_ABSENT ? "no host service runs on this host" :
						 "this user may not look whether a host service runs on this host");
}

// Has the process that sends to webhooks shown a sign of life while this function waited, for as long as others wait before they
// take it for dead?
static bool sender_lives(struct manage *manage, struct registry *registry)
{
	static const struct uuid nobody;
	int64_t until_us = clock_tick_us() + (int64_t)webhook_settings(manage->config)->lease * 1000000;
	struct webhook_lease first, now;

	if (webhook_lease_read(registry, &first) != OUTCOME_OK)
		return true;
	do {
		clock_pause_ms(200);
		if (webhook_lease_read(registry, &now) != OUTCOME_OK || now.beat != first.beat)
			return true;
	} while (memcmp(&now.claim, &nobody, sizeof(nobody)) != 0 && clock_tick_us() < until_us);
	return false;
}

// Warns if there are webhooks and no host sends to them.
static void warn_of_webhooks(struct manage *manage, struct registry *registry)
{
	struct webhook_health health;
	pid_t holder;

	if (webhook_health(registry, 0, &health) != OUTCOME_OK || health.active + health.failing == 0 ||
		host_service_find(manage->config, &holder) == HOST_SERVICE_RUNS || sender_lives(manage, registry))
		return;
	uint64_t n = health.active + health.failing;
	fprintf(stderr, "tenure-manage: warning: %llu webhook%s to be told of changes, and no host sends to %s: start tenured-host here or on "
		"another host of this registry\n", (unsigned long long)n, n == 1 ? " is" : "s are", n == 1 ? "it" : "them");
}

// Warns if nobody has counted usage for so long that the change log can't be shortened.
static void warn_of_usage(struct registry *registry)
{
	uint64_t kept_s = registry->settings->change_retention;
	int64_t since_us, now_us = clock_now_us();

	if (kept_s == 0 || usage_uncounted_since(registry, &since_us) != OUTCOME_OK || since_us == 0)
		return;
	if (since_us < now_us - (int64_t)(kept_s * 1000000))
		fprintf(stderr, "tenure-manage: warning: usage has not counted changes since %lld days ago, longer than change_retention: they stay in "
			"the change log until tenured-host counts them\n", (long long)((now_us - since_us) / 86400000000));
}

// Warns if the database refuses the packet by which a resource of the size max_body is written.
static void warn_of_packets(struct manage *manage)
{
	uint64_t most = registry_settings(manage->config)->max_body;
	struct db_rows rows;

	if (sql_session_max_packet_run(manage->db, manage->pool, &rows) != DB_OK || rows.n == 0)
		return;
	uint64_t taken = sql_session_max_packet_row(&rows, 0)->bytes;
	if (taken < most + REGISTRY_PACKET_SPARE)
		fprintf(stderr, "tenure-manage: warning: max_allowed_packet of the database is %llu: resources as large as max_body, %llu bytes, can't be "
			"stored; set it to %llu or more\n", (unsigned long long)taken, (unsigned long long)most,
			(unsigned long long)(most + REGISTRY_PACKET_SPARE));
}

// Where the database is a cluster: nodes that are away, out of step or not named, settings that endanger it, and a missing
// writer.
static void warn_of_cluster(struct manage *manage)
{
	const struct db_settings *settings = db_settings(manage->config);

	if (db_hosts(settings) == 1) {
		uint64_t nodes = cluster_size_at(manage->db, manage->pool);
		if (nodes > 1) {
			fprintf(stderr, "tenure-manage: warning: ");
			manage_tell_unfenced(stderr, nodes);
		}
		return;
	}
	struct cluster *cluster = cluster_open(settings, DB_OPERATOR);
	cluster_look(cluster);
	for (size_t i = 0; i < cluster->n; i++) {
		const struct cluster_node *node = &cluster->nodes[i];
		struct str what = !node->answers ? STR("does not answer") : !node->primary ? STR("is not in the primary component") :
			!node->synced ? STR("is not synced: it is not used") : node->settings;
		if (what.n > 0)
			fprintf(stderr, "tenure-manage: warning: node %.*s: %.*s\n", STR_ARG(node->host), STR_ARG(what));
	}
	if (cluster_writer(cluster) != NULL && cluster_writer(cluster)->node.n == 0)
		fprintf(stderr, "tenure-manage: warning: no node of the cluster is the writer: `tenure-manage cluster switch NODE`\n");
	cluster_close(&cluster);
}

int command_doctor(struct manage *manage)
{
	static const struct table_column columns[] = {
		{ "CHECK", false }, { "FOUND", true }, { "FIXED", true }, { "EXAMPLE", false },
	};
	int64_t now_us = clock_tick_us();
	struct findings findings = { .began_us = now_us, .told_us = now_us };
	struct doctor_run run = { .fix = manage_option(manage, "--fix") != NULL, .resume = manage_option(manage, "--resume") != NULL,
		.report = note_finding, .progress = tell_progress, .arg = &findings };
	struct registry_store *store = NULL;
	struct registry registry;
	table_init(&findings.table, manage->pool, columns, COUNT_OF(columns));
	findings.table.wraps = &columns[0];
	enum outcome outcome = manage_begin(manage, &store, &registry);
	run.stop = manage_stop_by_signals();
	if (outcome == OUTCOME_OK)
		outcome = doctor(&registry, &run);
	if (run.resume && !run.resumed && outcome == OUTCOME_OK)
		fprintf(stderr, "tenure-manage: no doctor was stopped that this one could go on for: it began anew\n");
	if (findings.table.n_rows != 0)
		table_print(&findings.table, false, stdout);
	settings_warn(manage->config);
	settings_check_auth(manage->config);
	warn_of_packets(manage);
	warn_of_host_service(manage);
	manage_warn_of_maintenance(manage);
	warn_of_cluster(manage);
	if (outcome == OUTCOME_OK) {
		warn_of_usage(&registry);
		warn_of_webhooks(manage, &registry);
	}
	if (outcome != OUTCOME_OK)
		manage_tell_outcome(manage, outcome);
	else if (run.stopped)
		fprintf(stderr, "tenure-manage: stopped; `tenure-manage doctor --resume` goes on from here\n");
	registry_store_free(&store);
	return outcome != OUTCOME_OK || run.stopped ? EXIT_FAILED : findings.left != 0 ? EXIT_FOUND : EXIT_CLEAN;
}
