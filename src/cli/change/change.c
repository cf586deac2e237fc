// SPDX-License-Identifier: Apache-2.0
// Changes guarded by an etag: chooses the etag, and handles the case that somebody else changed the document first.
#include "base/base.h"

#include <unistd.h>

#include "base/visible.h"
#include "cli/change/change.h"
#include "cli/change/merge.h"
#include "cli/core/cli.h"
#include "cli/core/state.h"
#include "cli/core/table.h"
#include "cli/core/text.h"

bool cli_confirmed(struct cli *cli, const char *question)
{
	char answer[16] = "";

	if (cli->options[OPT_YES] != NULL || cli->options[OPT_DRY_RUN] != NULL)
		return true;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		cli_fail(EX_USAGE, "%s Say --yes where nobody can be asked", question);
		return false;
	}
	struct str text = visible_text(cli->pool, str_c(question));
	fprintf(stderr, "%.*s [y/N] ", STR_ARG(text));
	bool agreed = fgets(answer, sizeof(answer), stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
	// The rest of a longer line is no answer to the next question.
	while (strchr(answer, '\n') == NULL && fgets(answer, sizeof(answer), stdin) != NULL)
		;
	if (agreed)
		return true;
	cli_fail(0, "not done");
	return false;
}

void cli_announce(struct cli *cli, const struct target *target, const char *what)
{
	size_t n;
	const char *text = tenure_resource_document(target->resource, &n);
	struct doc *document;

	if (cli->format_given && text != NULL && cli_input_parse(cli, str_n(text, n), target->label, &document) == EX_OK)
		cli_document_print(cli, document);
	else
		change_announce_done(cli, target->label, what);
}

void change_announce_done(struct cli *cli, const char *label, const char *what)
{
	if (!cli->format_given && cli->out_is_terminal) {
		struct str shown = visible_text(cli->pool, str_c(label));
		printf("%.*s: %s\n", STR_ARG(shown), what);
	}
}

// The paths under which the document is remembered: the one it was named by; for bare metal also those by its UUID and its
// name, since either may be used next. Ends with NULL.
static const char **state_paths(struct cli *cli, const struct target *target, const struct doc *document)
{
	const char **paths = POOL_ARRAY(cli->pool, const char *, 4);
	const char *members[] = { "uuid", "name" };
	const struct doc *value;
	size_t n = 0;

	paths[n++] = tenure_resource_path(target->resource);
	struct str collection = str_part(str_c(paths[0]), 0, (size_t)(strrchr(paths[0], '/') - paths[0]));
	for (size_t i = 0; target->kind == TARGET_METAL && i < COUNT_OF(members); i++) {
		struct buf path = buf_new(cli->pool, 128);
		buf_add(&path, collection);
		if (doc_get(document, str_c(members[i]), &value) && doc_kind(value) == DOC_STRING &&
			client_path_add(&path, doc_string(value)) && !str_eq_c(buf_str(&path), paths[0]))
			paths[n++] = str_cstr(cli->pool, buf_str(&path));
	}
	paths[n] = NULL;
	return paths;
}

// After a change whose answer has no document, reads what is there now. It belongs to the new etag unless somebody changed it
// again. False: only the etag is remembered.
static bool read_again(struct cli *cli, const struct target *target)
{
	const char *etag = str_cstr(cli->pool, str_c(tenure_resource_etag(target->resource)));

	if (tenure_resource_get(target->resource) == TENURE_OK && tenure_resource_etag(target->resource) != NULL &&
		strcmp(tenure_resource_etag(target->resource), etag) == 0)
		return true;
	cli_state_save(cli, tenure_resource_path(target->resource), etag, STR_NONE);
	return false;
}

// What is remembered of a webhook: what can be set, and when it was made. The answer that shows its secret must not leave that in
// a file.
static const struct doc *webhook_remembered(struct cli *cli, const struct doc *document)
{
	struct doc *kept = cli_document_own(cli->pool, document, NULL, TARGET_WEBHOOK);
	const struct doc *created;

	if (doc_get(document, STR("created_at"), &created))
		doc_set(kept, STR("created_at"), doc_copy(cli->pool, created));
	return kept;
}

