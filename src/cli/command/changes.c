// SPDX-License-Identifier: Apache-2.0
// tenure changes list: what was changed in a tenant, when and by whom.
#include "base/base.h"

#include "cli/core/cli.h"

enum { PAGE = 1000 };

static const struct column columns[] = {
	{ "id", "id" }, { "at", "at" }, { "actor", "actor" }, { "verb", "verb" }, { "resource", "resource" }, { "fields", "fields" },
	{ "revision", "revision" }, { "uid", "uid" }, { "request", "request_id" }, { "etag-before", "etag_before" },
	{ "etag-after", "etag_after" },
};
enum { SHOWN = 6 };

// The progress of reading the changes page by page.
struct reading {
	struct table *table;
	uint64_t after; // id of the last change that was read
	uint64_t left;  // how many may still be added
	bool more;      // the service has more
};

static int add_page(struct reading *reading, const struct doc *answer)
{
	const struct doc *list = NULL, *id = NULL, *next = NULL;
	uint64_t last = reading->after;

	if (!doc_get(answer, STR("changes"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no list of changes");
	for (size_t i = 0; i < doc_length(list) && reading->left > 0; i++, reading->left--) {
		const struct doc *change = doc_at(list, i);
		table_add(reading->table, change);
		if (!doc_get(change, STR("id"), &id) || !doc_u64(id, &last))
			return cli_fail(EX_PROTOCOL, "a change has no id");
	}
	// A page that leads nowhere would make the list endless.
	reading->more = doc_get(answer, STR("next"), &next) && last > reading->after;
	reading->after = last;
	return EX_OK;
}

static int read_page(struct cli *cli, struct reading *reading, const char *label)
{
	uint64_t limit = reading->left < PAGE ? reading->left : PAGE;
	struct buf path = buf_new(cli->pool, 128);
	struct answer answer;
	struct doc *document;

	BUF_LIT(&path, "/v2.0");
	if (!client_path_add(&path, cli->tenant))
		return cli_fail(EX_USAGE, "\"%s\" can be no tenant's id", cli->tenant);
	buf_addf(&path, "/changes?after=%llu&limit=%llu", (unsigned long long)reading->after, (unsigned long long)limit);
	struct wish wish = { .method = "GET", .path = buf_str(&path) };
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);
	if (status == TENURE_OK)
		status = client_parse(cli->client, cli->pool, answer.body, &document);
	return status == TENURE_OK ? add_page(reading, document) : cli_fail_status(cli, status, label);
}

// Takes a number from an option. False: an error was printed.
static bool take_number(const char *name, const char *text, uint64_t least, uint64_t *number)
{
	if (text == NULL || (str_to_u64(str_c(text), number) && *number >= least))
		return true;
	cli_fail(EX_USAGE, "%s takes a number from %llu", name, (unsigned long long)least);
	return false;
}

int command_changes_list(struct cli *cli)
{
	struct reading reading = { .left = UINT64_MAX, .more = true };
	int code = EX_OK;

	if (cli->tenant == NULL)
		return cli_fail_no_tenant();
	if (!take_number("--limit", cli->options[OPT_LIMIT], 1, &reading.left))
		return EX_USAGE;
	for (size_t i = 0; i < cli->n_given; i++) {
		if (!take_number("--after", cli->given[i].value, 0, &reading.after))
			return EX_USAGE;
	}
	reading.table = table_new(cli, columns, COUNT_OF(columns), SHOWN);
	if (reading.table == NULL)
		return EX_USAGE;
	const char *label = str_printf(cli->pool, "changes of %s", cli->tenant).p;
	while (code == EX_OK && reading.more && reading.left > 0)
		code = read_page(cli, &reading, label);
	if (code == EX_OK)
		table_print(reading.table);
	return code;
}
