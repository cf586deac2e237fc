// SPDX-License-Identifier: Apache-2.0
// The catalogue of traits. Each worker caches all of it, so reading it usually costs no query. registry/cache/coherence.h says
// how a worker learns that its copy is stale.
//
// A name that is not cached is always looked up in the database: a trait that was just created is never denied. A trait that
// was deleted elsewhere may be shown for at most a second. A transaction that puts a trait on a resource does not rely on the
// cache: it locks the trait's row.
//
// A custom trait that only deleted resources have, or those of deleted tenants, can be deleted, because users do not see those.
// But recovery brings resources back exactly as they were. So such a trait is hidden and not removed: no catalogue lists it, it
// can be created again, and it becomes live again when a resource that has it is recovered. The same holds for classes of
// resources (placement/resource_class.h). Reaping removes hidden traits that no resource has any more.
#ifndef TENURE_REGISTRY_TRAIT_CATALOGUE_H
#define TENURE_REGISTRY_TRAIT_CATALOGUE_H

#include "registry/trait/trait.h"

enum { TRAIT_MAX_DESCRIPTION = 1024 }; // characters

struct trait {
	uint64_t id;
	struct str name;
	struct str description; // "" for none
	bool deprecated;
	int64_t created_us, updated_us;
};

// ---- Reading. What these return is valid until the next call of one of them, or until the end of the request.

// Finds a trait by its name. OUTCOME_OK, _NOT_FOUND.
enum outcome trait_get(struct registry *registry, struct str name, struct trait *trait);

enum trait_use { TRAITS_ANY, TRAITS_USED, TRAITS_UNUSED };
struct trait_query {
	struct str prefix;       // names that begin with these bytes; "": all
	bool named;              // only those in names
	const struct str *names; // in any order, may be repeated; unknown ones are ignored
	size_t n_names;
	enum trait_use use;      // used, or not used, by live resources of type user; user NULL: of any type
	const struct type *user;
};
// Returns the traits in byte order of their names. OUTCOME_OK, or that of a failed statement.
enum outcome trait_list(struct registry *registry, const struct trait_query *query, const struct trait **list,
	size_t *n);

// ---- writing, in a transaction of mode DB_WRITE

// Creates a custom trait. OUTCOME_CREATED; _OK: it exists; _BAD_PARAMETER: not a valid name of a custom trait.
enum outcome trait_put(struct registry *registry, struct str name);
// Deletes a custom trait. OUTCOME_NO_CONTENT; _NOT_FOUND; _BAD_PARAMETER: it is a standard trait; _CONFLICT: a live resource of
// an active tenant has it, and *user is the type of such a resource. Otherwise *user is NULL.
enum outcome trait_delete(struct registry *registry, struct str name, const struct type **user);
// What is told about a trait. A member that is not set stays as it is when the trait's row is locked.
struct trait_about {
	bool sets_description, sets_deprecated;
	struct str description;
	bool deprecated;
};
// Changes what users see of a trait, of standard ones, too. OUTCOME_OK, and *trait is the trait afterwards, its texts in
// registry->pool or the caller's; what changes nothing leaves its time as it is. _NOT_FOUND, _BAD_PARAMETER (too long, or no
// UTF-8).
enum outcome trait_describe(struct registry *registry, struct str name, const struct trait_about *about, struct trait *trait);

// ---- for registry/

struct catalogue *catalogue_new(void);
void catalogue_free(struct catalogue **catalogue);
// Makes the next reading load the catalogue: its revision may have been given a second time.
void catalogue_forget(struct catalogue *catalogue);

#endif
