// SPDX-License-Identifier: Apache-2.0
// tenure trait: the catalogue of traits.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/command/placement.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/table.h"
#include "http/uri.h"

#define CUSTOM "CUSTOM_"

// A list shows the first two columns, a single trait all.
static const struct column columns[] = {
	{ "name", "name" }, { "standard", "standard" }, { "deprecated", "deprecated" }, { "description", "description" },
};
enum { LISTED = 2 };
static const struct column user_columns[] = { { "uuid", "uuid" }, { "name", "name" }, { "root", "root_provider_uuid" } };

static struct doc *row_of(struct cli *cli, struct str name)
{
	struct doc *row = doc_new_object(cli->pool);

	doc_set_str(cli->pool, row, "name", name);
	doc_set(row, STR("standard"), doc_new_bool(cli->pool, !str_starts(name, STR(CUSTOM))));
	return row;
}

// ---- lists

// Makes the query "?name=in:A,B&associated=true" of the options. The API takes only one parameter name.
static int read_query(struct cli *cli, struct str *query)
{
	struct buf out = buf_new(cli->pool, 128);
	unsigned n_names = 0;

	for (size_t i = 0; i < cli->n_given; i++) {
		const struct given *given = &cli->given[i];
		const char *operator = strcmp(given->field->name, "--starts-with") == 0 ? "startswith:"
			: strcmp(given->field->name, "--name-in") == 0 ? "in:" : "";
		if (!str_utf8_ok(str_c(given->value), NULL))
			return cli_fail_encoding(given->field->name);
		if (given->field->kind == FIELD_BOOL && strcmp(given->value, "true") != 0 && strcmp(given->value, "false") != 0)
			return cli_fail(EX_USAGE, "%s is true or false, not \"%s\"", given->field->name, given->value);
		n_names += *operator != '\0';
		buf_addf(&out, "%c%s=%s", out.n == 0 ? '?' : '&', given->field->member, operator);
		uri_add_value(&out, str_c(given->value));
	}
	*query = buf_str(&out);
	return n_names <= 1 ? EX_OK : cli_fail(EX_USAGE, "one of --starts-with and --name-in, once");
}

int command_catalogue_list(struct cli *cli)
{
	bool is_long = cli->options[OPT_LONG] != NULL;
	struct table *table = table_new(cli, columns, LISTED, is_long ? LISTED : 1);
	const struct doc *list = NULL;
	struct doc *answer;
	struct str query;

	if (table == NULL)
		return EX_USAGE;
	int code = read_query(cli, &query);
	if (code != EX_OK)
		return code;
	enum tenure_status status = cli_placement_call(cli, (struct wish){ .method = "GET",
		.path = str_printf(cli->pool, "/traits%.*s", STR_ARG(query)) }, NULL, &answer, NULL);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, "traits");
	if (!doc_get(answer, STR("traits"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of traits");
	for (size_t i = 0; i < doc_length(list); i++)
		table_add(table, row_of(cli, doc_string(doc_at(list, i))));
	return table_print(table);
}

// ---- one or several

// Calls the trait's address, with suffix behind it. Exit code.
static int call_one(struct cli *cli, const char *method, const char *name, const char *suffix, const struct doc *body,
	struct doc **answer, int *http)
{
	struct wish wish = { .method = method };
	int code = cli_path_below(cli, "/traits", name, "a trait's name", &wish.path);

	if (code != EX_OK)
		return code;
	wish.path = str_printf(cli->pool, "%.*s%s", STR_ARG(wish.path), suffix);
	enum tenure_status status = cli_placement_call(cli, wish, body, answer, http);
	return status == TENURE_OK ? EX_OK : cli_fail_status(cli, status, str_printf(cli->pool, "trait %s", name).p);
}

static int show_one(struct cli *cli, const char *name, void *table)
{
	struct doc *about;
	int code = call_one(cli, "GET", name, "/about", NULL, &about, NULL);

	if (code == EX_OK)
		table_add(table, about);
	return code;
}

int command_catalogue_show(struct cli *cli)
{
	struct table *table = table_new(cli, columns, COUNT_OF(columns), COUNT_OF(columns));
	const char **names = table != NULL ? cli_input_names(cli, 0, cli->n_arguments) : NULL;

	if (names == NULL)
		return table == NULL ? EX_USAGE : EX_NOINPUT;
	int code = cli_each_of(cli, names, show_one, table);
	return cli_first_failure(code, table_print(table));
}

int command_catalogue_users(struct cli *cli)
{
	struct table *table = table_new(cli, user_columns, COUNT_OF(user_columns), COUNT_OF(user_columns));
	const struct doc *list = NULL;
	struct doc *answer;

	if (table == NULL)
		return EX_USAGE;
	int code = call_one(cli, "GET", cli->arguments[0], "/resource_providers", NULL, &answer, NULL);
	if (code != EX_OK)
		return code;
	if (!doc_get(answer, STR("resource_providers"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of providers");
	for (size_t i = 0; i < doc_length(list); i++)
		table_add(table, doc_at(list, i));
	return table_print(table);
}

// ---- changes

int command_catalogue_describe(struct cli *cli)
{
	const char *name = cli->arguments[0], *text = cli->n_arguments > 1 ? cli->arguments[1] : NULL;
	struct doc *body, *answer;
	int code = fields_document(cli, cli->n_arguments, &body);

	if (code != EX_OK)
		return code;
	if (text != NULL && !str_utf8_ok(str_c(text), NULL))
		return cli_fail_encoding("the text");
	if (text != NULL)
		doc_set_str(cli->pool, body, "description", str_c(text));
	if (doc_length(body) == 0)
		return cli_fail(EX_USAGE, "what is to be told about it? A text, --deprecated, or both");
	code = call_one(cli, "PUT", name, "/about", body, &answer, NULL);
	if (code != EX_OK || cli->client->nothing_sent)
		return code;
	change_announce_done(cli, str_printf(cli->pool, "trait %s", name).p, "done");
	if (cli->format_given)
		cli_document_print(cli, answer);
	return EX_OK;
}

static int add_one(struct cli *cli, const char *name, void *arg)
{
	int http, code = call_one(cli, "PUT", name, "", NULL, NULL, &http);

	UNUSED(arg);
	if (code == EX_OK && !cli->client->nothing_sent)
		change_announce_done(cli, str_printf(cli->pool, "trait %s", name).p, http == 201 ? "made" : "is there already");
	return code;
}

static int remove_one(struct cli *cli, const char *name, void *arg)
{
	int code = call_one(cli, "DELETE", name, "", NULL, NULL, NULL);

	UNUSED(arg);
	if (code == EX_OK && !cli->client->nothing_sent)
		change_announce_done(cli, str_printf(cli->pool, "trait %s", name).p, "removed");
	return code;
}

int command_catalogue_add(struct cli *cli)
{
	return cli_each_name(cli, 0, add_one, NULL);
}

int command_catalogue_remove(struct cli *cli)
{
	return cli_each_name(cli, 0, remove_one, NULL);
}
