// SPDX-License-Identifier: Apache-2.0
// For the files of api/baremetal/ only: the Bare Metal API, microversions 1.1 to 1.82, as its clients know it.
#ifndef TENURE_API_BAREMETAL_COMMON_BAREMETAL_H
#define TENURE_API_BAREMETAL_COMMON_BAREMETAL_H

#include "api/call.h"
#include "api/conditions.h"
#include "registry/baremetal/baremetal.h"
#include "registry/core/stored.h"
#include "repr/json/doc.h"

enum { VERSION_MIN = 1, VERSION_MAX = 82, VERSION_ETAG = 40 }; // minor numbers of 1.N
enum { SINCE_NETWORK_TYPE = 64 };                             // of a port's local_link_connection

// ---- version.c: microversions; call->version is the requested one

handler_fn get_root, get_v1;
// The dialect's `enter` and `leave` (api/call.h).
enum outcome baremetal_enter(struct call *call, enum outcome found);
void baremetal_leave(struct call *call);

// ---- address.c

// The absolute URL of a path below the address where the dialect is mounted: "/v1/nodes/…" or "/nodes/…".
struct str baremetal_url(struct call *call, struct str path);
// The host that answers give as the conductor of all nodes: this one, or that of the setting "conductor".
struct str baremetal_host(struct call *call);
// The links of an object: [{"rel": "self", …/v1/path}, {"rel": "bookmark", …/path}]; path is like "nodes/UUID".
struct doc *baremetal_links(struct call *call, struct str path);
// How many bytes of a client's text an error repeats at the most.
enum { BAREMETAL_SHOWN = 255 };

// ---- problem.c: {"error_message": "{\"faultcode\": …}"}

// The dialect's `render_problem` (api/call.h).
void baremetal_render_problem(struct call *call, enum outcome outcome, const struct problem *problem);

// ---- kind.c: nodes, ports, port groups, chassis, volume connectors and targets, deploy templates

// Where the value of a member comes from: from the stored body, or from the resource itself.
enum member_source {
	FROM_BODY,
	FROM_UID, FROM_CREATED, FROM_UPDATED, FROM_TENANT, FROM_TRAITS, FROM_ETAG,
	FROM_HOST,  // the conductor: baremetal_host()
	FROM_LINKS, // the links of the object itself
	FROM_COLLECTION, // links to the collection of that name below the object
};
enum member_flags {
	MEMBER_BRIEF = 1,      // shown in lists without detail
	MEMBER_ALWAYS = 2,     // shown whatever fields are requested
	MEMBER_GIVEN = 4,      // may be set at creation
	MEMBER_STAYS = 8,      // a patch may not remove it
	MEMBER_NOT_NULL = 16,  // a patch may not set it to null
	MEMBER_NO_FIELD = 32,  // can't be requested by name in the parameter fields
	MEMBER_NO_COLUMN = 64, // can't be requested by name in the parameter fields of a list
	MEMBER_PATCHED = 128,  // may be set by patches
	MEMBER_SETTABLE = MEMBER_GIVEN | MEMBER_PATCHED,
};
struct kind_member {
	const char *name;
	unsigned since;       // the microversion from which it is shown
	unsigned named_since; // that from which a request may name it: to set it, to sort by it, in the parameter fields
	enum member_source source;
	unsigned flags;
};
// A kind of objects that the API has.
struct kind {
	const char *singular, *plural; // "connector", "connectors"; the singular is the address parameter, too
	const char *path;              // of the collection below /v1/: "volume/connectors"
	unsigned detail_since;         // the microversion from which lists take the parameter detail
	const struct type_rules *rules; // its noun and title name it in messages
	const struct baremetal_member *body;
	const struct kind_member *members; // in the order of an answer; ends with name NULL
	bool named; // can be found by name as well as by uuid
};
extern const struct kind node_kind, port_kind, portgroup_kind, chassis_kind, volume_connector_kind, volume_target_kind,
	deploy_template_kind, allocation_kind;

