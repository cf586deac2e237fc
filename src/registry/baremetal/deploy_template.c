// SPDX-License-Identifier: Apache-2.0
// The rules of deploy templates: named lists of steps of a deployment. They belong to the operator. A node's deployment takes
// those whose names are traits of the instance; nothing deploys here, so they are only stored.
#include "base/base.h"

#include "base/pool.h"
#include "registry/baremetal/internal.h"
#include "registry/baremetal/rules.h"
#include "registry/core/failure.h"
#include "registry/trait/catalogue.h"
#include "repr/json/doc.h"

static const char *const step_members[] = { "interface", "step", "args", "priority", NULL };
// The interfaces that have deploy steps.
static const char *const step_interfaces[] = { "vendor", "power", "management", "deploy", "bios", "raid", NULL };

// ---- the name

// The name is the name of a trait: any custom one, or a standard one of the catalogue.
static enum outcome check_name(struct draft *draft)
{
	struct str name = baremetal_text(draft->body, "name");
	struct trait trait;
	enum outcome outcome = OUTCOME_NOT_FOUND;

	if (trait_is_custom(name))
		return OUTCOME_OK;
	if (trait_is_name(name))
		outcome = trait_get(draft->registry, name, &trait);
	if (outcome != OUTCOME_NOT_FOUND)
		return outcome;
	struct str excerpt = baremetal_excerpt(draft->registry->pool, name);
	return baremetal_fail_schema(draft, "the name of a deploy template must be a valid trait, and '%.*s' is none: it is CUSTOM_ "
		"and characters of A-Z 0-9 _ behind it, or a standard trait", STR_ARG(excerpt));
}

// ---- the steps

static enum outcome check_step_members(struct draft *draft, const struct doc *step)
{
	struct pool *pool = draft->registry->pool;
	const struct doc *value;

	if (doc_kind(step) != DOC_OBJECT) {
		struct str known = baremetal_list(pool, step_members);
		return baremetal_fail_schema(draft, "each of the steps has to be an object with the members %.*s",
			STR_ARG(known));
	}
	for (struct doc_iter it = doc_iter(step); doc_next(&it);) {
		if (!baremetal_among(step_members, it.name)) {
			struct str excerpt = baremetal_excerpt(pool, it.name);
			struct str known = baremetal_list(pool, step_members);
			return baremetal_fail_schema(draft, "steps: Additional properties are not allowed ('%.*s' was unexpected); "
				"these are: %.*s", STR_ARG(excerpt), STR_ARG(known));
		}
	}
	for (const char *const *name = step_members; *name != NULL; name++) {
		if (!doc_get(step, str_c(*name), &value))
			return baremetal_fail_schema(draft, "steps: '%s' is a required property", *name);
	}
	return OUTCOME_OK;
}

// *result: the step as it is stored, its priority a number.
static enum outcome take_step(struct draft *draft, const struct doc *step, struct doc **result)
{
	struct pool *pool = draft->registry->pool;
	const struct doc *args, *priority;
	uint64_t number;
	enum outcome outcome = check_step_members(draft, step);

	if (outcome != OUTCOME_OK)
		return outcome;
	struct str interface = baremetal_text(step, "interface"), name = baremetal_text(step, "step");
	doc_get(step, STR("args"), &args);
	doc_get(step, STR("priority"), &priority);
	if (interface.p == NULL || !baremetal_among(step_interfaces, interface)) {
		struct str known = baremetal_list(pool, step_interfaces);
		return baremetal_fail_schema(draft, "steps: interface is one of %.*s", STR_ARG(known));
	}
	if (name.n == 0)
		return baremetal_fail_schema(draft, "steps: step has to be a string with at least one character");
	if (doc_kind(args) != DOC_OBJECT)
		return baremetal_fail_schema(draft, "steps: args has to be an object");
	if (!baremetal_step_priority(priority, &number) || number > INT32_MAX)
		return baremetal_fail_schema(draft, "steps: priority has to be a whole number from 0 to %d", INT32_MAX);
	*result = doc_new_object(pool);
	doc_set_str(pool, *result, "interface", interface);
	doc_set_str(pool, *result, "step", name);
	doc_set(*result, STR("args"), doc_copy(pool, args));
	doc_set_u64(pool, *result, "priority", number);
	return OUTCOME_OK;
}

struct step_name {
	struct str interface, step;
};

static int by_name(const void *a, const void *b)
{
	const struct step_name *one = a, *other = b;
	int order = str_cmp(one->interface, other->interface);

	return order != 0 ? order : str_cmp(one->step, other->step);
}

// A step may be in the list once.
static enum outcome check_twice(struct draft *draft, const struct doc *steps)
{
	struct pool *pool = draft->registry->pool;
	size_t n = doc_length(steps);
	struct step_name *names = POOL_ARRAY(pool, struct step_name, n);

	for (size_t i = 0; i < n; i++)
		names[i] = (struct step_name){ baremetal_text(doc_at(steps, i), "interface"), baremetal_text(doc_at(steps, i),
			"step") };
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 1; i < n; i++) {
		if (by_name(&names[i - 1], &names[i]) == 0) {
			struct str excerpt = baremetal_excerpt(pool, names[i].step);
			return registry_fail(draft->registry, OUTCOME_BAD_DOCUMENT,
				"Deploy template invalid: Duplicate deploy steps. A deploy template cannot have multiple deploy "
				"steps with the same interface and step. Duplicates: interface: %.*s, step: %.*s.",
				STR_ARG(names[i].interface), STR_ARG(excerpt));
		}
	}
	return OUTCOME_OK;
}

static enum outcome check_steps(struct draft *draft)
{
	struct doc *taken = doc_new_array(draft->registry->pool);
	const struct doc *steps;
	enum outcome outcome = OUTCOME_OK;

	doc_get(draft->body, STR("steps"), &steps);
	if (doc_length(steps) == 0)
		return baremetal_fail_schema(draft, "steps has to have at least one step");
	for (size_t i = 0; outcome == OUTCOME_OK && i < doc_length(steps); i++) {
		struct doc *step = NULL;
		outcome = take_step(draft, doc_at(steps, i), &step);
		doc_push(taken, step);
	}
	if (outcome != OUTCOME_OK)
		return outcome;
	baremetal_set(draft, "steps", taken);
	return check_twice(draft, taken);
}

// ---- the rules

static enum outcome complete(struct draft *draft)
{
	enum outcome outcome = baremetal_normalise(draft, baremetal_template_members);

	if (outcome == OUTCOME_OK)
		outcome = check_name(draft);
	return outcome == OUTCOME_OK ? check_steps(draft) : outcome;
}

static void relate(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations)
{
	UNUSED(pool);
	UNUSED(uid);
	*relations = (struct relations){ 0 };
	baremetal_add_key("name", baremetal_text(body, "name"), relations);
}

// The arguments of a step can have secrets.
static bool is_secret(struct str top, struct str name)
{
	return str_eq(top, STR("steps")) && baremetal_names_secret(name);
}

static bool hides_url_passwords(struct str top)
{
	return str_eq(top, STR("steps"));
}

static enum outcome taken(struct registry *registry, const struct uuid *uid, const struct lookup_key *key)
{
	return baremetal_fail_taken(registry, &deploy_template_rules, uid, key);
}

const struct type_rules deploy_template_rules = {
	.group = BAREMETAL_GROUP,
	.plural = "deploytemplates",
	.noun = "deploy template",
	.title = "Deploy template",
	.of_system = true,
	.complete = complete,
	.relate = relate,
	.is_secret = is_secret,
	.hides_url_passwords = hides_url_passwords,
	.taken = taken,
};
