// SPDX-License-Identifier: Apache-2.0
// The parts of a provider that are read and written as a whole: traits, aggregates, inventories. A change carries the
// generation on which it is based. If the provider has another generation by then, both sides are compared name by name.
#include "base/base.h"

#include "cli/change/change.h"
#include "cli/change/merge.h"
#include "cli/command/placement.h"
#include "cli/command/provider_part.h"
#include "cli/core/cli.h"
#include "cli/core/state.h"
#include "cli/core/table.h"
#include "cli/core/text.h"

#define GENERATION "resource_provider_generation"

const struct part part_traits = { "traits", true }, part_aggregates = { "aggregates", true },
	part_inventories = { "inventories", false };

// A part as of a generation.
struct state {
	const struct doc *content; // NULL: not known
	uint64_t generation;
};

struct doc *part_exactly(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg)
{
	UNUSED(provider);
	UNUSED(base);
	return doc_copy(cli->pool, arg);
}

struct doc *part_patched(struct cli *cli, const struct provider *provider, const struct doc *base, void *arg)
{
	UNUSED(provider);
	return doc_merge_patch(cli->pool, base, arg);
}

// ---- the service's form and ours

// NULL: one of the names is not valid.
static struct doc *content_of(struct cli *cli, const struct doc *list)
{
	struct doc *content = doc_new_object(cli->pool);

	for (size_t i = 0; i < doc_length(list); i++) {
		struct str name = doc_string(doc_at(list, i));
		if (name.n == 0 || memchr(name.p, '\0', name.n) != NULL)
			return NULL;
		doc_set(content, name, doc_new_bool(cli->pool, true));
	}
	return content;
}

static struct doc *list_of(struct cli *cli, const struct doc *content)
{
	struct doc *list = doc_new_array(cli->pool);

	for (struct doc_iter it = doc_iter(content); doc_next(&it);)
		doc_push(list, doc_new_string(cli->pool, it.name));
	return list;
}

static struct doc *body_of(struct cli *cli, const struct part *part, const struct doc *content, uint64_t generation)
{
	struct doc *body = doc_new_object(cli->pool);

	doc_set(body, str_c(part->name), part->is_list ? list_of(cli, content) : doc_copy(cli->pool, content));
	doc_set_u64(cli->pool, body, GENERATION, generation);
	return body;
}

static bool take(struct cli *cli, const struct part *part, const struct doc *answer, struct state *state)
{
	const struct doc *value, *generation;

	if (!doc_get(answer, str_c(part->name), &value) ||
		doc_kind(value) != (part->is_list ? DOC_ARRAY : DOC_OBJECT) ||
		!doc_get(answer, STR(GENERATION), &generation) || !doc_u64(generation, &state->generation))
		return false;
	state->content = part->is_list ? content_of(cli, value) : value;
	return state->content != NULL;
}

static struct str address(struct cli *cli, const struct provider *provider, const struct part *part)
{
	return str_printf(cli->pool, "/resource_providers/%s/%s", provider->uuid, part->name);
}

static const char *label_of(struct cli *cli, const struct provider *provider, const struct part *part)
{
	return str_printf(cli->pool, "%s: %s", provider->label, part->name).p;
}

static int read_state(struct cli *cli, const struct provider *provider, const struct part *part, struct state *state)
{
	struct doc *answer;
	enum tenure_status status = cli_placement_call(cli, (struct wish){ .method = "GET",
		.path = address(cli, provider, part) }, NULL, &answer, NULL);

	if (status != TENURE_OK)
		return cli_fail_status(cli, status, provider->label);
	if (!take(cli, part, answer, state))
		return cli_fail(EX_PROTOCOL, "%s: the answer has no %s", provider->label, part->name);
	return EX_OK;
}

// Remembers what was shown last. The generation serves as its etag.
static void remember_state(struct cli *cli, const struct provider *provider, const struct part *part,
	const struct state *state)
{
	cli_state_save(cli, str_printf(cli->pool, "%s/%s", provider->path, part->name).p,
		str_printf(cli->pool, "%llu", (unsigned long long)state->generation).p, doc_text(cli->pool, state->content));
}

int part_read(struct cli *cli, const struct provider *provider, const struct part *part, struct doc **content)
{
	struct state state;
	int code = read_state(cli, provider, part, &state);

	*content = code == EX_OK ? doc_copy(cli->pool, state.content) : NULL;
	return code;
}

int part_show(struct cli *cli, const struct provider *provider, const struct part *part, struct doc **content)
{
	struct state state;
	int code = read_state(cli, provider, part, &state);

	*content = NULL;
	if (code != EX_OK)
		return code;
	remember_state(cli, provider, part, &state);
	*content = doc_copy(cli->pool, state.content);
	return EX_OK;
}

// ---- changes

