// SPDX-License-Identifier: Apache-2.0
// Changes guarded by an etag: which one goes along, and what happens when somebody else was faster.
#include "base/base.h"

#include <unistd.h>

#include "cli/cli.h"

enum { TRIES = 10 };

bool confirmed(struct cli *cli, const char *question)
{
	char answer[16] = "";

	if (cli->options[OPT_YES] != NULL || cli->options[OPT_DRY_RUN] != NULL)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		cli_fail(EX_USAGE, "%s Say --yes where nobody can be asked", question);
		return false;
	}
	struct str text = text_tame(cli->pool, str_c(question));
	fprintf(stderr, "%.*s [y/N] ", STR_ARG(text));
	if (fgets(answer, sizeof(answer), stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	cli_fail(0, "not done");
	return false;
}

void announce(struct cli *cli, const struct target *target, const char *what)
{
	size_t n;
	const char *text = tenure_resource_document(target->resource, &n);
	struct doc *document;

	if (cli->format_given && text != NULL && input_parse(cli, str_n(text, n), target->label, &document) == EX_OK)
		document_print(cli, document);
	else if (!cli->format_given && cli->out_is_terminal)
		printf("%.*s: %s\n", STR_ARG(text_tame(cli->pool, str_c(target->label))), what);
}

static void remember(struct cli *cli, const struct target *target)
{
	size_t n;
	const char *text = tenure_resource_document(target->resource, &n);

	if (text != NULL)
		state_save(cli, tenure_resource_path(target->resource), tenure_resource_etag(target->resource), str_n(text, n));
}

int target_read(struct cli *cli, const struct target *target, const struct doc **document)
{
	enum tenure_status status = tenure_resource_get(target->resource);
	struct doc *parsed;
	size_t n;

	if (status != TENURE_OK)
		return cli_fail_status(cli, status, target->label);
	const char *text = tenure_resource_document(target->resource, &n);
	int code = input_parse(cli, str_n(text, n), target->label, &parsed);
	if (code == EX_OK)
		remember(cli, target);
	*document = parsed;
	return code;
}

// ---- which etag

static bool same_tag(struct cli *cli, struct str a, struct str b)
{
	struct str x, y;

	return etag_header(cli->pool, a, &x) && etag_header(cli->pool, b, &y) && str_eq(x, y);
}

// By the options; base is what the tag stands for, where that is known. Exit code.
static int choose_etag(struct cli *cli, const struct target *target, struct change *change, struct tenure_etag *etag)
{
	const char *wanted = change->etag != NULL ? change->etag : cli->options[OPT_ETAG];
	struct remembered remembered;
	bool known = state_load(cli, tenure_resource_path(target->resource), &remembered);

	*etag = TENURE_ETAG_NONE;
	if (wanted == NULL) {
		if (cli->options[OPT_NO_ETAG] == NULL)
			cli_warn("%s: goes out without an etag, over whatever others changed; --etag auto guards it",
				target->label);
		return EX_OK;
	}
	if (strcmp(wanted, "new") == 0) {
		*etag = TENURE_ETAG_NEW;
		return change->kind == CHANGE_PUT ? EX_OK : cli_fail(EX_USAGE, "--etag new is for set alone");
	}
	bool automatic = strcmp(wanted, "auto") == 0;
	if (automatic && !known)
		return cli_fail(EX_USAGE, "%s: nothing is remembered of it; show it first, or give its etag", target->label);
	*etag = TENURE_ETAG_TEXT(automatic ? str_cstr(cli->pool, remembered.etag) : wanted);
	if (change->base == NULL && known && same_tag(cli, remembered.etag, str_c(etag->text)))
		change->base = remembered.document;
	return EX_OK;
}

static enum tenure_status send_change(const struct target *target, const struct change *change, struct tenure_etag etag)
{
	switch (change->kind) {
	case CHANGE_PUT:
		return tenure_resource_put(target->resource, change->body.p, change->body.n, etag);
	case CHANGE_PATCH:
		return tenure_resource_update(target->resource, change->body.p, change->body.n, etag);
	case CHANGE_DELETE:
		return tenure_resource_delete(target->resource, etag);
	}
	return TENURE_INVALID;
}

// ---- when somebody else was faster

static void show_side(struct cli *cli, const char *who, bool there, const struct doc *value)
{
	struct str text = there ? text_tame(cli->pool, doc_text(cli->pool, value)) : STR("(none)");

	fprintf(stderr, "    %-7s %.*s\n", who, STR_ARG(text));
}

static void show_differences(struct cli *cli, const struct change *change, const struct merge *merge)
{
	for (size_t i = 0; i < merge->n; i++) {
		const struct difference *d = &merge->list[i];
		struct str path = text_tame(cli->pool, d->path.n > 0 ? d->path : STR("(all of it)"));
		fprintf(stderr, "  %.*s%s\n", STR_ARG(path), d->clash ? "  <- both changed it" : "");
		if (change->base != NULL)
			show_side(cli, "base", d->in_base, d->base);
		if (change->kind != CHANGE_DELETE)
			show_side(cli, "yours", d->in_yours, d->yours);
		show_side(cli, "server", d->in_theirs, d->theirs);
	}
	if (merge->n == 0)
		fprintf(stderr, "  no field of yours differs, only the etag\n");
}

// What the change would make of base.
static const struct doc *yours_of(struct cli *cli, const struct target *target, const struct change *change,
	const struct doc *base)
{
	switch (change->kind) {
	case CHANGE_PUT:
		return document_own(cli->pool, change->document, base, target->is_tenant);
	case CHANGE_PATCH:
		return document_own(cli->pool, doc_merge_patch(cli->pool, base, change->document), NULL, target->is_tenant);
	case CHANGE_DELETE:
		break;
	}
	return document_own(cli->pool, base, NULL, target->is_tenant);
}

// Reads what is there now, shows who changed what, and, where that was asked for and can be, makes the change one of
// what is there now. EX_OK: to be sent again.
static int rebase(struct cli *cli, const struct target *target, struct change *change, unsigned tries)
{
	const struct doc *now;
	struct merge merge;
	const char *etag = cli->options[OPT_ETAG];

	if (change->etag == NULL && etag != NULL && strcmp(etag, "new") == 0)
		return cli_fail(EXIT_STALE, "%s: is there already", target->label);
	enum tenure_status status = tenure_resource_get(target->resource);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, target->label);
	size_t n;
	const char *text = tenure_resource_document(target->resource, &n);
	struct doc *parsed;
	int code = input_parse(cli, str_n(text, n), target->label, &parsed);
	if (code != EX_OK)
		return code;
	now = document_own(cli->pool, parsed, NULL, target->is_tenant);
	// Without a base every field that differs is shown, and nobody can tell whose change it is.
	const struct doc *base = document_own(cli->pool, change->base != NULL ? change->base : parsed, NULL,
		target->is_tenant);
	merge_documents(cli->pool, base, yours_of(cli, target, change, base), now, &merge);
	bool retry = cli->options[OPT_RETRY] != NULL;
	const char *refusal = change->kind == CHANGE_DELETE ? "what was changed meanwhile is not deleted by --retry"
		: change->base == NULL ? "what the etag stood for is not remembered, so nothing can be merged"
		: merge.clash ? "both changed the same fields: nothing is merged"
		: tries + 1 >= TRIES ? "others keep changing it" : NULL;
	if (!retry || refusal != NULL) {
		cli_fail(0, "%s: it changed since you read it", target->label);
		show_differences(cli, change, &merge);
		return retry ? cli_fail(EXIT_STALE, "%s: %s", target->label, refusal) : EXIT_STALE;
	}
	if (change->kind == CHANGE_PUT) {
		change->document = merge.result;
		change->body = doc_text(cli->pool, merge.result);
	}
	change->base = parsed;
	return EX_OK;
}

int change_make(struct cli *cli, const struct target *target, struct change *change)
{
	struct tenure_etag etag;
	int code = choose_etag(cli, target, change, &etag);

	if (code != EX_OK)
		return code;
	for (unsigned tries = 0;; tries++) {
		enum tenure_status status = send_change(target, change, etag);
		if (status == TENURE_OK && cli->client->nothing_sent)
			return EX_OK;
		if (status == TENURE_OK) {
			if (change->kind == CHANGE_DELETE)
				state_forget(cli, tenure_resource_path(target->resource));
			else
				remember(cli, target);
			announce(cli, target,
				change->kind == CHANGE_DELETE ? "deleted" : tries > 0 ? "merged and changed" : "done");
			return EX_OK;
		}
		if (status != TENURE_STALE)
			return cli_fail_status(cli, status, target->label);
		code = rebase(cli, target, change, tries);
		if (code != EX_OK)
			return code;
		etag = TENURE_ETAG_CURRENT;
	}
}
