// SPDX-License-Identifier: Apache-2.0
// network_data of nodes: what Ironic's schema takes and what it refuses. The functions that check addresses are compared with the
// schema's patterns, on addresses and on what becomes of them when characters are replaced, inserted or taken away.
#include "base/base.h"

#include "base/pool.h"
#include "base/regexp/regexp.h"
#include "documents.h"
#include "registry/baremetal/network_data.h"
#include "tap.h"

static struct pool *pool;

static bool fits(const char *text, struct str *why)
{
	*why = STR("");
	return network_data_ok(pool, parsed_quoted(pool, text), why);
}

// ---- documents

#define LINK "{'id':'eth0','type':'phy','ethernet_mac_address':'52:54:00:00:00:01'}"
#define BOND "{'id':'b','type':'bond','ethernet_mac_address':'52:54:00:00:00:01','bond_mode':'802.1ad','bond_links':['eth0','eth1']}"
#define VLAN "{'id':'v','type':'vlan','vlan_mac_address':'52:54:00:00:00:01','vlan_link':'eth0','vlan_id':101}"
#define NET4 "{'id':'n4','type':'ipv4','link':'eth0','network_id':'x'}"
#define NET6 "{'id':'n6','type':'ipv6','link':'eth0','network_id':'x'}"
#define WITH_LINK(link) "{'links':[" link "],'networks':[],'services':[]}"
#define WITH_NETWORK(network) "{'links':[],'networks':[" network "],'services':[]}"
#define WITH_SERVICE(service) "{'links':[],'networks':[],'services':[" service "]}"
#define LINK_AND(more) WITH_LINK("{'id':'eth0','type':'phy','ethernet_mac_address':'52:54:00:00:00:01'," more "}")
#define NET4_AND(more) WITH_NETWORK("{'id':'n4','type':'ipv4','link':'eth0','network_id':'x'," more "}")
#define NET6_AND(more) WITH_NETWORK("{'id':'n6','type':'ipv6','link':'eth0','network_id':'x'," more "}")

static void test_right(void)
{
	static const char *const right[] = {
		"{}",
		"{'links':[],'networks':[],'services':[]}",
		"{'links':[],'networks':[],'services':[],'more':1}",
		"{'links':[" LINK "," BOND "," VLAN "],'networks':[" NET4 "," NET6 "],'services':[{'type':'dns','address':'192.0.2.53'},{'type':'dns','address':'2001:db8::53'}]}",
		LINK_AND("'mtu':null,'vif_id':'cd9f6d46-4a3a-43ab-a466-994af9db96fc','more':[]"),
		LINK_AND("'mtu':1"), LINK_AND("'mtu':65535"), LINK_AND("'mtu':1500.5"),
		LINK_AND("'bond_mode':1,'vlan_id':'x'"),
		WITH_LINK("{'id':'v','type':'vlan','vlan_mac_address':'52-54-00-00-00-01','vlan_link':'','vlan_id':-1.0,'ethernet_mac_address':1}"),
		WITH_LINK("{'id':'','type':'bond','ethernet_mac_address':'52:54-00:aB:00:01','bond_mode':'balance-alb','bond_links':[]}"),
		NET4_AND("'ip_address':'192.168.81.99','netmask':'255.255.252.0','routes':[]"),
		NET4_AND("'routes':[{'network':'0.0.0.0','netmask':'0.0.0.0','gateway':'192.0.2.1','services':[{'type':'dns','address':'192.0.2.53'}]}]"),
		NET6_AND("'ip_address':'2001:db8::1/64','netmask':'ffff:ffff::','routes':[{'network':'::','netmask':'::','gateway':'fe80::1%eth0','services':[]}]"),
		WITH_NETWORK("{'id':'a','type':'ipv4_dhcp','link':'l','network_id':''}"), WITH_NETWORK("{'id':'a','type':'ipv6_dhcp','link':'l','network_id':''}"),
		WITH_NETWORK("{'id':'a','type':'ipv6_slaac','link':'l','network_id':''}"),
	};
	struct str why;

	for (size_t i = 0; i < COUNT_OF(right); i++) {
		if (!ok(fits(right[i], &why), "%s", right[i]))
			diag("%.*s", STR_ARG(why));
	}
}

