// SPDX-License-Identifier: Apache-2.0
// tenure provider trait … and aggregate …: a provider's lists of names.
#include "base/base.h"

#include "base/uuid.h"
#include "cli/change/change.h"
#include "cli/command/commands.h"
#include "cli/command/placement.h"
#include "cli/command/provider_part.h"
#include "cli/core/cli.h"
#include "cli/core/table.h"

static const struct part *part_of(const struct cli *cli)
{
	return strncmp(cli->command->verb, "trait", 5) == 0 ? &part_traits : &part_aggregates;
}

int command_part_list(struct cli *cli)
{
	const struct part *part = part_of(cli);
	const struct column column[] = { { part == &part_traits ? "trait" : "aggregate", "name" } };
	struct table *table = table_new(cli, column, 1, 1);
	struct provider provider;
	struct doc *content = NULL;

	if (table == NULL)
		return EX_USAGE;
	int code = provider_find(cli, cli->arguments[0], &provider);
	if (code == EX_OK)
		code = part_show(cli, &provider, part, &content);
	if (code != EX_OK)
		return code;
	for (struct doc_iter it = doc_iter(content); doc_next(&it);) {
		struct doc *row = doc_new_object(cli->pool);
		doc_set_str(cli->pool, row, "name", it.name);
		table_add(table, row);
	}
	return table_print(table);
}

// ---- arguments

// The names from the second argument on, aggregates as the service writes them. NULL: one is not valid, and an error was
// printed.
static struct doc *named(struct cli *cli)
{
	struct doc *names = doc_new_object(cli->pool);

	for (size_t i = 1; i < cli->n_arguments; i++) {
		struct str name = str_c(cli->arguments[i]);
		struct uuid uuid;
		if (!str_utf8_ok(name, NULL)) {
			cli_fail_encoding("a name");
			return NULL;
		}
		if (part_of(cli) == &part_aggregates && uuid_parse(name, &uuid))
			name = uuid_str(cli->pool, uuid);
		doc_set(names, name, doc_new_bool(cli->pool, true));
	}
	return names;
}

static struct doc *make_less(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg)
{
	struct doc *wanted = doc_copy(cli->pool, base);
	const struct doc *unused;

	for (struct doc_iter it = doc_iter(arg); doc_next(&it);) {
		if (!doc_get(base, it.name, &unused)) {
			cli_fail(0, "%s has no %.*s", provider->label, STR_ARG(it.name));
			return NULL;
		}
		doc_remove(wanted, it.name);
	}
	return wanted;
}

typedef struct doc *make_fn(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg);

static int change_whole(struct cli *cli, const struct provider *provider, make_fn *make)
{
	struct part_edit edit = { .make = make, .arg = named(cli), .whole = make == part_exactly };

	return edit.arg != NULL ? part_change(cli, provider, part_of(cli), &edit) : EX_USAGE;
}

int command_part_set(struct cli *cli)
{
	struct provider provider;
	int code = provider_find(cli, cli->arguments[0], &provider);

	return code == EX_OK ? change_whole(cli, &provider, part_exactly) : code;
}

// ---- adding and removing some

// Sends each trait alone, if the service can do so: traits that others add or remove at the same time stay as they want them.
static int each_alone(struct cli *cli, const struct provider *provider, const char *method)
{
	struct str root = str_printf(cli->pool, "/resource_providers/%s/traits", provider->uuid);
	int code = EX_OK;

	for (size_t i = 1; i < cli->n_arguments && code == EX_OK; i++) {
		const char *trait = cli->arguments[i];
		struct wish wish = { .method = method };
		code = cli_path_below(cli, root.p, trait, "a trait's name", &wish.path);
		if (code != EX_OK)
			return code;
		enum tenure_status status = cli_placement_call(cli, wish, NULL, NULL, NULL);
		if (status != TENURE_OK)
			code = cli_fail_status(cli, status, str_printf(cli->pool, "%s: %s", provider->label, trait).p);
	}
	if (code == EX_OK && !cli->client->nothing_sent)
		change_announce_done(cli, str_printf(cli->pool, "%s: traits", provider->label).p, "done");
	return code;
}

static int change_some(struct cli *cli, const char *method, make_fn *make)
{
	struct provider provider;
	int code = provider_find(cli, cli->arguments[0], &provider);
	bool guarded = cli->options[OPT_GENERATION] != NULL || cli->options[OPT_ETAG] != NULL;

	if (code != EX_OK)
		return code;
	return part_of(cli) == &part_traits && !guarded ? each_alone(cli, &provider, method)
		: change_whole(cli, &provider, make);
}

int command_part_add(struct cli *cli)
{
	return change_some(cli, "PUT", part_patched);
}

int command_part_remove(struct cli *cli)
{
	bool all = cli->options[OPT_ALL] != NULL;

	if (all == (cli->n_arguments > 1))
		return cli_fail(EX_USAGE, "which %s? Their names, or --all; not both", part_of(cli)->name);
	return all ? command_part_set(cli) : change_some(cli, "DELETE", make_less);
}
