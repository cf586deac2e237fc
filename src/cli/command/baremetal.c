// SPDX-License-Identifier: Apache-2.0
// tenure node, port, portgroup, chassis, driver: the commands that all bare metal has.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/baremetal.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"

struct baremetal_noun {
	const char *noun, *kind; // kind: as tenure_metal_new() takes it, and the plural of the built-in type
	bool no_type;            // a driver is no resource: its columns stand here
};
static const struct baremetal_noun nouns[] = {
	{ "node", "nodes", false }, { "port", "ports", false }, { "portgroup", "portgroups", false }, { "chassis", "chassis", false },
	{ "driver", "drivers", true },
};
static const struct column driver_columns[] = {
	{ "name", "name" }, { "type", "type" }, { "hosts", "hosts" },
	{ "deploy", "enabled_deploy_interfaces" }, { "management", "enabled_management_interfaces" },
	{ "power", "enabled_power_interfaces" },
};
enum { DRIVER_SHOWN = 3 };
static const struct baremetal_noun *noun_of(const struct cli *cli)
{
	size_t i = 0;

	while (strcmp(nouns[i].noun, cli->command->noun) != 0)
		i++;
	return &nouns[i];
}

static struct column_list columns_of(struct cli *cli)
{
	const struct baremetal_noun *noun = noun_of(cli);

	return noun->no_type ? (struct column_list){ driver_columns, COUNT_OF(driver_columns), DRIVER_SHOWN }
		: cli_noun_columns(cli, "baremetal.openstack.org", noun->kind);
}

bool cli_baremetal_target(struct cli *cli, const char *ident, struct target *target)
{
	const struct baremetal_noun *noun = noun_of(cli);

	*target = (struct target){ .kind = TARGET_METAL };
	target->label = ident != NULL ? str_printf(cli->pool, "%s %s", noun->noun, ident).p : noun->noun;
	target->resource = tenure_metal_new(cli->client, noun->kind, ident);
	if (target->resource == NULL)
		cli_fail_segment(ident, str_printf(cli->pool, "a %s's UUID or name", noun->noun).p);
	return target->resource != NULL;
}

// ---- lists

// Asks the service only for the members that are shown.
static bool narrow(struct cli *cli, struct tenure_list *list)
{
	const struct column_list columns = columns_of(cli);
	struct str names = str_c(cli->options[OPT_FIELDS]), name;
	struct buf fields = buf_new(cli->pool, 128);

	for (size_t i = 0; i < columns.n_shown && cli->options[OPT_FIELDS] == NULL; i++)
		buf_addf(&fields, "%s%s", i > 0 ? "," : "", columns.list[i].path);
	while (cli->options[OPT_FIELDS] != NULL && str_split(&names, ',', &name)) {
		// Every answer has the etag; it must not be asked for.
		if (!str_eq(name, STR("etag")))
			buf_addf(&fields, "%s%.*s", fields.n > 0 ? "," : "", STR_ARG(name));
	}
	return tenure_list_filter(list, "fields", fields.n > 0 ? str_cstr(cli->pool, buf_str(&fields)) : "uuid");
}

static bool is_whole(const struct cli *cli)
{
	return cli->options[OPT_LONG] != NULL || cli->options[OPT_COLUMNS] != NULL ||
		strcmp(cli->command->noun, "driver") == 0 || (cli->format == FORMAT_JSON && cli->options[OPT_FIELDS] == NULL);
}

static int list_with(struct cli *cli, struct tenure_list *list, struct table *table)
{
	uint64_t limit;
	int code = cli_list_limit(cli, list, &limit);

	if (code == EX_OK)
		code = fields_filter(cli, list);
	if (code == EX_OK && cli->options[OPT_MARKER] != NULL &&
		!tenure_list_filter(list, "marker", cli->options[OPT_MARKER]))
		code = cli_fail(EX_USAGE, "--marker takes the UUID of the last one seen");
	if (code == EX_OK)
		code = cli_list_sort(cli, list, "sort_key", "sort_dir");
	if (code == EX_OK && !is_whole(cli) && !narrow(cli, list))
		code = cli_fail(EX_USAGE, "--fields takes names with commas between");
	if (code == EX_OK)
		code = table_fill(cli, table, list, limit, noun_of(cli)->kind);
	if (code == EX_OK)
		code = table_print(table);
	return code;
}

int command_baremetal_list(struct cli *cli)
{
	const struct baremetal_noun *noun = noun_of(cli);
	const struct column_list columns = columns_of(cli);

	if ((cli->options[OPT_FIELDS] != NULL) + (cli->options[OPT_LONG] != NULL) + (cli->options[OPT_COLUMNS] != NULL) > 1)
		return cli_fail(EX_USAGE, "one of --columns, --fields and --long, not several");
	if (cli->options[OPT_FIELDS] != NULL)
		cli->options[OPT_COLUMNS] = cli->options[OPT_FIELDS];
	struct table *table = table_new(cli, columns.list, columns.n, cli->options[OPT_LONG] != NULL ? columns.n : columns.n_shown);
	if (cli->options[OPT_FIELDS] != NULL)
		cli->options[OPT_COLUMNS] = NULL;
	if (table == NULL)
		return EX_USAGE;
	struct tenure_list *list = tenure_list_metal(cli->client, noun->kind);
	if (list == NULL)
		return cli_fail(EX_OSERR, "no memory");
	int code = list_with(cli, list, table);
	tenure_list_free(&list);
	return code;
}

