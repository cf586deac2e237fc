// SPDX-License-Identifier: Apache-2.0
// The tables are Ironic's network-data-schema.json, which is OpenStack's schema of network_data.json, part by part. There a link
// has to fit exactly one of three schemas, and a network one of two. Their types exclude each other, so the type of a link or
// network tells which schema is meant, and what is wrong can be told by that one.
#include "base/base.h"

#include "base/ascii.h"
#include "base/pool.h"
#include "registry/baremetal/network_data.h"
#include "repr/json/member.h"
#include "repr/schema/json_schema.h"

// ---- addresses

enum { IPV6_GROUPS = 8, IPV6_GROUP_DIGITS = 4, IPV4_PARTS = 4, MAC_LENGTH = 17 };

// How many digits a part of an IPv4 address may have if it begins with 0. The schema's patterns differ in that.
enum { PADDED_NOT = 1, PADDED_TO_2 = 2, PADDED_TO_3 = 3 };

static bool is_mac(const void *arg, struct str text)
{
	UNUSED(arg);
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (i % 3 == 2 ? c != ':' && c != '-' : str_hex_digit(c) < 0)
			return false;
	}
	return text.n == MAC_LENGTH;
}

static bool is_ipv4(struct str text, size_t padded_to)
{
	struct str part;
	uint64_t value;
	size_t n = 0;

	while (str_split(&text, '.', &part)) {
		if (part.n > 3 || !str_to_u64(part, &value) || value > 255 || (part.p[0] == '0' && part.n > padded_to))
			return false;
		n++;
	}
	return n == IPV4_PARTS;
}

// Counts the groups of an IPv6 address, "2001:db8" has 2; "" has none. -1: there is something else.
static int ipv6_groups(struct str text)
{
	struct str group;
	int n = 0;

	if (text.n == 0)
		return 0;
	while (str_split(&text, ':', &group)) {
		if (group.n == 0 || group.n > IPV6_GROUP_DIGITS)
			return -1;
		for (size_t i = 0; i < group.n; i++) {
			if (str_hex_digit(group.p[i]) < 0)
				return -1;
		}
		n++;
	}
	return n;
}

// Finds the first "::". False: there is none.
static bool find_gap(struct str text, size_t *at)
{
	for (*at = 0; *at + 1 < text.n; ++*at) {
		if (text.p[*at] == ':' && text.p[*at + 1] == ':')
			return true;
	}
	return false;
}

static bool is_plain_ipv6(struct str text)
{
	size_t gap;

	if (!find_gap(text, &gap))
		return ipv6_groups(text) == IPV6_GROUPS;
	int before = ipv6_groups(str_part(text, 0, gap)), behind = ipv6_groups(str_part(text, gap + 2, text.n));
	return before >= 0 && behind >= 0 && before + behind < IPV6_GROUPS;
}

// Is it "fe80:", up to four groups that each begin with a colon and may be empty, and "%" with the name of an interface?
static bool is_link_local(struct str text)
{
	const struct str prefix = STR("fe80:");
	size_t zone = str_find(text, '%', 0), digits = 0, groups = 0;

	if (!str_starts(text, prefix) || zone + 1 >= text.n)
		return false;
	for (size_t i = prefix.n; i < zone; i++) {
		bool begins = text.p[i] == ':';
		groups += begins ? 1 : 0;
		digits = begins ? 0 : digits + 1;
		if (groups == 0 || groups > 4 || digits > IPV6_GROUP_DIGITS || (!begins && str_hex_digit(text.p[i]) < 0))
			return false;
	}
	for (size_t i = zone + 1; i < text.n; i++) {
		if (!ascii_is_alnum(text.p[i]))
			return false;
	}
	return true;
}

