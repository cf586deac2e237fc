// SPDX-License-Identifier: Apache-2.0
// Columns of built-in kinds, as Kubernetes prints them.
#include "base/base.h"

#include "api/spaces/answer/table_internal.h"
#include "base/pool.h"

// ---- parts of cells

static const struct doc *member(const struct doc *object, const char *name)
{
	const struct doc *value = NULL;

	doc_get(object, str_c(name), &value);
	return value;
}

static struct str text_of(const struct doc *object, const char *name)
{
	return doc_string(member(object, name));
}

static const struct doc *metadata_of(const struct row *row)
{
	return member(row->object, "metadata");
}

static void add_text(struct row *row, struct str text)
{
	json_add_string(row->out, text);
}

void cell_of_name(struct row *row, const struct column *column)
{
	UNUSED(column);
	add_text(row, text_of(metadata_of(row), "name"));
}

void cell_of_age(struct row *row, const struct column *column)
{
	UNUSED(column);
	add_text(row, age_since(row, member(metadata_of(row), "creationTimestamp")));
}

static const struct doc *value_of(struct row *row, const struct column *column)
{
	size_t n = 0;
	const struct doc *const *values = jsonpath_find(row->pool, column->path, row->object, &row->looks, &n);

	return n > 0 ? values[0] : NULL;
}

// Writes a text; an empty one if there is none.
static void cell_of_text(struct row *row, const struct column *column)
{
	const struct doc *value = value_of(row, column);
	struct buf text = buf_new(row->pool, 32);

	if (doc_kind(value) == DOC_NUMBER || doc_kind(value) == DOC_BOOL)
		doc_write_json(value, &text);
	add_text(row, doc_kind(value) == DOC_STRING ? doc_string(value) : text.n > 0 ? buf_str(&text) : STR(""));
}

// Writes a text; "<none>" if there is none.
static void cell_of_text_or_none(struct row *row, const struct column *column)
{
	struct str text = doc_string(value_of(row, column));

	add_text(row, text.n > 0 ? text : STR("<none>"));
}

static void cell_of_count(struct row *row, const struct column *column)
{
	buf_add_u64(row->out, doc_length(value_of(row, column)));
}

static void cell_of_integer(struct row *row, const struct column *column)
{
	int64_t value = 0;

	doc_i64(value_of(row, column), &value);
	buf_add_i64(row->out, value);
}

static void cell_of_data(struct row *row, const struct column *column)
{
	UNUSED(column);
	buf_add_u64(row->out, doc_length(member(row->object, "data")) + doc_length(member(row->object, "binaryData")));
}

// Writes pairs as "a=b,c=d".
static void cell_of_pairs(struct row *row, const struct column *column)
{
	struct buf text = buf_new(row->pool, 64);

	for (struct doc_iter it = doc_iter(value_of(row, column)); doc_next(&it);)
		buf_addf(&text, "%s%.*s=%.*s", text.n > 0 ? "," : "", STR_ARG(it.name), STR_ARG(doc_string(it.value)));
	add_text(row, text.n > 0 ? buf_str(&text) : STR("<none>"));
}

// ---- pods

struct pod_counts {
	size_t ready;
	int64_t restarts;
	struct str reason; // why a container isn't running; p NULL: no container says
};

static struct pod_counts count_containers(const struct doc *statuses)
{
	struct pod_counts counts = { .reason = STR_NONE };

	for (size_t i = 0; i < doc_length(statuses); i++) {
		const struct doc *status = doc_at(statuses, i), *state = member(status, "state"), *ready = member(status, "ready");
		struct str waiting = text_of(member(state, "waiting"), "reason");
		struct str ended = text_of(member(state, "terminated"), "reason");
		int64_t restarts = 0;
		doc_i64(member(status, "restartCount"), &restarts);
		counts.restarts += restarts > 0 && restarts < INT32_MAX ? restarts : 0;
		counts.ready += doc_kind(ready) == DOC_BOOL && doc_bool(ready) ? 1 : 0;
		if (waiting.n > 0 || ended.n > 0)
			counts.reason = waiting.n > 0 ? waiting : ended;
	}
	return counts;
}

