// SPDX-License-Identifier: Apache-2.0
// How the version is found. The horizon (registry/log/horizon.h) published before the reading misses no change, but may lie below
// the newest change that the reading contains; a watch from there would repeat that change. So the horizon is advanced up to that
// change, and the changes between are compared with the objects read. If the reading contains all of them, its version is that
// change. If not, two transactions committed in another order than that of their change ids: no version fits, and the objects are
// read again. This never waits for a lock and takes at most PATIENCE_US; after that the version is the first horizon, and not
// exact.
#include "base/base.h"

#include "api/spaces/object/as_of.h"


#include "api/spaces/object/object.h"
#include "base/clock.h"
#include "base/pool.h"
#include "registry/log/log_position.h"
#include "registry/watch/change_stream.h"

enum {
	PATIENCE_US = 100000,
	PAUSE_US = 2000,    // between two attempts to advance the horizon
	CHANGES_MAX = 1000, // most changes that are compared with the objects read
	FAR = 200,          // if the horizon is so many changes below the newest, it is advanced before the reading
};

enum outcome as_of_restart(struct as_of *as_of)
{
	struct registry *registry = as_of->call->registry;
	uint64_t newest;

	as_of->n = 0;
	as_of->newest = 0;
	as_of->is_page = false;
	enum outcome outcome = horizon_read(registry, &as_of->horizon, &newest);

	return outcome == OUTCOME_OK && newest - as_of->horizon > FAR ? horizon_advance(registry, &as_of->horizon, NULL) :
		outcome;
}

enum outcome as_of_begin(struct as_of *as_of, struct call *call, const struct target *target, struct str name)
{
	*as_of = (struct as_of){ .call = call, .target = target, .name = name, .until_us = clock_tick_us() + PATIENCE_US };
	return as_of_restart(as_of);
}

void as_of_note(struct as_of *as_of, uint64_t id, uint64_t changed)
{
	struct pool *pool = as_of->call->pool;

	assert(as_of->n <= as_of->room);
	if (as_of->n == as_of->room) {
		size_t room = as_of->room * 2 + 64;
		struct sighting *more = POOL_ARRAY(pool, struct sighting, room);
		if (as_of->n > 0)
			memcpy(more, as_of->seen, as_of->n * sizeof(*more));
		as_of->seen = more;
		as_of->room = room;
	}
	as_of->seen[as_of->n++] = (struct sighting){ id, changed };
}

void as_of_note_last(struct as_of *as_of, uint64_t id, struct str space, struct str name)
{
	assert(name.p != NULL);
	as_of->last_id = id;
	as_of->last_space = str_dup(as_of->call->pool, space);
	as_of->last_name = str_dup(as_of->call->pool, name);
}

void as_of_note_page_end(struct as_of *as_of)
{
	assert(as_of->last_name.p != NULL);
	as_of->is_page = true;
}

// ---- comparing a change with the objects read

static bool is_in(const struct as_of *as_of, struct str tenant)
{
	return tenant.p != NULL && (as_of->target->all || str_eq(tenant, as_of->target->tenant));
}

// Is the object of this change one that the reading looks at, or was it one before the change?
static bool concerns(const struct as_of *as_of, const struct streamed_change *change)
{
	const struct target *target = as_of->target;
	const struct resource *resource = &change->resource;

	if (definition_has_identity(target->definition, "", "tenants"))
		return streamed_change_is_of_tenant(change) && !change->beside && (as_of->name.p == NULL || str_eq(as_of->name, change->tenant));
	if (resource->id == 0 || resource->type == NULL || !target->definition->stored ||
		resource->type->id != target->definition->type->id)
		return false;
	if (!target->all_spaces && !str_eq(resource->space, target->space))
		return false;
	if (as_of->name.p != NULL && !str_eq(resource->name, as_of->name))
		return false;
	if (as_of->counts_forced && (str_eq_c(change->tenant, TENANT_SYSTEM) || str_eq_c(change->from, TENANT_SYSTEM)))
		return true;
	return is_in(as_of, change->tenant) || is_in(as_of, change->from);
}

