// SPDX-License-Identifier: Apache-2.0
// For the files of api/baremetal/ only: the Bare Metal API, microversions 1.1 to 1.82, as its clients know it.
#ifndef TENURE_API_BAREMETAL_BAREMETAL_H
#define TENURE_API_BAREMETAL_BAREMETAL_H

#include "api/call.h"
#include "api/conditions.h"
#include "registry/baremetal/baremetal.h"
#include "registry/core/stored.h"

enum { VERSION_MIN = 1, VERSION_MAX = 82, VERSION_ETAG = 40 }; // minor numbers of 1.N

// ---- version.c: microversions; call->version is the one asked for

handler_fn get_root, get_v1;
// struct dialect's enter and leave.
enum outcome baremetal_enter(struct call *call, enum outcome found);
void baremetal_leave(struct call *call);

// ---- address.c

// An absolute URL below where the dialect is mounted: path "/v1/nodes/…" or "/nodes/…".
struct str metal_url(struct call *call, struct str path);
// The name of this host, which stands for the conductor that has all nodes.
struct str metal_host(struct pool *pool);
// [{"rel": "self", …/v1/path}, {"rel": "bookmark", …/path}]; path "nodes/UUID".
struct doc *metal_links(struct call *call, struct str path);
// What of a client's text an error repeats: 255 bytes at most.
struct str metal_shown(struct str text);

// ---- problem.c: {"error_message": "{\"faultcode\": …}"}

void baremetal_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);

// ---- kind.c: what nodes, ports, port groups and chassis are

// Where a member's value comes from: the body, or what the resource is.
enum member_source {
	FROM_BODY,
	FROM_UID, FROM_CREATED, FROM_UPDATED, FROM_TENANT, FROM_TRAITS, FROM_ETAG,
	FROM_HOST,  // the conductor: this host
	FROM_LINKS, // of the object itself
	FROM_PLACE, // links to a collection of that name below the object
};
enum member_flags {
	MEMBER_BRIEF = 1,      // in lists without detail
	MEMBER_ALWAYS = 2,     // whatever fields are asked for
	MEMBER_SETTABLE = 4,   // at creation and in patches
	MEMBER_STAYS = 8,      // … but a patch may not remove it
	MEMBER_NOT_NULL = 16,  // … or not set it to null
	MEMBER_NO_FIELD = 32,  // not to be asked for by name
	MEMBER_NO_COLUMN = 64, // not to be asked for by name in lists
};
struct kind_member {
	const char *name;
	unsigned since; // microversion
	enum member_source source;
	unsigned flags;
};
struct kind {
	const char *singular, *plural; // "portgroup", "portgroups"; the singular is the address parameter, too
	const char *title;             // as its clients read it in messages: "Portgroup"
	const struct type_rules *rules;
	const struct metal_member *body;
	const struct kind_member *members; // in the order of an answer; ends with name NULL
	bool named; // found by name, too
};
extern const struct kind node_kind, port_kind, portgroup_kind, chassis_kind;

// NULL: no such member.
const struct kind_member *kind_member(const struct kind *kind, struct str name);
// Whom the caller may see: its own tenant's, an operator everything (p NULL), who is of no tenant nothing (empty).
struct str caller_scope(const struct call *call);
// From the value of an address parameter: a UUID in any case or, where the kind has them, a name. OUTCOME_OK; _BAD_PARAMETER
// ("Expected UUID or name"); _NOT_FOUND for names where the version has none. A node's name that ends in ".json" is looked
// up: where there is none, it is a name with a suffix.
enum outcome kind_ident(struct call *call, const struct kind *kind, struct str text, struct ident *ident);
// Answers OUTCOME_NOT_ACCEPTABLE for what came later than the version asked for. what: "field owner".
enum outcome fail_too_new(struct call *call, const char *what, unsigned since);
// The same, and looks it up; _NOT_FOUND in the words of its clients ("Node x could not be found.").
enum outcome kind_find(struct call *call, const struct kind *kind, struct str text, struct resource *resource);
enum outcome fail_not_found(struct call *call, const struct kind *kind, struct str text);

// ---- object.c: one of a kind

