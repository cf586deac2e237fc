// SPDX-License-Identifier: Apache-2.0
// A run goes through slices of tenants; for each, through the closed periods; for each of these, through the changes that were counted
// between the closing before and its own. What they add to the period is compared with the period's stored rows.
#include "base/base.h"

#include "registry/usage/usage_verify.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/type/type.h"
#include "sql/usage.h"

enum {
	PAIRS_AT_ONCE = 100000, // tenants and types in a slice
	CHANGES_AT_ONCE = 5000,
	CLOSINGS_AT_ONCE = 500,
	ROWS_AT_ONCE = 2000,
	STRAYS_AT_ONCE = 100,
	SLOTS_MIN = 1024,
};

// Type 0 stands for the tenant itself, as in table usage_suspended.
enum { TYPE_OF_TENANT = 0 };

struct sums {
	int64_t resources, bytes;
	usage_sum resource_us, byte_us;
};

// What a tenant has of a type.
struct pair {
	uint64_t tenant_id, type_id;
	struct sums now;                          // what the changes add to the period at hand
	int64_t resources, bytes;                 // at the end of the period before
	int64_t stored_resources, stored_bytes;   // in the newest stored row before it
	int64_t counted_resources, counted_bytes; // after the changes so far, of whatever period
	int64_t deleted_resources, deleted_bytes; // what the deleted tenant had, which counts again if it is recovered
	size_t next_of_tenant;                    // 1 + the index of another pair of its tenant; 0: none
	bool touched;                             // it is in the list of those to which the period at hand adds
	// Of the pair that stands for the tenant:
	bool deleted, unknown, left_out; // unknown: deleted before the beginning, so nobody knows with how much
};

// What a change adds to a period after the one at hand.
struct later {
	size_t pair;
	int64_t until_us;
	struct sums sums;
};

// A list in the pool of a slice, which grows by doubling.
struct list {
	void *items;
	size_t n, room;
};

struct verifier {
	struct registry *registry;
	struct usage_verification *run;
	struct pool *pool; // of a slice

	// Where it begins. The first period that is verified, or that is gone through for what it adds to later ones, begins at since_us.
	int64_t since_us, last_us; // the end of the last closed period
	uint64_t position;         // the changes up to this id are in the balance
	int64_t opened_us;         // of the opening balance; 0: it begins with stored rows
	int64_t verified_us;       // periods that begin at that time or later are compared
	bool is_first_opening;     // nothing was counted before, so the period of the opening balance is compared as a whole
	uint64_t needed_id;        // the log must have all changes behind it: those up to it are in the balance, of whatever period they are

	uint64_t first, last; // the slice: tenants with first < id <= last
	struct list pairs, touched, later;
	size_t *slots; // hash table: 1 + the index of a pair; 0: free
	size_t n_slots;
	struct sql_usage_closings_row period;
};

// ---- lists and pairs

static void *list_add(struct verifier *v, struct list *list, size_t size)
{
	if (list->n == list->room) {
		size_t room = list->room > 0 ? list->room * 2 : SLOTS_MIN;
		void *items = pool_calloc(v->pool, room, size);
		if (list->n > 0)
			memcpy(items, list->items, list->n * size);
		list->items = items;
		list->room = room;
	}
	return (char *)list->items + list->n++ * size;
}

static struct pair *pair_at(const struct verifier *v, size_t index)
{
	assert(index < v->pairs.n);
	return (struct pair *)v->pairs.items + index;
}

// The slot of that pair, or the free one where it belongs.
static size_t slot_of(const struct verifier *v, uint64_t tenant_id, uint64_t type_id)
{
	uint64_t hash = (tenant_id * UINT64_C(0x9e3779b97f4a7c15) + type_id) * UINT64_C(0xbf58476d1ce4e5b9);
	size_t slot = (size_t)(hash >> 32) & (v->n_slots - 1);

	for (; v->slots[slot] != 0; slot = (slot + 1) & (v->n_slots - 1)) {
		const struct pair *pair = pair_at(v, v->slots[slot] - 1);
		if (pair->tenant_id == tenant_id && pair->type_id == type_id)
			break;
	}
	return slot;
}

