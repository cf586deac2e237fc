// SPDX-License-Identifier: Apache-2.0
// tenure move: moves resources to another tenant.
#include "base/base.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/visible.h"
#include "cli/change/change.h"
#include "cli/change/each.h"
#include "cli/command/commands.h"
#include "cli/command/move.h"
#include "cli/command/resource.h"
#include "cli/core/cli.h"
#include "cli/core/offered_types.h"
#include "cli/core/state.h"
#include "cli/core/table.h"
#include "cli/core/text.h"

enum { FIRST_POLL_MS = 100, LAST_POLL_MS = 1000, AWAY_POLL_MS = 30000 };

struct source {
	struct tenure_move *move;
	const char *label;
	const char *key; // the path under which its preview is remembered
};

// ---- which move

static bool open_resource(struct cli *cli, const char *text, struct target *target)
{
	struct resource_name name;

	if (resource_name_read(text, cli->pool, &name))
		return resource_target(cli, name.space, type_plural(name.type), name.name, target);
	cli_fail(EX_USAGE, "\"%s\" is not TYPE/NAME or namespaces/NAMESPACE/TYPE/NAME%s", text,
		strchr(text, '/') == NULL ? "; --all moves all of a tenant" : "");
	return false;
}

static bool open_source(struct cli *cli, const char *name, struct source *source)
{
	const char *to = cli->options[OPT_TO];
	struct target target = { .resource = NULL };

	*source = (struct source){ .label = name };
	if (cli->options[OPT_ALL] != NULL) {
		source->move = tenure_move_all(cli->client, name, to);
		source->key = str_printf(cli->pool, "move all %s to %s", name, to).p;
	} else if (open_resource(cli, name, &target)) {
		source->move = tenure_move_resource(target.resource, to);
		source->key = str_printf(cli->pool, "move %s to %s", tenure_resource_path(target.resource), to).p;
	} else {
		return false;
	}
	if (source->move == NULL)
		cli_fail(EX_USAGE, "\"%s\" can't be moved to \"%s\": one of them is no id", name, to);
	tenure_resource_free(&target.resource);
	return source->move != NULL;
}

// ---- the preview

static void add_row(struct table *table, struct pool *pool, struct str resource, const struct doc *blocker)
{
	const struct doc *reason = NULL, *detail = NULL;
	struct doc *row = doc_new_object(pool);

	doc_get(blocker, STR("reason"), &reason);
	doc_get(blocker, STR("detail"), &detail);
	doc_set_str(pool, row, "resource", resource);
	doc_set_str(pool, row, "blocker", doc_string(reason));
	doc_set_str(pool, row, "detail", doc_string(detail));
	table_add(table, row);
}

static bool is_about(const struct doc *blocker, struct str resource)
{
	const struct doc *value = NULL;

	return doc_get(blocker, STR("resource"), &value) && str_eq(doc_string(value), resource);
}

static struct str id_of(const struct doc *resource)
{
	const struct doc *id = NULL;

	doc_get(resource, STR("id"), &id);
	return doc_string(id);
}

static bool is_listed(const struct doc *resources, const struct doc *blocker)
{
	for (size_t i = 0; doc_kind(resources) == DOC_ARRAY && i < doc_length(resources); i++) {
		if (is_about(blocker, id_of(doc_at(resources, i))))
			return true;
	}
	return false;
}

// Adds a row for each listed resource with what is in its way, then rows for what is in the way of the whole move.
static void fill(struct cli *cli, struct table *table, const struct doc *move)
{
	const struct doc *resources = NULL, *blockers = NULL, *about = NULL;

	doc_get(move, STR("resources"), &resources);
	doc_get(move, STR("blockers"), &blockers);
	for (size_t i = 0; doc_kind(resources) == DOC_ARRAY && i < doc_length(resources); i++) {
		struct str id = id_of(doc_at(resources, i));
		bool blocked = false;
		for (size_t k = 0; k < doc_length(blockers); k++) {
			if (is_about(doc_at(blockers, k), id)) {
				add_row(table, cli->pool, id, doc_at(blockers, k));
				blocked = true;
			}
		}
		if (!blocked)
			add_row(table, cli->pool, id, NULL);
	}
	for (size_t k = 0; k < doc_length(blockers); k++) {
		if (is_listed(resources, doc_at(blockers, k)))
			continue;
		doc_get(doc_at(blockers, k), STR("resource"), &about);
		add_row(table, cli->pool, doc_string(about).n > 0 ? doc_string(about) : STR("(all)"), doc_at(blockers, k));
	}
}

static const struct column columns[] = {
	{ "resource", "resource" }, { "blocker", "blocker" }, { "detail", "detail" }
};

