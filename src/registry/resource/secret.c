// SPDX-License-Identifier: Apache-2.0
// Secrets in bodies: masks them for showing, and replaces masks in what clients send by the stored secrets.
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/stored.h"
#include "registry/resource/secret.h"

static bool is_mask(const struct doc *value)
{
	return doc_kind(value) == DOC_STRING && str_eq(doc_string(value), STR(SECRET_MASK));
}

// The value null is never a secret.
static bool is_secret(const struct type_rules *rules, struct str top, struct str name, const struct doc *value)
{
	return value != NULL && rules->is_secret(top, name);
}

// ---- passwords in URLs

static size_t find_any(struct str text, const char *ends, size_t from)
{
	while (from < text.n && strchr(ends, text.p[from]) == NULL)
		from++;
	return from;
}

// Finds the next "scheme://user:password@host" in text at *from or behind. True: *password is its password, and *from is where
// to go on. The authority ends at "/", "?", "#" or a blank, its user information at the last "@" (RFC 3986, 3.2).
static bool next_url_password(struct str text, size_t *from, struct str *password)
{
	for (size_t at = *from; at + 3 <= text.n; at++) {
		if (!str_eq(str_part(text, at, at + 3), STR("://")))
			continue;
		size_t begin = at + 3, end = find_any(text, "/?# \t\r\n\"'<>", begin), colon = str_find(text, ':', begin), last =
			end;

		while (last > begin && text.p[last - 1] != '@')
			last--;
		*from = end;
		if (last > begin && colon + 1 < last - 1) {
			*password = str_part(text, colon + 1, last - 1);
			return true;
		}
	}
	return false;
}

enum sought { ANY_SECRET, MASK };

// Does a URL in the text have a password, or one that is the mask?
static bool holds_url_password(struct str text, enum sought sought)
{
	struct str password;
	size_t from = 0;

	while (next_url_password(text, &from, &password)) {
		if (sought == ANY_SECRET || str_eq(password, STR(SECRET_MASK)))
			return true;
	}
	return false;
}

static struct str without_url_passwords(struct pool *pool, struct str text)
{
	struct buf shown = buf_new(pool, text.n);
	struct str password;
	size_t from = 0, copied = 0;

	while (next_url_password(text, &from, &password)) {
		size_t at = (size_t)(password.p - text.p);

		buf_add(&shown, str_part(text, copied, at));
		buf_add(&shown, STR(SECRET_MASK));
		copied = at + password.n;
	}
	buf_add(&shown, str_part(text, copied, text.n));
	return buf_str(&shown);
}

static bool hides_in(const struct type_rules *rules, struct str top, const struct doc *value)
{
	return doc_kind(value) == DOC_STRING && rules->hides_url_passwords != NULL && rules->hides_url_passwords(top);
}

// ---- looking

// Is there a secret in this member of the body, at any depth, or one that is a mask?
static bool holds_secret(const struct type_rules *rules, struct str top, const struct doc *value, enum sought sought)
{
	switch (doc_kind(value)) {
	case DOC_NULL:
	case DOC_BOOL:
	case DOC_NUMBER:
		return false;
	case DOC_STRING:
		return hides_in(rules, top, value) && holds_url_password(doc_string(value), sought);
	case DOC_ARRAY:
		for (size_t i = 0; i < doc_length(value); i++) {
			if (holds_secret(rules, top, doc_at(value, i), sought))
				return true;
		}
		return false;
	case DOC_OBJECT:
		for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
			if ((sought == ANY_SECRET || is_mask(it.value)) && is_secret(rules, top, it.name, it.value))
				return true;
			if (holds_secret(rules, top, it.value, sought))
				return true;
		}
		return false;
	}
	return false;
}

// ---- showing

// A copy of one member of the body with its secrets masked.
static struct doc *masked(struct pool *pool, const struct type_rules *rules, struct str top, const struct doc *value)
{
	struct doc *copy;

