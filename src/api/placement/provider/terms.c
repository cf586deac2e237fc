// SPDX-License-Identifier: Apache-2.0
// The parameters member_of, required and resources. The texts of errors are those of OpenStack's service.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/placement/provider/terms.h"
#include "base/pool.h"

enum { SHOWN = 255 };

static enum outcome fail_many(const struct terms *terms, const char *name)
{
	return call_fail(terms->call, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: '%s' may have %d conditions at most", name, PROVIDER_MAX_TERMS);
}

static size_t count_items(struct str list)
{
	size_t n = 1;

	for (size_t i = 0; i < list.n; i++)
		n += list.p[i] == ',';
	return n;
}

// ---- member_of

static enum outcome fail_member_of(const struct terms *terms, struct str item)
{
	return call_fail(terms->call, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: Expected 'member_of' parameter to contain valid UUID(s). Got: %.*s",
		STR_HEAD_ARG(item, SHOWN));
}

enum outcome terms_take_member_of(struct terms *terms, struct str value)
{
	const struct str any = STR("in:");
	bool forbidden = str_starts(value, STR("!"));
	struct str list = str_part(value, forbidden ? 1 : 0, value.n), item;
	bool several = str_starts(list, any);
	struct uuid *aggregates;
	size_t n = 0;

	if (!several && str_find(list, ',', 0) < list.n)
		return call_fail(terms->call, OUTCOME_BAD_PARAMETER,
			"Multiple values for 'member_of' must be prefixed with the 'in:' or '!in:' keyword using the valid microversion. "
			"Got: %.*s", STR_HEAD_ARG(value, SHOWN));
	if (several)
		list = str_part(list, any.n, list.n);
	aggregates = POOL_ARRAY(terms->call->pool, struct uuid, count_items(list));
	while (str_split(&list, several ? ',' : '\0', &item)) {
		if (!placement_uuid_parse(item, &aggregates[n]))
			return fail_member_of(terms, item);
		n++;
	}
	if (n == 0)
		return fail_member_of(terms, STR(""));
	if (forbidden && terms->call->version < VERSION_MEMBER_OF_NONE)
		return call_fail(terms->call, OUTCOME_BAD_PARAMETER,
			"Forbidden member_of%.*s parameters are not supported in the specified microversion",
			STR_ARG(terms->suffix));
	if (terms->n_memberships == PROVIDER_MAX_TERMS)
		return fail_many(terms, "member_of");
	terms->memberships[terms->n_memberships++] = (struct provider_membership){ aggregates, n, forbidden };
	return OUTCOME_OK;
}

// ---- required

// form: the form that is expected. found: what is wrong with the value, after " Got"; "" if that is its form.
static enum outcome fail_required(const struct terms *terms, const char *form, const char *found, struct str value)
{
	return call_fail(terms->call, OUTCOME_BAD_PARAMETER,
		"Invalid query string parameters: Expected 'required' parameter value of the form: %s. Got%s: %.*s", form, found,
		STR_HEAD_ARG(value, SHOWN));
}

#define EMPTY_TRAIT " an empty trait in"

static enum outcome add_requirement(struct terms *terms, const struct str *traits, size_t n, bool forbidden)
{
	if (terms->n_requirements == PROVIDER_MAX_TERMS)
		return fail_many(terms, "required");
	terms->requirements[terms->n_requirements++] = (struct provider_requirement){ traits, n, forbidden };
	return OUTCOME_OK;
}

// Reads "in:A,B": at least one of these traits.
static enum outcome take_any(struct terms *terms, struct str value)
{
	struct str rest = str_part(value, STR("in:").n, value.n), item;
	struct str *traits = POOL_ARRAY(terms->call->pool, struct str, count_items(rest));
	size_t n = 0;

