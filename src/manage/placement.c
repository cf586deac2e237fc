// SPDX-License-Identifier: Apache-2.0
// tenure-manage import placement, export placement: connect to Placement's database and run the transfer (placement/).
#include "base/base.h"

#include "manage/commands.h"
#include "manage/placement/export.h"
#include "manage/placement/import.h"
#include "manage/placement/source.h"
#include "registry/registry.h"

// Connects to Placement's database by the file that the option names, and transfers. Returns the exit code. list: see struct
// transfer.
static int run_transfer(struct manage *manage, const char *option, bool list, int (*transfer)(struct transfer *transfer))
{
	const char *path = manage_option(manage, option);
	struct registry_store *store = registry_store_new(manage->config, manage->db);
	struct pool *pool = pool_new();
	struct uuid id = uuid_new();
	struct registry registry;
	struct db_settings settings;
	struct transfer all = { .registry = &registry, .notes = manage_db_open(manage, &manage->patient, DB_APPLICATION), .pool = manage->pool,
		.dry_run = manage_option(manage, "--dry-run") != NULL, .list = list };

	if (store == NULL || pool == NULL)
		return manage_fail(EX_OSERR, "no memory");
	const char *why = source_read_config(manage->pool, path, db_settings(manage->config), &settings);
	struct db *foreign = why == NULL ? db_open_foreign(&settings) : NULL;
	if (why != NULL) {
		all.code = manage_fail(EX_CONFIG, "%s", why);
	} else {
		registry_attach(&registry, store);
		enum outcome outcome = registry_begin(&registry, pool, &id, STR("tenure-manage"), &manage->problem);
		if (!outcome_commits(outcome))
			all.code = manage_fail(manage_exit_code(outcome), "the registry's database can't be used: see `tenure-manage "
									  "db status`");
		else if (source_check(&all, foreign))
			(void)transfer(&all);
	}
	db_close(&foreign);
	db_close(&all.notes);
	registry_store_free(&store);
	pool_free(&pool);
	return all.code;
}

int command_import_placement(struct manage *manage)
{
	if (manage_option(manage, "--from") == NULL)
		return manage_fail(EX_USAGE, "import placement needs --from FILE, with the connection to Placement's database");
	return run_transfer(manage, "--from", false, import_run);
}

int command_export_placement(struct manage *manage)
{
	if (manage_option(manage, "--to") == NULL)
		return manage_fail(EX_USAGE, "export placement needs --to FILE, with the connection to Placement's database");
	return run_transfer(manage, "--to", manage_option(manage, "--list") != NULL, export_run);
}
