// SPDX-License-Identifier: Apache-2.0
// What the rules of bare metal's types share.
#ifndef TENURE_REGISTRY_BAREMETAL_INTERNAL_H
#define TENURE_REGISTRY_BAREMETAL_INTERNAL_H

#include "registry/baremetal/baremetal.h"

#define BAREMETAL_GROUP "baremetal.openstack.org"

// ---- baremetal.c

// The default of a member; null for a node's interfaces.
struct doc *baremetal_standard(struct pool *pool, const struct baremetal_member *member);
// The string in a member of a body; STR_NONE if it is null.
struct str baremetal_text(const struct doc *body, const char *name);
bool baremetal_true(const struct doc *body, const char *name);
void baremetal_set(struct draft *draft, const char *name, struct doc *value);
// Replaces the instance_info of a node's body by a copy, which the caller may change. Returns the copy.
struct doc *baremetal_own_instance_info(struct pool *pool, struct doc *body);
// The text, cut off if it is too long for a message.
struct str baremetal_excerpt(struct pool *pool, struct str text);
// "a, b, c"
struct str baremetal_list(struct pool *pool, const char *const *words);
// Is it the name of a member that holds a secret, such as "auth_password"?
bool baremetal_names_secret(struct str name);
// Does the draft change the member? A new resource changes it if the value is not the default.
bool baremetal_changes(const struct draft *draft, const struct baremetal_member *members, const char *name);

// ---- baremetal/check.c: checks for all types

// OUTCOME_BAD_DOCUMENT: "Schema error for node: " and so on.
enum outcome baremetal_fail_schema(struct draft *draft, const char *format, ...) PRINTF_LIKE(2, 3);
// Checks each member of draft->body and brings the body into its stored form: a missing member gets its default, each value has
// the member's JSON type, and what can be written in several ways (MAC addresses, UUIDs) is written in one. Refuses unknown
// members.
enum outcome baremetal_normalise(struct draft *draft, const struct baremetal_member *members);
// OUTCOME_FORBIDDEN if a user changes a member that only operators or the service may set, unless the service itself makes the
// change (draft->by_service), or the resource is new and the member initial. free: a member that is not checked; NULL: none.
enum outcome baremetal_guard(struct draft *draft, const struct baremetal_member *members, const char *free);
// Checks that the name is null or baremetal_name_ok(). OUTCOME_OK; _BAD_DOCUMENT.
enum outcome baremetal_check_name(struct draft *draft);
// Checks that the member is null or one of the words.
enum outcome baremetal_check_word(struct draft *draft, const char *name, const char *const *words);
// OUTCOME_NAME_TAKEN: "A node with name … already exists.", with the noun of these rules.
enum outcome baremetal_fail_taken(struct registry *registry, const struct type_rules *rules, const struct uuid *uid,
	const struct lookup_key *key);

// ---- baremetal/reference.c: references to other resources

// Reads the resource to which a member of the draft refers: a live node or port group in the draft's tenant, or a chassis.
// Locks it in share mode until the transaction ends. *body: its body. OUTCOME_OK; _BAD_DOCUMENT: "Node … could not be found."
enum outcome baremetal_lock_reference(struct draft *draft, const struct type_rules *rules, const char *member,
	const struct doc **body);
// As baremetal_lock_reference() for the node of that tenant whose UUID is text.
enum outcome baremetal_lock_node(struct registry *registry, struct str tenant, struct str text, const struct doc **body);
// The same for the port group that a port belongs to, but locks it exclusively: what its other ports are is the port's business,
// too.
enum outcome baremetal_lock_portgroup(struct registry *registry, struct str tenant, struct str text, const struct doc **body);
// Finds the physical network of one of the port group's live ports other than `port`; *network STR_NONE: it is in none. *found:
// there is another port. portgroup: a UUID. OUTCOME_OK, or that of a failed statement.
enum outcome baremetal_portgroup_network(struct registry *registry, const struct uuid *port, struct str portgroup, bool *found,
	struct str *network);
// Does a live resource with these rules refer to uid, by a lookup key "uid …" of this kind?
enum outcome baremetal_pointed_at(struct registry *registry, const struct type_rules *rules, const char *kind,
	const struct uuid *uid, bool *found);
// Can an allocation take the node with this body? Then it has a lookup key of the kind "free", made of its resource class and
// uid. The keys of a class lie between those for the uids "" and "~".
bool baremetal_is_free(const struct doc *body);
struct str baremetal_free_key(struct pool *pool, struct str class, struct str uid);

// baremetal_point() adds a lookup key "target uid" that records a reference; baremetal_add_key() adds any lookup key.
void baremetal_point(struct pool *pool, const char *kind, struct str target, const struct uuid *uid,
	struct relations *relations);
void baremetal_add_key(const char *kind, struct str value, struct relations *relations);

#endif