static void test_wrong(void)
{
	static const struct {
		const char *data, *why;
	} wrong[] = {
		{ "{'foo':1}", "'links' is a required property, in network_data" },
		{ "{'links':{},'networks':[],'services':[]}", "{} is not of type 'array', in network_data['links']" },
		{ "{'links':[],'services':[]}", "'networks' is a required property, in network_data" },
		{ "{'links':[],'networks':[]}", "'services' is a required property, in network_data" },
		{ "{'links':[],'networks':null,'services':[]}", "None is not of type 'array', in network_data['networks']" },
		{ WITH_LINK(LINK ",1"), "1 is not of type 'object', in network_data['links'][1]" },
		{ WITH_LINK("{'type':'phy','ethernet_mac_address':'52:54:00:00:00:01'}"), "'id' is a required property, in network_data['links'][0]" },
		{ WITH_LINK("{'id':'a','ethernet_mac_address':'52:54:00:00:00:01'}"), "'type' is a required property, in network_data['links'][0]" },
		{ WITH_LINK("{'id':1,'type':'phy','ethernet_mac_address':'52:54:00:00:00:01'}"), "1 is not of type 'string', in network_data['links'][0]['id']" },
		{ WITH_LINK("{'id':'a','type':null,'ethernet_mac_address':'52:54:00:00:00:01'}"), "None is not of type 'string', in network_data['links'][0]['type']" },
		{ WITH_LINK("{'id':'a','type':'ether','ethernet_mac_address':'52:54:00:00:00:01'}"),
		  "'ether' is not one of ['bridge', 'dvs', 'hw_veb', 'hyperv', 'ovs', 'tap', 'vhostuser', 'vif', 'phy', 'bond', 'vlan'], in network_data['links'][0]['type']" },
		{ WITH_LINK("{'id':'a','type':'phy'}"), "'ethernet_mac_address' is a required property, in network_data['links'][0]" },
		{ WITH_LINK("{'id':'a','type':'bond','bond_mode':'802.1ad','bond_links':[]}"), "'ethernet_mac_address' is a required property, in network_data['links'][0]" },
		{ WITH_LINK("{'id':'a','type':'phy','ethernet_mac_address':'525400000001'}"),
		  "'525400000001' is not a 'MAC address', in network_data['links'][0]['ethernet_mac_address']" },
		{ WITH_LINK(LINK ",{'id':'v','type':'vlan','vlan_mac_address':'52:54:00:00:00:01','vlan_link':'eth0'}"), "'vlan_id' is a required property, in network_data['links'][1]" },
		{ WITH_LINK("{'id':'v','type':'vlan','vlan_mac_address':'52:54:00:00:00:01','vlan_id':1}"), "'vlan_link' is a required property" },
		{ WITH_LINK("{'id':'v','type':'vlan','ethernet_mac_address':'52:54:00:00:00:01','vlan_link':'eth0','vlan_id':1}"), "'vlan_mac_address' is a required property" },
		{ WITH_LINK("{'id':'v','type':'vlan','vlan_mac_address':'52:54:00:00:00:01','vlan_link':'eth0','vlan_id':1.5}"), "1.5 is not of type 'integer'" },
		{ WITH_LINK("{'id':'v','type':'vlan','vlan_mac_address':'52:54:00:00:00:01','vlan_link':'eth0','vlan_id':'1'}"), "'1' is not of type 'integer'" },
		{ WITH_LINK("{'id':'v','type':'vlan','vlan_mac_address':'52:54:00:00:00:01','vlan_link':'eth0','vlan_id':true}"), "True is not of type 'integer'" },
		{ WITH_LINK("{'id':'b','type':'bond','ethernet_mac_address':'52:54:00:00:00:01','bond_links':[]}"), "'bond_mode' is a required property" },
		{ WITH_LINK("{'id':'b','type':'bond','ethernet_mac_address':'52:54:00:00:00:01','bond_mode':'802.3ad','bond_links':[]}"), "'802.3ad' is not one of" },
		{ WITH_LINK("{'id':'b','type':'bond','ethernet_mac_address':'52:54:00:00:00:01','bond_mode':'802.1ad'}"), "'bond_links' is a required property" },
		{ WITH_LINK("{'id':'b','type':'bond','ethernet_mac_address':'52:54:00:00:00:01','bond_mode':'802.1ad','bond_links':['a',1]}"),
		  "1 is not of type 'string', in network_data['links'][0]['bond_links'][1]" },
		{ LINK_AND("'mtu':0"), "0 is less than the minimum of 1, in network_data['links'][0]['mtu']" },
		{ LINK_AND("'mtu':65536"), "65536 is greater than the maximum of 65535" },
		{ LINK_AND("'mtu':'1500'"), "'1500' is not of type 'number', 'null'" },
		{ LINK_AND("'vif_id':null"), "None is not of type 'string'" },
		{ WITH_NETWORK("{'type':'ipv4','link':'l','network_id':'x'}"), "'id' is a required property, in network_data['networks'][0]" },
		{ WITH_NETWORK("{'id':'a','type':'ipv4','network_id':'x'}"), "'link' is a required property" },
		{ WITH_NETWORK("{'id':'a','type':'ipv4','link':'l'}"), "'network_id' is a required property" },
		{ WITH_NETWORK("{'id':'a','link':'l','network_id':'x'}"), "'type' is a required property" },
		{ WITH_NETWORK("{'id':'a','type':'ipv5','link':'l','network_id':'x'}"), "'ipv5' is not one of ['ipv4', 'ipv4_dhcp', 'ipv6', 'ipv6_dhcp', 'ipv6_slaac']" },
		{ WITH_NETWORK("{'id':'a','type':'ipv4','link':'l','network_id':7}"), "7 is not of type 'string'" },
		{ NET4_AND("'ip_address':'2001:db8::1'"), "'2001:db8::1' is not a 'IPv4 address', in network_data['networks'][0]['ip_address']" },
		{ NET6_AND("'ip_address':'192.0.2.1'"), "'192.0.2.1' is not a 'IPv6 address'" },
		{ NET4_AND("'netmask':24"), "24 is not of type 'string'" },
		{ NET4_AND("'netmask':'255.255.255.255'"), "'255.255.255.255' is not a 'IPv4 network mask'" },
		{ NET6_AND("'netmask':'64'"), "'64' is not a 'IPv6 network mask'" },
		{ NET4_AND("'routes':{}"), "{} is not of type 'array'" },
		{ NET4_AND("'routes':[{'netmask':'0.0.0.0','gateway':'192.0.2.1'}]"), "'network' is a required property, in network_data['networks'][0]['routes'][0]" },
		{ NET4_AND("'routes':[{'network':'0.0.0.0','gateway':'192.0.2.1'}]"), "'netmask' is a required property" },
		{ NET4_AND("'routes':[{'network':'0.0.0.0','netmask':'0.0.0.0'}]"), "'gateway' is a required property" },
		{ NET4_AND("'routes':[{'network':'0.0.0.0','netmask':'0.0.0.0','gateway':'::1'}]"), "'::1' is not a 'IPv4 address'" },
		{ NET4_AND("'routes':[{'network':'0.0.0.0','netmask':'0.0.0.0','gateway':'192.0.2.1','services':[{'type':'dns','address':'::1'}]}]"),
		  "'::1' is not a 'IPv4 address', in network_data['networks'][0]['routes'][0]['services'][0]['address']" },
		{ NET6_AND("'routes':[{'network':'::','netmask':'::','gateway':'::1','services':[{'type':'dns','address':'192.0.2.53'}]}]"), "'192.0.2.53' is not a 'IPv6 address'" },
		{ NET6_AND("'routes':[{'network':'::','netmask':'::','gateway':'::1/64'}]"), "'::1/64' is not a 'IPv6 address'" },
		{ WITH_SERVICE("{'type':'ntp','address':'192.0.2.53'}"), "'ntp' is not one of ['dns'], in network_data['services'][0]['type']" },
		{ WITH_SERVICE("{'type':'dns'}"), "'address' is a required property" },
		{ WITH_SERVICE("{'address':'192.0.2.53'}"), "'type' is a required property" },
		{ WITH_SERVICE("{'type':'dns','address':'ns.example'}"), "'ns.example' is not a 'IP address'" },
		{ WITH_SERVICE("'192.0.2.53'"), "'192.0.2.53' is not of type 'object'" },
	};
	struct str why;

	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		bool fit = fits(wrong[i].data, &why);
		if (!ok(!fit && str_starts(why, str_c(wrong[i].why)), "%s", wrong[i].data))
			diag("%.*s", STR_ARG(why));
	}
}