void cli_remember_state(struct cli *cli, const struct target *target)
{
	size_t n;
	const char *etag = tenure_resource_etag(target->resource), *text;
	struct doc *document = NULL;
	struct str unused;

	if (tenure_resource_document(target->resource, NULL) == NULL && etag != NULL && !read_again(cli, target))
		return;
	text = tenure_resource_document(target->resource, &n);
	if (text == NULL)
		return;
	struct str document_text = str_n(text, n);
	if (target->kind == TARGET_METAL || target->kind == TARGET_WEBHOOK)
		doc_parse_json(cli->pool, document_text, (struct doc_limits){ 1000, 0 }, &document, &unused);
	if (target->kind == TARGET_WEBHOOK)
		document_text = doc_text(cli->pool, webhook_remembered(cli, document));
	for (const char **path = state_paths(cli, target, document); *path != NULL; path++)
		cli_state_save(cli, *path, tenure_resource_etag(target->resource), document_text);
}

// Forgets a deleted document under all its paths.
static void forget(struct cli *cli, const struct target *target)
{
	struct remembered remembered;

	cli_state_load(cli, tenure_resource_path(target->resource), &remembered);
	for (const char **path = state_paths(cli, target, remembered.document); *path != NULL; path++)
		cli_state_forget(cli, *path);
}

// Reads the target's present document, and does not remember it. Exit code.
static int read_present(struct cli *cli, const struct target *target, struct doc **present)
{
	enum tenure_status status = tenure_resource_get(target->resource);
	size_t n;

	if (status != TENURE_OK)
		return cli_fail_status(cli, status, target->label);
	const char *text = tenure_resource_document(target->resource, &n);
	return cli_input_parse(cli, str_n(text, n), target->label, present);
}

int target_read(struct cli *cli, const struct target *target, const struct doc **document)
{
	struct doc *present;
	int code = read_present(cli, target, &present);

	if (code != EX_OK)
		return code;
	cli_remember_state(cli, target);
	*document = present;
	return EX_OK;
}

// ---- which etag

static bool same_tag(struct cli *cli, struct str a, struct str b)
{
	struct str x, y;

	return client_etag_header(cli->pool, a, &x) && client_etag_header(cli->pool, b, &y) && str_eq(x, y);
}

static int fail_new(void)
{
	return cli_fail(EX_USAGE, "--etag new is for the set of tenants, resources, webhooks and tiers alone");
}

int cli_etag_given(struct cli *cli, const char *path, const char *label, struct str *etag)
{
	const char *wanted = cli->options[OPT_ETAG];
	struct remembered remembered;

	if (strcmp(wanted, "new") == 0)
		return fail_new();
	if (strcmp(wanted, "auto") == 0) {
		if (!cli_state_load(cli, path, &remembered))
			return cli_fail(EX_USAGE, "%s: nothing is remembered of it; show it first, or give its etag", label);
		wanted = str_cstr(cli->pool, remembered.etag);
	}
	return client_etag_header(cli->pool, str_c(wanted), etag) ? EX_OK : cli_fail(EX_USAGE, "\"%s\" is no etag", wanted);
}

int change_etag(struct cli *cli, const struct target *target, struct change *change, struct tenure_etag *etag)
{
	const char *wanted = change->etag != NULL ? change->etag : cli->options[OPT_ETAG];
	struct remembered remembered;
	bool known = cli_state_load(cli, tenure_resource_path(target->resource), &remembered);

	*etag = TENURE_ETAG_NONE;
	if (wanted == NULL) {
		if (cli->options[OPT_NO_ETAG] == NULL)
			cli_warn("%s: goes out without an etag, over whatever others changed; --etag auto guards it",
				target->label);
		return EX_OK;
	}
	if (strcmp(wanted, "new") == 0) {
		*etag = TENURE_ETAG_NEW;
		return change->kind == CHANGE_PUT && target->kind != TARGET_METAL && target->kind != TARGET_PROVIDER ? EX_OK : fail_new();
	}
	bool automatic = strcmp(wanted, "auto") == 0;
	if (automatic && !known)
		return cli_fail(EX_USAGE, "%s: nothing is remembered of it; show it first, or give its etag", target->label);
	*etag = TENURE_ETAG_TEXT(automatic ? str_cstr(cli->pool, remembered.etag) : wanted);
	if (change->base == NULL && known && same_tag(cli, remembered.etag, str_c(etag->text)))
		change->base = remembered.document;
	return EX_OK;
}

static enum tenure_status send_traits(struct cli *cli, const struct target *target, const struct doc *document,
	struct tenure_etag etag)
{
	const struct doc *traits = NULL;

