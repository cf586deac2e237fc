// SPDX-License-Identifier: Apache-2.0
// --dry-run: prints a change as the line of curl that would make it.
#include "base/base.h"

#include "base/visible.h"
#include "cli/core/cli.h"

// Adds an option with its argument in single quotes for a shell. The token is not printed: the line takes it from the
// environment.
static void add_word(struct buf *out, const char *option, struct str word)
{
	buf_addf(out, " %s'", option);
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '\'')
			BUF_LIT(out, "'\\''");
		else
			buf_addc(out, word.p[i]);
	}
	buf_addc(out, '\'');
}

static void add_field(struct buf *out, const char *name, struct str value)
{
	if (value.n > 0)
		add_word(out, "-H ", str_printf(out->pool, "%s: %.*s", name, STR_ARG(value)));
}

static bool print_request(const struct tenure_client *client, const struct wish *wish, void *arg)
{
	struct cli *cli = arg;
	struct buf line = buf_new(cli->pool, 512);

	buf_addf(&line, "curl -X %s", wish->method);
	if (client->token.n > 0)
		BUF_LIT(&line, " -H \"X-Auth-Token: $TENURE_TOKEN\"");
	if (client->ca_file != NULL)
		add_word(&line, "--cacert ", str_c(client->ca_file));
	add_field(&line, "If-Match", wish->if_match);
	add_field(&line, "If-None-Match", wish->if_none_match);
	add_field(&line, "Prefer", str_c(wish->prefer));
	if (wish->version != NULL)
		add_field(&line, wish->version->name, str_c(wish->version->value));
	if (wish->body.p != NULL) {
		add_field(&line, "Content-Type", str_c(wish->type));
		add_word(&line, "--data-binary ", wish->body);
	} else if (strcmp(wish->method, "POST") == 0) {
		add_word(&line, "-d ", STR(""));
	}
	add_word(&line, "", str_printf(cli->pool, "%.*s%.*s", STR_ARG(client->url), STR_ARG(wish->path)));
	struct str text = buf_str(&line);
	struct str shown = cli->out_is_terminal ? visible_text(cli->pool, text) : text;
	printf("%.*s\n", STR_ARG(shown));
	return false;
}

void cli_dry_run(struct cli *cli)
{
	cli->client->before_change = print_request;
	cli->client->before_change_arg = cli;
}
