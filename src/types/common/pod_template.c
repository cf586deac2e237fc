// SPDX-License-Identifier: Apache-2.0
// Members, merging and rules that pods and the templates of pods share.
#include "base/base.h"

#include "base/pool.h"
#include "types/common/checks.h"
#include "types/common/pod_template.h"

// ---- members

static const struct type_field container_port_fields[] = {
	MEMBER_MUST("containerPort", OF_INTEGER, NULL, "The port."), MEMBER_TEXT("hostIP", ""), MEMBER_INTEGER("hostPort", ""),
	MEMBER_TEXT("name", "The name of the port."), MEMBER_TEXT("protocol", "TCP, UDP or SCTP."), MEMBER_END
};
static const struct type_field env_variable_fields[] = {
	MEMBER_MUST("name", OF_STRING, NULL, "The name of the variable."), MEMBER_TEXT("value", "Its value."),
	MEMBER_ANY("valueFrom"), MEMBER_END
};
static const struct type_field volume_mount_fields[] = {
	MEMBER_MUST("mountPath", OF_STRING, NULL, "Where it is mounted."), MEMBER_TEXT("mountPropagation", ""),
	MEMBER_MUST("name", OF_STRING, NULL, "Which volume."), MEMBER_BOOLEAN("readOnly", ""),
	MEMBER_TEXT("recursiveReadOnly", ""), MEMBER_TEXT("subPath", ""), MEMBER_TEXT("subPathExpr", ""), MEMBER_END
};
static const struct type_field volume_device_fields[] = {
	MEMBER_MUST("devicePath", OF_STRING, NULL, "Where it is."), MEMBER_MUST("name", OF_STRING, NULL, "Which claim."),
	MEMBER_END
};
static const struct type_field resources_fields[] = {
	MEMBER_OBJECTS("claims", NULL, ""), MEMBER_QUANTITIES("limits", "What may be taken."),
	MEMBER_QUANTITIES("requests", "What is needed."), MEMBER_END
};
static const struct type_field lifecycle_fields[] = {
	MEMBER_ANY("postStart"), MEMBER_ANY("preStop"), MEMBER_TEXT("stopSignal", ""), MEMBER_END
};
static const struct type_field container_fields[] = {
	MEMBER_TEXTS("args", "Arguments of the command."), MEMBER_TEXTS("command", "What is run."),
	MEMBER_OBJECTS("env", env_variable_fields, "Its environment."),
	MEMBER_OBJECTS("envFrom", NULL, "Where more of it comes from."), MEMBER_TEXT("image", "The image it is made from."),
	MEMBER_TEXT("imagePullPolicy", "Always, Never or IfNotPresent."), MEMBER_OBJECT("lifecycle", lifecycle_fields, ""),
	MEMBER_ANY("livenessProbe"), MEMBER_MUST("name", OF_STRING, NULL, "Its name in the pod."),
	MEMBER_OBJECTS("ports", container_port_fields, "Its ports."), MEMBER_ANY("readinessProbe"),
	MEMBER_OBJECTS("resizePolicy", NULL, ""), MEMBER_OBJECT("resources", resources_fields, "What it needs and may take."),
	MEMBER_ANY("resourcesAllocated"), MEMBER_TEXT("restartPolicy", ""), MEMBER_ANY("securityContext"),
	MEMBER_ANY("startupProbe"), MEMBER_BOOLEAN("stdin", ""), MEMBER_BOOLEAN("stdinOnce", ""),
	MEMBER_TEXT("targetContainerName", ""), MEMBER_TEXT("terminationMessagePath", ""),
	MEMBER_TEXT("terminationMessagePolicy", ""), MEMBER_BOOLEAN("tty", ""),
	MEMBER_OBJECTS("volumeDevices", volume_device_fields, ""),
	MEMBER_OBJECTS("volumeMounts", volume_mount_fields, "Its volumes."), MEMBER_TEXT("workingDir", ""), MEMBER_END
};
static const struct type_field claim_template_fields[] = { MEMBER_ANY("metadata"), MEMBER_ANY("spec"), MEMBER_END };
static const struct type_field ephemeral_volume_fields[] = {
	MEMBER_OBJECT("volumeClaimTemplate", claim_template_fields, ""), MEMBER_END
};
static const struct type_field volume_fields[] = {
	MEMBER_MUST("name", OF_STRING, NULL, "Its name in the pod."), MEMBER_ANY("configMap"), MEMBER_ANY("downwardAPI"),
	MEMBER_ANY("emptyDir"), MEMBER_OBJECT("ephemeral", ephemeral_volume_fields, ""), MEMBER_ANY("gitRepo"),
	MEMBER_ANY("image"), MEMBER_ANY("persistentVolumeClaim"), MEMBER_ANY("projected"), MEMBER_ANY("secret"),
	MEMBERS_VOLUME_SOURCES, MEMBER_END
};
static const struct type_field node_affinity_fields[] = {
	MEMBER_OBJECTS("preferredDuringSchedulingIgnoredDuringExecution", NULL, ""),
	MEMBER_ANY("requiredDuringSchedulingIgnoredDuringExecution"), MEMBER_END
};
static const struct type_field pod_affinity_fields[] = {
	MEMBER_OBJECTS("preferredDuringSchedulingIgnoredDuringExecution", NULL, ""),
	MEMBER_OBJECTS("requiredDuringSchedulingIgnoredDuringExecution", NULL, ""), MEMBER_END
};
static const struct type_field affinity_fields[] = {
	MEMBER_OBJECT("nodeAffinity", node_affinity_fields, ""), MEMBER_OBJECT("podAffinity", pod_affinity_fields, ""),
	MEMBER_OBJECT("podAntiAffinity", pod_affinity_fields, ""), MEMBER_END
};
const struct type_field pod_spec_fields[] = {
	MEMBER_INTEGER("activeDeadlineSeconds", ""), MEMBER_OBJECT("affinity", affinity_fields, "Where it wants to run."),
	MEMBER_BOOLEAN("automountServiceAccountToken", ""),
	MEMBER_MUST("containers", OF_OBJECTS, container_fields, "What runs in it."), MEMBER_ANY("dnsConfig"),
	MEMBER_TEXT("dnsPolicy", ""), MEMBER_BOOLEAN("enableServiceLinks", ""),
	MEMBER_OBJECTS("ephemeralContainers", container_fields, ""), MEMBER_OBJECTS("hostAliases", NULL, ""),
	MEMBER_BOOLEAN("hostIPC", ""), MEMBER_BOOLEAN("hostNetwork", ""), MEMBER_BOOLEAN("hostPID", ""),
	MEMBER_BOOLEAN("hostUsers", ""), MEMBER_TEXT("hostname", ""),
	MEMBER_OBJECTS("imagePullSecrets", local_reference_fields, "Secrets for pulling images."),
	MEMBER_OBJECTS("initContainers", container_fields, "What runs before."), MEMBER_OBJECTS("nics", NULL, ""),
	MEMBER_TEXT("nodeName", "The node it is bound to."), MEMBER_MAP("nodeSelector", "The labels of nodes that will do."),
	MEMBER_ANY("os"), MEMBER_QUANTITIES("overhead", ""), MEMBER_TEXT("preemptionPolicy", ""), MEMBER_INTEGER("priority", ""),
	MEMBER_TEXT("priorityClassName", ""), MEMBER_OBJECTS("readinessGates", NULL, ""),
	MEMBER_OBJECTS("resourceClaims", NULL, ""), MEMBER_OBJECT("resources", resources_fields, ""),
	MEMBER_TEXT("restartPolicy", ""), MEMBER_TEXT("runtimeClassName", ""), MEMBER_TEXT("schedulerName", ""),
	MEMBER_OBJECTS("schedulingGates", NULL, ""), MEMBER_ANY("securityContext"), MEMBER_TEXT("serviceAccount", ""),
	MEMBER_TEXT("serviceAccountName", "The account it runs as."), MEMBER_BOOLEAN("setHostnameAsFQDN", ""),
	MEMBER_BOOLEAN("shareProcessNamespace", ""), MEMBER_TEXT("subdomain", ""),
	MEMBER_INTEGER("terminationGracePeriodSeconds", ""), MEMBER_OBJECTS("tolerations", NULL, ""),
	MEMBER_OBJECTS("topologySpreadConstraints", NULL, ""), MEMBER_ANY("virtualMachine"),
	MEMBER_OBJECTS("volumes", volume_fields, "Volumes that its containers mount."), MEMBER_TEXT("vpc", ""),
	MEMBER_ANY("workloadInfo"), MEMBER_END
};
const struct type_field pod_template_fields[] = {
	MEMBER_OBJECT("metadata", metadata_fields, "Labels and annotations of the pods."),
	MEMBER_OBJECT("spec", pod_spec_fields, "What the pods are to be."), MEMBER_END
};

