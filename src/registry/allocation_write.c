// SPDX-License-Identifier: Apache-2.0
// Writing allocations, of one consumer or of several at once. All that it concerns is locked first, in one order: tenants,
// providers, consumers. Then it is looked at, checked in memory, and written by a fixed number of statements, however many
// providers and consumers there are.
#include "base/base.h"

#include "base/buf.h"
#include "base/pool.h"
#include "registry/allocation.h"
#include "registry/provider_internal.h"
#include "repr/doc.h"

// Of one parameter each, JSON arrays: ids, uids as 32 hex digits, names.
#define IDS "JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) j"
#define HEXES "JSON_TABLE(?, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$')) j"
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

// Before the locks: which providers it concerns, and whose they are.
static const struct db_query q_wanted = {
	"SELECT r.id, r.tenant_id, t.name FROM " HEXES " STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = ? AND "
	"r.live = 1 STRAIGHT_JOIN tenants t ON t.id = r.tenant_id",
	"su", "uus"
};
static const struct db_query q_had = {
	"SELECT DISTINCT r.id, r.tenant_id, t.name FROM " HEXES " STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex) "
	"STRAIGHT_JOIN allocations a ON a.consumer_id = c.id STRAIGHT_JOIN resources r ON r.id = a.resource_id "
	"STRAIGHT_JOIN tenants t ON t.id = r.tenant_id",
	"s", "uus"
};
// The locks, and what is looked at under them.
static const struct db_query q_lock_tenants[2] =
	LOCKING("SELECT t.id, t.live, t.deleted_at FROM " IDS " STRAIGHT_JOIN tenants t ON t.id = j.id", "LOCK IN SHARE MODE",
		"s", "uut");
static const struct db_query q_lock_providers[2] =
	LOCKING("SELECT r.id, r.uid, r.tenant_id, r.live FROM " IDS " STRAIGHT_JOIN resources r ON r.id = j.id", "FOR UPDATE",
		"s", "ubuu");
static const struct db_query q_lock_consumers[2] =
	LOCKING("SELECT c.id, c.uid, c.project, c.user, c.generation, (SELECT y.name FROM consumer_types y WHERE "
		"y.id = c.type_id) FROM " HEXES " STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)",
		"FOR UPDATE", "s", "ubssus");
static const struct db_query q_inventories = {
	"SELECT i.resource_id, i.class_id, i.min_unit, i.max_unit, i.step_size, i.capacity, i.used FROM " IDS
	" STRAIGHT_JOIN inventories i ON i.resource_id = j.id",
	"s", "uuuuuii"
};
static const struct db_query q_allocations = {
	"SELECT a.resource_id, a.class_id, a.used FROM " HEXES " STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex) "
	"STRAIGHT_JOIN allocations a ON a.consumer_id = c.id",
	"s", "uuu"
};

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

// A provider that the write concerns.
struct holding {
	uint64_t id, tenant_id;
	struct uuid uid;
	bool there; // and alive, in an active tenant
	bool receives; // allocations
};
// An inventory of one of them: what the consumers at hand have of it, and are to have.
struct cell {
	uint64_t resource_id, class_id;
	uint64_t min_unit, max_unit, step_size;
	int64_t capacity, used, before, after;
};
// A consumer as it is.
struct known {
	bool there;
	uint64_t generation;
	struct str project, user, type;
};
struct deal {
	struct registry *registry;
	const struct allocation_set *sets;
	size_t n;
	struct str *classes; // of all allocations, one after the other, with
	uint64_t *class_ids;
	size_t n_allocations;
	struct str consumers; // their uids as JSON, in order
	struct holding *holdings; // by uid
	size_t n_holdings;
	struct cell *cells;       // by provider and class
	size_t n_cells;
	struct known *known;      // of each set
};

// ---- JSON

static void add_hex(struct buf *json, const struct uuid *uid)
{
	buf_addc(json, '"');
	buf_add_hex(json, uid->b, sizeof(uid->b));
	buf_addc(json, '"');
}

