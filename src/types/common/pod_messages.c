// SPDX-License-Identifier: Apache-2.0
// The protobuf messages of pods: specification and status.
#include "base/base.h"

#include "types/common/messages.h"

PB_MESSAGE(container_port,
	PB_TEXT(1, "name"), PB_INT(2, "hostPort"), PB_INT_ZERO(3, "containerPort"), PB_TEXT(4, "protocol"), PB_TEXT(5, "hostIP"));
PB_MESSAGE(config_map_env_source, PB_INLINE(1, local_object_reference), PB_BOOL_ZERO(2, "optional"));
PB_MESSAGE(secret_env_source, PB_INLINE(1, local_object_reference), PB_BOOL_ZERO(2, "optional"));
PB_MESSAGE(env_from_source,
	PB_TEXT(1, "prefix"), PB_OBJECT(2, "configMapRef", config_map_env_source), PB_OBJECT(3, "secretRef", secret_env_source));
PB_MESSAGE(config_map_key_selector, PB_INLINE(1, local_object_reference), PB_TEXT_ZERO(2, "key"), PB_BOOL_ZERO(3, "optional"));
PB_MESSAGE(secret_key_selector, PB_INLINE(1, local_object_reference), PB_TEXT_ZERO(2, "key"), PB_BOOL_ZERO(3, "optional"));
PB_MESSAGE(env_var_source,
	PB_OBJECT(1, "fieldRef", object_field_selector), PB_OBJECT(2, "resourceFieldRef", resource_field_selector),
	PB_OBJECT(3, "configMapKeyRef", config_map_key_selector), PB_OBJECT(4, "secretKeyRef", secret_key_selector));
PB_MESSAGE(env_var, PB_TEXT_ZERO(1, "name"), PB_TEXT(2, "value"), PB_OBJECT(3, "valueFrom", env_var_source));
PB_MESSAGE(resource_claim, PB_TEXT_ZERO(1, "name"), PB_TEXT(2, "request"));
PB_MESSAGE(resource_requirements,
	PB_MAP_OF(1, "limits", quantity), PB_MAP_OF(2, "requests", quantity), PB_LIST(3, "claims", resource_claim));
PB_MESSAGE(container_resize_policy, PB_TEXT_ZERO(1, "resourceName"), PB_TEXT_ZERO(2, "restartPolicy"));
PB_MESSAGE(volume_mount,
	PB_TEXT_ZERO(1, "name"), PB_BOOL(2, "readOnly"), PB_TEXT_ZERO(3, "mountPath"), PB_TEXT(4, "subPath"),
	PB_TEXT_ZERO(5, "mountPropagation"), PB_TEXT(6, "subPathExpr"), PB_TEXT_ZERO(7, "recursiveReadOnly"));
PB_MESSAGE(volume_device, PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(2, "devicePath"));
PB_MESSAGE(exec_action, PB_TEXTS(1, "command"));
PB_MESSAGE(http_header, PB_TEXT_ZERO(1, "name"), PB_TEXT_VALUE(2, "value"));
PB_MESSAGE(http_get_action,
	PB_TEXT(1, "path"), PB_OBJECT(2, "port", int_or_string), PB_TEXT(3, "host"), PB_TEXT(4, "scheme"),
	PB_LIST(5, "httpHeaders", http_header));
PB_MESSAGE(tcp_socket_action, PB_OBJECT(1, "port", int_or_string), PB_TEXT(2, "host"));
PB_MESSAGE(grpc_action, PB_INT_ZERO(1, "port"), PB_TEXT_ZERO(2, "service"));
PB_MESSAGE(probe_handler,
	PB_OBJECT(1, "exec", exec_action), PB_OBJECT(2, "httpGet", http_get_action), PB_OBJECT(3, "tcpSocket", tcp_socket_action),
	PB_OBJECT(4, "grpc", grpc_action));
PB_MESSAGE(probe,
	PB_INLINE(1, probe_handler), PB_INT(2, "initialDelaySeconds"), PB_INT(3, "timeoutSeconds"), PB_INT(4, "periodSeconds"),
	PB_INT(5, "successThreshold"), PB_INT(6, "failureThreshold"), PB_LONG_ZERO(7, "terminationGracePeriodSeconds"));
PB_MESSAGE(sleep_action, PB_LONG_ZERO(1, "seconds"));
PB_MESSAGE(lifecycle_handler,
	PB_OBJECT(1, "exec", exec_action), PB_OBJECT(2, "httpGet", http_get_action), PB_OBJECT(3, "tcpSocket", tcp_socket_action),
	PB_OBJECT(4, "sleep", sleep_action));