static int show_preview(struct cli *cli, const struct source *source)
{
	const struct doc *move = NULL;
	struct doc *document;
	size_t n, blockers = tenure_move_blockers(source->move);
	const char *text = tenure_move_document(source->move, &n), *etag = tenure_move_etag(source->move);
	int code = cli_input_parse(cli, str_n(text, n), source->label, &document);

	if (code != EX_OK)
		return code;
	doc_get(document, STR("move"), &move);
	if (cli->format == FORMAT_JSON) {
		struct doc *shown = doc_copy(cli->pool, document), *inner = doc_copy(cli->pool, move);
		doc_set_str(cli->pool, inner, "etag", str_c(etag));
		doc_set(shown, STR("move"), inner);
		cli_document_print(cli, shown);
		return blockers > 0 ? EXIT_CONFLICT : EX_OK;
	}
	struct table *table = table_new(cli, columns, COUNT_OF(columns), COUNT_OF(columns));
	if (table == NULL)
		return EX_USAGE;
	fill(cli, table, move);
	code = table_print(table);
	if (code != EX_OK)
		return code;
	if (cli->format == FORMAT_TABLE) {
		struct str destination = visible_text(cli->pool, str_c(cli->options[OPT_TO]));
		struct str tag = visible_text(cli->pool, str_c(etag));
		printf("\n%llu resource%s to %.*s, %s. Tag: %.*s\n", (unsigned long long)tenure_move_size(source->move),
			tenure_move_size(source->move) == 1 ? "" : "s", STR_ARG(destination),
			blockers > 0 ? "blocked" : "nothing in the way", STR_ARG(tag));
	}
	return blockers > 0 ? EXIT_CONFLICT : EX_OK;
}

static int preview(struct cli *cli, const struct source *source)
{
	enum tenure_status status = tenure_move_preview(source->move);

	if (status != TENURE_OK)
		return cli_fail_status(cli, status, source->label);
	cli_state_save(cli, source->key, tenure_move_etag(source->move), STR_NONE);
	return show_preview(cli, source);
}

// ---- doing it

static void draw(uint64_t moved, uint64_t total)
{
	cli_bar_print(stderr, moved, total);
	fprintf(stderr, " %llu/%llu", (unsigned long long)moved, (unsigned long long)total);
	fflush(stderr);
}

// A poll failed, of which it is not known that the move failed: says how to ask later.
static int fail_unknown(struct cli *cli, struct tenure_move *move, enum tenure_status status, const char *label)
{
	cli_fail_status(cli, status, label);
	return cli_fail(EX_TEMPFAIL, "%s: it may still go on: tenure move status %s -t %s", label, tenure_move_id(move),
		client_move_tenant(move, cli->pool));
}

// Polls the move until it ends; shows a progress bar on a terminal. The move goes on while the service can't be reached, so that
// is waited for, and told once.
static int watch(struct cli *cli, struct tenure_move *move, const char *label)
{
	bool bar = isatty(STDERR_FILENO) == 1, away = false;
	enum tenure_status status;
	uint64_t moved, total;

	for (long ms = FIRST_POLL_MS;;) {
		status = tenure_move_poll(move);
		if (status == TENURE_UNAVAILABLE && !away) {
			if (bar)
				fputc('\n', stderr);
			cli_warn("%s: %s; waiting for the service", label, tenure_error_text(cli->client));
		}
		away = status == TENURE_UNAVAILABLE;
		if (!away && status != TENURE_PENDING)
			break;
		tenure_move_progress(move, &moved, &total);
		if (bar && !away)
			draw(moved, total);
		clock_pause_ms(ms);
		long most = away ? AWAY_POLL_MS : LAST_POLL_MS;
		ms = ms * 2 < most ? ms * 2 : most;
	}
	tenure_move_progress(move, &moved, &total);
	if (bar && status == TENURE_OK)
		draw(total, total);
	if (bar)
		fputc('\n', stderr);
	if (status == TENURE_OK)
		return EX_OK;
	// The service's own failure to answer has a status of HTTP.
	bool failed = status == TENURE_FAILED && tenure_error_http(cli->client) == 0;
	return failed ? cli_fail_status(cli, status, label) : fail_unknown(cli, move, status, label);
}

int cli_move_watch(struct cli *cli, struct str location, const char *label)
{
	struct tenure_move *move = client_move_at(cli->client, location);

	if (move == NULL)
		return cli_fail(EX_PROTOCOL, "%s: the answer does not say where its progress is found", label);
	int code = watch(cli, move, label);
	tenure_move_free(&move);
	return code;
}

