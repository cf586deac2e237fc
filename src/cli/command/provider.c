// SPDX-License-Identifier: Apache-2.0
// tenure provider list, show, create, set, delete.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/baremetal.h"
#include "cli/command/commands.h"
#include "cli/command/placement.h"
#include "cli/command/provider_part.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/table.h"
#include "cli/core/text.h"

static struct column_list columns_of(struct cli *cli)
{
	return cli_noun_columns(cli, "placement.openstack.org", "resourceproviders");
}

static bool open_target(struct cli *cli, const struct provider *provider, struct target *target)
{
	*target = (struct target){ .kind = TARGET_PROVIDER, .label = provider->label };
	target->resource = tenure_provider_new(cli->client, provider->uuid);
	if (target->resource == NULL)
		cli_fail(EX_OSERR, "no memory");
	return target->resource != NULL;
}

// The last value given for the option of this name; NULL: not given.
static const char *given_value(const struct cli *cli, const char *name)
{
	const char *value = NULL;

	for (size_t i = 0; i < cli->n_given; i++) {
		if (strcmp(cli->given[i].field->name, name) == 0)
			value = cli->given[i].value;
	}
	return value;
}

// ---- lists

// Replaces a provider's name in an option by its UUID, which the API needs.
static int resolve_given(struct cli *cli, const char *name)
{
	for (size_t i = 0; i < cli->n_given; i++) {
		struct provider provider;
		if (strcmp(cli->given[i].field->name, name) != 0)
			continue;
		int code = provider_find(cli, cli->given[i].value, &provider);
		if (code != EX_OK)
			return code;
		cli->given[i].value = provider.uuid;
	}
	return EX_OK;
}

int command_provider_list(struct cli *cli)
{
	const struct column_list columns = columns_of(cli);
	struct table *table = table_new(cli, columns.list, columns.n, cli->options[OPT_LONG] != NULL ? columns.n : columns.n_shown);

	if (table == NULL)
		return EX_USAGE;
	int code = resolve_given(cli, "--in-tree");
	struct tenure_list *list = tenure_list_providers(cli->client);
	if (list == NULL)
		return cli_fail(EX_OSERR, "no memory");
	if (code == EX_OK)
		code = fields_filter(cli, list);
	if (code == EX_OK)
		code = table_fill(cli, table, list, 0, "providers");
	if (code == EX_OK)
		code = table_print(table);
	tenure_list_free(&list);
	return code;
}

// ---- one or several

// Adds the provider's traits, aggregates and inventories to the document.
static int add_parts(struct cli *cli, const struct provider *provider, struct doc *document)
{
	const struct part *parts[] = { &part_traits, &part_aggregates, &part_inventories };
	int code = EX_OK;

	for (size_t i = 0; i < COUNT_OF(parts) && code == EX_OK; i++) {
		struct doc *content, *list = doc_new_array(cli->pool);
		code = part_read(cli, provider, parts[i], &content);
		for (struct doc_iter it = doc_iter(content); parts[i]->is_list && content != NULL && doc_next(&it);)
			doc_push(list, doc_new_string(cli->pool, it.name));
		doc_set(document, str_c(parts[i]->name), parts[i]->is_list ? list : content);
	}
	return code;
}

static int show_one(struct cli *cli, const char *ident, void *table)
{
	struct provider provider;
	struct target target;
	const struct doc *document;
	int code = provider_find(cli, ident, &provider);

	if (code != EX_OK || !open_target(cli, &provider, &target))
		return code != EX_OK ? code : EX_OSERR;
	code = target_read(cli, &target, &document);
	if (code == EX_OK && cli->options[OPT_LONG] != NULL) {
		struct doc *longer = doc_copy(cli->pool, document);
		code = add_parts(cli, &provider, longer);
		document = longer;
	}
	if (code == EX_OK && table != NULL)
		table_add(table, document);
	else if (code == EX_OK)
		cli_thing_print(cli, document);
	tenure_resource_free(&target.resource);
	return code;
}

int command_provider_show(struct cli *cli)
{
	const struct column_list columns = columns_of(cli);

	return cli_show_each(cli, 0, columns.list, columns.n, columns.n_shown, show_one);
}

// ---- changes

// The UUID of the provider that --parent names; null if it is to have no parent. Exit code.
static int parent_of(struct cli *cli, const char *ident, struct doc **parent)
{
	struct provider provider;

	*parent = NULL;
	if (strcmp(ident, "none") == 0)
		return EX_OK;
	int code = provider_find(cli, ident, &provider);
	if (code == EX_OK)
		*parent = doc_new_string(cli->pool, str_c(provider.uuid));
	return code;
}

// Makes {"name": …, "parent_provider_uuid": …} of the options that were given.
static int described(struct cli *cli, const char *name, struct doc **document)
{
	const char *parent = given_value(cli, "--parent");
	struct doc *value;

	*document = doc_new_object(cli->pool);
	if (name != NULL && !str_utf8_ok(str_c(name), NULL))
		return cli_fail_encoding("the name");
	if (name != NULL)
		doc_set_str(cli->pool, *document, "name", str_c(name));
	int code = parent != NULL ? parent_of(cli, parent, &value) : EX_OK;
	if (code == EX_OK && parent != NULL)
		doc_set(*document, STR("parent_provider_uuid"), value);
	return code;
}

int command_provider_create(struct cli *cli)
{
	const char *name = cli->arguments[0], *uuid = given_value(cli, "--uuid");
	struct provider unmade = { .label = str_printf(cli->pool, "provider %s", name).p };
	struct target target;
	struct doc *document;
	int code = described(cli, name, &document);

	if (code != EX_OK || !open_target(cli, &unmade, &target))
		return code != EX_OK ? code : EX_OSERR;
	if (uuid != NULL)
		doc_set_str(cli->pool, document, "uuid", str_c(uuid));
	code = cli_create(cli, &target, document);
	tenure_resource_free(&target.resource);
	return code;
}

// A PUT must have all members of a provider, so it is read first. --etag auto still means what was shown last.
int command_provider_set(struct cli *cli)
{
	struct change change = { .kind = CHANGE_PATCH };
	struct provider provider;
	struct target target;
	struct doc *patch;

	if (cli->n_given == 0)
		return cli_fail(EX_USAGE, "what is to be changed? See \"tenure help provider set\"");
	int code = provider_find(cli, cli->arguments[0], &provider);
	if (code == EX_OK)
		code = described(cli, given_value(cli, "--name"), &patch);
	if (code != EX_OK || !open_target(cli, &provider, &target))
		return code != EX_OK ? code : EX_OSERR;
	change.document = patch;
	change.body = doc_text(cli->pool, patch);
	enum tenure_status status = tenure_resource_get(target.resource);
	code = status == TENURE_OK ? change_make(cli, &target, &change) : cli_fail_status(cli, status, target.label);
	tenure_resource_free(&target.resource);
	return code;
}

static int delete_one(struct cli *cli, const char *ident, void *arg)
{
	struct change change = { .kind = CHANGE_DELETE };
	struct provider provider;
	struct target target;
	int code = provider_find(cli, ident, &provider);

	UNUSED(arg);
	if (code != EX_OK)
		return code;
	if (!cli_confirmed(cli, str_printf(cli->pool, "Delete %s?", provider.label).p))
		return EX_USAGE;
	code = open_target(cli, &provider, &target) ? change_make(cli, &target, &change) : EX_OSERR;
	tenure_resource_free(&target.resource);
	return code;
}

int command_provider_delete(struct cli *cli)
{
	return cli_each_name(cli, 0, delete_one, NULL);
}