// ---- addresses

// The patterns of the schema.
#define H "[0-9a-fA-F]{1,4}"
#define IPV6_SIDES "(" H ":){7,7}" H "|(" H ":){1,7}:|(" H ":){1,6}:" H "|(" H ":){1,5}(:" H "){1,2}|(" H ":){1,4}(:" H "){1,3}|(" H ":){1,3}(:" H "){1,4}|(" \
	H ":){1,2}(:" H "){1,5}|" H ":((:" H "){1,6})"
#define OCTET "(25[0-5]|(2[0-4]|1{0,1}[0-9]){0,1}[0-9])"
#define IPV6_OTHERS ":((:" H "){1,7}|:)|fe80:(:[0-9a-fA-F]{0,4}){0,4}%[0-9a-zA-Z]{1,}|::(ffff(:0{1,4}){0,1}:){0,1}(" OCTET "\\.){3,3}" OCTET \
	"|(" H ":){1,4}:(" OCTET "\\.){3,3}" OCTET
#define IPV6_NETWORK "^(" IPV6_SIDES "|:((:" H "){1,7})|(::))$"
#define IPV4_HOST "^(?:(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$"
#define BYTES "(254|252|248|240|224|192|128|0)"
#define ROUTE4(network, netmask) NET4_AND("'routes':[{'network':'" network "','netmask':'" netmask "','gateway':'192.0.2.1'}]")
#define ROUTE6(network, netmask, gateway) NET6_AND("'routes':[{'network':'" network "','netmask':'" netmask "','gateway':'" gateway "'}]")

