// SPDX-License-Identifier: Apache-2.0
// tenure webhook …: webhooks of a tenant, or of operators (tenant "all").
#include "base/base.h"

#include "base/pool.h"
#include "cli/core/cli.h"
#include "http/uri.h"

enum { PAGE = 1000 };

static const struct column columns[] = {
	{ "name", "name" }, { "url", "url" }, { "state", "state" }, { "upto", "upto" }, { "dead", "dead" }, { "error", "error" },
	{ "status", "status" }, { "delivered", "delivered_at" }, { "failing", "failing_since" }, { "attempts", "attempts" },
	{ "next", "next_attempt_at" }, { "verbs", "verbs" }, { "types", "types" }, { "actors", "actors" },
	{ "description", "description" }, { "tenant", "tenant" }, { "created", "created_at" }, { "updated", "updated_at" },
	{ "etag", "etag" },
};
static const struct column delivery_columns[] = {
	{ "message", "message" }, { "kind", "kind" }, { "state", "state" }, { "attempts", "attempts" }, { "status", "status" },
	{ "error", "error" }, { "after", "after" }, { "upto", "upto" }, { "next", "next_attempt_at" }, { "created", "created_at" },
	{ "ended", "ended_at" },
};
enum { SHOWN = 6, DELIVERIES_SHOWN = 6 };

// ---- calls

// Appends the address of the tenant's webhooks, or of the one with that name. Exit code.
static int add_path(struct cli *cli, const char *name, struct buf *path)
{
	*path = buf_new(cli->pool, 128);
	if (cli->tenant == NULL)
		return cli_fail_no_tenant();
	BUF_LIT(path, "/v2.0");
	if (!client_path_add(path, cli->tenant))
		return cli_fail(EX_USAGE, "\"%s\" can be no tenant's id", cli->tenant);
	BUF_LIT(path, "/webhooks");
	if (name != NULL && !client_path_add(path, name))
		return cli_fail(EX_USAGE, "\"%s\" can be no webhook's name", name);
	return EX_OK;
}

// Sends a call without a body. *document: the answer's, NULL if nothing was sent (--dry-run). Exit code.
static int ask(struct cli *cli, const char *method, struct str path, const char *label, struct doc **document)
{
	struct wish wish = { .method = method, .path = path };
	struct answer answer;
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);

	*document = NULL;
	if (status == TENURE_OK && cli->client->nothing_sent)
		return EX_OK;
	if (status == TENURE_OK)
		status = client_parse(cli->client, cli->pool, answer.body, document);
	return status == TENURE_OK ? EX_OK : cli_fail_status(cli, status, label);
}

// Adds the items of a list that goes on with the parameter `by`, whose value for the next page is in its "next". Exit code.
static int add_pages(struct cli *cli, struct table *table, struct buf *path, const char *items, const char *by, uint64_t left)
{
	size_t base = path->n;
	struct str next = STR_NONE;
	const struct doc *list, *link;
	struct doc *document;

	do {
		path->n = base;
		buf_addf(path, "?limit=%llu", (unsigned long long)(left < PAGE ? left : PAGE));
		if (next.p != NULL)
			buf_addf(path, "&%s=%.*s", by, STR_ARG(next));
		int code = ask(cli, "GET", buf_str(path), items, &document);
		if (code != EX_OK)
			return code;
		if (!doc_get(document, str_c(items), &list) || doc_kind(list) != DOC_ARRAY)
			return cli_fail(EX_PROTOCOL, "the answer is no list of %s", items);
		for (size_t i = 0; i < doc_length(list) && left > 0; i++, left--)
			table_add(table, doc_at(list, i));
		next = STR_NONE;
		if (left > 0 && doc_length(list) > 0 && doc_get(document, STR("next"), &link)) {
			struct str url = doc_string(link);
			size_t at = url.n;
			while (at > 0 && url.p[at - 1] != '=')
				at--;
			next = str_dup(cli->pool, str_part(url, at, url.n));
		}
	} while (next.p != NULL);
	return EX_OK;
}

// ---- commands about webhooks

int command_webhook_list(struct cli *cli)
{
	struct table *table = table_new(cli, columns, COUNT_OF(columns), SHOWN);
	struct buf path;

	if (table == NULL)
		return EX_USAGE;
	int code = add_path(cli, NULL, &path);
	if (code == EX_OK)
		code = add_pages(cli, table, &path, "webhooks", "marker", UINT64_MAX);
	if (code == EX_OK)
		code = table_print(table);
	return code;
}

static bool open_target(struct cli *cli, const char *name, struct target *target)
{
	*target = (struct target){ .kind = TARGET_WEBHOOK, .label = str_printf(cli->pool, "webhook %s", name).p };
	if (cli->tenant == NULL) {
		cli_fail_no_tenant();
		return false;
	}
	target->resource = tenure_resource_new(cli->client, cli->tenant, NULL, "webhooks", name);
	if (target->resource == NULL)
		cli_fail(EX_USAGE, "\"%s\" can be no webhook's name", name);
	return target->resource != NULL;
}

static int show_one(struct cli *cli, const char *name, void *table)
{
	struct target target;

	return open_target(cli, name, &target) ? target_show(cli, &target, table, cli_document_print) : EX_USAGE;
}