static struct pod_counts pod_counts_of(const struct row *row)
{
	return count_containers(member(member(row->object, "status"), "containerStatuses"));
}

static void cell_of_pod_ready(struct row *row, const struct column *column)
{
	UNUSED(column);
	buf_addf(row->out, "\"%zu/%zu\"", pod_counts_of(row).ready,
		doc_length(member(member(row->object, "spec"), "containers")));
}

static void cell_of_pod_status(struct row *row, const struct column *column)
{
	const struct doc *status = member(row->object, "status");
	struct str reason = text_of(status, "reason"), of_container = pod_counts_of(row).reason;

	UNUSED(column);
	if (text_of(metadata_of(row), "deletionTimestamp").n > 0)
		add_text(row, STR("Terminating"));
	else if (of_container.n > 0)
		add_text(row, of_container);
	else if (reason.n > 0)
		add_text(row, reason);
	else
		add_text(row, text_of(status, "phase"));
}

static void cell_of_pod_restarts(struct row *row, const struct column *column)
{
	UNUSED(column);
	buf_add_i64(row->out, pod_counts_of(row).restarts);
}

// ---- volumes

static void cell_of_access_modes(struct row *row, const struct column *column)
{
	static const struct { const char *mode, *shown; } modes[] = {
		{ "ReadWriteOnce", "RWO" }, { "ReadOnlyMany", "ROX" }, { "ReadWriteMany", "RWX" },
	};
	const struct doc *list = value_of(row, column);
	struct buf text = buf_new(row->pool, 32);

	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		for (size_t j = 0; j < doc_length(list); j++) {
			if (!str_eq_c(doc_string(doc_at(list, j)), modes[i].mode))
				continue;
			buf_addf(&text, "%s%s", text.n > 0 ? "," : "", modes[i].shown);
			break;
		}
	}
	add_text(row, text.n > 0 ? buf_str(&text) : STR(""));
}

static void cell_of_claim(struct row *row, const struct column *column)
{
	const struct doc *claim = value_of(row, column);

	add_text(row, doc_kind(claim) != DOC_OBJECT ? STR("")
		: str_printf(row->pool, "%.*s/%.*s", STR_ARG(text_of(claim, "namespace")), STR_ARG(text_of(claim, "name"))));
}

static void cell_of_phase(struct row *row, const struct column *column)
{
	bool ending = text_of(metadata_of(row), "deletionTimestamp").n > 0;

	add_text(row, ending ? STR("Terminating") : doc_string(value_of(row, column)));
}

// ---- services and nodes

// Writes ports as "80/TCP,443:30443/TCP".
static void cell_of_ports(struct row *row, const struct column *column)
{
	const struct doc *ports = value_of(row, column);
	struct buf text = buf_new(row->pool, 64);

	for (size_t i = 0; i < doc_length(ports); i++) {
		struct str protocol = text_of(doc_at(ports, i), "protocol");
		int64_t port = 0, node_port = 0;
		doc_i64(member(doc_at(ports, i), "port"), &port);
		doc_i64(member(doc_at(ports, i), "nodePort"), &node_port);
		buf_addf(&text, "%s%lld", i > 0 ? "," : "", (long long)port);
		if (node_port > 0)
			buf_addf(&text, ":%lld", (long long)node_port);
		buf_addf(&text, "/%.*s", STR_ARG(protocol.n > 0 ? protocol : STR("TCP")));
	}
	add_text(row, text.n > 0 ? buf_str(&text) : STR("<none>"));
}

static void cell_of_external_ip(struct row *row, const struct column *column)
{
	struct buf text = buf_new(row->pool, 64);
	const struct doc *list = value_of(row, column);

	for (size_t i = 0; i < doc_length(list); i++)
		buf_addf(&text, "%s%.*s", i > 0 ? "," : "", STR_ARG(doc_string(doc_at(list, i))));
	add_text(row, text.n > 0 ? buf_str(&text) : STR("<none>"));
}

