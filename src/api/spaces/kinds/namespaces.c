// SPDX-License-Identifier: Apache-2.0
// The status of a namespace: the registry knows its phase; clients set its conditions, which are stored.
#include "base/base.h"

#include "api/documents.h"
#include "api/namespace_status.h"
#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "base/buf.h"
#include "base/pool.h"
#include "types/common/checks.h"

static struct str phase_of(const struct resource *resource)
{
	return resource->deletion_requested_us != 0 ? STR("Terminating") : STR("Active");
}

void kind_add_namespace_status(struct pool *pool, const struct resource *resource, struct str body, struct buf *out)
{
	const struct doc *conditions = NULL;

	BUF_LIT(out, ",\"status\":{\"phase\":\"");
	buf_add(out, phase_of(resource));
	buf_addc(out, '"');
	if (memmem(body.p, body.n, "\"conditions\"", 12) != NULL)
		conditions = namespace_status_shown(pool, resource, stored_document(pool, resource_place(resource, "body"), body));
	if (conditions != NULL) {
		BUF_LIT(out, ",\"conditions\":");
		doc_write_json(conditions, out);
	}
	buf_addc(out, '}');
}

// ---- writes

// Is it "kubernetes" or of the form "example.com/name"?
static bool is_finalizer(const struct doc *value)
{
	return doc_kind(value) == DOC_STRING && (str_eq(doc_string(value), STR("kubernetes")) ||
		(kind_is_label_key(doc_string(value)) && str_find(doc_string(value), '/', 0) < doc_string(value).n));
}

enum outcome kind_read_namespace_spec(const struct change_of_object *change, const struct doc *body)
{
	const struct field_path up = field_name(NULL, STR("spec")), at = field_name(&up, STR("finalizers"));
	struct field_faults faults = field_faults_new(change->call->pool);
	const struct doc *spec = NULL, *list = NULL;

	if (!doc_get(body, STR("spec"), &spec) || spec == NULL)
		return OUTCOME_OK;
	if (doc_kind(spec) != DOC_OBJECT)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "spec must be an object, with finalizers");
	if (!doc_get(spec, STR("finalizers"), &list) || list == NULL)
		return OUTCOME_OK;
	if (doc_kind(list) != DOC_ARRAY)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "spec.finalizers must be an array of strings");
	for (size_t i = 0; i < doc_length(list); i++) {
		const struct field_path item = field_index(&at, i);
		if (!is_finalizer(doc_at(list, i)))
			field_invalid(&faults, &item, doc_at(list, i),
				"name is neither a standard finalizer name nor is it fully qualified (e.g. 'example.com/name')");
	}
	if (faults.n == 0)
		return OUTCOME_OK;
	return spaces_fail_invalid(change->call, change->target->definition, change->target->name, &faults);
}

static enum outcome check_phase(const struct change_of_object *change, const struct resource *current,
	const struct doc *status)
{
	const struct field_path up = field_name(NULL, STR("status")), at = field_name(&up, STR("phase"));
	struct field_faults faults = field_faults_new(change->call->pool);
	const struct doc *phase = NULL;

	if (!doc_get(status, STR("phase"), &phase) || phase == NULL)
		return OUTCOME_OK;
	if (doc_kind(phase) != DOC_STRING)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "status.phase must be a string");
	if (doc_string(phase).n == 0 || str_eq(doc_string(phase), phase_of(current)))
		return OUTCOME_OK;
	field_invalid_text(&faults, &at, doc_string(phase), current->deletion_requested_us != 0 ?
		"may only be 'Terminating' if `deletionTimestamp` is not empty" :
		"may only be 'Active' if `deletionTimestamp` is empty");
	return spaces_fail_invalid(change->call, change->target->definition, change->target->name, &faults);
}

enum outcome kind_read_namespace_status(const struct change_of_object *change, const struct resource *current,
	struct doc *body)
{
	struct pool *pool = change->call->pool;
	const struct doc *status = NULL, *said = NULL;

	if (!doc_get(body, STR("status"), &status) || status == NULL) {
		doc_remove(body, STR("status"));
		return OUTCOME_OK;
	}
	if (doc_kind(status) != DOC_OBJECT)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "status must be an object, with phase and conditions");
	enum outcome outcome = check_phase(change, current, status);
	if (outcome != OUTCOME_OK)
		return outcome;
	const struct doc *conditions = namespace_status_conditions(body);
	if (doc_get(status, STR("conditions"), &said) && said != NULL && conditions == NULL)
		return call_fail(change->call, OUTCOME_BAD_DOCUMENT, "status.conditions must be an array of objects");
	struct doc *kept = doc_new_object(pool);
	if (conditions != NULL)
		doc_set(kept, STR("conditions"), doc_copy(pool, conditions));
	if (conditions != NULL && doc_length(conditions) > 0)
		doc_set(body, STR("status"), kept);
	else
		doc_remove(body, STR("status"));
	return OUTCOME_OK;
}
