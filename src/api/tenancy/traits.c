// SPDX-License-Identifier: Apache-2.0
// Traits of a resource at …/{name}/traits, and lists of resources with certain traits.
#include "base/base.h"

#include "api/conditions.h"
#include "api/tenancy/tenancy.h"
#include "base/pool.h"
#include "registry/resource/traits.h"
#include "registry/tags/etag.h"
#include "registry/trait/trait.h"

static void write_traits(struct call *call, const struct resource *resource)
{
	struct pool *pool = call->pool;
	struct doc *doc = doc_new_object(pool);

	doc_set(doc, STR("traits"), resource_traits_doc(pool, resource));
	conditions_set_etag(call, etag_shown(call->registry, resource));
	call_write(call, &traits_document, doc);
}

enum outcome get_resource_traits(struct call *call)
{
	return tenancy_show_resource(call, STR("/traits"), write_traits);
}

// An operator creates a custom trait by giving it to a resource; other callers can only use traits of the catalogue.
static enum outcome change(struct call *call, const struct address *address, struct conditions *conditions,
	struct trait_edit edit, struct resource *resource)
{
	edit.makes_custom = call->who.role == ROLE_OPERATOR;
	return resource_change_traits_at(call->registry, address, &edit, conditions_guard(conditions), resource);
}

enum outcome put_resource_traits(struct call *call)
{
	struct address address;
	struct conditions conditions;
	struct resource resource;
	struct doc *document;
	const struct doc *list = NULL;
	enum outcome outcome = tenancy_begin_change(call, true, &address, &conditions);

	if (outcome == OUTCOME_OK)
		outcome = call_read(call, &traits_document, &document);
	if (outcome != OUTCOME_OK)
		return outcome;
	// In XML an empty list has no element; in JSON a missing list is taken for a mistake.
	if (document == NULL || (!doc_get(document, STR("traits"), &list) && call->consume == REPR_JSON))
		return call_fail(call, OUTCOME_BAD_DOCUMENT,
			"a body is needed: {\"traits\": [\"HW_A\", \"HW_B\"]} or its XML form");
	struct str *names = POOL_ARRAY(call->pool, struct str, doc_length(list));
	for (size_t i = 0; i < doc_length(list); i++)
		names[i] = doc_string(doc_at(list, i));
	struct trait_edit edit = { .change = TRAITS_SET, .names = names, .n = doc_length(list) };
	outcome = change(call, &address, &conditions, edit, &resource);
	if (outcome == OUTCOME_OK)
		write_traits(call, &resource);
	return tenancy_answer_moved(call, outcome, &address, &resource, STR("/traits"));
}

static enum outcome change_one(struct call *call, enum trait_change what)
{
	struct address address;
	struct conditions conditions;
	struct resource resource;
	struct str name = call_param(call, "trait");
	enum outcome outcome = tenancy_begin_change(call, true, &address, &conditions);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct trait_edit edit = { .change = what, .names = &name, .n = 1 };
	outcome = change(call, &address, &conditions, edit, &resource);
	if (outcome != OUTCOME_OK)
		return tenancy_answer_moved(call, outcome, &address, &resource,
			str_printf(call->pool, "/traits/%.*s", STR_ARG(name)));
	conditions_set_etag(call, etag_shown(call->registry, &resource));
	return OUTCOME_NO_CONTENT;
}

enum outcome put_resource_trait(struct call *call)
{
	return change_one(call, TRAITS_ADD);
}

enum outcome delete_resource_trait(struct call *call)
{
	return change_one(call, TRAITS_REMOVE);
}

// ---- lists

// The largest number of names that the values of that parameter can contain.
static size_t count_names(const struct call *call, const char *param)
{
	size_t n = 0;

	for (size_t i = 0; i < call->match.n; i++) {
		struct str rest = call->match.values[i].value, item;
		if (strcmp(call->match.values[i].name, param) != 0)
			continue;
		while (str_split(&rest, ',', &item))
			n++;
	}
	return n;
}

struct names {
	struct str *at;
	size_t n;
};

static enum outcome add_name(struct call *call, struct str name, const char *param, struct names *names)
{
	if (!trait_is_name(name))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			strcmp(param, "required") == 0
				? "required is a list like HW_A,!HW_B, of traits to have and not to have, or in:HW_A,HW_B, to have one of them"
				: "%s is a list like HW_A,HW_B, of traits not to have",
			param);
	names->at[names->n++] = name;
	return OUTCOME_OK;
}

static enum outcome add_group(struct call *call, struct str list, struct trait_group *groups, size_t *n)
{
	struct names names = { .at = POOL_ARRAY(call->pool, struct str, count_names(call, "required")) };
	enum outcome outcome = OUTCOME_OK;
	struct str item;

	if (*n == TRAIT_GROUPS_MAX)
		return call_fail(call, OUTCOME_BAD_PARAMETER, "required=in: may be given %d times at most", TRAIT_GROUPS_MAX);
	while (outcome == OUTCOME_OK && str_split(&list, ',', &item))
		outcome = add_name(call, item, "required", &names);
	groups[(*n)++] = (struct trait_group){ names.at, names.n };
	return outcome;
}

static enum outcome add_plain(struct call *call, struct str list, const char *param, struct names *required,
	struct names *forbidden)
{
	bool may_require = strcmp(param, "required") == 0;
	enum outcome outcome = OUTCOME_OK;
	struct str item;

	while (outcome == OUTCOME_OK && str_split(&list, ',', &item)) {
		bool negated = may_require && str_starts(item, STR("!"));
		outcome = add_name(call, negated ? str_part(item, 1, item.n) : item, param,
			negated || !may_require ? forbidden : required);
	}
	return outcome;
}

enum outcome tenancy_read_trait_filter(struct call *call, const struct trait_filter **filter)
{
	size_t n_required = count_names(call, "required"), n_forbidden = count_names(call, "forbidden");
	struct names required = { .at = POOL_ARRAY(call->pool, struct str, n_required) };
	struct names forbidden = { .at = POOL_ARRAY(call->pool, struct str, n_required + n_forbidden) };
	struct trait_group *groups = POOL_ARRAY(call->pool, struct trait_group, TRAIT_GROUPS_MAX);
	struct trait_filter *result = POOL_NEW(call->pool, struct trait_filter);
	enum outcome outcome = OUTCOME_OK;
	struct str in = STR("in:");

	*filter = NULL;
	for (size_t i = 0; outcome == OUTCOME_OK && i < call->match.n; i++) {
		const char *param = call->match.values[i].name;
		struct str value = call->match.values[i].value;
		if (strcmp(param, "required") == 0 && str_starts(value, in))
			outcome = add_group(call, str_part(value, in.n, value.n), groups, &result->n_any);
		else if (strcmp(param, "required") == 0 || strcmp(param, "forbidden") == 0)
			outcome = add_plain(call, value, param, &required, &forbidden);
	}
	result->required = required.at;
	result->n_required = required.n;
	result->forbidden = forbidden.at;
	result->n_forbidden = forbidden.n;
	result->any = groups;
	if (required.n + forbidden.n + result->n_any > 0)
		*filter = result;
	return outcome;
}
