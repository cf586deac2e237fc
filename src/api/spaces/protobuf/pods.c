// SPDX-License-Identifier: Apache-2.0
// Pods: their specification and their status.
#include "base/base.h"

#include "api/spaces/protobuf/tables.h"

MESSAGE(container_port,
	TEXT(1, "name"), INT(2, "hostPort"), INT_ZERO(3, "containerPort"), TEXT(4, "protocol"), TEXT(5, "hostIP"));
MESSAGE(config_map_env_source, INLINE(1, local_object_reference), BOOL_ZERO(2, "optional"));
MESSAGE(secret_env_source, INLINE(1, local_object_reference), BOOL_ZERO(2, "optional"));
MESSAGE(env_from_source,
	TEXT(1, "prefix"), OBJECT(2, "configMapRef", config_map_env_source), OBJECT(3, "secretRef", secret_env_source));
MESSAGE(config_map_key_selector, INLINE(1, local_object_reference), TEXT_ZERO(2, "key"), BOOL_ZERO(3, "optional"));
MESSAGE(secret_key_selector, INLINE(1, local_object_reference), TEXT_ZERO(2, "key"), BOOL_ZERO(3, "optional"));
MESSAGE(env_var_source,
	OBJECT(1, "fieldRef", object_field_selector), OBJECT(2, "resourceFieldRef", resource_field_selector),
	OBJECT(3, "configMapKeyRef", config_map_key_selector), OBJECT(4, "secretKeyRef", secret_key_selector));
MESSAGE(env_var, TEXT_ZERO(1, "name"), TEXT(2, "value"), OBJECT(3, "valueFrom", env_var_source));
MESSAGE(resource_claim, TEXT_ZERO(1, "name"), TEXT(2, "request"));
MESSAGE(resource_requirements,
	MAP_OF(1, "limits", quantity), MAP_OF(2, "requests", quantity), LIST(3, "claims", resource_claim));
MESSAGE(container_resize_policy, TEXT_ZERO(1, "resourceName"), TEXT_ZERO(2, "restartPolicy"));
MESSAGE(volume_mount,
	TEXT_ZERO(1, "name"), BOOL(2, "readOnly"), TEXT_ZERO(3, "mountPath"), TEXT(4, "subPath"),
	TEXT_ZERO(5, "mountPropagation"), TEXT(6, "subPathExpr"), TEXT_ZERO(7, "recursiveReadOnly"));
MESSAGE(volume_device, TEXT_ZERO(1, "name"), TEXT_ZERO(2, "devicePath"));
MESSAGE(exec_action, TEXTS(1, "command"));
MESSAGE(http_header, TEXT_ZERO(1, "name"), TEXT_ZERO(2, "value"));
MESSAGE(http_get_action,
	TEXT(1, "path"), OBJECT(2, "port", int_or_string), TEXT(3, "host"), TEXT(4, "scheme"),
	LIST(5, "httpHeaders", http_header));
MESSAGE(tcp_socket_action, OBJECT(1, "port", int_or_string), TEXT(2, "host"));
MESSAGE(grpc_action, INT_ZERO(1, "port"), TEXT_ZERO(2, "service"));
MESSAGE(probe_handler,
	OBJECT(1, "exec", exec_action), OBJECT(2, "httpGet", http_get_action),
	OBJECT(3, "tcpSocket", tcp_socket_action), OBJECT(4, "grpc", grpc_action));
MESSAGE(probe,
	INLINE(1, probe_handler), INT(2, "initialDelaySeconds"), INT(3, "timeoutSeconds"), INT(4, "periodSeconds"),
	INT(5, "successThreshold"), INT(6, "failureThreshold"), INT_ZERO(7, "terminationGracePeriodSeconds"));
MESSAGE(sleep_action, INT_ZERO(1, "seconds"));
MESSAGE(lifecycle_handler,
	OBJECT(1, "exec", exec_action), OBJECT(2, "httpGet", http_get_action),
	OBJECT(3, "tcpSocket", tcp_socket_action), OBJECT(4, "sleep", sleep_action));
