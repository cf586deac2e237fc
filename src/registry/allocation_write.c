// SPDX-License-Identifier: Apache-2.0
// Writing allocations, of one consumer or of several at once. All that it concerns is locked first, in one order: tenants,
// providers, consumers. Then it is looked at (allocation_hold.c), checked in memory, and written by a fixed number of
// statements, however many providers and consumers there are.
#include "base/base.h"

#include "registry/allocation_internal.h"
#include "repr/doc.h"

// As the lists of allocation_internal.h: names.
#define TEXT "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH "
#define NAMES "JSON_TABLE(?, '$[*]' COLUMNS (name " TEXT "'$')) j"
// Consumers: uid, project, user, type or null; allocations: consumer's uid, provider's id, class, amount; changes of what is
// used: provider's id, class, how much more.
#define CONSUMERS                                                                                                        \
	"JSON_TABLE(?, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$[0]', project " TEXT "'$[1]', user " TEXT \
	"'$[2]', type " TEXT "'$[3]')) j"
#define ALLOCATIONS                                                                                      \
	"JSON_TABLE(?, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$[0]', resource BIGINT UNSIGNED " \
	"PATH '$[1]', class INT UNSIGNED PATH '$[2]', used INT UNSIGNED PATH '$[3]')) j"
#define DELTAS                                                                                                   \
	"JSON_TABLE(?, '$[*]' COLUMNS (resource BIGINT UNSIGNED PATH '$[0]', class INT UNSIGNED PATH '$[1]', " \
	"delta BIGINT PATH '$[2]')) j"

static const struct db_query q_make_types = {
	"INSERT INTO consumer_types (name) SELECT DISTINCT j.name FROM " NAMES
	" LEFT JOIN consumer_types y ON y.name = j.name WHERE y.id IS NULL",
	"s", ""
};
static const struct db_query q_make_consumers = {
	"INSERT INTO consumers (uid, project, user, type_id, generation, created_at, updated_at) SELECT UNHEX(j.hex), j.project, "
	"j.user, y.id, 1, ?, ? FROM " CONSUMERS " LEFT JOIN consumer_types y ON y.name = j.type",
	"tts", ""
};
static const struct db_query q_change_consumers = {
	"UPDATE " CONSUMERS " STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex) LEFT JOIN consumer_types y ON y.name = j.type "
	"SET c.project = j.project, c.user = j.user, c.type_id = y.id, c.generation = c.generation + 1, c.updated_at = ?",
	"st", ""
};
static const struct db_query q_drop_allocations = {
	"DELETE a FROM " HEXES " STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex) STRAIGHT_JOIN allocations a ON "
	"a.consumer_id = c.id",
	"s", ""
};
static const struct db_query q_drop_consumers = {
	"DELETE c FROM " HEXES " STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)", "s", ""
};
static const struct db_query q_allocate = {
	"INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at) SELECT c.id, j.resource, j.class, "
	"j.used, ? FROM " ALLOCATIONS " STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)",
	"ts", ""
};
static const struct db_query q_use = {
	"UPDATE " DELTAS " STRAIGHT_JOIN inventories i ON i.resource_id = j.resource AND i.class_id = j.class "
	"SET i.used = i.used + j.delta",
	"s", ""
};
static const struct db_query q_touch = {
	"UPDATE " IDS " STRAIGHT_JOIN resources r ON r.id = j.id SET r.revision = r.revision + 1, r.updated_at = ?, "
	"r.changed = " LAST_CHANGE,
	"st", ""
};
static const struct db_query q_raise = {
	"INSERT INTO providers (resource_id, generation) SELECT j.id, 1 FROM " IDS
	" ON DUPLICATE KEY UPDATE generation = generation + 1",
	"s", ""
};
static const struct db_query q_log = {
	"INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, revision, "
	"etag_before, etag_after, fields) SELECT ?, ?, ?, 'updated', r.tenant_id, r.id, r.uid, r.type_id, r.namespace, r.name, "
	"r.revision + 1, r.etag, r.etag, '[\"/allocations\"]' FROM " IDS " STRAIGHT_JOIN resources r ON r.id = j.id",
	"btss", ""
};

