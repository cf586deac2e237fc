// SPDX-License-Identifier: Apache-2.0
// tenure webhook …: webhooks of a tenant, or of operators (tenant "all").
#include "base/base.h"

#include "base/pool.h"
#include "base/visible.h"
#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"
#include "cli/core/text.h"
#include "http/uri.h"

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

#define WEBHOOK_NAME "a webhook's name" // for error texts

// ---- calls

// The address of the webhook of the first argument. Exit code.
static int make_path(struct cli *cli, struct buf *path)
{
	int code = cli_tenant_path(cli, cli->tenant, "webhooks", path);

	return code == EX_OK ? cli_path_add(path, cli->arguments[0], WEBHOOK_NAME) : code;
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

// ---- commands about webhooks

int command_webhook_list(struct cli *cli)
{
	return cli_list_pages(cli, cli->tenant, "webhooks", columns, COUNT_OF(columns), SHOWN);
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
		cli_fail_segment(name, WEBHOOK_NAME);
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
	int code = make_path(cli, &path);

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
	struct buf path;
	int code = make_path(cli, &path);

	if (code != EX_OK)
		return code;
	BUF_LIT(&path, "/deliveries");
	return cli_list_pages_at(cli, buf_str(&path), str_printf(cli->pool, "deliveries of webhook %s", cli->arguments[0]).p, "deliveries",
		STR(""), delivery_columns, COUNT_OF(delivery_columns), DELIVERIES_SHOWN);
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