static void grow_slots(struct verifier *v)
{
	v->n_slots = v->n_slots > 0 ? v->n_slots * 2 : SLOTS_MIN;
	v->slots = POOL_ARRAY(v->pool, size_t, v->n_slots);
	for (size_t i = 0; i < v->pairs.n; i++) {
		const struct pair *pair = pair_at(v, i);
		v->slots[slot_of(v, pair->tenant_id, pair->type_id)] = i + 1;
	}
}

// Finds a pair, or adds it with nothing. Pointers to pairs are invalid afterwards.
static size_t find_pair(struct verifier *v, uint64_t tenant_id, uint64_t type_id)
{
	if (v->pairs.n * 2 >= v->n_slots)
		grow_slots(v);
	size_t slot = slot_of(v, tenant_id, type_id);
	if (v->slots[slot] != 0)
		return v->slots[slot] - 1;
	struct pair *pair = list_add(v, &v->pairs, sizeof(*pair));
	size_t index = v->pairs.n - 1;
	*pair = (struct pair){ .tenant_id = tenant_id, .type_id = type_id };
	v->slots[slot] = index + 1;
	if (type_id != TYPE_OF_TENANT) {
		size_t head = find_pair(v, tenant_id, TYPE_OF_TENANT);
		pair_at(v, index)->next_of_tenant = pair_at(v, head)->next_of_tenant;
		pair_at(v, head)->next_of_tenant = index + 1;
	}
	return index;
}

static struct pair *tenant_of(struct verifier *v, uint64_t tenant_id)
{
	return pair_at(v, find_pair(v, tenant_id, TYPE_OF_TENANT));
}

static void leave_out(struct verifier *v, struct pair *tenant)
{
	v->run->left_out += !tenant->left_out;
	tenant->left_out = true;
}

// ---- adding

static void add_sums(struct sums *sums, const struct sums *more)
{
	sums->resources += more->resources;
	sums->bytes += more->bytes;
	sums->resource_us += more->resource_us;
	sums->byte_us += more->byte_us;
}

static void add_to_period(struct verifier *v, size_t index, const struct sums *sums)
{
	struct pair *pair = pair_at(v, index);

	add_sums(&pair->now, sums);
	if (!pair->touched)
		*(size_t *)list_add(v, &v->touched, sizeof(size_t)) = index;
	pair->touched = true;
}

// until_us 0: of a period that is not closed.
static void add(struct verifier *v, size_t index, int64_t until_us, const struct sums *sums)
{
	struct pair *pair = pair_at(v, index);

	pair->counted_resources += sums->resources;
	pair->counted_bytes += sums->bytes;
	if (until_us == 0)
		return;
	if (until_us == v->period.until)
		add_to_period(v, index, sums);
	else
		*(struct later *)list_add(v, &v->later, sizeof(struct later)) = (struct later){ index, until_us, *sums };
}

// Takes what earlier changes add to the period that is at hand now.
static void take_later(struct verifier *v)
{
	struct later *later = v->later.items;
	size_t kept = 0;

	for (size_t i = 0; i < v->later.n; i++) {
		if (later[i].until_us == v->period.until)
			add_to_period(v, later[i].pair, &later[i].sums);
		else
			later[kept++] = later[i];
	}
	v->later.n = kept;
}

static struct sums sums_for(int64_t resources, int64_t bytes, int64_t us)
{
	return (struct sums){ resources, bytes, (usage_sum)resources * us, (usage_sum)bytes * us };
}

// ---- changes

// Adds what the changes with after < id <= upto say. closed_until_us: no change counts before. since_us: only those that count at that time
// or later.
static enum outcome recount(struct verifier *v, uint64_t after, uint64_t upto, int64_t closed_until_us, int64_t since_us)
{
	struct registry *registry = v->registry;
	const struct sql_usage_recount in = {
		.after = after, .upto = upto, .closed_until = closed_until_us, .since = since_us, .first = v->first, .last = v->last
	};
	struct db_rows rows;
	enum db_result result = sql_usage_recount_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_usage_recount_row *row = sql_usage_recount_row(&rows, i);
		size_t index = find_pair(v, row->tenant_id, row->type_id);
		const struct pair *tenant = tenant_of(v, row->tenant_id);
		struct pair *pair = pair_at(v, index);
		const struct sums sums = {
			row->resources, row->bytes, usage_sum_of_text(row->resource_us), usage_sum_of_text(row->byte_us)
		};
		if (tenant->left_out)
			continue;
		if (!tenant->deleted) {
			add(v, index, row->until_is_null ? 0 : row->until, &sums);
			continue;
		}
		pair->deleted_resources += sums.resources;
		pair->deleted_bytes += sums.bytes;
	}
	return OUTCOME_OK;
}

