// SPDX-License-Identifier: Apache-2.0
// Bare metal: nodes, the ports, port groups, volume connectors and volume targets that belong to them, chassis, deploy templates
// and drivers. The members of each body, for the rules that check them and for the dialect that shows them. uuid, owner, traits
// and times are columns of the resource and not in the body.
//
// A stored body has every member, except that a node without VIFs has no vifs. In a write, null, or a member that is left out,
// means the member's default; but a member that the service sets keeps its value if it is left out, whoever writes.
#ifndef TENURE_REGISTRY_BAREMETAL_BAREMETAL_H
#define TENURE_REGISTRY_BAREMETAL_BAREMETAL_H

#include "registry/type/rules.h"

struct config;

enum baremetal_kind {
	BAREMETAL_TEXT,   // a string or null
	BAREMETAL_BOOL,
	BAREMETAL_FLAG,   // true, false or null
	BAREMETAL_OBJECT, // never null
	BAREMETAL_UUID,   // a UUID in lower case, or null
	BAREMETAL_MAC,    // six pairs of hex digits in lower case with colons, or null
	BAREMETAL_TIME,   // "2026-11-21T05:24:00+00:00", or null
	BAREMETAL_INTEGER, // a whole number of 32 bits, or null
	BAREMETAL_ARRAY,  // never null
};
struct baremetal_member {
	const char *name;
	enum baremetal_kind kind;
	bool served;          // set by the service, or by an operator in its place
	bool initial;         // served, but whoever makes the resource may set it, too
	bool operators;       // only operators may set it
	bool required;        // never null, and must be in the document
	unsigned most;        // the most characters of a BAREMETAL_TEXT; 0: 255
	bool rare;            // not stored while it has its default
	const char *standard; // the default: a text, or "true" for a BAREMETAL_BOOL. NULL: null, false or {}
};
// In the order of an answer; each list ends with a name of NULL. The default of a node's *_interface depends on its driver.
extern const struct baremetal_member baremetal_node_members[], baremetal_port_members[], baremetal_portgroup_members[],
	baremetal_chassis_members[], baremetal_connector_members[], baremetal_target_members[], baremetal_template_members[],
	baremetal_allocation_members[];
// Returns the member of that name; NULL: there is none.
const struct baremetal_member *baremetal_member(const struct baremetal_member *members, struct str name);

// Closed sets of words for members of nodes; each ends with NULL.
extern const char *const baremetal_provision_states[], *const baremetal_power_states[], *const baremetal_faults[],
	*const baremetal_boot_modes[];
// Is word one of the words?
bool baremetal_among(const char *const *words, struct str word);

// The kinds of interfaces of a driver: "bios", "boot", …; ends with NULL. A node's member is called "bios_interface" and so on.
extern const char *const baremetal_interfaces[];
struct baremetal_driver {
	struct str name;
	const struct baremetal_profile *profile; // the interfaces that it supports
};
// The drivers of the setting baremetal_drivers, in its order, allocated from pool. Returns how many.
size_t baremetal_drivers(const struct config *config, struct pool *pool, struct baremetal_driver **drivers);
// Finds a configured driver by name. False: it is not configured.
bool baremetal_driver_find(const struct config *config, struct str name, struct baremetal_driver *driver);
// The default, and the enabled implementations (ends with NULL), of the interface, one of baremetal_interfaces.
const char *baremetal_driver_default(const struct baremetal_driver *driver, const char *interface);
const char *const *baremetal_driver_enabled(const struct baremetal_driver *driver, const char *interface);

// Returns the MAC address in lower case, "52:54:00:00:00:01"; STR_NONE if text is no MAC address with colons.
struct str baremetal_mac(struct pool *pool, struct str text);
// Reads a boolean as Ironic does: true, false, the numbers 0 and 1, and the strings t true on y yes 1, f false off n no 0.
bool baremetal_bool(const struct doc *value, bool *result);
// The same for a string, such as a query parameter.
bool baremetal_bool_text(struct str text, bool *result);
// Reads the priority of a deploy step: a whole number from 0 on, or a string of digits.
bool baremetal_step_priority(const struct doc *value, uint64_t *priority);
// Is it a valid name of a node or port group: 1 to 255 of the unreserved characters of RFC 3986, and no UUID?
bool baremetal_name_ok(struct str name);
// Is it the name of a host, as Ironic checked names of nodes before 1.10: labels of lower-case letters, digits and "-" of 1 to 63
// characters, with dots between them and perhaps one at the end? But for the first one, a label may have "_", and "-" as its
// first.
bool baremetal_host_name_ok(struct str name);

// "a" or "an", for the noun that follows; "A" or "An", where the two begin a sentence.
const char *baremetal_article(const char *noun);
const char *baremetal_article_first(const char *noun);

#endif
