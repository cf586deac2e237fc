// SPDX-License-Identifier: Apache-2.0
// Sets some members of a document that can only be replaced as a whole (webhooks, tiers): reads it, merges, and puts the result.
#include "base/base.h"

#include "base/pool.h"
#include "cli/core/cli.h"

// Sets change->document to what the target is with the given members set, and, unless an option says which, change->etag to its etag, or
// to "new" if there is none yet.
static int complete(struct cli *cli, const struct target *target, const struct doc *given, struct change *change)
{
	enum tenure_status status = tenure_resource_get(target->resource);
	struct doc *held = NULL;
	size_t n;
	bool chosen = cli->options[OPT_ETAG] != NULL || cli->options[OPT_NO_ETAG] != NULL;

	if (status != TENURE_OK && status != TENURE_NOT_FOUND)
		return cli_fail_status(cli, status, target->label);
	if (!chosen)
		change->etag = "new";
	if (status == TENURE_OK) {
		const char *text = tenure_resource_document(target->resource, &n);
		int code = cli_input_parse(cli, str_n(text, n), target->label, &held);
		if (code != EX_OK)
			return code;
		if (!chosen)
			change->etag = str_dup(cli->pool, str_c(tenure_resource_etag(target->resource))).p;
	}
	const struct doc *base = held != NULL ? cli_document_own(cli->pool, held, NULL, target->kind) : doc_new_object(cli->pool);
	change->document = doc_merge_patch(cli->pool, base, given);
	change->base = base;
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
