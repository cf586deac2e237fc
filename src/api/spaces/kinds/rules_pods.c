// SPDX-License-Identifier: Apache-2.0
// Rules of pods and of pod templates.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "api/spaces/kinds/rules.h"
#include "base/pool.h"

// ---- volumes

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

static void check_volume(struct field_faults *faults, const struct field_path *at, const struct doc *volume, bool repeated)
{
	const struct field_path of_name = field_name(at, STR("name"));
	struct str name = rule_text(volume, "name");
	size_t sources = 0;

	if (name.n == 0)
		field_required(faults, &of_name, "");
	else
		check_dns_label(name, &of_name, faults);
	if (repeated)
		field_duplicate(faults, &of_name, rule_member(volume, "name"));
	for (struct doc_iter it = doc_iter(volume); doc_next(&it);) {
		const struct field_path source = field_name(at, it.name);
		if (it.value == NULL || str_eq(it.name, STR("name")))
			continue;
		if (sources++ > 0)
			field_forbidden(faults, &source, "may not specify more than 1 volume type");
		else
			check_source(faults, &source, it.name, it.value);
	}
}

// ---- containers

// What the checks of a pod's containers need.
struct pod_check {
	struct field_faults *faults;
	const struct str *volumes; // names of the pod's volumes, sorted
	size_t n_volumes;
};

static void check_container_port(struct field_faults *faults, const struct field_path *at, const struct doc *port, bool repeated)
{
	const struct field_path of_name = field_name(at, STR("name")), of_port = field_name(at, STR("containerPort"));
	const struct field_path of_host = field_name(at, STR("hostPort"));
	struct str name = rule_text(port, "name");
	int64_t number;

	if (name.n > 0)
		check_port_name(faults, &of_name, name);
	if (repeated)
		field_duplicate(faults, &of_name, rule_member(port, "name"));
	if (rule_integer(port, "containerPort", &number) && number != 0)
		check_port_number(faults, &of_port, number);
	else if (rule_member(port, "containerPort") != NULL && number != 0)
		field_invalid(faults, &of_port, rule_member(port, "containerPort"), "must be between 1 and 65535, inclusive");
	else
		field_required(faults, &of_port, "");
	if (rule_integer(port, "hostPort", &number) && number != 0)
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
	struct str name = rule_text(variable, "name");

	if (name.n == 0)
		field_required(faults, &of_name, "");
	else if (!is_variable_name(name))
		field_invalid_text(faults, &of_name, name,
			"a valid environment variable name must consist only of printable ASCII characters other than '='");
	if (rule_member(variable, "valueFrom") != NULL && rule_text(variable, "value").n > 0)
		field_invalid_text(faults, &of_source, STR(""), "may not be specified when `value` is not empty");
}

static void check_mount(const struct pod_check *check, const struct field_path *at, const struct doc *mount, bool repeated)
{
	const struct field_path of_name = field_name(at, STR("name")), of_path = field_name(at, STR("mountPath"));
	struct str name = rule_text(mount, "name");

	if (name.n == 0)
		field_required(check->faults, &of_name, "");
	else if (!has_text(check->volumes, check->n_volumes, name))
		field_fault_add(check->faults, &of_name, FIELD_NOT_FOUND, field_shown_text(check->faults->pool, name), "%s", "");
	check_required(check->faults, at, mount, "mountPath");
	if (repeated)
		field_invalid_text(check->faults, &of_path, rule_text(mount, "mountPath"), "must be unique");
}

// Each amount must be a quantity of 0 or more, and a request must not exceed its limit.
static void check_resources(struct field_faults *faults, const struct field_path *up, const struct doc *resources)
{
	static const char *const names[] = { "limits", "requests" };
	const struct field_path at = field_name(up, STR("resources"));
	const struct doc *limits = rule_member(resources, "limits"), *limit;
	long double amount, most;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		const struct field_path of = field_name(&at, str_c(names[i]));
		for (struct doc_iter it = doc_iter(rule_member(resources, names[i])); doc_next(&it);) {
			const struct field_path item = field_key(&of, it.name);
			struct field_faults unheard = field_faults_new(faults->pool);
			if (!check_quantity(faults, &item, it.value, &amount))
				continue;
			if (amount < 0)
				field_invalid(faults, &item, it.value, "must be greater than or equal to 0");
			if (i == 0 || limits == NULL || !doc_get(limits, it.name, &limit) || limit == NULL ||
				!check_quantity(&unheard, &item, limit, &most) || amount <= most)
				continue;
			field_fault_add(faults, &of, FIELD_INVALID, field_shown(faults->pool, it.value),
				"must be less than or equal to %.*s limit of %.*s", STR_ARG(str_part(it.name, 0, 100)),
				STR_ARG(field_shown(faults->pool, limit)));
		}
	}
}