PB_MESSAGE(lifecycle, PB_OBJECT(1, "postStart", lifecycle_handler), PB_OBJECT(2, "preStop", lifecycle_handler));
PB_MESSAGE(capabilities, PB_TEXTS(1, "add"), PB_TEXTS(2, "drop"));
PB_MESSAGE(se_linux_options, PB_TEXT(1, "user"), PB_TEXT(2, "role"), PB_TEXT(3, "type"), PB_TEXT(4, "level"));
PB_MESSAGE(windows_security_context_options,
	PB_TEXT_ZERO(1, "gmsaCredentialSpecName"), PB_TEXT_ZERO(2, "gmsaCredentialSpec"), PB_TEXT_ZERO(3, "runAsUserName"),
	PB_BOOL_ZERO(4, "hostProcess"));
PB_MESSAGE(seccomp_profile, PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "localhostProfile"));
PB_MESSAGE(app_armor_profile, PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "localhostProfile"));
PB_MESSAGE(security_context,
	PB_OBJECT(1, "capabilities", capabilities), PB_BOOL_ZERO(2, "privileged"),
	PB_OBJECT(3, "seLinuxOptions", se_linux_options), PB_LONG_ZERO(4, "runAsUser"), PB_BOOL_ZERO(5, "runAsNonRoot"),
	PB_BOOL_ZERO(6, "readOnlyRootFilesystem"), PB_BOOL_ZERO(7, "allowPrivilegeEscalation"), PB_LONG_ZERO(8, "runAsGroup"),
	PB_TEXT_ZERO(9, "procMount"), PB_OBJECT(10, "windowsOptions", windows_security_context_options),
	PB_OBJECT(11, "seccompProfile", seccomp_profile), PB_OBJECT(12, "appArmorProfile", app_armor_profile));
PB_MESSAGE(container,
	PB_TEXT_ZERO(1, "name"), PB_TEXT(2, "image"), PB_TEXTS(3, "command"), PB_TEXTS(4, "args"), PB_TEXT(5, "workingDir"),
	PB_LIST(6, "ports", container_port), PB_LIST(7, "env", env_var), PB_VALUE(8, "resources", resource_requirements),
	PB_LIST(9, "volumeMounts", volume_mount), PB_OBJECT(10, "livenessProbe", probe), PB_OBJECT(11, "readinessProbe", probe),
	PB_OBJECT(12, "lifecycle", lifecycle), PB_TEXT(13, "terminationMessagePath"), PB_TEXT(14, "imagePullPolicy"),
	PB_OBJECT(15, "securityContext", security_context), PB_BOOL(16, "stdin"), PB_BOOL(17, "stdinOnce"), PB_BOOL(18, "tty"),
	PB_LIST(19, "envFrom", env_from_source), PB_TEXT(20, "terminationMessagePolicy"),
	PB_LIST(21, "volumeDevices", volume_device), PB_OBJECT(22, "startupProbe", probe),
	PB_LIST(23, "resizePolicy", container_resize_policy), PB_TEXT_ZERO(24, "restartPolicy"));
// The members it shares with a container have the same field numbers.
PB_MESSAGE(ephemeral_container, PB_INLINE(1, container), PB_TEXT(2, "targetContainerName"));
PB_MESSAGE(sysctl, PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(2, "value"));
PB_MESSAGE(pod_security_context,
	PB_OBJECT(1, "seLinuxOptions", se_linux_options), PB_LONG_ZERO(2, "runAsUser"), PB_BOOL_ZERO(3, "runAsNonRoot"),
	PB_LONGS(4, "supplementalGroups"), PB_LONG_ZERO(5, "fsGroup"), PB_LONG_ZERO(6, "runAsGroup"), PB_LIST(7, "sysctls", sysctl),
	PB_OBJECT(8, "windowsOptions", windows_security_context_options), PB_TEXT_ZERO(9, "fsGroupChangePolicy"),
	PB_OBJECT(10, "seccompProfile", seccomp_profile), PB_OBJECT(11, "appArmorProfile", app_armor_profile),
	PB_TEXT_ZERO(12, "supplementalGroupsPolicy"), PB_TEXT_ZERO(13, "seLinuxChangePolicy"));