	doc_get(document, STR("traits"), &traits);
	size_t n = doc_length(traits);
	const char **names = POOL_ARRAY(cli->pool, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		names[i] = str_cstr(cli->pool, doc_string(doc_at(traits, i)));
	return tenure_node_set_traits(target->resource, names, n, etag);
}

static enum tenure_status send_maintenance(struct cli *cli, const struct target *target, const struct doc *document,
	struct tenure_etag etag)
{
	const struct doc *on = NULL, *reason = NULL;

	doc_get(document, STR("maintenance"), &on);
	doc_get(document, STR("maintenance_reason"), &reason);
	return tenure_node_set_maintenance(target->resource, doc_bool(on),
		reason != NULL ? str_cstr(cli->pool, doc_string(reason)) : NULL, etag);
}

static enum tenure_status send_change(struct cli *cli, const struct target *target, const struct change *change,
	struct tenure_etag etag)
{
	switch (change->kind) {
	case CHANGE_PUT:
		return tenure_resource_put(target->resource, change->body.p, change->body.n, etag);
	case CHANGE_PATCH:
		return tenure_resource_update(target->resource, change->body.p, change->body.n, etag);
	case CHANGE_DELETE:
		return tenure_resource_delete(target->resource, etag);
	case CHANGE_JSON_PATCH:
		return tenure_resource_patch(target->resource, change->body.p, change->body.n, etag);
	case CHANGE_TRAITS:
		return send_traits(cli, target, change->document, etag);
	case CHANGE_MAINTENANCE:
		return send_maintenance(cli, target, change->document, etag);
	}
	return TENURE_INVALID;
}

// ---- if somebody else was faster

static void show_side(struct cli *cli, const char *who, bool there, const struct doc *value)
{
	struct str text = there ? visible_text(cli->pool, doc_text(cli->pool, value)) : STR("(none)");

	fprintf(stderr, "    %-7s %.*s\n", who, STR_ARG(text));
}

// Prints each difference with its values to stderr: in base if that is known, as wanted unless it is a deletion, and as the
// service has it.
static void show_differences(struct cli *cli, const struct merge *merge, bool base_known, bool wanted)
{
	for (size_t i = 0; i < merge->n; i++) {
		const struct difference *d = &merge->list[i];
		struct str path = visible_text(cli->pool, d->path.n > 0 ? d->path : STR("(all of it)"));
		fprintf(stderr, "  %.*s%s\n", STR_ARG(path), d->clash ? "  <- both changed it" : "");
		if (base_known)
			show_side(cli, "base", d->in_base, d->base);
		if (wanted)
			show_side(cli, "yours", d->in_yours, d->yours);
		show_side(cli, "server", d->in_theirs, d->theirs);
	}
	if (merge->n == 0)
		fprintf(stderr, "  no field of yours differs\n");
}

int change_fail_stale(struct cli *cli, const char *label, const struct merge *merge, bool base_known, bool wanted,
	const char *refusal)
{
	show_differences(cli, merge, base_known, wanted);
	return cli->options[OPT_RETRY] != NULL ? cli_fail(EXIT_STALE, "%s: %s", label, refusal) : EXIT_STALE;
}

// What the change makes of base. NULL: the patch does not fit base, and *error says why.
static const struct doc *yours_of(struct cli *cli, const struct target *target, const struct change *change,
	const struct doc *base, struct str *error)
{
	struct doc *patched;

	switch (change->kind) {
	case CHANGE_PUT:
		return cli_document_own(cli->pool, change->document, base, target->kind);
	case CHANGE_PATCH:
	case CHANGE_TRAITS:
	case CHANGE_MAINTENANCE:
		if (target->kind == TARGET_PROVIDER)
			return provider_merge(cli->pool, base, change->document);
		return cli_document_own(cli->pool, doc_merge_patch(cli->pool, base, change->document), NULL, target->kind);
	case CHANGE_JSON_PATCH:
		return doc_json_patch(cli->pool, base, change->document, (struct doc_limits){ 200, 0 }, &patched, error) ? patched : NULL;
	case CHANGE_DELETE:
		break;
	}
	return cli_document_own(cli->pool, base, NULL, target->kind);
}

// What a patch names is wanted also where it had that value before, so it clashes with what others made of it, at each try. A
// whole document does not tell which of its members are wanted: of that, only those that differ from base.
static void find_clashes(struct cli *cli, const struct target *target, const struct change *change, const struct doc *present,
	struct merge *merge)
{
	struct change named = *change;
	struct str unused;