// The kind's member of that name; NULL if it has none.
const struct kind_member *kind_member(const struct kind *kind, struct str name);
// Does the requested version allow the name? Nodes had names of hosts alone before 1.10.
bool kind_may_be_named(const struct call *call, const struct kind *kind, struct str name);
// The tenant whose resources the caller may see. p NULL: an operator, or a reader of everything, sees all; "": a caller without
// tenant sees nothing.
struct str baremetal_visible_tenant(const struct call *call);
// Parses the value of an address parameter: a UUID in any case or, if the kind has names, a name. A name that ends in ".json" is
// looked up: if nothing has it, the suffix is removed, as it is from a UUID. OUTCOME_OK; _BAD_PARAMETER ("Expected UUID or
// name"); _NOT_FOUND for a name if the requested version has no names.
enum outcome kind_ident(struct call *call, const struct kind *kind, struct str text, struct ident *ident);
// Answers OUTCOME_NOT_ACCEPTABLE for a feature newer than the requested version. what: "field owner".
enum outcome baremetal_fail_too_new(struct call *call, const char *what, unsigned since);
// Like kind_ident(), and finds the object. _NOT_FOUND has the text of this API ("Node x could not be found.").
enum outcome kind_find(struct call *call, const struct kind *kind, struct str text, struct resource *resource);
// Returns OUTCOME_NOT_FOUND with that text. text: what the address has in the place of the object's UUID.
enum outcome baremetal_fail_not_found(struct call *call, const struct kind *kind, struct str text);

// ---- object.c: one object

// Which members of an object are shown.
struct selection {
	const struct kind *kind;
	const bool *has; // one for each of the kind's members
	struct str url;  // where the dialect is mounted, as links of the objects begin: as in a JSON string
};
// All members that the requested version has.
struct selection baremetal_select_all(struct call *call, const struct kind *kind);
// Those of them that a list without detail shows.
struct selection baremetal_select_brief(struct call *call, const struct kind *kind);
// The members whose place in `touched` is true, as far as the requested version has them.
struct selection baremetal_select_touched(struct call *call, const struct kind *kind, const bool *touched);
// Reads the value of the parameter "fields", of a list or of one object. OUTCOME_OK; _BAD_PARAMETER: there is no such field;
// _NOT_ACCEPTABLE: a field, or the parameter itself, is newer than the requested version.
enum outcome baremetal_select_fields(struct call *call, const struct kind *kind, struct str fields, bool of_list,
	struct selection *selection);
// An object's body, of which members are to be shown. A cached resource has its body as text with masked secrets; of any other
// resource the tree is used.
struct body_shown {
	const struct type_rules *rules;
	struct json_members text; // text.p NULL: use the tree
	const struct doc *tree;
};
// The resource's body in one of these forms. It lives as long as the resource.
struct body_shown baremetal_body(struct call *call, const struct kind *kind, const struct resource *resource);
// Appends the JSON value of that member as the requested version shows it, its secrets masked: null if there is none, or if it is
// a state for which the version has no name.
void baremetal_add_stored(const struct call *call, const char *name, struct body_shown *body, struct buf *out);
// Appends the object as JSON, with its etag from VERSION_ETAG on. Secrets are masked.
void baremetal_add_object(struct call *call, const struct selection *selection, const struct resource *resource, struct buf *out);
// Answers with the whole object and its ETag header.
void baremetal_write_object(struct call *call, const struct kind *kind, const struct resource *resource);
// Answers with a document as JSON.
void baremetal_write_json(struct call *call, const struct doc *doc);
// Reads If-Match; OUTCOME_NOT_ACCEPTABLE if it is sent below VERSION_ETAG. The guard refers to *conditions.
enum outcome baremetal_read_guard(struct call *call, struct conditions *conditions);
// Sets the header ETag to the node's etag, from VERSION_ETAG on.
void baremetal_set_node_etag(struct call *call, const struct resource *node);
// The beginning of every change of one object: baremetal_read_guard(), then kind_ident() of text, the value of the address
// parameter.
enum outcome baremetal_begin_change(struct call *call, const struct kind *kind, struct str text, struct conditions *conditions,
	struct ident *ident);
