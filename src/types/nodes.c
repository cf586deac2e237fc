// SPDX-License-Identifier: Apache-2.0
// Nodes of the cluster, in the system's space only. Bare metal's nodes are another type (registry/baremetal/).
#include "base/base.h"

#include "base/pool.h"
#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field node_spec_fields[] = {
	MEMBER_ANY("configSource"), MEMBER_TEXT("externalID", ""), MEMBER_TEXT("podCIDR", ""), MEMBER_TEXTS("podCIDRs", ""),
	MEMBER_TEXT("providerID", ""), MEMBER_OBJECTS("taints", NULL, ""),
	MEMBER_BOOLEAN("unschedulable", "Whether it takes no more pods."), MEMBER_END
};
static const struct type_field node_fields[] = {
	MEMBER_OBJECT("spec", node_spec_fields, "What it is to be."), MEMBER_OBJECT("status", NULL, "What it is."), MEMBER_END
};

static const struct merge_rule node_spec_merge[] = { MERGE_SET("podCIDRs"), MERGE_END };
static const struct merge_rule node_status_merge[] = {
	MERGE_LIST("conditions", "type"), MERGE_LIST("addresses", "type"), MERGE_END
};
static const struct merge_rule node_merge[] = {
	MERGE_IN("metadata", metadata_merge), MERGE_IN("spec", node_spec_merge), MERGE_IN("status", node_status_merge), MERGE_END
};

// ---- columns

static void cell_of_node_status(struct type_row *row, const struct type_column *column)
{
	const struct doc *unschedulable = check_object_member(check_object_member(row->object, "spec"), "unschedulable");
	struct str ready = doc_string(column_value(row, column));
	bool closed = doc_kind(unschedulable) == DOC_BOOL && doc_bool(unschedulable);

	column_add_text(row, str_printf(row->pool, "%s%s",
		ready.n == 0 ? "Unknown" : str_eq(ready, STR("True")) ? "Ready" : "NotReady", closed ? ",SchedulingDisabled" :
		""));
}

static void cell_of_roles(struct type_row *row, const struct type_column *column)
{
	static const struct str prefix = STR_INIT("node-role.kubernetes.io/");
	struct buf text = buf_new(row->pool, 32);

	UNUSED(column);
	for (struct doc_iter it = doc_iter(check_object_member(column_metadata(row), "labels")); doc_next(&it);) {
		if (str_starts(it.name, prefix) && it.name.n > prefix.n) {
			struct str role = str_part(it.name, prefix.n, it.name.n);
			buf_addf(&text, "%s%.*s", text.n > 0 ? "," : "", STR_ARG(role));
		}
	}
	column_add_text(row, text.n > 0 ? buf_str(&text) : STR("<none>"));
}

static const struct type_column of_nodes[] = {
	COLUMN("Status", "string", 0, cell_of_node_status, ".status.conditions[?(@.type==\"Ready\")].status", "Whether it is "
		"ready."),
	COLUMN("Roles", "string", 0, cell_of_roles, "", "Its roles."), COLUMN_AGE,
	COLUMN_TEXT("Version", ".status.nodeInfo.kubeletVersion", "The version of its kubelet."), COLUMN_END
};

// ---- protobuf

PB_MESSAGE(taint, PB_TEXT_ZERO(1, "key"), PB_TEXT(2, "value"), PB_TEXT_ZERO(3, "effect"), PB_OBJECT(4, "timeAdded", time));
PB_MESSAGE(config_map_node_config_source,
	PB_TEXT_ZERO(1, "namespace"), PB_TEXT_ZERO(2, "name"), PB_TEXT(3, "uid"), PB_TEXT(4, "resourceVersion"),
	PB_TEXT_ZERO(5, "kubeletConfigKey"));
PB_MESSAGE(node_config_source, PB_OBJECT(2, "configMap", config_map_node_config_source));
PB_MESSAGE(node_spec,
	PB_TEXT(1, "podCIDR"), PB_TEXT(2, "externalID"), PB_TEXT(3, "providerID"), PB_BOOL(4, "unschedulable"),
	PB_LIST(5, "taints", taint), PB_OBJECT(6, "configSource", node_config_source), PB_TEXTS(7, "podCIDRs"));
PB_MESSAGE(node_condition,
	PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "status"), PB_OBJECT(3, "lastHeartbeatTime", time),
	PB_OBJECT(4, "lastTransitionTime", time), PB_TEXT(5, "reason"), PB_TEXT(6, "message"));
PB_MESSAGE(node_address, PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "address"));
PB_MESSAGE(daemon_endpoint, PB_INT_ZERO(1, "Port"));
PB_MESSAGE(node_daemon_endpoints, PB_OBJECT(1, "kubeletEndpoint", daemon_endpoint));
PB_MESSAGE(node_system_info,
	PB_TEXT_ZERO(1, "machineID"), PB_TEXT_ZERO(2, "systemUUID"), PB_TEXT_ZERO(3, "bootID"), PB_TEXT_ZERO(4, "kernelVersion"),
	PB_TEXT_ZERO(5, "osImage"), PB_TEXT_ZERO(6, "containerRuntimeVersion"), PB_TEXT_ZERO(7, "kubeletVersion"),
	PB_TEXT_ZERO(8, "kubeProxyVersion"), PB_TEXT_ZERO(9, "operatingSystem"), PB_TEXT_ZERO(10, "architecture"));
PB_MESSAGE(container_image, PB_TEXTS(1, "names"), PB_LONG(2, "sizeBytes"));
PB_MESSAGE(attached_volume, PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(2, "devicePath"));
PB_MESSAGE(node_config_status,
	PB_OBJECT(1, "assigned", node_config_source), PB_OBJECT(2, "active", node_config_source),
	PB_OBJECT(3, "lastKnownGood", node_config_source), PB_TEXT(4, "error"));
PB_MESSAGE(node_runtime_handler_features, PB_BOOL_ZERO(1, "recursiveReadOnlyMounts"), PB_BOOL_ZERO(2, "userNamespaces"));
PB_MESSAGE(node_runtime_handler, PB_TEXT_ZERO(1, "name"), PB_OBJECT(2, "features", node_runtime_handler_features));
PB_MESSAGE(node_features, PB_BOOL_ZERO(1, "supplementalGroupsPolicy"));
PB_MESSAGE(node_status,
	PB_MAP_OF(1, "capacity", quantity), PB_MAP_OF(2, "allocatable", quantity), PB_TEXT(3, "phase"),
	PB_LIST(4, "conditions", node_condition), PB_LIST(5, "addresses", node_address),
	PB_OBJECT(6, "daemonEndpoints", node_daemon_endpoints), PB_OBJECT(7, "nodeInfo", node_system_info),
	PB_LIST(8, "images", container_image), PB_TEXTS(9, "volumesInUse"), PB_LIST(10, "volumesAttached", attached_volume),
	PB_OBJECT(11, "config", node_config_status), PB_LIST(12, "runtimeHandlers", node_runtime_handler),
	PB_OBJECT(13, "features", node_features));
PB_MESSAGE(node, PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", node_spec), PB_OBJECT(3, "status", node_status));

static const char *const selectable[] = {
	"spec.unschedulable", NULL
};

const struct type_parts nodes_parts = {
	.description = "A node of the cluster.",
	.fields = node_fields,
	.has_first_status = true,
	.merge = node_merge,
	.columns = of_nodes,
	.message = &proto_node,
	.selectable = selectable,
};
