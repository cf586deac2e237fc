// SPDX-License-Identifier: Apache-2.0
// Makes and frees the store of a process, and begins the registry of each request.
#include "base/base.h"

#include "registry/core/settings.h"
#include "registry/registry.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/pool.h"
#include "db/db.h"
#include "registry/cache/coherence.h"
#include "registry/cache/page_cache.h"
#include "registry/cache/resource_cache.h"
#include "registry/core/failure.h"
#include "registry/log/change.h"
#include "registry/log/horizon.h"
#include "registry/tags/keys.h"
#include "registry/trait/catalogue.h"
#include "registry/type/internal.h"
#include "registry/type/type.h"
#include "sql/schema.h"
#include "sql/session.h"

enum { LOG_AGAIN_US = 10000000 };
enum { PAGES_SHARE = 8 }; // an eighth of the setting resource_cache is for pages of lists; the rest is for resources

struct registry_store *registry_store_new(const struct config *config, struct db *db)
{
	struct registry_store *store = calloc(1, sizeof(*store));

	assert(config != NULL && db != NULL);
	if (store == NULL)
		return NULL;
	store->config = config;
	store->settings = registry_settings(config);
	store->db = db;
	db_set_log(db, &change_log);
	store->types = types_new(registry_type_rules);
	store->definitions = definitions_new();
	store->coherence = coherence_new();
	store->catalogue = catalogue_new();
	store->horizon = horizon_new();
	store->resource_cache = resource_cache_new(store->settings->resource_cache - store->settings->resource_cache / PAGES_SHARE);
	store->page_cache = page_cache_new(store->settings->resource_cache / PAGES_SHARE);
	if (store->types == NULL || store->definitions == NULL || store->coherence == NULL || store->catalogue == NULL ||
		store->horizon == NULL || store->resource_cache == NULL || store->page_cache == NULL)
		registry_store_free(&store);
	return store;
}

void registry_store_free(struct registry_store **store)
{
	if (*store == NULL)
		return;
	types_free(&(*store)->types);
	definitions_free(&(*store)->definitions);
	catalogue_free(&(*store)->catalogue);
	coherence_free(&(*store)->coherence);
	horizon_free(&(*store)->horizon);
	resource_cache_free(&(*store)->resource_cache);
	page_cache_free(&(*store)->page_cache);
	etag_keys_free(&(*store)->etag_keys);
	digest_key_free(&(*store)->state_key);
	free(*store);
	*store = NULL;
}

void registry_attach(struct registry *registry, struct registry_store *store)
{
	assert(store != NULL);
	*registry = (struct registry){ .store = store, .config = store->config, .settings = store->settings, .db = store->db };
}

// Reads which file of the schema was applied last, and the oldest program that may go on since. Before version 15 a program
// served its own version alone.
static enum db_result read_range(struct db *db, struct pool *pool, uint64_t *version, uint64_t *oldest)
{
	struct db_rows rows;
	enum db_result result = sql_schema_is_booked_run(db, pool, &rows);

	*version = 0;
	if (result == DB_OK && sql_schema_is_booked_row(&rows, 0)->booked > 0) {
		result = sql_schema_range_run(db, pool, &rows);
		if (result == DB_OK) {
			*version = sql_schema_range_row(&rows, 0)->version;
			*oldest = sql_schema_range_row(&rows, 0)->oldest;
		}
	}
	if (result != DB_OK || *version > 0)
		return result;
	result = sql_schema_version_run(db, pool, &rows);
	if (result == DB_OK)
		*version = *oldest = sql_schema_version_row(&rows, 0)->version;
	return result;
}

enum outcome registry_schema_version(struct db *db, struct pool *pool, uint64_t *version)
{
	uint64_t oldest;
	enum db_result result = read_range(db, pool, version, &oldest);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}

// Logged every ten seconds at most, by each process.
static enum outcome refuse(struct registry *registry, uint64_t version, uint64_t oldest)
{
	struct registry_store *store = registry->store;
	bool newer = version >= REGISTRY_SCHEMA_VERSION;

	if (store->schema_seen.logged_us == 0 || registry->now_us - store->schema_seen.logged_us > LOG_AGAIN_US) {
		store->schema_seen.logged_us = registry->now_us;
		if (newer)
			log_error("the database's schema is of version %llu and takes programs from version %llu on; this one is of version %d: "
				"install the release that upgraded the database", (unsigned long long)version,
				(unsigned long long)oldest, REGISTRY_SCHEMA_VERSION);
		else
			log_error("the database's schema is of version %llu, this program needs version %d: run `tenure-manage db %s`",
				(unsigned long long)version, REGISTRY_SCHEMA_VERSION, version > 0 ? "upgrade" : "init");
	}
	return registry_fail(registry, OUTCOME_UNAVAILABLE, newer ?
		"the registry was upgraded, and this program is too old for it: its operator has to install the new release" :
		"the registry has not been upgraded to this release yet: its operator has to run `tenure-manage db upgrade`");
}

