// SPDX-License-Identifier: Apache-2.0
// Rules of services.
#include "base/base.h"

#include "api/spaces/common/spaces.h"
#include "api/spaces/kinds/kinds.h"
#include "api/spaces/kinds/rules.h"
#include "base/pool.h"

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

	for (size_t i = 0; i < n; i++)
		numbers[i] = rule_integer(doc_at(list, i), "port", &port) ?
			str_printf(pool, "%lld/%.*s", (long long)port, STR_ARG(rule_text(doc_at(list, i), "protocol"))) : STR("");
	return (struct service_ports){
		.list = list,
		.n = n,
		.same_name = repeated_texts(pool, rule_texts(pool, list, "name"), n),
		.same_port = repeated_texts(pool, numbers, n),
	};
}

static void check_name_of_port(struct field_faults *faults, const struct field_path *up, const struct service_ports *ports,
	size_t i)
{
	const struct field_path at = field_name(up, STR("name"));
	struct str name = rule_text(doc_at(ports->list, i), "name");

	if (name.n == 0 && ports->n > 1)
		field_required(faults, &at, "");
	if (name.n == 0)
		return;
	check_dns_label(name, &at, faults);
	if (ports->same_name[i])
		field_duplicate(faults, &at, rule_member(doc_at(ports->list, i), "name"));
}

static void check_node_port(struct field_faults *faults, const struct field_path *up, const struct doc *service_port,
	struct str type)
{
	const struct field_path at = field_name(up, STR("nodePort"));
	int64_t port;

	if (!rule_integer(service_port, "nodePort", &port) || port == 0)
		return;
	if (str_eq(type, STR("ClusterIP")))
		field_forbidden(faults, &at, "may not be used when `type` is 'ClusterIP'");
	else if (port < NODE_PORT_MIN || port > NODE_PORT_MAX)
		field_fault_add(faults, &at, FIELD_INVALID, str_printf(faults->pool, "%lld", (long long)port),
			"provided port is not in the valid range. The range of valid ports is %d-%d", NODE_PORT_MIN, NODE_PORT_MAX);
}

static void check_port(struct field_faults *faults, const struct field_path *up, const struct service_ports *ports, size_t i,
	struct str type)
{
	const struct field_path at = field_index(up, i), of_port = field_name(&at, STR("port"));
	const struct field_path of_target = field_name(&at, STR("targetPort")), of_app = field_name(&at, STR("appProtocol"));
	const struct doc *port = doc_at(ports->list, i);
	struct str app = rule_text(port, "appProtocol");
	int64_t number;

	check_name_of_port(faults, &at, ports, i);
	if (rule_integer(port, "port", &number) || rule_member(port, "port") == NULL)
		check_port_number(faults, &of_port, number);
	else
		field_invalid(faults, &of_port, rule_member(port, "port"), "must be between 1 and 65535, inclusive");
	check_protocol(faults, &at, port);
	check_port_or_name(faults, &of_target, rule_member(port, "targetPort"));
	if (app.n > 0 && !is_label_key(app))
		field_invalid_text(faults, &of_app, app, "must be a qualified name (e.g. 'http' or 'example.com/my-protocol')");
	check_node_port(faults, &at, port, type);
	if (ports->same_port[i])
		field_duplicate(faults, &at, port);
}

static void check_addresses(struct field_faults *faults, const struct field_path *up, const struct doc *spec)
{
	const struct field_path of_ips = field_name(up, STR("clusterIPs")), first = field_index(&of_ips, 0);
	const struct field_path external = field_name(up, STR("externalIPs"));
	const struct doc *ips = rule_member(spec, "clusterIPs"), *outside = rule_member(spec, "externalIPs");
	struct str ip = rule_text(spec, "clusterIP");

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
	struct str ip = rule_text(spec, "clusterIP"), name = rule_text(spec, "externalName");
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

	check_label_map(rule_member(spec, "selector"), &at, faults);
}

// A service that has an address keeps it; it can't be changed to another one.
static void check_kept(struct field_faults *faults, const struct field_path *up, const struct doc *old, const struct doc *spec)
{
	const struct field_path of_ips = field_name(up, STR("clusterIPs")), first = field_index(&of_ips, 0);
	struct str before = rule_text(old, "clusterIP"), after = rule_text(spec, "clusterIP");

	if (str_eq(rule_text(old, "type"), STR("ExternalName")) || str_eq(rule_text(spec, "type"), STR("ExternalName")))
		return;
	if (before.n > 0 && after.n > 0 && !str_eq(before, after))
		field_invalid_text(faults, &first, after, "may not change once set");
}

void check_service(struct field_faults *faults, const struct doc *before, const struct doc *body)
{
	static const char *const types[] = { "ClusterIP", "ExternalName", "LoadBalancer", "NodePort", NULL };
	static const char *const affinities[] = { "ClientIP", "None", NULL };
	static const char *const traffic[] = { "Cluster", "Local", NULL };
	static const char *const families[] = { "PreferDualStack", "RequireDualStack", "SingleStack", NULL };
	const struct field_path at = field_name(NULL, STR("spec")), of_ports = field_name(&at, STR("ports"));
	const struct doc *spec = rule_member(body, "spec");
	const struct service_ports ports = service_ports(faults->pool, rule_member(spec, "ports"));
	struct str type = rule_text(spec, "type");

	if (ports.n == 0 && !str_eq(rule_text(spec, "clusterIP"), STR("None")) && !str_eq(type, STR("ExternalName")))
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
	check_kept(faults, &at, rule_member(before, "spec"), spec);
}