// ---- checks

static enum outcome check_consumer(struct registry *registry, const struct allocation_set *set, const struct known *known)
{
	bool fits = set->check == CONSUMER_UNCHECKED || (set->check == CONSUMER_IS_NEW && !known->there) ||
		    (set->check == CONSUMER_IS_AT && known->there && set->generation == known->generation);
	struct str is = STR("null"), got = STR("null");

	if (fits)
		return OUTCOME_OK;
	if (known->there)
		is = str_printf(registry->pool, "%llu", (unsigned long long)known->generation);
	if (set->check == CONSUMER_IS_AT)
		got = str_printf(registry->pool, "%llu", (unsigned long long)set->generation);
	return fail_coded(registry, OUTCOME_CONFLICT, "concurrent_update",
		"consumer generation conflict - expected %.*s but got %.*s", STR_ARG(is), STR_ARG(got));
}

static enum outcome fail_units(struct registry *registry, const struct allocation *allocation, const char *format)
{
	struct str uid = uuid_str(registry->pool, allocation->provider);

	return registry_fail(registry, OUTCOME_CONFLICT, "Unable to allocate inventory: %s '%.*s' on resource provider '%.*s'%s",
		format[0] == 'I' ? "Inventory for" : "Unable to create allocation for", STR_ARG(allocation->class), STR_ARG(uid),
		format[0] == 'I' ? " invalid." : format);
}

// Finds its cell, and counts it there.
static enum outcome place(const struct deal *deal, const struct allocation_set *set, const struct allocation *allocation,
	uint64_t class_id)
{
	struct registry *registry = deal->registry;
	struct holding *holding = deal_provider(deal, &allocation->provider);
	struct pool *pool = registry->pool;

	if (holding == NULL)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "Allocation for resource provider '%.*s' that does not exist.",
			STR_ARG(uuid_str(pool, allocation->provider)));
	if (class_id == 0)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"Unable to allocate inventory for consumer %.*s: No such resource class %.*s.",
			STR_ARG(uuid_str(pool, set->consumer)), STR_ARG(str_part(allocation->class, 0, 256)));
	struct cell *cell = deal_cell(deal, holding->id, class_id);
	if (cell == NULL)
		return fail_units(registry, allocation, "I");
	if (allocation->amount < cell->min_unit || allocation->amount > cell->max_unit ||
		allocation->amount % cell->step_size != 0)
		return fail_units(registry, allocation, ". The requested amount would violate inventory constraints.");
	cell->after += (int64_t)allocation->amount;
	holding->receives = true;
	return OUTCOME_OK;
}

// Every allocation, with its class: f answers OUTCOME_OK to go on.
typedef enum outcome (*each_allocation)(const struct deal *deal, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id);

static enum outcome for_each(const struct deal *deal, each_allocation f)
{
	size_t at = 0;
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < deal->n; i++) {
		const struct allocation_set *set = &deal->sets[i];
		for (size_t k = 0; outcome == OUTCOME_OK && k < set->n; k++)
			outcome = f(deal, set, &set->allocations[k], deal->class_ids[at++]);
	}
	return outcome;
}

static enum outcome check_capacity(const struct deal *deal, const struct allocation_set *set,
	const struct allocation *allocation, uint64_t class_id)
{
	const struct cell *cell = deal_cell(deal, deal_provider(deal, &allocation->provider)->id, class_id);

	UNUSED(set);
	if (cell->used - cell->before + cell->after <= cell->capacity)
		return OUTCOME_OK;
	return fail_units(deal->registry, allocation, ". The requested amount would exceed the capacity.");
}

static enum outcome check(const struct deal *deal)
{
	enum outcome outcome = OUTCOME_OK;