static int choose_tag(struct cli *cli, const struct source *source, struct tenure_etag *etag)
{
	const char *wanted = cli->options[OPT_IF_MATCH];
	struct remembered remembered;

	*etag = TENURE_ETAG_NONE;
	if (wanted == NULL) {
		if (cli->options[OPT_NO_ETAG] == NULL)
			cli_warn("%s: goes out without a preview's tag; --if-match guards it", source->label);
		return EX_OK;
	}
	if (strcmp(wanted, "auto") != 0) {
		*etag = TENURE_ETAG_TEXT(wanted);
		return EX_OK;
	}
	if (!cli_state_load(cli, source->key, &remembered))
		return cli_fail(EX_USAGE, "%s: no preview of this move is remembered; --preview makes one", source->label);
	*etag = TENURE_ETAG_TEXT(remembered.etag.p);
	return EX_OK;
}

static int background(struct cli *cli, const struct source *source)
{
	if (cli->options[OPT_NO_WAIT] == NULL)
		return watch(cli, source->move, source->label);
	struct str id = visible_text(cli->pool, str_c(tenure_move_id(source->move)));
	printf("%.*s\n", STR_ARG(id));
	return EX_OK;
}

static int move_one(struct cli *cli, const struct source *source)
{
	bool async = cli->options[OPT_ASYNC] != NULL || cli->options[OPT_NO_WAIT] != NULL;
	struct tenure_etag etag;
	int code = choose_tag(cli, source, &etag);

	if (code != EX_OK)
		return code;
	enum tenure_status status = tenure_move_run(source->move, etag, async ? TENURE_MOVE_BACKGROUND : TENURE_MOVE_NOW);
	if (cli->client->nothing_sent && status == TENURE_OK)
		return EX_OK;
	if (status == TENURE_PENDING)
		code = background(cli, source);
	else if (status == TENURE_STALE)
		code = cli_fail(EXIT_STALE, "%s: something of what the preview told has changed; look again", source->label);
	else if (status != TENURE_OK)
		code = cli_fail_status(cli, status, source->label);
	if (code == EX_OK && cli->out_is_terminal && tenure_move_location(source->move) != NULL) {
		struct str label = visible_text(cli->pool, str_c(source->label));
		struct str location = visible_text(cli->pool, str_c(tenure_move_location(source->move)));
		printf("%.*s: moved to %.*s\n", STR_ARG(label), STR_ARG(location));
	}
	return code;
}

int cli_move_as_told(struct cli *cli, struct tenure_move *move, const char *label, const char *key)
{
	struct source source = { move, label, key };
	int code = cli->options[OPT_PREVIEW] != NULL ? preview(cli, &source) : move_one(cli, &source);

	tenure_move_free(&source.move);
	return code;
}

static int move_named(struct cli *cli, const char *name, void *arg)
{
	struct source source;

	UNUSED(arg);
	return open_source(cli, name, &source) ? cli_move_as_told(cli, source.move, source.label, source.key) : EX_USAGE;
}

int command_move(struct cli *cli)
{
	const char **names = cli_input_names(cli, 0, cli->n_arguments);

	if (names == NULL)
		return EX_NOINPUT;
	if (cli->options[OPT_TO] == NULL)
		return cli_fail(EX_USAGE, "where to? --to TENANT");
	const char *tag = cli->options[OPT_IF_MATCH];
	if (tag != NULL && strcmp(tag, "auto") != 0 && names[1] != NULL)
		return cli_fail(EX_USAGE, "a tag is of one move; of several, --if-match auto takes each one's own");
	return cli_each_of(cli, names, move_named, NULL);
}

int command_move_status(struct cli *cli)
{
	struct doc *document;
	size_t n;

	if (cli->tenant == NULL)
		return cli_fail_no_tenant();
	struct tenure_move *move = tenure_move_known(cli->client, cli->tenant, cli->arguments[0]);
	if (move == NULL)
		return cli_fail(EX_USAGE, "\"%s\" is no move's id", cli->arguments[0]);
	enum tenure_status status = tenure_move_poll(move);
	const char *text = tenure_move_document(move, &n);
	int code = EX_OK;
	if (text != NULL && cli_input_parse(cli, str_n(text, n), "move", &document) == EX_OK)
		cli_document_print(cli, document);
	else if (status == TENURE_OK) {
		struct str location = visible_text(cli->pool, str_c(tenure_move_location(move)));
		printf("done: %.*s\n", STR_ARG(location));
	}
	if (status != TENURE_OK && status != TENURE_PENDING)
		code = cli_fail_status(cli, status, cli->arguments[0]);
	tenure_move_free(&move);
	return code;
}