// The tenant was deleted, recovered or purged.
static void apply_to_tenant(struct verifier *v, const struct sql_usage_recount_tenant_row *change)
{
	struct pair *tenant = tenant_of(v, change->tenant_id);
	bool deleted = str_eq_c(change->verb, "deleted"), recovered = str_eq_c(change->verb, "recovered");
	int64_t until_us = change->until_is_null ? 0 : change->until, rest_us = until_us != 0 ? until_us - change->at : 0;

	if (tenant->left_out || (deleted && tenant->deleted))
		return;
	if (recovered && tenant->deleted && tenant->unknown) {
		leave_out(v, tenant);
		return;
	}
	for (size_t next = tenant->next_of_tenant; next != 0; next = pair_at(v, next - 1)->next_of_tenant) {
		struct pair *pair = pair_at(v, next - 1);
		struct sums sums = { 0, 0, 0, 0 };
		if (deleted) {
			pair->deleted_resources = pair->counted_resources;
			pair->deleted_bytes = pair->counted_bytes;
			sums = sums_for(-pair->counted_resources, -pair->counted_bytes, rest_us);
		} else {
			if (recovered)
				sums = sums_for(pair->deleted_resources, pair->deleted_bytes, rest_us);
			pair->deleted_resources = pair->deleted_bytes = 0;
		}
		if (sums.resources != 0 || sums.bytes != 0)
			add(v, next - 1, until_us, &sums);
	}
	tenant->deleted = deleted;
	tenant->unknown = false;
}

static enum outcome recount_tenant(struct verifier *v, uint64_t id, int64_t closed_until_us, int64_t since_us)
{
	struct registry *registry = v->registry;
	const struct sql_usage_recount_tenant in = { .id = id, .closed_until = closed_until_us };
	struct db_rows rows;
	enum db_result result = sql_usage_recount_tenant_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n == 0)
		return OUTCOME_OK; // the log was shortened: that is found out at the end
	const struct sql_usage_recount_tenant_row *change = sql_usage_recount_tenant_row(&rows, 0);
	if (change->tenant_id <= v->first || change->tenant_id > v->last)
		return OUTCOME_OK;
	if (since_us == 0)
		apply_to_tenant(v, change);
	else if (change->at >= since_us)
		leave_out(v, tenant_of(v, change->tenant_id)); // it is in the state at the beginning, but counts behind it
	return OUTCOME_OK;
}

// Goes through the changes with after < id <= upto, in their order. since_us: as for recount(), 0 for all of them.
static enum outcome read_changes(struct verifier *v, uint64_t after, uint64_t upto, int64_t closed_until_us, int64_t since_us)
{
	struct registry *registry = v->registry;
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	while (outcome == OUTCOME_OK && after < upto) {
		struct pool_mark mark = pool_mark(registry->pool);
		const struct sql_usage_slice slice = { .after = after, .upto = upto, .size = CHANGES_AT_ONCE };
		enum db_result result = sql_usage_slice_run(registry->db, registry->pool, SQL_USAGE_SLICE_OF_CHANGES, &slice, &rows);
		uint64_t end = result == DB_OK && rows.n > 0 ? sql_usage_slice_row(&rows, 0)->id : upto;
		const struct sql_usage_obstacles in = { .after = after, .upto = end };
		if (result == DB_OK)
			result = sql_usage_obstacles_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		const struct sql_usage_obstacles_row *found = sql_usage_obstacles_row(&rows, 0);
		uint64_t of_tenant = found->of_tenant_is_null ? 0 : found->of_tenant;
		if (of_tenant != 0)
			end = of_tenant;
		outcome = recount(v, after, end, closed_until_us, since_us);
		if (outcome == OUTCOME_OK && of_tenant != 0)
			outcome = recount_tenant(v, of_tenant, closed_until_us, since_us);
		after = end;
		pool_rewind(registry->pool, mark);
	}
	return outcome;
}

// ---- differences

