// SPDX-License-Identifier: Apache-2.0
// What the registry has: tenants, types, resources; their addresses; and what a write is made of.
#ifndef TENURE_REGISTRY_CORE_MODEL_H
#define TENURE_REGISTRY_CORE_MODEL_H

#include "auth/realm.h"
#include "registry/core/context.h"

struct doc;
struct type_parts; // types/common/parts.h
struct type_rules; // registry/type/rules.h

// Whether a tenant's own definition of a type or one that the system shares answers (registry/type/definition.h).
#define TYPE_POLICY_LOCAL "LocalCRDFirst" // the default
#define TYPE_POLICY_SYSTEM "SystemCRDFirst"
#define TYPE_POLICY_NEVER "NeverUseSystemCRDUnlessForced"

// The operator's tenant: owner of what belongs to no other. There from the start (registry/tenant/system_space.h); never deleted.
#define TENANT_SYSTEM REALM_WORD_SYSTEM

struct tenant {
	uint64_t id;
	struct uuid uid;
	struct str name;
	struct str tier;
	bool has_limit;         // the tier has a quota
	uint64_t max_resources; // when it has
	struct str metadata;    // JSON object of strings, compact: the annotations of its Tenant object
	struct str object;      // what else that has: JSON object with "labels", "finalizers", "spec", each where there is one
	const char *policy;     // which definitions of types come first for it: TYPE_POLICY_…
	uint64_t changed;       // id of its last change
	uint8_t etag[64];
	bool etag_required;     // who changes the tenant, or something in it, has to send a precondition
	uint64_t revision;
	uint64_t resources;     // live resources that count
	int64_t created_us, updated_us;
	int64_t deleted_us;     // 0: active
	int64_t purge_us;
};

// Decides on a precondition, given the current etag's 64 bytes, or NULL when the thing does not exist. check NULL: no
// precondition. OUTCOME_OK or OUTCOME_STALE (or _NOT_MODIFIED for reads).
struct guard {
	enum outcome (*check)(void *arg, const uint8_t *etag);
	void *arg;
	bool sure;              // the precondition is such that nobody's change can be overwritten unseen
	const struct str *tags; // the versions that the caller has, 128 hex digits each: for telling what is new since
	size_t n_tags;
};

struct type {
	uint64_t id;
	struct str group; // "" for the core group
	struct str version, kind, plural, singular;
	bool namespaced; // its resources stand in a namespace
	bool builtin;
	const struct type_rules *rules; // NULL: none
	const struct type_parts *parts; // of a built-in one that types/ has; else NULL. type_parts() tells them
};

struct address {
	struct str tenant;
	const struct type *type;
	struct str space; // the namespace; "" when the type has none
	struct str name;
};

enum resource_live { RESOURCE_DELETED = 0, RESOURCE_COUNTED = 1, RESOURCE_KEPT = 2 /* the namespace "default" */ };

struct resource {
	uint64_t id;
	struct uuid uid;
	uint64_t tenant_id;
	struct str tenant;
	const struct type *type;
	struct str space, name;
	enum resource_live live;
	bool locked;
	uint64_t revision, edits;
	uint64_t changed;    // id of its last change: rises over everything that the server keeps
	uint64_t generation; // grows with each change of the body outside of "status"
	uint64_t moves;      // how often it moved to another tenant
	uint8_t stored_etag[64]; // in its row: of its content. For writers of the row and the change log
	uint8_t etag[64];    // what clients see and send: the stored one, or made of it (registry/tags/etag.h)
	struct str meta; // JSON object: labels, annotations and what else the client keeps in metadata; compact
	struct str body; // JSON object: everything but metadata; compact
	bool has_root;
	struct uuid root;  // the top of the tree it belongs to, when it has one
	struct str traits; // JSON array of names in byte order; "" for none
	int64_t created_us, updated_us;
	int64_t deleted_us, purge_us; // 0 while it lives
	int64_t doomed_us;            // its deletion was asked for, and waits for its finalizers; 0: it was not
};

// What a write makes of a resource.
struct content {
	struct str meta;
	struct str body;      // p NULL: document has it instead
	struct doc *document;
	bool locked; // metadata.locked: refuses moves and deletion
};

// Computes the new content from the current one (NULL: there is none yet). OUTCOME_OK, or what the write ends with. Runs
// under the row's lock, so it must not wait for anything.
struct edit {
	enum outcome (*apply)(void *arg, const struct resource *current, struct content *content);
	void *arg;
	bool creates; // false: answer NOT_FOUND (or GONE, MOVED) when there is nothing to change
	struct str version; // of a custom type: the one whose schema the result has to fit; p NULL: the one stored in
};

// A live resource by its uid or, where kind is set, by an alias (rules.h). tenant: whose it has to be; p NULL: anybody's.
struct ident {
	const struct type *type;
	struct str tenant;
	struct uuid uid;
	const char *kind;
	struct str value;
};

#endif
