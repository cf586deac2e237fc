// SPDX-License-Identifier: Apache-2.0
// Compares and merges documents.
#ifndef TENURE_CLI_CHANGE_MERGE_H
#define TENURE_CLI_CHANGE_MERGE_H

#include "base/pool.h"
#include "base/str.h"
#include "repr/json/doc.h"

struct cli;

// What a document is of. Each kind has other members that a client may set, and another one that tells its subject.
enum target_kind { TARGET_RESOURCE, TARGET_TENANT, TARGET_METAL, TARGET_PROVIDER, TARGET_WEBHOOK, TARGET_TIER };

struct difference {
	struct str path;
	const struct doc *base, *yours, *theirs;
	bool in_base, in_yours, in_theirs; // where the member exists
	bool clash; // both sides changed it in different ways
};
struct merge {
	struct doc *result;
	struct difference *list;
	size_t n;
	bool clash;
};
// Three-way merge: what each side made of base. An array counts as one value.
void merge_documents(struct pool *pool, const struct doc *base, const struct doc *yours, const struct doc *theirs,
	struct merge *merge);
// Prints to stdout what is different between two documents: a line for each member's value before (-) and after (+). One that is
// no object counts as empty. Returns how many members differ. (difference.c)
size_t cli_difference_print(struct cli *cli, const struct doc *before, const struct doc *after);
// The members of a document that a client may set. Members that a PUT may leave out are taken from other.
struct doc *cli_document_own(struct pool *pool, const struct doc *document, const struct doc *other, enum target_kind kind);

#endif