// Answers GET for the object that the address names. OUTCOME_OK, or the error to answer with.
enum outcome baremetal_show_object(struct call *call, const struct kind *kind);
// The same for the object of that UUID or name.
enum outcome baremetal_show_named(struct call *call, const struct kind *kind, struct str text);

// ---- create.c, patch.c, list.c: the same for all kinds

// An operator names `tenant` as owner. May that tenant be created if it does not exist ([baremetal] create_owners; always for
// "system")?
bool baremetal_may_make_owner(const struct call *call, struct str tenant);
// Adds a Warning header (RFC 7234, section 5.5) which says that the tenant was created, because a mistyped name creates one, too.
// Adds none for "system". Call it once nothing can fail any more: an error undoes the tenant, and keeps the header. remedy: what
// to do about a mistyped name, "change owner again and delete that tenant".
void baremetal_warn_owner_made(struct call *call, struct str tenant, const char *remedy);

// Which tenant owns a new object that may belong to any: owner, if an operator names one, which may create that tenant; else the
// caller's own. owner p NULL: none is named. *tenant p NULL: an operator has named none. *made: the tenant was created. what, for
// errors: "nodes". OUTCOME_OK, _FORBIDDEN, or as tenant_find_or_make().
enum outcome baremetal_choose_owner(struct call *call, const char *what, struct str owner, struct str *tenant, bool *made);

// Answers POST of a new object. OUTCOME_CREATED, or the error to answer with.
enum outcome baremetal_create_object(struct call *call, const struct kind *kind);
// Answers PATCH of the object that the address names. OUTCOME_OK, or the error to answer with.
enum outcome baremetal_patch_object(struct call *call, const struct kind *kind);
// Is a body that is about to be stored within the setting max_body? OUTCOME_OK, _BODY_TOO_LARGE.
enum outcome baremetal_check_size(struct call *call, const struct doc *body);
// Answers DELETE for the object that the address names. OUTCOME_NO_CONTENT, or the error to answer with.
enum outcome baremetal_delete_object(struct call *call, const struct kind *kind);
// The same for the object of that UUID or name.
enum outcome baremetal_delete_named(struct call *call, const struct kind *kind, struct str text);
// The limit of a page: the parameter "limit", at most 1000; 1000 if it is absent or not a number.
uint64_t baremetal_page_limit(struct call *call);
// The URL of the next page: the requested address and parameters, with that limit and marker.
struct str baremetal_next_url(struct call *call, uint64_t limit, struct str marker);
// Reads the parameter "sort_dir", which is ascending if it is absent. OUTCOME_OK, _BAD_PARAMETER.
enum outcome baremetal_read_direction(struct call *call, bool *descending);
// Reads the value of the parameter of that name. OUTCOME_OK, _BAD_PARAMETER.
enum outcome baremetal_read_uuid(struct call *call, const char *name, struct str value, struct uuid *uuid);
// Reads the parameter "detail", which is false if it is absent. OUTCOME_OK, _BAD_PARAMETER.
enum outcome baremetal_read_detail(struct call *call, bool *detail);
// What a list shows of each object if the request's parameters "detail" and "fields" don't say it.
enum list_detail { LIST_BRIEF, LIST_IN_DETAIL };
// Answers GET of a list. parent NULL: of all objects of the kind; else of those below the object of kind parent that the address
// names. OUTCOME_OK, or the error to answer with.
enum outcome baremetal_list_objects(struct call *call, const struct kind *kind, const struct kind *parent, enum list_detail detail);

// ---- handlers.c

