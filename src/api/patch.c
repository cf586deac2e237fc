// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "api/patch.h"
#include "api/settings.h"
#include "http/media.h"
#include "registry/core/settings.h"
#include "registry/resource/secret.h"

// The shortest value has one byte of text and a comma: a limit like that of call_read().
enum { BYTES_PER_NODE = 2 };

const struct repr_document any_document = { .body = { .name = NULL, .kind = SHAPE_ANY } };

enum outcome patch_read_body(struct call *call, enum edit_kind *kind, struct doc **patch)
{
	struct str error;
	enum outcome outcome = call_read(call, &any_document, patch);

	if (outcome != OUTCOME_OK)
		return outcome;
	*kind = media_is(str_c(call->consume_type), "application/json-patch+json") ? EDIT_JSON_PATCH : EDIT_MERGE_PATCH;
	if (*kind == EDIT_JSON_PATCH && !doc_json_patch_check(call->pool, *patch, &error))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "%.*s", STR_ARG(error));
	return OUTCOME_OK;
}

bool patch_result(struct call *call, enum edit_kind kind, const struct type_rules *rules, const struct doc *whole,
	const struct doc *patch, const struct doc **result, struct str *error)
{
	const struct doc_limits limits = {
		.depth = api_settings(call->config)->max_depth,
		.nodes = (size_t)registry_settings(call->config)->max_body / BYTES_PER_NODE + 1,
	};
	const struct doc_patch_rule rule = secret_patch_rule(rules);
	struct doc *patched = NULL;

	if (kind == EDIT_MERGE_PATCH) {
		*result = doc_merge_patch(call->pool, whole, patch);
		return true;
	}
	if (!doc_json_patch_ruled(call->pool, whole, patch, limits, &rule, &patched, error))
		return false;
	*result = patched;
	return true;
}

enum outcome patch_apply(struct call *call, enum edit_kind kind, const struct type_rules *rules, const struct doc *whole,
	const struct doc *patch, const struct doc **result)
{
	struct str error;

	if (patch_result(call, kind, rules, whole, patch, result, &error))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_CONFLICT, "the patch does not fit what is there, and nothing was changed: %.*s",
		STR_ARG(error));
}