static const struct {
	const char *what, *pattern, *data; // @ in the data stands for the address
} addresses[] = {
	{ "MAC", "(?i)^([0-9A-F]{2}[:-]){5}([0-9A-F]{2})$", WITH_LINK("{'id':'a','type':'phy','ethernet_mac_address':'@'}") },
	{ "IPv4", IPV4_HOST, NET4_AND("'ip_address':'@'") },
	{ "IPv4 network", "^(([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])\\.){3}([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])$", ROUTE4("@", "0.0.0.0") },
	{ "IPv4 netmask", "^" BYTES "\\.0\\.0\\.0|255\\." BYTES "\\.0\\.0|255\\.255\\." BYTES "\\.0|255\\.255\\.255\\." BYTES "$", ROUTE4("0.0.0.0", "@") },
	{ "IPv6", "^(" IPV6_SIDES "|" IPV6_OTHERS ")(/[0-9]{1,2})?$", NET6_AND("'ip_address':'@'") },
	{ "IPv6 gateway", "^(" IPV6_SIDES "|" IPV6_OTHERS ")$", ROUTE6("::", "::", "@") },
	{ "IPv6 network", IPV6_NETWORK, ROUTE6("@", "::", "::1") },
	{ "IPv6 netmask", IPV6_NETWORK, ROUTE6("::", "@", "::1") },
};