// Was something deleted that the run began with: changes, closings, or the opening balance?
static enum outcome is_overtaken(struct verifier *v, bool *overtaken)
{
	struct registry *registry = v->registry;
	struct db_rows reach, progress;
	enum db_result result = sql_usage_reach_run(registry->db, registry->pool, &reach);

	if (result == DB_OK)
		result = sql_usage_progress_run(registry->db, registry->pool, SQL_USAGE_LOCKING_NOT, &progress);
	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_usage_reach_row *row = sql_usage_reach_row(&reach, 0);
	*overtaken = row->oldest_is_null || row->oldest > v->needed_id + 1 || row->first_since_is_null || row->first_since > v->since_us ||
		     progress.n != 1 || (v->opened_us != 0 && sql_usage_progress_row(&progress, 0)->p.opened_id != v->needed_id);
	return OUTCOME_OK;
}

static enum outcome name_pair(struct verifier *v, uint64_t tenant_id, uint64_t type_id, struct usage_difference *difference)
{
	struct registry *registry = v->registry;
	const struct sql_usage_tenant_name in = { .id = tenant_id };
	const struct type *type = type_by_id(registry, type_id);
	struct db_rows rows;
	enum db_result result = sql_usage_tenant_name_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	difference->tenant = rows.n > 0 ? sql_usage_tenant_name_row(&rows, 0)->name : str_printf(registry->pool, "%llu", (unsigned long long)tenant_id);
	difference->type = type != NULL ? type_name(registry->pool, type) : str_printf(registry->pool, "%llu", (unsigned long long)type_id);
	return OUTCOME_OK;
}

static void tell(struct verifier *v, struct usage_difference *difference, const char *what)
{
	difference->what = what;
	v->run->differences++;
	v->run->report(v->run->arg, difference);
}

static void tell_number(struct verifier *v, struct usage_difference *difference, const char *what, int64_t stored, int64_t counted)
{
	if (stored == counted)
		return;
	(void)snprintf(difference->stored, sizeof(difference->stored), "%lld", (long long)stored);
	(void)snprintf(difference->counted, sizeof(difference->counted), "%lld", (long long)counted);
	tell(v, difference, what);
}

static void tell_seconds(struct verifier *v, struct usage_difference *difference, const char *what, usage_sum stored, usage_sum counted)
{
	if (stored == counted)
		return;
	usage_sum_write(difference->stored, stored);
	usage_sum_write(difference->counted, counted);
	tell(v, difference, what);
}

// Compares a pair's stored row with what was counted. stored NULL: there is no row, so it has what the newest one before says.
static enum outcome compare(struct verifier *v, size_t index, const struct sql_usage_stored_row *stored)
{
	struct pair *pair = pair_at(v, index);
	const struct sql_usage_closings_row *period = &v->period;
	int64_t length_us = period->until - period->since;
	struct sums counted = sums_for(pair->resources, pair->bytes, length_us);
	struct sums is = sums_for(pair->stored_resources, pair->stored_bytes, length_us);
	// Nobody knows what was counted in that period before the opening balance.
	bool has_seconds = v->opened_us == 0 || v->is_first_opening || v->opened_us < period->since;
	bool same, overtaken = false;

	add_sums(&counted, &pair->now);
	if (stored != NULL) {
		is = (struct sums){ stored->resources, stored->bytes, usage_sum_of_text(stored->resource_us), usage_sum_of_text(stored->byte_us) };
		v->run->rows++;
	}
	pair->stored_resources = is.resources;
	pair->stored_bytes = is.bytes;
	same = is.resources == counted.resources && is.bytes == counted.bytes && (stored == NULL || stored->since == period->since) &&
	       (!has_seconds || (is.resource_us == counted.resource_us && is.byte_us == counted.byte_us));
	if (same || tenant_of(v, pair->tenant_id)->left_out)
		return OUTCOME_OK;
	pair = pair_at(v, index);
	enum outcome outcome = is_overtaken(v, &overtaken);
	v->run->overtaken = overtaken;
	if (outcome != OUTCOME_OK || overtaken)
		return outcome;
	struct usage_difference difference = { .since_us = period->since, .until_us = period->until };
	outcome = name_pair(v, pair->tenant_id, pair->type_id, &difference);
	if (outcome != OUTCOME_OK)
		return outcome;
	tell_number(v, &difference, "resources", is.resources, counted.resources);
	tell_number(v, &difference, "bytes", is.bytes, counted.bytes);
	if (has_seconds)
		tell_seconds(v, &difference, "resource_seconds", is.resource_us, counted.resource_us);
	if (has_seconds)
		tell_seconds(v, &difference, "byte_seconds", is.byte_us, counted.byte_us);
	if (stored != NULL && stored->since != period->since)
		tell_seconds(v, &difference, "from", stored->since, period->since);
	return OUTCOME_OK;
}

