// SPDX-License-Identifier: Apache-2.0
// tenure tier …: what a tenant may be put into, for operators.
#include "base/base.h"

#include "base/pool.h"
#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"

static const struct column columns[] = {
	{ "name", "name" }, { "max-resources", "max_resources" }, { "description", "description" }, { "tenants", "tenants" }, { "etag", "etag" },
};
// Of lists, which don't count tenants; and of those who show one.
enum { LISTED = 3, SHOWN = 4 };

static bool open_target(struct cli *cli, const char *name, struct target *target)
{
	*target = (struct target){ .kind = TARGET_TIER, .label = str_printf(cli->pool, "tier %s", name).p };
	target->resource = tenure_resource_new(cli->client, "all", NULL, "tiers", name);
	if (target->resource == NULL)
		cli_fail_segment(name, "a tier's name");
	return target->resource != NULL;
}

int command_tier_list(struct cli *cli)
{
	return cli_list_pages(cli, "all", "tiers", columns, COUNT_OF(columns), LISTED);
}

static int show_one(struct cli *cli, const char *name, void *table)
{
	struct target target;

	return open_target(cli, name, &target) ? target_show(cli, &target, table, cli_document_print) : EX_USAGE;
}

int command_tier_show(struct cli *cli)
{
	return cli_show_each(cli, 0, columns, COUNT_OF(columns), SHOWN, show_one);
}

int command_tier_set(struct cli *cli)
{
	struct target target;
	struct doc *given = NULL;
	int code = cli_input_document(cli, 1, &given);

	if (code != EX_OK || !open_target(cli, cli->arguments[0], &target))
		return code != EX_OK ? code : EX_USAGE;
	code = change_put(cli, &target, given != NULL ? given : doc_new_object(cli->pool));
	tenure_resource_free(&target.resource);
	return code;
}

static int delete_one(struct cli *cli, const char *name, void *arg)
{
	struct change change = { .kind = CHANGE_DELETE };
	struct target target;
	int code = EX_USAGE;

	UNUSED(arg);
	if (!open_target(cli, name, &target))
		return code;
	if (cli_confirmed(cli, str_printf(cli->pool, "Delete %s for good?", target.label).p))
		code = change_make(cli, &target, &change);
	tenure_resource_free(&target.resource);
	return code;
}

int command_tier_delete(struct cli *cli)
{
	return cli_each_name(cli, 0, delete_one, NULL);
}
