// SPDX-License-Identifier: Apache-2.0
// tenure resource TYPE …, also with a type's plural as the noun.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/command/resource.h"
#include "cli/core/cli.h"
#include "cli/core/command_table.h"
#include "cli/core/lists.h"
#include "cli/core/offered_types.h"
#include "cli/core/table.h"

static const struct column columns[] = {
	{ "namespace", "metadata.namespace" }, { "name", "metadata.name" }, { "revision", "metadata.resourceVersion" },
	{ "created", "metadata.creationTimestamp" }, { "uid", "metadata.uid" }, { "deleted", "metadata.deletionTimestamp" },
	{ "purge", "metadata.purgeTimestamp" }, { "etag", "metadata.etag" }, { "tenant", "metadata.tenant" },
	{ "labels", "metadata.labels" }, { "locked", "metadata.locked" },
};
enum { SHOWN = 4, SHOWN_DELETED = 7 };

// The group of an offered type; NULL: the type is custom, or other commands handle it.
static const char *group_of(const char *plural)
{
	for (const struct offered_type *t = offered_types; t->plural != NULL; t++) {
		if (t->offered && strcmp(t->plural, plural) == 0)
			return t->group;
	}
	return NULL;
}

void resource_suggest(struct cli *cli, const char *type)
{
	for (const struct offered_type *t = offered_types; t->plural != NULL; t++)
		if (strcmp(t->plural, type) == 0)
			return;
	const char *near = type_plural_near(type);
	if (near == NULL)
		near = cli_noun_near(cli->pool, cli->commands, type);
	if (near != NULL)
		cli_fail(0, "  did you mean \"%s\"?", near);
}

static int fail_no_tenant(struct cli *cli, const char *type)
{
	int code = cli_fail_no_tenant();

	resource_suggest(cli, type);
	return code;
}

const char *resource_namespace(const struct cli *cli, const char *type)
{
	// Resources of other types are in a namespace if -n is given.
	for (const struct offered_type *t = offered_types; t->plural != NULL && cli->options[OPT_NAMESPACE] == NULL; t++) {
		if (t->offered && t->namespaced && strcmp(t->plural, type) == 0)
			return "default";
	}
	return cli->options[OPT_NAMESPACE];
}

bool resource_name_read(const char *text, struct pool *pool, struct resource_name *name)
{
	struct str rest = str_c(text), part;
	const char *parts[4];
	size_t n = 0;

	while (n < COUNT_OF(parts) && str_split(&rest, '/', &part)) {
		if (part.n == 0)
			return false;
		parts[n++] = str_cstr(pool, part);
	}
	if (rest.p != NULL || (n != 2 && (n != 4 || strcmp(parts[0], "namespaces") != 0)))
		return false;
	*name = (struct resource_name){ n == 4 ? parts[1] : NULL, parts[n - 2], parts[n - 1] };
	return true;
}

int resource_fail_address(struct cli *cli, const char *space, const char *type, const char *name)
{
	const struct { const char *text, *what; } parts[] = {
		{ cli->tenant, "a tenant's id" }, { space, "a namespace's name" }, { type, "a type's name" }, { name, "a resource's name" },
	};
	struct buf path = buf_new(cli->pool, 256);

	for (size_t i = 0; i < COUNT_OF(parts); i++) {
		if (parts[i].text != NULL && cli_path_add(&path, parts[i].text, parts[i].what) != EX_OK)
			return EX_USAGE;
	}
	return cli_fail(EX_OSERR, "no memory");
}

bool resource_target(struct cli *cli, const char *space, const char *type, const char *name, struct target *target)
{
	*target = (struct target){ .label = str_printf(cli->pool, "%s/%s", type, name).p };
	if (cli->tenant == NULL) {
		fail_no_tenant(cli, type);
		return false;
	}
	space = space != NULL ? space : resource_namespace(cli, type);
	target->resource = tenure_resource_new(cli->client, cli->tenant, space, type, name);
	if (target->resource == NULL)
		resource_fail_address(cli, space, type, name);
	return target->resource != NULL;
}

