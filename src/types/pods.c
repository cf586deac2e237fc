// SPDX-License-Identifier: Apache-2.0
// Pods: containers that run together. Tenure only stores them; it runs nothing.
#include "base/base.h"

#include "base/pool.h"
#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"
#include "types/common/pod_template.h"

static const struct type_field pod_fields[] = {
	MEMBER_OBJECT("spec", pod_spec_fields, "What the pod is to be."), MEMBER_OBJECT("status", NULL, "What it is."), MEMBER_END
};

static const struct merge_rule pod_status_merge[] = {
	MERGE_LIST("conditions", "type"), MERGE_LIST("podIPs", "ip"), MERGE_LIST("hostIPs", "ip"),
	MERGE_LIST("resourceClaimStatuses", "name"), MERGE_END
};
static const struct merge_rule pod_merge[] = {
	MERGE_IN("metadata", metadata_merge), MERGE_IN("spec", pod_spec_merge), MERGE_IN("status", pod_status_merge), MERGE_END
};

// ---- columns

struct pod_counts {
	size_t ready;
	int64_t restarts;
	struct str reason; // why the first container that is not running isn't; n 0: no container says why
	bool has_running;  // a container is running and ready
};

// Why a container in this state is not running; n 0: the state does not say.
static struct str reason_of(struct pool *pool, const struct doc *state)
{
	struct str waiting = check_object_text(check_object_member(state, "waiting"), "reason");
	const struct doc *ended = check_object_member(state, "terminated");
	struct str reason = check_object_text(ended, "reason");
	int64_t signal, code;

	if (waiting.n > 0 || reason.n > 0)
		return waiting.n > 0 ? waiting : reason;
	if (doc_kind(ended) != DOC_OBJECT)
		return STR("");
	if (check_object_integer(ended, "signal", &signal) && signal != 0)
		return str_printf(pool, "Signal:%lld", (long long)signal);
	(void)check_object_integer(ended, "exitCode", &code);
	return str_printf(pool, "ExitCode:%lld", (long long)code);
}

static struct pod_counts pod_counts_of(const struct type_row *row)
{
	const struct doc *statuses = check_object_member(check_object_member(row->object, "status"), "containerStatuses");
	struct pod_counts counts = { .reason = STR("") };

	for (size_t i = 0; i < doc_elements(statuses); i++) {
		const struct doc *status = doc_at(statuses, i), *state = check_object_member(status, "state"), *ready =
			check_object_member(status, "ready");
		bool is_ready = doc_kind(ready) == DOC_BOOL && doc_bool(ready);
		int64_t restarts = 0;
		doc_i64(check_object_member(status, "restartCount"), &restarts);
		counts.restarts += restarts > 0 && restarts < INT32_MAX ? restarts : 0;
		counts.ready += is_ready ? 1 : 0;
		counts.has_running = counts.has_running || (is_ready && doc_kind(check_object_member(state, "running")) == DOC_OBJECT);
		if (counts.reason.n == 0)
			counts.reason = reason_of(row->pool, state);
	}
	return counts;
}

static bool is_pod_ready(const struct doc *status)
{
	const struct doc *conditions = check_object_member(status, "conditions");

	for (size_t i = 0; i < doc_elements(conditions); i++) {
		if (str_eq(check_object_text(doc_at(conditions, i), "type"), STR("Ready")))
			return str_eq(check_object_text(doc_at(conditions, i), "status"), STR("True"));
	}
	return false;
}

static void cell_of_pod_ready(struct type_row *row, const struct type_column *column)
{
	UNUSED(column);
	buf_addf(row->out, "\"%zu/%zu\"", pod_counts_of(row).ready,
		doc_length(check_object_member(check_object_member(row->object, "spec"), "containers")));
}

static void cell_of_pod_status(struct type_row *row, const struct type_column *column)
{
	const struct doc *status = check_object_member(row->object, "status");
	struct str phase = check_object_text(status, "phase"), reason = check_object_text(status, "reason");
	bool has_ended = str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
	struct pod_counts counts = pod_counts_of(row);

	UNUSED(column);
	if (counts.reason.n > 0)
		reason = counts.reason;
	if (check_object_text(column_metadata(row), "deletionTimestamp").n > 0 && !has_ended)
		column_add_text(row, STR("Terminating"));
	else if (str_eq(reason, STR("Completed")) && counts.has_running)
		column_add_text(row, is_pod_ready(status) ? STR("Running") : STR("NotReady"));
	else
		column_add_text(row, reason.n > 0 ? reason : phase);
}

