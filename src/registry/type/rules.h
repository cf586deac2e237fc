// SPDX-License-Identifier: Apache-2.0
// What a type asks of its resources beyond being JSON objects. The registry applies the rules in every write, whichever
// dialect it comes from; a type without rules takes any object.
#ifndef TENURE_REGISTRY_TYPE_RULES_H
#define TENURE_REGISTRY_TYPE_RULES_H

#include "registry/core/model.h"
#include "repr/json/doc.h"

struct db_query; // db/db.h

enum { ALIASES_MAX = 4 };

// What a resource is found by besides its uid, one of a kind and type among all tenants: { "name", "rack-7" }. Also what it
// points at, as { "chassis", "uid of the chassis, blank, own uid" }, so that who points there is one range of the index.
struct alias {
	const char *kind; // 1 to 32 bytes, static
	struct str value; // 1 to 255 characters
};

// What of a resource's body stands in keys.
struct relations {
	struct alias aliases[ALIASES_MAX];
	size_t n_aliases;
	bool has_root;
	struct uuid root; // the top of its tree; its own uid when it is one
	bool root_elsewhere; // it has a root that the body alone does not tell
};

// A resource about to be written.
struct draft {
	struct registry *registry;
	const struct address *address;  // its tenant's row is held shared
	const struct resource *current; // its row is locked; NULL: a new one
	const struct doc *before;       // the body of current, NULL: a new one
	struct uuid uid;                // of this one, a new one's too
	struct str meta;                // as it is to be stored
	struct doc *body;               // as the client wants it; the rules leave it as it is to be stored
	struct uuid root;               // filled in by the rules where relate says root_elsewhere
};

struct type_rules {
	const char *group, *plural; // of the type
	bool has_names;             // its resources' names are their own; else each is named by its uid
	const struct type_rules *top; // of the resources at the tops of its trees; NULL: its own
	bool is_root;               // others hang on it: they move, go and come back with it; not while it hangs on one itself
	bool shows_owner;           // its document has the tenant as content, so that the etag covers it (registry/tags/etag.h)
	const char *const *untagged; // members that the etag does not cover, ends with NULL; NULL: none

	// Checks body and brings it into its stored form: every member there, defaults filled in, values in one spelling.
	// May ask the database (does that chassis exist?), locking what it relies on shared. OUTCOME_OK; _BAD_DOCUMENT,
	// _FORBIDDEN, _CONFLICT, _NOT_FOUND with registry->problem, in words that name the member and what would be right.
	// registry->privileged: an operator asks, who may set what otherwise only the service does.
	enum outcome (*complete)(struct draft *draft);
	// Of a body in stored form; asks nobody.
	void (*relate)(struct pool *pool, const struct doc *body, const struct uuid *uid, struct relations *relations);
	// May it go? Its row is locked. OUTCOME_OK, _CONFLICT, _FORBIDDEN, _BAD_REQUEST. NULL: always.
	enum outcome (*may_delete)(struct registry *registry, const struct resource *resource, const struct doc *body);
	// May it come back to that tenant, and does what it hangs on live there? Its row is locked; its root may be set anew.
	// OUTCOME_OK, _CONFLICT. NULL: when its root lives there.
	enum outcome (*may_recover)(struct registry *registry, const struct resource *resource, struct str tenant,
		const struct doc *body);
	// Is the member of that name, at any depth of the body's member top, a secret? NULL: there are none.
	// (null is none whatever its name.)
	bool (*is_secret)(struct str top, struct str name);
	// Are passwords in URLs ("https://user:password@host/") secrets in the texts below the body's member top, at any depth?
	// NULL: in none. Only beside is_secret.
	bool (*hides_url_passwords)(struct str top);
	// Run with the resource's id by every change of its traits. NULL: nothing.
	struct db_call (*traits_changed)(struct pool *pool, uint64_t resource_id);
	// Answers OUTCOME_NAME_TAKEN in words for an alias that another resource has; alias NULL: the uid is another's.
	enum outcome (*taken)(struct registry *registry, const struct uuid *uid, const struct alias *alias);
};

#endif
