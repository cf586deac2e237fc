// SPDX-License-Identifier: Apache-2.0
// Purging, in transactions of bounded size: nobody waits long for a lock that is held here.
#include "base/base.h"

#include "registry/upkeep/reap.h"

#include "base/pool.h"
#include "registry/core/internal.h"

enum { ROWS_AT_ONCE = 1000 };

// Rows that go without a word in the change log. The text of the condition is the same in both statements.
#define PLAIN(table, condition, in)                                                     \
	{ "SELECT COUNT(*) FROM " table " WHERE " condition, in, "u" },                 \
	{ "DELETE FROM " table " WHERE " condition " LIMIT ?", in "u", "" }

static const struct plain {
	struct db_query count, purge;
	size_t counter;     // offset in struct reap_counts
	bool change_log;    // held for change_retention, 0: for ever; else for retention
} plains[] = {
	{ PLAIN("forwards", "tenant_id IN (SELECT id FROM tenants WHERE live IS NULL) AND ? IS NOT NULL", "t"),
		offsetof(struct reap_counts, forwards), false },
	{ PLAIN("moves", "state <> 'queued' AND finished_at < ?", "t"), offsetof(struct reap_counts, moves), false },
	{ PLAIN("changes", "id < ?", "u"), offsetof(struct reap_counts, changes), true },
	{ PLAIN("tokens", "LEAST(COALESCE(expires_at, '9999-01-01'), COALESCE(revoked_at, '9999-01-01')) < ?", "t"),
		offsetof(struct reap_counts, tokens), false },
	{ PLAIN("tokens", "tenant_id IN (SELECT id FROM tenants WHERE live IS NULL) AND ? IS NOT NULL", "t"),
		offsetof(struct reap_counts, tokens), false },
};
// The log is shortened from its beginning, never in the middle, whatever times its rows have: who asks for what follows an id
// is told whether all of that is there by the id of the oldest alone. The first row that stays; the end, where none does.
static const struct db_query q_first_kept = {
	"SELECT COALESCE((SELECT c.id FROM changes c FORCE INDEX (PRIMARY) WHERE c.at >= ? ORDER BY c.id LIMIT 1), "
	"(SELECT MAX(c.id) + 1 FROM changes c), 0)",
	"t", "u"
};
static const struct db_query q_drop_progress = {
	"DELETE FROM move_progress WHERE move_id NOT IN (SELECT id FROM moves)", "", ""
};
// Traits and classes that were deleted for good, but for resources that could have come back.
#define DROPS(table, of, id)                                                                                       \
	{ "DELETE k FROM " table " k FORCE INDEX (live) LEFT JOIN " of " x ON x." id " = k.id WHERE k.live IS NULL " \
	  "AND x." id " IS NULL",                                                                                  \
		"", "" }
static const struct db_query q_drop_traits = DROPS("traits", "resource_traits", "trait_id");
static const struct db_query q_drop_classes = DROPS("resource_classes", "inventories", "class_id");

static const struct db_query q_expired_tenants = {
	"SELECT " TENANT_COLUMNS " FROM " TENANT_TABLES " WHERE t.live = 1 AND t.purge_at <= ? ORDER BY t.id", "t", TENANT_OUT
};
static const struct db_query q_lock_tenant = { "SELECT purge_at FROM tenants WHERE id = ? AND live = 1 FOR UPDATE", "u", "t" };

// Resources go page by page of ids. Two kinds: deleted ones whose time is up, and all of a purged tenant's.
enum { SIDE_TABLES = 7 }; // what has rows of resources
struct page_queries {
	struct db_query lock, log, side[SIDE_TABLES], drop;
};
#define RANGE " AND r.id > ? AND r.id <= ?"
#define SIDE(table, condition, in)                                                                                          \
	{ "DELETE x FROM resources r JOIN " table " x ON x.resource_id = r.id WHERE " condition RANGE, in "uu", "" }
#define PAGE_QUERIES(condition, in)                                                                                        \
	{ { "SELECT r.id FROM resources r WHERE " condition " AND r.id > ? ORDER BY r.id LIMIT ? FOR UPDATE", in "uu", "u" }, \
		{ "INSERT INTO changes (request_id, at, actor, verb, tenant_id, resource_id, uid, type_id, namespace, name, " \
		  "revision, etag_before, etag_after, moves) SELECT ?, ?, ?, 'purged', r.tenant_id, r.id, r.uid, r.type_id, "       \
		  "r.namespace, r.name, r.revision, r.etag, NULL, r.moves FROM resources r WHERE " condition RANGE,                   \
			"bts" in "uu", "" },                                                                                 \
		{ SIDE("allocations", condition, in), SIDE("forwards", condition, in),                                       \
			SIDE("resource_aliases", condition, in), SIDE("resource_traits", condition, in),                     \
			SIDE("providers", condition, in), SIDE("inventories", condition, in),                                \
			SIDE("provider_aggregates", condition, in) },                                                        \
		{ "DELETE r FROM resources r WHERE " condition RANGE, in "uu", "" } }
static const struct page_queries of_time = PAGE_QUERIES("r.purge_at <= ?", "t");
static const struct page_queries of_tenant = PAGE_QUERIES("r.tenant_id = ?", "u");

