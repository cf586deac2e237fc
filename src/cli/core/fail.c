// SPDX-License-Identifier: Apache-2.0
// Prints errors to standard error, and chooses the exit code.
#include "base/base.h"

#include <stdarg.h>

#include "base/visible.h"
#include "cli/core/cli.h"
#include "cli/core/fields.h"

PRINTF_LIKE(2, 0) static void tell(const char *kind, const char *format, va_list args)
{
	struct pool *pool = pool_new_or_end();
	struct str text = visible_text(pool, str_vprintf(pool, format, args));
	fprintf(stderr, "tenure: %s%.*s\n", kind, STR_ARG(text));
	pool_free(&pool);
}

int cli_fail(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell("", format, args);
	va_end(args);
	return code;
}

int cli_first_failure(int code, int next)
{
	return code != EX_OK ? code : next;
}

int cli_fail_no_tenant(void)
{
	return cli_fail(EX_USAGE, "which tenant? Give --tenant, or set TENURE_TENANT");
}

int cli_fail_segment(const char *text, const char *what)
{
	return cli_fail(EX_USAGE, "\"%s\" can't be %s: " CLIENT_SEGMENT_RULE, text, what);
}

int cli_fail_encoding(const char *what)
{
	return cli_fail(EX_USAGE, "%s is not UTF-8: does the terminal, or the script, use another encoding?", what);
}

int cli_fail_no_next_page(const char *what)
{
	return cli_fail(EX_PROTOCOL, "the list of %s goes on, but its answer leads to no further page: does a proxy change answers?", what);
}

void cli_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell("warning: ", format, args);
	va_end(args);
}

static int exit_code(enum tenure_status status)
{
	switch (status) {
	case TENURE_OK:
	case TENURE_END:
	case TENURE_PENDING: return EX_OK;
	case TENURE_INVALID: return EX_USAGE;
	case TENURE_REFUSED: return EX_DATAERR;
	case TENURE_UNAUTHENTICATED:
	case TENURE_FORBIDDEN: return EX_NOPERM;
	case TENURE_NOT_FOUND: return EXIT_NOT_FOUND;
	case TENURE_GONE: return EXIT_GONE;
	case TENURE_MOVED: return EXIT_ELSEWHERE;
	case TENURE_CONFLICT:
	case TENURE_BLOCKED: return EXIT_CONFLICT;
	case TENURE_STALE:
	case TENURE_NEEDS_ETAG: return EXIT_STALE;
	case TENURE_UNAVAILABLE: return EX_UNAVAILABLE;
	case TENURE_UNCERTAIN: return EX_TEMPFAIL;
	case TENURE_PROTOCOL: return EX_PROTOCOL;
	case TENURE_FAILED: return EX_SOFTWARE;
	}
	return EX_SOFTWARE;
}

static void tell_blockers(struct cli *cli)
{
	const char *text = tenure_error_member(cli->client, "blockers");
	struct doc *blockers;
	struct str unused;

	if (text == NULL || !doc_parse_json(cli->pool, str_c(text), (struct doc_limits){ 64, 0 }, &blockers, &unused))
		return;
	for (size_t i = 0; i < doc_length(blockers); i++) {
		const struct doc *resource = NULL, *reason = NULL, *detail = NULL;
		doc_get(doc_at(blockers, i), STR("resource"), &resource);
		doc_get(doc_at(blockers, i), STR("reason"), &reason);
		doc_get(doc_at(blockers, i), STR("detail"), &detail);
		struct str name = doc_string(resource), word = doc_string(reason), sentence = doc_string(detail);
		cli_fail(0, "  %.*s%s%.*s: %.*s", STR_ARG(name), name.n > 0 ? ": " : "", STR_ARG(word), STR_ARG(sentence));
	}
}