int command_resource_list(struct cli *cli)
{
	bool deleted = cli->options[OPT_DELETED] != NULL;
	const char *type = cli->arguments[0];
	// Types without namespaces have no such column.
	bool flat = cli->options[OPT_NAMESPACE] == NULL && resource_namespace(cli, type) == NULL;
	size_t skip = flat ? 1 : 0;

	if (cli->tenant == NULL)
		return fail_no_tenant(cli, type);
	struct table *table = table_new(cli, cli->options[OPT_COLUMNS] != NULL ? columns : columns + skip,
		cli->options[OPT_COLUMNS] != NULL ? COUNT_OF(columns) : COUNT_OF(columns) - skip,
		(deleted ? SHOWN_DELETED : SHOWN) - skip);
	if (table == NULL)
		return EX_USAGE;
	if (cli->options[OPT_COLUMNS] == NULL && !deleted && group_of(type) != NULL)
		table_add_type(table, group_of(type), type);
	struct tenure_list *list = tenure_list_resources(cli->client, cli->tenant, cli->options[OPT_NAMESPACE], type,
		deleted ? TENURE_LIST_DELETED : TENURE_LIST_LIVE);
	if (list == NULL)
		return resource_fail_address(cli, cli->options[OPT_NAMESPACE], type, NULL);
	uint64_t limit;
	int code = cli_list_conditions(cli, list, &limit);
	if (code == EX_OK)
		code = table_fill(cli, table, list, limit, type);
	tenure_list_free(&list);
	if (code == EX_OK)
		code = table_print(table);
	if (code == EXIT_NOT_FOUND)
		resource_suggest(cli, type);
	return code;
}

static int show_one(struct cli *cli, const char *name, void *table)
{
	struct target target;

	return resource_target(cli, NULL, cli->arguments[0], name, &target)
		? target_show(cli, &target, table, cli_document_print) : EX_USAGE;
}

int command_resource_show(struct cli *cli)
{
	int code = cli_show_each(cli, 1, columns, COUNT_OF(columns), SHOWN, show_one);

	if (code == EXIT_NOT_FOUND)
		resource_suggest(cli, cli->arguments[0]);
	return code;
}

// arg: the struct change.
static int change_one(struct cli *cli, const char *name, void *arg)
{
	struct change change = *(const struct change *)arg;
	struct target target;

	return resource_target(cli, NULL, cli->arguments[0], name, &target) ? target_change(cli, &target, &change) : EX_USAGE;
}

// "-" (names on standard input) replaces only the second argument; MEMBER=VALUE arguments follow.
int command_resource_set(struct cli *cli)
{
	struct doc *document;
	int code = cli_input_document(cli, 2, &document);

	if (code != EX_OK)
		return code;
	// Nothing that says what is to be set makes an empty resource. It never empties one: the arguments may come from a
	// variable that is not set.
	if (document == NULL && cli->options[OPT_ETAG] != NULL && strcmp(cli->options[OPT_ETAG], "new") != 0)
		return cli_fail(EX_USAGE, "what is to be set? MEMBER=VALUE or --file");
	if (document == NULL)
		cli->options[OPT_ETAG] = "new";
	struct change put = { .kind = CHANGE_PUT, .document = document != NULL ? document : doc_new_object(cli->pool) };
	return cli_each_of(cli, cli_input_names(cli, 1, 2), change_one, &put);
}

int command_resource_patch(struct cli *cli)
{
	struct doc *document;
	int code = cli_input_document(cli, 2, &document);

	if (code != EX_OK)
		return code;
	if (document == NULL)
		return cli_fail(EX_USAGE, "what is to be changed? MEMBER=VALUE, --patch or --file");
	struct change patch = { .kind = CHANGE_PATCH, .document = document };
	return cli_each_of(cli, cli_input_names(cli, 1, 2), change_one, &patch);
}

int command_resource_edit(struct cli *cli)
{
	struct target target;

	if (!resource_target(cli, NULL, cli->arguments[0], cli->arguments[1], &target))
		return EX_USAGE;
	int code = edit_document(cli, &target);
	tenure_resource_free(&target.resource);
	return code;
}

static int delete_one(struct cli *cli, const char *name, void *arg)
{
	struct change change = { .kind = CHANGE_DELETE };

	UNUSED(arg);
	if (!cli_confirmed(cli, str_printf(cli->pool, "Delete %s/%s?", cli->arguments[0], name).p))
		return EX_USAGE;
	return change_one(cli, name, &change);
}

int command_resource_delete(struct cli *cli)
{
	return cli_each_name(cli, 1, delete_one, NULL);
}

static int recover_one(struct cli *cli, const char *name, void *arg)
{
	struct target target;
	int code = EX_USAGE;

	UNUSED(arg);
	if (resource_target(cli, NULL, cli->arguments[0], name, &target))
		code = cli_recover(cli, &target, cli->options[OPT_UID]);
	tenure_resource_free(&target.resource);
	return code;
}

int command_resource_recover(struct cli *cli)
{
	const char **names = cli_input_names(cli, 1, cli->n_arguments);

	if (names != NULL && cli->options[OPT_UID] != NULL && names[1] != NULL)
		return cli_fail(EX_USAGE, "--uid goes with one name");
	return cli_each_of(cli, names, recover_one, NULL);
}
