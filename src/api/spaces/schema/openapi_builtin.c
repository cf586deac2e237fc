// SPDX-License-Identifier: Apache-2.0
// Descriptions of the built-in kinds. Clients take a member that is not described for an error. So if members of an object are
// listed, all of them are; objects that are not described completely may have any form.
//
// kubectl 1.20 has two faults. It follows a member of any form only two levels deep when it makes a patch, and crashes if the
// third level contains an object or a list: so ANY is only for members that are less deep. An object without a list of members it
// does not follow at all; it prints a warning and uses its built-in knowledge.
#include "base/base.h"

#include "api/spaces/schema/openapi_internal.h"

#define TEXT(name, about) { name, OF_STRING, false, NULL, about }
#define INTEGER(name, about) { name, OF_INTEGER, false, NULL, about }
#define BOOLEAN(name, about) { name, OF_BOOLEAN, false, NULL, about }
#define TEXTS(name, about) { name, OF_STRINGS, false, NULL, about }
#define MAP(name, about) { name, OF_STRING_MAP, false, NULL, about }
#define BYTES(name, about) { name, OF_BYTES_MAP, false, NULL, about }
#define QUANTITIES(name, about) { name, OF_QUANTITY_MAP, false, NULL, about }
#define TIME(name, about) { name, OF_TIME, false, NULL, about }
#define ANY(name) { name, OF_ANY, false, NULL, "" }
#define OBJECT(name, inside, about) { name, OF_OBJECT, false, inside, about }
#define OBJECTS(name, inside, about) { name, OF_OBJECTS, false, inside, about }
#define MUST(name, type, inside, about) { name, type, true, inside, about }
#define END { NULL, OF_ANY, false, NULL, NULL }

// ---- metadata

static const struct builtin_field owner_reference[] = {
	MUST("apiVersion", OF_STRING, NULL, "The API of the owner."), MUST("kind", OF_STRING, NULL, "The kind of the owner."),
	MUST("name", OF_STRING, NULL, "The name of the owner."), MUST("uid", OF_STRING, NULL, "The uid of the owner."),
	BOOLEAN("blockOwnerDeletion", "Whether the owner waits for this object when it is deleted."),
	BOOLEAN("controller", "Whether the owner manages this object."), END
};
const struct builtin_field object_meta[] = {
	MAP("annotations", "Remarks of any kind, for tools."), TEXT("clusterName", "Not used."),
	TIME("creationTimestamp", "When the object was created. The server's."),
	INTEGER("deletionGracePeriodSeconds", "The server's."),
	TIME("deletionTimestamp", "When the object was asked to go. The server's."),
	TEXT("etag", "The tag of this state of the object. The server's."),
	TEXTS("finalizers", "Who has to be done before the object goes."),
	TEXT("generateName", "How the name begins that the server is to find."),
	INTEGER("generation", "Grows with each change of the object's spec. The server's."),
	INTEGER("hashKey", "Accepted and not used."), MAP("labels", "What the object is chosen by, by selectors."),
	BOOLEAN("locked", "Whether it may neither move nor be deleted."), ANY("managedFields"),
	TEXT("name", "Its name, unique in its namespace and of its type."),
	TEXT("namespace", "The namespace it is in."), OBJECTS("ownerReferences", owner_reference, "What this object belongs to."),
	TIME("purgeTimestamp", "When what was deleted goes for good. The server's."),
	TEXT("resourceVersion", "Which change of the server made this state. The server's."),
	TEXT("selfLink", "The full path of the object. The server's."),
	TEXT("tenant", "The tenant in whose space the object is."), ANY("traits"),
	TEXT("uid", "What identifies the object for ever, wherever it moves. The server's."), END
};

static const struct builtin_field condition[] = {
	MUST("type", OF_STRING, NULL, "What it is about."), MUST("status", OF_STRING, NULL, "True, False or Unknown."),
	TIME("lastProbeTime", "When it was looked at last."), TIME("lastTransitionTime", "When it changed last."),
	TIME("lastUpdateTime", "When it was told last."), TEXT("reason", "Why, in a word."), TEXT("message", "Why."),
	INTEGER("observedGeneration", "Of which generation that was."), END
};

