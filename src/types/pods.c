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

// A pod as Kubernetes' printPod() shows it.
struct pod_shown {
	size_t containers, ready; // of the pod itself, and init containers that run beside them
	int64_t restarts;
	int64_t restarted;        // when one of the restarted containers last ended, in seconds since 1970; 0: not known
	struct str status;
};

struct restarts {
	int64_t n, last; // last: as restarted above
};

static void count_restarts(struct restarts *restarts, const struct doc *status)
{
	const struct doc *ended = check_object_member(check_object_member(status, "lastState"), "terminated");
	int64_t n, at;

	if (check_object_integer(status, "restartCount", &n) && n > 0 && n < INT32_MAX)
		restarts->n += n;
	if (column_time(check_object_text(ended, "finishedAt"), &at) && at > restarts->last)
		restarts->last = at;
}

static bool is_true(const struct doc *object, const char *name)
{
	const struct doc *value = check_object_member(object, name);

	return doc_kind(value) == DOC_BOOL && doc_bool(value);
}

// Why a container ended.
static struct str reason_of_end(struct pool *pool, const struct doc *ended)
{
	struct str reason = check_object_text(ended, "reason");
	int64_t signal, code;

	if (reason.n > 0)
		return reason;
	if (check_object_integer(ended, "signal", &signal) && signal != 0)
		return str_printf(pool, "Signal:%lld", (long long)signal);
	(void)check_object_integer(ended, "exitCode", &code);
	return str_printf(pool, "ExitCode:%lld", (long long)code);
}

// Why a container in this state is not running; n 0: the state does not say.
static struct str reason_of(struct pool *pool, const struct doc *state)
{
	struct str waiting = check_object_text(check_object_member(state, "waiting"), "reason");
	const struct doc *ended = check_object_member(state, "terminated");

	if (waiting.n > 0)
		return waiting;
	return doc_kind(ended) == DOC_OBJECT ? reason_of_end(pool, ended) : STR("");
}

// ---- init containers

// Those that go on beside the pod's own containers (sidecars), by their names.
struct sidecars {
	const struct str *sorted;
	size_t n;
};

static struct sidecars sidecars_of(struct pool *pool, const struct doc *init)
{
	struct str *names = POOL_ARRAY(pool, struct str, doc_elements(init) + 1);
	size_t n = 0;

	for (size_t i = 0; i < doc_elements(init); i++) {
		if (str_eq(check_object_text(doc_at(init, i), "restartPolicy"), STR("Always")))
			names[n++] = check_object_text(doc_at(init, i), "name");
	}
	return (struct sidecars){ check_sorted_texts(pool, names, n), n };
}

static bool has_ended_well(const struct doc *state)
{
	const struct doc *ended = check_object_member(state, "terminated");
	int64_t code;

	(void)check_object_integer(ended, "exitCode", &code);
	return doc_kind(ended) == DOC_OBJECT && code == 0;
}

// The status of a pod whose init container i, of n, keeps it from starting.
static struct str init_status(struct pool *pool, const struct doc *state, size_t i, size_t n)
{
	struct str waiting = check_object_text(check_object_member(state, "waiting"), "reason");
	const struct doc *ended = check_object_member(state, "terminated");
	struct str reason = doc_kind(ended) == DOC_OBJECT ? reason_of_end(pool, ended) : waiting;

	if (doc_kind(ended) != DOC_OBJECT && (waiting.n == 0 || str_eq(waiting, STR("PodInitializing"))))
		return str_printf(pool, "Init:%zu/%zu", i, n);
	return str_printf(pool, "Init:%.*s", STR_ARG(reason));
}

// Looks at the init containers in turn, up to the one that keeps the pod from starting. True: there is one, and shown has its
// status.
static bool show_init(struct pool *pool, const struct doc *init, const struct doc *statuses, struct pod_shown *shown,
	struct restarts *all, struct restarts *of_sidecars)
{
	const struct sidecars sidecars = sidecars_of(pool, init);