static void cell_of_pod_restarts(struct type_row *row, const struct type_column *column)
{
	UNUSED(column);
	buf_add_i64(row->out, pod_counts_of(row).restarts);
}

static const struct type_column of_pods[] = {
	COLUMN("Ready", "string", 0, cell_of_pod_ready, "", "How many of its containers are ready."),
	COLUMN("Status", "string", 0, cell_of_pod_status, "", "The phase, or the reason for it."),
	COLUMN("Restarts", "integer", 0, cell_of_pod_restarts, "", "How often its containers were restarted."), COLUMN_AGE,
	COLUMN("IP", "string", COLUMN_WIDE, cell_of_text_or_none, ".status.podIP", "The address of the pod."),
	COLUMN("Node", "string", COLUMN_WIDE, cell_of_text_or_none, ".spec.nodeName", "The node that it is bound to."),
	COLUMN("Nominated Node", "string", COLUMN_WIDE, cell_of_text_or_none, ".status.nominatedNodeName", "The node it may be "
		"bound to."),
	COLUMN_END
};

// ---- protobuf, and defaults

PB_MESSAGE(pod, PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", pod_spec), PB_OBJECT(3, "status", pod_status));

static const struct type_preset presets[] = {
	{ { "spec", "containers", "ports", "protocol" }, "TCP" },
	{ { "spec", "initContainers", "ports", "protocol" }, "TCP" },
	{ .value = NULL }
};

static const char *const selectable[] = {
	"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.podIP",
	"status.nominatedNodeName", NULL
};

// ---- rules

static void check_pod(struct field_faults *faults, const struct doc *before, const struct doc *meta, const struct doc *body)
{
	const struct field_path spec = field_name(NULL, STR("spec"));

	UNUSED(before), UNUSED(meta);
	check_pod_spec(faults, &spec, check_object_member(body, "spec"));
}

// ---- immutable fields of a pod (ValidatePodUpdate)

// The member as a list; NULL if it is missing, is no list or is empty.
static const struct doc *list_of(const struct doc *object, const char *name)
{
	const struct doc *list = NULL;

	if (!doc_get(object, str_c(name), &list) || doc_kind(list) != DOC_ARRAY || doc_length(list) == 0)
		return NULL;
	return list;
}

// Makes the member of after equal to that of before, so that a comparison of the two objects ignores it.
static void keep_member(struct pool *pool, struct doc *after, const struct doc *before, const char *name)
{
	const struct doc *value = NULL;

	doc_remove(after, str_c(name));
	if (doc_get(before, str_c(name), &value))
		doc_set(after, str_c(name), doc_copy(pool, value));
}

// The number of containers must not change. In the copy, their images are made equal: only these may change.
static void keep_images(struct pool *pool, struct doc *after, const struct doc *before, const char *name, const char *detail,
	struct field_faults *faults)
{
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, str_c(name));
	const struct doc *old = list_of(before, name), *new = list_of(after, name);
	size_t n = new == NULL ? 0 : doc_length(new);

	if (n != (old == NULL ? 0 : doc_length(old))) {
		field_forbidden(faults, &at, detail);
		keep_member(pool, after, before, name); // so that it is reported only once
		return;
	}
	struct doc *list = doc_new_array(pool);
	for (size_t i = 0; i < n; i++) {
		struct doc *item = doc_copy(pool, doc_at(new, i));
		if (doc_kind(item) == DOC_OBJECT && doc_kind(doc_at(old, i)) == DOC_OBJECT)
			keep_member(pool, item, doc_at(old, i), "image");
		doc_push(list, item);
	}
	if (n > 0)
		doc_set(after, str_c(name), list);
	else
		keep_member(pool, after, before, name);
}

// A deadline may be set, and may be made shorter.
static void keep_deadline(struct pool *pool, struct doc *after, const struct doc *before, struct field_faults *faults)
{
	static const char name[] = "activeDeadlineSeconds";
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, str_c(name));
	const struct doc *value = NULL;
	int64_t old, new;
	bool had = doc_get(before, str_c(name), &value) && value != NULL && doc_i64(value, &old);

	value = NULL;
	bool has = doc_get(after, str_c(name), &value) && value != NULL && doc_i64(value, &new);
	if (had && !has)
		field_invalid(faults, &at, value, "must not update from a positive integer to nil value");
	else if (had && new > old)
		field_invalid(faults, &at, value, "must be less than or equal to previous value");
	keep_member(pool, after, before, name);
}