static void check_probe(struct field_faults *faults, const struct field_path *up, const struct doc *container, const char *name)
{
	static const char *const handlers[] = { "exec", "httpGet", "tcpSocket", "grpc" };
	const struct field_path at = field_name(up, str_c(name));
	const struct doc *probe = rule_member(container, name);
	size_t n = 0;

	if (probe == NULL)
		return;
	for (size_t i = 0; i < COUNT_OF(handlers); i++) {
		const struct field_path of = field_name(&at, str_c(handlers[i])), port = field_name(&of, STR("port"));
		const struct doc *handler = rule_member(probe, handlers[i]);
		if (handler == NULL)
			continue;
		if (n++ > 0)
			field_forbidden(faults, &of, "may not specify more than 1 handler type");
		else if (i == 0)
			check_required(faults, &of, handler, "command");
		else if (rule_member(handler, "port") == NULL)
			check_port_number(faults, &port, 0);
		else
			check_port_or_name(faults, &port, rule_member(handler, "port"));
	}
	if (n == 0)
		field_required(faults, &at, "must specify a handler type");
}

static void check_image(struct field_faults *faults, const struct field_path *up, const struct doc *container)
{
	const struct field_path at = field_name(up, STR("image"));
	struct str image = rule_text(container, "image");

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
	const struct doc *ports = rule_member(container, "ports"), *env = rule_member(container, "env");
	const struct doc *mounts = rule_member(container, "volumeMounts");
	const bool *same_port = repeated_texts(pool, rule_texts(pool, ports, "name"), doc_length(ports));
	const bool *same_path = repeated_texts(pool, rule_texts(pool, mounts, "mountPath"), doc_length(mounts));

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
	check_resources(faults, at, rule_member(container, "resources"));
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
		list[i] = rule_member(spec, lists[i]);
		all += n[i] = doc_length(list[i]);
	}
	struct str *names = POOL_ARRAY(pool, struct str, all + 1);
	for (size_t i = 0; i < COUNT_OF(lists); i++)
		for (size_t k = 0; k < n[i]; k++)
			names[at++] = rule_text(doc_at(list[i], k), "name");
	const bool *repeated = repeated_texts(pool, names, all);
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
				field_duplicate(check->faults, &of_name, rule_member(doc_at(list[i], k), "name"));
			check_container(check, &item, doc_at(list[i], k));
		}
	}
	if (n[1] == 0)
		check_required(check->faults, up, spec, "containers");
}

// ---- the pod

static void check_names(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	static const char *const subdomains[] = { "nodeName", "serviceAccountName", "runtimeClassName", "priorityClassName" };
	static const char *const labels[] = { "hostname", "subdomain" };

	for (size_t i = 0; i < COUNT_OF(subdomains); i++) {
		const struct field_path at = field_name(up, str_c(subdomains[i]));
		if (rule_text(spec, subdomains[i]).n > 0)
			check_dns_subdomain(rule_text(spec, subdomains[i]), &at, faults);
	}
	for (size_t i = 0; i < COUNT_OF(labels); i++) {
		const struct field_path at = field_name(up, str_c(labels[i]));
		if (rule_text(spec, labels[i]).n > 0)
			check_dns_label(rule_text(spec, labels[i]), &at, faults);
	}
}

static void check_times(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	const struct field_path of_deadline = field_name(up, STR("activeDeadlineSeconds"));
	const struct field_path of_grace = field_name(up, STR("terminationGracePeriodSeconds"));
	const struct doc *deadline = rule_member(spec, "activeDeadlineSeconds");
	const struct doc *grace = rule_member(spec, "terminationGracePeriodSeconds");
	int64_t seconds;

	if (deadline != NULL && !(rule_integer(spec, "activeDeadlineSeconds", &seconds) && seconds >= 1 && seconds <= INT32_MAX))
		field_invalid(faults, &of_deadline, deadline, "must be between 1 and 2147483647, inclusive");
	if (grace != NULL && !(rule_integer(spec, "terminationGracePeriodSeconds", &seconds) && seconds >= 0))
		field_invalid(faults, &of_grace, grace, "must be greater than or equal to 0");
}

void check_pod_spec(struct field_faults *faults, const struct field_path *at, const struct doc *spec)
{
	static const char *const restarts[] = { "Always", "OnFailure", "Never", NULL };
	static const char *const dns[] = { "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None", NULL };
	const struct field_path of_volumes = field_name(at, STR("volumes")), of_selector = field_name(at, STR("nodeSelector"));
	const struct doc *volumes = rule_member(spec, "volumes");
	size_t n = doc_length(volumes);
	const struct str *names = rule_texts(faults->pool, volumes, "name");
	const bool *repeated = repeated_texts(faults->pool, names, n);
	const struct pod_check check = { .faults = faults, .volumes = sorted_texts(faults->pool, names, n), .n_volumes = n };

	for (size_t i = 0; i < n; i++) {
		const struct field_path item = field_index(&of_volumes, i);
		check_volume(faults, &item, doc_at(volumes, i), repeated[i]);
	}
	check_containers(&check, at, spec);
	check_one_of(faults, at, spec, "restartPolicy", restarts);
	check_one_of(faults, at, spec, "dnsPolicy", dns);
	check_names(faults, at, spec);
	check_label_map(rule_member(spec, "nodeSelector"), &of_selector, faults);
	check_times(faults, at, spec);
}
