// SPDX-License-Identifier: Apache-2.0
// The catalogue of traits, which each worker holds in memory: reading it costs no query; and how workers learn of changes
// of what they hold so, of types as well (registry/type/definition.h).
//
// What a worker holds is the catalogue as of one revision. The revision stands in the database, in table catalogues,
// and every change of the catalogue raises it in the same transaction. The newest one that is known here stands in
// memory that the processes of one master share (struct coherence_shared): who commits a change raises it there as
// well, so that no process under that master answers from what was before; and twice a second the first of them that
// reads asks the database on behalf of all, so that what other hosts and masters changed is seen within a second. A
// lone worker has such memory for itself.
//
// A name that is not held is always asked of the database: what was made a moment ago is never denied. The other way
// round, what was deleted elsewhere is shown for a second at most. Whoever puts a trait on a resource relies on none of
// that, but on the row of the catalogue, locked.
//
// Resources that are deleted, or whose tenant is, keep nobody from deleting a custom trait: people don't see them. But
// they can be recovered, exactly as they were. So a trait that only such ones have is hidden rather than removed: it is
// in no catalogue, can be made anew, and comes back with the first that comes back. Likewise the classes of resources
// (resource_class.h). Reaping removes what is hidden and nobody has any more.
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

// ---- reading. What comes out is valid until the next call of one of these, or the request's end.

// OUTCOME_OK, _NOT_FOUND.
enum outcome trait_get(struct registry *registry, struct str name, struct trait *trait);

enum trait_use { TRAITS_ANY, TRAITS_USED, TRAITS_UNUSED };
struct trait_query {
	struct str prefix;       // byte for byte; "" for all
	bool named;              // only those among names
	const struct str *names; // in any order, repeated or not; unknown ones are passed over
	size_t n_names;
	enum trait_use use;      // by live resources of user; NULL: of any type
	const struct type *user;
};
// In byte order of names. OUTCOME_OK.
enum outcome trait_list(struct registry *registry, const struct trait_query *query, const struct trait **list,
	size_t *n);

// ---- writing, in a transaction of mode DB_WRITE

// A custom trait. OUTCOME_CREATED; _OK: it is there; _BAD_PARAMETER: not a custom trait's name.
enum outcome trait_put(struct registry *registry, struct str name);
// OUTCOME_NO_CONTENT; _NOT_FOUND; _BAD_PARAMETER: a standard trait; _CONFLICT: a resource has it. Deleted ones,
// and those of deleted tenants, do not count.
enum outcome trait_delete(struct registry *registry, struct str name);
// What people are told about it, a standard one as well. OUTCOME_OK, _NOT_FOUND, _BAD_PARAMETER (too long, no UTF-8).
enum outcome trait_describe(struct registry *registry, struct str name, struct str description, bool deprecated);

// ---- for registry/

struct catalogue *catalogue_new(void);
void catalogue_free(struct catalogue **catalogue);

#endif
