// SPDX-License-Identifier: Apache-2.0
// A run goes through slices of tenants. For each slice it goes through the closed periods, and for each period through the
// changes that were counted between the closing of the period before and its own. What these changes add to the period is
// compared with its stored rows.
#include "base/base.h"

#include "registry/usage/usage_verify_internal.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/type/type.h"

enum {
	PAIRS_AT_ONCE = 100000, // pairs of a tenant and a type in a slice of tenants
	CLOSINGS_AT_ONCE = 500,
	ROWS_AT_ONCE = 2000,
	STRAYS_AT_ONCE = 100, // rows of no period that are reported of one period and slice
};

// ---- differences

// *overtaken: something that the run began with was deleted meanwhile: changes, closings, or the opening balance.
static enum outcome is_overtaken(struct usage_verifier *v, bool *overtaken)
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

static enum outcome name_pair(struct usage_verifier *v, uint64_t tenant_id, uint64_t type_id, struct usage_difference *difference)
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

static void report(struct usage_verifier *v, struct usage_difference *difference, const char *what)
{
	difference->what = what;
	v->run->differences++;
	v->run->report(v->run->arg, difference);
}

// Reports the figures if they differ.
static void compare_numbers(struct usage_verifier *v, struct usage_difference *difference, const char *what, int64_t stored, int64_t counted)
{
	if (stored == counted)
		return;
	(void)snprintf(difference->stored, sizeof(difference->stored), "%lld", (long long)stored);
	(void)snprintf(difference->counted, sizeof(difference->counted), "%lld", (long long)counted);
	report(v, difference, what);
}

// The same of sums of microseconds, which are reported as seconds.
static void compare_seconds(struct usage_verifier *v, struct usage_difference *difference, const char *what, usage_sum stored, usage_sum counted)
{
	if (stored == counted)
		return;
	usage_sum_write(difference->stored, stored);
	usage_sum_write(difference->counted, counted);
	report(v, difference, what);
}

// Compares a pair's stored row for the present period with what was counted. stored NULL: the period has no row of the pair,
// which stands for an unchanged balance, that of the newest earlier row.
static enum outcome compare_pair(struct usage_verifier *v, size_t index, const struct sql_usage_stored_row *stored)
{
	struct usage_pair *pair = usage_pair_at(v, index);
	const struct sql_usage_closings_row *period = &v->period;
	int64_t length_us = period->until - period->since;
	struct usage_sums counted = usage_sums_for(pair->resources, pair->bytes, length_us);
	struct usage_sums is = usage_sums_for(pair->stored_resources, pair->stored_bytes, length_us);
	// In the period of a later opening balance, something was counted before it that is not known here: only the balance can
	// be compared.
	bool has_seconds = v->opened_us == 0 || v->is_first_opening || v->opened_us < period->since;
	bool same, overtaken = false;

	usage_add_sums(&counted, &pair->now);
	if (stored != NULL) {
		is = (struct usage_sums){ stored->resources, stored->bytes, usage_sum_of_text(stored->resource_us), usage_sum_of_text(stored->byte_us) };
		v->run->rows++;
	}
	pair->stored_resources = is.resources;
	pair->stored_bytes = is.bytes;
	same = is.resources == counted.resources && is.bytes == counted.bytes && (stored == NULL || stored->since == period->since) &&
	       (!has_seconds || (is.resource_us == counted.resource_us && is.byte_us == counted.byte_us));
	if (same || usage_pair_of_tenant(v, pair->tenant_id)->left_out)
		return OUTCOME_OK;
	pair = usage_pair_at(v, index); // usage_pair_of_tenant() may have moved the pairs
	enum outcome outcome = is_overtaken(v, &overtaken);
	v->run->overtaken = overtaken;
	if (outcome != OUTCOME_OK || overtaken)
		return outcome;
	struct usage_difference difference = { .since_us = period->since, .until_us = period->until };
	outcome = name_pair(v, pair->tenant_id, pair->type_id, &difference);
	if (outcome != OUTCOME_OK)
		return outcome;
	compare_numbers(v, &difference, "resources", is.resources, counted.resources);
	compare_numbers(v, &difference, "bytes", is.bytes, counted.bytes);
	if (has_seconds)
		compare_seconds(v, &difference, "resource_seconds", is.resource_us, counted.resource_us);
	if (has_seconds)
		compare_seconds(v, &difference, "byte_seconds", is.byte_us, counted.byte_us);
	if (stored != NULL && stored->since != period->since)
		compare_seconds(v, &difference, "from", stored->since, period->since);
	return OUTCOME_OK;
}

// ---- periods

static bool must_end(struct usage_verifier *v)
{
	v->run->stopped = v->run->stopped || (v->run->stop != NULL && *v->run->stop);
	return v->run->stopped || v->run->overtaken;
}

// Adds what was counted in the present period to the pair's balance, and so ends the period for that pair.
static void settle(struct usage_verifier *v, size_t index)
{
	struct usage_pair *pair = usage_pair_at(v, index);

	pair->resources += pair->now.resources;
	pair->bytes += pair->now.bytes;
	pair->now = (struct usage_sums){ 0, 0, 0, 0 };
	pair->touched = false;
}

// Compares all stored rows of the present period and slice.
static enum outcome compare_stored(struct usage_verifier *v)
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
			size_t index = usage_pair_find(v, row->tenant_id, row->type_id);
			outcome = compare_pair(v, index, row);
			settle(v, index);
			in.tenant_id = row->tenant_id;
			in.type_id = row->type_id;
		}
		pool_rewind(registry->pool, mark);
	} while (outcome == OUTCOME_OK && rows.n == ROWS_AT_ONCE && !must_end(v));
	return outcome;
}

