// SPDX-License-Identifier: Apache-2.0
// For the files of api/baremetal/ only: the Bare Metal API, microversions 1.1 to 1.82, as its clients know it.
#ifndef TENURE_API_BAREMETAL_BAREMETAL_H
#define TENURE_API_BAREMETAL_BAREMETAL_H

#include "api/call.h"
#include "api/conditions.h"
#include "registry/metal.h"

enum { VERSION_MIN = 1, VERSION_MAX = 82, VERSION_ETAG = 40 }; // minor numbers of 1.N

// ---- version.c: microversions; call->version is the one asked for

handler_fn get_root, get_v1;
// struct dialect's enter and leave.
enum outcome baremetal_enter(struct call *call, enum outcome found);
void baremetal_leave(struct call *call);
// Answers OUTCOME_NOT_ACCEPTABLE for what came later than the version asked for. what: "field owner".
enum outcome fail_too_new(struct call *call, const char *what, unsigned since);

// ---- address.c

// An absolute URL below where the dialect is mounted: path "/v1/nodes/…" or "/nodes/…".
struct str metal_url(struct call *call, struct str path);
// [{"rel": "self", …/v1/path}, {"rel": "bookmark", …/path}]; path "nodes/UUID".
struct doc *metal_links(struct call *call, struct str path);
// What of a client's text an error repeats: 255 bytes at most.
struct str metal_shown(struct str text);

// ---- problem.c: {"error_message": "{\"faultcode\": …}"}

void baremetal_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);

// ---- kind.c: what nodes, ports, port groups and chassis are

struct kind_member {
	const char *name; // a metal_member, or one of the resource's own: uuid owner traits created_at …
	unsigned since;   // microversion
	unsigned flags;   // kind.c
};
struct kind {
	const char *singular, *plural; // "portgroup", "portgroups"
	const char *title;             // as its clients read it in messages: "Portgroup"
	const struct type_rules *rules;
	const struct metal_member *body;
	const struct kind_member *members; // in the order of an answer; ends with name NULL
	unsigned since;
	bool named; // found by name, too
};
extern const struct kind node_kind, port_kind, portgroup_kind, chassis_kind;

// Whom the caller may see: its own tenant's, an operator everything (p NULL).
struct str caller_scope(const struct call *call);
// From the value of an address parameter: a UUID in any case or, where the kind has them, a name. OUTCOME_OK; _BAD_PARAMETER
// ("Expected UUID or name"); _NOT_FOUND for names where the version has none.
enum outcome kind_ident(struct call *call, const struct kind *kind, struct str text, struct ident *ident);
// The same, and looks it up; _NOT_FOUND in the words of its clients ("Node x could not be found.").
enum outcome kind_find(struct call *call, const struct kind *kind, struct str text, struct resource *resource);
enum outcome fail_not_found(struct call *call, const struct kind *kind, struct str text);

// ---- object.c: one of a kind

// The object at the call's version; fields p NULL: all. etag with it from VERSION_ETAG on.
struct doc *object_doc(struct call *call, const struct kind *kind, const struct resource *resource, struct str fields);
// The whole object as the answer, ETag header with it.
void write_object(struct call *call, const struct kind *kind, const struct resource *resource);
// Writes any document as JSON, as these clients expect it.
void write_json(struct call *call, const struct doc *doc);
// Reads If-Match: OUTCOME_NOT_ACCEPTABLE below VERSION_ETAG. The guard refers to *conditions.
enum outcome guard_read(struct call *call, struct conditions *conditions);

// ---- handlers

handler_fn list_nodes, list_nodes_detail, create_node, get_node, patch_node, delete_node;
handler_fn list_ports, list_ports_detail, create_port, get_port, patch_port, delete_port;
handler_fn list_portgroups, list_portgroups_detail, create_portgroup, get_portgroup, patch_portgroup, delete_portgroup;
handler_fn list_chassis, list_chassis_detail, create_chassis, get_chassis, patch_chassis, delete_chassis;
// Sub-collections: nodes/X/ports, nodes/X/portgroups, portgroups/X/ports, chassis/X/nodes, and …/detail of each.
handler_fn list_node_ports, list_node_portgroups, list_portgroup_ports, list_chassis_nodes;
handler_fn list_node_ports_detail, list_node_portgroups_detail, list_portgroup_ports_detail, list_chassis_nodes_detail;

handler_fn get_states, put_maintenance, delete_maintenance, validate_node;
handler_fn get_traits, put_traits, put_trait, delete_traits, delete_trait;
// states.c: the header, from VERSION_ETAG on.
void set_node_etag(struct call *call, const struct resource *node);
handler_fn get_volume;
handler_fn refuse_collection; // DELETE of nodes, ports, …: which one?
handler_fn get_nothing_stored; // bios, vifs, history, …: what only a driver would fill, an empty list of its name
handler_fn find_nothing_stored; // one of those
handler_fn refuse_driver_call; // power, provisioning, … : no driver here does that
handler_fn refuse_events;      // nobody waits for them

// ---- drivers.c: drivers, this host in the part of the conductor that has all nodes, shards

handler_fn list_drivers, get_driver, get_driver_properties, list_conductors, get_conductor, list_shards;
struct str metal_host(struct pool *pool);
// The driver that the call's parameter names; _NOT_FOUND in the words of its clients.
enum outcome find_driver(struct call *call, struct metal_driver *driver);

#endif
