// SPDX-License-Identifier: Apache-2.0
// Makes and frees a worker's registry, and begins and ends its requests.
#include "base/base.h"

#include "registry/registry.h"

#include "base/clock.h"
#include "base/config/config.h"
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
#include "registry/trait/catalogue.h"
#include "registry/type/internal.h"
#include "registry/type/type.h"
#include "sql/schema.h"
#include "sql/session.h"

enum { PAGES_SHARE = 8 }; // an eighth of the setting resource_cache is for pages of lists; the rest is for resources

struct registry *registry_new(const struct config *config, struct db *db)
{
	struct registry *registry = calloc(1, sizeof(*registry));

	if (registry == NULL)
		return NULL;
	registry->config = config;
	registry->db = db;
	db_set_log(db, &change_log);
	registry->types = types_new(registry_type_rules);
	registry->definitions = definitions_new();
	registry->coherence = coherence_new();
	registry->catalogue = catalogue_new();
	registry->horizon = horizon_new();
	registry->recall = recall_new(config->resource_cache - config->resource_cache / PAGES_SHARE);
	registry->pages = pages_new(config->resource_cache / PAGES_SHARE);
	if (registry->types == NULL || registry->definitions == NULL || registry->coherence == NULL || registry->catalogue == NULL ||
		registry->horizon == NULL || registry->recall == NULL || registry->pages == NULL)
		registry_free(&registry);
	return registry;
}

void registry_free(struct registry **registry)
{
	if (*registry == NULL)
		return;
	types_free(&(*registry)->types);
	definitions_free(&(*registry)->definitions);
	catalogue_free(&(*registry)->catalogue);
	coherence_free(&(*registry)->coherence);
	horizon_free(&(*registry)->horizon);
	recall_free(&(*registry)->recall);
	pages_free(&(*registry)->pages);
	digest_key_free(&(*registry)->etag_key);
	digest_key_free(&(*registry)->state_key);
	free(*registry);
	*registry = NULL;
}

static enum outcome check_version(struct registry *registry)
{
	struct db_rows rows;
	enum db_result result = sql_schema_version_run(registry->db, registry->pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	uint64_t version = sql_schema_version_row(&rows, 0)->version;

	if (version == REGISTRY_SCHEMA_VERSION)
		return OUTCOME_OK;
	log_error("the database's schema is of version %llu, this program's of %d: run `tenure-manage db %s`",
		(unsigned long long)version, REGISTRY_SCHEMA_VERSION, version > 0 ? "upgrade" : "init");
	return OUTCOME_INTERNAL;
}

static enum outcome load_key(struct registry *registry, const char *name, struct digest_key **key)
{
	struct db_rows rows;
	enum db_result result = sql_setting_get_run(registry->db, registry->pool, &(struct sql_setting_get){ .name = str_c(name) }, &rows);

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

	if (outcome == OUTCOME_OK && registry->etag_key == NULL)
		outcome = load_key(registry, "etag_key", &registry->etag_key);
	if (outcome == OUTCOME_OK && registry->state_key == NULL)
		outcome = load_key(registry, "state_key", &registry->state_key);
	if (outcome == OUTCOME_OK && !db_is_admin(registry->db))
		outcome = horizon_join(registry);
	if (outcome == OUTCOME_OK)
		outcome = types_load(registry);
	return outcome;
}

enum outcome registry_begin(struct registry *registry, struct pool *pool, const struct uuid *request_id, struct str actor,
	struct problem *problem)
{
	assert(problem != NULL);
	registry->pool = pool;
	registry->request_id = *request_id;
	registry->actor = actor;
	registry->privileged = false;
	registry->now_us = registry->stamp_us = clock_now_us();
	registry->manner = LOCK_AT_ONCE;
	registry->problem = problem;
	registry_begin_run(registry);
	definitions_begin(registry);
	return types_loaded(registry->types) ? OUTCOME_OK : load(registry);
}

void registry_begin_run(struct registry *registry)
{
	*registry->problem = (struct problem){ .n_members = 0 };
	registry_concerns_nobody(registry); // its text is in a pool that is about to be rewound
	coherence_begin(registry);
}

void registry_end(struct registry *registry)
{
	definitions_end(registry);
}

enum outcome registry_ping(struct registry *registry)
{
	struct db_rows rows;
	enum db_result result = sql_session_ping_run(registry->db, registry->pool, &rows);

	return result == DB_OK ? OUTCOME_OK : registry_db_failed(result);
}
