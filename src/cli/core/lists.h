// SPDX-License-Identifier: Apache-2.0
// Lists of the service: which items they have, in which order, and how their pages are read and printed.
#ifndef TENURE_CLI_CORE_LISTS_H
#define TENURE_CLI_CORE_LISTS_H

#include "base/buf.h"
#include "base/pool.h"
#include "base/str.h"
#include "cli/core/table.h"
#include "lib/client.h"
#include "repr/json/doc.h"

// ---- selection.c

enum { CLI_LIST_PAGE = 100 };
// A time as the service reads it: a day, "2026-11-01", begins at 00:00 UTC; any other text is returned as it is.
const char *cli_time(struct pool *pool, const char *text);
// Reads --limit, a number from 1; *limit stays as it is if there is none. Exit code.
int cli_limit(const struct cli *cli, uint64_t *limit);
// Apply to the list --sort, whose parameters these are; --limit (*limit 0: none was given); and all options that say which
// tenants or resources it has, and in which order. Exit code.
int cli_list_sort(struct cli *cli, struct tenure_list *list, const char *field, const char *direction);
int cli_list_limit(struct cli *cli, struct tenure_list *list, uint64_t *limit);
int cli_list_conditions(struct cli *cli, struct tenure_list *list, uint64_t *limit);
// Appends to a query the parameters of the options that say which resources a list has, "&labels=app%3Dweb". Exit code.
int cli_add_conditions(struct cli *cli, struct buf *query);

// ---- pages.c

// The address of what the tenant has under that word: "/v2.0/acme/forwards". tenant NULL: an error, none was given. Exit code.
int cli_tenant_path(struct cli *cli, const char *tenant, const char *word, struct buf *path);
// Whose list a command has that takes one of TENANT, --tenant and --all-tenants; "all" for the last. Exit code.
int cli_choose_tenant(struct cli *cli, const char **tenant, bool *of_all);
// Replaces *query, that of this page, by that of the next one; p NULL: there is none. member: what is listed. Exit code.
int cli_next_page(struct cli *cli, const struct doc *page, const char *member, struct str *query);
// Reads and prints the list of that word, which is also its member in the answer, page by page, up to --limit. Exit code.
int cli_list_pages(struct cli *cli, const char *tenant, const char *member, const struct column *columns, size_t n_columns,
	size_t n_shown);
// The same with conditions, "&name=web".
int cli_list_pages_with(struct cli *cli, const char *tenant, const char *member, struct str conditions, const struct column *columns,
	size_t n_columns, size_t n_shown);
// The same of a list at that address; label names it in error texts.
int cli_list_pages_at(struct cli *cli, struct str path, const char *label, const char *member, struct str conditions,
	const struct column *columns, size_t n_columns, size_t n_shown);
// The same of a list that is one answer, with all columns.
int cli_list_whole(struct cli *cli, const char *tenant, const char *member, const struct column *columns, size_t n_columns);

#endif