// ---- periods

static bool must_end(struct verifier *v)
{
	v->run->stopped = v->run->stopped || (v->run->stop != NULL && *v->run->stop);
	return v->run->stopped || v->run->overtaken;
}

// The pair has what was counted, from the end of the period at hand on.
static void settle(struct verifier *v, size_t index)
{
	struct pair *pair = pair_at(v, index);

	pair->resources += pair->now.resources;
	pair->bytes += pair->now.bytes;
	pair->now = (struct sums){ 0, 0, 0, 0 };
	pair->touched = false;
}

static enum outcome compare_stored(struct verifier *v)
{
	struct registry *registry = v->registry;
	struct sql_usage_stored in = { .until = v->period.until, .tenant_id = v->first, .type_id = INT64_MAX, .last = v->last, .limit = ROWS_AT_ONCE };
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	do {
		struct pool_mark mark = pool_mark(registry->pool);
		enum db_result result = sql_usage_stored_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (size_t i = 0; i < rows.n && outcome == OUTCOME_OK && !must_end(v); i++) {
			const struct sql_usage_stored_row *row = sql_usage_stored_row(&rows, i);
			size_t index = find_pair(v, row->tenant_id, row->type_id);
			outcome = compare(v, index, row);
			settle(v, index);
			in.tenant_id = row->tenant_id;
			in.type_id = row->type_id;
		}
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && rows.n == ROWS_AT_ONCE && !must_end(v));
	return outcome;
}

static enum outcome tell_strays(struct verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_strays in = {
		.since = v->period.since, .until = v->period.until, .first = v->first, .last = v->last, .limit = STRAYS_AT_ONCE
	};
	struct db_rows rows;
	enum outcome outcome = OUTCOME_OK;
	enum db_result result = sql_usage_strays_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n && outcome == OUTCOME_OK; i++) {
		const struct sql_usage_strays_row *row = sql_usage_strays_row(&rows, i);
		struct usage_difference difference = { .since_us = row->since, .until_us = row->until, .stored = "yes", .counted = "no" };
		outcome = name_pair(v, row->tenant_id, row->type_id, &difference);
		if (outcome == OUTCOME_OK)
			tell(v, &difference, "period");
	}
	return outcome;
}

// Compares the period at hand, whose changes were counted.
static enum outcome compare_period(struct verifier *v)
{
	const size_t *touched;
	enum outcome outcome = compare_stored(v);

	touched = v->touched.items;
	for (size_t i = 0; i < v->touched.n && outcome == OUTCOME_OK && !must_end(v); i++) {
		if (pair_at(v, touched[i])->touched)
			outcome = compare(v, touched[i], NULL);
	}
	return outcome == OUTCOME_OK ? tell_strays(v) : outcome;
}

static enum outcome verify_period(struct verifier *v)
{
	struct usage_verification *run = v->run;
	uint64_t after = v->position;
	enum outcome outcome = OUTCOME_OK;

	take_later(v);
	if (v->period.last_change > after) {
		v->position = v->period.last_change;
		outcome = read_changes(v, after, v->position, v->period.since, 0);
	}
	if (outcome == OUTCOME_OK && v->period.since >= v->verified_us) {
		outcome = compare_period(v);
		if (v->first == 0 && outcome == OUTCOME_OK && !must_end(v)) {
			run->periods++;
			run->since_us = run->since_us == 0 ? v->period.since : run->since_us;
			run->until_us = v->period.until;
		}
	}
	const size_t *touched = v->touched.items;
	for (size_t i = 0; i < v->touched.n; i++) {
		if (pair_at(v, touched[i])->touched)
			settle(v, touched[i]);
	}
	v->touched.n = 0;
	return outcome;
}

