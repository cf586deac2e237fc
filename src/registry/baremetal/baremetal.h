// SPDX-License-Identifier: Apache-2.0
// Bare metal: nodes, what hangs on them, and the drivers they name. The members of each body, for the rules that check
// them and for the dialect that shows them. uuid, owner, traits and times are the resource's own and not in the body.
//
// A stored body has every member. In a write, null, and a member left out, stand for the member's default; but a served
// member that is left out stays as it is, whoever writes.
#ifndef TENURE_REGISTRY_BAREMETAL_BAREMETAL_H
#define TENURE_REGISTRY_BAREMETAL_BAREMETAL_H

#include "registry/type/rules.h"

struct config;

enum metal_kind {
	METAL_TEXT,   // a string or null
	METAL_BOOL,
	METAL_FLAG,   // true, false or null
	METAL_OBJECT, // never null
	METAL_UUID,   // or null; lower case
	METAL_MAC,    // or null; six pairs of hex digits with colons, lower case
	METAL_TIME,   // or null; "2026-11-21T05:24:00+00:00"
};
struct metal_member {
	const char *name;
	enum metal_kind kind;
	bool served;          // set by the service, or by an operator in its stead
	bool operators;       // for operators to set: where a node belongs
	bool required;        // never null
	unsigned most;        // characters of a METAL_TEXT; 0: 255
	const char *standard; // the default: of a METAL_TEXT instead of null, of a METAL_BOOL "true"; NULL: null, false, {}
};
// In the order of an answer; each ends with a name of NULL. A node's *_interface has a default that its driver knows.
extern const struct metal_member metal_node_members[], metal_port_members[], metal_portgroup_members[],
	metal_chassis_members[];
// NULL: no such member.
const struct metal_member *metal_member(const struct metal_member *members, struct str name);

// The states that nodes are known to have, and other closed sets of words; each ends with NULL.
extern const char *const metal_provision_states[], *const metal_power_states[], *const metal_faults[],
	*const metal_boot_modes[];
bool metal_among(const char *const *words, struct str word);

// The kinds of interfaces a driver has: "bios", "boot", …; ends with NULL. A node's member: "bios_interface" and so on.
extern const char *const metal_interfaces[];
struct metal_driver {
	struct str name;
	const struct metal_profile *profile; // what is known of it
};
// The configured drivers (setting baremetal_drivers), in its order.
size_t metal_drivers(const struct config *config, struct pool *pool, struct metal_driver **drivers);
bool metal_driver_find(const struct config *config, struct str name, struct metal_driver *driver);
// Of one of metal_interfaces. enabled: ends with NULL.
const char *metal_driver_default(const struct metal_driver *driver, const char *interface);
const char *const *metal_driver_enabled(const struct metal_driver *driver, const char *interface);

// "52:54:00:00:00:01" in lower case; STR_NONE when it is no MAC address with colons.
struct str metal_mac(struct pool *pool, struct str text);
// What the bare-metal API takes for a boolean: true, false, 0, 1, and as strings t true on y yes 1, f false off n no 0.
bool metal_bool(const struct doc *value, bool *result);
// The same of a string alone: of a query's parameter.
bool metal_bool_text(struct str text, bool *result);
// 1 to 255 of RFC 3986's unreserved characters, and no UUID: what nodes and port groups may be called.
bool metal_name_ok(struct str name);

#endif