	if (change->merged_patch != NULL) {
		named.kind = CHANGE_JSON_PATCH;
		named.document = change->merged_patch;
	}
	const struct doc *sent = named.kind != CHANGE_PUT ? yours_of(cli, target, &named, present, &unused) : NULL, *value = NULL;

	for (size_t i = 0; sent != NULL && i < merge->n; i++) {
		struct difference *d = &merge->list[i];
		bool others = d->in_base != d->in_theirs || (d->in_base && !doc_equal(d->base, d->theirs));
		bool there = doc_at_path(sent, d->path, &value);
		if (others && (there != d->in_theirs || (there && !doc_equal(value, d->theirs))))
			d->clash = merge->clash = true;
	}
}

// What tells the document's subject from another one at the same address: its uid, or the time when it was made. n 0: nothing
// does, as of tiers.
static struct str identity(const struct doc *document, enum target_kind kind)
{
	const struct doc *id = NULL;

	switch (kind) {
	case TARGET_RESOURCE:
		doc_at_path(document, STR("metadata.uid"), &id);
		break;
	case TARGET_TENANT:
		doc_at_path(document, STR("tenant.created_at"), &id);
		break;
	case TARGET_METAL:
		doc_get(document, STR("uuid"), &id);
		break;
	case TARGET_WEBHOOK:
		doc_get(document, STR("created_at"), &id);
		break;
	case TARGET_PROVIDER:
	case TARGET_TIER:
		break;
	}
	return doc_kind(id) == DOC_STRING ? doc_string(id) : STR("");
}

// ", by USER at TIME" of the 412, or "". Call it before any other call: that replaces the client's error.
static const char *changed_by_text(struct cli *cli)
{
	const char *who = tenure_error_member(cli->client, "changed_by");
	const char *when = tenure_error_member(cli->client, "changed_at");

	if (who == NULL || when == NULL)
		return "";
	return str_printf(cli->pool, ", by %s at %s", who, when).p;
}

// Refuses if the present document is of another subject than the one that the change is based on: that was deleted since, and its
// name was given to this one. Exit code.
static int refuse_other_subject(const struct target *target, const struct change *change, const struct doc *present)
{
	struct str base_identity = change->base != NULL ? identity(change->base, target->kind) : STR("");
	struct str present_identity = identity(present, target->kind);

	if (base_identity.n == 0 || present_identity.n == 0 || str_eq(base_identity, present_identity))
		return EX_OK;
	return cli_fail(EXIT_STALE, "%s: what you read is not there any more, and another one has its name: nothing is changed",
		target->label);
}

// Merges the change with what others made of its base. If the base is not known, the present document takes its place: then every
// member that the change would alter is listed, and nobody can tell whose change it is. Exit code.
static int merge_with_present(struct cli *cli, const struct target *target, const struct change *change, const struct doc *present,
	struct merge *merge)
{
	const struct doc *present_own = cli_document_own(cli->pool, present, NULL, target->kind);
	const struct doc *base = change->base == NULL ? present_own : cli_document_own(cli->pool, change->base, NULL, target->kind);
	struct str error = STR("");
	const struct doc *yours = yours_of(cli, target, change, base, &error);

