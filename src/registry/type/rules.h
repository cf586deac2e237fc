// SPDX-License-Identifier: Apache-2.0
// The rules of a type beyond "its resources are JSON objects". The registry applies them in every write, whichever dialect it
// comes from. A type without rules takes any object.
#ifndef TENURE_REGISTRY_TYPE_RULES_H
#define TENURE_REGISTRY_TYPE_RULES_H

#include "registry/core/model.h"
#include "repr/json/doc.h"

struct db_query; // db/db.h

enum { LOOKUP_KEYS_MAX = 4 };

// A second key by which a resource is found. Its value is unique within (type, kind) among live resources, as
// { "name", "rack-7" }. Or it records a reference, as { "chassis", "uid of the chassis, blank, own uid" }: then all that refer to
// the same resource are one range of the index.
struct lookup_key {
	const char *kind; // 1 to 32 bytes, static
	struct str value; // 1 to 255 characters
};

// The parts of a resource's body that are also stored as keys.
struct relations {
	struct lookup_key keys[LOOKUP_KEYS_MAX];
	size_t n_keys;
	bool has_root;
	struct uuid root; // uid of the root of its tree; its own uid if it is the root
	bool root_elsewhere; // the resource is in a tree, but its body does not name the root: complete() finds it
};

// A resource that is about to be written.
struct draft {
	struct registry *registry;
	const struct address *address;  // the row of its tenant is locked in share mode
	const struct resource *current; // its row is locked; NULL: the resource is new
	const struct doc *before;       // the body of current; NULL: the resource is new
	struct uuid uid;                // uid of this resource, also if it is new
	struct str meta;                // the metadata that will be stored
	struct doc *body;               // in: as the client sent it; out: as it will be stored
	struct uuid root;               // set by complete() if relate() says root_elsewhere
	bool by_service, restores;      // as in struct edit (core/model.h)
};

// The rules of one type. A function may be NULL if its comment says what NULL means.
// What a member of a tenant may not do with its resources of a type, only an admin: the rest is a member's.
enum for_admins {
	FOR_ADMINS_NOTHING,
	FOR_ADMINS_EXISTENCE, // make, delete and recover one
	FOR_ADMINS_CHANGES, // these, and change one
};

struct type_rules {
	const char *group, *plural; // the type's group and plural name
	const char *noun, *title;   // its names in messages, within a sentence and at its beginning: "volume connector", "Volume connector"
	bool of_system; // its resources are the operator's, and stand in tenant "system" alone; no move takes them elsewhere
	bool has_names;             // clients choose the names of its resources; else each is named by its uid
	const struct type_rules *top; // rules of the type of the roots of its trees; NULL: of this type
	// A resource of this type is the root of a tree unless it is below another root itself. The resources of the tree depend
	// on it: they are moved, deleted and recovered with it.
	bool is_root;
	// The resource's document shows the tenant as content, so the etag covers the tenant (registry/tags/etag.h).
	bool shows_owner;
	enum for_admins for_admins; // api/type_role.h asks for it, in every dialect
	const char *const *untagged; // members that the etag does not cover; ends with NULL. NULL: the etag covers all

	// Checks body and brings it into its stored form: every member exists, defaults are filled in, each value has one
	// spelling. It may query the database (does that chassis exist?), and locks what it relies on in share mode.
	// OUTCOME_OK; OUTCOME_BAD_DOCUMENT, _FORBIDDEN, _CONFLICT or _NOT_FOUND with registry->problem, whose text names the
	// member and says what would be right. registry->privileged: the request is an operator's, who may set members that
	// otherwise only the service sets. Call it by type_complete().
	enum outcome (*complete)(struct draft *draft);
	// Extracts the keys of a body in its stored form. Sends no statement.
	void (*relate)(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations);
	// Can the resource be deleted? Its row is locked. It may change other resources in the same transaction, such as the node
	// of an allocation. OUTCOME_OK, _CONFLICT, _FORBIDDEN or _BAD_REQUEST, or that of a failed statement. NULL: always.
	enum outcome (*may_delete)(struct registry *registry, const struct resource *resource, const struct doc *body);
	// Can the resource be recovered into that tenant, and is the root of its tree live there? Its row is locked; the
	// function may set its root anew. OUTCOME_OK or _CONFLICT. NULL: it can if its root is live there.
	enum outcome (*may_recover)(struct registry *registry, const struct resource *resource, struct str tenant,
		const struct doc *body);
	// Is the member name, at any depth below the body's member top, a secret? The value null never is one. NULL: there are
	// no secrets.
	bool (*is_secret)(struct str top, struct str name);
	// Are passwords in URLs ("https://user:password@host/") secrets, in texts at any depth below the body's member top?
	// NULL: no. May only be set together with is_secret.
	bool (*hides_url_passwords)(struct str top);
	// The statement to run with the resource's id at each change of its traits. NULL: none.
	struct db_call (*traits_changed)(struct pool *pool, uint64_t resource_id);
	// Returns OUTCOME_NAME_TAKEN, with a text, because another resource has this lookup key; key NULL: another one has
	// the uid.
	enum outcome (*taken)(struct registry *registry, const struct uuid *uid, const struct lookup_key *key);
};

// Checks and completes a draft by the rules of its type, which must have some: the tenant (of_system; OUTCOME_FORBIDDEN), then
// complete().
enum outcome type_complete(struct draft *draft);

#endif