// Is it "::ffff:" or "::ffff:0:", the 0 one to four times?
static bool is_mapped_prefix(struct str text)
{
	const struct str prefix = STR("::ffff:");

	if (!str_starts(text, prefix))
		return false;
	struct str zeros = str_part(text, prefix.n, text.n);
	for (size_t i = 0; i + 1 < zeros.n; i++) {
		if (zeros.p[i] != '0')
			return false;
	}
	return zeros.n == 0 || (zeros.n > 1 && zeros.n <= IPV6_GROUP_DIGITS + 1 && zeros.p[zeros.n - 1] == ':');
}

// Does the address end in an IPv4 address?
static bool is_mixed_ipv6(struct str text)
{
	size_t begin = text.n, gap;

	while (begin > 0 && text.p[begin - 1] != ':')
		begin--;
	struct str head = str_part(text, 0, begin);
	if (!is_ipv4(str_part(text, begin, text.n), PADDED_TO_2))
		return false;
	if (str_eq(head, STR("::")) || is_mapped_prefix(head))
		return true;
	int groups = find_gap(head, &gap) && gap + 2 == head.n ? ipv6_groups(str_part(head, 0, gap)) : 0;
	return groups >= 1 && groups <= 4;
}

static bool is_ipv4_host(const void *arg, struct str text)
{
	UNUSED(arg);
	return is_ipv4(text, PADDED_TO_3);
}

static bool is_ipv4_network(const void *arg, struct str text)
{
	UNUSED(arg);
	return is_ipv4(text, PADDED_NOT);
}

static bool is_ipv6_gateway(const void *arg, struct str text)
{
	UNUSED(arg);
	return is_plain_ipv6(text) || is_link_local(text) || is_mixed_ipv6(text);
}

// A host's address may have the length of a prefix behind it, of one or two digits.
static bool is_ipv6_host(const void *arg, struct str text)
{
	size_t slash = str_find(text, '/', 0);
	struct str length = str_part(text, slash + 1, text.n);
	bool digits = (length.n == 1 || length.n == 2) && ascii_is_digit(length.p[0]) && ascii_is_digit(length.p[length.n - 1]);

	return (slash == text.n || digits) && is_ipv6_gateway(arg, str_part(text, 0, slash));
}

static bool is_ipv6_network(const void *arg, struct str text)
{
	UNUSED(arg);
	return is_plain_ipv6(text);
}

// The schema's pattern has four alternatives, and its ^ belongs to the first one alone, its $ to the last: "255.255.0.0/16" fits.
static bool is_ipv4_netmask(const void *arg, struct str text)
{
	static const char *const bytes[] = { "254", "252", "248", "240", "224", "192", "128", "0" };
	static const struct {
		const char *before, *behind;
	} alternatives[IPV4_PARTS] = { { "", ".0.0.0" }, { "255.", ".0.0" }, { "255.255.", ".0" }, { "255.255.255.", "" } };
	char mask[sizeof("255.255.255.254")];

	UNUSED(arg);
	for (size_t i = 0; i < IPV4_PARTS * COUNT_OF(bytes); i++) {
		size_t at = i / COUNT_OF(bytes);
		int n = snprintf(mask, sizeof(mask), "%s%s%s", alternatives[at].before, bytes[i % COUNT_OF(bytes)], alternatives[at].behind);
		struct str wanted = str_n(mask, (size_t)n);
		if (at == 0 ? str_starts(text, wanted) : at == IPV4_PARTS - 1 ? str_ends(text, wanted) :
			text.n > 0 && memmem(text.p, text.n, wanted.p, wanted.n) != NULL)
			return true;
	}
	return false;
}

static bool is_ip_host(const void *arg, struct str text)
{
	return is_ipv4_host(arg, text) || is_ipv6_host(arg, text);
}

// ---- the schema

#define FORMAT(of_text, function) { .types = SCHEMA_STRING, .format = &(const struct json_rule){ of_text, function, NULL } }
#define WORDS(...) { .types = SCHEMA_STRING, .values = (const char *const[]){ __VA_ARGS__, NULL } }
#define REQUIRED(...) .required = (const char *const[]){ __VA_ARGS__, NULL }
#define PROPERTIES(...) .properties = (const struct json_property[]){ __VA_ARGS__, { NULL, NULL } }