	shown->containers += sidecars.n;
	for (size_t i = 0; i < doc_elements(statuses); i++) {
		const struct doc *status = doc_at(statuses, i), *state = check_object_member(status, "state");
		bool beside = check_has_text(sidecars.sorted, sidecars.n, check_object_text(status, "name"));
		count_restarts(all, status);
		if (beside)
			count_restarts(of_sidecars, status);
		if (has_ended_well(state))
			continue;
		if (!beside || !is_true(status, "started")) {
			shown->status = init_status(pool, state, i, doc_elements(init));
			return true;
		}
		shown->ready += is_true(status, "ready") ? 1 : 0;
	}
	return false;
}

// ---- the pod's own containers, and the whole

// The text of that member of the condition of that type; "" where there is none.
static struct str condition_text(const struct doc *status, const char *type, const char *member)
{
	const struct doc *conditions = check_object_member(status, "conditions");

	for (size_t i = 0; i < doc_elements(conditions); i++) {
		if (str_eq_c(check_object_text(doc_at(conditions, i), "type"), type))
			return check_object_text(doc_at(conditions, i), member);
	}
	return STR("");
}

static void show_containers(struct pool *pool, const struct doc *status, struct pod_shown *shown, struct restarts *restarts)
{
	const struct doc *statuses = check_object_member(status, "containerStatuses");
	struct str first = STR("");
	bool has_running = false;

	for (size_t i = 0; i < doc_elements(statuses); i++) {
		const struct doc *container = doc_at(statuses, i), *state = check_object_member(container, "state");
		struct str reason = reason_of(pool, state);
		bool runs = reason.n == 0 && is_true(container, "ready") && doc_kind(check_object_member(state, "running")) == DOC_OBJECT;
		count_restarts(restarts, container);
		shown->ready += runs ? 1 : 0;
		has_running = has_running || runs;
		if (first.n == 0)
			first = reason;
	}
	if (first.n > 0)
		shown->status = first;
	if (has_running && str_eq(shown->status, STR("Completed")))
		shown->status = str_eq(condition_text(status, "Ready", "status"), STR("True")) ? STR("Running") : STR("NotReady");
}

static struct pod_shown pod_shown_of(const struct type_row *row)
{
	const struct doc *spec = check_object_member(row->object, "spec"), *status = check_object_member(row->object, "status");
	struct str phase = check_object_text(status, "phase"), reason = check_object_text(status, "reason");
	bool has_ended = str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
	bool is_deleted = check_object_text(column_metadata(row), "deletionTimestamp").n > 0;
	struct pod_shown shown = { .containers = doc_elements(check_object_member(spec, "containers")), .status = phase };
	struct restarts restarts = { 0 }, of_sidecars = { 0 };

	if (reason.n > 0)
		shown.status = reason;
	if (str_eq(condition_text(status, "PodScheduled", "reason"), STR("SchedulingGated")))
		shown.status = STR("SchedulingGated");
	bool starts = show_init(row->pool, check_object_member(spec, "initContainers"), check_object_member(status,
		"initContainerStatuses"), &shown, &restarts, &of_sidecars);
	// The restarts of init containers that are through count no more.
	if (!starts || str_eq(condition_text(status, "Initialized", "status"), STR("True"))) {
		restarts = of_sidecars;
		show_containers(row->pool, status, &shown, &restarts);
	}
	if (is_deleted && str_eq(reason, STR("NodeLost")))
		shown.status = STR("Unknown");
	else if (is_deleted && !has_ended)
		shown.status = STR("Terminating");
	shown.restarts = restarts.n;
	shown.restarted = restarts.last;
	return shown;
}

static void cell_of_pod_ready(struct type_row *row, const struct type_column *column)
{
	const struct pod_shown shown = pod_shown_of(row);

	UNUSED(column);
	buf_addf(row->out, "\"%zu/%zu\"", shown.ready, shown.containers);
}

static void cell_of_pod_status(struct type_row *row, const struct type_column *column)
{
	UNUSED(column);
	column_add_text(row, pod_shown_of(row).status);
}

static void cell_of_pod_restarts(struct type_row *row, const struct type_column *column)
{
	const struct pod_shown shown = pod_shown_of(row);
	struct buf text = buf_new(row->pool, 32);

	UNUSED(column);
	buf_add_i64(&text, shown.restarts);
	if (shown.restarts > 0 && shown.restarted != 0) {
		struct str ago = column_age(row->pool, row->now_us / 1000000 - shown.restarted);
		buf_addf(&text, " (%.*s ago)", STR_ARG(ago));
	}
	column_add_text(row, buf_str(&text));
}

