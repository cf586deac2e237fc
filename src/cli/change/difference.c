// SPDX-License-Identifier: Apache-2.0
// What a change did to a document, for people: a line for each member's value before it (-) and after it (+).
#include "base/base.h"

#include "base/visible.h"
#include "cli/change/merge.h"
#include "cli/core/cli.h"
#include "cli/core/text.h"

static void show_value(struct cli *cli, char sign, struct str path, const struct doc *value)
{
	struct str shown_path = visible_text(cli->pool, path);
	struct str shown_value = visible_json(cli->pool, doc_text(cli->pool, value));

	printf("  %c %.*s: %.*s\n", sign, STR_ARG(shown_path), STR_ARG(shown_value));
}

size_t cli_difference_print(struct cli *cli, const struct doc *before, const struct doc *after)
{
	const struct doc *none = doc_new_object(cli->pool);
	struct merge merge;

	if (doc_kind(before) != DOC_OBJECT)
		before = none;
	if (doc_kind(after) != DOC_OBJECT)
		after = none;
	merge_documents(cli->pool, before, before, after, &merge);
	for (size_t i = 0; i < merge.n; i++) {
		const struct difference *difference = &merge.list[i];
		if (difference->in_base)
			show_value(cli, '-', difference->path, difference->base);
		if (difference->in_theirs)
			show_value(cli, '+', difference->path, difference->theirs);
	}
	return merge.n;
}
