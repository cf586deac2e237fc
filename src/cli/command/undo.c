// SPDX-License-Identifier: Apache-2.0
// tenure changes undo: takes back what one request changed.
#include "base/base.h"

#include <unistd.h>

#include "base/pool.h"
#include "base/visible.h"
#include "cli/change/change.h"
#include "cli/change/merge.h"
#include "cli/command/commands.h"
#include "cli/command/move.h"
#include "cli/core/cli.h"
#include "cli/core/lists.h"
#include "cli/core/state.h"
#include "cli/core/table.h"

struct undo {
	const char *label; // the request's id
	struct str path;
	const char *key; // the path under which its preview is remembered
	struct str etag; // of the preview that was shown; p NULL: none was
	size_t blockers; // that the preview has
	uint64_t changes;
};

static const struct column columns[] = {
	{ "resource", "resource" }, { "action", "action" }, { "blocker", "blocker" }, { "detail", "detail" }
};

// ---- the preview

static struct str member_text(const struct doc *object, struct str name)
{
	const struct doc *value = NULL;

	return doc_get(object, name, &value) ? doc_string(value) : STR("");
}

static const struct doc *member_list(const struct doc *object, struct str name)
{
	const struct doc *value = NULL;

	doc_get(object, name, &value);
	return doc_kind(value) == DOC_ARRAY ? value : NULL;
}

static void add_row(struct table *table, struct pool *pool, struct str resource, struct str action, const struct doc *blocker)
{
	struct doc *row = doc_new_object(pool);

	doc_set_str(pool, row, "resource", resource);
	doc_set_str(pool, row, "action", action);
	doc_set_str(pool, row, "blocker", member_text(blocker, STR("reason")));
	doc_set_str(pool, row, "detail", member_text(blocker, STR("detail")));
	table_add(table, row);
}

// The path of what an item or blocker is about, as it is shown.
static struct str shown_path(struct str resource, const char *none)
{
	return resource.n > 0 ? resource : str_c(none);
}

// Adds a row for each item with what is in its way, then rows for what is in the way of the whole undo.
static void fill(struct cli *cli, struct table *table, const struct doc *items, const struct doc *blockers)
{
	size_t n_items = items != NULL ? doc_length(items) : 0, n_blockers = blockers != NULL ? doc_length(blockers) : 0;
	bool *told = POOL_ARRAY(cli->pool, bool, n_blockers);

	for (size_t k = 0; k < n_blockers; k++)
		told[k] = false;
	for (size_t i = 0; i < n_items; i++) {
		struct str resource = member_text(doc_at(items, i), STR("resource")), action = member_text(doc_at(items, i), STR("action"));
		bool blocked = false;
		for (size_t k = 0; k < n_blockers; k++) {
			if (told[k] || !str_eq(member_text(doc_at(blockers, k), STR("resource")), resource))
				continue;
			add_row(table, cli->pool, shown_path(resource, "(the tenant)"), action, doc_at(blockers, k));
			blocked = told[k] = true;
		}
		if (!blocked)
			add_row(table, cli->pool, shown_path(resource, "(the tenant)"), action, NULL);
	}
	for (size_t k = 0; k < n_blockers; k++) {
		if (!told[k])
			add_row(table, cli->pool, shown_path(member_text(doc_at(blockers, k), STR("resource")), "(all)"), STR(""),
				doc_at(blockers, k));
	}
}

// Shows what the content of each item becomes.
static void show_differences(struct cli *cli, const struct doc *items)
{
	for (size_t i = 0; items != NULL && i < doc_length(items); i++) {
		const struct doc *item = doc_at(items, i), *now = NULL, *restored = NULL;

		if (!str_eq(member_text(item, STR("action")), STR("restore")) || !doc_get(item, STR("now"), &now) ||
			!doc_get(item, STR("restored"), &restored))
			continue;
		struct str resource = visible_text(cli->pool, shown_path(member_text(item, STR("resource")), "(the tenant)"));
		printf("\n%.*s\n", STR_ARG(resource));
		if (cli_difference_print(cli, now, restored) == 0)
			printf("    nothing that can be shown\n");
	}
}

static int show_preview(struct cli *cli, const struct undo *undo, const struct doc *plan)
{
	const struct doc *items = member_list(plan, STR("items")), *blockers = member_list(plan, STR("blockers"));

	if (cli->format == FORMAT_JSON) {
		struct doc *shown = doc_copy(cli->pool, plan);
		doc_set_str(cli->pool, shown, "etag", undo->etag);
		cli_document_print(cli, shown);
		return EX_OK;
	}
	struct table *table = table_new(cli, columns, COUNT_OF(columns), COUNT_OF(columns));
	if (table == NULL)
		return EX_USAGE;
	fill(cli, table, items, blockers);
	int code = table_print(table);
	if (code != EX_OK || cli->format != FORMAT_TABLE)
		return code;
	show_differences(cli, items);
	struct str actor = visible_text(cli->pool, member_text(plan, STR("actor")));
	struct str at = visible_text(cli->pool, member_text(plan, STR("at")));
	struct str etag = visible_text(cli->pool, undo->etag);
	printf("\n%llu change%s of %.*s at %.*s, %s. Tag: %.*s\n", (unsigned long long)undo->changes, undo->changes == 1 ? "" : "s",
		STR_ARG(actor), STR_ARG(at), undo->blockers > 0 ? "blocked" : "nothing in the way", STR_ARG(etag));
	fflush(stdout);
	return EX_OK;
}

