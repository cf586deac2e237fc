// SPDX-License-Identifier: Apache-2.0
// Services: names and addresses under which pods are reached.
#include "base/base.h"

#include "base/pool.h"
#include "types/common/checks.h"
#include "types/common/messages.h"
#include "types/common/parts.h"

static const struct type_field service_port_fields[] = {
	MEMBER_TEXT("appProtocol", "The protocol of the application."), MEMBER_TEXT("name", "The name of the port."),
	MEMBER_INTEGER("nodePort", "The port on each node."),
	MEMBER_MUST("port", OF_INTEGER, NULL, "The port that the service listens at."),
	MEMBER_TEXT("protocol", "TCP, UDP or SCTP."),
	{ "targetPort", OF_INT_OR_STRING, false, NULL, "The port of the pods, by number or name." }, MEMBER_END
};
static const struct type_field service_spec_fields[] = {
	MEMBER_BOOLEAN("allocateLoadBalancerNodePorts", ""), MEMBER_TEXT("clusterIP", "The service's address."),
	MEMBER_TEXTS("clusterIPs", ""), MEMBER_TEXTS("externalIPs", "Addresses from outside."),
	MEMBER_TEXT("externalName", "What it is an alias of."), MEMBER_TEXT("externalTrafficPolicy", ""),
	MEMBER_INTEGER("healthCheckNodePort", ""), MEMBER_TEXT("internalTrafficPolicy", ""), MEMBER_TEXTS("ipFamilies", ""),
	MEMBER_TEXT("ipFamily", ""), MEMBER_TEXT("ipFamilyPolicy", ""), MEMBER_TEXT("loadBalancerClass", ""),
	MEMBER_TEXT("loadBalancerIP", ""), MEMBER_TEXTS("loadBalancerSourceRanges", ""),
	MEMBER_OBJECTS("ports", service_port_fields, "Its ports."), MEMBER_BOOLEAN("publishNotReadyAddresses", ""),
	MEMBER_MAP("selector", "The labels of the pods it leads to."), MEMBER_TEXT("sessionAffinity", ""),
	MEMBER_ANY("sessionAffinityConfig"), MEMBER_TEXTS("topologyKeys", ""), MEMBER_TEXT("trafficDistribution", ""),
	MEMBER_TEXT("type", "ClusterIP, NodePort, LoadBalancer or ExternalName."), MEMBER_END
};
static const struct type_field service_status_fields[] = {
	MEMBER_OBJECTS("conditions", condition_fields, ""), MEMBER_ANY("loadBalancer"), MEMBER_END
};
static const struct type_field service_fields[] = {
	MEMBER_OBJECT("spec", service_spec_fields, "What the service is to be."),
	MEMBER_OBJECT("status", service_status_fields, "What it is."), MEMBER_END
};

static const struct merge_rule service_spec_merge[] = { MERGE_LIST("ports", "port"), MERGE_END };
static const struct merge_rule service_merge[] = {
	MERGE_IN("metadata", metadata_merge), MERGE_IN("spec", service_spec_merge), MERGE_IN("status", conditions_merge),
	MERGE_END
};

// ---- columns

// Writes ports as "80/TCP,443:30443/TCP".
static void cell_of_ports(struct type_row *row, const struct type_column *column)
{
	const struct doc *ports = column_value(row, column);
	struct buf text = buf_new(row->pool, 64);

	for (size_t i = 0; i < doc_length(ports); i++) {
		struct str protocol = check_object_text(doc_at(ports, i), "protocol");
		int64_t port = 0, node_port = 0;
		doc_i64(check_object_member(doc_at(ports, i), "port"), &port);
		doc_i64(check_object_member(doc_at(ports, i), "nodePort"), &node_port);
		buf_addf(&text, "%s%lld", i > 0 ? "," : "", (long long)port);
		if (node_port > 0)
			buf_addf(&text, ":%lld", (long long)node_port);
		buf_addf(&text, "/%.*s", STR_ARG(protocol.n > 0 ? protocol : STR("TCP")));
	}
	column_add_text(row, text.n > 0 ? buf_str(&text) : STR("<none>"));
}

static void add_address(struct buf *text, struct str address)
{
	if (address.n > 0)
		buf_addf(text, "%s%.*s", text->n > 0 ? "," : "", STR_ARG(address));
}

