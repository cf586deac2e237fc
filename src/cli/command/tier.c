// SPDX-License-Identifier: Apache-2.0
// tenure tier list: what a tenant may be put into.
#include "base/base.h"

#include "cli/core/cli.h"

static const struct column columns[] = {
	{ "name", "name" }, { "max-resources", "max_resources" }, { "description", "description" },
};

int command_tier_list(struct cli *cli)
{
	return cli_list_pages(cli, "all", "tiers", columns, COUNT_OF(columns), COUNT_OF(columns));
}