static void begin_item(struct buf *json)
{
	buf_addc(json, json->n == 0 ? '[' : ',');
}

static struct str end_list(struct buf *json)
{
	if (json->n == 0)
		buf_addc(json, '[');
	buf_addc(json, ']');
	return buf_str(json);
}

static void add_id(struct buf *json, uint64_t id)
{
	begin_item(json);
	buf_add_u64(json, id);
}

// ---- what it concerns

static int by_uid(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct uuid));
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// In order, so that all writers lock consumers in the same.
static struct str uids_json(struct pool *pool, struct uuid *uids, size_t n)
{
	struct buf json = buf_new(pool, 36 * n + 2);

	if (n > 0)
		qsort(uids, n, sizeof(*uids), by_uid);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && uuid_eq(uids[i - 1], uids[i]))
			continue;
		begin_item(&json);
		add_hex(&json, &uids[i]);
	}
	return end_list(&json);
}

static struct str ids_json(struct pool *pool, uint64_t *ids, size_t n)
{
	struct buf json = buf_new(pool, 64);

	if (n > 0)
		qsort(ids, n, sizeof(*ids), by_number);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || ids[i - 1] != ids[i])
			add_id(&json, ids[i]);
	}
	return end_list(&json);
}

// Rows of (provider, tenant, tenant's name) that the locks are to take.
struct concern {
	struct db_rows wanted, had;
};

static enum outcome find_concern(struct deal *deal, struct concern *concern)
{
	struct registry *registry = deal->registry;
	struct uuid *consumers = POOL_ARRAY(registry->pool, struct uuid, deal->n);
	struct uuid *providers = POOL_ARRAY(registry->pool, struct uuid, deal->n_allocations);
	size_t at = 0;

	for (size_t i = 0; i < deal->n; i++) {
		consumers[i] = deal->sets[i].consumer;
		for (size_t k = 0; k < deal->sets[i].n; k++)
			providers[at++] = deal->sets[i].allocations[k].provider;
	}
	deal->consumers = uids_json(registry->pool, consumers, deal->n);
	struct db_call calls[] = {
		{ .query = &q_wanted,
			.in = DB_IN(db_s(uids_json(registry->pool, providers, at)), db_u(provider_type(registry)->id)) },
		{ .query = &q_had, .in = DB_IN(db_s(deal->consumers)) },
	};
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	if (result != DB_OK)
		return registry_db_failed(result);
	*concern = (struct concern){ calls[0].rows, calls[1].rows };
	return OUTCOME_OK;
}

static enum outcome name_classes(struct deal *deal)
{
	struct registry *registry = deal->registry;
	size_t at = 0;

	for (size_t i = 0; i < deal->n; i++)
		deal->n_allocations += deal->sets[i].n;
	deal->classes = POOL_ARRAY(registry->pool, struct str, deal->n_allocations);
	deal->class_ids = POOL_ARRAY(registry->pool, uint64_t, deal->n_allocations);
	for (size_t i = 0; i < deal->n; i++) {
		for (size_t k = 0; k < deal->sets[i].n; k++)
			deal->classes[at++] = deal->sets[i].allocations[k].class;
	}
	return classes_find(registry, deal->classes, deal->n_allocations, false, deal->class_ids, NULL);
}

// ---- the locks

static int by_holding(const void *a, const void *b)
{
	return by_uid(&((const struct holding *)a)->uid, &((const struct holding *)b)->uid);
}

static int by_cell(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	int order = by_number(&x->resource_id, &y->resource_id);

	return order != 0 ? order : by_number(&x->class_id, &y->class_id);
}

static struct cell *cell_of(const struct deal *deal, uint64_t resource_id, uint64_t class_id)
{
	const struct cell key = { .resource_id = resource_id, .class_id = class_id };

	return deal->n_cells == 0 ? NULL : bsearch(&key, deal->cells, deal->n_cells, sizeof(key), by_cell);
}

