// SPDX-License-Identifier: Apache-2.0
// tenure trait: the catalogue of traits.
#include "base/base.h"

#include "cli/cli.h"
#include "http/uri.h"

#define CUSTOM "CUSTOM_"

static const struct column columns[] = { { "name", "name" }, { "kind", "kind" } };

static struct doc *row_of(struct cli *cli, struct str name)
{
	struct doc *row = doc_new_object(cli->pool);

	doc_set_str(cli->pool, row, "name", name);
	doc_set_str(cli->pool, row, "kind", str_starts(name, STR(CUSTOM)) ? STR("custom") : STR("standard"));
	return row;
}

// ---- lists

// "?name=in:A,B&associated=true" out of the options given. The API takes one name parameter.
static int read_query(struct cli *cli, struct str *query)
{
	struct buf out = buf_new(cli->pool, 128);
	unsigned n_names = 0;

	for (size_t i = 0; i < cli->n_given; i++) {
		const struct given *given = &cli->given[i];
		const char *operator = strcmp(given->field->name, "--starts-with") == 0 ? "startswith:"
			: strcmp(given->field->name, "--name-in") == 0 ? "in:" : "";
		if (!str_utf8_ok(str_c(given->value), NULL))
			return cli_fail(EX_USAGE, "%s: its value is no UTF-8", given->field->name);
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
	struct table *table = table_new(cli, columns, COUNT_OF(columns), is_long ? COUNT_OF(columns) : 1);
	const struct doc *list = NULL;
	struct doc *answer;
	struct str query;

	if (table == NULL)
		return EX_USAGE;
	int code = read_query(cli, &query);
	if (code != EX_OK)
		return code;
	enum tenure_status status = placement_call(cli, (struct wish){ .method = "GET",
		.path = str_printf(cli->pool, "/traits%.*s", STR_ARG(query)) }, NULL, &answer, NULL);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, "traits");
	if (!doc_get(answer, STR("traits"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of traits");
	for (size_t i = 0; i < doc_length(list); i++)
		table_add(table, row_of(cli, doc_string(doc_at(list, i))));
	table_print(table);
	return EX_OK;
}

// ---- one or several

static int call_one(struct cli *cli, const char *method, const char *name, int *http)
{
	struct wish wish = { .method = method };

	if (!placement_path(cli, "/traits", name, &wish.path))
		return EX_USAGE;
	enum tenure_status status = placement_call(cli, wish, NULL, NULL, http);
	return status == TENURE_OK ? EX_OK : cli_fail_status(cli, status, str_printf(cli->pool, "trait %s", name).p);
}

int command_catalogue_show(struct cli *cli)
{
	struct table *table = table_new(cli, columns, COUNT_OF(columns), COUNT_OF(columns));
	const char **names = table != NULL ? input_names(cli, 0) : NULL;
	int first_failure = EX_OK;

	if (names == NULL)
		return table == NULL ? EX_USAGE : EX_NOINPUT;
	for (; *names != NULL; names++) {
		int code = call_one(cli, "GET", *names, NULL);
		if (code == EX_OK)
			table_add(table, row_of(cli, str_c(*names)));
		first_failure = first_failure != EX_OK ? first_failure : code;
	}
	table_print(table);
	return first_failure;
}

static int change_each(struct cli *cli, const char *method)
{
	const char **names = input_names(cli, 0);
	int first_failure = EX_OK, http;

	if (names == NULL)
		return EX_NOINPUT;
	for (; *names != NULL; names++) {
		int code = call_one(cli, method, *names, &http);
		if (code == EX_OK && !cli->client->nothing_sent)
			announce_done(cli, str_printf(cli->pool, "trait %s", *names).p,
				strcmp(method, "DELETE") == 0 ? "removed" : http == 201 ? "made" : "is there already");
		first_failure = first_failure != EX_OK ? first_failure : code;
	}
	return first_failure;
}

int command_catalogue_add(struct cli *cli)
{
	return change_each(cli, "PUT");
}

int command_catalogue_remove(struct cli *cli)
{
	return change_each(cli, "DELETE");
}
