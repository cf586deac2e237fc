// SPDX-License-Identifier: Apache-2.0
// Tenure's own extension: a trait's description, and whether it is deprecated.
#include "base/base.h"

#include "api/placement/catalogue/catalogue.h"
#include "api/placement/common/placement.h"
#include "api/placement/common/schema.h"
#include "registry/trait/catalogue.h"

static const struct json_schema description_string = { .types = SCHEMA_STRING, .max_length = TRAIT_MAX_DESCRIPTION };
static const struct json_schema boolean = { .types = SCHEMA_BOOLEAN };
static const struct json_property about_members[] = {
	{ "description", &description_string }, { "deprecated", &boolean }, { NULL, NULL },
};
static const struct json_schema about_schema = { .types = SCHEMA_OBJECT, .properties = about_members, .closed = true };

static void write_about(struct call *call, const struct trait *trait)
{
	struct buf json = buf_new(call->pool, 256 + trait->description.n);

	buf_addc(&json, '{');
	placement_add_string(&json, "name", trait->name);
	placement_add_bool(&json, "standard", !trait_is_custom(trait->name));
	placement_add_string(&json, "description", trait->description);
	placement_add_bool(&json, "deprecated", trait->deprecated);
	buf_addc(&json, '}');
	placement_answer_json(call, &json);
	placement_answer_cache_headers(call, trait->updated_us);
}

enum outcome get_trait_about(struct call *call)
{
	struct trait trait;
	enum outcome outcome = placement_find_trait(call, &trait);

	if (outcome == OUTCOME_OK)
		write_about(call, &trait);
	return outcome;
}

// Members that the body leaves out keep their values.
enum outcome put_trait_about(struct call *call)
{
	struct str name = call_param(call, "name");
	struct trait_about about = { .sets_description = false };
	struct trait trait;
	const struct doc *body, *value;
	enum outcome outcome = placement_read_body(call, &about_schema, &body);

	if (outcome != OUTCOME_OK)
		return outcome;
	about.sets_description = doc_get(body, STR("description"), &value);
	if (about.sets_description)
		about.description = doc_string(value);
	about.sets_deprecated = doc_get(body, STR("deprecated"), &value);
	if (about.sets_deprecated)
		about.deprecated = doc_bool(value);
	outcome = trait_describe(call->registry, name, &about, &trait);
	if (outcome == OUTCOME_OK)
		write_about(call, &trait);
	return outcome == OUTCOME_NOT_FOUND ? placement_fail_no_trait(call, name) : outcome;
}