// ---- small kinds

static const struct builtin_field namespace_spec[] = {
	TEXTS("finalizers", "Who has to be done before the namespace goes."), END
};
static const struct builtin_field namespace_status[] = {
	TEXT("phase", "Active, or Terminating."), OBJECTS("conditions", condition, "What is to be known of it."), END
};
static const struct builtin_field namespace_fields[] = {
	OBJECT("spec", namespace_spec, "What the namespace is to be."),
	OBJECT("status", namespace_status, "What it is."), END
};
static const struct builtin_field config_map[] = {
	MAP("data", "Texts by their keys."), BYTES("binaryData", "Bytes by their keys, in base64."),
	BOOLEAN("immutable", "Whether the data must stay as they are."), END
};
static const struct builtin_field secret[] = {
	BYTES("data", "Bytes by their keys, in base64."),
	MAP("stringData", "Texts by their keys, for writing: they go to data in base64."),
	TEXT("type", "What the data are for."), BOOLEAN("immutable", "Whether the data must stay as they are."), END
};
static const struct builtin_field local_reference[] = { TEXT("name", "The name of a secret in the same namespace."), END };
static const struct builtin_field object_reference[] = {
	TEXT("apiVersion", ""), TEXT("fieldPath", ""), TEXT("kind", ""), TEXT("name", ""), TEXT("namespace", ""),
	TEXT("resourceVersion", ""), TEXT("uid", ""), END
};
static const struct builtin_field service_account[] = {
	BOOLEAN("automountServiceAccountToken", "Whether pods get a token of this account."),
	OBJECTS("imagePullSecrets", local_reference, "Secrets for pulling images."),
	OBJECTS("secrets", object_reference, "Secrets that pods of this account may use."), END
};
static const struct builtin_field tenant_fields[] = {
	OBJECT("spec", NULL, "What the tenant is to be: multiTenancyCRDPolicy says which definition of a type comes first, "
		"LocalCRDFirst, SystemCRDFirst or NeverUseSystemCRDUnlessForced."),
	OBJECT("status", NULL, "What it is."), END
};

// ---- services

static const struct builtin_field service_port[] = {
	TEXT("appProtocol", "The protocol of the application."), TEXT("name", "The name of the port."),
	INTEGER("nodePort", "The port on each node."), MUST("port", OF_INTEGER, NULL, "The port that the service listens at."),
	TEXT("protocol", "TCP, UDP or SCTP."),
	{ "targetPort", OF_INT_OR_STRING, false, NULL, "The port of the pods, by number or name." }, END
};
static const struct builtin_field service_spec[] = {
	BOOLEAN("allocateLoadBalancerNodePorts", ""), TEXT("clusterIP", "The service's address."), TEXTS("clusterIPs", ""),
	TEXTS("externalIPs", "Addresses from outside."), TEXT("externalName", "What it is an alias of."),
	TEXT("externalTrafficPolicy", ""), INTEGER("healthCheckNodePort", ""), TEXT("internalTrafficPolicy", ""),
	TEXTS("ipFamilies", ""), TEXT("ipFamily", ""), TEXT("ipFamilyPolicy", ""), TEXT("loadBalancerClass", ""),
	TEXT("loadBalancerIP", ""), TEXTS("loadBalancerSourceRanges", ""), OBJECTS("ports", service_port, "Its ports."),
	BOOLEAN("publishNotReadyAddresses", ""), MAP("selector", "The labels of the pods it leads to."),
	TEXT("sessionAffinity", ""), ANY("sessionAffinityConfig"), TEXTS("topologyKeys", ""), TEXT("trafficDistribution", ""),
	TEXT("type", "ClusterIP, NodePort, LoadBalancer or ExternalName."), END
};
static const struct builtin_field service_status[] = {
	OBJECTS("conditions", condition, ""), ANY("loadBalancer"), END
};
static const struct builtin_field service_fields[] = {
	OBJECT("spec", service_spec, "What the service is to be."), OBJECT("status", service_status, "What it is."), END
};

// ---- volumes

