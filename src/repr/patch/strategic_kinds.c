// SPDX-License-Identifier: Apache-2.0
// How the lists of built-in kinds merge, as Kubernetes' types say (patchStrategy, patchMergeKey), and the clients that
// have them compiled in.
#include "base/base.h"

#include "repr/patch/strategic_patch.h"

#define LIST(name, key) { name, key, NULL }
#define LIST_OF(name, key, inside) { name, key, inside }
#define SET(name) { name, "", NULL }
#define IN(name, inside) { name, NULL, inside }
#define END { NULL, NULL, NULL }

static const struct merge_rule metadata[] = { LIST("ownerReferences", "uid"), SET("finalizers"), END };
static const struct merge_rule conditions[] = { LIST("conditions", "type"), END };

static const struct merge_rule container[] = {
	LIST("ports", "containerPort"), LIST("env", "name"), LIST("volumeMounts", "mountPath"),
	LIST("volumeDevices", "devicePath"), END
};
static const struct merge_rule pod_spec[] = {
	LIST_OF("containers", "name", container), LIST_OF("initContainers", "name", container),
	LIST_OF("ephemeralContainers", "name", container), LIST("volumes", "name"), LIST("imagePullSecrets", "name"),
	LIST("hostAliases", "ip"), LIST("topologySpreadConstraints", "topologyKey"), END
};
static const struct merge_rule pod_status[] = { LIST("conditions", "type"), LIST("podIPs", "ip"), END };
static const struct merge_rule pod[] = {
	IN("metadata", metadata), IN("spec", pod_spec), IN("status", pod_status), END
};

// What makes pods.
static const struct merge_rule pod_template[] = { IN("metadata", metadata), IN("spec", pod_spec), END };
static const struct merge_rule workload_spec[] = { IN("template", pod_template), END };
static const struct merge_rule workload[] = {
	IN("metadata", metadata), IN("spec", workload_spec), IN("status", conditions), END
};
static const struct merge_rule job_template[] = { IN("metadata", metadata), IN("spec", workload_spec), END };
static const struct merge_rule cron_job_spec[] = { IN("jobTemplate", job_template), END };
static const struct merge_rule cron_job[] = { IN("metadata", metadata), IN("spec", cron_job_spec), END };
static const struct merge_rule template_alone[] = { IN("metadata", metadata), IN("template", pod_template), END };

static const struct merge_rule plain[] = { IN("metadata", metadata), END };
static const struct merge_rule with_conditions[] = { IN("metadata", metadata), IN("status", conditions), END };
static const struct merge_rule service_account[] = { IN("metadata", metadata), LIST("secrets", "name"), END };
static const struct merge_rule service_spec[] = { LIST("ports", "port"), END };
static const struct merge_rule service[] = {
	IN("metadata", metadata), IN("spec", service_spec), IN("status", conditions), END
};
static const struct merge_rule node_spec[] = { SET("podCIDRs"), END };
static const struct merge_rule node_status[] = { LIST("conditions", "type"), LIST("addresses", "type"), END };
static const struct merge_rule node[] = {
	IN("metadata", metadata), IN("spec", node_spec), IN("status", node_status), END
};

static const struct {
	const char *group, *kind;
	const struct merge_rule *rules;
} kinds[] = {
	{ "", "ConfigMap", plain }, { "", "Endpoints", plain }, { "", "Event", plain }, { "", "LimitRange", plain },
	{ "", "Namespace", with_conditions }, { "", "Node", node }, { "", "PersistentVolume", plain },
	{ "", "PersistentVolumeClaim", with_conditions }, { "", "Pod", pod }, { "", "PodTemplate", template_alone },
	{ "", "ReplicationController", workload }, { "", "ResourceQuota", plain }, { "", "Secret", plain },
	{ "", "Service", service }, { "", "ServiceAccount", service_account }, { "", "Tenant", plain },
	{ "apiextensions.k8s.io", "CustomResourceDefinition", plain },
	{ "apps", "ControllerRevision", plain }, { "apps", "DaemonSet", workload }, { "apps", "Deployment", workload },
	{ "apps", "ReplicaSet", workload }, { "apps", "StatefulSet", workload }, { "batch", "CronJob", cron_job },
	{ "batch", "Job", workload },
};

const struct merge_rule *merge_rules_of(struct str group, struct str kind)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (str_eq_c(group, kinds[i].group) && str_eq_c(kind, kinds[i].kind))
			return kinds[i].rules;
	}
	return NULL;
}