// Texts of the items, equal where the items are equal but for tolerationSeconds, which may change.
static struct str *item_texts(struct pool *pool, const struct doc *list)
{
	struct str *texts = POOL_ARRAY(pool, struct str, doc_elements(list) + 1);

	for (size_t i = 0; i < doc_elements(list); i++) {
		struct doc *item = doc_copy(pool, doc_at(list, i));
		struct buf text = buf_new(pool, 64);
		if (doc_kind(item) == DOC_OBJECT)
			doc_remove(item, STR("tolerationSeconds"));
		doc_write_sorted(item, &text);
		texts[i] = buf_str(&text);
	}
	return texts;
}

// Does list contain all of wanted, but for their tolerationSeconds?
static bool has_all(struct pool *pool, const struct doc *list, const struct doc *wanted)
{
	size_t n = doc_elements(list);
	const struct str *sorted = check_sorted_texts(pool, item_texts(pool, list), n), *texts = item_texts(pool, wanted);

	for (size_t i = 0; i < doc_elements(wanted); i++) {
		if (!check_has_text(sorted, n, texts[i]))
			return false;
	}
	return true;
}

static void keep_tolerations(struct pool *pool, struct doc *after, const struct doc *before, struct field_faults *faults)
{
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, STR("tolerations"));

	if (!has_all(pool, list_of(after, "tolerations"), list_of(before, "tolerations")))
		field_forbidden(faults, &at, "existing toleration can not be modified except its tolerationSeconds");
	keep_member(pool, after, before, "tolerations");
}

// What else may change: a negative grace period to 1, scheduling gates to fewer ones, and nodeName if there is none yet.
static void keep_rest(struct pool *pool, struct doc *after, const struct doc *before)
{
	const struct doc *value = NULL;
	int64_t old = 0, new = 0;

	if (doc_get(before, STR("terminationGracePeriodSeconds"), &value) && value != NULL && doc_i64(value, &old) && old < 0 &&
		doc_get(after, STR("terminationGracePeriodSeconds"), &value) && value != NULL && doc_i64(value, &new) && new == 1)
		keep_member(pool, after, before, "terminationGracePeriodSeconds");
	if (has_all(pool, list_of(before, "schedulingGates"), list_of(after, "schedulingGates")))
		keep_member(pool, after, before, "schedulingGates");
	if (!doc_get(before, STR("nodeName"), &value) || value == NULL ||
		(doc_kind(value) == DOC_STRING && doc_string(value).n == 0))
		keep_member(pool, after, before, "nodeName");
}

// A pod without a spec, which another dialect may have stored, may get one.
static void check_pod_kept(struct field_faults *faults, const struct doc *before, const struct doc *after)
{
	const struct field_path at = field_name(NULL, STR("spec"));
	const struct doc *old = NULL, *new = NULL;
	struct pool *pool = faults->pool;

	if (!doc_get(before, STR("spec"), &old) || doc_kind(old) != DOC_OBJECT)
		return;
	(void)doc_get(after, STR("spec"), &new);
	if (doc_equal(old, new)) // the usual case: only the status changes
		return;
	struct doc *same = doc_kind(new) == DOC_OBJECT ? doc_copy(pool, new) : doc_new_object(pool);
	keep_images(pool, same, old, "containers", "pod updates may not add or remove containers", faults);
	keep_images(pool, same, old, "initContainers", "pod updates may not add or remove init containers", faults);
	keep_deadline(pool, same, old, faults);
	keep_tolerations(pool, same, old, faults);
	keep_rest(pool, same, old);
	if (!doc_equal_by_value(same, old))
		field_forbidden(faults, &at, "pod updates may not change fields other than `spec.containers[*].image`,"
			"`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing "
			"tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)");
}

const struct type_parts pods_parts = {
	.description = "A pod is containers that run together. It is kept here; nothing runs it.",
	.fields = pod_fields,
	.presets = presets,
	.first_phase = "Pending",
	.merge = pod_merge,
	.columns = of_pods,
	.message = &proto_pod,
	.selectable = selectable,
	.check = check_pod,
	.check_kept = check_pod_kept,
};