// A balancer's addresses come before those in the spec. "<pending>": it has got none yet.
static void cell_of_external_ip(struct type_row *row, const struct type_column *column)
{
	const struct doc *spec = check_object_member(row->object, "spec"), *status = check_object_member(row->object, "status");
	const struct doc *ingress = check_object_member(check_object_member(status, "loadBalancer"), "ingress");
	const struct doc *list = check_object_member(spec, "externalIPs");
	struct str type = check_object_text(spec, "type");
	bool balanced = str_eq(type, STR("LoadBalancer")), alias = str_eq(type, STR("ExternalName"));
	struct buf text = buf_new(row->pool, 64);

	UNUSED(column);
	if (alias)
		add_address(&text, check_object_text(spec, "externalName"));
	for (size_t i = 0; balanced && i < doc_elements(ingress); i++) {
		struct str ip = check_object_text(doc_at(ingress, i), "ip");
		add_address(&text, ip.n > 0 ? ip : check_object_text(doc_at(ingress, i), "hostname"));
	}
	for (size_t i = 0; !alias && i < doc_elements(list); i++)
		add_address(&text, doc_string(doc_at(list, i)));
	column_add_text(row, text.n > 0 ? buf_str(&text) : balanced ? STR("<pending>") : STR("<none>"));
}

static const struct type_column of_services[] = {
	COLUMN_TEXT("Type", ".spec.type", "How it is exposed."),
	COLUMN("Cluster-IP", "string", 0, cell_of_text_or_none, ".spec.clusterIP", "Its address."),
	COLUMN("External-IP", "string", 0, cell_of_external_ip, "", "Its addresses from outside."),
	COLUMN("Port(s)", "string", 0, cell_of_ports, ".spec.ports", "The ports it listens at."), COLUMN_AGE,
	COLUMN("Selector", "string", COLUMN_WIDE, cell_of_pairs, ".spec.selector", "The pods it leads to."), COLUMN_END
};

static const char *const selectable[] = { "spec.clusterIP", "spec.type", NULL };

// ---- protobuf, and defaults

PB_MESSAGE(service_port,
	PB_TEXT(1, "name"), PB_TEXT(2, "protocol"), PB_INT_ZERO(3, "port"), PB_OBJECT(4, "targetPort", int_or_string),
	PB_INT(5, "nodePort"), PB_TEXT_ZERO(6, "appProtocol"));
PB_MESSAGE(client_ip_config, PB_INT_ZERO(1, "timeoutSeconds"));
PB_MESSAGE(session_affinity_config, PB_OBJECT(1, "clientIP", client_ip_config));
PB_MESSAGE(service_spec,
	PB_LIST(1, "ports", service_port), PB_MAP_OF_TEXTS(2, "selector"), PB_TEXT(3, "clusterIP"), PB_TEXT(4, "type"),
	PB_TEXTS(5, "externalIPs"), PB_TEXT(7, "sessionAffinity"), PB_TEXT(8, "loadBalancerIP"),
	PB_TEXTS(9, "loadBalancerSourceRanges"), PB_TEXT(10, "externalName"), PB_TEXT(11, "externalTrafficPolicy"),
	PB_INT(12, "healthCheckNodePort"), PB_BOOL(13, "publishNotReadyAddresses"),
	PB_OBJECT(14, "sessionAffinityConfig", session_affinity_config), PB_TEXT_ZERO(17, "ipFamilyPolicy"),
	PB_TEXTS(18, "clusterIPs"), PB_TEXTS(19, "ipFamilies"), PB_BOOL_ZERO(20, "allocateLoadBalancerNodePorts"),
	PB_TEXT_ZERO(21, "loadBalancerClass"), PB_TEXT_ZERO(22, "internalTrafficPolicy"), PB_TEXT_ZERO(23,
	"trafficDistribution"));
PB_MESSAGE(port_status, PB_INT_ZERO(1, "port"), PB_TEXT_ZERO(2, "protocol"), PB_TEXT_ZERO(3, "error"));
PB_MESSAGE(load_balancer_ingress,
	PB_TEXT(1, "ip"), PB_TEXT(2, "hostname"), PB_TEXT_ZERO(3, "ipMode"), PB_LIST(4, "ports", port_status));