// ---- lists

static const struct merge_rule container_merge[] = {
	MERGE_LIST("ports", "containerPort"), MERGE_LIST("env", "name"), MERGE_LIST("volumeMounts", "mountPath"),
	MERGE_LIST("volumeDevices", "devicePath"), MERGE_END
};
const struct merge_rule pod_spec_merge[] = {
	MERGE_LIST_OF("containers", "name", container_merge), MERGE_LIST_OF("initContainers", "name", container_merge),
	MERGE_LIST_OF("ephemeralContainers", "name", container_merge), MERGE_LIST("volumes", "name"),
	MERGE_LIST("imagePullSecrets", "name"), MERGE_LIST("hostAliases", "ip"),
	MERGE_LIST("topologySpreadConstraints", "topologyKey"), MERGE_LIST("schedulingGates", "name"),
	MERGE_LIST("resourceClaims", "name"), MERGE_END
};
// Types that make pods of a template.
static const struct merge_rule pod_template_merge[] = {
	MERGE_IN("metadata", metadata_merge), MERGE_IN("spec", pod_spec_merge), MERGE_END
};
static const struct merge_rule workload_spec_merge[] = { MERGE_IN("template", pod_template_merge), MERGE_END };
const struct merge_rule workload_merge[] = {
	MERGE_IN("metadata", metadata_merge), MERGE_IN("spec", workload_spec_merge), MERGE_IN("status", conditions_merge),
	MERGE_END
};

