// SPDX-License-Identifier: Apache-2.0
// DeleteOptions, from a DELETE's body or query. An option that is not understood must not lead to a deletion, so all of them must
// be valid, even those that have no effect here.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/object/object.h"
#include "base/pool.h"
#include "http/uri.h"

// ---- preconditions

static enum outcome check_precondition(struct call *call, const struct doc *preconditions, const char *name,
	const char *title, struct str is)
{
	const struct doc *value;

	if (!doc_get(preconditions, str_c(name), &value) || value == NULL)
		return OUTCOME_OK;
	if (doc_kind(value) == DOC_STRING && str_eq(doc_string(value), is))
		return OUTCOME_OK;
	return call_fail(call, OUTCOME_CONFLICT,
		"Precondition failed: %s in precondition differs from that of the object, %.*s", title, STR_ARG(is));
}

// The argument of a guard's check_version().
struct preconditions {
	struct call *call;
	const struct doc *wanted;
};

static enum outcome check_version(void *arg, struct uuid uid, uint64_t changed)
{
	const struct preconditions *preconditions = arg;
	struct call *call = preconditions->call;
	enum outcome outcome = check_precondition(call, preconditions->wanted, "uid", "UID", uuid_str(call->pool, uid));

	if (outcome == OUTCOME_OK)
		outcome = check_precondition(call, preconditions->wanted, "resourceVersion", "ResourceVersion",
			str_printf(call->pool, "%llu", (unsigned long long)changed));
	return outcome;
}

static enum outcome read_preconditions(struct call *call, const struct doc *options, struct guard *guard)
{
	static const char *const names[] = { "uid", "resourceVersion" };
	struct preconditions *preconditions = POOL_NEW(call->pool, struct preconditions);
	const struct doc *wanted, *value;

	if (!doc_get(options, STR("preconditions"), &wanted) || wanted == NULL)
		return OUTCOME_OK;
	if (doc_kind(wanted) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "preconditions must be an object with uid, resourceVersion or both");
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (doc_get(wanted, str_c(names[i]), &value) && value != NULL && doc_kind(value) != DOC_STRING)
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "preconditions.%s must be a string", names[i]);
	*preconditions = (struct preconditions){ call, wanted };
	guard->check_version = check_version;
	guard->version_arg = preconditions;
	if (doc_get(wanted, STR("resourceVersion"), &value) && value != NULL)
		guard->prevents_lost_update = true;
	return OUTCOME_OK;
}

// ---- the options

static enum outcome read_dry_run_option(struct call *call, const struct doc *options, struct field_faults *faults)
{
	static const char *const supported[] = { "All", NULL };
	const struct field_path at = field_name(NULL, STR("dryRun"));
	const struct doc *list = NULL;

	if (!doc_get(options, STR("dryRun"), &list) || list == NULL)
		return OUTCOME_OK;
	if (doc_kind(list) != DOC_ARRAY)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "dryRun must be [\"All\"] or []");
	for (size_t i = 0; i < doc_length(list); i++) {
		const struct field_path item = field_index(&at, i);
		if (doc_kind(doc_at(list, i)) != DOC_STRING)
			return call_fail(call, OUTCOME_BAD_DOCUMENT, "dryRun must be [\"All\"] or []");
		if (!str_eq(doc_string(doc_at(list, i)), STR("All")))
			field_not_supported(faults, &item, doc_string(doc_at(list, i)), supported);
	}
	call->dry_run = call->dry_run || doc_length(list) > 0;
	return OUTCOME_OK;
}

static void check_policy(struct str policy, bool orphans_said, struct field_faults *faults)
{
	static const char *const supported[] = { "Foreground", "Background", "Orphan", NULL };
	const struct field_path at = field_name(NULL, STR("propagationPolicy"));

	if (orphans_said)
		field_invalid_text(faults, &at, policy, "orphanDependents and deletionPropagation cannot be both set");
	for (size_t i = 0; supported[i] != NULL; i++)
		if (str_eq_c(policy, supported[i]))
			return;
	field_not_supported(faults, &at, policy, supported);
}

static void warn_of_grace(struct call *call)
{
	response_add(&call->response, "Warning",
		STR("299 - \"gracePeriodSeconds is ignored: nothing runs here that would need time to end\""));
}

static enum outcome read_body_options(struct call *call, const struct doc *options, struct field_faults *faults)
{
	const struct doc *kind = NULL, *grace = NULL, *orphans = NULL, *policy = NULL;
	int64_t seconds;

	if (doc_get(options, STR("kind"), &kind) && kind != NULL &&
		!(doc_kind(kind) == DOC_STRING && str_eq(doc_string(kind), STR("DeleteOptions"))))
		return call_fail(call, OUTCOME_BAD_REQUEST,
			"the kind in the data does not match the expected kind (DeleteOptions)");
	if (doc_get(options, STR("gracePeriodSeconds"), &grace) && grace != NULL &&
		!(doc_kind(grace) == DOC_NUMBER && doc_i64(grace, &seconds)))
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "gracePeriodSeconds must be an integer");
	if (doc_get(options, STR("orphanDependents"), &orphans) && orphans != NULL && doc_kind(orphans) != DOC_BOOL)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "orphanDependents must be true or false");
	if (doc_get(options, STR("propagationPolicy"), &policy) && policy != NULL && doc_kind(policy) != DOC_STRING)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "propagationPolicy must be a string");
	if (policy != NULL)
		check_policy(doc_string(policy), orphans != NULL, faults);
	if (grace != NULL)
		warn_of_grace(call);
	return read_dry_run_option(call, options, faults);
}

static enum outcome read_query_options(struct call *call, struct field_faults *faults)
{
	const struct uri *uri = &call->request.uri;
	struct str grace = STR(""), policy = STR("");
	uint64_t seconds;

	(void)uri_query(uri, STR("gracePeriodSeconds"), &grace);
	(void)uri_query(uri, STR("propagationPolicy"), &policy);
	if (grace.n > 0 && !str_to_u64(str_part(grace, grace.p[0] == '-' ? 1 : 0, grace.n), &seconds))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "gracePeriodSeconds must be an integer");
	if (policy.n > 0)
		check_policy(policy, spaces_query_has(call, "orphanDependents"), faults);
	if (grace.n > 0)
		warn_of_grace(call);
	return OUTCOME_OK;
}

enum outcome object_read_delete_options(struct call *call, struct guard *guard)
{
	struct field_faults faults = field_faults_new(call->pool);
	struct doc *options;
	enum outcome outcome = object_read_json(call, &options);

	if (outcome == OUTCOME_OK && options != NULL && doc_kind(options) != DOC_OBJECT)
		return call_fail(call, OUTCOME_BAD_DOCUMENT, "the body must be DeleteOptions, an object");
	if (outcome == OUTCOME_OK)
		outcome = options != NULL ? read_body_options(call, options, &faults) : read_query_options(call, &faults);
	if (outcome == OUTCOME_OK && options != NULL)
		outcome = read_preconditions(call, options, guard);
	if (outcome == OUTCOME_OK && faults.n > 0)
		return spaces_fail_invalid(call, NULL, STR(""), &faults);
	return outcome;
}