	switch (doc_kind(value)) {
	case DOC_OBJECT:
		copy = doc_new_object(pool);
		for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
			bool secret = is_secret(rules, top, it.name, it.value);
			doc_set(copy, it.name,
				secret ? doc_new_string(pool, STR(SECRET_MASK)) : masked(pool, rules, top, it.value));
		}
		return copy;
	case DOC_ARRAY:
		copy = doc_new_array(pool);
		for (size_t i = 0; i < doc_length(value); i++)
			doc_push(copy, masked(pool, rules, top, doc_at(value, i)));
		return copy;
	default:
		if (hides_in(rules, top, value) && holds_url_password(doc_string(value), ANY_SECRET))
			return doc_new_string(pool, without_url_passwords(pool, doc_string(value)));
		return doc_copy(pool, value);
	}
}

void secret_add_shown(struct pool *pool, const struct type_rules *rules, struct str name, const struct doc *value, struct buf *out)
{
	bool hides = rules != NULL && rules->is_secret != NULL && holds_secret(rules, name, value, ANY_SECRET);

	doc_write_json(hides ? masked(pool, rules, name, value) : value, out);
}

struct str secret_shown_text(struct pool *pool, const struct type_rules *rules, struct str body, const struct doc *tree)
{
	struct json_members members = json_members(body);
	struct buf shown = buf_new(pool, 0);
	struct str text;
	size_t copied = 0;

	if (rules->is_secret == NULL)
		return body;
	for (struct doc_iter it = doc_iter(tree); doc_next(&it);) {
		// Names of members that hold secrets are the type's own, and need no escapes.
		if (!holds_secret(rules, it.name, it.value, ANY_SECRET) || !json_members_find(&members, it.name, &text))
			continue;
		size_t at = (size_t)(text.p - body.p);
		buf_add(&shown, str_part(body, copied, at));
		doc_write_json(masked(pool, rules, it.name, it.value), &shown);
		copied = at + text.n;
	}
	if (copied == 0)
		return body;
	buf_add(&shown, str_part(body, copied, body.n));
	return buf_str(&shown);
}

struct str resource_shown(struct pool *pool, const struct resource *resource)
{
	const struct type_rules *rules = resource->type->rules;

	if (resource->shown.p != NULL)
		return resource->shown;
	if (rules == NULL || rules->is_secret == NULL)
		return resource->body;
	struct pool *scratch = pool_scratch(pool, resource->body.n); // a list has many, and a tree is many times as large as its text
	struct buf text = buf_new(pool, resource->body.n + 2);
	buf_addc(&text, '{');
	for (struct doc_iter it = doc_iter(resource_body_tree(scratch, resource)); doc_next(&it);) {
		if (text.n > 1)
			buf_addc(&text, ',');
		json_add_string(&text, it.name);
		buf_addc(&text, ':');
		secret_add_shown(scratch, rules, it.name, it.value, &text);
	}
	buf_addc(&text, '}');
	pool_scratch_end(pool, scratch);
	return str_eq(buf_str(&text), resource->body) ? resource->body : buf_str(&text);
}

// ---- replacing masks by what is stored

static enum outcome fail_masked(struct draft *draft, struct str top)
{
	return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
		"%.*s has \"" SECRET_MASK "\" for a secret, which stands for the one that is stored there, and there is none: "
		"send its value", STR_ARG(top));
}

static enum outcome restored(struct draft *draft, struct str top, const struct doc *value, const struct doc *was,
	struct doc **result);

static enum outcome restored_object(struct draft *draft, struct str top, const struct doc *value, const struct doc *was,
	struct doc **result)
{
	struct pool *pool = draft->registry->pool;
	const struct type_rules *rules = draft->address->type->rules;
	enum outcome outcome = OUTCOME_OK;

	*result = doc_new_object(pool);
	for (struct doc_iter it = doc_iter(value); outcome == OUTCOME_OK && doc_next(&it);) {
		bool kept = is_secret(rules, top, it.name, it.value) && is_mask(it.value);
		const struct doc *old;
		struct doc *member = NULL;
		doc_get(was, it.name, &old);
		if (kept && old == NULL)
			return fail_masked(draft, top);
		if (kept)
			member = doc_copy(pool, old);
		else
			outcome = restored(draft, top, it.value, old, &member);
		doc_set(*result, it.name, member);
	}
	return outcome;
}

