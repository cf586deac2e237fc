// SPDX-License-Identifier: Apache-2.0
// tenure forward list, expire and revoke: the addresses that moved resources left behind. And tenure move list.
#include "base/base.h"

#include "base/pool.h"
#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"

static const struct column forward_columns[] = {
	{ "resource", "resource" },
	{ "dest", "dest" },
	{ "state", "state" },
	{ "moved", "moved_at" },
	{ "expires", "expires_at" },
	{ "request", "request_id" },
	{ "uid", "uid" },
	{ "location", "location" },
};
static const struct column move_columns[] = {
	{ "id", "id" },
	{ "state", "state" },
	{ "source", "source" },
	{ "dest", "dest" },
	{ "resource", "resource" },
	{ "moved", "moved" },
	{ "created", "created_at" },
	{ "actor", "actor" },
	{ "total", "total" },
	{ "finished", "finished_at" },
	{ "reason", "reason" },
	{ "detail", "detail" },
	{ "undo", "undo_of" },
};
enum { FORWARDS_SHOWN = 6,
	MOVES_SHOWN = 8 };

// Adds the segments of text, which '/' separates, each encoded. False: one of them cannot be a segment.
static bool add_segments(struct buf *path, struct str text)
{
	struct str segment;

	if (text.n == 0)
		return false;
	while (str_split(&text, '/', &segment)) {
		if (!client_path_add(path, segment))
			return false;
	}
	return true;
}

int command_forward_list(struct cli *cli)
{
	return cli_list_pages(cli, cli->tenant, "forwards", forward_columns, COUNT_OF(forward_columns), FORWARDS_SHOWN);
}

int command_move_list(struct cli *cli)
{
	return cli_list_pages(cli, cli->tenant, "moves", move_columns, COUNT_OF(move_columns), MOVES_SHOWN);
}

// ---- changes

// The address of the forward at "configmaps/web" of --namespace, or "namespaces/prod/configmaps/web" as the list has it. Exit
// code.
static int forward_path(struct cli *cli, const char *name, struct str *path)
{
	struct buf buf;
	int code = cli_tenant_path(cli, cli->tenant, "forwards", &buf);

	if (code != EX_OK)
		return code;
	if (cli->options[OPT_NAMESPACE] != NULL) {
		BUF_LIT(&buf, "/namespaces");
		code = cli_path_add(&buf, cli->options[OPT_NAMESPACE], "a namespace's name");
	}
	if (code != EX_OK)
		return code;
	if (!add_segments(&buf, str_c(name)))
		return cli_fail(EX_USAGE, "\"%s\" is no address that a resource left: see \"tenure forward list\"", name);
	*path = buf_str(&buf);
	return EX_OK;
}

static int send(struct cli *cli, const char *name, const char *method, struct str body, const char *done)
{
	struct wish wish = { .method = method, .body = body, .type = body.p != NULL ? "application/json" : NULL };
	struct answer answer;
	int code = forward_path(cli, name, &wish.path);

	if (code != EX_OK)
		return code;
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, name);
	if (!cli->client->nothing_sent)
		change_announce_done(cli, name, done);
	return EX_OK;
}

int command_forward_expire(struct cli *cli)
{
	struct doc *whole = doc_new_object(cli->pool), *forward = doc_new_object(cli->pool);
	struct buf body = buf_new(cli->pool, 64);

	if (strcmp(cli->arguments[1], "never") != 0)
		doc_set_str(cli->pool, forward, "expires_at", str_c(cli_time(cli->pool, cli->arguments[1])));
	doc_set(whole, STR("forward"), forward);
	doc_write_json(whole, &body);
	return send(cli, cli->arguments[0], "PUT", buf_str(&body), "its end was set");
}

static int revoke_one(struct cli *cli, const char *name, void *arg)
{
	UNUSED(arg);
	return send(cli, name, "DELETE", STR_NONE, "revoked");
}

int command_forward_revoke(struct cli *cli)
{
	return cli_each_name(cli, 0, revoke_one, NULL);
}