// Does the change leave the object where this reading looks for it?
static bool leaves_it(const struct as_of *as_of, const struct streamed_change *change)
{
	if (str_eq(change->verb, STR("deleted")) || str_eq(change->verb, STR("purged")))
		return false;
	return streamed_change_is_of_tenant(change) ? change->tenant.p != NULL : is_in(as_of, change->tenant);
}

// Does the object of this change come after the page, so that the reading did not look at it?
static bool is_behind_page(const struct as_of *as_of, const struct streamed_change *change)
{
	const struct resource *resource = &change->resource;
	bool of_tenant = streamed_change_is_of_tenant(change);

	if (!as_of->is_page)
		return false;
	if (as_of->target->all)
		return resource->id > as_of->last_id;
	int order = of_tenant ? 0 : str_cmp(resource->space, as_of->last_space);
	return order > 0 || (order == 0 && str_cmp(of_tenant ? change->tenant : resource->name, as_of->last_name) > 0);
}

static int by_id(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

// Was the object read after this change? as_of->seen is sorted.
static bool was_seen(const struct as_of *as_of, const struct streamed_change *change)
{
	const struct sighting key = { .id = streamed_change_is_of_tenant(change) ? change->tenant_id : change->resource.id };
	const struct sighting *found = as_of->n == 0 ? NULL : bsearch(&key, as_of->seen, as_of->n, sizeof(key), by_id);

	return leaves_it(as_of, change) ? found != NULL && found->changed >= change->id : found == NULL;
}

// Is list[at] the last change of its object in the list?
static bool is_last_of_object(const struct streamed_change *list, size_t n, size_t at)
{
	uint64_t id = list[at].resource.id;

	for (size_t i = at + 1; i < n; i++) {
		if (list[i].resource.id == id && (id != 0 || list[i].tenant_id == list[at].tenant_id))
			return false;
	}
	return true;
}

// ---- the version

// Reads the changes above the horizon that concern the reading. *all: false if there were too many to compare.
static enum outcome read_changes(struct as_of *as_of, uint64_t up_to, struct streamed_change **list, size_t *n, bool *all)
{
	size_t kept = 0;
	const struct change_range range = { .after = as_of->horizon, .up_to = up_to, .limit = CHANGES_MAX };
	enum outcome outcome = change_stream_read(as_of->call->registry, range, list, n);

	if (outcome != OUTCOME_OK)
		return outcome;
	*all = *n < CHANGES_MAX;
	for (size_t i = 0; i < *n; i++) {
		if (concerns(as_of, &(*list)[i]))
			(*list)[kept++] = (*list)[i];
	}
	*n = kept;
	return OUTCOME_OK;
}

// The id of the last change that the reading contains; 0: it contains none.
static uint64_t last_seen(const struct as_of *as_of, const struct streamed_change *list, size_t n)
{
	while (n > 0 && (is_behind_page(as_of, &list[n - 1]) || !was_seen(as_of, &list[n - 1])))
		n--;
	return n > 0 ? list[n - 1].id : 0;
}

// Advances the horizon to up_to. *there: it got that far in time.
static enum outcome await(const struct as_of *as_of, uint64_t up_to, bool *there)
{
	struct registry *registry = as_of->call->registry;
	uint64_t horizon;

	*there = false;
	for (;;) {
		enum outcome outcome = horizon_advance(registry, &horizon, NULL);
		if (outcome != OUTCOME_OK)
			return outcome;
		*there = horizon >= up_to;
		if (*there || horizon_is_held(registry) || clock_tick_us() >= as_of->until_us)
			return OUTCOME_OK;
		clock_pause_us(PAUSE_US);
	}
}

// Does the reading contain the last change of every object that it looked at?
static bool all_seen(const struct as_of *as_of, const struct streamed_change *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_behind_page(as_of, &list[i]) && is_last_of_object(list, n, i) && !was_seen(as_of, &list[i]))
			return false;
	}
	return true;
}