#define VOLUME_SOURCES ANY("awsElasticBlockStore"), ANY("azureDisk"), ANY("azureFile"), ANY("cephfs"), ANY("cinder"), \
	ANY("csi"), ANY("fc"), ANY("flexVolume"), ANY("flocker"), ANY("gcePersistentDisk"), ANY("glusterfs"), ANY("hostPath"), \
	ANY("iscsi"), ANY("nfs"), ANY("photonPersistentDisk"), ANY("portworxVolume"), ANY("quobyte"), ANY("rbd"), \
	ANY("scaleIO"), ANY("storageos"), ANY("vsphereVolume")

static const struct builtin_field persistent_volume_spec[] = {
	TEXTS("accessModes", "The ways in which it can be mounted."), QUANTITIES("capacity", "How much it holds."),
	OBJECT("claimRef", object_reference, "The claim that it is bound to."), ANY("local"), TEXTS("mountOptions", ""),
	ANY("nodeAffinity"), TEXT("persistentVolumeReclaimPolicy", "Retain, Recycle or Delete."),
	TEXT("storageClassName", "The class it belongs to."), TEXT("volumeAttributesClassName", ""),
	TEXT("volumeMode", "Filesystem or Block."), VOLUME_SOURCES, END
};
static const struct builtin_field persistent_volume_status[] = {
	TIME("lastPhaseTransitionTime", ""), TEXT("message", "Why it is in this state."),
	TEXT("phase", "Available, Bound, Released or Failed."), TEXT("reason", "Why, in a word."), END
};
static const struct builtin_field persistent_volume[] = {
	OBJECT("spec", persistent_volume_spec, "What the volume is to be."),
	OBJECT("status", persistent_volume_status, "What it is."), END
};

// ---- pods