// ---- one or several

// Is it a list of links, [{"href": …, "rel": …}, …], or a list of such lists?
static bool are_links(const struct doc *value)
{
	const struct doc *first = doc_kind(value) == DOC_ARRAY && doc_length(value) > 0 ? doc_at(value, 0) : NULL, *href;

	return doc_get(first, STR("href"), &href) || (doc_kind(first) == DOC_ARRAY && are_links(first));
}

void cli_thing_print(struct cli *cli, const struct doc *document)
{
	struct doc *shown = doc_copy(cli->pool, document);

	for (struct doc_iter it = doc_iter(document); cli->format != FORMAT_JSON && doc_next(&it);) {
		if (are_links(it.value))
			doc_remove(shown, it.name);
	}
	cli_document_print(cli, shown);
}

// Shows what --instance or --address finds; nothing found counts as not found.
static int show_found(struct cli *cli, struct table *table)
{
	const struct baremetal_noun *noun = noun_of(cli);
	struct tenure_list *list = tenure_list_metal(cli->client, noun->kind);
	struct target target = { .kind = TARGET_METAL, .label = cli->given[0].value };
	enum tenure_status status = TENURE_END;
	struct doc *document;
	size_t n;

	int code = list != NULL ? fields_filter(cli, list) : cli_fail(EX_OSERR, "no memory");
	if (code == EX_OK)
		status = tenure_list_next(list, &target.resource);
	tenure_list_free(&list);
	if (code != EX_OK || status == TENURE_END)
		return code != EX_OK ? code : cli_fail(EXIT_NOT_FOUND, "there is no %s with %s", noun->noun, target.label);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, target.label);
	const char *text = tenure_resource_document(target.resource, &n);
	code = cli_input_parse(cli, str_n(text, n), target.label, &document);
	if (code == EX_OK) {
		cli_remember_state(cli, &target);
		if (table != NULL)
			table_add(table, document);
		else
			cli_thing_print(cli, document);
	}
	tenure_resource_free(&target.resource);
	return code;
}

static int show_one(struct cli *cli, const char *ident, void *table)
{
	struct target target;

	return cli_baremetal_target(cli, ident, &target) ? target_show(cli, &target, table, cli_thing_print) : EX_USAGE;
}

int command_baremetal_show(struct cli *cli)
{
	const struct column_list columns = columns_of(cli);
	struct table *table;

	if ((cli->n_given > 0) == (cli->n_arguments > 0))
		return cli_fail(EX_USAGE, "which one? A name or UUID, or an option that tells it; not both");
	if (cli->n_given == 0)
		return cli_show_each(cli, 0, columns.list, columns.n, columns.n_shown, show_one);
	if (!table_wanted(cli, columns.list, columns.n, columns.n_shown, &table))
		return EX_USAGE;
	int code = show_found(cli, table);
	if (table != NULL)
		return cli_first_failure(code, table_print(table));
	return code;
}

int command_baremetal_create(struct cli *cli)
{
	struct target target;
	struct doc *document;
	int code = fields_document(cli, 0, &document);

	if (code != EX_OK || !cli_baremetal_target(cli, NULL, &target))
		return code != EX_OK ? code : EX_USAGE;
	code = cli_create(cli, &target, document);
	tenure_resource_free(&target.resource);
	return code;
}

// arg: the struct change.
static int change_one(struct cli *cli, const char *ident, void *arg)
{
	struct change change = *(const struct change *)arg;
	struct target target;

	return cli_baremetal_target(cli, ident, &target) ? target_change(cli, &target, &change) : EX_USAGE;
}

// set and unset. Only the first argument is a name, "-" for several on standard input.
int command_baremetal_set(struct cli *cli)
{
	struct doc *document;
	int code = fields_patch(cli, 1, &document);

	if (code != EX_OK)
		return code;
	struct change patch = { .kind = CHANGE_JSON_PATCH, .document = document };
	return cli_each_of(cli, cli_input_names(cli, 0, 1), change_one, &patch);
}

int command_baremetal_edit(struct cli *cli)
{
	struct target target;

	if (!cli_baremetal_target(cli, cli->arguments[0], &target))
		return EX_USAGE;
	int code = edit_document(cli, &target);
	tenure_resource_free(&target.resource);
	return code;
}

static int delete_one(struct cli *cli, const char *ident, void *arg)
{
	struct change change = { .kind = CHANGE_DELETE };
	bool node = strcmp(cli->command->noun, "node") == 0;

	UNUSED(arg);
	if (!cli_confirmed(cli, str_printf(cli->pool, "Delete %s %s%s?", cli->command->noun, ident,
		node ? " with its ports and port groups" : "").p))
		return EX_USAGE;
	return change_one(cli, ident, &change);
}

int command_baremetal_delete(struct cli *cli)
{
	return cli_each_name(cli, 0, delete_one, NULL);
}