static bool tenant_held(const struct db_rows *tenants, uint64_t id, bool *active)
{
	for (size_t i = 0; i < tenants->n; i++) {
		if (db_at(tenants, i, 0)->u != id)
			continue;
		*active = !db_at(tenants, i, 1)->null && db_at(tenants, i, 2)->null;
		return true;
	}
	return false;
}

// False: one was moved since we looked.
static bool take_providers(struct deal *deal, const struct db_rows *providers, const struct db_rows *tenants)
{
	deal->holdings = POOL_ARRAY(deal->registry->pool, struct holding, providers->n);
	deal->n_holdings = providers->n;
	for (size_t i = 0; i < providers->n; i++) {
		struct holding *holding = &deal->holdings[i];
		bool active = false;
		*holding = (struct holding){ .id = db_at(providers, i, 0)->u, .tenant_id = db_at(providers, i, 2)->u };
		uuid_from_bytes(db_at(providers, i, 1)->s, &holding->uid);
		if (!tenant_held(tenants, holding->tenant_id, &active))
			return false;
		holding->there = active && !db_at(providers, i, 3)->null;
	}
	if (deal->n_holdings > 0)
		qsort(deal->holdings, deal->n_holdings, sizeof(*deal->holdings), by_holding);
	return true;
}

static void take_inventories(struct deal *deal, const struct db_rows *rows)
{
	deal->cells = POOL_ARRAY(deal->registry->pool, struct cell, rows->n);
	deal->n_cells = rows->n;
	for (size_t i = 0; i < rows->n; i++) {
		const struct db_value *v = db_at(rows, i, 0);
		deal->cells[i] = (struct cell){
			.resource_id = v[0].u, .class_id = v[1].u, .min_unit = v[2].u, .max_unit = v[3].u, .step_size = v[4].u,
			.capacity = v[5].i, .used = v[6].i
		};
	}
	if (rows->n > 0)
		qsort(deal->cells, deal->n_cells, sizeof(*deal->cells), by_cell);
}

// False: a consumer got allocations elsewhere since we looked.
static bool take_allocations(struct deal *deal, const struct db_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct cell *cell = cell_of(deal, db_at(rows, i, 0)->u, db_at(rows, i, 1)->u);
		if (cell == NULL)
			return false;
		cell->before += (int64_t)db_at(rows, i, 2)->u;
	}
	return true;
}

static void take_consumers(struct deal *deal, const struct db_rows *rows)
{
	deal->known = POOL_ARRAY(deal->registry->pool, struct known, deal->n);
	for (size_t i = 0; i < deal->n; i++) {
		for (size_t k = 0; k < rows->n; k++) {
			const struct db_value *v = db_at(rows, k, 0);
			if (!str_eq(v[1].s, uuid_bytes(&deal->sets[i].consumer)))
				continue;
			deal->known[i] = (struct known){ true, v[4].u, v[2].s, v[3].s, v[5].null ? STR_NONE : v[5].s };
		}
	}
}

static enum outcome lose_race(struct registry *registry)
{
	db_txn_again(registry->db);
	return OUTCOME_UNAVAILABLE;
}

// What is to be locked: providers, and tenants, each once.
struct locks {
	uint64_t *providers, *tenants;
	struct str *names; // of the tenants
	size_t n_providers, n_tenants;
};

static void add_tenant(struct locks *locks, uint64_t id, struct str name)
{
	for (size_t i = 0; i < locks->n_tenants; i++) {
		if (locks->tenants[i] == id)
			return;
	}
	locks->names[locks->n_tenants] = name;
	locks->tenants[locks->n_tenants++] = id;
}