// A period begins where the one before ends.
static void check_gap(struct verifier *v, int64_t since_us)
{
	struct usage_difference difference = { .tenant = STR_NONE, .type = STR_NONE, .since_us = v->period.since, .until_us = v->period.until };

	if (v->first == 0 && v->period.since != since_us)
		tell_seconds(v, &difference, "from", v->period.since, since_us);
}

static enum outcome verify_periods(struct verifier *v)
{
	struct registry *registry = v->registry;
	struct sql_usage_closings in = { .after = v->since_us, .last = v->last_us, .limit = CLOSINGS_AT_ONCE };
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	do {
		struct pool_mark mark = pool_mark(registry->pool);
		enum db_result result = sql_usage_closings_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		for (size_t i = 0; i < rows.n && outcome == OUTCOME_OK && !must_end(v); i++) {
			v->period = *sql_usage_closings_row(&rows, i);
			check_gap(v, in.after);
			struct pool_mark inner = pool_mark(registry->pool);
			outcome = verify_period(v);
			pool_rewind(registry->pool, inner);
			in.after = v->period.until;
		}
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && rows.n == CLOSINGS_AT_ONCE && !must_end(v));
	return outcome;
}

// ---- the beginning

// Where does it begin? *nothing: there is no closed period behind which the log has all changes.
static enum outcome find_beginning(struct verifier *v, bool *nothing)
{
	struct registry *registry = v->registry;
	struct db_rows reach, progress, found;
	enum db_result result = sql_usage_progress_run(registry->db, registry->pool, SQL_USAGE_LOCKING_NOT, &progress);

	if (result == DB_OK)
		result = sql_usage_reach_run(registry->db, registry->pool, &reach);
	if (result != DB_OK)
		return registry_db_failed(result);
	const struct sql_usage_reach_row *row = sql_usage_reach_row(&reach, 0);
	*nothing = row->oldest_is_null || row->last_until_is_null || progress.n != 1;
	if (*nothing)
		return OUTCOME_OK;
	const struct sql_usage_progress *p = &sql_usage_progress_row(&progress, 0)->p;
	v->last_us = row->last_until;
	bool is_open = p->opened || p->opened_at_is_null || !(str_eq_c(p->stage, "counting") || str_eq_c(p->stage, "closing"));
	if (!is_open && !row->opened_since_is_null && p->opened_id + 1 >= row->oldest) {
		v->since_us = row->opened_since;
		v->position = v->needed_id = p->opened_id;
		v->opened_us = p->opened_at;
		v->is_first_opening = row->opened_since == p->opened_at && row->first_since == row->opened_since;
		v->run->from_opening = true;
		return OUTCOME_OK;
	}
	const struct sql_usage_first_reached reserve = {
		.since = row->opened_until_is_null ? 0 : row->opened_until, .before_oldest = row->oldest - 1
	};
	result = sql_usage_first_reached_run(registry->db, registry->pool, &reserve, &found);
	if (result != DB_OK)
		return registry_db_failed(result);
	*nothing = found.n == 0;
	if (*nothing)
		return OUTCOME_OK;
	const struct sql_usage_first_reached_row *earlier = sql_usage_first_reached_row(&found, 0);
	int64_t length_us = earlier->until - earlier->since;
	const struct sql_usage_first_reached begin = { .since = earlier->closed_at + length_us, .before_oldest = earlier->last_change };
	v->needed_id = earlier->last_change;
	result = sql_usage_first_reached_run(registry->db, registry->pool, &begin, &found);
	if (result != DB_OK)
		return registry_db_failed(result);
	*nothing = found.n == 0;
	if (!*nothing) {
		v->since_us = v->verified_us = sql_usage_first_reached_row(&found, 0)->until;
		v->position = sql_usage_first_reached_row(&found, 0)->last_change;
	}
	return OUTCOME_OK;
}

