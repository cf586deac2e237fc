// SPDX-License-Identifier: Apache-2.0
// tenure history: the changes of one resource, with what each of them changed.
#include "base/base.h"

#include "base/pool.h"
#include "base/visible.h"
#include "cli/change/merge.h"
#include "cli/command/commands.h"
#include "cli/command/resource.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "cli/core/offered_types.h"
#include "cli/core/table.h"
#include "cli/core/text.h"
#include "http/uri.h"

enum { PAGE = 100 }; // what the service gives at most

static const struct column columns[] = {
	{ "id", "id" },
	{ "at", "at" },
	{ "actor", "actor" },
	{ "verb", "verb" },
	{ "revision", "revision" },
	{ "fields", "fields" },
	{ "request", "request_id" },
	{ "before", "before" },
	{ "after", "after" },
};
enum { SHOWN = 7 };

struct reading {
	const char *label;
	struct str path;     // without limit and before
	struct table *table; // NULL: each change is shown with its differences
	uint64_t before;     // the id before which the next page begins; 0: with the newest
	uint64_t left;       // how many may still be shown
	bool more;           // the service has more
};

// ---- which resource

// A text without "/" is a uid, which the service judges.
static bool add_resource(struct cli *cli, const char *text, struct buf *path)
{
	struct resource_name name;

	if (strchr(text, '/') == NULL) {
		uri_add_value(path, str_c(text));
		return true;
	}
	if (!resource_name_read(text, cli->pool, &name)) {
		cli_fail(EX_USAGE, "\"%s\" is not TYPE/NAME, namespaces/NAMESPACE/TYPE/NAME or a uid", text);
		return false;
	}
	const char *type = type_plural(name.type), *space = name.space != NULL ? name.space : resource_namespace(cli, type);
	struct str resource = space != NULL ? str_printf(cli->pool, "namespaces/%s/%s/%s", space, type, name.name)
					    : str_printf(cli->pool, "%s/%s", type, name.name);
	uri_add_value(path, resource);
	return true;
}

static int begin(struct cli *cli, struct reading *reading)
{
	struct buf path;

	*reading = (struct reading){ .label = cli->arguments[0], .left = UINT64_MAX, .more = true };
	int code = cli_limit(cli, &reading->left);
	if (code == EX_OK)
		code = cli_tenant_path(cli, cli->tenant, "history", &path);
	if (code != EX_OK)
		return code;
	BUF_LIT(&path, "?resource=");
	if (!add_resource(cli, cli->arguments[0], &path))
		return EX_USAGE;
	reading->path = buf_str(&path);
	if (cli->format == FORMAT_TABLE && cli->options[OPT_COLUMNS] == NULL)
		return EX_OK;
	reading->table = table_new(cli, columns, COUNT_OF(columns), SHOWN);
	return reading->table != NULL ? EX_OK : EX_USAGE;
}

// ---- a change

static struct str text_of(struct cli *cli, const struct doc *change, struct str name)
{
	const struct doc *value = NULL;

	return doc_get(change, name, &value) ? visible_text(cli->pool, cli_text(cli->pool, value)) : STR("-");
}

// A change without a difference that can be shown tells which fields it changed, if it did: one that is masked looks the same as
// before.
static void show_change(struct cli *cli, const struct doc *change)
{
	const struct doc *before = NULL, *after = NULL, *fields = NULL;
	bool known = doc_get(change, STR("before"), &before);

	known = doc_get(change, STR("after"), &after) && known;
	struct str at = text_of(cli, change, STR("at"));
	struct str verb = text_of(cli, change, STR("verb"));
	struct str actor = text_of(cli, change, STR("actor"));
	struct str revision = text_of(cli, change, STR("revision"));
	struct str request_id = text_of(cli, change, STR("request_id"));
	printf("%.*s  %.*s by %.*s, revision %.*s, request %.*s\n", STR_ARG(at), STR_ARG(verb), STR_ARG(actor), STR_ARG(revision),
		STR_ARG(request_id));
	if (known && cli_difference_print(cli, before, after) > 0)
		return;
	if (!doc_get(change, STR("fields"), &fields))
		return;
	for (size_t i = 0; doc_kind(fields) == DOC_ARRAY && i < doc_length(fields); i++) {
		struct str field = visible_text(cli->pool, cli_text(cli->pool, doc_at(fields, i)));
		printf("    %.*s%s\n", STR_ARG(field),
			known ? "" : ": what it was is not kept");
	}
}

// ---- pages

// Takes the id of the page's last change, before which the next one begins. A page that leads nowhere would make the list
// endless.
static int go_on(struct reading *reading, const struct doc *answer, const struct doc *last)
{
	const struct doc *next, *id = NULL;
	uint64_t before;

	reading->more = last != NULL && doc_get(answer, STR("next"), &next) && doc_kind(next) == DOC_STRING;
	if (!reading->more)
		return EX_OK;
	if (!doc_get(last, STR("id"), &id) || !doc_u64(id, &before) || (reading->before > 0 && before >= reading->before))
		return cli_fail(EX_PROTOCOL, "the history does not go on");
	reading->before = before;
	return EX_OK;
}

static int read_page(struct cli *cli, struct reading *reading)
{
	struct buf path = buf_new(cli->pool, 256);
	struct answer answer;
	struct doc *document;
	const struct doc *list;

	buf_add(&path, reading->path);
	buf_addf(&path, "&limit=%llu", (unsigned long long)(reading->left < PAGE ? reading->left : PAGE));
	if (reading->before > 0)
		buf_addf(&path, "&before=%llu", (unsigned long long)reading->before);
	struct wish wish = { .method = "GET", .path = buf_str(&path) };
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);
	if (status == TENURE_OK)
		status = client_parse(cli->client, cli->pool, answer.body, &document);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, reading->label);
	if (!doc_get(document, STR("history"), &list) || doc_kind(list) != DOC_ARRAY)
		return cli_fail(EX_PROTOCOL, "the answer is no history");
	size_t n = doc_length(list);
	for (size_t i = 0; i < n && reading->left > 0; i++, reading->left--) {
		if (reading->table != NULL)
			table_add(reading->table, doc_at(list, i));
		else
			show_change(cli, doc_at(list, i));
	}
	// If the output can't be written, the pages that are left are not worth reading. main() prints the error.
	return ferror(stdout) ? EX_IOERR : go_on(reading, document, n > 0 ? doc_at(list, n - 1) : NULL);
}

int command_history(struct cli *cli)
{
	struct reading reading;
	int code = begin(cli, &reading);
	struct pool_mark mark = pool_mark(cli->pool);

	while (code == EX_OK && reading.more && reading.left > 0) {
		if (reading.table == NULL) // what was shown is not needed any more
			pool_rewind(cli->pool, mark);
		code = read_page(cli, &reading);
	}
	if (code == EX_OK && reading.table != NULL)
		code = table_print(reading.table);
	return code;
}