static void collect_locks(struct pool *pool, const struct concern *concern, struct locks *locks)
{
	const struct db_rows *both[] = { &concern->wanted, &concern->had };
	size_t most = concern->wanted.n + concern->had.n;

	*locks = (struct locks){
		.providers = POOL_ARRAY(pool, uint64_t, most),
		.tenants = POOL_ARRAY(pool, uint64_t, most),
		.names = POOL_ARRAY(pool, struct str, most),
	};
	for (size_t b = 0; b < COUNT_OF(both); b++) {
		for (size_t i = 0; i < both[b]->n; i++) {
			locks->providers[locks->n_providers++] = db_at(both[b], i, 0)->u;
			add_tenant(locks, db_at(both[b], i, 1)->u, db_at(both[b], i, 2)->s);
		}
	}
}

static enum outcome hold(struct deal *deal, const struct concern *concern)
{
	struct registry *registry = deal->registry;
	struct pool *pool = registry->pool;
	struct locks locks;

	collect_locks(pool, concern, &locks);
	const struct db_value ids = db_s(ids_json(pool, locks.providers, locks.n_providers));
	const struct db_value consumers = db_s(deal->consumers);
	struct db_call calls[] = {
		{ .query = locking(registry, q_lock_tenants), .in = DB_IN(db_s(ids_json(pool, locks.tenants, locks.n_tenants))) },
		{ .query = locking(registry, q_lock_providers), .in = &ids },
		{ .query = locking(registry, q_lock_consumers), .in = &consumers },
		{ .query = &q_inventories, .in = &ids },
		{ .query = &q_allocations, .in = &consumers },
	};
	enum outcome outcome = take_locks(registry, locks.names, locks.n_tenants, calls, COUNT_OF(calls));
	if (outcome != OUTCOME_OK)
		return outcome;
	take_consumers(deal, &calls[2].rows);
	take_inventories(deal, &calls[3].rows);
	if (!take_providers(deal, &calls[1].rows, &calls[0].rows) || !take_allocations(deal, &calls[4].rows))
		return lose_race(registry);
	return OUTCOME_OK;
}

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

static struct holding *find_provider(const struct deal *deal, const struct uuid *uid)
{
	const struct holding key = { .uid = *uid };
	struct holding *found =
		deal->n_holdings == 0 ? NULL : bsearch(&key, deal->holdings, deal->n_holdings, sizeof(key), by_holding);

	return found != NULL && found->there ? found : NULL;
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
	struct holding *holding = find_provider(deal, &allocation->provider);
	struct pool *pool = registry->pool;

	if (holding == NULL)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT, "Allocation for resource provider '%.*s' that does not exist.",
			STR_ARG(uuid_str(pool, allocation->provider)));
	if (class_id == 0)
		return registry_fail(registry, OUTCOME_BAD_DOCUMENT,
			"Unable to allocate inventory for consumer %.*s: No such resource class %.*s.",
			STR_ARG(uuid_str(pool, set->consumer)), STR_ARG(str_part(allocation->class, 0, 256)));
	struct cell *cell = cell_of(deal, holding->id, class_id);
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
	const struct cell *cell = cell_of(deal, find_provider(deal, &allocation->provider)->id, class_id);

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
				(unsigned long long)find_provider(deal, &allocation->provider)->id,
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

static enum outcome prepare(struct deal *deal)
{
	struct concern concern = { .wanted.n = 0 };
	enum outcome outcome = name_classes(deal);

	if (outcome == OUTCOME_OK)
		outcome = find_concern(deal, &concern);
	return outcome == OUTCOME_OK ? hold(deal, &concern) : outcome;
}

enum outcome allocations_write(struct registry *registry, const struct allocation_set *sets, size_t n)
{
	struct deal deal = { .registry = registry, .sets = sets, .n = n };
	enum outcome outcome = prepare(&deal);

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
	enum outcome outcome = prepare(&deal);

	if (outcome != OUTCOME_OK)
		return outcome;
	if (!deal.known[0].there)
		return registry_fail(registry, OUTCOME_NOT_FOUND, "No allocations for consumer '%.*s'",
			STR_ARG(uuid_str(registry->pool, *consumer)));
	return carry_out(&deal);
}
