// SPDX-License-Identifier: Apache-2.0
// Lists what stands at /v2.0/TENANT/WORD, page by page: moves, forwards, tokens, webhooks.
#include "base/base.h"

#include "base/pool.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"

enum { PAGE = 1000 };

int cli_tenant_path(struct cli *cli, const char *tenant, const char *word, struct buf *path)
{
	if (tenant == NULL)
		return cli_fail_no_tenant();
	*path = buf_new(cli->pool, 256);
	BUF_LIT(path, "/v2.0");
	if (cli_path_add(path, tenant, "a tenant's id") != EX_OK)
		return EX_USAGE;
	buf_addf(path, "/%s", word);
	return EX_OK;
}

int cli_choose_tenant(struct cli *cli, const char **tenant, bool *of_all)
{
	*of_all = false;
	for (size_t i = 0; i < cli->n_given; i++)
		*of_all = *of_all || strcmp(cli->given[i].field->name, "--all-tenants") == 0;
	if (*of_all + (cli->n_arguments > 0) + (cli->options[OPT_TENANT] != NULL) > 1)
		return cli_fail(EX_USAGE, "one of TENANT, --tenant and --all-tenants, not several");
	*tenant = *of_all ? "all" : cli->n_arguments > 0 ? cli->arguments[0] : cli->tenant;
	return *tenant != NULL ? EX_OK : cli_fail_no_tenant();
}

struct listing {
	struct table *table;
	const char *member; // of the answer
	struct str path;    // without query
	const char *label;
	uint64_t left; // how many rows may still be added
};

int cli_next_page(struct cli *cli, const struct doc *page, const char *member, struct str *query)
{
	struct str next;

	if (!client_next_query(cli->pool, page, *query, &next))
		return cli_fail_no_next_page(member);
	*query = next;
	return EX_OK;
}

static int add_page(struct cli *cli, struct listing *listing, struct str *query)
{
	struct wish wish = { .method = "GET",
		.path = str_printf(cli->pool, "%.*s%.*s", STR_ARG(listing->path), STR_ARG(*query)) };
	struct answer answer;
	struct doc *page;
	const struct doc *list;
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);

	if (status == TENURE_OK)
		status = client_parse(cli->client, cli->pool, answer.body, &page);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, listing->label);
	if (!doc_get(page, str_c(listing->member), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of %s", listing->member);
	for (size_t i = 0; i < doc_length(list) && listing->left > 0; i++, listing->left--)
		table_add(listing->table, doc_at(list, i));
	return cli_next_page(cli, page, listing->member, query);
}

int cli_list_pages(struct cli *cli, const char *tenant, const char *member, const struct column *columns, size_t n_columns,
	size_t n_shown)
{
	return cli_list_pages_with(cli, tenant, member, STR(""), columns, n_columns, n_shown);
}

int cli_list_pages_with(struct cli *cli, const char *tenant, const char *member, struct str conditions, const struct column *columns,
	size_t n_columns, size_t n_shown)
{
	struct buf path;
	int code = cli_tenant_path(cli, tenant, member, &path);

	if (code != EX_OK)
		return code;
	return cli_list_pages_at(cli, buf_str(&path), str_printf(cli->pool, "%s of %s", member, tenant).p, member, conditions, columns,
		n_columns, n_shown);
}

int cli_list_pages_at(struct cli *cli, struct str path, const char *label, const char *member, struct str conditions,
	const struct column *columns, size_t n_columns, size_t n_shown)
{
	struct listing listing = { .member = member, .path = path, .label = label, .left = UINT64_MAX };
	int code = cli_limit(cli, &listing.left);

	if (code != EX_OK)
		return code;
	listing.table = table_new(cli, columns, n_columns, n_shown);
	if (listing.table == NULL)
		return EX_USAGE;
	struct str query = str_printf(cli->pool, "?limit=%llu%.*s", (unsigned long long)(listing.left < PAGE ? listing.left : PAGE),
		STR_ARG(conditions));
	while (code == EX_OK && query.p != NULL && listing.left > 0)
		code = add_page(cli, &listing, &query);
	if (code == EX_OK)
		code = table_print(listing.table);
	return code;
}

int cli_list_whole(struct cli *cli, const char *tenant, const char *member, const struct column *columns, size_t n_columns)
{
	struct listing listing = { .member = member, .left = UINT64_MAX };
	struct str query = STR("");
	struct buf path;
	int code = cli_tenant_path(cli, tenant, member, &path);

	if (code != EX_OK)
		return code;
	listing.table = table_new(cli, columns, n_columns, n_columns);
	if (listing.table == NULL)
		return EX_USAGE;
	listing.path = buf_str(&path);
	listing.label = str_printf(cli->pool, "%s of %s", member, tenant).p;
	code = add_page(cli, &listing, &query);
	if (code == EX_OK)
		code = table_print(listing.table);
	return code;
}