PB_MESSAGE(load_balancer_status, PB_LIST(1, "ingress", load_balancer_ingress));
PB_MESSAGE(service_status, PB_OBJECT(1, "loadBalancer", load_balancer_status), PB_LIST(2, "conditions", condition));
PB_MESSAGE(service,
	PB_OBJECT(1, "metadata", object_meta), PB_OBJECT(2, "spec", service_spec), PB_OBJECT(3, "status", service_status));

static const struct type_preset presets[] = {
	{ { "spec", "type" }, "ClusterIP" },
	{ { "spec", "sessionAffinity" }, "None" },
	{ { "spec", "ports", "protocol" }, "TCP" },
	{ .value = NULL }
};

// ---- rules

enum { NODE_PORT_MIN = 30000, NODE_PORT_MAX = 32767 };

// The ports of a service, with the ones that repeat an earlier port's name, or its number and protocol.
struct service_ports {
	const struct doc *list;
	size_t n;
	const bool *same_name, *same_port;
};

static struct service_ports service_ports(struct pool *pool, const struct doc *list)
{
	size_t n = doc_length(list);
	struct str *numbers = POOL_ARRAY(pool, struct str, n + 1);
	int64_t port;

	for (size_t i = 0; i < n; i++) {
		struct str protocol = check_object_text(doc_at(list, i), "protocol");
		numbers[i] = check_object_integer(doc_at(list, i), "port", &port) ?
			str_printf(pool, "%lld/%.*s", (long long)port, STR_ARG(protocol)) : STR("");
	}
	return (struct service_ports){
		.list = list,
		.n = n,
		.same_name = check_repeated_texts(pool, check_object_texts(pool, list, "name"), n),
		.same_port = check_repeated_texts(pool, numbers, n),
	};
}

static void check_name_of_port(struct field_faults *faults, const struct field_path *up, const struct service_ports *ports,
	size_t i)
{
	const struct field_path at = field_name(up, STR("name"));
	struct str name = check_object_text(doc_at(ports->list, i), "name");

	if (name.n == 0 && ports->n > 1)
		field_required(faults, &at, "");
	if (name.n == 0)
		return;
	check_dns_label(name, &at, faults);
	if (ports->same_name[i])
		field_duplicate(faults, &at, check_object_member(doc_at(ports->list, i), "name"));
}

static void check_node_port(struct field_faults *faults, const struct field_path *up, const struct doc *service_port,
	struct str type)
{
	const struct field_path at = field_name(up, STR("nodePort"));
	int64_t port;

	if (!check_object_integer(service_port, "nodePort", &port) || port == 0)
		return;
	if (str_eq(type, STR("ClusterIP")))
		field_forbidden(faults, &at, "may not be used when `type` is 'ClusterIP'");
	else if (port < NODE_PORT_MIN || port > NODE_PORT_MAX)
		field_fault_add(faults, &at, FIELD_INVALID, str_printf(faults->pool, "%lld", (long long)port),
			"provided port is not in the valid range. The range of valid ports is %d-%d", NODE_PORT_MIN,
			NODE_PORT_MAX);
}

static void check_port(struct field_faults *faults, const struct field_path *up, const struct service_ports *ports, size_t i,
	struct str type)
{
	const struct field_path at = field_index(up, i), of_port = field_name(&at, STR("port"));
	const struct field_path of_target = field_name(&at, STR("targetPort")), of_app = field_name(&at, STR("appProtocol"));
	const struct doc *port = doc_at(ports->list, i);
	struct str app = check_object_text(port, "appProtocol");
	int64_t number;

	check_name_of_port(faults, &at, ports, i);
	if (check_object_integer(port, "port", &number) || check_object_member(port, "port") == NULL)
		check_port_number(faults, &of_port, number);
	else
		field_invalid(faults, &of_port, check_object_member(port, "port"), "must be between 1 and 65535, inclusive");
	check_protocol(faults, &at, port);
	check_port_or_name(faults, &of_target, check_object_member(port, "targetPort"));
	if (app.n > 0 && !kind_is_label_key(app))
		field_invalid_text(faults, &of_app, app, "must be a qualified name (e.g. 'http' or 'example.com/my-protocol')");
	check_node_port(faults, &at, port, type);
	if (ports->same_port[i])
		field_duplicate(faults, &at, port);
}

