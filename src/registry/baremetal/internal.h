// SPDX-License-Identifier: Apache-2.0
// Between the files of bare metal's rules.
#ifndef TENURE_REGISTRY_BAREMETAL_INTERNAL_H
#define TENURE_REGISTRY_BAREMETAL_INTERNAL_H

#include "registry/baremetal/baremetal.h"

#define METAL_GROUP "baremetal.openstack.org"

// ---- baremetal.c

// A member's default; a node's interfaces come out null.
struct doc *metal_standard(struct pool *pool, const struct metal_member *member);
// A string among the members of a body; STR_NONE when it is null.
struct str metal_text(const struct doc *body, const char *name);
bool metal_true(const struct doc *body, const char *name);
void metal_set(struct draft *draft, const char *name, struct doc *value);
// What a client wrote, short enough for a message.
struct str metal_excerpt(struct pool *pool, struct str text);
// "a, b, c"
struct str metal_list(struct pool *pool, const char *const *words);
// Does the draft give the member another value than the resource has? A new one's default counts as what it has.
bool metal_changes(const struct draft *draft, const struct metal_member *members, const char *name);

// ---- baremetal/check.c: what all kinds have in common

// OUTCOME_BAD_DOCUMENT: "Schema error for node: " and so on.
enum outcome metal_fail_schema(struct draft *draft, const char *format, ...) PRINTF_LIKE(2, 3);
// Makes draft->body a body in stored form as far as single members go: all there, of their kinds, in one spelling.
// Refuses what is no member.
enum outcome metal_normalise(struct draft *draft, const struct metal_member *members);
// OUTCOME_FORBIDDEN where somebody changes what is for operators, or for the service, but the member free (or NULL).
enum outcome metal_guard(struct draft *draft, const struct metal_member *members, const char *free);
// Null, or a name as metal_name_ok says.
enum outcome metal_check_name(struct draft *draft);
// Null, or among the words.
enum outcome metal_check_word(struct draft *draft, const char *name, const char *const *words);
// OUTCOME_NAME_TAKEN: "A node with name … already exists." what: "node".
enum outcome metal_fail_taken(struct registry *registry, const char *what, const struct uuid *uid,
	const struct alias *alias);

// ---- baremetal/reference.c: what a resource refers to

// What a member of the draft refers to: the live node or port group of that uid in the draft's tenant, or the chassis.
// Held until the transaction ends; *body as it is stored. OUTCOME_OK; _BAD_DOCUMENT: "Node … could not be found."
enum outcome metal_hold(struct draft *draft, const struct type_rules *rules, const char *member,
	const struct doc **body);
// Is there a live resource with these rules that has an alias "uid …" of this kind?
enum outcome metal_pointed_at(struct registry *registry, const struct type_rules *rules, const char *kind,
	const struct uuid *uid, bool *found);
// An alias "target uid".
void metal_point(struct pool *pool, const char *kind, struct str target, const struct uuid *uid,
	struct relations *relations);
void metal_alias(const char *kind, struct str value, struct relations *relations);

#endif
