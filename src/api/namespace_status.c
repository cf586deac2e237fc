// SPDX-License-Identifier: Apache-2.0
// Conditions of namespaces, without those of a deletion that was taken back.
#include "base/base.h"

#include "api/namespace_status.h"

#include "api/documents.h"
#include "base/pool.h"
#include "registry/core/model.h"
#include "registry/core/stored.h"
#include "repr/json/doc.h"

// The beginning of the types of conditions that each deletion which waits has set (registry/resource/space_end.c).
#define END_PREFIX "NamespaceDeletion"

const struct doc *namespace_status_conditions(const struct doc *body)
{
	const struct doc *status, *conditions;

	if (!doc_get(body, STR("status"), &status) || doc_kind(status) != DOC_OBJECT ||
		!doc_get(status, STR("conditions"), &conditions) || doc_kind(conditions) != DOC_ARRAY)
		return NULL;
	for (size_t i = 0; i < doc_length(conditions); i++)
		if (doc_kind(doc_at(conditions, i)) != DOC_OBJECT)
			return NULL;
	return conditions;
}

// Is it a condition about waiting for deletion?
static bool is_of_its_end(const struct doc *condition)
{
	const struct doc *type;

	if (!doc_get(condition, STR("type"), &type) || doc_kind(type) != DOC_STRING)
		return false;
	return str_starts(doc_string(type), STR(END_PREFIX)) || str_eq(doc_string(type), STR("NamespaceContentRemaining")) ||
	       str_eq(doc_string(type), STR("NamespaceFinalizersRemaining"));
}

static const struct doc *without_its_end(struct pool *pool, const struct doc *conditions)
{
	struct doc *kept = doc_new_array(pool);

	for (size_t i = 0; i < doc_length(conditions); i++)
		if (!is_of_its_end(doc_at(conditions, i)))
			doc_push(kept, doc_copy(pool, doc_at(conditions, i)));
	return doc_length(kept) > 0 ? kept : NULL;
}

const struct doc *namespace_status_shown(struct pool *pool, const struct resource *space, const struct doc *body)
{
	const struct doc *conditions = namespace_status_conditions(body);

	return conditions != NULL && space->deletion_requested_us == 0 ? without_its_end(pool, conditions) : conditions;
}

struct str namespace_status_body_text(struct pool *pool, const struct resource *space, struct str body)
{
	if (space->deletion_requested_us != 0 || space->deleted_us != 0 || memmem(body.p, body.n, END_PREFIX, strlen(END_PREFIX)) == NULL)
		return body;
	struct doc *shown = stored_document(pool, resource_place(space, "body"), body);
	if (namespace_status_conditions(shown) == NULL)
		return body;
	const struct doc *kept = namespace_status_shown(pool, space, shown);
	struct doc *status = doc_own_member(shown, STR("status"));

	if (kept != NULL)
		doc_set(status, STR("conditions"), doc_copy(pool, kept));
	else
		doc_remove(status, STR("conditions"));
	if (doc_length(status) == 0)
		doc_remove(shown, STR("status"));
	return document_json_text(pool, shown);
}