static const char *const seeds[] = {
	"", "52:54:00:aB:cD:01", "52-54-00-ab-cd-01", "192.168.81.99", "0.0.0.0", "255.255.255.255", "256.1.1.1", "01.1.1.1", "001.010.099.200", "300.1.1.1", "1.2.3", "1.2.3.4.5",
	"255.255.252.0", "255.255.255.254", "255.254.0.0", "254.0.0.0", "0.0.0.0/8", "10.255.255.0.0.1", "255.0.255.0", "255.255.255.253",
	"::", "::1", "1::", "1::8", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6::8", "1::3:4:5:6:7:8", "1:2:3::5:6:7:8", "1::3::5", ":::",
	"2001:db8:3:4::192.168.81.99", "1:2:3:4:5::1.2.3.4", "::1.2.3.4", "::ffff:1.2.3.4", "::ffff:0:1.2.3.4", "::ffff:00000:1.2.3.4", "::FFFF:1.2.3.4", "::ffff:09.1.1.1", "::ffff:009.1.1.1",
	"1:2:3:4:5:6:1.2.3.4", "fe80::1%eth0", "fe80:%e", "fe80::::%0", "fe80:::::%0", "fe80:1:2:3:4%lo", "fe80::1%", "FE80::1%eth0", "2001:db8::1/64", "::/0", "::1/128", "fe80::1%e/64",
	"ffff:ffff:ffff:ffff::", "8000::", "12345::", "g::", "::1.2.3.4/9",
};

// Compares function and pattern on the text, for each kind of address. Returns how often they agree that it is one.
static unsigned compare(struct regexp *const *patterns, struct str text, unsigned *differ)
{
	unsigned right = 0;

	for (size_t i = 0; i < COUNT_OF(addresses); i++) {
		uint64_t steps = UINT64_MAX;
		struct str data = str_c(addresses[i].data), why;
		size_t at = str_find(data, '@', 0);
		struct str before = str_part(data, 0, at), behind = str_part(data, at + 1, data.n);
		data = str_printf(pool, "%.*s%.*s%.*s", STR_ARG(before), STR_ARG(text), STR_ARG(behind));
		bool is = network_data_ok(pool, parsed_str(pool, replaced(pool, data, '\'', '"')), &why);
		bool should_be = regexp_finds(patterns[i], pool, text, &steps) == REGEXP_YES;
		right += is && should_be ? 1 : 0;
		if (is != should_be) {
			diag("%s '%.*s': %s", addresses[i].what, STR_ARG(text), should_be ? "refused" : "taken");
			++*differ;
		}
	}
	return right;
}

enum { CHANGES = 30 };
static uint32_t random_state = 1;

static size_t below(size_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

// The text with one or two places changed.
static struct str changed(struct str text)
{
	static const char characters[] = "0123456789aAfFgxe::::....%/-";

	for (size_t n = 1 + below(2); n > 0; n--) {
		size_t at = below(text.n + 1), kind = below(3);
		char c = characters[below(sizeof(characters) - 1)];
		struct str head = str_part(text, 0, at), tail = str_part(text, kind == 0 ? at : at + 1, text.n);
		text = kind == 2 ? str_printf(pool, "%.*s%.*s", STR_ARG(head), STR_ARG(tail)) :
			str_printf(pool, "%.*s%c%.*s", STR_ARG(head), c, STR_ARG(tail));
	}
	return text;
}

static void test_addresses(void)
{
	struct regexp *patterns[COUNT_OF(addresses)];
	unsigned right = 0, differ = 0;
	struct str why;

	for (size_t i = 0; i < COUNT_OF(addresses); i++) {
		patterns[i] = regexp_new(pool, str_c(addresses[i].pattern), REGEXP_SIZE_MAX, &why);
		if (patterns[i] == NULL)
			bail_out(addresses[i].pattern);
	}
	for (size_t i = 0; i < COUNT_OF(seeds); i++)
		right += compare(patterns, str_c(seeds[i]), &differ);
	is_int(differ, 0, "addresses are what the schema's patterns say");
	ok(right > COUNT_OF(seeds), "and many are addresses");
	for (size_t i = 0; i < COUNT_OF(seeds); i++) {
		for (size_t k = 0; k < CHANGES; k++)
			right += compare(patterns, changed(str_c(seeds[i])), &differ);
	}
	is_int(differ, 0, "also when they are changed");
}

int main(void)
{
	pool = pool_new();
	test_right();
	test_wrong();
	test_addresses();
	pool_free(&pool);
	return done_testing();
}
