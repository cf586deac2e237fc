// SPDX-License-Identifier: Apache-2.0
// tenure find: whose a resource is, among those of all tenants.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/lists.h"
#include "cli/core/offered_types.h"
#include "cli/core/table.h"
#include "http/uri.h"

static const struct column columns[] = {
	{ "tenant", "tenant" }, { "type", "type" }, { "namespace", "namespace" }, { "name", "name" }, { "uid", "uid" },
	{ "resource", "resource" }, { "created", "created_at" }, { "updated", "updated_at" }, { "deleted", "deleted_at" }, { "purge", "purge_at" },
};
enum { SHOWN = 5 };

// Short names and singulars of built-in types are those of other commands.
static void add_fields(struct cli *cli, struct buf *query)
{
	for (size_t i = 0; i < cli->n_given; i++) {
		const struct given *given = &cli->given[i];

		if (given->field->member == NULL) {
			BUF_LIT(query, "&order=desc");
			continue;
		}
		buf_addf(query, "&%s=", given->field->member);
		uri_add_value(query, str_c(type_plural(given->value)));
	}
}

int command_find_resources(struct cli *cli)
{
	struct buf query = buf_new(cli->pool, 128);

	if (cli->n_arguments > 0) {
		if (!str_utf8_ok(str_c(cli->arguments[0]), NULL))
			return cli_fail_encoding("NAME");
		BUF_LIT(&query, "&name=");
		uri_add_value(&query, str_c(cli->arguments[0]));
	}
	add_fields(cli, &query);
	int code = cli_add_conditions(cli, &query);
	if (code != EX_OK)
		return code;
	if (query.n == 0)
		return cli_fail(EX_USAGE, "what is looked for? NAME, --type, --selector or another condition");
	return cli_list_pages_with(cli, "all", "resources", buf_str(&query), columns, COUNT_OF(columns), SHOWN);
}