// ---- rules

// volumes

static void check_source(struct field_faults *faults, const struct field_path *at, struct str name, const struct doc *source)
{
	static const struct {
		const char *source, *members[2];
	} required[] = {
		{ "configMap", { "name" } }, { "secret", { "secretName" } }, { "persistentVolumeClaim", { "claimName" } },
		{ "hostPath", { "path" } }, { "nfs", { "server", "path" } }, { "csi", { "driver" } },
	};

	for (size_t i = 0; i < COUNT_OF(required); i++) {
		if (!str_eq_c(name, required[i].source))
			continue;
		for (size_t k = 0; k < COUNT_OF(required[i].members) && required[i].members[k] != NULL; k++)
			check_required(faults, at, source, required[i].members[k]);
	}
}

static bool is_source(struct str name)
{
	for (const struct type_field *field = volume_fields; field->name != NULL; field++) {
		if (str_eq_c(name, field->name))
			return !str_eq(name, STR("name"));
	}
	return false;
}

static void check_volume(struct field_faults *faults, const struct field_path *at, const struct doc *volume, bool repeated)
{
	const struct field_path of_name = field_name(at, STR("name"));
	struct str name = check_object_text(volume, "name");
	size_t sources = 0;

	if (name.n == 0)
		field_required(faults, &of_name, "");
	else
		check_dns_label(name, &of_name, faults);
	if (repeated)
		field_duplicate(faults, &of_name, check_object_member(volume, "name"));
	for (struct doc_iter it = doc_iter(volume); doc_next(&it);) {
		const struct field_path source = field_name(at, it.name);
		if (it.value == NULL || !is_source(it.name))
			continue;
		if (sources++ > 0)
			field_forbidden(faults, &source, "may not specify more than 1 volume type");
		else
			check_source(faults, &source, it.name, it.value);
	}
}