// What to do where the service could not be talked to: libcurl's words say what failed, in terms of TLS.
static void hint_connection(const struct cli *cli, const char *text)
{
	bool is_tls = strncmp(cli->url, "https:", strlen("https:")) == 0;

	if (is_tls && strstr(text, "wrong version number") != NULL)
		cli_fail(0, "  no TLS is spoken there: is it http%s?", cli->url + strlen("https"));
	else if (is_tls && (strstr(text, "issuer certificate") != NULL || strstr(text, "self-signed") != NULL || strstr(text, "self signed") != NULL))
		cli_fail(0, "  name the authority that signed its certificate: --ca-file, or TENURE_CA_FILE");
	else if (!is_tls && strstr(text, "Empty reply") != NULL)
		cli_fail(0, "  is it https%s?", cli->url + strlen("http"));
}

// Does the command call what only operators are offered, where a user's endpoint takes the address for that of something of his
// tenant?
static bool is_for_operators(const struct cli *cli)
{
	static const char *const nouns[] = { "tenant", "tier", "find", "forward" };
	const struct command *command = cli->command;

	for (size_t i = 0; i < COUNT_OF(nouns); i++) {
		if (strcmp(command->noun, nouns[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < cli->n_given; i++) {
		if (strcmp(cli->given[i].field->name, "--all-tenants") == 0)
			return true;
	}
	// Where an undo goes on can be asked by users.
	return (strcmp(command->noun, "move") == 0 && (command->verb == NULL || strcmp(command->verb, "status") != 0)) ||
		(cli->tenant != NULL && strcmp(cli->tenant, "all") == 0);
}

// Where the address of an operator's command is not known, the endpoint may be one that does not offer it. Each endpoint that
// does lists tenants, too, though perhaps not to this caller.
static void hint_endpoint(struct cli *cli)
{
	struct wish wish = { .method = "GET", .path = STR("/v2.0?limit=1") };
	struct answer answer;
	int http = tenure_error_http(cli->client);

	if (cli->knows_endpoint || tenure_error_document(cli->client, NULL) == NULL)
		return;
	// 400: as that of something else it may have other parameters.
	bool unknown = is_for_operators(cli) ? http == 400 || http == 404 || http == 405
		: strstr(tenure_error_text(cli->client), "there is no such address") != NULL;
	if (!unknown)
		return;
	cli->knows_endpoint = true;
	if (client_call(cli->client, cli->pool, &wish, &answer) == TENURE_NOT_FOUND && tenure_error_document(cli->client, NULL) != NULL)
		cli_fail(0, "  this seems to be the service endpoint, of users; the command needs the admin endpoint: --url, or TENURE_URL");
}

int cli_fail_status(struct cli *cli, enum tenure_status status, const char *label)
{
	const char *text = tenure_error_text(cli->client), *member;

	cli_fail(0, "%s: %s", label, text[0] != '\0' ? text : tenure_status_text(status));
	if (status == TENURE_UNAVAILABLE)
		hint_connection(cli, text);
	if (status == TENURE_UNAUTHENTICATED && !cli->has_token)
		cli_fail(0, "  which token? --token-file, TENURE_TOKEN, or token-file = … in ~/.config/tenure/config");
	if (status == TENURE_REFUSED)
		cli_hint_kinds(cli, text);
	if (status == TENURE_BLOCKED)
		tell_blockers(cli);
	if (status == TENURE_MOVED && tenure_error_location(cli->client) != NULL && strstr(text, "http") == NULL)
		cli_fail(0, "  it is at %s now", tenure_error_location(cli->client));
	if ((status == TENURE_GONE || status == TENURE_CONFLICT) &&
		(member = tenure_error_member(cli->client, "purge_at")) != NULL)
		cli_fail(0, "  it can be recovered until %s", member);
	if (status == TENURE_FAILED && (member = tenure_error_member(cli->client, "request_id")) != NULL)
		cli_fail(0, "  the operator finds more in the log under %s", member);
	hint_endpoint(cli);
	return exit_code(status);
}