static int preview(struct cli *cli, struct undo *undo)
{
	struct wish wish = { .method = "GET", .path = undo->path };
	struct answer answer;
	struct doc *plan;
	const struct doc *changes = NULL;
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);

	if (status == TENURE_OK)
		status = client_parse(cli->client, cli->pool, answer.body, &plan);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, undo->label);
	if (answer.etag.n == 0 || !doc_get(plan, STR("changes"), &changes) || !doc_u64(changes, &undo->changes))
		return cli_fail(EX_PROTOCOL, "the answer is no preview of an undo");
	const struct doc *blockers = member_list(plan, STR("blockers"));
	undo->blockers = blockers != NULL ? doc_length(blockers) : 0;
	undo->etag = answer.etag;
	cli_state_save(cli, undo->key, str_cstr(cli->pool, answer.etag), STR_NONE);
	int code = show_preview(cli, undo, plan);
	return code == EX_OK && undo->blockers > 0 ? EXIT_CONFLICT : code;
}

// ---- doing it

// Chooses the tag that the undo is compared with: that of --if-match, or of the preview that was shown before the question.
static int choose_tag(struct cli *cli, const struct undo *undo, struct str *if_match)
{
	const char *wanted = cli->options[OPT_IF_MATCH];
	struct remembered remembered;
	struct str tag = undo->etag;

	*if_match = STR("");
	if (wanted == NULL && tag.p == NULL) {
		if (cli->options[OPT_NO_ETAG] == NULL)
			cli_warn("%s: goes out without a preview's tag; --if-match guards it", undo->label);
		return EX_OK;
	}
	if (wanted != NULL && strcmp(wanted, "auto") == 0) {
		if (!cli_state_load(cli, undo->key, &remembered))
			return cli_fail(EX_USAGE, "%s: no preview of this undo is remembered; --preview makes one", undo->label);
		tag = remembered.etag;
	} else if (wanted != NULL) {
		tag = str_c(wanted);
	}
	if (client_etag_header(cli->pool, tag, if_match))
		return EX_OK;
	if (tag.p == wanted)
		return cli_fail(EX_USAGE, "\"%s\" is no tag", wanted);
	return cli_fail(EX_PROTOCOL, "%s: the preview's etag \"%.*s\" can't be sent", undo->label, STR_ARG(tag));
}

static int take_back(struct cli *cli, const struct undo *undo)
{
	struct wish wish = { .method = "POST", .path = undo->path };
	struct answer answer;
	struct doc *plan;
	int code = choose_tag(cli, undo, &wish.if_match);

	if (code != EX_OK)
		return code;
	enum tenure_status status = client_call(cli->client, cli->pool, &wish, &answer);
	if (status == TENURE_OK && cli->client->nothing_sent)
		return EX_OK;
	if (status == TENURE_OK && answer.status == 202) { // of a large request
		code = cli_move_watch(cli, answer.location, undo->label);
		if (code == EX_OK)
			change_announce_done(cli, undo->label, "taken back");
		return code;
	}
	if (status == TENURE_OK && cli->format_given)
		status = client_parse(cli->client, cli->pool, answer.body, &plan);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, undo->label);
	if (cli->format_given)
		cli_document_print(cli, plan);
	change_announce_done(cli, undo->label, "taken back");
	return EX_OK;
}

static int begin(struct cli *cli, struct undo *undo)
{
	struct buf path;
	int code = cli_tenant_path(cli, cli->tenant, "changes", &path);

	*undo = (struct undo){ .label = cli->arguments[0], .etag = STR_NONE };
	if (code != EX_OK)
		return code;
	if (!client_path_add(&path, str_c(undo->label)))
		return cli_fail(EX_USAGE, "\"%s\" can't be a request's id: \"tenure changes list --columns request\" shows these", undo->label);
	BUF_LIT(&path, "/undo");
	undo->path = buf_str(&path);
	undo->key = str_cstr(cli->pool, undo->path);
	return EX_OK;
}

// Where somebody has to agree, he sees first what he agrees to, and exactly that is done.
int command_changes_undo(struct cli *cli)
{
	struct undo undo;
	int code = begin(cli, &undo);
	bool asks = cli->options[OPT_YES] == NULL && cli->options[OPT_DRY_RUN] == NULL;

	if (code != EX_OK)
		return code;
	if (cli->options[OPT_PREVIEW] != NULL)
		return preview(cli, &undo);
	if (asks && cli->options[OPT_IF_MATCH] == NULL && isatty(STDIN_FILENO) == 1)
		code = preview(cli, &undo);
	if (code != EX_OK)
		return code;
	return cli_confirmed(cli, str_printf(cli->pool, "Take back request %s?", undo.label).p) ? take_back(cli, &undo) : EX_USAGE;
}