static void cell_of_node_status(struct row *row, const struct column *column)
{
	const struct doc *unschedulable = member(member(row->object, "spec"), "unschedulable");
	struct str ready = doc_string(value_of(row, column));
	bool closed = doc_kind(unschedulable) == DOC_BOOL && doc_bool(unschedulable);

	add_text(row, str_printf(row->pool, "%s%s",
		ready.n == 0 ? "Unknown" : str_eq(ready, STR("True")) ? "Ready" : "NotReady", closed ? ",SchedulingDisabled" : ""));
}

static void cell_of_roles(struct row *row, const struct column *column)
{
	static const struct str prefix = STR_INIT("node-role.kubernetes.io/");
	struct buf text = buf_new(row->pool, 32);

	UNUSED(column);
	for (struct doc_iter it = doc_iter(member(metadata_of(row), "labels")); doc_next(&it);) {
		if (str_starts(it.name, prefix) && it.name.n > prefix.n)
			buf_addf(&text, "%s%.*s", text.n > 0 ? "," : "", STR_ARG(str_part(it.name, prefix.n, it.name.n)));
	}
	add_text(row, text.n > 0 ? buf_str(&text) : STR("<none>"));
}

// ---- events and definitions

static void cell_of_last_seen(struct row *row, const struct column *column)
{
	const struct doc *last = member(row->object, "lastTimestamp");

	add_text(row, age_since(row, doc_kind(last) == DOC_STRING ? last : value_of(row, column)));
}

static void cell_of_event_object(struct row *row, const struct column *column)
{
	const struct doc *object = value_of(row, column);
	struct str kind = text_of(object, "kind");
	struct buf text = buf_new(row->pool, 64);

	for (size_t i = 0; i < kind.n; i++)
		buf_addc(&text, kind.p[i] >= 'A' && kind.p[i] <= 'Z' ? (char)(kind.p[i] - 'A' + 'a') : kind.p[i]);
	buf_addf(&text, "/%.*s", STR_ARG(text_of(object, "name")));
	add_text(row, buf_str(&text));
}

// ---- the columns of each kind

#define WIDE 1
#define OF(title, kind, wide, function, at, about) { .name = STR_INIT(title), .type = STR_INIT(kind), \
	.description = STR_INIT(about), .priority = wide, .cell = function, .path_text = STR_INIT(at) }
#define TEXT(title, at, about) OF(title, "string", 0, cell_of_text, at, about)
#define WIDE_TEXT(title, at, about) OF(title, "string", WIDE, cell_of_text, at, about)
#define AGE OF("Age", "string", 0, cell_of_age, "", "When the object was created.")
#define TENANT WIDE_TEXT("Tenant", ".metadata.tenant", "Whose space the object is in.")
#define END { .cell = NULL }

