// SPDX-License-Identifier: Apache-2.0
// tenure usage: what a tenant, or each tenant, had of each type, and for how long.
#include "base/base.h"

#include "base/pool.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/lists.h"
#include "cli/core/offered_types.h"
#include "cli/core/table.h"
#include "http/uri.h"

static const struct column columns[] = {
	{ "tenant", "tenant" },
	{ "type", "type" },
	{ "from", "from" },
	{ "to", "to" },
	{ "resources", "resources" },
	{ "bytes", "bytes" },
	{ "resource-seconds", "resource_seconds" },
	{ "byte-seconds", "byte_seconds" },
	{ "uid", "uid" },
};
// The list of all tenants shows all columns: when a tenant was purged another one may get its name, but never its uid.
enum { SHOWN = 7,
	SHOWN_OF_ALL = 9 };

// The progress of reading the list page by page.
struct reading {
	struct table *table;
	const char *label;
	struct str path;  // without its query
	struct str query; // p NULL: there is no further page
	bool of_all;
	uint64_t rows;
	char closed_until[64]; // the end of the last closed period, a copy that survives the memory of its page; "": none was closed yet
};

// ---- the options

static int choose_list(struct cli *cli, struct reading *reading)
{
	const char *tenant;
	struct buf path;
	int code = cli_choose_tenant(cli, &tenant, &reading->of_all);

	if (code == EX_OK)
		code = cli_tenant_path(cli, tenant, "usage", &path);
	if (code != EX_OK)
		return code;
	reading->path = buf_str(&path);
	reading->label = reading->of_all ? "usage of all tenants" : str_printf(cli->pool, "usage of %s", tenant).p;
	return EX_OK;
}

static void make_query(struct cli *cli, struct reading *reading)
{
	struct buf query = buf_new(cli->pool, 128);

	BUF_LIT(&query, "?format=json&limit=1000");
	for (size_t i = 0; i < cli->n_given; i++) {
		if (cli->given[i].field->member == NULL)
			continue;
		buf_addf(&query, "&%s=", cli->given[i].field->member);
		const char *member = cli->given[i].field->member, *value = cli->given[i].value;
		if (cli->given[i].field->kind == FIELD_TIME)
			value = cli_time(cli->pool, value);
		else if (strcmp(member, "type") == 0)
			value = type_plural(value);
		uri_add_value(&query, str_c(value));
	}
	reading->query = buf_str(&query);
}

// ---- a page

static int read_page(struct cli *cli, struct reading *reading)
{
	struct wish wish = { .method = "GET", .path = str_printf(cli->pool, "%.*s%.*s", STR_ARG(reading->path), STR_ARG(reading->query)) };
	struct answer answer;
	struct doc *document;
	const struct doc *list;
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);

	if (status == TENURE_OK)
		status = client_parse(cli->client, cli->pool, answer.body, &document);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, reading->label);
	if (!doc_get(document, STR("usage"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of usage");
	size_t n = doc_length(list);
	for (size_t i = 0; i < n; i++)
		table_add(reading->table, doc_at(list, i));
	reading->rows += n;
	const struct doc *closed = NULL;
	if (reading->closed_until[0] == '\0' && doc_get(document, STR("closed_until"), &closed)) {
		struct str until = doc_string(closed);
		snprintf(reading->closed_until, sizeof(reading->closed_until), "%.*s", STR_ARG(until));
	}
	return cli_next_page(cli, document, "usage", &reading->query);
}

// CSV is printed page by page, and what a page took is freed then, so a list of all tenants may have any length. The widths of a
// table's columns, and the brackets of JSON, need all of them.
static int read_all(struct cli *cli, struct reading *reading)
{
	const struct pool_mark mark = pool_mark(cli->pool);
	char query[1024];
	int code;

	for (;;) {
		code = read_page(cli, reading);
		if (code != EX_OK || reading->query.p == NULL)
			break;
		if (cli->format != FORMAT_CSV)
			continue;
		if (reading->query.n > sizeof(query))
			return cli_fail_no_next_page("usage");
		code = table_print_more(reading->table);
		if (code != EX_OK)
			return code;
		memcpy(query, reading->query.p, reading->query.n);
		reading->query = (struct str){ query, reading->query.n };
		pool_rewind(cli->pool, mark);
	}
	return code;
}

int command_usage(struct cli *cli)
{
	struct reading reading = { .of_all = false };
	int code = choose_list(cli, &reading);

	if (code != EX_OK)
		return code;
	make_query(cli, &reading);
	reading.table = reading.of_all ? table_new(cli, columns, COUNT_OF(columns), SHOWN_OF_ALL)
				       : table_new(cli, columns + 1, COUNT_OF(columns) - 1, SHOWN);
	if (reading.table == NULL)
		return EX_USAGE;
	table_for_spreadsheets(reading.table);
	code = read_all(cli, &reading);
	if (code == EX_OK)
		code = table_print(reading.table);
	if (code == EX_OK && reading.rows == 0 && reading.closed_until[0] != '\0')
		cli_fail(0, "there was nothing to count in that time; usage is counted until %s", reading.closed_until);
	else if (code == EX_OK && reading.rows == 0)
		cli_fail(0, "no usage is counted yet: that begins when the first period is over, an hour as a rule");
	return code;
}