int command_webhook_show(struct cli *cli)
{
	return cli_show_each(cli, 0, columns, COUNT_OF(columns), SHOWN, show_one);
}

// Prints the secret that the document shows, unless all of it was printed.
static void print_secret(const struct cli *cli, const struct doc *document)
{
	const struct doc *secret;

	if (!cli->format_given && doc_get(document, STR("secret"), &secret)) {
		struct str shown = visible_text(cli->pool, doc_string(secret));
		printf("secret: %.*s\n", STR_ARG(shown));
	}
}

int command_webhook_set(struct cli *cli)
{
	struct target target;
	struct doc *given = NULL, *document;
	size_t n;
	int code = cli_input_document(cli, 1, &given);

	if (code != EX_OK || !open_target(cli, cli->arguments[0], &target))
		return code != EX_OK ? code : EX_USAGE;
	if (given == NULL)
		code = cli_fail(EX_USAGE, "what is to be set? url=https://… at least, for a new one");
	else
		code = change_put(cli, &target, given);
	const char *text = code == EX_OK ? tenure_resource_document(target.resource, &n) : NULL;
	if (text != NULL && !cli->client->nothing_sent && cli_input_parse(cli, str_n(text, n), target.label, &document) == EX_OK)
		print_secret(cli, document);
	tenure_resource_free(&target.resource);
	return code;
}

static int delete_one(struct cli *cli, const char *name, void *arg)
{
	struct change change = { .kind = CHANGE_DELETE };
	struct target target;
	int code = EX_USAGE;

	UNUSED(arg);
	if (open_target(cli, name, &target) && cli_confirmed(cli, str_printf(cli->pool, "Delete %s for good?", target.label).p))
		code = change_make(cli, &target, &change);
	tenure_resource_free(&target.resource);
	return code;
}

int command_webhook_delete(struct cli *cli)
{
	return cli_each_name(cli, 0, delete_one, NULL);
}

// Has the service do something with the webhook of the first argument. query: behind the address; "" for none. Exit code.
static int act(struct cli *cli, const char *action, const char *query, struct doc **document)
{
	struct buf path;
	int code = add_path(cli, cli->arguments[0], &path);

	if (code != EX_OK)
		return code;
	buf_addf(&path, "/action/%s%s", action, query);
	return ask(cli, "POST", buf_str(&path), str_printf(cli->pool, "webhook %s", cli->arguments[0]).p, document);
}

int command_webhook_rotate(struct cli *cli)
{
	struct doc *document;

	if (!cli_confirmed(cli, str_printf(cli->pool, "Replace the secret of webhook %s?", cli->arguments[0]).p))
		return EX_USAGE;
	int code = act(cli, "rotate", "", &document);
	if (code != EX_OK || document == NULL)
		return code;
	if (cli->format_given)
		cli_document_print(cli, document);
	print_secret(cli, document);
	return EX_OK;
}

// ---- commands about messages

// Prints the value of a member of the answer, or all of it where a format was chosen.
static void print_answer(struct cli *cli, const struct doc *document, const char *member)
{
	const struct doc *value;

	if (document == NULL)
		return;
	if (cli->format_given)
		cli_document_print(cli, document);
	else if (doc_get(document, str_c(member), &value)) {
		struct str shown = visible_text(cli->pool, cli_text(cli->pool, value));
		printf("%.*s\n", STR_ARG(shown));
	}
}

int command_webhook_ping(struct cli *cli)
{
	struct doc *document;
	int code = act(cli, "ping", "", &document);

	if (code == EX_OK)
		print_answer(cli, document, "message");
	return code;
}

int command_webhook_deliveries(struct cli *cli)
{
	struct table *table = table_new(cli, delivery_columns, COUNT_OF(delivery_columns), DELIVERIES_SHOWN);
	uint64_t left = UINT64_MAX;
	struct buf path;

	if (table == NULL)
		return EX_USAGE;
	if (cli->options[OPT_LIMIT] != NULL && (!str_to_u64(str_c(cli->options[OPT_LIMIT]), &left) || left == 0))
		return cli_fail(EX_USAGE, "--limit takes a number from 1");
	int code = add_path(cli, cli->arguments[0], &path);
	if (code == EX_OK)
		BUF_LIT(&path, "/deliveries");
	if (code == EX_OK)
		code = add_pages(cli, table, &path, "deliveries", "before", left);
	if (code == EX_OK)
		code = table_print(table);
	return code;
}

int command_webhook_revive(struct cli *cli)
{
	struct doc *document;
	int code = EX_OK;

	if ((cli->options[OPT_ALL] != NULL) == (cli->n_arguments > 1))
		return cli_fail(EX_USAGE, "which? The ids of messages, as `tenure webhook deliveries` shows them, or --all");
	if (cli->options[OPT_ALL] != NULL) {
		code = act(cli, "revive", "", &document);
		if (code == EX_OK)
			print_answer(cli, document, "revived");
		return code;
	}
	for (size_t i = 1; i < cli->n_arguments; i++) {
		struct buf query = buf_new(cli->pool, 64);
		uri_add_value(&query, str_c(cli->arguments[i]));
		int one = act(cli, "revive", str_printf(cli->pool, "?message=%.*s", STR_ARG(query)).p, &document);
		if (code == EX_OK)
			code = one;
	}
	return code;
}