// containers

// The state of the checks of a pod's containers.
struct pod_check {
	struct field_faults *faults;
	const struct str *volumes; // names of the pod's volumes, sorted
	size_t n_volumes;
};

static void check_container_port(struct field_faults *faults, const struct field_path *at, const struct doc *port, bool repeated)
{
	const struct field_path of_name = field_name(at, STR("name")), of_port = field_name(at, STR("containerPort"));
	const struct field_path of_host = field_name(at, STR("hostPort"));
	struct str name = check_object_text(port, "name");
	int64_t number;

	if (name.n > 0)
		check_port_name(faults, &of_name, name);
	if (repeated)
		field_duplicate(faults, &of_name, check_object_member(port, "name"));
	if (check_object_integer(port, "containerPort", &number) && number != 0)
		check_port_number(faults, &of_port, number);
	else if (check_object_member(port, "containerPort") != NULL && number != 0)
		field_invalid(faults, &of_port, check_object_member(port, "containerPort"),
			"must be between 1 and 65535, inclusive");
	else
		field_required(faults, &of_port, "");
	if (check_object_integer(port, "hostPort", &number) && number != 0)
		check_port_number(faults, &of_host, number);
	check_protocol(faults, at, port);
}

static bool is_variable_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] < ' ' || name.p[i] > '~' || name.p[i] == '=')
			return false;
	}
	return true;
}

static void check_variable(struct field_faults *faults, const struct field_path *at, const struct doc *variable)
{
	const struct field_path of_name = field_name(at, STR("name")), of_source = field_name(at, STR("valueFrom"));
	struct str name = check_object_text(variable, "name");

	if (name.n == 0)
		field_required(faults, &of_name, "");
	else if (!is_variable_name(name))
		field_invalid_text(faults, &of_name, name,
			"a valid environment variable name must consist only of printable ASCII characters other than '='");
	if (check_object_member(variable, "valueFrom") != NULL && check_object_text(variable, "value").n > 0)
		field_invalid_text(faults, &of_source, STR(""), "may not be specified when `value` is not empty");
}

static void check_mount(const struct pod_check *check, const struct field_path *at, const struct doc *mount, bool repeated)
{
	const struct field_path of_name = field_name(at, STR("name")), of_path = field_name(at, STR("mountPath"));
	struct str name = check_object_text(mount, "name");

	if (name.n == 0)
		field_required(check->faults, &of_name, "");
	else if (!check_has_text(check->volumes, check->n_volumes, name))
		field_fault_add(check->faults, &of_name, FIELD_NOT_FOUND, field_shown_text(check->faults->pool, name), "%s", "");
	check_required(check->faults, at, mount, "mountPath");
	if (repeated)
		field_invalid_text(check->faults, &of_path, check_object_text(mount, "mountPath"), "must be unique");
}

// Each amount must be a quantity of 0 or more, and a request must not exceed its limit.
static void check_resources(struct field_faults *faults, const struct field_path *up, const struct doc *resources)
{
	static const char *const names[] = { "limits", "requests" };
	const struct field_path at = field_name(up, STR("resources"));
	const struct doc *limits = check_object_member(resources, "limits"), *limit;
	long double amount, most;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const struct field_path of = field_name(&at, str_c(names[i]));
		for (struct doc_iter it = doc_iter(check_object_member(resources, names[i])); doc_next(&it);) {
			const struct field_path item = field_key(&of, it.name);
			struct field_faults unheard = field_faults_new(faults->pool);
			if (!check_quantity(faults, &item, it.value, &amount))
				continue;
			if (amount < 0)
				field_invalid(faults, &item, it.value, "must be greater than or equal to 0");
			if (i == 0 || limits == NULL || !doc_get(limits, it.name, &limit) || limit == NULL ||
				!check_quantity(&unheard, &item, limit, &most) || amount <= most)
				continue;
			struct str shown = field_shown(faults->pool, limit);
			field_fault_add(faults, &of, FIELD_INVALID, field_shown(faults->pool, it.value),
				"must be less than or equal to %.*s limit of %.*s", STR_HEAD_ARG(it.name, 100), STR_ARG(shown));
		}
	}
}