static const struct builtin_field container_port[] = {
	MUST("containerPort", OF_INTEGER, NULL, "The port."), TEXT("hostIP", ""), INTEGER("hostPort", ""),
	TEXT("name", "The name of the port."), TEXT("protocol", "TCP, UDP or SCTP."), END
};
static const struct builtin_field env_variable[] = {
	MUST("name", OF_STRING, NULL, "The name of the variable."), TEXT("value", "Its value."), ANY("valueFrom"), END
};
static const struct builtin_field volume_mount[] = {
	MUST("mountPath", OF_STRING, NULL, "Where it is mounted."), TEXT("mountPropagation", ""),
	MUST("name", OF_STRING, NULL, "Which volume."), BOOLEAN("readOnly", ""), TEXT("recursiveReadOnly", ""),
	TEXT("subPath", ""), TEXT("subPathExpr", ""), END
};
static const struct builtin_field volume_device[] = {
	MUST("devicePath", OF_STRING, NULL, "Where it is."), MUST("name", OF_STRING, NULL, "Which claim."), END
};
static const struct builtin_field resources[] = {
	OBJECTS("claims", NULL, ""), QUANTITIES("limits", "What may be taken."), QUANTITIES("requests", "What is needed."), END
};
static const struct builtin_field lifecycle[] = { ANY("postStart"), ANY("preStop"), TEXT("stopSignal", ""), END };
static const struct builtin_field container[] = {
	TEXTS("args", "Arguments of the command."), TEXTS("command", "What is run."),
	OBJECTS("env", env_variable, "Its environment."), OBJECTS("envFrom", NULL, "Where more of it comes from."),
	TEXT("image", "The image it is made from."), TEXT("imagePullPolicy", "Always, Never or IfNotPresent."),
	OBJECT("lifecycle", lifecycle, ""), ANY("livenessProbe"), MUST("name", OF_STRING, NULL, "Its name in the pod."),
	OBJECTS("ports", container_port, "Its ports."), ANY("readinessProbe"), OBJECTS("resizePolicy", NULL, ""),
	OBJECT("resources", resources, "What it needs and may take."), ANY("resourcesAllocated"), TEXT("restartPolicy", ""),
	ANY("securityContext"), ANY("startupProbe"), BOOLEAN("stdin", ""), BOOLEAN("stdinOnce", ""),
	TEXT("targetContainerName", ""), TEXT("terminationMessagePath", ""), TEXT("terminationMessagePolicy", ""),
	BOOLEAN("tty", ""), OBJECTS("volumeDevices", volume_device, ""), OBJECTS("volumeMounts", volume_mount, "Its volumes."),
	TEXT("workingDir", ""), END
};
static const struct builtin_field claim_template[] = { ANY("metadata"), ANY("spec"), END };
static const struct builtin_field ephemeral_volume[] = { OBJECT("volumeClaimTemplate", claim_template, ""), END };
static const struct builtin_field volume[] = {
	MUST("name", OF_STRING, NULL, "Its name in the pod."), ANY("configMap"), ANY("downwardAPI"), ANY("emptyDir"),
	OBJECT("ephemeral", ephemeral_volume, ""), ANY("gitRepo"), ANY("image"), ANY("persistentVolumeClaim"),
	ANY("projected"), ANY("secret"), VOLUME_SOURCES, END
};
static const struct builtin_field node_affinity[] = {
	OBJECTS("preferredDuringSchedulingIgnoredDuringExecution", NULL, ""),
	ANY("requiredDuringSchedulingIgnoredDuringExecution"), END
};
static const struct builtin_field pod_affinity[] = {
	OBJECTS("preferredDuringSchedulingIgnoredDuringExecution", NULL, ""),
	OBJECTS("requiredDuringSchedulingIgnoredDuringExecution", NULL, ""), END
};
static const struct builtin_field affinity[] = {
	OBJECT("nodeAffinity", node_affinity, ""), OBJECT("podAffinity", pod_affinity, ""),
	OBJECT("podAntiAffinity", pod_affinity, ""), END
};
static const struct builtin_field pod_spec[] = {
	INTEGER("activeDeadlineSeconds", ""), OBJECT("affinity", affinity, "Where it wants to run."),
	BOOLEAN("automountServiceAccountToken", ""),
	MUST("containers", OF_OBJECTS, container, "What runs in it."), ANY("dnsConfig"), TEXT("dnsPolicy", ""),
	BOOLEAN("enableServiceLinks", ""), OBJECTS("ephemeralContainers", container, ""), OBJECTS("hostAliases", NULL, ""),
	BOOLEAN("hostIPC", ""), BOOLEAN("hostNetwork", ""), BOOLEAN("hostPID", ""), BOOLEAN("hostUsers", ""),
	TEXT("hostname", ""), OBJECTS("imagePullSecrets", local_reference, "Secrets for pulling images."),
	OBJECTS("initContainers", container, "What runs before."), OBJECTS("nics", NULL, ""),
	TEXT("nodeName", "The node it is bound to."), MAP("nodeSelector", "The labels of nodes that will do."), ANY("os"),
	QUANTITIES("overhead", ""), TEXT("preemptionPolicy", ""), INTEGER("priority", ""), TEXT("priorityClassName", ""),
	OBJECTS("readinessGates", NULL, ""), OBJECTS("resourceClaims", NULL, ""), OBJECT("resources", resources, ""),
	TEXT("restartPolicy", ""), TEXT("runtimeClassName", ""), TEXT("schedulerName", ""),
	OBJECTS("schedulingGates", NULL, ""), ANY("securityContext"),
	TEXT("serviceAccount", ""), TEXT("serviceAccountName", "The account it runs as."), BOOLEAN("setHostnameAsFQDN", ""),
	BOOLEAN("shareProcessNamespace", ""), TEXT("subdomain", ""), INTEGER("terminationGracePeriodSeconds", ""),
	OBJECTS("tolerations", NULL, ""), OBJECTS("topologySpreadConstraints", NULL, ""), ANY("virtualMachine"),
	OBJECTS("volumes", volume, "Volumes that its containers mount."), TEXT("vpc", ""), ANY("workloadInfo"), END
};
static const struct builtin_field pod_fields[] = {
	OBJECT("spec", pod_spec, "What the pod is to be."), OBJECT("status", NULL, "What it is."), END
};
static const struct builtin_field pod_template[] = {
	OBJECT("metadata", object_meta, "Labels and annotations of the pods."),
	OBJECT("spec", pod_spec, "What the pods are to be."), END
};
static const struct builtin_field daemon_set_spec[] = {
	INTEGER("minReadySeconds", ""), INTEGER("revisionHistoryLimit", ""), MUST("selector", OF_ANY, NULL, "Its pods' labels."),
	MUST("template", OF_OBJECT, pod_template, "What its pods are made from."), ANY("updateStrategy"), END
};
static const struct builtin_field daemon_set[] = {
	OBJECT("spec", daemon_set_spec, "What it is to be."), OBJECT("status", NULL, "What it is."), END
};
static const struct builtin_field node_spec[] = {
	ANY("configSource"), TEXT("externalID", ""), TEXT("podCIDR", ""), TEXTS("podCIDRs", ""), TEXT("providerID", ""),
	OBJECTS("taints", NULL, ""), BOOLEAN("unschedulable", "Whether it takes no more pods."), END
};
static const struct builtin_field node[] = {
	OBJECT("spec", node_spec, "What it is to be."), OBJECT("status", NULL, "What it is."), END
};

