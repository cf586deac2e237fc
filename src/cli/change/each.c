// SPDX-License-Identifier: Apache-2.0
// Loops that commands share: one name after the other, all of a list; and showing one document.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/core/cli.h"
#include "cli/core/table.h"

int cli_each_of(struct cli *cli, const char **names, name_fn *fn, void *arg)
{
	int first_failure = EX_OK;

	if (names == NULL)
		return EX_NOINPUT;
	for (; *names != NULL; names++) {
		int code = fn(cli, *names, arg);
		first_failure = first_failure != EX_OK ? first_failure : code;
	}
	return first_failure;
}

int cli_each_name(struct cli *cli, size_t first, name_fn *fn, void *arg)
{
	return cli_each_of(cli, cli_input_names(cli, first, cli->n_arguments), fn, arg);
}

int cli_show_each(struct cli *cli, size_t first, const struct column *known, size_t n_known, size_t n_shown, name_fn *fn)
{
	struct table *table = NULL;

	if (!table_wanted(cli, known, n_known, n_shown, &table))
		return EX_USAGE;
	const char **names = cli_input_names(cli, first, cli->n_arguments);
	int code = cli_each_of(cli, names, fn, table);
	if (table != NULL && names != NULL)
		return cli_first_failure(code, table_print(table));
	return code;
}

int target_show(struct cli *cli, struct target *target, struct table *table,
	void (*print)(struct cli *cli, const struct doc *document))
{
	const struct doc *document;
	int code = target_read(cli, target, &document);

	if (code == EX_OK && table != NULL)
		table_add(table, document);
	else if (code == EX_OK)
		print(cli, document);
	tenure_resource_free(&target->resource);
	return code;
}

int table_fill(struct cli *cli, struct table *table, struct tenure_list *list, uint64_t limit, const char *label)
{
	struct tenure_resource *item;
	enum tenure_status status = TENURE_OK;
	size_t n;

	for (uint64_t i = 0; limit == 0 || i < limit; i++) {
		struct doc *document;
		status = tenure_list_next(list, &item);
		if (status != TENURE_OK)
			break;
		const char *text = tenure_resource_document(item, &n);
		if (cli_input_parse(cli, str_n(text, n), "list", &document) == EX_OK)
			table_add(table, document);
		tenure_resource_free(&item);
	}
	return status == TENURE_OK || status == TENURE_END ? EX_OK : cli_fail_status(cli, status, label);
}
