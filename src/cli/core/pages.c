// SPDX-License-Identifier: Apache-2.0
// Lists what stands at /v2.0/TENANT/WORD, page by page: moves, forwards, tokens.
#include "base/base.h"

#include "base/pool.h"
#include "cli/core/cli.h"

enum { PAGE = 1000 };

int cli_tenant_path(struct cli *cli, const char *tenant, const char *word, struct buf *path)
{
	if (tenant == NULL)
		return cli_fail_no_tenant();
	*path = buf_new(cli->pool, 256);
	BUF_LIT(path, "/v2.0");
	if (!client_path_add(path, tenant))
		return cli_fail(EX_USAGE, "\"%s\" can be no tenant's id", tenant);
	buf_addf(path, "/%s", word);
	return EX_OK;
}

struct listing {
	struct table *table;
	const char *member; // of the answer, and the word of the address
	struct str path;    // without query
	const char *label;
	uint64_t left; // how many rows may still be added
};

// Takes only the query of the address of the next page, so that the token goes to nobody else. p NULL: there is none.
static struct str next_query(struct cli *cli, const struct doc *page)
{
	const struct doc *next;

	if (!doc_get(page, STR("next"), &next) || doc_kind(next) != DOC_STRING)
		return STR_NONE;
	struct str url = doc_string(next), query = str_part(url, str_find(url, '?', 0), url.n);
	for (size_t i = 0; i < query.n; i++) {
		if ((unsigned char)query.p[i] <= 0x20 || query.p[i] == 0x7f || query.p[i] == '#')
			return STR_NONE;
	}
	return query.n > 0 ? str_dup(cli->pool, query) : STR_NONE;
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
	struct str next = next_query(cli, page);
	// A page that names itself as the next one would make the list endless.
	*query = next.p != NULL && str_eq(next, *query) ? STR_NONE : next;
	return EX_OK;
}

int cli_list_pages(struct cli *cli, const char *tenant, const char *member, const struct column *columns, size_t n_columns,
	size_t n_shown)
{
	return cli_list_pages_with(cli, tenant, member, STR(""), columns, n_columns, n_shown);
}

int cli_list_pages_with(struct cli *cli, const char *tenant, const char *member, struct str conditions, const struct column *columns,
	size_t n_columns, size_t n_shown)
{
	struct listing listing = { .member = member, .left = UINT64_MAX };
	const char *limit = cli->options[OPT_LIMIT];
	struct buf path;
	int code = cli_tenant_path(cli, tenant, member, &path);

	if (code != EX_OK)
		return code;
	if (limit != NULL && (!str_to_u64(str_c(limit), &listing.left) || listing.left == 0))
		return cli_fail(EX_USAGE, "--limit takes a number from 1");
	listing.table = table_new(cli, columns, n_columns, n_shown);
	if (listing.table == NULL)
		return EX_USAGE;
	listing.path = buf_str(&path);
	listing.label = str_printf(cli->pool, "%s of %s", member, tenant).p;
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
