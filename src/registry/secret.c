// SPDX-License-Identifier: Apache-2.0
// Secrets in bodies: masked wherever a body is shown; what comes back masked stands for what is stored.
#include "base/base.h"

#include "base/pool.h"
#include "registry/internal.h"

static bool is_mask(const struct doc *value)
{
	return doc_kind(value) == DOC_STRING && str_eq(doc_string(value), STR(SECRET_MASK));
}

// One member of the body, at any depth: a copy with its secrets masked. *found: there were some.
static struct doc *masked(struct pool *pool, const struct type_rules *rules, struct str top, const struct doc *value,
	bool *found)
{
	struct doc *copy;

	switch (doc_kind(value)) {
	case DOC_OBJECT:
		copy = doc_new_object(pool);
		for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
			bool secret = rules->is_secret(top, it.name);
			*found = *found || secret;
			doc_set(copy, it.name,
				secret ? doc_new_string(pool, STR(SECRET_MASK)) : masked(pool, rules, top, it.value, found));
		}
		return copy;
	case DOC_ARRAY:
		copy = doc_new_array(pool);
		for (size_t i = 0; i < doc_length(value); i++)
			doc_push(copy, masked(pool, rules, top, doc_at(value, i), found));
		return copy;
	default:
		return doc_copy(pool, value);
	}
}

struct str resource_shown(struct registry *registry, const struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;
	struct pool *pool = registry->pool;
	bool found = false;

	if (rules == NULL || rules->is_secret == NULL)
		return resource->body;
	struct doc *body = stored_document(pool, resource->body), *shown = doc_new_object(pool);
	for (struct doc_iter it = doc_iter(body); doc_next(&it);)
		doc_set(shown, it.name, masked(pool, rules, it.name, it.value, &found));
	if (!found)
		return resource->body;
	struct buf text = buf_new(pool, resource->body.n);
	doc_write_json(shown, &text);
	return buf_str(&text);
}

static enum outcome fail_masked(struct draft *draft, struct str name)
{
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
		"\"%.*s\" is a secret and shown masked; nothing is stored there that the mask could stand for: send its value",
		STR_ARG(name));
}

// The value with what is stored in the place of each mask; was: what is stored, NULL where nothing is.
static enum outcome restored(struct draft *draft, struct str top, const struct doc *value, const struct doc *was,
	struct doc **result)
{
	struct pool *pool = draft->registry->pool;
	const struct type_rules *rules = draft->address->type->rules;
	enum outcome outcome = OUTCOME_OK;

	if (doc_kind(value) == DOC_ARRAY) {
		*result = doc_new_array(pool);
		for (size_t i = 0; outcome == OUTCOME_OK && i < doc_length(value); i++) {
			struct doc *item = NULL;
			bool there = doc_kind(was) == DOC_ARRAY && i < doc_length(was);
			outcome = restored(draft, top, doc_at(value, i), there ? doc_at(was, i) : NULL, &item);
			doc_push(*result, item);
		}
		return outcome;
	}
	if (doc_kind(value) != DOC_OBJECT) {
		*result = doc_copy(pool, value);
		return OUTCOME_OK;
	}
	*result = doc_new_object(pool);
	for (struct doc_iter it = doc_iter(value); outcome == OUTCOME_OK && doc_next(&it);) {
		const struct doc *old = NULL;
		bool there = doc_get(was, it.name, &old);
		struct doc *member = NULL;
		if (rules->is_secret(top, it.name) && is_mask(it.value) && !there)
			return fail_masked(draft, it.name);
		if (rules->is_secret(top, it.name) && is_mask(it.value))
			member = doc_copy(pool, old);
		else
			outcome = restored(draft, top, it.value, old, &member);
		doc_set(*result, it.name, member);
	}
	return outcome;
}

enum outcome secrets_restore(struct draft *draft)
{
	const struct type_rules *rules = draft->address->type->rules;
	struct doc *body = doc_new_object(draft->registry->pool);
	enum outcome outcome = OUTCOME_OK;

	if (rules->is_secret == NULL || doc_kind(draft->body) != DOC_OBJECT)
		return OUTCOME_OK;
	for (struct doc_iter it = doc_iter(draft->body); outcome == OUTCOME_OK && doc_next(&it);) {
		const struct doc *was = NULL;
		struct doc *member = NULL;
		if (draft->before != NULL)
			doc_get(draft->before, it.name, &was);
		outcome = restored(draft, it.name, it.value, was, &member);
		doc_set(body, it.name, member);
	}
	draft->body = body;
	return outcome;
}
