// SPDX-License-Identifier: Apache-2.0
// For the files about providers, their inventories, aggregates and allocations only.
#ifndef TENURE_REGISTRY_PLACEMENT_PROVIDER_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_PROVIDER_INTERNAL_H

#include "db/db.h"
#include "registry/placement/provider.h"

// ---- refusals

// registry_fail(), and the problem gets the member "code".
enum outcome provider_fail_coded(struct registry *registry, enum outcome outcome, const char *code, const char *format, ...)
	PRINTF_LIKE(4, 5);
// Puts the formatted text and a blank in front of the problem's detail.
void provider_fail_context(struct registry *registry, const char *format, ...) PRINTF_LIKE(2, 3);

// The refusal of a generation that is not the current one, where a call has no text of its own.
#define PROVIDER_CHANGED \
	"Resource provider's generation already changed. Please update the generation and try again."

// The generation that a client gave, as refusals name it. UINT64_MAX stands for every number that is no generation.
struct str provider_generation_given(struct pool *pool, uint64_t generation);

// ---- one provider

// Sets name, parent and root from provider->resource. pool: for the document that they are read from, and the name.
void provider_read(struct pool *pool, struct provider *provider);
struct sql_resource; // sql/common.h
// A provider from the columns of its rows and the name of its tenant.
struct provider provider_of_columns(struct registry *registry, const struct sql_resource *columns, struct str tenant,
	uint64_t generation);
// Reads the provider and then runs call (NULL: none), in one round trip. The order makes what call reads at least as new as the
// generation.
enum outcome provider_get_with(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct db_call *call);

// ---- writing

// Locks the provider's row, checks the guard, and runs the call that read() makes, whose rows it returns in *rows. words: the
// text that refuses a generation that is not the current one. OUTCOME_OK, _NOT_FOUND, _CONFLICT, _STALE,
// _PRECONDITION_REQUIRED.
enum outcome provider_lock(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	const char *words, struct provider *provider, struct db_call (*read)(struct pool *pool, uint64_t resource_id),
	struct db_rows *rows);
// The call that raises the generation of the provider with that resources.id.
struct db_call provider_raise_call(struct pool *pool, uint64_t resource_id);
// The calls for a change of what the provider has in other tables: new revision and etag, a change row with the field (such as
// "/inventories"), and if raises, the next generation. former: what the change replaces, as JSON, to be kept for undo; p NULL: it
// is not kept. Returns how many calls; at most PROVIDER_TOUCHES.
enum { PROVIDER_TOUCHES = 4 };
size_t provider_touch(struct registry *registry, struct provider *provider, const char *field, struct str former, bool raises,
	struct db_call calls[PROVIDER_TOUCHES]);
// Runs the calls of a write. OUTCOME_OK; _UNAVAILABLE: one found a duplicate, as another transaction was faster, so this one runs
// again; or that of a failed statement.
enum outcome provider_run(struct registry *registry, struct db_call *calls, size_t n);

// ---- traits and classes

// Looks up the ids of traits, in the order of names. OUTCOME_OK; _BAD_PARAMETER: "No such trait(s): …" with all unknown names.
enum outcome provider_find_traits(struct registry *registry, const struct str *names, size_t n, uint64_t *ids);

// Looks up the ids of classes, in the order of names; an unknown class has 0. *unknown (may be NULL): the first unknown one, p
// NULL: none.
enum outcome provider_find_classes(struct registry *registry, const struct str *names, size_t n, uint64_t *ids, struct str *unknown);
// The same; locks their rows in share mode, so that the classes exist until COMMIT.
enum outcome provider_lock_classes(struct registry *registry, const struct str *names, size_t n, uint64_t *ids, struct str *unknown);
// A class in what is kept of a former state: a class keeps its id when it is renamed. id 0: it is a standard one, or an older
// version kept the name alone.
struct kept_class {
	struct str *name;
	uint64_t id;
};
// Gives the classes their present names, and locks their rows in share mode. A class that was deleted keeps its name, of which
// there may be a new one by now. OUTCOME_OK; _CONFLICT: another of these classes has that name.
enum outcome provider_name_kept_classes(struct registry *registry, const struct kept_class *classes, size_t n);
// The names as a JSON array of strings, in pool.
struct str provider_names_as_json(struct pool *pool, const struct str *names, size_t n);

#endif