MESSAGE(lifecycle, OBJECT(1, "postStart", lifecycle_handler), OBJECT(2, "preStop", lifecycle_handler));
MESSAGE(capabilities, TEXTS(1, "add"), TEXTS(2, "drop"));
MESSAGE(se_linux_options, TEXT(1, "user"), TEXT(2, "role"), TEXT(3, "type"), TEXT(4, "level"));
MESSAGE(windows_security_context_options,
	TEXT_ZERO(1, "gmsaCredentialSpecName"), TEXT_ZERO(2, "gmsaCredentialSpec"), TEXT_ZERO(3, "runAsUserName"),
	BOOL_ZERO(4, "hostProcess"));
MESSAGE(seccomp_profile, TEXT_ZERO(1, "type"), TEXT_ZERO(2, "localhostProfile"));
MESSAGE(app_armor_profile, TEXT_ZERO(1, "type"), TEXT_ZERO(2, "localhostProfile"));
MESSAGE(security_context,
	OBJECT(1, "capabilities", capabilities), BOOL_ZERO(2, "privileged"),
	OBJECT(3, "seLinuxOptions", se_linux_options), INT_ZERO(4, "runAsUser"), BOOL_ZERO(5, "runAsNonRoot"),
	BOOL_ZERO(6, "readOnlyRootFilesystem"), BOOL_ZERO(7, "allowPrivilegeEscalation"), INT_ZERO(8, "runAsGroup"),
	TEXT_ZERO(9, "procMount"), OBJECT(10, "windowsOptions", windows_security_context_options),
	OBJECT(11, "seccompProfile", seccomp_profile), OBJECT(12, "appArmorProfile", app_armor_profile));
MESSAGE(container,
	TEXT_ZERO(1, "name"), TEXT(2, "image"), TEXTS(3, "command"), TEXTS(4, "args"), TEXT(5, "workingDir"),
	LIST(6, "ports", container_port), LIST(7, "env", env_var), OBJECT(8, "resources", resource_requirements),
	LIST(9, "volumeMounts", volume_mount), OBJECT(10, "livenessProbe", probe), OBJECT(11, "readinessProbe", probe),
	OBJECT(12, "lifecycle", lifecycle), TEXT(13, "terminationMessagePath"), TEXT(14, "imagePullPolicy"),
	OBJECT(15, "securityContext", security_context), BOOL(16, "stdin"), BOOL(17, "stdinOnce"), BOOL(18, "tty"),
	LIST(19, "envFrom", env_from_source), TEXT(20, "terminationMessagePolicy"),
	LIST(21, "volumeDevices", volume_device), OBJECT(22, "startupProbe", probe),
	LIST(23, "resizePolicy", container_resize_policy), TEXT_ZERO(24, "restartPolicy"));
// The members it shares with a container have the same field numbers.
MESSAGE(ephemeral_container, INLINE(1, container), TEXT(2, "targetContainerName"));
MESSAGE(sysctl, TEXT_ZERO(1, "name"), TEXT_ZERO(2, "value"));
MESSAGE(pod_security_context,
	OBJECT(1, "seLinuxOptions", se_linux_options), INT_ZERO(2, "runAsUser"), BOOL_ZERO(3, "runAsNonRoot"),
	INTS(4, "supplementalGroups"), INT_ZERO(5, "fsGroup"), INT_ZERO(6, "runAsGroup"), LIST(7, "sysctls", sysctl),
	OBJECT(8, "windowsOptions", windows_security_context_options), TEXT_ZERO(9, "fsGroupChangePolicy"),
	OBJECT(10, "seccompProfile", seccomp_profile), OBJECT(11, "appArmorProfile", app_armor_profile),
	TEXT_ZERO(12, "supplementalGroupsPolicy"), TEXT_ZERO(13, "seLinuxChangePolicy"));
