// SPDX-License-Identifier: Apache-2.0
// Converts a client's document to what is stored: the client's part of metadata, and all other members.
#include "base/base.h"

#include "api/documents.h"
#include "api/tenancy/tenancy.h"
#include "api/type_role.h"
#include "base/buf.h"
#include "base/pool.h"
#include "registry/core/settings.h"
#include "registry/resource/meta.h"

static enum outcome check_same(struct call *call, const char *name, const struct doc *value, struct str is)
{
	if (value == NULL || (doc_kind(value) == DOC_STRING && str_eq(doc_string(value), is)))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_BAD_DOCUMENT, "metadata.%s contradicts the address, which says \"%.*s\": leave it out",
		name, STR_ARG(is));
}

// Checks one member of metadata. stored: the stored metadata, whose members may be of a kind that is not taken any more; NULL:
// none.
// *keep: it is the client's, and is stored.
static enum outcome check_member(const struct content_edit *edit, const struct doc_iter *it, const struct doc *stored, bool *keep)
{
	const struct address *address = edit->address;
	const struct doc *before;

	*keep = false;
	if (resource_meta_is_owned(it->name))
		return OUTCOME_OK;
	// Members that repeat the address must agree with it.
	if (str_eq(it->name, STR("name")))
		return check_same(edit->call, "name", it->value, address->name);
	if (str_eq(it->name, STR("namespace")))
		return check_same(edit->call, "namespace", it->value, address->space);
	if (str_eq(it->name, STR("tenant")))
		return check_same(edit->call, "tenant", it->value, address->tenant);
	*keep = true;
	const char *form = resource_meta_fault(it->name, it->value);
	if (form == NULL || (doc_get(stored, it->name, &before) && doc_equal(it->value, before)))
		return OUTCOME_OK;
	return call_fail(edit->call, OUTCOME_BAD_DOCUMENT, "metadata.%.*s must be %s", STR_ARG(it->name), form);
}

static enum outcome split_metadata(const struct content_edit *edit, const struct doc *metadata, const struct resource *current,
	struct doc *meta, bool *locked)
{
	struct pool *pool = edit->call->pool;
	struct doc_iter it = doc_iter(metadata);
	const struct doc *stored = current != NULL ? resource_meta_doc(pool, current) : NULL, *value;
	enum outcome outcome = OUTCOME_OK;

	if (doc_kind(metadata) != DOC_OBJECT)
		return call_fail(edit->call, OUTCOME_BAD_DOCUMENT, "metadata must be an object");
	while (outcome == OUTCOME_OK && doc_next(&it)) {
		bool keep;
		outcome = check_member(edit, &it, stored, &keep);
		if (outcome == OUTCOME_OK && keep)
			doc_set(meta, it.name, doc_copy(pool, it.value));
	}
	*locked = doc_get(meta, STR("locked"), &value) && doc_kind(value) == DOC_BOOL && doc_bool(value);
	return outcome;
}

// A patch applies to the document as GET shows it, so that "test" works on members that the server sets. Changes that a patch
// makes to those are ignored or refused, as in a PUT.
static enum outcome patched(const struct content_edit *edit, const struct resource *current, const struct doc **whole)
{
	struct pool *pool = edit->call->pool;
	struct buf text = buf_new(pool, 768 + current->meta.n + current->body.n);

	resource_json(edit->call, current, &text);
	struct pool *scratch = pool_scratch(pool, text.n);
	const struct doc *before = stored_document(scratch, resource_place(current, "meta or body"), buf_str(&text));
	enum outcome outcome = patch_apply(edit->call, edit->kind, current->type->rules, before, edit->document, whole);

	pool_scratch_end(pool, scratch); // parts that the result shares with it stay valid
	return outcome;
}

static enum outcome split(const struct content_edit *edit, const struct doc *whole, const struct resource *current,
	struct content *content)
{
	struct pool *pool = edit->call->pool;
	const struct doc *metadata = NULL;
	struct doc *meta = doc_new_object(pool), *body = doc_copy(pool, whole);

	*content = (struct content){ .meta = STR("{}") };
	doc_remove(body, STR("metadata"));
	content->body = document_text_or_stored(pool, body, current, "body");
	if (!doc_get(whole, STR("metadata"), &metadata) || metadata == NULL) {
		if (current != NULL && edit->kind == EDIT_PUT) { // a PUT without metadata keeps the stored metadata
			content->meta = current->meta;
			content->locked = current->locked;
		}
		return OUTCOME_OK;
	}
	enum outcome outcome = split_metadata(edit, metadata, current, meta, &content->locked);
	if (outcome == OUTCOME_OK)
		content->meta = document_text_or_stored(pool, meta, current, "meta");
	return outcome;
}

static enum outcome apply(const struct content_edit *edit, const struct resource *current, struct content *content)
{
	const struct doc *whole = edit->document;
	enum outcome outcome = edit->kind == EDIT_PUT ? OUTCOME_OK : patched(edit, current, &whole);

	if (outcome == OUTCOME_OK && doc_kind(whole) != DOC_OBJECT)
		outcome = call_fail(edit->call, OUTCOME_BAD_DOCUMENT, "a resource is a JSON object");
	return outcome == OUTCOME_OK ? split(edit, whole, current, content) : outcome;
}

// Frees the trees of a large document before the registry continues with its text.
enum outcome content_apply(void *arg, const struct resource *current, struct content *content)
{
	const struct content_edit *edit = arg;
	struct call *call = edit->call;
	struct pool *pool = call->pool;
	enum outcome outcome = current == NULL ? type_role_check(call, edit->address->type, false) : OUTCOME_OK;

	if (outcome != OUTCOME_OK)
		return outcome;
	call->pool = pool_scratch(pool, current != NULL ? current->body.n : 0);
	outcome = apply(edit, current, content);
	if (call->pool != pool && outcome == OUTCOME_OK) {
		content->meta = str_dup(pool, content->meta);
		content->body = str_dup(pool, content->body);
	} else if (call->pool != pool) {
		call->problem.detail = str_dup(pool, call->problem.detail);
	}
	struct pool *scratch = call->pool;
	call->pool = pool;
	pool_scratch_end(pool, scratch);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (!document_fits(edit->call, current, content))
		return call_fail(edit->call, OUTCOME_BODY_TOO_LARGE, "a resource may have %llu bytes at most",
			(unsigned long long)registry_settings(edit->call->config)->max_body);
	return OUTCOME_OK;
}
