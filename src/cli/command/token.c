// SPDX-License-Identifier: Apache-2.0
// tenure token list, create and delete: the tokens of a tenant's users.
#include "base/base.h"

#include "base/pool.h"
#include "base/visible.h"
#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"
#include "cli/core/lists.h"
#include "cli/core/table.h"
#include "cli/core/text.h"

static const struct column columns[] = {
	{ "id", "id" }, { "user", "user" }, { "role", "role" }, { "state", "state" }, { "created", "created_at" },
	{ "expires", "expires_at" }, { "used", "last_used_at" }, { "description", "description" }, { "revoked", "revoked_at" },
};
enum { SHOWN = 8 };

int command_token_list(struct cli *cli)
{
	return cli_list_pages(cli, cli->tenant, "tokens", columns, COUNT_OF(columns), SHOWN);
}

// Prints the secret alone, so that a script can take it; or the whole document if a format was chosen.
static int print_made(struct cli *cli, struct str text)
{
	struct doc *answer;
	const struct doc *token, *secret;
	int code = cli_input_parse(cli, text, "the answer", &answer);

	if (code != EX_OK)
		return code;
	if (cli->format_given) {
		cli_document_print(cli, answer);
		return EX_OK;
	}
	if (!doc_get(answer, STR("token"), &token) || !doc_get(token, STR("secret"), &secret) || doc_kind(secret) != DOC_STRING)
		return cli_fail(EX_PROTOCOL, "the answer has no secret");
	struct str shown = visible_text(cli->pool, doc_string(secret));
	printf("%.*s\n", STR_ARG(shown));
	return EX_OK;
}

int command_token_create(struct cli *cli)
{
	struct wish wish = { .method = "POST", .type = "application/json" };
	struct doc *whole = doc_new_object(cli->pool), *token;
	const struct doc *role;
	struct answer answer;
	struct buf path;
	int code = cli_tenant_path(cli, cli->tenant, "tokens", &path);

	if (code == EX_OK)
		code = fields_document(cli, cli->n_arguments, &token);
	if (code != EX_OK)
		return code;
	if (!str_utf8_ok(str_c(cli->arguments[0]), NULL))
		return cli_fail_encoding("the user's name");
	// The service makes an operator's token of it without a word: nobody is to get one by leaving an option out.
	if (strcmp(cli->tenant, "system") == 0 && !doc_get(token, STR("role"), &role))
		return cli_fail(EX_USAGE, "the tokens of system are the operators', who may do everything in every tenant: say --role operator");
	doc_set_str(cli->pool, token, "user", str_c(cli->arguments[0]));
	doc_set(whole, STR("token"), token);
	wish.path = buf_str(&path);
	wish.body = doc_text(cli->pool, whole);
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, str_printf(cli->pool, "tokens of %s", cli->tenant).p);
	return cli->client->nothing_sent ? EX_OK : print_made(cli, answer.body);
}

static int delete_one(struct cli *cli, const char *name, void *arg)
{
	struct wish wish = { .method = "DELETE" };
	struct answer answer;
	struct buf path;
	int code = cli_tenant_path(cli, cli->tenant, "tokens", &path);

	UNUSED(arg);
	if (code != EX_OK)
		return code;
	// A whole token is not sent: addresses stand in logs.
	if (strchr(name, '.') != NULL || !client_path_add(&path, str_c(name)))
		return cli_fail(EX_USAGE, "this can't be a token's id: that is what stands before the \".\" of a token");
	wish.path = buf_str(&path);
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, str_printf(cli->pool, "token %s", name).p);
	if (!cli->client->nothing_sent)
		change_announce_done(cli, str_printf(cli->pool, "token %s", name).p, "revoked");
	return EX_OK;
}

int command_token_delete(struct cli *cli)
{
	return cli_each_name(cli, 0, delete_one, NULL);
}