static void check_addresses(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	const struct field_path of_ips = field_name(up, STR("clusterIPs")), first = field_index(&of_ips, 0);
	const struct field_path external = field_name(up, STR("externalIPs"));
	const struct doc *ips = check_object_member(spec, "clusterIPs"), *outside = check_object_member(spec, "externalIPs");
	struct str ip = check_object_text(spec, "clusterIP");

	if (ip.n > 0 && !str_eq(ip, STR("None")))
		check_ip(faults, &first, ip);
	for (size_t i = ip.n > 0 ? 1 : 0; i < doc_length(ips); i++) {
		const struct field_path at = field_index(&of_ips, i);
		if (!(i == 0 && str_eq(doc_string(doc_at(ips, i)), STR("None"))))
			check_ip(faults, &at, doc_string(doc_at(ips, i)));
	}
	for (size_t i = 0; i < doc_length(outside); i++) {
		const struct field_path at = field_index(&external, i);
		check_ip(faults, &at, doc_string(doc_at(outside, i)));
	}
}

static void check_type(struct field_faults *faults, const struct field_path *up, const struct doc *spec, struct str type)
{
	const struct field_path of_name = field_name(up, STR("externalName")), of_ip = field_name(up, STR("clusterIP"));
	const struct field_path of_ips = field_name(up, STR("clusterIPs")), first = field_index(&of_ips, 0);
	struct str ip = check_object_text(spec, "clusterIP"), name = check_object_text(spec, "externalName");
	bool headless = str_eq(ip, STR("None"));

	if (str_eq(type, STR("ExternalName"))) {
		if (ip.n > 0 && !headless)
			field_forbidden(faults, &of_ip, "may not be set for ExternalName services");
		if (name.n == 0)
			field_required(faults, &of_name, "");
		else
			check_dns_subdomain(name.p[name.n - 1] == '.' ? str_part(name, 0, name.n - 1) : name, &of_name, faults);
	}
	if (headless && (str_eq(type, STR("NodePort")) || str_eq(type, STR("LoadBalancer"))))
		field_fault_add(faults, &first, FIELD_INVALID, STR("\"None\""), "may not be set to 'None' for %.*s services",
			STR_ARG(type));
}

static void check_selector(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	const struct field_path at = field_name(up, STR("selector"));

	check_label_map(check_object_member(spec, "selector"), &at, faults);
}

// ---- what stays

static bool is_alias(const struct doc *spec)
{
	return str_eq(check_object_text(spec, "type"), STR("ExternalName"));
}

static bool has_node_ports(const struct doc *spec)
{
	const struct doc *allocates = check_object_member(spec, "allocateLoadBalancerNodePorts");
	struct str type = check_object_text(spec, "type");

	return str_eq(type, STR("NodePort")) ||
	       (str_eq(type, STR("LoadBalancer")) && (doc_kind(allocates) != DOC_BOOL || doc_bool(allocates)));
}

// A node port by the name of its port.
struct node_port {
	struct str name;
	int64_t number;
};

