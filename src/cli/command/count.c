// SPDX-License-Identifier: Apache-2.0
// tenure count: how many resources of each type a tenant, or each tenant, has now.
#include "base/base.h"

#include "base/pool.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"

static const struct column columns[] = {
	{ "tenant", "tenant" },
	{ "type", "type" },
	{ "resources", "resources" },
};

int command_count(struct cli *cli)
{
	bool of_all;
	const char *tenant;
	int code = cli_choose_tenant(cli, &tenant, &of_all);

	if (code != EX_OK)
		return code;
	return of_all ? cli_list_pages(cli, tenant, "counts", columns, COUNT_OF(columns), COUNT_OF(columns))
		      : cli_list_whole(cli, tenant, "counts", columns + 1, COUNT_OF(columns) - 1);
}
