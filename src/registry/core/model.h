// SPDX-License-Identifier: Apache-2.0
// The registry's data: tenants, types, resources, their addresses, and the parts of a write.
#ifndef TENURE_REGISTRY_CORE_MODEL_H
#define TENURE_REGISTRY_CORE_MODEL_H

#include "auth/core/realm.h"
#include "registry/core/context.h"

struct doc;
struct type_parts; // types/common/parts.h
struct type_rules; // registry/type/rules.h

// A tenant's policy: does its own definition of a type apply before one that the system shares, or after (type/definition.h)?
#define TYPE_POLICY_LOCAL "LocalCRDFirst" // the default
#define TYPE_POLICY_SYSTEM "SystemCRDFirst"
#define TYPE_POLICY_NEVER "NeverUseSystemCRDUnlessForced"

// The operator's own tenant. It owns what belongs to no other tenant. It always exists (tenant/system_space.h) and is never
// deleted.
#define TENANT_SYSTEM REALM_WORD_SYSTEM

struct tenant {
	uint64_t id;
	struct uuid uid;
	struct str name;
	struct str tier;
	bool has_limit;         // the tier has a quota
	uint64_t max_resources; // the quota, if has_limit
	struct str metadata;    // JSON object of strings, compact: the annotations of its Tenant object
	// the other parts of its Tenant object: JSON object with "labels", "finalizers", "spec", as far as set
	struct str object;
	const char *policy;     // which definitions of types come first for this tenant: one of TYPE_POLICY_…
	uint64_t changed;       // id of its last change
	uint8_t etag[64];
	bool etag_required;     // each change of the tenant, or of a resource in it, must have a precondition
	uint64_t revision;
	uint64_t resources;     // how many live resources count against the quota
	int64_t created_us, updated_us;
	int64_t deleted_us;     // 0: not deleted
	int64_t purge_us;
};

// A precondition. check compares it with the current etag (64 bytes; NULL if the resource does not exist) and returns
// OUTCOME_OK or OUTCOME_STALE, for reads also OUTCOME_NOT_MODIFIED. check NULL: no precondition.
struct guard {
	enum outcome (*check)(void *arg, const uint8_t *etag);
	void *arg;
	// A precondition of what the etag does not tell: which tenant or resource it is, and the id of its last change. It is
	// asked of what exists, under the lock of a write. It returns OUTCOME_OK, or the outcome that the request ends with.
	// NULL: none.
	enum outcome (*check_version)(void *arg, struct uuid uid, uint64_t changed);
	void *version_arg;
	bool prevents_lost_update; // no other change can be lost: the precondition names what is replaced
	const struct str *tags; // the etags that the caller has read, 128 hex digits each: a refusal tells what changed since
	size_t n_tags;
};

struct type {
	uint64_t id;
	struct str group; // "" for the core group
	struct str version, kind, plural, singular;
	bool namespaced; // its resources are in namespaces
	bool builtin;
	const struct type_rules *rules; // NULL: the type has no rules of its own
	const struct type_parts *parts; // NULL: src/types/ has none for this type. Call type_parts(), which never returns NULL
};

struct address {
	struct str tenant;
	const struct type *type;
	struct str space; // the namespace; "" if the type is not namespaced
	struct str name;
};

// The column resources.live. RESOURCE_PINNED is the namespace "default": live, but neither counted against the quota nor moved.
enum resource_live { RESOURCE_DELETED = 0, RESOURCE_COUNTED = 1, RESOURCE_PINNED = 2 };

struct resource {
	uint64_t id;
	struct uuid uid;
	uint64_t tenant_id;
	struct str tenant;
	const struct type *type;
	struct str space, name;
	enum resource_live live;
	// locked: metadata.locked, which refuses moves and deletion. revision: grows by one with each change; edits: with each
	// change of content only.
	bool locked;
	uint64_t revision, edits;
	uint64_t changed;    // id of its last change in the change log; rises over all resources of the server
	// grows with each change of the body (outside of "status", if its type has that as a part), and once deletion is asked
	// for
	uint64_t generation;
	uint64_t moves;      // how often it moved to another tenant
	// The column etag: a hash of the content. For writers of rows and of the change log only: clients see and send
	// etag_shown() (registry/tags/etag.h), which is this one, or is derived from it.
	uint8_t stored_etag[64];
	uint8_t derived_etag[64]; // only etag.c uses it
	bool has_derived_etag;    // false: derived_etag is not set
	struct str meta; // metadata as a compact JSON object: labels, annotations and whatever else the client keeps there
	struct str body; // everything but metadata, as a compact JSON object
	// the tree of the body, if it was parsed before and is still in the request's pool; else NULL: see resource_body_tree()
	const struct doc *tree;
	struct str shown; // the body with its secrets masked, if that is known already; p NULL: see resource_shown()
	// An answer that was made of exactly this resource before, and for which requests: see resource_keep_answer(). p NULL:
	// none
	struct str answer, answer_for;
	bool cached; // it comes from the worker's cache
	bool has_root;
	struct uuid root;  // uid of the root of the tree that it belongs to, if has_root
	struct str traits; // JSON array of trait names in byte order; "": no traits
	int64_t created_us, updated_us;
	int64_t deleted_us, purge_us; // 0 while it is live
	int64_t deletion_requested_us;            // when its deletion was asked for, if that waits for finalizers; 0: not asked for
};

// The new content of a resource, as a write computes it.
struct content {
	struct str meta;
	struct str body;      // compact JSON object; p NULL: document holds the body instead
	struct doc *document;
	bool locked; // metadata.locked: refuses moves and deletion
};

struct db_call;

// A write of one resource. apply computes the new content from the current resource, which is NULL if it does not exist yet. It
// returns OUTCOME_OK, or the outcome that the write ends with. It runs while the resource's row is locked, so it must not wait
// for anything.
struct edit {
	enum outcome (*apply)(void *arg, const struct resource *current, struct content *content);
	void *arg;
	bool creates; // may create the resource; false: a missing one is answered with OUTCOME_NOT_FOUND, _GONE or _MOVED
	// custom types: the version whose schema the result must fit; p NULL: the version in which the resource is stored
	struct str version;
	bool by_service; // apply sets members that only the service sets, so the type's rules don't ask whether the caller may
	bool restores;   // apply gives back content that the resource had before, so the type's rules check no value that they once allowed
	struct db_call *with; // resource_change() alone: a statement for the round trip of the locks, whose rows apply finds; NULL: none
};

// Names a live resource by its uid or, if kind is set, by a lookup key of that kind with that value (type/rules.h). tenant: the
// resource must belong to this tenant; p NULL: to any.
struct ident {
	const struct type *type;
	struct str tenant;
	struct uuid uid;
	const char *kind;
	struct str value;
};

#endif
