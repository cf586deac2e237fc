// SPDX-License-Identifier: Apache-2.0
// Providers in addresses, and the preconditions of writes.
#include "base/base.h"

#include "api/placement/common/placement.h"
#include "api/placement/provider/provider.h"

enum { SHOWN = 255 };

enum outcome provider_uid(struct call *call, struct uuid *uid)
{
	struct str text = call_param(call, "uuid");

	if (uuid_parse(text, uid))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_NOT_FOUND, "No resource provider with uuid %.*s found%s",
		STR_HEAD_ARG(text, SHOWN), call->request.method == METHOD_DELETE ? " for delete" : "");
}

enum outcome provider_read_body(struct call *call, const struct uuid *uid, const struct json_schema *schema,
	const struct doc **body)
{
	struct provider provider;
	enum outcome outcome = placement_read_body(call, schema, body);

	if (outcome != OUTCOME_BAD_DOCUMENT)
		return outcome;
	struct problem problem = call->problem;
	enum outcome found = provider_get(call->registry, uid, &provider);
	if (found != OUTCOME_OK)
		return found; // call->problem says that there is no such provider
	call->problem = problem;
	return outcome;
}

enum outcome provider_read_guard(struct call *call, const struct doc *body, struct conditions *conditions,
	struct provider_guard *guard)
{
	const struct doc *value;
	enum outcome outcome = conditions_read(call, conditions);

	*guard = (struct provider_guard){ .guard = conditions_guard(conditions) };
	if (outcome != OUTCOME_OK || body == NULL || !doc_get(body, STR("resource_provider_generation"), &value))
		return outcome;
	guard->has_generation = true;
	guard->generation = placement_member_generation(body, "resource_provider_generation");
	return OUTCOME_OK;
}