// Elements of an array have no names. So an element with masks must otherwise be equal to the stored element in the same place,
// in an array of the same length. Else the secret of a neighbour could get into it.
static enum outcome restored_array(struct draft *draft, struct str top, const struct doc *value, const struct doc *was,
	struct doc **result)
{
	struct pool *pool = draft->registry->pool;
	const struct type_rules *rules = draft->address->type->rules;
	bool comparable = doc_kind(was) == DOC_ARRAY && doc_length(was) == doc_length(value);

	*result = doc_new_array(pool);
	for (size_t i = 0; i < doc_length(value); i++) {
		const struct doc *item = doc_at(value, i);
		bool has_masks = holds_secret(rules, top, item, MASK);
		if (has_masks && !(comparable && doc_equal(item, masked(pool, rules, top, doc_at(was, i)))))
			return fail_masked(draft, top);
		doc_push(*result, doc_copy(pool, has_masks ? doc_at(was, i) : item));
	}
	return OUTCOME_OK;
}

// A text with masks in its URLs must otherwise be equal to the stored text in the same place.
static enum outcome restored_text(struct draft *draft, struct str top, const struct doc *value, const struct doc *was,
	struct doc **result)
{
	const struct type_rules *rules = draft->address->type->rules;
	struct pool *pool = draft->registry->pool;
	bool has_masks = hides_in(rules, top, value) && holds_url_password(doc_string(value), MASK);

	if (has_masks && !(was != NULL && doc_equal(value, masked(pool, rules, top, was))))
		return fail_masked(draft, top);
	*result = doc_copy(pool, has_masks ? was : value);
	return OUTCOME_OK;
}

// Copies the value, with each mask replaced by the stored secret. was: the stored value in this place, NULL: there is none.
static enum outcome restored(struct draft *draft, struct str top, const struct doc *value, const struct doc *was,
	struct doc **result)
{
	switch (doc_kind(value)) {
	case DOC_OBJECT:
		return restored_object(draft, top, value, was, result);
	case DOC_ARRAY:
		return restored_array(draft, top, value, was, result);
	default:
		return restored_text(draft, top, value, was, result);
	}
}

enum outcome secret_restore(struct draft *draft)
{
	const struct type_rules *rules = draft->address->type->rules;
	enum outcome outcome = OUTCOME_OK;

	if (rules->is_secret == NULL)
		return OUTCOME_OK;
	for (struct doc_iter it = doc_iter(draft->body); outcome == OUTCOME_OK && doc_next(&it);) {
		const struct doc *was = NULL;
		struct doc *member = NULL;
		if (!holds_secret(rules, it.name, it.value, MASK))
			continue;
		if (draft->before != NULL)
			doc_get(draft->before, it.name, &was);
		if (doc_equal(it.value, was))
			continue; // a mask that is stored itself
		outcome = restored(draft, it.name, it.value, was, &member);
		doc_set(draft->body, it.name, member);
	}
	return outcome;
}

// ---- JSON Patch

// Would masks in the value stand for secrets in that place? The place: tokens of a pointer, the first of which names the body's
// member.
static bool masks_secrets(const struct type_rules *rules, const struct str *tokens, size_t n, const struct doc *value)
{
	if (n > 0)
		return holds_secret(rules, tokens[0], value, MASK) || (is_mask(value) && is_secret(rules, tokens[0], tokens[n - 1], value));
	if (doc_kind(value) != DOC_OBJECT)
		return false;
	for (struct doc_iter it = doc_iter(value); doc_next(&it);) {
		if (holds_secret(rules, it.name, it.value, MASK))
			return true;
	}
	return false;
}

static bool may_carry(const struct doc_patch_rule *rule, const struct doc_carried *carried)
{
	const struct type_rules *rules = rule->arg;

	if (rules == NULL || rules->is_secret == NULL)
		return true;
	if (carried->moves && masks_secrets(rules, carried->from, carried->n_from, carried->value))
		return false;
	return !masks_secrets(rules, carried->path, carried->n_path, carried->value);
}

struct doc_patch_rule secret_patch_rule(const struct type_rules *rules)
{
	return (struct doc_patch_rule){
		.allows = may_carry,
		.why = "holds a secret, shown as \"" SECRET_MASK "\", which can't be moved, nor copied to the place of another: send its value",
		.arg = rules,
	};
}
