// SPDX-License-Identifier: Apache-2.0
// tenure-manage reap and doctor: run the registry's housekeeping and print what it reports.
#include "base/base.h"

#include "manage/manage.h"
#include "manage/table.h"
#include "registry/registry.h"
#include "registry/tenant/system_space.h"
#include "registry/type/builtin_types.h"
#include "registry/upkeep/doctor.h"
#include "registry/upkeep/reap.h"

// Begins a registry session whose changes have the actor "tenure-manage" in the log. The caller frees *store, whatever the
// outcome.
static enum outcome open_registry(struct manage *manage, struct registry_store **store, struct registry *registry)
{
	struct uuid id = uuid_new();

	*store = registry_store_new(manage->config, manage->db);
	if (*store == NULL)
		return OUTCOME_INTERNAL;
	registry_attach(registry, *store);
	return registry_begin(registry, manage->pool, &id, STR("tenure-manage"), &manage->problem);
}

static void tell_outcome(const struct manage *manage, enum outcome outcome)
{
	struct str detail = manage->problem.detail;

	if (detail.n != 0)
		manage_fail(0, "%.*s", STR_ARG(detail));
	else
		manage_fail(0, "%s", outcome_title(outcome));
}

int manage_fill_registry(struct manage *manage)
{
	struct registry_store *store = NULL;
	struct registry registry;
	bool made;
	enum db_result result = builtin_types_ensure(manage->db, manage->pool);

	if (result != DB_OK)
		return manage_db_fail(manage, result, "can't add built-in types");
	enum outcome outcome = open_registry(manage, &store, &registry);
	if (outcome == OUTCOME_OK)
		outcome = system_space_ensure(&registry, &made);
	if (outcome != OUTCOME_OK) {
		manage_fail(0, "can't make the system space");
		tell_outcome(manage, outcome);
	}
	registry_store_free(&store);
	return manage_exit_code(outcome);
}

int command_reap(struct manage *manage)
{
	bool dry_run = manage_option(manage, "--dry-run") != NULL;
	struct reap_counts counts = { 0 };
	struct registry_store *store = NULL;
	struct registry registry;
	enum outcome outcome = open_registry(manage, &store, &registry);
	if (outcome == OUTCOME_OK)
		outcome = reap(&registry, dry_run, &counts);
	printf("%s %llu tenants, %llu resources, %llu forwards, %llu moves, %llu changes, %llu tokens\n",
		dry_run ? "would purge" : "purged", (unsigned long long)counts.tenants, (unsigned long long)counts.resources,
		(unsigned long long)counts.forwards, (unsigned long long)counts.moves, (unsigned long long)counts.changes,
		(unsigned long long)counts.tokens);
	if (!outcome_commits(outcome))
		tell_outcome(manage, outcome);
	registry_store_free(&store);
	return manage_exit_code(outcome);
}

struct findings {
	struct table table;
	uint64_t left; // found and not repaired
};

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

int command_doctor(struct manage *manage)
{
	static const struct table_column columns[] = {
		{ "CHECK", false }, { "FOUND", true }, { "FIXED", true }, { "EXAMPLE", false },
	};
	struct findings findings = { .left = 0 };
	struct registry_store *store = NULL;
	struct registry registry;
	table_init(&findings.table, manage->pool, columns, COUNT_OF(columns));
	enum outcome outcome = open_registry(manage, &store, &registry);
	if (outcome == OUTCOME_OK)
		outcome = doctor(&registry, manage_option(manage, "--fix") != NULL, note_finding, &findings);
	if (findings.table.n_rows != 0)
		table_print(&findings.table, false, stdout);
	settings_warn(manage->config);
	settings_check_auth(manage->config);
	if (outcome != OUTCOME_OK)
		tell_outcome(manage, outcome);
	registry_store_free(&store);
	return outcome != OUTCOME_OK ? EXIT_FAILED : findings.left != 0 ? EXIT_FOUND : EXIT_CLEAN;
}