PB_MESSAGE(preferred_scheduling_term, PB_INT_ZERO(1, "weight"), PB_OBJECT(2, "preference", node_selector_term));
PB_MESSAGE(node_affinity,
	PB_OBJECT(1, "requiredDuringSchedulingIgnoredDuringExecution", node_selector),
	PB_LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", preferred_scheduling_term));
PB_MESSAGE(pod_affinity_term,
	PB_OBJECT(1, "labelSelector", label_selector), PB_TEXTS(2, "namespaces"), PB_TEXT_ZERO(3, "topologyKey"),
	PB_OBJECT(4, "namespaceSelector", label_selector), PB_TEXTS(5, "matchLabelKeys"), PB_TEXTS(6, "mismatchLabelKeys"));
PB_MESSAGE(weighted_pod_affinity_term, PB_INT_ZERO(1, "weight"), PB_OBJECT(2, "podAffinityTerm", pod_affinity_term));
PB_MESSAGE(pod_affinity,
	PB_LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", pod_affinity_term),
	PB_LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", weighted_pod_affinity_term));
PB_MESSAGE(pod_anti_affinity,
	PB_LIST(1, "requiredDuringSchedulingIgnoredDuringExecution", pod_affinity_term),
	PB_LIST(2, "preferredDuringSchedulingIgnoredDuringExecution", weighted_pod_affinity_term));
PB_MESSAGE(affinity,
	PB_OBJECT(1, "nodeAffinity", node_affinity), PB_OBJECT(2, "podAffinity", pod_affinity),
	PB_OBJECT(3, "podAntiAffinity", pod_anti_affinity));
PB_MESSAGE(toleration,
	PB_TEXT(1, "key"), PB_TEXT(2, "operator"), PB_TEXT(3, "value"), PB_TEXT(4, "effect"), PB_LONG_ZERO(5, "tolerationSeconds"));
PB_MESSAGE(host_alias, PB_TEXT_ZERO(1, "ip"), PB_TEXTS(2, "hostnames"));
PB_MESSAGE(pod_dns_config_option, PB_TEXT(1, "name"), PB_TEXT_ZERO(2, "value"));
PB_MESSAGE(pod_dns_config, PB_TEXTS(1, "nameservers"), PB_TEXTS(2, "searches"), PB_LIST(3, "options", pod_dns_config_option));
PB_MESSAGE(pod_readiness_gate, PB_TEXT_ZERO(1, "conditionType"));
PB_MESSAGE(topology_spread_constraint,
	PB_INT_ZERO(1, "maxSkew"), PB_TEXT_ZERO(2, "topologyKey"), PB_TEXT_ZERO(3, "whenUnsatisfiable"),
	PB_OBJECT(4, "labelSelector", label_selector), PB_INT_ZERO(5, "minDomains"), PB_TEXT_ZERO(6, "nodeAffinityPolicy"),
	PB_TEXT_ZERO(7, "nodeTaintsPolicy"), PB_TEXTS(8, "matchLabelKeys"));
PB_MESSAGE(pod_os, PB_TEXT_ZERO(1, "name"));
PB_MESSAGE(pod_scheduling_gate, PB_TEXT_ZERO(1, "name"));
PB_MESSAGE(pod_resource_claim,
	PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(3, "resourceClaimName"), PB_TEXT_ZERO(4, "resourceClaimTemplateName"));
PB_SHARED_MESSAGE(pod_spec,
	PB_LIST(1, "volumes", volume), PB_LIST(2, "containers", container), PB_TEXT(3, "restartPolicy"),
	PB_LONG_ZERO(4, "terminationGracePeriodSeconds"), PB_LONG_ZERO(5, "activeDeadlineSeconds"), PB_TEXT(6, "dnsPolicy"),
	PB_MAP_OF_TEXTS(7, "nodeSelector"), PB_TEXT(8, "serviceAccountName"), PB_TEXT(9, "serviceAccount"),
	PB_TEXT(10, "nodeName"), PB_BOOL(11, "hostNetwork"), PB_BOOL(12, "hostPID"), PB_BOOL(13, "hostIPC"),
	PB_OBJECT(14, "securityContext", pod_security_context), PB_LIST(15, "imagePullSecrets", local_object_reference),
	PB_TEXT(16, "hostname"), PB_TEXT(17, "subdomain"), PB_OBJECT(18, "affinity", affinity), PB_TEXT(19, "schedulerName"),
	PB_LIST(20, "initContainers", container), PB_BOOL_ZERO(21, "automountServiceAccountToken"),
	PB_LIST(22, "tolerations", toleration), PB_LIST(23, "hostAliases", host_alias), PB_TEXT(24, "priorityClassName"),
	PB_INT_ZERO(25, "priority"), PB_OBJECT(26, "dnsConfig", pod_dns_config), PB_BOOL_ZERO(27, "shareProcessNamespace"),
	PB_LIST(28, "readinessGates", pod_readiness_gate), PB_TEXT_ZERO(29, "runtimeClassName"),
	PB_BOOL_ZERO(30, "enableServiceLinks"), PB_TEXT_ZERO(31, "preemptionPolicy"), PB_MAP_OF(32, "overhead", quantity),
	PB_LIST(33, "topologySpreadConstraints", topology_spread_constraint),
	PB_LIST(34, "ephemeralContainers", ephemeral_container), PB_BOOL_ZERO(35, "setHostnameAsFQDN"),
	PB_OBJECT(36, "os", pod_os), PB_BOOL_ZERO(37, "hostUsers"), PB_LIST(38, "schedulingGates", pod_scheduling_gate),
	PB_LIST(39, "resourceClaims", pod_resource_claim), PB_OBJECT(40, "resources", resource_requirements));
PB_MESSAGE(pod_condition,
	PB_TEXT_ZERO(1, "type"), PB_TEXT_ZERO(2, "status"), PB_OBJECT(3, "lastProbeTime", time),
	PB_OBJECT(4, "lastTransitionTime", time), PB_TEXT(5, "reason"), PB_TEXT(6, "message"));
PB_MESSAGE(host_ip, PB_TEXT_ZERO(1, "ip"));
PB_MESSAGE(pod_ip, PB_TEXT_ZERO(1, "ip"));
PB_MESSAGE(container_state_waiting, PB_TEXT(1, "reason"), PB_TEXT(2, "message"));
PB_MESSAGE(container_state_running, PB_OBJECT(1, "startedAt", time));
PB_MESSAGE(container_state_terminated,
	PB_INT_ZERO(1, "exitCode"), PB_INT(2, "signal"), PB_TEXT(3, "reason"), PB_TEXT(4, "message"),
	PB_OBJECT(5, "startedAt", time), PB_OBJECT(6, "finishedAt", time), PB_TEXT(7, "containerID"));
PB_MESSAGE(container_state,
	PB_OBJECT(1, "waiting", container_state_waiting), PB_OBJECT(2, "running", container_state_running),
	PB_OBJECT(3, "terminated", container_state_terminated));
PB_MESSAGE(volume_mount_status,
	PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(2, "mountPath"), PB_BOOL(3, "readOnly"), PB_TEXT_ZERO(4, "recursiveReadOnly"));
PB_MESSAGE(linux_container_user, PB_LONG_ZERO(1, "uid"), PB_LONG_ZERO(2, "gid"), PB_LONGS(3, "supplementalGroups"));
PB_MESSAGE(container_user, PB_OBJECT(1, "linux", linux_container_user));
PB_MESSAGE(resource_health, PB_TEXT_ZERO(1, "resourceID"), PB_TEXT(2, "health"));
PB_MESSAGE(resource_status, PB_TEXT_ZERO(1, "name"), PB_LIST(2, "resources", resource_health));
PB_MESSAGE(container_status,
	PB_TEXT_ZERO(1, "name"), PB_OBJECT(2, "state", container_state), PB_OBJECT(3, "lastState", container_state),
	PB_BOOL_ZERO(4, "ready"), PB_INT_ZERO(5, "restartCount"), PB_TEXT_ZERO(6, "image"), PB_TEXT_ZERO(7, "imageID"),
	PB_TEXT(8, "containerID"), PB_BOOL_ZERO(9, "started"), PB_MAP_OF(10, "allocatedResources", quantity),
	PB_OBJECT(11, "resources", resource_requirements), PB_LIST(12, "volumeMounts", volume_mount_status),
	PB_OBJECT(13, "user", container_user), PB_LIST(14, "allocatedResourcesStatus", resource_status));
PB_MESSAGE(pod_resource_claim_status, PB_TEXT_ZERO(1, "name"), PB_TEXT_ZERO(2, "resourceClaimName"));
PB_SHARED_MESSAGE(pod_status,
	PB_TEXT(1, "phase"), PB_LIST(2, "conditions", pod_condition), PB_TEXT(3, "message"), PB_TEXT(4, "reason"),
	PB_TEXT(5, "hostIP"), PB_TEXT(6, "podIP"), PB_OBJECT(7, "startTime", time),
	PB_LIST(8, "containerStatuses", container_status), PB_TEXT(9, "qosClass"),
	PB_LIST(10, "initContainerStatuses", container_status), PB_TEXT(11, "nominatedNodeName"), PB_LIST(12, "podIPs", pod_ip),
	PB_LIST(13, "ephemeralContainerStatuses", container_status), PB_TEXT(14, "resize"),
	PB_LIST(15, "resourceClaimStatuses", pod_resource_claim_status), PB_LIST(16, "hostIPs", host_ip));