// Those whose providers are gone: they go with their last allocation.
static const struct db_query q_drop_consumers = {
	"DELETE c FROM consumers c LEFT JOIN allocations a ON a.consumer_id = c.id WHERE a.consumer_id IS NULL", "", ""
};

static const struct db_query q_count_resources = {
	"SELECT COUNT(*) FROM resources r WHERE r.purge_at <= ? OR r.tenant_id IN (SELECT id FROM tenants WHERE live IS NULL)",
	"t", "u"
};
static const struct db_query q_emptied_tenants = {
	// A look into the index for each; EXISTS is turned into a join that begins with all resources.
	"SELECT t.id FROM tenants t WHERE t.live IS NULL AND (SELECT r.id FROM resources r WHERE r.tenant_id = t.id LIMIT 1) > 0",
	"", "u"
};

struct reaping {
	struct registry *registry;
	struct reap_counts *counts;
	const struct plain *plain;
	struct db_value limit; // up to where its rows go
	const struct tenant *tenant;
	const struct page_queries *pages; // with what: the value of their condition
	struct db_value what;
	uint64_t after;   // resources up to this id are done
	uint64_t next;    // up to this one after the page at hand
	uint64_t n;       // rows of the last transaction
	enum outcome outcome;
};

static enum db_verdict verdict(struct reaping *reaping, enum outcome outcome)
{
	reaping->outcome = outcome;
	return outcome_commits(outcome) ? DB_COMMIT : DB_ROLLBACK;
}

// Each transaction gets an id of its own, by which a COMMIT of unknown end is looked up.
static enum outcome transact(struct reaping *reaping, enum db_verdict (*fn)(void *arg))
{
	struct registry *registry = reaping->registry;
	struct pool_mark mark = pool_mark(registry->pool);

	registry->request_id = uuid_new();
	enum db_result result = db_txn_run(registry->db, DB_WRITE, &registry->request_id, fn, reaping);
	pool_rewind(registry->pool, mark);
	return result == DB_OK ? reaping->outcome : registry_db_failed(result);
}

static enum outcome count(struct registry *registry, const struct db_query *query, struct db_value limit, uint64_t *counter)
{
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, query, DB_IN(limit), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*counter += db_at(&rows, 0, 0)->u;
	return OUTCOME_OK;
}

// ---- tenants

static enum db_verdict bury_one(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &q_lock_tenant, DB_IN(db_u(reaping->tenant->id)), &rows);

	reaping->n = 0;
	if (result != DB_OK)
		return verdict(reaping, registry_db_failed(result));
	if (rows.n == 0 || db_at(&rows, 0, 0)->null || db_at(&rows, 0, 0)->i > registry->now_us)
		return verdict(reaping, OUTCOME_OK); // recovered meanwhile
	reaping->n = 1;
	return verdict(reaping, tenant_bury(registry, reaping->tenant));
}

static enum outcome reap_tenants(struct reaping *reaping, bool dry_run)
{
	struct registry *registry = reaping->registry;
	struct db_rows rows;
	enum db_result result =
		db_run(registry->db, registry->pool, &q_expired_tenants, DB_IN(db_t(registry->now_us)), &rows);
	enum outcome outcome = result == DB_OK ? OUTCOME_OK : registry_db_failed(result);

	if (outcome == OUTCOME_OK && dry_run)
		reaping->counts->tenants = rows.n;
	for (size_t i = 0; outcome == OUTCOME_OK && !dry_run && i < rows.n; i++) {
		struct tenant tenant;
		tenant_from_row(&tenant, &rows, i);
		reaping->tenant = &tenant;
		outcome = transact(reaping, bury_one);
		reaping->counts->tenants += outcome == OUTCOME_OK ? reaping->n : 0;
	}
	return outcome;
}

// ---- resources

// The rows behind after, up to next. *allocations: how many of those went.
static enum outcome purge_rows(struct reaping *reaping, uint64_t *allocations)
{
	struct registry *registry = reaping->registry;
	const struct page_queries *pages = reaping->pages;
	const struct db_value what = reaping->what, after = db_u(reaping->after), last = db_u(reaping->next);
	const struct db_value *range = DB_IN(what, after, last);
	struct db_call calls[2 + SIDE_TABLES] = {
		{ .query = &pages->log,
			.in = DB_IN(db_uuid(&registry->request_id), db_t(registry->stamp_us), db_s(registry->actor), what, after,
				last) },
		[1 + SIDE_TABLES] = { .query = &pages->drop, .in = range },
	};

