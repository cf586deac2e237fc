// SPDX-License-Identifier: Apache-2.0
// Parameters of the query. Unknown parameters are ignored.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "base/pool.h"
#include "http/uri.h"
#include "registry/core/failure.h"
#include "registry/log/selectable.h"

enum outcome spaces_read_dry_run(struct call *call)
{
	const struct field_path at = field_name(NULL, STR("dryRun"));
	static const char *const supported[] = { "All", NULL };
	const struct uri *uri = &call->request.uri;

	call->dry_run = false;
	for (size_t i = 0; i < uri->n_pairs; i++) {
		if (!str_eq(uri->pairs[i].name, STR("dryRun")) || uri->pairs[i].value.n == 0)
			continue;
		if (!str_eq(uri->pairs[i].value, STR("All"))) {
			struct field_faults faults = field_faults_new(call->pool);
			field_not_supported(&faults, &at, uri->pairs[i].value, supported);
			return spaces_fail_invalid(call, NULL, STR(""), &faults);
		}
		call->dry_run = true;
	}
	return OUTCOME_OK;
}

enum { MANAGER_MAX = 128 };

enum outcome spaces_read_field_manager(struct call *call)
{
	const struct field_path at = field_name(NULL, STR("fieldManager"));
	struct field_faults faults = field_faults_new(call->pool);
	struct str name = STR("");

	(void)uri_query(&call->request.uri, STR("fieldManager"), &name);
	if (name.n > MANAGER_MAX)
		field_fault_add(&faults, &at, FIELD_TOO_LONG, STR_NONE, "may not be longer than %d", MANAGER_MAX);
	for (size_t i = 0; i < name.n && faults.n == 0; i++)
		if ((unsigned char)name.p[i] < ' ' || name.p[i] == 0x7f)
			field_invalid_text(&faults, &at, name, "should only contain printable characters");
	return faults.n == 0 ? OUTCOME_OK : spaces_fail_invalid(call, NULL, STR(""), &faults);
}

// ---- resourceVersion

static enum outcome fail_not_yet(struct call *call, uint64_t asked, uint64_t newest)
{
	const struct about nothing = { STR(""), STR(""), STR("") };
	struct problem_cause *cause = POOL_NEW(call->pool, struct problem_cause);

	spaces_fail_about(call, OUTCOME_NOT_YET, &nothing,
		"Too large resource version: %llu, current: %llu; give one that an answer had, or none",
		(unsigned long long)asked, (unsigned long long)newest);
	*cause = (struct problem_cause){ "ResourceVersionTooLarge", STR(""), STR("Too large resource version") };
	call->problem.causes = cause;
	call->problem.n_causes = 1;
	return OUTCOME_NOT_YET;
}

// Reads always return the present state, so only a version that does not exist yet is refused.
enum outcome spaces_read_version(struct call *call, uint64_t *version)
{
	struct str text;
	uint64_t asked = 0, newest;

	*version = 0;
	if (!uri_query(&call->request.uri, STR("resourceVersion"), &text) || text.n == 0)
		return OUTCOME_OK;
	if (!str_to_u64(text, &asked))
		return call_fail(call, OUTCOME_BAD_PARAMETER,
			"resourceVersion must be a number: metadata.resourceVersion of an object or a list, or 0 for any");
	*version = asked;
	if (asked == 0)
		return OUTCOME_OK;
	enum outcome outcome = horizon_read(call->registry, NULL, &newest);
	return outcome == OUTCOME_OK && asked > newest ? fail_not_yet(call, asked, newest) : outcome;
}

static struct str query_text(const struct call *call, const char *name)
{
	struct str text = STR("");

	(void)uri_query(&call->request.uri, str_c(name), &text);
	return text;
}

static void check_list_match(const struct call *call, struct str match, struct field_faults *faults)
{
	const struct field_path at = field_name(NULL, STR("resourceVersionMatch"));
	struct str version = query_text(call, "resourceVersion");

	if (match.n > 0 && version.n == 0)
		field_forbidden(faults, &at, "resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (str_eq(match, STR("Exact")) && str_eq(version, STR("0")))
		field_forbidden(faults, &at, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

static void check_watch_match(bool tells_initial, struct str match, struct field_faults *faults)
{
	const struct field_path at = field_name(NULL, STR("resourceVersionMatch"));

	if (tells_initial && !str_eq(match, STR("NotOlderThan")))
		field_forbidden(faults, &at, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
	else if (!tells_initial && match.n > 0)
		field_forbidden(faults, &at, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
}

enum outcome spaces_read_version_match(struct call *call, bool watch, enum version_match *match)
{
	static const char *const supported[] = { "Exact", "NotOlderThan", NULL };
	const struct field_path at = field_name(NULL, STR("resourceVersionMatch"));
	const struct field_path initial = field_name(NULL, STR("sendInitialEvents"));
	struct field_faults faults = field_faults_new(call->pool);
	struct str text = query_text(call, "resourceVersionMatch");
	bool tells_initial = spaces_query_has(call, "sendInitialEvents");

	*match = str_eq(text, STR("Exact")) ? MATCH_EXACT : text.n > 0 ? MATCH_NOT_OLDER : MATCH_ANY;
	if (*match == MATCH_NOT_OLDER && !str_eq(text, STR("NotOlderThan")))
		field_not_supported(&faults, &at, text, supported);
	if (text.n > 0 && query_text(call, "continue").n > 0)
		field_forbidden(&faults, &at, "resourceVersionMatch is forbidden when continue is provided");
	if (!watch && tells_initial)
		field_forbidden(&faults, &initial, "sendInitialEvents is forbidden for list");
	if (watch)
		check_watch_match(tells_initial, text, &faults);
	else
		check_list_match(call, text, &faults);
	return faults.n > 0 ? spaces_fail_invalid(call, NULL, STR(""), &faults) : OUTCOME_OK;
}

// ---- selectors

enum outcome selection_read(struct call *call, const struct target *target, struct choice *choice)
{
	const struct uri *uri = &call->request.uri;
	struct str label_text = STR(""), field_text = STR(""), error;

	(void)uri_query(uri, STR("labelSelector"), &label_text);
	(void)uri_query(uri, STR("fieldSelector"), &field_text);
	if (!label_selector_parse(call->pool, label_text, &choice->labels, &error) ||
		!field_selector_parse(call->pool, field_text, selectable_fields(target->definition->type), &choice->fields,
		&error))
		return call_fail(call, OUTCOME_BAD_PARAMETER, "%.*s", STR_ARG(error));
	choice->all = label_selector_is_empty(choice->labels) && field_selector_is_empty(choice->fields);
	choice->name = field_selector_value(choice->fields, "metadata.name");
	return OUTCOME_OK;
}

bool selection_can_vary(const struct choice *choice)
{
	return !choice->all && (!label_selector_is_empty(choice->labels) || field_selector_varies(choice->fields));
}

bool selection_matches(const struct choice *choice, struct pool *pool, struct stored_place place, struct str object)
{
	const struct doc *metadata = NULL, *labels = NULL, *doc;

	if (choice->all)
		return true;
	doc = stored_document(pool, place, object);
	if (doc_get(doc, STR("metadata"), &metadata))
		(void)doc_get(metadata, STR("labels"), &labels);
	return label_selector_matches(choice->labels, labels) && field_selector_matches(choice->fields, doc);
}
