// SPDX-License-Identifier: Apache-2.0
// Daemon sets: one pod on each node. In the system's space only.
#include "base/base.h"

#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"
#include "types/common/pod_template.h"

static const struct type_field daemon_set_spec_fields[] = {
	MEMBER_INTEGER("minReadySeconds", ""), MEMBER_INTEGER("revisionHistoryLimit", ""),
	MEMBER_MUST("selector", OF_ANY, NULL, "Its pods' labels."),
	MEMBER_MUST("template", OF_OBJECT, pod_template_fields, "What its pods are made from."), MEMBER_ANY("updateStrategy"),
	MEMBER_END
};
static const struct type_field daemon_set_fields[] = {
	MEMBER_OBJECT("spec", daemon_set_spec_fields, "What it is to be."), MEMBER_OBJECT("status", NULL, "What it is."),
	MEMBER_END
};

static const struct type_column of_daemon_sets[] = {
	COLUMN("Desired", "integer", 0, cell_of_integer, ".status.desiredNumberScheduled", "How many pods there should be."),
	COLUMN("Current", "integer", 0, cell_of_integer, ".status.currentNumberScheduled", "How many there are."),
	COLUMN("Ready", "integer", 0, cell_of_integer, ".status.numberReady", "How many are ready."),
	COLUMN("Up-to-date", "integer", 0, cell_of_integer, ".status.updatedNumberScheduled", "How many are of this generation."),
	COLUMN("Available", "integer", 0, cell_of_integer, ".status.numberAvailable", "How many are available."),
	COLUMN("Node Selector", "string", 0, cell_of_pairs, ".spec.template.spec.nodeSelector", "The nodes it is for."),
	COLUMN_AGE, COLUMN_END
};

PB_MESSAGE(pod_template_spec, PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", pod_spec));
PB_MESSAGE(rolling_update_daemon_set, PB_OBJECT(1, "maxUnavailable", int_or_string), PB_OBJECT(2, "maxSurge", int_or_string));
PB_MESSAGE(daemon_set_update_strategy, PB_TEXT(1, "type"), PB_OBJECT(2, "rollingUpdate", rolling_update_daemon_set));
PB_MESSAGE(daemon_set_spec,
	PB_OBJECT(1, "selector", label_selector), PB_OBJECT(2, "template", pod_template_spec),
	PB_OBJECT(3, "updateStrategy", daemon_set_update_strategy), PB_INT(4, "minReadySeconds"),
	PB_INT_ZERO(6, "revisionHistoryLimit"));
PB_MESSAGE(daemon_set_condition,
	PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "status"), PB_OBJECT(3, "lastTransitionTime", time), PB_TEXT(4, "reason"),
	PB_TEXT(5, "message"));
PB_MESSAGE(daemon_set_status,
	PB_INT_ZERO(1, "currentNumberScheduled"), PB_INT_ZERO(2, "numberMisscheduled"), PB_INT_ZERO(3, "desiredNumberScheduled"),
	PB_INT_ZERO(4, "numberReady"), PB_LONG(5, "observedGeneration"), PB_INT(6, "updatedNumberScheduled"),
	PB_INT(7, "numberAvailable"), PB_INT(8, "numberUnavailable"), PB_INT_ZERO(9, "collisionCount"),
	PB_LIST(10, "conditions", daemon_set_condition));
PB_MESSAGE(daemon_set,
	PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", daemon_set_spec), PB_OBJECT(3, "status", daemon_set_status));

static void check_daemon_set(struct field_faults *faults, const struct doc *before, const struct doc *meta,
	const struct doc *body)
{
	const struct field_path at = field_name(NULL, STR("spec")), template = field_name(&at, STR("template"));
	const struct field_path of_pod = field_name(&template, STR("spec")), of_meta = field_name(&template, STR("metadata"));
	const struct field_path of_labels = field_name(&of_meta, STR("labels"));
	const struct field_path of_policy = field_name(&of_pod, STR("restartPolicy"));
	static const char *const always[] = { "Always", NULL };
	const struct doc *spec = check_object_member(body, "spec"), *pod = check_object_member(spec, "template"), *value;
	const struct doc *labels = check_object_member(check_object_member(pod, "metadata"), "labels");
	const struct doc *selector = check_object_member(spec, "selector"), *wanted = check_object_member(selector, "matchLabels");
	struct str policy = check_object_text(check_object_member(pod, "spec"), "restartPolicy");
	bool matches = true;

	UNUSED(before), UNUSED(meta);
	check_required(faults, &at, spec, "selector");
	for (struct doc_iter it = doc_iter(wanted); matches && doc_next(&it);)
		matches = labels != NULL && doc_get(labels, it.name, &value) && value != NULL && doc_equal(value, it.value);
	if (!matches)
		field_invalid(faults, &of_labels, labels, "`selector` does not match template `labels`");
	check_pod_spec(faults, &of_pod, check_object_member(pod, "spec"));
	if (policy.n > 0 && !str_eq(policy, STR("Always")))
		field_not_supported(faults, &of_policy, policy, always);
}

// A daemon set without a selector, which another dialect may have stored, may get one.
static void check_daemon_set_kept(struct field_faults *faults, const struct doc *before, const struct doc *after)
{
	const struct field_path at = field_name(NULL, STR("spec")), of_selector = field_name(&at, STR("selector"));
	const struct doc *former = check_object_member(check_object_member(before, "spec"), "selector");
	const struct doc *selector = check_object_member(check_object_member(after, "spec"), "selector");

	if (former != NULL && !doc_equal_by_value(selector, former) &&
		(selector == NULL || !doc_equal_by_value(message_normal(faults->pool, &proto_label_selector, selector),
			message_normal(faults->pool, &proto_label_selector, former))))
		field_invalid(faults, &of_selector, selector, "field is immutable");
}

const struct type_parts daemonsets_parts = {
	.description = "A daemon set is a pod for each node.",
	.fields = daemon_set_fields,
	.merge = workload_merge,
	.columns = of_daemon_sets,
	.message = &proto_daemon_set,
	.check = check_daemon_set,
	.kept_if = STR_INIT("\"selector\""),
	.check_kept = check_daemon_set_kept,
};