static const struct json_schema text = { .types = SCHEMA_STRING };
static const struct json_schema integer = { .types = SCHEMA_INTEGER };
static const struct json_schema texts = { .types = SCHEMA_ARRAY, .items = &text };
static const struct json_schema mtu = {
	.types = SCHEMA_NUMBER | SCHEMA_NULL, .has_minimum = true, .minimum = 1, .has_maximum = true, .maximum = 65535
};
static const struct json_schema mac = FORMAT("MAC address", is_mac);
static const struct json_schema ipv4_host = FORMAT("IPv4 address", is_ipv4_host);
static const struct json_schema ipv4_network = FORMAT("IPv4 address", is_ipv4_network);
static const struct json_schema ipv4_netmask = FORMAT("IPv4 network mask", is_ipv4_netmask);
static const struct json_schema ipv6_host = FORMAT("IPv6 address", is_ipv6_host);
static const struct json_schema ipv6_gateway = FORMAT("IPv6 address", is_ipv6_gateway);
static const struct json_schema ipv6_network = FORMAT("IPv6 address", is_ipv6_network);
static const struct json_schema ipv6_netmask = FORMAT("IPv6 network mask", is_ipv6_network);
static const struct json_schema ip_host = FORMAT("IP address", is_ip_host);

static const struct json_schema bond_mode =
	WORDS("802.1ad", "balance-rr", "active-backup", "balance-xor", "broadcast", "balance-tlb", "balance-alb");
static const struct json_schema service_type = WORDS("dns");

// What each link or network has; which others, its type tells.
static const struct json_schema link_type =
	WORDS("bridge", "dvs", "hw_veb", "hyperv", "ovs", "tap", "vhostuser", "vif", "phy", "bond", "vlan");
static const struct json_schema network_type = WORDS("ipv4", "ipv4_dhcp", "ipv6", "ipv6_dhcp", "ipv6_slaac");
static const struct json_schema any_link = {
	.types = SCHEMA_OBJECT, REQUIRED("id", "type"),
	PROPERTIES({ "id", &text }, { "mtu", &mtu }, { "type", &link_type }, { "vif_id", &text })
};
static const struct json_schema any_network = {
	.types = SCHEMA_OBJECT, REQUIRED("id", "link", "network_id", "type"),
	PROPERTIES({ "id", &text }, { "link", &text }, { "network_id", &text }, { "type", &network_type })
};

static const struct json_schema nic = {
	REQUIRED("ethernet_mac_address"), PROPERTIES({ "ethernet_mac_address", &mac })
};
static const struct json_schema bond = {
	REQUIRED("ethernet_mac_address", "bond_mode", "bond_links"),
	PROPERTIES({ "ethernet_mac_address", &mac }, { "bond_mode", &bond_mode }, { "bond_links", &texts })
};
static const struct json_schema vlan = {
	REQUIRED("vlan_mac_address", "vlan_link", "vlan_id"),
	PROPERTIES({ "vlan_mac_address", &mac }, { "vlan_link", &text }, { "vlan_id", &integer })
};