// Which members are shown.
struct selection {
	const struct kind *kind;
	const bool *has; // of the kind's members
};
// All that the call's version has, or those of a list without detail.
struct selection select_all(struct call *call, const struct kind *kind);
struct selection select_brief(struct call *call, const struct kind *kind);
// The value of a parameter "fields". OUTCOME_OK; _BAD_PARAMETER, _NOT_ACCEPTABLE: a field, or the parameter, is too new.
enum outcome select_fields(struct call *call, const struct kind *kind, struct str fields, bool of_list,
	struct selection *selection);
// Appends the object as JSON. Secrets are masked. etag is in it from VERSION_ETAG on.
void add_object(struct call *call, const struct selection *selection, const struct resource *resource, struct buf *out);
// The whole object as the answer, ETag header with it.
void write_object(struct call *call, const struct kind *kind, const struct resource *resource);
// Writes any document as JSON, as these clients expect it.
void write_json(struct call *call, const struct doc *doc);
// Reads If-Match: OUTCOME_NOT_ACCEPTABLE below VERSION_ETAG. The guard refers to *conditions.
enum outcome guard_read(struct call *call, struct conditions *conditions);
// Sets the header ETag to that of the node, from VERSION_ETAG on.
void set_node_etag(struct call *call, const struct resource *node);
// What every change of one object begins with: guard_read, then kind_ident of the address parameter's value, text.
enum outcome begin_change(struct call *call, const struct kind *kind, struct str text, struct conditions *conditions,
	struct ident *ident);
// GET
enum outcome show_object(struct call *call, const struct kind *kind);

// ---- create.c, patch.c, list.c: the same for all kinds

// An operator names a tenant as owner. May it be made where there is none ([baremetal] create_owners; "system" always)?
bool may_make_owner(const struct call *call, struct str tenant);
// It was made: a Warning header says so (RFC 7234, section 5.5), since a mistyped name makes a tenant as well.
void tell_made_owner(struct call *call, struct str tenant);

enum outcome create_object(struct call *call, const struct kind *kind);
enum outcome patch_object(struct call *call, const struct kind *kind);
enum outcome delete_object(struct call *call, const struct kind *kind);
// parent NULL: all there are; else those of the one that the address names.
enum outcome list_objects(struct call *call, const struct kind *kind, const struct kind *parent, bool detail);

// ---- handlers.c

handler_fn list_nodes, list_nodes_detail, create_node, get_node, patch_node, delete_node;
handler_fn list_ports, list_ports_detail, create_port, get_port, patch_port, delete_port;
handler_fn list_portgroups, list_portgroups_detail, create_portgroup, get_portgroup, patch_portgroup, delete_portgroup;
handler_fn list_chassis, list_chassis_detail, create_chassis, get_chassis, patch_chassis, delete_chassis;
// Sub-collections: nodes/X/ports, nodes/X/portgroups, portgroups/X/ports, chassis/X/nodes, and …/detail of each.
handler_fn list_node_ports, list_node_portgroups, list_portgroup_ports, list_chassis_nodes;
handler_fn list_node_ports_detail, list_node_portgroups_detail, list_portgroup_ports_detail, list_chassis_nodes_detail;

// ---- states.c, traits.c, refused.c

handler_fn get_states, put_maintenance, delete_maintenance, validate_node;
handler_fn get_traits, put_traits, put_trait, delete_traits, delete_trait;
handler_fn get_volume;
handler_fn refuse_collection; // DELETE of nodes, ports, …: which one?
handler_fn get_nothing_stored; // bios, vifs, history, …: what only a driver would fill, an empty list of its name
handler_fn find_nothing_stored; // one of those
handler_fn refuse_driver_call; // power, provisioning, … : no driver here does that
handler_fn refuse_events;      // nobody waits for them

// ---- drivers.c: drivers, this host in the part of the conductor that has all nodes, shards

handler_fn list_drivers, get_driver, get_driver_properties, list_conductors, get_conductor, list_shards;
// The driver that the call's parameter names; _NOT_FOUND in the words of its clients.
enum outcome find_driver(struct call *call, struct metal_driver *driver);

#endif