// Are there too many changes above the horizon to compare them?
static bool is_too_far(const struct as_of *as_of, uint64_t newest)
{
	return newest - as_of->horizon >= CHANGES_MAX && horizon_backlog(as_of->call->registry) >= CHANGES_MAX;
}

static void sort_sightings(struct as_of *as_of)
{
	if (as_of->n > 0)
		qsort(as_of->seen, as_of->n, sizeof(*as_of->seen), by_id);
}

// as_of_end() without its last step. The order of the steps: the comparison is worth its cost only near the horizon; the changes
// above the horizon tell the last one that was read; the horizon has to reach that one, since smaller ids may still be committed;
// and only then is it known whether everything below it was read.
static enum outcome find_version(struct as_of *as_of, uint64_t *version, bool *exact, bool *again)
{
	struct streamed_change *list;
	uint64_t newest = as_of->newest, last;
	size_t n;
	bool all, there = false;
	enum outcome outcome = newest != 0 ? OUTCOME_OK : horizon_read(as_of->call->registry, NULL, &newest);

	*version = as_of->horizon;
	*exact = true;
	*again = false;
	if (outcome != OUTCOME_OK || newest <= as_of->horizon)
		return outcome;
	*exact = !is_too_far(as_of, newest);
	if (!*exact)
		return OUTCOME_OK;
	sort_sightings(as_of);
	outcome = read_changes(as_of, newest, &list, &n, &all);
	if (outcome != OUTCOME_OK)
		return outcome;
	last = last_seen(as_of, list, n);
	*exact = all && last == 0;
	if (!all || last == 0)
		return OUTCOME_OK;
	outcome = await(as_of, last, &there);
	if (outcome == OUTCOME_OK && there)
		outcome = read_changes(as_of, last, &list, &n, &all);
	if (outcome != OUTCOME_OK || !there || !all)
		return outcome;
	*exact = all_seen(as_of, list, n);
	if (*exact)
		*version = last;
	*again = !*exact && clock_tick_us() < as_of->until_us;
	return OUTCOME_OK;
}

// If the version is not exact, a watch from there sends changes again that the reading contains. A crash of the database must not
// undo them in between, so they are made durable first.
enum outcome as_of_end(struct as_of *as_of, uint64_t *version, bool *exact, bool *again)
{
	enum outcome outcome = find_version(as_of, version, exact, again);

	return outcome == OUTCOME_OK && !*exact && !*again ? horizon_publish(as_of->call->registry) : outcome;
}

// *all: whether the reading contains every change up to version. A write answers with a version that may be above the horizon with which
// the reading began; then smaller ids may have been committed since.
static enum outcome contains_all(struct as_of *as_of, uint64_t version, bool *all)
{
	struct streamed_change *list;
	size_t n;

	*all = version <= as_of->horizon;
	if (*all || is_too_far(as_of, version))
		return OUTCOME_OK;
	enum outcome outcome = await(as_of, version, all);
	if (outcome == OUTCOME_OK && *all)
		outcome = read_changes(as_of, version, &list, &n, all);
	if (outcome != OUTCOME_OK || !*all)
		return outcome;
	sort_sightings(as_of);
	*all = all_seen(as_of, list, n);
	return OUTCOME_OK;
}

enum outcome as_of_is_unchanged(struct as_of *as_of, uint64_t version, bool *same)
{
	struct streamed_change *list;
	struct log_place place;
	size_t n;
	bool all;
	enum outcome outcome = log_position_find(as_of->call->registry, version, &place);

	*same = false;
	if (outcome != OUTCOME_OK || place.position != LOG_POSITION_KEPT)
		return outcome;
	outcome = contains_all(as_of, version, &all);
	if (outcome != OUTCOME_OK || !all)
		return outcome;
	as_of->horizon = version;
	as_of->counts_forced = object_shows_forced(as_of->target);
	outcome = read_changes(as_of, place.newest, &list, &n, &all);
	*same = outcome == OUTCOME_OK && all && n == 0;
	return outcome;
}