static const struct column of_namespaces[] = {
	OF("Status", "string", 0, cell_of_phase, ".status.phase", "Active, or Terminating while it is being deleted."), AGE,
	TENANT, END
};
static const struct column of_config_maps[] = {
	OF("Data", "string", 0, cell_of_data, "", "How many keys it has."), AGE, END
};
static const struct column of_secrets[] = {
	TEXT("Type", ".type", "What the data are for."),
	OF("Data", "string", 0, cell_of_data, "", "How many keys it has."), AGE, END
};
static const struct column of_pods[] = {
	OF("Ready", "string", 0, cell_of_pod_ready, "", "How many of its containers are ready."),
	OF("Status", "string", 0, cell_of_pod_status, "", "The phase, or the reason for it."),
	OF("Restarts", "integer", 0, cell_of_pod_restarts, "", "How often its containers were restarted."), AGE,
	OF("IP", "string", WIDE, cell_of_text_or_none, ".status.podIP", "The address of the pod."),
	OF("Node", "string", WIDE, cell_of_text_or_none, ".spec.nodeName", "The node that it is bound to."),
	OF("Nominated Node", "string", WIDE, cell_of_text_or_none, ".status.nominatedNodeName", "The node it may be bound to."),
	END
};
static const struct column of_volumes[] = {
	TEXT("Capacity", ".spec.capacity.storage", "How much it holds."),
	OF("Access Modes", "string", 0, cell_of_access_modes, ".spec.accessModes", "The ways in which it can be mounted."),
	TEXT("Reclaim Policy", ".spec.persistentVolumeReclaimPolicy", "What happens to it when its claim is gone."),
	OF("Status", "string", 0, cell_of_phase, ".status.phase", "Whether it is available, bound or released."),
	OF("Claim", "string", 0, cell_of_claim, ".spec.claimRef", "The claim that it is bound to."),
	TEXT("StorageClass", ".spec.storageClassName", "The class it belongs to."),
	TEXT("Reason", ".status.reason", "Why it is in this state."), AGE,
	WIDE_TEXT("VolumeMode", ".spec.volumeMode", "Whether it is a file system or a block device."), TENANT, END
};
static const struct column of_service_accounts[] = {
	OF("Secrets", "string", 0, cell_of_count, ".secrets", "How many secrets it may use."), AGE, END
};
static const struct column of_services[] = {
	TEXT("Type", ".spec.type", "How it is exposed."),
	OF("Cluster-IP", "string", 0, cell_of_text_or_none, ".spec.clusterIP", "Its address."),
	OF("External-IP", "string", 0, cell_of_external_ip, ".spec.externalIPs", "Its addresses from outside."),
	OF("Port(s)", "string", 0, cell_of_ports, ".spec.ports", "The ports it listens at."), AGE,
	OF("Selector", "string", WIDE, cell_of_pairs, ".spec.selector", "The pods it leads to."), END
};
static const struct column of_nodes[] = {
	OF("Status", "string", 0, cell_of_node_status, ".status.conditions[?(@.type==\"Ready\")].status", "Whether it is ready."),
	OF("Roles", "string", 0, cell_of_roles, "", "Its roles."), AGE,
	TEXT("Version", ".status.nodeInfo.kubeletVersion", "The version of its kubelet."), END
};
static const struct column of_tenants[] = {
	TEXT("Status", ".status.phase", "Active, or Terminating once it is deleted."), AGE, END
};
static const struct column of_definitions[] = {
	TEXT("Created At", ".metadata.creationTimestamp", "When the definition was created."), TENANT, END
};
static const struct column of_daemon_sets[] = {
	OF("Desired", "integer", 0, cell_of_integer, ".status.desiredNumberScheduled", "How many pods there should be."),
	OF("Current", "integer", 0, cell_of_integer, ".status.currentNumberScheduled", "How many there are."),
	OF("Ready", "integer", 0, cell_of_integer, ".status.numberReady", "How many are ready."),
	OF("Up-to-date", "integer", 0, cell_of_integer, ".status.updatedNumberScheduled", "How many are of this generation."),
	OF("Available", "integer", 0, cell_of_integer, ".status.numberAvailable", "How many are available."),
	OF("Node Selector", "string", 0, cell_of_pairs, ".spec.template.spec.nodeSelector", "The nodes it is for."), AGE, END
};
static const struct column of_events[] = {
	OF("Last Seen", "string", 0, cell_of_last_seen, ".metadata.creationTimestamp", "When it happened last."),
	TEXT("Type", ".type", "Normal or Warning."), TEXT("Reason", ".reason", "Why it was told."),
	OF("Object", "string", 0, cell_of_event_object, ".involvedObject", "What it is about."),
	TEXT("Message", ".message", "What happened."), END
};

static const struct {
	const char *group, *kind;
	const struct column *columns;
} kinds[] = {
	{ "", "Namespace", of_namespaces }, { "", "ConfigMap", of_config_maps }, { "", "Secret", of_secrets },
	{ "", "Pod", of_pods }, { "", "PersistentVolume", of_volumes }, { "", "ServiceAccount", of_service_accounts },
	{ "", "Service", of_services }, { "", "Node", of_nodes }, { "", "Tenant", of_tenants }, { "", "Event", of_events },
	{ CRD_GROUP, "CustomResourceDefinition", of_definitions }, { "apps", "DaemonSet", of_daemon_sets },
};

const struct column *builtin_columns(struct str group, struct str kind)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (str_eq_c(group, kinds[i].group) && str_eq_c(kind, kinds[i].kind))
			return kinds[i].columns;
	}
	return NULL;
}