static int by_name(const void *a, const void *b)
{
	const struct node_port *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

// Has the port a node port? *number: which one; 0: it is none that a service may have.
static bool read_node_port(const struct doc *port, int64_t *number)
{
	if (!check_object_integer(port, "nodePort", number) || *number == 0)
		return false;
	*number = *number >= NODE_PORT_MIN && *number <= NODE_PORT_MAX ? *number : 0;
	return true;
}

// A sorted list of the node ports in ports.
static struct node_port *node_ports(struct pool *pool, const struct doc *ports, size_t *n)
{
	struct node_port *list = POOL_ARRAY(pool, struct node_port, doc_elements(ports) + 1);
	int64_t number;

	*n = 0;
	for (size_t i = 0; i < doc_elements(ports); i++) {
		if (read_node_port(doc_at(ports, i), &number) && number != 0)
			list[(*n)++] = (struct node_port){ check_object_text(doc_at(ports, i), "name"), number };
	}
	qsort(list, *n, sizeof(*list), by_name);
	return list;
}

// A port without a node port gets that of the old port of its name, unless another port has taken it.
static void carry_node_ports(struct pool *pool, const struct doc *old, struct doc *ports)
{
	bool taken[NODE_PORT_MAX - NODE_PORT_MIN + 1] = { false };
	size_t n;
	const struct node_port *list = node_ports(pool, old, &n);
	int64_t number;

	for (size_t i = 0; i < doc_elements(ports); i++) {
		if (read_node_port(doc_at(ports, i), &number) && number != 0)
			taken[number - NODE_PORT_MIN] = true;
	}
	for (size_t i = 0; n > 0 && i < doc_elements(ports); i++) {
		struct doc *port = doc_own_item(ports, i);
		const struct node_port key = { .name = check_object_text(port, "name") };
		const struct node_port *found = bsearch(&key, list, n, sizeof(key), by_name);
		if (doc_kind(port) != DOC_OBJECT || found == NULL || read_node_port(port, &number) || taken[found->number - NODE_PORT_MIN])
			continue;
		taken[found->number - NODE_PORT_MIN] = true;
		doc_set(port, STR("nodePort"), doc_new_i64(pool, found->number));
	}
}

// Do balancers ask a port of its own on each node whether the node has pods of the service?
static bool needs_health_port(const struct doc *spec)
{
	return str_eq(check_object_text(spec, "type"), STR("LoadBalancer")) &&
	       str_eq(check_object_text(spec, "externalTrafficPolicy"), STR("Local"));
}

static void carry_health_port(struct pool *pool, const struct doc *old, struct doc *spec)
{
	int64_t had, has;

	if (!check_object_integer(old, "healthCheckNodePort", &had) || had == 0)
		return;
	if (check_object_member(spec, "healthCheckNodePort") == NULL || (check_object_integer(spec, "healthCheckNodePort", &has) && has == 0))
		doc_set(spec, STR("healthCheckNodePort"), doc_new_i64(pool, had));
}

// ---- what goes with the type

static bool has_address(const struct doc *spec)
{
	return !is_alias(spec);
}

static bool is_balanced(const struct doc *spec)
{
	return str_eq(check_object_text(spec, "type"), STR("LoadBalancer"));
}

// Is the service reached from outside, so that it matters whether such traffic stays on its node?
static bool takes_traffic(const struct doc *spec)
{
	return is_balanced(spec) || str_eq(check_object_text(spec, "type"), STR("NodePort")) ||
	       (!is_alias(spec) && doc_elements(check_object_member(spec, "externalIPs")) > 0);
}

// Has the spec a node port that the old spec does not have?
static bool has_new_node_port(const struct doc *old, const struct doc *spec)
{
	const struct doc *before = check_object_member(old, "ports"), *after = check_object_member(spec, "ports");
	bool known[NODE_PORT_MAX - NODE_PORT_MIN + 1] = { false };
	int64_t number;

	for (size_t i = 0; i < doc_elements(before); i++) {
		if (read_node_port(doc_at(before, i), &number) && number != 0)
			known[number - NODE_PORT_MIN] = true;
	}
	for (size_t i = 0; i < doc_elements(after); i++) {
		if (read_node_port(doc_at(after, i), &number) && (number == 0 || !known[number - NODE_PORT_MIN]))
			return true;
	}
	return false;
}

// As Kubernetes' dropTypeDependentFields(): a client that changes the type alone sends back, or leaves by a patch, the members
// that only the old type has a use for. They go if they are as they were. A member that the client has changed stays, for the
// checks to refuse it.
static void drop_unneeded(const struct doc *old, struct doc *spec)
{
	static const struct {
		const char *name;
		bool (*is_needed)(const struct doc *spec);
	} members[] = {
		{ "clusterIP", has_address }, { "clusterIPs", has_address }, { "ipFamilies", has_address }, { "ipFamilyPolicy", has_address },
		{ "healthCheckNodePort", needs_health_port }, { "allocateLoadBalancerNodePorts", is_balanced },
		{ "loadBalancerClass", is_balanced }, { "externalTrafficPolicy", takes_traffic },
	};
	bool drops_node_ports = has_node_ports(old) && !has_node_ports(spec) && !has_new_node_port(old, spec);
	struct doc *ports = doc_own_member(spec, STR("ports"));
	const struct doc *had, *has;

	for (size_t i = 0; i < COUNT_OF(members); i++) {
		struct str name = str_c(members[i].name);
		if (members[i].is_needed(old) && !members[i].is_needed(spec) && doc_get(old, name, &had) && doc_get(spec, name, &has) &&
			doc_equal(had, has))
			doc_remove(spec, name);
	}
	for (size_t i = 0; drops_node_ports && i < doc_elements(ports); i++) {
		struct doc *port = doc_own_item(ports, i);
		if (doc_kind(port) == DOC_OBJECT)
			doc_remove(port, STR("nodePort"));
	}
}

// As Kubernetes' patchAllocatedValues(): manifests don't have the addresses and node ports that were allocated.
static void carry_over_service(struct pool *pool, const struct doc *before, struct doc *body)
{
	const struct doc *old = check_object_member(before, "spec"), *old_ips = check_object_member(old, "clusterIPs");
	struct doc *spec = doc_own_member(body, STR("spec"));
	struct str ip = check_object_text(old, "clusterIP");

	if (doc_kind(spec) != DOC_OBJECT)
		return;
	drop_unneeded(old, spec);
	if (!is_alias(old) && !is_alias(spec)) {
		if (ip.n > 0 && check_object_text(spec, "clusterIP").n == 0)
			doc_set_str(pool, spec, "clusterIP", ip);
		if (doc_elements(old_ips) > 0 && doc_elements(check_object_member(spec, "clusterIPs")) == 0)
			doc_set(spec, STR("clusterIPs"), doc_copy(pool, old_ips));
	}
	if (has_node_ports(old) && has_node_ports(spec))
		carry_node_ports(pool, check_object_member(old, "ports"), doc_own_member(spec, STR("ports")));
	if (needs_health_port(old) && needs_health_port(spec))
		carry_health_port(pool, old, spec);
}

// A service that has an address keeps it: it must not lose it or get another one.
static void check_service_kept(struct field_faults *faults, const struct doc *before, const struct doc *after)
{
	const struct field_path at = field_name(NULL, STR("spec")), of_ips = field_name(&at, STR("clusterIPs"));
	const struct field_path first = field_index(&of_ips, 0);
	const struct doc *old = check_object_member(before, "spec"), *spec = check_object_member(after, "spec");
	struct str had = check_object_text(old, "clusterIP"), has = check_object_text(spec, "clusterIP");

	if (had.n > 0 && !is_alias(old) && !is_alias(spec) && !str_eq(had, has))
		field_invalid_text(faults, &first, has, "may not change once set");
}

static void check_service(struct field_faults *faults, const struct doc *before, const struct doc *meta, const struct doc *body)
{
	static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL };
	static const char *const affinities[] = { "ClientIP", "None", NULL };
	static const char *const traffic[] = { "Cluster", "Local", NULL };
	static const char *const families[] = { "PreferDualStack", "RequireDualStack", "SingleStack", NULL };
	const struct field_path at = field_name(NULL, STR("spec")), of_ports = field_name(&at, STR("ports"));
	const struct doc *spec = check_object_member(body, "spec");
	const struct service_ports ports = service_ports(faults->pool, check_object_member(spec, "ports"));
	struct str type = check_object_text(spec, "type");

	UNUSED(before), UNUSED(meta);
	if (ports.n == 0 && !str_eq(check_object_text(spec, "clusterIP"), STR("None")) && !str_eq(type, STR("ExternalName")))
		field_required(faults, &of_ports, "");
	for (size_t i = 0; i < ports.n; i++)
		check_port(faults, &of_ports, &ports, i, type);
	check_type(faults, &at, spec, type);
	check_addresses(faults, &at, spec);
	check_selector(faults, &at, spec);
	check_one_of(faults, &at, spec, "type", types);
	check_one_of(faults, &at, spec, "sessionAffinity", affinities);
	check_one_of(faults, &at, spec, "externalTrafficPolicy", traffic);
	check_one_of(faults, &at, spec, "internalTrafficPolicy", traffic);
	check_one_of(faults, &at, spec, "ipFamilyPolicy", families);
}

const struct type_parts services_parts = {
	.description = "A service is a name and address for pods.",
	.fields = service_fields,
	.presets = presets,
	.merge = service_merge,
	.columns = of_services,
	.message = &proto_service,
	.selectable = selectable,
	.check_name = check_dns_1035_label,
	.check = check_service,
	.carry_over = carry_over_service,
	.kept_if = STR_INIT("\"clusterIP\""),
	.check_kept = check_service_kept,
};