// How many of the conditions that others have to meet before the pod is ready are met.
static void cell_of_pod_gates(struct type_row *row, const struct type_column *column)
{
	const struct doc *gates = check_object_member(check_object_member(row->object, "spec"), "readinessGates");
	const struct doc *conditions = check_object_member(check_object_member(row->object, "status"), "conditions");
	struct str *names = POOL_ARRAY(row->pool, struct str, doc_elements(conditions) + 1);
	size_t n_true = 0, met = 0;

	UNUSED(column);
	if (doc_elements(gates) == 0) {
		column_add_text(row, STR("<none>"));
		return;
	}
	for (size_t i = 0; i < doc_elements(conditions); i++) {
		if (str_eq(check_object_text(doc_at(conditions, i), "status"), STR("True")))
			names[n_true++] = check_object_text(doc_at(conditions, i), "type");
	}
	const struct str *sorted = check_sorted_texts(row->pool, names, n_true);
	for (size_t i = 0; i < doc_elements(gates); i++)
		met += check_has_text(sorted, n_true, check_object_text(doc_at(gates, i), "conditionType"));
	buf_addf(row->out, "\"%zu/%zu\"", met, doc_elements(gates));
}

static const struct type_column of_pods[] = {
	COLUMN("Ready", "string", 0, cell_of_pod_ready, "", "How many of its containers are ready."),
	COLUMN("Status", "string", 0, cell_of_pod_status, "", "The phase, or the reason for it."),
	COLUMN("Restarts", "string", 0, cell_of_pod_restarts, "", "How often its containers were restarted, and when last."), COLUMN_AGE,
	COLUMN("IP", "string", COLUMN_WIDE, cell_of_text_or_none, ".status.podIP", "The address of the pod."),
	COLUMN("Node", "string", COLUMN_WIDE, cell_of_text_or_none, ".spec.nodeName", "The node that it is bound to."),
	COLUMN("Nominated Node", "string", COLUMN_WIDE, cell_of_text_or_none, ".status.nominatedNodeName", "The node it may be "
		"bound to."),
	COLUMN("Readiness Gates", "string", COLUMN_WIDE, cell_of_pod_gates, "", "How many of the conditions that others have to meet are met."),
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

// A copy of the spec's member for a comparison by value; NULL: it is absent. Typed clients write what they have read in their own
// way: they add resources of {}, and leave out a hostNetwork of false. And this server adds defaults, which a pod of another
// dialect lacks.
static struct doc *comparable(struct pool *pool, const struct doc *spec, const char *name)
{
	struct doc *pod = doc_new_object(pool), *of_pod = doc_new_object(pool);

	doc_set(of_pod, str_c(name), message_normal_member(pool, &proto_pod_spec, str_c(name), check_object_member(spec, name)));
	doc_set(pod, STR("spec"), of_pod);
	type_preset_fill(pool, presets, pod);
	return doc_own_member(of_pod, str_c(name));
}

static bool same_member(struct pool *pool, const struct doc *before, const struct doc *after, const char *name)
{
	return doc_equal_by_value(check_object_member(before, name), check_object_member(after, name)) ||
		doc_equal_by_value(comparable(pool, before, name), comparable(pool, after, name));
}

static struct doc *without_images(struct doc *containers)
{
	for (size_t i = 0; i < doc_elements(containers); i++) {
		if (doc_kind(doc_at(containers, i)) == DOC_OBJECT)
			doc_remove(doc_own_item(containers, i), STR("image"));
	}
	return containers;
}

// The number of containers must not change. Of each container, only the image may. False: something else has changed.
static bool check_containers(struct pool *pool, const struct doc *before, const struct doc *after, const char *name, const char *detail,
	struct field_faults *faults)
{
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, str_c(name));
	const struct doc *old = list_of(before, name), *new = list_of(after, name);

	if (doc_elements(new) != doc_elements(old)) {
		field_forbidden(faults, &at, detail);
		return true; // so that it is reported only once
	}
	if (doc_equal_by_value(check_object_member(before, name), check_object_member(after, name)))
		return true;
	return doc_equal_by_value(without_images(comparable(pool, before, name)), without_images(comparable(pool, after, name)));
}