// ---- definitions of types

static const struct builtin_field definition_names[] = {
	TEXTS("categories", "Groups of types it is listed with, as in \"get all\"."), MUST("kind", OF_STRING, NULL, "CamelCase."),
	TEXT("listKind", "The kind of lists; the kind and List."), MUST("plural", OF_STRING, NULL, "As in its address."),
	TEXTS("shortNames", "Short forms for the command line."), TEXT("singular", "The kind in lower case."), END
};
static const struct builtin_field printer_column[] = {
	TEXT("description", ""), TEXT("format", ""), TEXT("jsonPath", "Where the value is: .spec.size"),
	TEXT("JSONPath", "The same in v1beta1."), MUST("name", OF_STRING, NULL, "Its heading."),
	INTEGER("priority", "Above 0: in wide lists only."),
	MUST("type", OF_STRING, NULL, "string, integer, number, boolean or date."), END
};
static const struct builtin_field definition_version_fields[] = {
	OBJECTS("additionalPrinterColumns", printer_column, "What lists show of it."), BOOLEAN("deprecated", ""),
	TEXT("deprecationWarning", ""), MUST("name", OF_STRING, NULL, "v1, v1beta1, …"),
	OBJECT("schema", NULL, "openAPIV3Schema: what its objects are like."),
	MUST("served", OF_BOOLEAN, NULL, "Whether it can be used."),
	MUST("storage", OF_BOOLEAN, NULL, "Whether objects are kept in it; true for one."), ANY("selectableFields"),
	OBJECT("subresources", NULL, "status, scale."), END
};
static const struct builtin_field definition_spec[] = {
	OBJECTS("additionalPrinterColumns", printer_column, "For all versions, in v1beta1."),
	TEXTS("applicableRange", "Of a definition of the system: which tenants may use it, as key=value of their annotations, "
		"* for all."),
	ANY("conversion"), MUST("group", OF_STRING, NULL, "The API group."),
	MUST("names", OF_OBJECT, definition_names, "How it is called."),
	BOOLEAN("preserveUnknownFields", "Whether what the schema doesn't name is kept."),
	MUST("scope", OF_STRING, NULL, "Namespaced or Cluster; Cluster means the tenant's space."),
	OBJECT("subresources", NULL, "For all versions, in v1beta1."), ANY("validation"), TEXT("version", "In v1beta1."),
	OBJECTS("versions", definition_version_fields, "Its versions."), END
};
static const struct builtin_field definition_fields[] = {
	MUST("spec", OF_OBJECT, definition_spec, "What the type is to be."), OBJECT("status", NULL, "What it is."), END
};

// ---- the table of kinds

static const struct builtin_kind kinds[] = {
	{ "", "Namespace", namespace_fields, "A namespace keeps names apart within a tenant's space." },
	{ "", "ConfigMap", config_map, "A config map holds configuration." },
	{ "", "Secret", secret, "A secret holds what not everybody may see." },
	{ "", "Pod", pod_fields, "A pod is containers that run together. It is kept here; nothing runs it." },
	{ "", "PersistentVolume", persistent_volume, "A persistent volume is storage of a tenant's space." },
	{ "", "ServiceAccount", service_account, "A service account is who programs are." },
	{ "", "Service", service_fields, "A service is a name and address for pods." },
	{ "", "Node", node, "A node of the cluster." },
	{ "", "Tenant", tenant_fields, "A tenant owns objects, in a space of its own." },
	{ "apps", "DaemonSet", daemon_set, "A daemon set is a pod for each node." },
	{ "apiextensions.k8s.io", "CustomResourceDefinition", definition_fields,
		"A definition of a type of objects, for the tenant that makes it." },
};