	for (size_t i = 0; outcome == OUTCOME_OK && i < deal->n; i++)
		outcome = check_consumer(deal->registry, &deal->sets[i], &deal->known[i]);
	if (outcome == OUTCOME_OK)
		outcome = for_each(deal, place);
	return outcome == OUTCOME_OK ? for_each(deal, check_capacity) : outcome;
}

// ---- writing

static void add_text(struct buf *json, struct str text)
{
	buf_addc(json, ',');
	json_add_string(json, text);
}

static struct str or_else(struct str told, const struct known *known, struct str stays)
{
	return told.p != NULL ? told : known->there ? stays : STR(CONSUMER_INCOMPLETE);
}

static void add_consumer(struct buf *json, const struct allocation_set *set, const struct known *known)
{
	struct str type = set->type.p != NULL ? set->type : known->type;

	begin_item(json);
	buf_addc(json, '[');
	add_hex(json, &set->consumer);
	add_text(json, or_else(set->project, known, known->project));
	add_text(json, or_else(set->user, known, known->user));
	if (type.p == NULL || str_eq(type, STR(CONSUMER_TYPE_UNKNOWN)))
		BUF_LIT(json, ",null");
	else
		add_text(json, type);
	buf_addc(json, ']');
}

// The consumers' statements. Those that a set leaves without anything go.
static size_t consumer_calls(const struct deal *deal, struct db_call *calls)
{
	struct pool *pool = deal->registry->pool;
	struct db_value now = db_t(deal->registry->now_us);
	struct buf types = buf_new(pool, 64), made = buf_new(pool, 64), changed = buf_new(pool, 64), gone = buf_new(pool, 64);
	size_t n = 0;

	for (size_t i = 0; i < deal->n; i++) {
		const struct allocation_set *set = &deal->sets[i];
		if (set->n == 0) {
			begin_item(&gone);
			add_hex(&gone, &set->consumer);
			continue;
		}
		add_consumer(deal->known[i].there ? &changed : &made, set, &deal->known[i]);
		if (set->type.p == NULL || str_eq(set->type, STR(CONSUMER_TYPE_UNKNOWN)))
			continue;
		begin_item(&types);
		json_add_string(&types, set->type);
	}
	calls[n++] = (struct db_call){ .query = &q_drop_allocations, .in = CALL_VALUES(pool, db_s(deal->consumers)) };
	if (types.n > 0)
		calls[n++] = (struct db_call){ .query = &q_make_types, .in = CALL_VALUES(pool, db_s(end_list(&types))) };
	if (made.n > 0)
		calls[n++] =
			(struct db_call){ .query = &q_make_consumers, .in = CALL_VALUES(pool, now, now, db_s(end_list(&made))) };
	if (changed.n > 0)
		calls[n++] =
			(struct db_call){ .query = &q_change_consumers, .in = CALL_VALUES(pool, db_s(end_list(&changed)), now) };
	if (gone.n > 0)
		calls[n++] = (struct db_call){ .query = &q_drop_consumers, .in = CALL_VALUES(pool, db_s(end_list(&gone))) };
	return n;
}

static struct db_call allocate_call(const struct deal *deal)
{
	struct pool *pool = deal->registry->pool;
	struct buf json = buf_new(pool, 256);
	size_t at = 0;

	for (size_t i = 0; i < deal->n; i++) {
		const struct allocation_set *set = &deal->sets[i];
		for (size_t k = 0; k < set->n; k++, at++) {
			const struct allocation *allocation = &set->allocations[k];
			begin_item(&json);
			buf_addc(&json, '[');
			add_hex(&json, &set->consumer);
			buf_addf(&json, ",%llu,%llu,%llu]",
				(unsigned long long)deal_provider(deal, &allocation->provider)->id,
				(unsigned long long)deal->class_ids[at], (unsigned long long)allocation->amount);
		}
	}
	return (struct db_call){
		.query = &q_allocate, .in = CALL_VALUES(pool, db_t(deal->registry->now_us), db_s(end_list(&json)))
	};
}

