// SPDX-License-Identifier: Apache-2.0
// Built-in kinds: their messages, and the table of kinds.
#include "base/base.h"

#include "api/spaces/protobuf/tables.h"
#include "api/spaces/protobuf/protobuf.h"

MESSAGE(namespace_spec, TEXTS(1, "finalizers"));
MESSAGE(namespace_condition,
	TEXT_ZERO(1, "type"), TEXT_ZERO(2, "status"), OBJECT(4, "lastTransitionTime", time), TEXT(5, "reason"),
	TEXT(6, "message"));
MESSAGE(namespace_status, TEXT(1, "phase"), LIST(2, "conditions", namespace_condition));
MESSAGE(namespace,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", namespace_spec), OBJECT(3, "status", namespace_status));
MESSAGE(config_map,
	OBJECT(1, "metadata", object_meta), MAP_OF_TEXTS(2, "data"), MAP_OF_BYTES(3, "binaryData"),
	BOOL_ZERO(4, "immutable"));
MESSAGE(secret,
	OBJECT(1, "metadata", object_meta), MAP_OF_BYTES(2, "data"), TEXT(3, "type"), MAP_OF_TEXTS(4, "stringData"),
	BOOL_ZERO(5, "immutable"));
MESSAGE(pod, OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", pod_spec), OBJECT(3, "status", pod_status));
MESSAGE(persistent_volume_status,
	TEXT(1, "phase"), TEXT(2, "message"), TEXT(3, "reason"), OBJECT(4, "lastPhaseTransitionTime", time));
MESSAGE(persistent_volume,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", persistent_volume_spec),
	OBJECT(3, "status", persistent_volume_status));
MESSAGE(field_selector_attributes, TEXT(1, "rawSelector"), LIST(2, "requirements", field_selector_requirement));
MESSAGE(label_selector_attributes, TEXT(1, "rawSelector"), LIST(2, "requirements", label_selector_requirement));
MESSAGE(resource_attributes,
	TEXT(1, "namespace"), TEXT(2, "verb"), TEXT(3, "group"), TEXT(4, "version"), TEXT(5, "resource"),
	TEXT(6, "subresource"), TEXT(7, "name"), OBJECT(8, "fieldSelector", field_selector_attributes),
	OBJECT(9, "labelSelector", label_selector_attributes));
MESSAGE(non_resource_attributes, TEXT(1, "path"), TEXT(2, "verb"));
MESSAGE(self_subject_access_review_spec,
	OBJECT(1, "resourceAttributes", resource_attributes),
	OBJECT(2, "nonResourceAttributes", non_resource_attributes));
MESSAGE(subject_access_review_status,
	BOOL_ZERO(1, "allowed"), TEXT(2, "reason"), TEXT(3, "evaluationError"), BOOL(4, "denied"));
MESSAGE(self_subject_access_review,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", self_subject_access_review_spec),
	OBJECT(3, "status", subject_access_review_status));
MESSAGE(self_subject_rules_review_spec, TEXT(1, "namespace"));
MESSAGE(resource_rule, TEXTS(1, "verbs"), TEXTS(2, "apiGroups"), TEXTS(3, "resources"), TEXTS(4, "resourceNames"));
MESSAGE(non_resource_rule, TEXTS(1, "verbs"), TEXTS(2, "nonResourceURLs"));
MESSAGE(subject_rules_review_status,
	LIST(1, "resourceRules", resource_rule), LIST(2, "nonResourceRules", non_resource_rule),
	BOOL_ZERO(3, "incomplete"), TEXT(4, "evaluationError"));
MESSAGE(self_subject_rules_review,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", self_subject_rules_review_spec),
	OBJECT(3, "status", subject_rules_review_status));
MESSAGE(user_info, TEXT(1, "username"), TEXT(2, "uid"), TEXTS(3, "groups"));
MESSAGE(self_subject_review_status, OBJECT(1, "userInfo", user_info));
MESSAGE(self_subject_review, OBJECT(1, "metadata", object_meta), OBJECT(2, "status", self_subject_review_status));
MESSAGE(preconditions, TEXT_ZERO(1, "uid"), TEXT_ZERO(2, "resourceVersion"));
MESSAGE(delete_options,
	INT_ZERO(1, "gracePeriodSeconds"), OBJECT(2, "preconditions", preconditions), BOOL_ZERO(3, "orphanDependents"),
	TEXT_ZERO(4, "propagationPolicy"), TEXTS(5, "dryRun"),
	BOOL_ZERO(6, "ignoreStoreReadErrorWithClusterBreakingPotential"));
MESSAGE(service_account,
	OBJECT(1, "metadata", object_meta), LIST(2, "secrets", object_reference),
	LIST(3, "imagePullSecrets", local_object_reference), BOOL_ZERO(4, "automountServiceAccountToken"));
MESSAGE(service_port,
	TEXT(1, "name"), TEXT(2, "protocol"), INT_ZERO(3, "port"), OBJECT(4, "targetPort", int_or_string),
	INT(5, "nodePort"), TEXT_ZERO(6, "appProtocol"));
MESSAGE(client_ip_config, INT_ZERO(1, "timeoutSeconds"));
MESSAGE(session_affinity_config, OBJECT(1, "clientIP", client_ip_config));
MESSAGE(service_spec,
	LIST(1, "ports", service_port), MAP_OF_TEXTS(2, "selector"), TEXT(3, "clusterIP"), TEXT(4, "type"),
	TEXTS(5, "externalIPs"), TEXT(7, "sessionAffinity"), TEXT(8, "loadBalancerIP"),
	TEXTS(9, "loadBalancerSourceRanges"), TEXT(10, "externalName"), TEXT(11, "externalTrafficPolicy"),
	INT(12, "healthCheckNodePort"), BOOL(13, "publishNotReadyAddresses"),
	OBJECT(14, "sessionAffinityConfig", session_affinity_config), TEXT_ZERO(17, "ipFamilyPolicy"),
	TEXTS(18, "clusterIPs"), TEXTS(19, "ipFamilies"), BOOL_ZERO(20, "allocateLoadBalancerNodePorts"),
	TEXT_ZERO(21, "loadBalancerClass"), TEXT_ZERO(22, "internalTrafficPolicy"),
	TEXT_ZERO(23, "trafficDistribution"));
MESSAGE(port_status, INT_ZERO(1, "port"), TEXT_ZERO(2, "protocol"), TEXT_ZERO(3, "error"));
MESSAGE(load_balancer_ingress,
	TEXT(1, "ip"), TEXT(2, "hostname"), TEXT_ZERO(3, "ipMode"), LIST(4, "ports", port_status));
MESSAGE(load_balancer_status, LIST(1, "ingress", load_balancer_ingress));
MESSAGE(service_status, OBJECT(1, "loadBalancer", load_balancer_status), LIST(2, "conditions", condition));
MESSAGE(service,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", service_spec), OBJECT(3, "status", service_status));
MESSAGE(taint, TEXT_ZERO(1, "key"), TEXT(2, "value"), TEXT_ZERO(3, "effect"), OBJECT(4, "timeAdded", time));
MESSAGE(config_map_node_config_source,
	TEXT_ZERO(1, "namespace"), TEXT_ZERO(2, "name"), TEXT(3, "uid"), TEXT(4, "resourceVersion"),
	TEXT_ZERO(5, "kubeletConfigKey"));
MESSAGE(node_config_source, OBJECT(2, "configMap", config_map_node_config_source));
MESSAGE(node_spec,
	TEXT(1, "podCIDR"), TEXT(2, "externalID"), TEXT(3, "providerID"), BOOL(4, "unschedulable"),
	LIST(5, "taints", taint), OBJECT(6, "configSource", node_config_source), TEXTS(7, "podCIDRs"));
MESSAGE(node_condition,
	TEXT_ZERO(1, "type"), TEXT_ZERO(2, "status"), OBJECT(3, "lastHeartbeatTime", time),
	OBJECT(4, "lastTransitionTime", time), TEXT(5, "reason"), TEXT(6, "message"));
MESSAGE(node_address, TEXT_ZERO(1, "type"), TEXT_ZERO(2, "address"));
MESSAGE(daemon_endpoint, INT_ZERO(1, "Port"));
MESSAGE(node_daemon_endpoints, OBJECT(1, "kubeletEndpoint", daemon_endpoint));
MESSAGE(node_system_info,
	TEXT_ZERO(1, "machineID"), TEXT_ZERO(2, "systemUUID"), TEXT_ZERO(3, "bootID"), TEXT_ZERO(4, "kernelVersion"),
	TEXT_ZERO(5, "osImage"), TEXT_ZERO(6, "containerRuntimeVersion"), TEXT_ZERO(7, "kubeletVersion"),
	TEXT_ZERO(8, "kubeProxyVersion"), TEXT_ZERO(9, "operatingSystem"), TEXT_ZERO(10, "architecture"));
MESSAGE(container_image, TEXTS(1, "names"), INT(2, "sizeBytes"));
MESSAGE(attached_volume, TEXT_ZERO(1, "name"), TEXT_ZERO(2, "devicePath"));
MESSAGE(node_config_status,
	OBJECT(1, "assigned", node_config_source), OBJECT(2, "active", node_config_source),
	OBJECT(3, "lastKnownGood", node_config_source), TEXT(4, "error"));
MESSAGE(node_runtime_handler_features, BOOL_ZERO(1, "recursiveReadOnlyMounts"), BOOL_ZERO(2, "userNamespaces"));
MESSAGE(node_runtime_handler, TEXT_ZERO(1, "name"), OBJECT(2, "features", node_runtime_handler_features));
MESSAGE(node_features, BOOL_ZERO(1, "supplementalGroupsPolicy"));
MESSAGE(node_status,
	MAP_OF(1, "capacity", quantity), MAP_OF(2, "allocatable", quantity), TEXT(3, "phase"),
	LIST(4, "conditions", node_condition), LIST(5, "addresses", node_address),
	OBJECT(6, "daemonEndpoints", node_daemon_endpoints), OBJECT(7, "nodeInfo", node_system_info),
	LIST(8, "images", container_image), TEXTS(9, "volumesInUse"), LIST(10, "volumesAttached", attached_volume),
	OBJECT(11, "config", node_config_status), LIST(12, "runtimeHandlers", node_runtime_handler),
	OBJECT(13, "features", node_features));
MESSAGE(node, OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", node_spec), OBJECT(3, "status", node_status));
MESSAGE(pod_template_spec, OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", pod_spec));
MESSAGE(rolling_update_daemon_set, OBJECT(1, "maxUnavailable", int_or_string), OBJECT(2, "maxSurge", int_or_string));
MESSAGE(daemon_set_update_strategy, TEXT(1, "type"), OBJECT(2, "rollingUpdate", rolling_update_daemon_set));
MESSAGE(daemon_set_spec,
	OBJECT(1, "selector", label_selector), OBJECT(2, "template", pod_template_spec),
	OBJECT(3, "updateStrategy", daemon_set_update_strategy), INT(4, "minReadySeconds"),
	INT_ZERO(6, "revisionHistoryLimit"));
MESSAGE(daemon_set_condition,
	TEXT_ZERO(1, "type"), TEXT_ZERO(2, "status"), OBJECT(3, "lastTransitionTime", time), TEXT(4, "reason"),
	TEXT(5, "message"));
MESSAGE(daemon_set_status,
	INT_ZERO(1, "currentNumberScheduled"), INT_ZERO(2, "numberMisscheduled"), INT_ZERO(3, "desiredNumberScheduled"),
	INT_ZERO(4, "numberReady"), INT(5, "observedGeneration"), INT(6, "updatedNumberScheduled"),
	INT(7, "numberAvailable"), INT(8, "numberUnavailable"), INT_ZERO(9, "collisionCount"),
	LIST(10, "conditions", daemon_set_condition));
MESSAGE(daemon_set,
	OBJECT(1, "metadata", object_meta), OBJECT(2, "spec", daemon_set_spec), OBJECT(3, "status", daemon_set_status));

// ---- the table of kinds

static const struct {
	const char *version, *kind; // version NULL: any, because clients send these with the version of the object they act on
	const struct protobuf_message *message;
} kinds[] = {
	{ "v1", "ConfigMap", &proto_config_map },
	{ "v1", "Namespace", &proto_namespace },
	{ "v1", "Node", &proto_node },
	{ "v1", "PersistentVolume", &proto_persistent_volume },
	{ "v1", "Pod", &proto_pod },
	{ "v1", "Secret", &proto_secret },
	{ "v1", "Service", &proto_service },
	{ "v1", "ServiceAccount", &proto_service_account },
	{ "apps/v1", "DaemonSet", &proto_daemon_set },
	{ "apiextensions.k8s.io/v1", "CustomResourceDefinition", &proto_custom_resource_definition },
	{ "authentication.k8s.io/v1", "SelfSubjectReview", &proto_self_subject_review },
	{ "authorization.k8s.io/v1", "SelfSubjectAccessReview", &proto_self_subject_access_review },
	{ "authorization.k8s.io/v1", "SelfSubjectRulesReview", &proto_self_subject_rules_review },
	{ NULL, "DeleteOptions", &proto_delete_options },
};

const struct protobuf_message *protobuf_kind(struct str version, struct str kind)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (str_eq_c(kind, kinds[i].kind) && (kinds[i].version == NULL || str_eq_c(version, kinds[i].version)))
			return kinds[i].message;
	return NULL;
}