static enum outcome check_version(struct registry *registry)
{
	struct registry_store *store = registry->store;
	uint64_t version, oldest, revision = coherence_newest(registry, COHERENCE_SCHEMA), errors = db_schema_errors(registry->db);
	enum db_result result = read_range(registry->db, registry->pool, &version, &oldest);

	if (result != DB_OK)
		return registry_db_failed(result);
	store->schema_seen.ok = version >= REGISTRY_SCHEMA_VERSION && oldest <= REGISTRY_SCHEMA_VERSION;
	store->schema_seen.revision = revision;
	store->schema_seen.sessions = db_sessions(registry->db);
	store->schema_seen.errors = errors;
	return store->schema_seen.ok ? OUTCOME_OK : refuse(registry, version, oldest);
}

// Has anything happened since the last look that may mean that the schema was upgraded? Costs no statement.
static bool may_have_changed(const struct registry *registry)
{
	const struct registry_store *store = registry->store;

	return !store->schema_seen.ok || store->schema_seen.revision != coherence_newest(registry, COHERENCE_SCHEMA) ||
		store->schema_seen.sessions != db_sessions(registry->db) || store->schema_seen.errors != db_schema_errors(registry->db);
}

static enum outcome load_key(struct registry *registry, const char *name, struct digest_key **key)
{
	struct db_rows rows;
	enum db_result result = sql_setting_get_run(registry->db, registry->pool, &(struct sql_setting_get){ .name =
		str_c(name) }, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n != 1) {
		log_error("the database has no %s in table settings: run `tenure-manage db init`", name);
		return OUTCOME_INTERNAL;
	}
	*key = digest_key_new(sql_setting_get_row(&rows, 0)->value);
	return *key != NULL ? OUTCOME_OK : OUTCOME_INTERNAL;
}

static enum outcome load(struct registry *registry)
{
	enum outcome outcome = check_version(registry);

	if (outcome == OUTCOME_OK)
		outcome = etag_keys_refresh(registry);
	if (outcome == OUTCOME_OK && registry->store->state_key == NULL)
		outcome = load_key(registry, "state_key", &registry->store->state_key);
	if (outcome == OUTCOME_OK && !db_is_operator(registry->db))
		outcome = horizon_join(registry);
	if (outcome == OUTCOME_OK)
		outcome = types_load(registry);
	return outcome;
}

enum outcome registry_begin(struct registry *registry, struct pool *pool, const struct uuid *request_id, struct str actor,
	struct problem *problem)
{
	assert(pool != NULL && !db_txn_writes(registry->db));
	assert(registry->store != NULL && problem != NULL);
	registry->pool = pool;
	registry->request_id = *request_id;
	registry->actor = actor;
	registry->privileged = false;
	registry->left_work = false;
	registry->delete_at_once = 0;
	registry->progress.tell = NULL;
	registry->now_us = registry->stamp_us = clock_now_us();
	registry->lock_policy = LOCK_NOWAIT;
	registry->problem = problem;
	registry_begin_run(registry);
	definitions_begin(registry);
	if (!types_loaded(registry->store->types))
		return load(registry);
	// A server that has crashed may have lost the change that was cached last, and given its revision to another one.
	if (registry->store->schema_seen.sessions != db_sessions(registry->db)) {
		definitions_forget(registry);
		catalogue_forget(registry->store->catalogue);
	}
	enum outcome outcome = may_have_changed(registry) ? check_version(registry) : OUTCOME_OK;
	return outcome == OUTCOME_OK ? etag_keys_refresh(registry) : outcome;
}

void registry_begin_run(struct registry *registry)
{
	assert(registry->problem != NULL);
	*registry->problem = (struct problem){ .n_members = 0 };
	registry_concerns_nobody(registry); // its text is in a pool that is about to be rewound, and so is the next
	registry->expected = NULL;
	coherence_begin(registry);
}

void registry_store_trim(struct registry_store *store)
{
	definitions_end(store);
}

enum outcome registry_ping(struct registry *registry)
{
	struct db_rows rows;
	enum db_result result = sql_session_ping_run(registry->db, registry->pool, &rows);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}