// A deadline may be set, and may be made shorter.
static void check_deadline(const struct doc *before, const struct doc *after, struct field_faults *faults)
{
	static const char name[] = "activeDeadlineSeconds";
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, str_c(name));
	int64_t old, new;
	bool had = check_object_integer(before, name, &old), has = check_object_integer(after, name, &new);

	if (had && !has)
		field_invalid(faults, &at, check_object_member(after, name), "must not update from a positive integer to nil value");
	else if (had && new > old)
		field_invalid(faults, &at, check_object_member(after, name), "must be less than or equal to previous value");
}

// Texts of the items of a list, equal where the items are equal but for tolerationSeconds, which may change.
static struct str *item_texts(struct pool *pool, struct doc *list)
{
	struct str *texts = POOL_ARRAY(pool, struct str, doc_elements(list) + 1);

	for (size_t i = 0; i < doc_elements(list); i++) {
		struct buf text = buf_new(pool, 64);
		if (doc_kind(doc_at(list, i)) == DOC_OBJECT)
			doc_remove(doc_own_item(list, i), STR("tolerationSeconds"));
		doc_write_sorted(doc_at(list, i), &text);
		texts[i] = buf_str(&text);
	}
	return texts;
}

// Does the list of that name in spec contain all items of the one in other, but for their tolerationSeconds?
static bool has_all(struct pool *pool, const struct doc *spec, const struct doc *other, const char *name)
{
	struct doc *list = comparable(pool, spec, name), *wanted = comparable(pool, other, name);
	size_t n = doc_elements(list);
	const struct str *sorted = check_sorted_texts(pool, item_texts(pool, list), n), *texts = item_texts(pool, wanted);

	for (size_t i = 0; i < doc_elements(wanted); i++) {
		if (!check_has_text(sorted, n, texts[i]))
			return false;
	}
	return true;
}

static void check_tolerations(struct pool *pool, const struct doc *before, const struct doc *after, struct field_faults *faults)
{
	static const char name[] = "tolerations";
	const struct field_path spec = field_name(NULL, STR("spec")), at = field_name(&spec, str_c(name));

	if (!doc_equal(check_object_member(before, name), check_object_member(after, name)) && !has_all(pool, after, before, name))
		field_forbidden(faults, &at, "existing toleration can not be modified except its tolerationSeconds");
}

// What else may change: a negative grace period to 1, scheduling gates to fewer ones, and nodeName if there is none yet.
static bool may_change(struct pool *pool, const struct doc *before, const struct doc *after, const char *name)
{
	int64_t old, new;

	if (strcmp(name, "terminationGracePeriodSeconds") == 0)
		return check_object_integer(before, name, &old) && old < 0 && check_object_integer(after, name, &new) && new == 1;
	if (strcmp(name, "schedulingGates") == 0)
		return has_all(pool, before, after, name);
	return strcmp(name, "nodeName") == 0 && comparable(pool, before, name) == NULL;
}

// Has a member changed that must not, of those that the functions above don't check?
static bool has_changed(struct pool *pool, const struct doc *before, const struct doc *after)
{
	static const char *const checked[] = { "containers", "initContainers", "activeDeadlineSeconds", "tolerations" };
	const struct doc *specs[] = { before, after }, *other;

	for (size_t i = 0; i < COUNT_OF(specs); i++) {
		for (struct doc_iter it = doc_iter(specs[i]); doc_next(&it);) {
			const char *name = str_cstr(pool, it.name);
			bool skip = i == 1 && doc_get(before, it.name, &other); // it was compared already
			for (size_t k = 0; k < COUNT_OF(checked); k++)
				skip = skip || str_eq_c(it.name, checked[k]);
			if (!skip && !same_member(pool, before, after, name) && !may_change(pool, before, after, name))
				return true;
		}
	}
	return false;
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
	bool same = check_containers(pool, old, new, "containers", "pod updates may not add or remove containers", faults);
	same = check_containers(pool, old, new, "initContainers", "pod updates may not add or remove init containers", faults) && same;
	check_deadline(old, new, faults);
	check_tolerations(pool, old, new, faults);
	if (!same || has_changed(pool, old, new))
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