static void check_probe(struct field_faults *faults, const struct field_path *up, const struct doc *container, const char *name)
{
	static const char *const handlers[] = { "exec", "httpGet", "tcpSocket", "grpc" };
	const struct field_path at = field_name(up, str_c(name));
	const struct doc *probe = check_object_member(container, name);
	size_t n = 0;

	if (probe == NULL)
		return;
	for (size_t i = 0; i < COUNT_OF(handlers); i++) {
		const struct field_path of = field_name(&at, str_c(handlers[i])), port = field_name(&of, STR("port"));
		const struct doc *handler = check_object_member(probe, handlers[i]);
		if (handler == NULL)
			continue;
		if (n++ > 0)
			field_forbidden(faults, &of, "may not specify more than 1 handler type");
		else if (i == 0)
			check_required(faults, &of, handler, "command");
		else if (check_object_member(handler, "port") == NULL)
			check_port_number(faults, &port, 0);
		else
			check_port_or_name(faults, &port, check_object_member(handler, "port"));
	}
	if (n == 0)
		field_required(faults, &at, "must specify a handler type");
}

static void check_image(struct field_faults *faults, const struct field_path *up, const struct doc *container)
{
	const struct field_path at = field_name(up, STR("image"));
	struct str image = check_object_text(container, "image");

	if (image.n == 0)
		field_required(faults, &at, "");
	else if (str_trim(image).n != image.n)
		field_invalid_text(faults, &at, image, "must not have leading or trailing whitespace");
}

static void check_container(const struct pod_check *check, const struct field_path *at, const struct doc *container)
{
	static const char *const policies[] = { "Always", "IfNotPresent", "Never", NULL };
	struct field_faults *faults = check->faults;
	struct pool *pool = faults->pool;
	const struct field_path of_ports = field_name(at, STR("ports")), of_env = field_name(at, STR("env"));
	const struct field_path of_mounts = field_name(at, STR("volumeMounts"));
	const struct doc *ports = check_object_member(container, "ports"), *env = check_object_member(container, "env");
	const struct doc *mounts = check_object_member(container, "volumeMounts");
	const bool *same_port = check_repeated_texts(pool, check_object_texts(pool, ports, "name"), doc_length(ports));
	const bool *same_path = check_repeated_texts(pool, check_object_texts(pool, mounts, "mountPath"), doc_length(mounts));

	check_image(faults, at, container);
	check_one_of(faults, at, container, "imagePullPolicy", policies);
	for (size_t i = 0; i < doc_length(ports); i++) {
		const struct field_path item = field_index(&of_ports, i);
		check_container_port(faults, &item, doc_at(ports, i), same_port[i]);
	}
	for (size_t i = 0; i < doc_length(env); i++) {
		const struct field_path item = field_index(&of_env, i);
		check_variable(faults, &item, doc_at(env, i));
	}
	for (size_t i = 0; i < doc_length(mounts); i++) {
		const struct field_path item = field_index(&of_mounts, i);
		check_mount(check, &item, doc_at(mounts, i), same_path[i]);
	}
	check_resources(faults, at, check_object_member(container, "resources"));
	check_probe(faults, at, container, "livenessProbe");
	check_probe(faults, at, container, "readinessProbe");
	check_probe(faults, at, container, "startupProbe");
}