// Of an opening balance, the period in which it was taken is the first that is compared.
static enum outcome find_first_compared(struct verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_closings in = { .after = v->opened_us, .last = v->last_us, .limit = 1 };
	struct db_rows rows;

	if (v->opened_us == 0)
		return OUTCOME_OK;
	enum db_result result = sql_usage_closings_run(registry->db, registry->pool, &in, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	v->verified_us = rows.n > 0 ? sql_usage_closings_row(&rows, 0)->since : INT64_MAX;
	return OUTCOME_OK;
}

// What is stored at the end of the period before the first that is compared.
static enum outcome load_stored(struct verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_balances in = { .after = v->first, .upto = v->last, .until = v->verified_us };
	struct db_rows rows;
	enum db_result result = sql_usage_balances_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_usage_balances_row *row = sql_usage_balances_row(&rows, i);
		struct pair *pair = pair_at(v, find_pair(v, row->tenant_id, row->type_id));
		pair->stored_resources = row->resources;
		pair->stored_bytes = row->bytes;
		if (v->opened_us == 0) {
			pair->resources = pair->counted_resources = row->resources;
			pair->bytes = pair->counted_bytes = row->bytes;
		}
	}
	return OUTCOME_OK;
}

static enum outcome load_opening(struct verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_opened in = { .after = v->first, .upto = v->last };
	struct db_rows rows;
	enum db_result result = sql_usage_opened_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_usage_opened_row *row = sql_usage_opened_row(&rows, i);
		struct pair *pair = pair_at(v, find_pair(v, row->tenant_id, row->type_id));
		if (row->suspended) {
			pair->deleted_resources = row->resources;
			pair->deleted_bytes = row->bytes;
			tenant_of(v, row->tenant_id)->deleted = true;
			continue;
		}
		pair->resources = pair->counted_resources = row->resources;
		pair->bytes = pair->counted_bytes = row->bytes;
	}
	return OUTCOME_OK;
}

static enum outcome load_deleted(struct verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_deleted_then in = { .after = v->first, .upto = v->last, .id = v->position };
	struct db_rows rows;
	enum db_result result = sql_usage_deleted_then_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		struct pair *tenant = tenant_of(v, sql_usage_deleted_then_row(&rows, i)->tenant_id);
		tenant->deleted = tenant->unknown = true;
	}
	return OUTCOME_OK;
}

static enum outcome verify_slice(struct verifier *v)
{
	uint64_t position = v->position;

	pool_clear(v->pool);
	v->pairs = v->touched = v->later = (struct list){ NULL, 0, 0 };
	v->slots = NULL;
	v->n_slots = 0;
	v->period = (struct sql_usage_closings_row){ .until = 0 };
	enum outcome outcome = load_stored(v);
	if (outcome == OUTCOME_OK)
		outcome = v->opened_us != 0 ? load_opening(v) : load_deleted(v);
	if (outcome == OUTCOME_OK && v->opened_us == 0)
		outcome = read_changes(v, v->needed_id, v->position, 0, v->since_us);
	if (outcome == OUTCOME_OK)
		outcome = verify_periods(v);
	v->position = position;
	return outcome;
}

static enum outcome verify_slices(struct verifier *v)
{
	struct registry *registry = v->registry;
	enum outcome outcome = OUTCOME_OK;
	struct db_rows rows;

	for (v->last = 0; outcome == OUTCOME_OK && v->last != INT64_MAX && !must_end(v);) {
		const struct sql_usage_slice_periods in = { .after = v->last, .size = PAIRS_AT_ONCE };
		struct pool_mark mark = pool_mark(registry->pool);
		enum db_result result = sql_usage_slice_periods_run(registry->db, registry->pool, &in, &rows);
		if (result != DB_OK)
			return registry_db_failed(result);
		v->first = v->last;
		v->last = rows.n > 0 ? sql_usage_slice_periods_row(&rows, 0)->id : INT64_MAX;
		outcome = verify_slice(v);
		pool_rewind(registry->pool, mark);
	}
	return outcome;
}

enum outcome usage_verify(struct registry *registry, struct usage_verification *run)
{
	struct verifier v = { .registry = registry, .run = run, .pool = pool_new() };
	bool nothing, overtaken = false;

	assert(run->report != NULL);
	if (v.pool == NULL)
		return OUTCOME_INTERNAL;
	enum outcome outcome = find_beginning(&v, &nothing);
	if (outcome == OUTCOME_OK && !nothing)
		outcome = find_first_compared(&v);
	if (outcome == OUTCOME_OK && !nothing && v.verified_us < v.last_us)
		outcome = verify_slices(&v);
	if (outcome == OUTCOME_OK && !nothing && !run->overtaken)
		outcome = is_overtaken(&v, &overtaken);
	run->overtaken = run->overtaken || overtaken;
	pool_free(&v.pool);
	return outcome;
}
