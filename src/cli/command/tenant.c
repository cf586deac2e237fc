// SPDX-License-Identifier: Apache-2.0
// tenure tenant …
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"

static const struct column columns[] = {
	{ "id", "tenant.id" }, { "tier", "tenant.tier" }, { "state", "tenant.state" }, { "resources", "tenant.resources" },
	{ "created", "tenant.created_at" }, { "updated", "tenant.updated_at" }, { "purge", "tenant.purge_at" },
	{ "etag", "tenant.etag" }, { "metadata", "tenant.metadata" },
};
enum { SHOWN = 5, SHOWN_DELETED = 7 };

static bool open_target(struct cli *cli, const char *id, struct target *target)
{
	target->resource = tenure_tenant_new(cli->client, id);
	target->label = str_printf(cli->pool, "tenant %s", id).p;
	target->kind = TARGET_TENANT;
	if (target->resource == NULL)
		cli_fail_segment(id, "a tenant's id");
	return target->resource != NULL;
}

int command_tenant_list(struct cli *cli)
{
	bool deleted = cli->options[OPT_DELETED] != NULL;
	struct table *table = table_new(cli, columns, COUNT_OF(columns), deleted ? SHOWN_DELETED : SHOWN);

	if (table == NULL)
		return EX_USAGE;
	struct tenure_list *list = tenure_list_tenants(cli->client, deleted ? TENURE_LIST_DELETED : TENURE_LIST_LIVE);
	if (list == NULL)
		return cli_fail(EX_OSERR, "no memory");
	uint64_t limit;
	int code = cli_list_conditions(cli, list, &limit);
	if (code == EX_OK)
		code = table_fill(cli, table, list, limit, "tenants");
	tenure_list_free(&list);
	if (code == EX_OK)
		code = table_print(table);
	return code;
}

static int show_one(struct cli *cli, const char *name, void *table)
{
	struct target target;

	return open_target(cli, name, &target) ? target_show(cli, &target, table, cli_document_print) : EX_USAGE;
}

int command_tenant_show(struct cli *cli)
{
	return cli_show_each(cli, 0, columns, COUNT_OF(columns), SHOWN, show_one);
}

// Makes {"tenant": {"tier": …, "metadata": {…}}} of --tier and NAME=VALUE.
static int described(struct cli *cli, struct doc **document)
{
	struct doc *tenant = doc_new_object(cli->pool), *metadata = doc_new_object(cli->pool), *value;
	struct str name;

	if (cli->options[OPT_TIER] != NULL)
		doc_set_str(cli->pool, tenant, "tier", str_c(cli->options[OPT_TIER]));
	for (size_t i = 1; i < cli->n_arguments; i++) {
		if (!cli_input_assignment(cli, cli->arguments[i], &name, &value))
			return EX_USAGE;
		doc_set(metadata, name, value);
	}
	if (doc_length(metadata) > 0)
		doc_set(tenant, STR("metadata"), metadata);
	*document = doc_new_object(cli->pool);
	doc_set(*document, STR("tenant"), tenant);
	return EX_OK;
}

int command_tenant_set(struct cli *cli)
{
	struct change change = { .kind = CHANGE_PUT };
	struct target target;
	struct doc *document;

	if (cli->options[OPT_FILE] != NULL && cli->options[OPT_TIER] != NULL)
		return cli_fail(EX_USAGE, "one of --file and --tier, not both");
	int code = cli->options[OPT_FILE] != NULL ? cli_input_document(cli, 1, &document) : described(cli, &document);
	if (code != EX_OK || !open_target(cli, cli->arguments[0], &target))
		return code != EX_OK ? code : EX_USAGE;
	change.document = document;
	return target_change(cli, &target, &change);
}

static int delete_one(struct cli *cli, const char *name, void *arg)
{
	struct change change = { .kind = CHANGE_DELETE };
	struct target target;
	int code = EX_USAGE;

	UNUSED(arg);
	if (open_target(cli, name, &target) &&
		cli_confirmed(cli, str_printf(cli->pool, "Delete %s with all it owns?", target.label).p))
		code = change_make(cli, &target, &change);
	tenure_resource_free(&target.resource);
	return code;
}

int command_tenant_delete(struct cli *cli)
{
	return cli_each_name(cli, 0, delete_one, NULL);
}

static int recover_one(struct cli *cli, const char *name, void *arg)
{
	struct target target;
	int code = open_target(cli, name, &target) ? cli_recover(cli, &target, NULL) : EX_USAGE;

	UNUSED(arg);
	tenure_resource_free(&target.resource);
	return code;
}

int command_tenant_recover(struct cli *cli)
{
	return cli_each_name(cli, 0, recover_one, NULL);
}