// Names of containers must be unique in both lists together.
static void check_containers(const struct pod_check *check, const struct field_path *up, const struct doc *spec)
{
	static const char *const lists[] = { "initContainers", "containers" };
	struct pool *pool = check->faults->pool;
	size_t n[COUNT_OF(lists)], all = 0, at = 0;
	const struct doc *list[COUNT_OF(lists)];

	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		list[i] = check_object_member(spec, lists[i]);
		all += n[i] = doc_length(list[i]);
	}
	struct str *names = POOL_ARRAY(pool, struct str, all + 1);
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		for (size_t k = 0; k < n[i]; k++)
			names[at++] = check_object_text(doc_at(list[i], k), "name");
	const bool *repeated = check_repeated_texts(pool, names, all);
	at = 0;
	for (size_t i = 0; i < COUNT_OF(lists); i++) {
		const struct field_path of = field_name(up, str_c(lists[i]));
		for (size_t k = 0; k < n[i]; k++, at++) {
			const struct field_path item = field_index(&of, k), of_name = field_name(&item, STR("name"));
			if (names[at].n == 0)
				field_required(check->faults, &of_name, "");
			else
				check_dns_label(names[at], &of_name, check->faults);
			if (repeated[at])
				field_duplicate(check->faults, &of_name, check_object_member(doc_at(list[i], k), "name"));
			check_container(check, &item, doc_at(list[i], k));
		}
	}
	if (n[1] == 0)
		check_required(check->faults, up, spec, "containers");
}

// the pod

static void check_names(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	static const char *const subdomains[] = { "nodeName", "serviceAccountName", "runtimeClassName", "priorityClassName" };
	static const char *const labels[] = { "hostname", "subdomain" };

	for (size_t i = 0; i < COUNT_OF(subdomains); i++) {
		const struct field_path at = field_name(up, str_c(subdomains[i]));
		if (check_object_text(spec, subdomains[i]).n > 0)
			check_dns_subdomain(check_object_text(spec, subdomains[i]), &at, faults);
	}
	for (size_t i = 0; i < COUNT_OF(labels); i++) {
		const struct field_path at = field_name(up, str_c(labels[i]));
		if (check_object_text(spec, labels[i]).n > 0)
			check_dns_label(check_object_text(spec, labels[i]), &at, faults);
	}
}

static void check_times(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	const struct field_path of_deadline = field_name(up, STR("activeDeadlineSeconds"));
	const struct field_path of_grace = field_name(up, STR("terminationGracePeriodSeconds"));
	const struct doc *deadline = check_object_member(spec, "activeDeadlineSeconds");
	const struct doc *grace = check_object_member(spec, "terminationGracePeriodSeconds");
	int64_t seconds;

	if (deadline != NULL && !(check_object_integer(spec, "activeDeadlineSeconds", &seconds) && seconds >= 1 &&
		seconds <= INT32_MAX))
		field_invalid(faults, &of_deadline, deadline, "must be between 1 and 2147483647, inclusive");
	if (grace != NULL && !(check_object_integer(spec, "terminationGracePeriodSeconds", &seconds) && seconds >= 0))
		field_invalid(faults, &of_grace, grace, "must be greater than or equal to 0");
}

void check_pod_spec(struct field_faults *faults, const struct field_path *at, const struct doc *spec)
{
	static const char *const restarts[] = { "Always", "OnFailure", "Never", NULL };
	static const char *const dns[] = { "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None", NULL };
	const struct field_path of_volumes = field_name(at, STR("volumes")), of_selector = field_name(at, STR("nodeSelector"));
	const struct doc *volumes = check_object_member(spec, "volumes");
	size_t n = doc_length(volumes);
	const struct str *names = check_object_texts(faults->pool, volumes, "name");
	const bool *repeated = check_repeated_texts(faults->pool, names, n);
	const struct pod_check check = { .faults = faults, .volumes = check_sorted_texts(faults->pool, names, n), .n_volumes =
		n };

	for (size_t i = 0; i < n; i++) {
		const struct field_path item = field_index(&of_volumes, i);
		check_volume(faults, &item, doc_at(volumes, i), repeated[i]);
	}
	check_containers(&check, at, spec);
	check_one_of(faults, at, spec, "restartPolicy", restarts);
	check_one_of(faults, at, spec, "dnsPolicy", dns);
	check_names(faults, at, spec);
	check_label_map(check_object_member(spec, "nodeSelector"), &of_selector, faults);
	check_times(faults, at, spec);
}