MESSAGE(preferred_scheduling_term, INT_ZERO(1, "weight"), OBJECT(2, "preference", node_selector_term));
MESSAGE(node_affinity,
	OBJECT(1, "requiredDuringSchedulingIgnoredDuringExecution", node_selector),
	LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", preferred_scheduling_term));
MESSAGE(pod_affinity_term,
	OBJECT(1, "labelSelector", label_selector), TEXTS(2, "namespaces"), TEXT_ZERO(3, "topologyKey"),
	OBJECT(4, "namespaceSelector", label_selector), TEXTS(5, "matchLabelKeys"), TEXTS(6, "mismatchLabelKeys"));
MESSAGE(weighted_pod_affinity_term, INT_ZERO(1, "weight"), OBJECT(2, "podAffinityTerm", pod_affinity_term));
MESSAGE(pod_affinity,
	LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", pod_affinity_term),
	LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", weighted_pod_affinity_term));
MESSAGE(pod_anti_affinity,
	LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", pod_affinity_term),
	LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", weighted_pod_affinity_term));
MESSAGE(affinity,
	OBJECT(1, "nodeAffinity", node_affinity), OBJECT(2, "podAffinity", pod_affinity),
	OBJECT(3, "podAntiAffinity", pod_anti_affinity));
MESSAGE(toleration,
	TEXT(1, "key"), TEXT(2, "operator"), TEXT(3, "value"), TEXT(4, "effect"), INT_ZERO(5, "tolerationSeconds"));
MESSAGE(host_alias, TEXT_ZERO(1, "ip"), TEXTS(2, "hostnames"));
MESSAGE(pod_dns_config_option, TEXT(1, "name"), TEXT_ZERO(2, "value"));
MESSAGE(pod_dns_config, TEXTS(1, "nameservers"), TEXTS(2, "searches"), LIST(3, "options", pod_dns_config_option));
MESSAGE(pod_readiness_gate, TEXT_ZERO(1, "conditionType"));
MESSAGE(topology_spread_constraint,
	INT_ZERO(1, "maxSkew"), TEXT_ZERO(2, "topologyKey"), TEXT_ZERO(3, "whenUnsatisfiable"),
	OBJECT(4, "labelSelector", label_selector), INT_ZERO(5, "minDomains"), TEXT_ZERO(6, "nodeAffinityPolicy"),
	TEXT_ZERO(7, "nodeTaintsPolicy"), TEXTS(8, "matchLabelKeys"));
MESSAGE(pod_os, TEXT_ZERO(1, "name"));
MESSAGE(pod_scheduling_gate, TEXT_ZERO(1, "name"));
MESSAGE(pod_resource_claim,
	TEXT_ZERO(1, "name"), TEXT_ZERO(3, "resourceClaimName"), TEXT_ZERO(4, "resourceClaimTemplateName"));
SHARED_MESSAGE(pod_spec,
	LIST(1, "volumes", volume), LIST(2, "containers", container), TEXT(3, "restartPolicy"),
	INT_ZERO(4, "terminationGracePeriodSeconds"), INT_ZERO(5, "activeDeadlineSeconds"), TEXT(6, "dnsPolicy"),
	MAP_OF_TEXTS(7, "nodeSelector"), TEXT(8, "serviceAccountName"), TEXT(9, "serviceAccount"), TEXT(10, "nodeName"),
	BOOL(11, "hostNetwork"), BOOL(12, "hostPID"), BOOL(13, "hostIPC"),
	OBJECT(14, "securityContext", pod_security_context), LIST(15, "imagePullSecrets", local_object_reference),
	TEXT(16, "hostname"), TEXT(17, "subdomain"), OBJECT(18, "affinity", affinity), TEXT(19, "schedulerName"),
	LIST(20, "initContainers", container), BOOL_ZERO(21, "automountServiceAccountToken"),
	LIST(22, "tolerations", toleration), LIST(23, "hostAliases", host_alias), TEXT(24, "priorityClassName"),
	INT_ZERO(25, "priority"), OBJECT(26, "dnsConfig", pod_dns_config), BOOL_ZERO(27, "shareProcessNamespace"),
	LIST(28, "readinessGates", pod_readiness_gate), TEXT_ZERO(29, "runtimeClassName"),
	BOOL_ZERO(30, "enableServiceLinks"), TEXT_ZERO(31, "preemptionPolicy"), MAP_OF(32, "overhead", quantity),
	LIST(33, "topologySpreadConstraints", topology_spread_constraint),
	LIST(34, "ephemeralContainers", ephemeral_container), BOOL_ZERO(35, "setHostnameAsFQDN"),
	OBJECT(36, "os", pod_os), BOOL_ZERO(37, "hostUsers"), LIST(38, "schedulingGates", pod_scheduling_gate),
	LIST(39, "resourceClaims", pod_resource_claim), OBJECT(40, "resources", resource_requirements));
MESSAGE(pod_condition,
	TEXT_ZERO(1, "type"), TEXT_ZERO(2, "status"), OBJECT(3, "lastProbeTime", time),
	OBJECT(4, "lastTransitionTime", time), TEXT(5, "reason"), TEXT(6, "message"));
MESSAGE(host_ip, TEXT_ZERO(1, "ip"));
MESSAGE(pod_ip, TEXT_ZERO(1, "ip"));
MESSAGE(container_state_waiting, TEXT(1, "reason"), TEXT(2, "message"));
MESSAGE(container_state_running, OBJECT(1, "startedAt", time));
MESSAGE(container_state_terminated,
	INT_ZERO(1, "exitCode"), INT(2, "signal"), TEXT(3, "reason"), TEXT(4, "message"), OBJECT(5, "startedAt", time),
	OBJECT(6, "finishedAt", time), TEXT(7, "containerID"));
MESSAGE(container_state,
	OBJECT(1, "waiting", container_state_waiting), OBJECT(2, "running", container_state_running),
	OBJECT(3, "terminated", container_state_terminated));
MESSAGE(volume_mount_status,
	TEXT_ZERO(1, "name"), TEXT_ZERO(2, "mountPath"), BOOL(3, "readOnly"), TEXT_ZERO(4, "recursiveReadOnly"));
MESSAGE(linux_container_user, INT_ZERO(1, "uid"), INT_ZERO(2, "gid"), INTS(3, "supplementalGroups"));
MESSAGE(container_user, OBJECT(1, "linux", linux_container_user));
MESSAGE(resource_health, TEXT_ZERO(1, "resourceID"), TEXT(2, "health"));
MESSAGE(resource_status, TEXT_ZERO(1, "name"), LIST(2, "resources", resource_health));
MESSAGE(container_status,
	TEXT_ZERO(1, "name"), OBJECT(2, "state", container_state), OBJECT(3, "lastState", container_state),
	BOOL_ZERO(4, "ready"), INT_ZERO(5, "restartCount"), TEXT_ZERO(6, "image"), TEXT_ZERO(7, "imageID"),
	TEXT(8, "containerID"), BOOL_ZERO(9, "started"), MAP_OF(10, "allocatedResources", quantity),
	OBJECT(11, "resources", resource_requirements), LIST(12, "volumeMounts", volume_mount_status),
	OBJECT(13, "user", container_user), LIST(14, "allocatedResourcesStatus", resource_status));
MESSAGE(pod_resource_claim_status, TEXT_ZERO(1, "name"), TEXT_ZERO(2, "resourceClaimName"));
SHARED_MESSAGE(pod_status,
	TEXT(1, "phase"), LIST(2, "conditions", pod_condition), TEXT(3, "message"), TEXT(4, "reason"),
	TEXT(5, "hostIP"), TEXT(6, "podIP"), OBJECT(7, "startTime", time),
	LIST(8, "containerStatuses", container_status), TEXT(9, "qosClass"),
	LIST(10, "initContainerStatuses", container_status), TEXT(11, "nominatedNodeName"), LIST(12, "podIPs", pod_ip),
	LIST(13, "ephemeralContainerStatuses", container_status), TEXT(14, "resize"),
	LIST(15, "resourceClaimStatuses", pod_resource_claim_status), LIST(16, "hostIPs", host_ip));