// Reads what the change is based on: the present content or, with --generation, the content at that generation if it is
// remembered.
static int read_base(struct cli *cli, const struct provider *provider, const struct part *part, struct state *base)
{
	const char *given = cli->options[OPT_GENERATION];
	struct remembered remembered;
	struct state now;
	uint64_t wanted, known = 0;

	if (given == NULL)
		return read_state(cli, provider, part, base);
	bool automatic = strcmp(given, "auto") == 0;
	bool is_known = cli_state_load(cli, str_printf(cli->pool, "%s/%s", provider->path, part->name).p, &remembered) &&
		str_to_u64(remembered.etag, &known);
	if (automatic && !is_known)
		return cli_fail(EX_USAGE, "%s: nothing is remembered of it; list it first, or give a generation",
			label_of(cli, provider, part));
	if (!automatic && !str_to_u64(str_c(given), &wanted))
		return cli_fail(EX_USAGE, "--generation takes a number from 0 on, or auto, not \"%s\"", given);
	*base = (struct state){ is_known ? remembered.document : NULL, automatic ? known : wanted };
	if (base->content != NULL && known == base->generation)
		return EX_OK;
	int code = read_state(cli, provider, part, &now);
	base->content = code == EX_OK && now.generation == base->generation ? now.content : NULL;
	if (code == EX_OK && base->content == NULL)
		return cli_fail(EXIT_STALE, "%s: it is at generation %llu, not %llu, and what it was then is not remembered",
			label_of(cli, provider, part), (unsigned long long)now.generation, (unsigned long long)base->generation);
	return code;
}

// A part's content as it is sent.
struct replacement {
	const struct provider *provider;
	const struct part *part;
	const struct doc *wanted; // the new content
	struct state base;        // on which it is based; its content is known
	bool whole;               // of struct part_edit
};

static enum tenure_status send(struct cli *cli, const struct replacement *replacement, struct str etag, struct doc **answer)
{
	return cli_placement_call(cli, (struct wish){ .method = "PUT",
		.path = address(cli, replacement->provider, replacement->part), .if_match = etag },
		body_of(cli, replacement->part, replacement->wanted, replacement->base.generation), answer, NULL);
}

static bool lost_race(struct cli *cli, enum tenure_status status)
{
	const char *code = status == TENURE_CONFLICT ? tenure_error_member(cli->client, "code") : NULL;

	return code != NULL && strcmp(code, "placement.concurrent_update") == 0;
}

// Why --retry does not send the merged content; NULL: it does. tries: how often it was refused before.
static const char *retry_refusal(const struct replacement *replacement, const struct merge *merge, bool untouched, unsigned tries)
{
	if (replacement->whole && !untouched)
		return "it was to be just this, and others changed it: that is not done again";
	if (merge->clash)
		return "both changed the same: nothing is merged";
	return tries + 1 >= CHANGE_TRIES ? "others keep changing it" : NULL;
}

// Handles the refusal of a generation that is not the provider's any more. With --retry, if both sides' changes can be merged, it
// prepares the replacement for being sent again, based on the present content. Otherwise it prints who changed what. EX_OK: send
// it again.
static int handle_stale(struct cli *cli, struct replacement *replacement, unsigned tries)
{
	const struct part *part = replacement->part;
	const struct state *base = &replacement->base;
	const char *label = label_of(cli, replacement->provider, part);
	struct state present;
	struct merge merge;
	int code = read_state(cli, replacement->provider, part, &present);

	if (code != EX_OK)
		return code;
	merge_documents(cli->pool, base->content, replacement->wanted, present.content, &merge);
	bool untouched = doc_equal(base->content, present.content); // the generation grew for another part
	const char *refusal = retry_refusal(replacement, &merge, untouched, tries);
	if (cli->options[OPT_RETRY] != NULL && refusal == NULL) {
		if (!replacement->whole)
			replacement->wanted = merge.result;
		replacement->base = present;
		return EX_OK;
	}
	cli_fail(0, "%s: the provider changed since it was read: it is at generation %llu, not %llu%s%s%s", label,
		(unsigned long long)present.generation, (unsigned long long)base->generation, untouched ? "; its " : "",
		untouched ? part->name : "", untouched ? " are as they were" : "");
	return change_fail_stale(cli, label, &merge, true, true, refusal);
}

static int done(struct cli *cli, const struct provider *provider, const struct part *part, struct doc *answer,
	bool again)
{
	const char *label = label_of(cli, provider, part);
	struct state state;

	if (cli->client->nothing_sent)
		return EX_OK;
	if (!take(cli, part, answer, &state))
		return cli_fail(EX_PROTOCOL, "%s: it was done, but the answer does not tell what it is now", label);
	remember_state(cli, provider, part, &state);
	change_announce_done(cli, label, again ? "merged and changed" : "done");
	if (cli->format_given)
		cli_document_print(cli, answer);
	return EX_OK;
}

int part_change(struct cli *cli, const struct provider *provider, const struct part *part,
	const struct part_edit *edit)
{
	struct replacement replacement = { .provider = provider, .part = part, .whole = edit->whole };
	struct str etag = STR("");
	struct doc *answer;
	int code = cli->options[OPT_ETAG] == NULL ? EX_OK : cli_etag_given(cli, provider->path, provider->label, &etag);

	if (code == EX_OK)
		code = read_base(cli, provider, part, &replacement.base);
	if (code != EX_OK)
		return code;
	replacement.wanted = edit->make(cli, provider, replacement.base.content, edit->arg);
	if (replacement.wanted == NULL)
		return EXIT_NOT_FOUND;
	for (unsigned tries = 0;; tries++) {
		enum tenure_status status = send(cli, &replacement, etag, &answer);
		if (status == TENURE_OK)
			return done(cli, provider, part, answer, tries > 0);
		if (!lost_race(cli, status))
			return cli_fail_status(cli, status, label_of(cli, provider, part));
		code = handle_stale(cli, &replacement, tries);
		if (code != EX_OK)
			return code;
	}
}