static const struct json_schema ipv4_service = {
	.types = SCHEMA_OBJECT, REQUIRED("address", "type"), PROPERTIES({ "address", &ipv4_host }, { "type", &service_type })
};
static const struct json_schema ipv6_service = {
	.types = SCHEMA_OBJECT, REQUIRED("address", "type"), PROPERTIES({ "address", &ipv6_host }, { "type", &service_type })
};
static const struct json_schema ip_service = {
	.types = SCHEMA_OBJECT, REQUIRED("address", "type"), PROPERTIES({ "address", &ip_host }, { "type", &service_type })
};
static const struct json_schema ipv4_services = { .types = SCHEMA_ARRAY, .items = &ipv4_service };
static const struct json_schema ipv6_services = { .types = SCHEMA_ARRAY, .items = &ipv6_service };
static const struct json_schema ipv4_route = {
	.types = SCHEMA_OBJECT, REQUIRED("gateway", "netmask", "network"),
	PROPERTIES({ "gateway", &ipv4_host }, { "netmask", &ipv4_netmask }, { "network", &ipv4_network }, { "services", &ipv4_services })
};
static const struct json_schema ipv6_route = {
	.types = SCHEMA_OBJECT, REQUIRED("gateway", "netmask", "network"),
	PROPERTIES({ "gateway", &ipv6_gateway }, { "netmask", &ipv6_netmask }, { "network", &ipv6_network }, { "services", &ipv6_services })
};
static const struct json_schema ipv4_routes = { .types = SCHEMA_ARRAY, .items = &ipv4_route };
static const struct json_schema ipv6_routes = { .types = SCHEMA_ARRAY, .items = &ipv6_route };
static const struct json_schema on_ipv4 = {
	PROPERTIES({ "ip_address", &ipv4_host }, { "netmask", &ipv4_netmask }, { "routes", &ipv4_routes })
};
static const struct json_schema on_ipv6 = {
	PROPERTIES({ "ip_address", &ipv6_host }, { "netmask", &ipv6_netmask }, { "routes", &ipv6_routes })
};

static const struct json_schema links = { .types = SCHEMA_ARRAY, .items = &any_link };
static const struct json_schema networks = { .types = SCHEMA_ARRAY, .items = &any_network };
static const struct json_schema services = { .types = SCHEMA_ARRAY, .items = &ip_service };
static const struct json_schema whole = {
	.types = SCHEMA_OBJECT, REQUIRED("links", "networks", "services"),
	PROPERTIES({ "links", &links }, { "networks", &networks }, { "services", &services })
};

// ---- the check

// The schema of the rest of a link or network of that type. type is one of link_type or network_type.
static const struct json_schema *schema_of_type(struct str type)
{
	static const struct {
		const char *type;
		const struct json_schema *schema;
	} others[] = {
		{ "bond", &bond }, { "vlan", &vlan }, { "ipv4", &on_ipv4 }, { "ipv4_dhcp", &on_ipv4 }, { "ipv6", &on_ipv6 },
		{ "ipv6_dhcp", &on_ipv6 }, { "ipv6_slaac", &on_ipv6 },
	};

	for (size_t i = 0; i < COUNT_OF(others); i++) {
		if (str_eq_c(type, others[i].type))
			return others[i].schema;
	}
	return &nic;
}

// at: the path of the document in which the fault was found.
static bool tell(struct pool *pool, const struct json_fault *fault, struct str at, struct str *why)
{
	struct str within = str_part(fault->instance_path, STR("instance").n, fault->instance_path.n);

	*why = str_printf(pool, "%.*s, in %.*s%.*s", STR_ARG(fault->message), STR_ARG(at), STR_ARG(within));
	return false;
}

// Does each element of the member, which are links or networks, fit the schema of its type?
static bool fit_their_types(struct pool *pool, const struct doc *data, const char *member, struct str *why)
{
	const struct doc *list = doc_member(data, member);
	struct json_fault fault;

	for (size_t i = 0; i < doc_elements(list); i++) {
		const struct doc *element = doc_at(list, i);
		struct str type = doc_string(doc_member(element, "type"));
		if (!json_schema_allows(pool, schema_of_type(type), element, &fault))
			return tell(pool, &fault, str_printf(pool, "network_data['%s'][%zu]", member, i), why);
	}
	return true;
}

bool network_data_ok(struct pool *pool, const struct doc *data, struct str *why)
{
	struct json_fault fault;

	assert(doc_kind(data) == DOC_OBJECT);
	if (doc_length(data) == 0)
		return true;
	if (!json_schema_allows(pool, &whole, data, &fault))
		return tell(pool, &fault, STR("network_data"), why);
	return fit_their_types(pool, data, "links", why) && fit_their_types(pool, data, "networks", why);
}