static struct db_call use_call(const struct deal *deal)
{
	struct buf json = buf_new(deal->registry->pool, 256);

	for (size_t i = 0; i < deal->n_cells; i++) {
		const struct cell *cell = &deal->cells[i];
		if (cell->before == cell->after)
			continue;
		begin_item(&json);
		buf_addf(&json, "[%llu,%llu,%lld]", (unsigned long long)cell->resource_id, (unsigned long long)cell->class_id,
			(long long)(cell->after - cell->before));
	}
	return (struct db_call){ .query = &q_use, .in = CALL_VALUES(deal->registry->pool, db_s(end_list(&json))) };
}

// What the providers' rows and the change log have of it. Only those that get something are raised, as clients expect.
static size_t provider_calls(const struct deal *deal, struct db_call *calls)
{
	struct registry *registry = deal->registry;
	struct pool *pool = registry->pool;
	struct uuid *request = POOL_NEW(pool, struct uuid);
	struct buf ids = buf_new(pool, 64), raised = buf_new(pool, 64);
	size_t n = 0;

	*request = registry->request_id;
	for (size_t i = 0; i < deal->n_holdings; i++) {
		add_id(&ids, deal->holdings[i].id);
		if (deal->holdings[i].receives)
			add_id(&raised, deal->holdings[i].id);
	}
	const struct db_value list = db_s(end_list(&ids)), now = db_t(registry->now_us);
	calls[n++] = (struct db_call){
		.query = &q_log, .in = CALL_VALUES(pool, db_uuid(request), now, db_s(registry->actor), list)
	};
	calls[n++] = (struct db_call){ .query = &q_touch, .in = CALL_VALUES(pool, list, now) };
	if (raised.n > 0)
		calls[n++] = (struct db_call){ .query = &q_raise, .in = CALL_VALUES(pool, db_s(end_list(&raised))) };
	return n;
}

static enum outcome carry_out(const struct deal *deal)
{
	struct db_call calls[10];
	size_t n = consumer_calls(deal, calls), allocate = 0;

	if (deal->n_allocations > 0) {
		allocate = n;
		calls[n++] = allocate_call(deal);
	}
	calls[n++] = use_call(deal);
	n += provider_calls(deal, &calls[n]);
	assert(n <= COUNT_OF(calls));
	enum db_result result = db_run_batch(deal->registry->db, deal->registry->pool, calls, n);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (allocate > 0 && calls[allocate].result == DB_DUPLICATE)
		return registry_fail(deal->registry, OUTCOME_BAD_DOCUMENT,
			"the allocations name a resource class of one resource provider twice: add the amounts up");
	for (size_t i = 0; i < n; i++) {
		if (calls[i].result == DB_DUPLICATE)
			return lose_race(deal->registry);
	}
	return OUTCOME_NO_CONTENT;
}

enum outcome allocations_write(struct registry *registry, const struct allocation_set *sets, size_t n)
{
	struct deal deal = { .registry = registry, .sets = sets, .n = n };
	enum outcome outcome = deal_prepare(&deal);

	if (outcome == OUTCOME_OK)
		outcome = check(&deal);
	if (outcome != OUTCOME_OK)
		return outcome;
	// Nothing comes and nothing goes.
	return deal.n_holdings == 0 ? OUTCOME_NO_CONTENT : carry_out(&deal);
}

enum outcome allocations_delete(struct registry *registry, const struct uuid *consumer)
{
	const struct allocation_set set = { .consumer = *consumer };
	struct deal deal = { .registry = registry, .sets = &set, .n = 1 };
	enum outcome outcome = deal_prepare(&deal);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!deal.known[0].there)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "No allocations for consumer '%.*s'",
			STR_ARG(uuid_str(registry->pool, *consumer)));
	return carry_out(&deal);
}