handler_fn list_nodes, list_nodes_detail, create_node, get_node, patch_node, delete_node;
handler_fn list_ports, list_ports_detail, create_port, get_port, patch_port, delete_port;
handler_fn list_portgroups, list_portgroups_detail, create_portgroup, get_portgroup, patch_portgroup, delete_portgroup;
handler_fn list_chassis, list_chassis_detail, create_chassis, get_chassis, patch_chassis, delete_chassis;
// Sub-collections: nodes/X/ports, nodes/X/portgroups, portgroups/X/ports, chassis/X/nodes, and …/detail of each.
handler_fn list_node_ports, list_node_portgroups, list_portgroup_ports, list_chassis_nodes;
handler_fn list_node_ports_detail, list_node_portgroups_detail, list_portgroup_ports_detail, list_chassis_nodes_detail;

// These have no address /detail.
handler_fn list_volume_connectors, create_volume_connector, get_volume_connector, patch_volume_connector,
	delete_volume_connector, list_node_volume_connectors;
handler_fn list_volume_targets, create_volume_target, get_volume_target, patch_volume_target, delete_volume_target,
	list_node_volume_targets;
handler_fn list_deploy_templates, create_deploy_template, get_deploy_template, patch_deploy_template, delete_deploy_template;

handler_fn list_allocations, create_allocation, get_allocation, patch_allocation, delete_allocation;

// ---- states.c, provision.c, fake.c, raid.c, traits.c, volume.c, vifs.c, allocation.c, history.c, events.c, refused.c

// Changes the body of a node, whose row is locked, as the service: members that clients can't set, too. OUTCOME_OK, or the
// outcome that the change ends with, described in call->problem.
typedef enum outcome baremetal_node_change_fn(struct call *call, const struct resource *node, struct doc *body,
	const void *arg);
// Changes the node that the address parameter "node" names, if If-Match allows it, and sets the header ETag. OUTCOME_OK, or the
// error to answer with.
enum outcome baremetal_change_node(struct call *call, baremetal_node_change_fn *change, const void *arg);
// Sets the header Location to a part of the node that the address names: "states".
void baremetal_locate_part(struct call *call, const char *part);
// Reads a body that is an object whose members are all among the names, which end with NULL. An empty body is an object without
// members. OUTCOME_OK, _BAD_DOCUMENT.
enum outcome baremetal_read_arguments(struct call *call, const char *const *names, const struct doc **body);

handler_fn set_provision;
handler_fn set_power, set_boot_mode, set_secure_boot, get_console, set_console;
handler_fn get_boot_device, set_boot_device, get_boot_devices;
handler_fn get_indicators, get_indicator, set_indicator;
handler_fn set_raid, get_logical_disk_properties;
handler_fn list_vifs, attach_vif, detach_vif;
handler_fn get_node_allocation, delete_node_allocation;
handler_fn get_states, put_maintenance, delete_maintenance, validate_node;
handler_fn get_traits, put_traits, put_trait, delete_traits, delete_trait;
handler_fn get_volume; // links to connectors and targets, of all nodes or of one
handler_fn list_history, get_history;
handler_fn refuse_collection; // DELETE of nodes, ports, …: an error, because it does not say which one
handler_fn list_bios_settings; // only a driver would fill the list: it is empty
handler_fn lookup_node;        // of an agent that runs on a node: no node waits for one
handler_fn get_node_inventory, get_bios_setting; // only hardware would tell one: not found
handler_fn refuse_driver_call; // vendor calls, heartbeats, …: no driver here supports it
handler_fn refuse_below_node;  // changes of a volume connector or target by an address below a node
handler_fn post_events;        // of the network service: checked, and nothing else

// ---- drivers.c: drivers, conductors (baremetal_host() is the only one), shards

handler_fn list_drivers, get_driver, get_driver_properties, list_conductors, get_conductor, list_shards;
// Finds the driver that the address parameter names; _NOT_FOUND has the text of this API.
enum outcome baremetal_find_driver(struct call *call, struct baremetal_driver *driver);

#endif