const struct builtin_kind *builtin_kind(struct str group, struct str kind)
{
	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (str_eq_c(group, kinds[i].group) && str_eq_c(kind, kinds[i].kind))
			return &kinds[i];
	}
	return NULL;
}

// ---- writing descriptions

static void add_map(struct buf *out)
{
	size_t additional = proto_begin(out, SCHEMA_ADDITIONAL), schema = proto_begin(out, ADDITIONAL_SCHEMA);

	schema_type(out, "string");
	proto_end(out, schema);
	proto_end(out, additional);
}

static void add_items(struct buf *out, const struct builtin_field *field, const struct merge_rule *rules)
{
	size_t items = proto_begin(out, SCHEMA_ITEMS), schema = proto_begin(out, ITEMS_SCHEMA);

	schema_type(out, field->type == OF_STRINGS ? "string" : "object");
	if (field->type == OF_OBJECTS && field->inside != NULL)
		add_fields(out, field->inside, rules, false);
	proto_end(out, schema);
	proto_end(out, items);
}

static void add_field_type(struct buf *out, const struct builtin_field *field, const struct merge_rule *rules)
{
	switch (field->type) {
	case OF_ANY:
		break;
	case OF_STRING:
		schema_type(out, "string");
		break;
	case OF_TIME:
		proto_text(out, SCHEMA_FORMAT, STR("date-time"));
		schema_type(out, "string");
		break;
	case OF_INT_OR_STRING:
		proto_text(out, SCHEMA_FORMAT, STR("int-or-string"));
		schema_type(out, "string");
		break;
	case OF_INTEGER:
		schema_type(out, "integer");
		break;
	case OF_BOOLEAN:
		schema_type(out, "boolean");
		break;
	case OF_OBJECT:
		schema_type(out, "object");
		if (field->inside != NULL)
			add_fields(out, field->inside, rules, false);
		break;
	case OF_STRING_MAP:
	case OF_BYTES_MAP:
	case OF_QUANTITY_MAP:
		schema_type(out, "object");
		add_map(out);
		break;
	case OF_STRINGS:
	case OF_OBJECTS:
		schema_type(out, "array");
		add_items(out, field, rules);
		break;
	}
}

static const struct merge_rule *find_rule(const struct merge_rule *rules, const char *name)
{
	for (; rules != NULL && rules->name != NULL; rules++) {
		if (strcmp(rules->name, name) == 0)
			return rules;
	}
	return NULL;
}

// Clients that make strategic merge patches read here how lists are merged.
static void add_merging(struct buf *out, const struct merge_rule *rule)
{
	if (rule == NULL || rule->key == NULL)
		return;
	schema_extension(out, SCHEMA_EXTENSION, "x-kubernetes-patch-strategy", STR("merge"));
	if (rule->key[0] != '\0')
		schema_extension(out, SCHEMA_EXTENSION, "x-kubernetes-patch-merge-key", str_c(rule->key));
}

void add_fields(struct buf *out, const struct builtin_field *fields, const struct merge_rule *rules, bool root)
{
	size_t properties = proto_begin(out, SCHEMA_PROPERTIES);

	if (root)
		add_meta_properties(out);
	for (const struct builtin_field *field = fields; field->name != NULL; field++) {
		const struct merge_rule *rule = find_rule(rules, field->name);
		struct property_mark mark = property_begin(out, str_c(field->name));
		if (field->description[0] != '\0')
			proto_text(out, SCHEMA_DESCRIPTION, str_c(field->description));
		add_field_type(out, field, rule != NULL ? rule->inside : NULL);
		add_merging(out, rule);
		property_end(out, mark);
	}
	proto_end(out, properties);
	for (const struct builtin_field *field = fields; field->name != NULL; field++) {
		if (field->required)
			proto_text(out, SCHEMA_REQUIRED, str_c(field->name));
	}
}
