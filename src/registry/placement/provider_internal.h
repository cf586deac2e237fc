// SPDX-License-Identifier: Apache-2.0
// For the files about providers, what they have and who uses it only.
#ifndef TENURE_REGISTRY_PLACEMENT_PROVIDER_INTERNAL_H
#define TENURE_REGISTRY_PLACEMENT_PROVIDER_INTERNAL_H

#include "db/db.h"
#include "registry/placement/provider.h"

// ---- what is refused

// registry_fail with the problem's member "code".
enum outcome fail_coded(struct registry *registry, enum outcome outcome, const char *code, const char *format, ...)
	PRINTF_LIKE(4, 5);
enum outcome fail_no_provider(struct registry *registry, const struct uuid *uid);
// Puts words, and a blank, in front of the problem's detail.
void fail_while(struct registry *registry, const char *format, ...) PRINTF_LIKE(2, 3);

// What a generation that is not the current one is refused with, unless a call has words of its own.
#define PROVIDER_CHANGED \
	"Resource provider's generation already changed. Please update the generation and try again."

// ---- one provider

struct ident provider_ident(struct registry *registry, const struct uuid *uid);
// Fills name, parent and root from the resource.
void provider_read(struct registry *registry, struct provider *provider);
// The provider, and behind it what the call has of it (NULL: nothing), in one round trip: what is found is at least as new as
// the generation.
enum outcome provider_get_with(struct registry *registry, const struct uuid *uid, struct provider *provider,
	struct db_call *call);

// ---- writing

// Locks the provider's row, checks the guard, and reads into *rows what the call that read() makes has of it. words: what a
// generation that is not the current one is refused with. OUTCOME_OK, _NOT_FOUND, _CONFLICT, _STALE,
// _PRECONDITION_REQUIRED.
enum outcome provider_hold(struct registry *registry, const struct uuid *uid, const struct provider_guard *guard,
	const char *words, struct provider *provider, struct db_call (*read)(struct pool *pool, uint64_t resource_id),
	struct db_rows *rows);
// The call that gives the provider of that id its next generation.
struct db_call provider_raise_call(struct pool *pool, uint64_t resource_id);
// The calls that tell of a change of what it has: another revision and etag, a change row, and, where it raises it, the next
// generation. field: "/inventories".
enum { PROVIDER_TOUCHES = 3 };
size_t provider_touch(struct registry *registry, struct provider *provider, const char *field, bool raises,
	struct db_call calls[PROVIDER_TOUCHES]);
// Runs a batch of a write. OUTCOME_OK; a duplicate counts as having lost a race.
enum outcome provider_run(struct registry *registry, struct db_call *calls, size_t n);

// ---- traits and classes

// The ids of these traits, in their order. OUTCOME_OK; _BAD_PARAMETER: "No such trait(s): …", all that do not exist.
enum outcome provider_find_traits(struct registry *registry, const struct str *names, size_t n, uint64_t *ids);

// The ids of these classes, 0 for those that are unknown, and, where it is not NULL, *unknown the first of those, p NULL:
// none. held: what is found stays until COMMIT.
enum outcome classes_find(struct registry *registry, const struct str *names, size_t n, bool held, uint64_t *ids,
	struct str *unknown);
// Names, in the order given, as a JSON array of strings.
struct str names_as_json(struct pool *pool, const struct str *names, size_t n);

#endif