	if (yours == NULL)
		return cli_fail(EXIT_STALE, "%s: it changed since you read it, and your change does not fit any more: %.*s",
			target->label, STR_ARG(error));
	merge_documents(cli->pool, base, yours, present_own, merge);
	find_clashes(cli, target, change, present_own, merge);
	return EX_OK;
}

// Why --retry does not send the merged change; NULL: it does. tries: how often the change was refused before.
static const char *retry_refusal(const struct change *change, const struct merge *merge, unsigned tries)
{
	if (change->kind == CHANGE_DELETE)
		return "what was changed meanwhile is not deleted by --retry";
	if (change->base == NULL)
		return "what the etag stood for is not remembered, so nothing can be merged";
	if (merge->clash)
		return "both changed the same fields: nothing is merged";
	return tries + 1 >= CHANGE_TRIES ? "others keep changing it" : NULL;
}

// Bases the change on the present document. A merge patch and the parts of a node can be sent as they are; a whole document and a
// JSON Patch become the merged document.
static void adopt_merge(struct cli *cli, struct change *change, const struct merge *merge, const struct doc *present)
{
	if (change->kind == CHANGE_JSON_PATCH)
		change->merged_patch = change->document;
	if (change->kind == CHANGE_PUT || change->kind == CHANGE_JSON_PATCH) {
		change->kind = CHANGE_PUT;
		change->document = merge->result;
		change->body = doc_text(cli->pool, merge->result);
	}
	change->base = present;
}

// Handles a 412. With --retry, if both sides' changes can be merged, it prepares the change for being sent again. Otherwise it
// prints who changed what. EX_OK: send it again, with the etag of the present document.
static int handle_stale(struct cli *cli, const struct target *target, struct change *change, unsigned tries)
{
	const char *etag = cli->options[OPT_ETAG];
	struct doc *present;
	struct merge merge;

	if (change->etag == NULL && etag != NULL && strcmp(etag, "new") == 0)
		return cli_fail(EXIT_STALE, "%s: is there already", target->label);
	const char *changed_by = changed_by_text(cli);
	int code = read_present(cli, target, &present);
	if (code == EX_OK)
		code = refuse_other_subject(target, change, present);
	if (code == EX_OK)
		code = merge_with_present(cli, target, change, present, &merge);
	if (code != EX_OK)
		return code;
	const char *refusal = retry_refusal(change, &merge, tries);
	if (cli->options[OPT_RETRY] != NULL && refusal == NULL) {
		adopt_merge(cli, change, &merge, present);
		return EX_OK;
	}
	cli_fail(0, "%s: it changed since you read it%s", target->label, changed_by);
	return change_fail_stale(cli, target->label, &merge, change->base != NULL, change->kind != CHANGE_DELETE, refusal);
}

int change_make(struct cli *cli, const struct target *target, struct change *change)
{
	struct tenure_etag etag;
	int code = change_etag(cli, target, change, &etag);

	if (code != EX_OK)
		return code;
	for (unsigned tries = 0;; tries++) {
		enum tenure_status status = send_change(cli, target, change, etag);
		if (status == TENURE_OK && cli->client->nothing_sent)
			return EX_OK;
		if (status == TENURE_OK) {
			if (change->kind == CHANGE_DELETE)
				forget(cli, target);
			else
				cli_remember_state(cli, target);
			cli_announce(cli, target,
				change->kind == CHANGE_DELETE ? "deleted" : tries > 0 ? "merged and changed" : "done");
			return EX_OK;
		}
		if (status != TENURE_STALE)
			return cli_fail_status(cli, status, target->label);
		code = handle_stale(cli, target, change, tries);
		if (code != EX_OK)
			return code;
		etag = TENURE_ETAG_CURRENT;
	}
}

int target_change(struct cli *cli, struct target *target, struct change *change)
{
	if (change->document != NULL)
		change->body = doc_text(cli->pool, change->document);
	int code = change_make(cli, target, change);
	tenure_resource_free(&target->resource);
	return code;
}

int cli_create(struct cli *cli, const struct target *target, const struct doc *document)
{
	struct str body = doc_text(cli->pool, document);
	enum tenure_status status = tenure_resource_create(target->resource, body.p, body.n);

	if (status != TENURE_OK)
		return cli_fail_status(cli, status, target->label);
	if (cli->client->nothing_sent)
		return EX_OK;
	cli_remember_state(cli, target);
	if (cli->format_given)
		cli_announce(cli, target, "made");
	else
		printf("%s\n", strrchr(tenure_resource_path(target->resource), '/') + 1);
	return EX_OK;
}

int cli_recover(struct cli *cli, const struct target *target, const char *uid)
{
	struct change change = { .kind = CHANGE_DELETE };
	struct tenure_etag etag = TENURE_ETAG_NONE;
	int code = cli->options[OPT_ETAG] != NULL ? change_etag(cli, target, &change, &etag) : EX_OK;

	if (code != EX_OK)
		return code;
	enum tenure_status status = tenure_resource_recover(target->resource, uid, etag);
	if (status != TENURE_OK)
		return cli_fail_status(cli, status, target->label);
	if (cli->client->nothing_sent)
		return EX_OK;
	if (cli->format_given) { // the answer has no document
		const struct doc *document;
		code = target_read(cli, target, &document);
		if (code != EX_OK) {
			cli_fail(0, "%s: recovered, but it can't be shown", target->label);
			return code;
		}
	}
	cli_announce(cli, target, "recovered");
	return EX_OK;
}