// Reports stored rows that end within the present period, but not at its end, so that they belong to no period.
static enum outcome report_strays(struct usage_verifier *v)
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
			report(v, &difference, "period");
	}
	return outcome;
}

// Compares the present period, whose changes were counted: first the stored rows, then the pairs that changed but have no row.
static enum outcome compare_period(struct usage_verifier *v)
{
	const size_t *touched;
	enum outcome outcome = compare_stored(v);

	touched = v->touched.items;
	for (size_t i = 0; i < v->touched.n && outcome == OUTCOME_OK && !must_end(v); i++) {
		if (usage_pair_at(v, touched[i])->touched)
			outcome = compare_pair(v, touched[i], NULL);
	}
	return outcome == OUTCOME_OK ? report_strays(v) : outcome;
}

static enum outcome verify_period(struct usage_verifier *v)
{
	struct usage_verification *run = v->run;
	uint64_t after = v->position;
	enum outcome outcome = OUTCOME_OK;

	usage_recount_later(v);
	if (v->period.last_change > after) {
		v->position = v->period.last_change;
		outcome = usage_recount(v, after, v->position, v->period.since, 0);
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
		if (usage_pair_at(v, touched[i])->touched)
			settle(v, touched[i]);
	}
	v->touched.n = 0;
	return outcome;
}

// Reports a period that does not begin where the one before ends, at since_us. The first slice does so for all.
static void check_gap(struct usage_verifier *v, int64_t since_us)
{
	struct usage_difference difference = { .tenant = STR_NONE, .type = STR_NONE, .since_us = v->period.since, .until_us = v->period.until };

	if (v->first == 0 && v->period.since != since_us)
		compare_seconds(v, &difference, "from", v->period.since, since_us);
}

static enum outcome verify_periods(struct usage_verifier *v)
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

// Finds where verification begins, by the rules of usage_verify.h. *nothing: there is no closed period after which the log has
// all changes.
static enum outcome find_beginning(struct usage_verifier *v, bool *nothing)
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

// If verification begins with an opening balance, the period in which that was taken is the first that is compared.
static enum outcome find_first_compared(struct usage_verifier *v)
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

// Reads the stored balances at the beginning of the first period that is compared. They are where counting begins, unless it
// begins with an opening balance.
static enum outcome load_stored(struct usage_verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_balances in = { .after = v->first, .upto = v->last, .until = v->verified_us };
	struct db_rows rows;
	enum db_result result = sql_usage_balances_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_usage_balances_row *row = sql_usage_balances_row(&rows, i);
		struct usage_pair *pair = usage_pair_at(v, usage_pair_find(v, row->tenant_id, row->type_id));
		pair->stored_resources = row->resources;
		pair->stored_bytes = row->bytes;
		if (v->opened_us == 0) {
			pair->resources = pair->counted_resources = row->resources;
			pair->bytes = pair->counted_bytes = row->bytes;
		}
	}
	return OUTCOME_OK;
}

// Reads the opening balance, of which a deleted tenant's part does not count until the tenant is recovered.
static enum outcome load_opening(struct usage_verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_opened in = { .after = v->first, .upto = v->last };
	struct db_rows rows;
	enum db_result result = sql_usage_opened_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		const struct sql_usage_opened_row *row = sql_usage_opened_row(&rows, i);
		struct usage_pair *pair = usage_pair_at(v, usage_pair_find(v, row->tenant_id, row->type_id));
		if (row->suspended) {
			pair->deleted_resources = row->resources;
			pair->deleted_bytes = row->bytes;
			usage_pair_of_tenant(v, row->tenant_id)->deleted = true;
			continue;
		}
		pair->resources = pair->counted_resources = row->resources;
		pair->bytes = pair->counted_bytes = row->bytes;
	}
	return OUTCOME_OK;
}

// Marks the tenants that were deleted at the position where counting begins.
static enum outcome load_deleted(struct usage_verifier *v)
{
	struct registry *registry = v->registry;
	const struct sql_usage_deleted_then in = { .after = v->first, .upto = v->last, .id = v->position };
	struct db_rows rows;
	enum db_result result = sql_usage_deleted_then_run(registry->db, registry->pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; i < rows.n; i++) {
		struct usage_pair *tenant = usage_pair_of_tenant(v, sql_usage_deleted_then_row(&rows, i)->tenant_id);
		tenant->deleted = tenant->unknown = true;
	}
	return OUTCOME_OK;
}

static enum outcome verify_slice(struct usage_verifier *v)
{
	uint64_t position = v->position;

	pool_clear(v->pool);
	v->pairs = v->touched = v->later = (struct usage_items){ NULL, 0, 0 };
	v->slots = NULL;
	v->n_slots = 0;
	v->period = (struct sql_usage_closings_row){ .until = 0 };
	enum outcome outcome = load_stored(v);
	if (outcome == OUTCOME_OK)
		outcome = v->opened_us != 0 ? load_opening(v) : load_deleted(v);
	if (outcome == OUTCOME_OK && v->opened_us == 0)
		outcome = usage_recount(v, v->needed_id, v->position, 0, v->since_us);
	if (outcome == OUTCOME_OK)
		outcome = verify_periods(v);
	v->position = position;
	return outcome;
}

static enum outcome verify_slices(struct usage_verifier *v)
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
	struct usage_verifier v = { .registry = registry, .run = run, .pool = pool_new() };
	bool nothing, overtaken = false;

	assert(run->report != NULL && !db_txn_writes(registry->db));
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
