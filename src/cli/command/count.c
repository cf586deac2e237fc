// SPDX-License-Identifier: Apache-2.0
// tenure count: how many resources of each type a tenant, or each tenant, has now.
#include "base/base.h"

#include "base/pool.h"
#include "cli/core/cli.h"

static const struct column columns[] = {
	{ "tenant", "tenant" },
	{ "type", "type" },
	{ "resources", "resources" },
};

// The tenant of the argument or --tenant; "all" with --all-tenants. NULL: the exit code is in *code.
static const char *choose_tenant(struct cli *cli, bool *of_all, int *code)
{
	*of_all = false;
	for (size_t i = 0; i < cli->n_given; i++)
		*of_all = *of_all || strcmp(cli->given[i].field->name, "--all-tenants") == 0;
	if (*of_all + (cli->n_arguments > 0) + (cli->options[OPT_TENANT] != NULL) > 1) {
		*code = cli_fail(EX_USAGE, "one of TENANT, --tenant and --all-tenants, not several");
		return NULL;
	}
	const char *tenant = cli->n_arguments > 0 ? cli->arguments[0] : cli->tenant;
	if (*of_all)
		return "all";
	if (tenant == NULL)
		*code = cli_fail_no_tenant();
	return tenant;
}

int command_count(struct cli *cli)
{
	bool of_all;
	int code = EX_OK;
	const char *tenant = choose_tenant(cli, &of_all, &code);

	if (tenant == NULL)
		return code;
	return of_all ? cli_list_pages(cli, tenant, "counts", columns, COUNT_OF(columns), COUNT_OF(columns))
		      : cli_list_whole(cli, tenant, "counts", columns + 1, COUNT_OF(columns) - 1);
}