	for (size_t i = 0; i < SIDE_TABLES; i++)
		calls[1 + i] = (struct db_call){ .query = &pages->side[i], .in = range };
	enum db_result result = db_run_batch(registry->db, registry->pool, calls, COUNT_OF(calls));
	*allocations = calls[1].rows.affected;
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

static enum db_verdict purge_page(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	struct db_rows rows;
	uint64_t allocations = 0;
	enum db_result result = db_run(registry->db, registry->pool, &reaping->pages->lock,
		DB_IN(reaping->what, db_u(reaping->after), db_u(ROWS_AT_ONCE)), &rows);

	if (result != DB_OK)
		return verdict(reaping, registry_db_failed(result));
	reaping->n = rows.n;
	if (rows.n == 0)
		return verdict(reaping, OUTCOME_OK);
	reaping->next = db_at(&rows, rows.n - 1, 0)->u;
	enum outcome outcome = purge_rows(reaping, &allocations);
	if (outcome != OUTCOME_OK || allocations == 0)
		return verdict(reaping, outcome);
	result = db_run(registry->db, registry->pool, &q_drop_consumers, NULL, NULL);
	return verdict(reaping, result == DB_OK ? OUTCOME_OK : registry_db_failed(result));
}

static enum outcome purge_pages(struct reaping *reaping, const struct page_queries *pages, struct db_value what)
{
	enum outcome outcome;

	reaping->pages = pages;
	reaping->what = what;
	reaping->after = 0;
	do {
		outcome = transact(reaping, purge_page);
		if (outcome != OUTCOME_OK)
			return outcome;
		reaping->counts->resources += reaping->n;
		reaping->after = reaping->next;
	} while (reaping->n == ROWS_AT_ONCE);
	return OUTCOME_OK;
}

static enum outcome reap_resources(struct reaping *reaping, bool dry_run)
{
	struct registry *registry = reaping->registry;
	struct db_rows tenants;
	enum outcome outcome;

	if (dry_run)
		return count(registry, &q_count_resources, db_t(registry->now_us), &reaping->counts->resources);
	outcome = purge_pages(reaping, &of_time, db_t(registry->now_us));
	if (outcome != OUTCOME_OK)
		return outcome;
	enum db_result result = db_run(registry->db, registry->pool, &q_emptied_tenants, NULL, &tenants);
	if (result != DB_OK)
		return registry_db_failed(result);
	for (size_t i = 0; outcome == OUTCOME_OK && i < tenants.n; i++)
		outcome = purge_pages(reaping, &of_tenant, *db_at(&tenants, i, 0));
	return outcome;
}

// ---- the rest

// Up to where rows go: a time, or an id of the change log.
static enum outcome find_limit(struct reaping *reaping, const struct plain *plain, struct db_value *limit)
{
	struct registry *registry = reaping->registry;
	uint64_t seconds = plain->change_log ? registry->config->change_retention : registry->config->retention;
	struct db_rows rows;

	*limit = db_t(registry->now_us - (int64_t)(seconds * 1000000));
	if (!plain->change_log)
		return OUTCOME_OK;
	enum db_result result = db_run(registry->db, registry->pool, &q_first_kept, limit, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	*limit = db_u(db_at(&rows, 0, 0)->u);
	return OUTCOME_OK;
}

static enum db_verdict purge_plain(void *arg)
{
	struct reaping *reaping = arg;
	struct registry *registry = reaping->registry;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, registry->pool, &reaping->plain->purge,
		DB_IN(reaping->limit, db_u(ROWS_AT_ONCE)), &rows);

	if (result != DB_OK)
		return verdict(reaping, registry_db_failed(result));
	reaping->n = rows.affected;
	return verdict(reaping, OUTCOME_OK);
}

static enum outcome reap_plain(struct reaping *reaping, bool dry_run, const struct plain *plain)
{
	struct registry *registry = reaping->registry;
	uint64_t *counter = (uint64_t *)(void *)((char *)reaping->counts + plain->counter);

	if (plain->change_log && registry->config->change_retention == 0)
		return OUTCOME_OK;
	enum outcome outcome = find_limit(reaping, plain, &reaping->limit);
	if (outcome != OUTCOME_OK)
		return outcome;
	if (dry_run)
		return count(registry, &plain->count, reaping->limit, counter);
	reaping->plain = plain;
	do {
		reaping->n = 0;
		outcome = transact(reaping, purge_plain);
		*counter += outcome == OUTCOME_OK ? reaping->n : 0;
	} while (outcome == OUTCOME_OK && reaping->n == ROWS_AT_ONCE);
	return outcome;
}

// What nothing refers to any more, and nobody counts.
static enum outcome drop_leftovers(struct registry *registry)
{
	const struct db_query *queries[] = { &q_drop_progress, &q_drop_traits, &q_drop_classes };
	enum db_result result = DB_OK;

	for (size_t i = 0; result == DB_OK && i < COUNT_OF(queries); i++)
		result = db_run(registry->db, registry->pool, queries[i], NULL, NULL);
	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

enum outcome reap(struct registry *registry, bool dry_run, struct reap_counts *counts)
{
	struct reaping reaping = { .registry = registry, .counts = counts };

	*counts = (struct reap_counts){ 0 };
	enum outcome outcome = reap_tenants(&reaping, dry_run);
	if (outcome == OUTCOME_OK)
		outcome = reap_resources(&reaping, dry_run);
	for (size_t i = 0; outcome == OUTCOME_OK && i < COUNT_OF(plains); i++)
		outcome = reap_plain(&reaping, dry_run, &plains[i]);
	return outcome != OUTCOME_OK || dry_run ? outcome : drop_leftovers(registry);
}
