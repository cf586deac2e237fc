// SPDX-License-Identifier: Apache-2.0
// tenure provider list, show, create, set, delete.
#include "base/base.h"

#include "cli/cli.h"

static const struct column columns[] = {
	{ "uuid", "uuid" }, { "name", "name" }, { "generation", "generation" }, { "parent", "parent_provider_uuid" },
	{ "root", "root_provider_uuid" },
};
enum { SHOWN = 4 };

static bool open_target(struct cli *cli, const struct provider *provider, struct target *target)
{
	*target = (struct target){ .kind = TARGET_PROVIDER, .label = provider->label };
	target->resource = tenure_provider_new(cli->client, provider->uuid);
	if (target->resource == NULL)
		cli_fail(EX_OSERR, "no memory");
	return target->resource != NULL;
}

// The value of the option with this name, given last; NULL: not given.
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

// A provider that an option names may be named by its name, where the API takes UUIDs.
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

static int collect(struct cli *cli, struct tenure_list *list, struct table *table)
{
	struct tenure_resource *item;
	enum tenure_status status;
	size_t n;

	while ((status = tenure_list_next(list, &item)) == TENURE_OK) {
		struct doc *document;
		const char *text = tenure_resource_document(item, &n);
		if (input_parse(cli, str_n(text, n), "list", &document) == EX_OK)
			table_add(table, document);
		tenure_resource_free(&item);
	}
	return status == TENURE_END ? EX_OK : cli_fail_status(cli, status, "providers");
}

int command_provider_list(struct cli *cli)
{
	struct table *table = table_new(cli, columns, COUNT_OF(columns),
		cli->options[OPT_LONG] != NULL ? COUNT_OF(columns) : SHOWN);

	if (table == NULL)
		return EX_USAGE;
	int code = resolve_given(cli, "--in-tree");
	struct tenure_list *list = tenure_list_providers(cli->client);
	if (list == NULL)
		return cli_fail(EX_OSERR, "no memory");
	if (code == EX_OK)
		code = fields_filter(cli, list);
	if (code == EX_OK)
		code = collect(cli, list, table);
	if (code == EX_OK)
		table_print(table);
	tenure_list_free(&list);
	return code;
}

// ---- one or several

// What hangs on it becomes members of its own.
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

static int show_one(struct cli *cli, const char *ident, struct table *table)
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
		thing_print(cli, document);
	tenure_resource_free(&target.resource);
	return code;
}

int command_provider_show(struct cli *cli)
{
	bool columned = cli->options[OPT_COLUMNS] != NULL;
	struct table *table = columned ? table_new(cli, columns, COUNT_OF(columns), SHOWN) : NULL;
	const char **names = columned && table == NULL ? NULL : input_names(cli, 0);
	int first_failure = EX_OK;

	if (names == NULL)
		return columned && table == NULL ? EX_USAGE : EX_NOINPUT;
	for (; *names != NULL; names++) {
		int code = show_one(cli, *names, table);
		first_failure = first_failure != EX_OK ? first_failure : code;
	}
	if (table != NULL)
		table_print(table);
	return first_failure;
}

// ---- changes

// The UUID of the provider that --parent names, null where it is to have none. Exit code.
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

// {"name": …, "parent_provider_uuid": …}, as far as options tell them.
static int described(struct cli *cli, const char *name, struct doc **document)
{
	const char *parent = given_value(cli, "--parent");
	struct doc *value;

	*document = doc_new_object(cli->pool);
	if (name != NULL && !str_utf8_ok(str_c(name), NULL))
		return cli_fail(EX_USAGE, "the name is no UTF-8");
	if (name != NULL)
		doc_set_str(cli->pool, *document, "name", str_c(name));
	int code = parent != NULL ? parent_of(cli, parent, &value) : EX_OK;
	if (code == EX_OK && parent != NULL)
		doc_set(*document, STR("parent_provider_uuid"), value);
	return code;
}

// Says the UUID, unless the whole of it was asked for.
static void tell_made(struct cli *cli, const struct target *target)
{
	remember(cli, target);
	if (cli->format_given)
		announce(cli, target, "made");
	else
		printf("%s\n", strrchr(tenure_resource_path(target->resource), '/') + 1);
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
	struct str body = doc_text(cli->pool, document);
	enum tenure_status status = tenure_resource_create(target.resource, body.p, body.n);
	if (status != TENURE_OK)
		code = cli_fail_status(cli, status, target.label);
	else if (!cli->client->nothing_sent)
		tell_made(cli, &target);
	tenure_resource_free(&target.resource);
	return code;
}

// Its PUT says all there is of a provider, so that is read first; --etag auto still means what was shown.
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

int command_provider_delete(struct cli *cli)
{
	const char **names = input_names(cli, 0);
	int first_failure = EX_OK;

	if (names == NULL)
		return EX_NOINPUT;
	for (; *names != NULL; names++) {
		struct change change = { .kind = CHANGE_DELETE };
		struct target target = { .resource = NULL };
		struct provider provider;
		int code = provider_find(cli, *names, &provider);
		if (code == EX_OK && !confirmed(cli, str_printf(cli->pool, "Delete %s?", provider.label).p))
			code = EX_USAGE;
		if (code == EX_OK)
			code = open_target(cli, &provider, &target) ? change_make(cli, &target, &change) : EX_OSERR;
		first_failure = first_failure != EX_OK ? first_failure : code;
		tenure_resource_free(&target.resource);
	}
	return first_failure;
}
