// SPDX-License-Identifier: Apache-2.0
// Sets some members of a document that can only be replaced as a whole (webhooks, tiers): reads it, merges, and puts the result.
#include "base/base.h"

#include "base/pool.h"
#include "cli/change/change.h"
#include "cli/change/merge.h"
#include "cli/core/cli.h"
#include "cli/core/text.h"

// Sets change->document to what the target is with the given members set, and, unless an option says which, change->etag to its
// etag, or to "new" if there is none yet. If the etag of an option stands for a document that is remembered, the members are set
// in that: others may have changed the target since.
static int complete(struct cli *cli, const struct target *target, const struct doc *given, struct change *change)
{
	enum tenure_status status = tenure_resource_get(target->resource);
	struct doc *held = NULL;
	struct tenure_etag etag;
	size_t n;
	int code;

	if (status != TENURE_OK && status != TENURE_NOT_FOUND)
		return cli_fail_status(cli, status, target->label);
	if (status == TENURE_OK) {
		const char *text = tenure_resource_document(target->resource, &n);
		code = cli_input_parse(cli, str_n(text, n), target->label, &held);
		if (code != EX_OK)
			return code;
	}
	if (cli->options[OPT_ETAG] != NULL) {
		code = change_etag(cli, target, change, &etag);
		if (code != EX_OK)
			return code;
	} else if (cli->options[OPT_NO_ETAG] == NULL) {
		change->etag = held != NULL ? str_dup(cli->pool, str_c(tenure_resource_etag(target->resource))).p : "new";
		change->base = held != NULL ? held : doc_new_object(cli->pool);
	}
	const struct doc *base = change->base != NULL ? change->base : held;
	const struct doc *own = base != NULL ? cli_document_own(cli->pool, base, NULL, target->kind) : doc_new_object(cli->pool);
	change->document = doc_merge_patch(cli->pool, own, given);
	return EX_OK;
}

int change_put(struct cli *cli, const struct target *target, struct doc *given)
{
	struct change change = { .kind = CHANGE_PUT };
	int code = EX_OK;

	if (cli->options[OPT_FILE] != NULL)
		change.document = given;
	else
		code = complete(cli, target, given, &change);
	if (code != EX_OK)
		return code;
	change.body = doc_text(cli->pool, change.document);
	return change_make(cli, target, &change);
}