	if (terms->call->version < VERSION_REQUIRED_ANY)
		return call_fail(terms->call, OUTCOME_BAD_PARAMETER, "Invalid query string parameters: The format "
			"'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' only supported since microversion 1.39. Got: %.*s", STR_HEAD_ARG(value, SHOWN));
	while (str_split(&rest, ',', &item)) {
		traits[n] = str_trim(item);
		if (traits[n].n == 0)
			return fail_required(terms, "in:HW_CPU_X86_VMX,CUSTOM_MAGIC", EMPTY_TRAIT, value);
		if (traits[n].p[0] == '!')
			return call_fail(terms->call, OUTCOME_BAD_PARAMETER, "Invalid query string parameters: The format "
				"'in:HW_CPU_X86_VMX,CUSTOM_MAGIC' does not support forbidden traits. Got: %.*s", STR_HEAD_ARG(value, SHOWN));
		n++;
	}
	if (n == 0)
		return fail_required(terms, "in:HW_CPU_X86_VMX,CUSTOM_MAGIC", EMPTY_TRAIT, value);
	return add_requirement(terms, traits, n, false);
}

enum outcome terms_take_required(struct terms *terms, struct str value)
{
	struct str rest = value, item;
	struct str *traits = POOL_ARRAY(terms->call->pool, struct str, count_items(value));
	bool may_forbid = terms->call->version >= VERSION_FORBIDDEN;
	const char *form = may_forbid ? "HW_CPU_X86_VMX,!CUSTOM_MAGIC" : "HW_CPU_X86_VMX,CUSTOM_MAGIC";
	enum outcome outcome = OUTCOME_OK;

	if (str_starts(value, STR("in:")))
		return take_any(terms, value);
	if (value.n == 0)
		return fail_required(terms, form, EMPTY_TRAIT, value);
	for (size_t i = 0; outcome == OUTCOME_OK && str_split(&rest, ',', &item); i++) {
		item = str_trim(item);
		bool forbidden = str_starts(item, STR("!"));
		while (str_starts(item, STR("!"))) // OpenStack's service accepts more than one "!", too
			item = str_part(item, 1, item.n);
		traits[i] = item;
		if (item.n == 0)
			return fail_required(terms, form, EMPTY_TRAIT, value);
		if (forbidden && !may_forbid)
			return fail_required(terms, form, "", value);
		outcome = add_requirement(terms, &traits[i], 1, forbidden);
	}
	return outcome;
}

// ---- resources

#define RESOURCES_FORM \
	"Badly formed resources parameter. Expected resources query string parameter in form: " \
	"?resources=VCPU:2,MEMORY_MB:1024. Got: "

// Adds an amount of a class. If the class was named before, the later amount replaces the earlier.
static enum outcome add_demand(struct terms *terms, struct str class, uint64_t amount)
{
	size_t i = 0;

	while (i < terms->n_demands && !str_eq(terms->demands[i].class, class))
		i++;
	if (i == PROVIDER_MAX_TERMS)
		return fail_many(terms, "resources");
	terms->demands[i] = (struct provider_demand){ class, amount };
	terms->n_demands += i == terms->n_demands;
	return OUTCOME_OK;
}

// Reads a number of any length. If it exceeds 64 bits it becomes the largest number: both are more than any inventory has.
static bool read_amount(struct str text, uint64_t *amount)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	}
	if (!str_to_u64(text, amount))
		*amount = UINT64_MAX;
	return text.n > 0;
}

static enum outcome take_demand(struct terms *terms, struct str item)
{
	size_t colon = str_find(item, ':', 0);
	struct str class = str_part(item, 0, colon), text = str_part(item, colon + 1, item.n);
	bool negative = str_starts(text, STR("-"));
	uint64_t amount = 0;

	if (colon == item.n || str_find(text, ':', 0) < text.n)
		return call_fail(terms->call, OUTCOME_BAD_PARAMETER, RESOURCES_FORM "%.*s.", STR_HEAD_ARG(item, SHOWN));
	if (!read_amount(str_part(text, negative ? 1 : 0, text.n), &amount))
		return call_fail(terms->call, OUTCOME_BAD_PARAMETER,
			"Requested resource %.*s expected positive integer amount. Got: %.*s.", STR_HEAD_ARG(class, SHOWN),
			STR_HEAD_ARG(text, SHOWN));
	if (negative || amount < 1)
		return call_fail(terms->call, OUTCOME_BAD_PARAMETER, "Requested resource %.*s requires amount >= 1. Got: %.*s.",
			STR_HEAD_ARG(class, SHOWN), STR_HEAD_ARG(text, SHOWN));
	return add_demand(terms, class, amount);
}

enum outcome terms_take_resources(struct terms *terms, struct str value)
{
	struct str rest = value, item;
	enum outcome outcome = OUTCOME_OK;

	terms->n_demands = 0;
	if (str_trim(value).n == 0)
		return call_fail(terms->call, OUTCOME_BAD_PARAMETER, RESOURCES_FORM "empty string.");
	while (outcome == OUTCOME_OK && str_split(&rest, ',', &item))
		outcome = take_demand(terms, item);
	return outcome;
}
