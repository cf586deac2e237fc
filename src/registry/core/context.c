// SPDX-License-Identifier: Apache-2.0
// The context of a request: whose resources it touched, its time stamp, and a check of names.
#include "base/base.h"

#include "registry/core/context.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/core/settings.h"
#include "sql/common.h"

bool registry_misses(const struct registry *registry, struct str tenant)
{
	return registry->concerned.missing.p != NULL && str_eq(registry->concerned.missing, tenant);
}

void registry_concerns(struct registry *registry, struct str tenant)
{
	if (registry_misses(registry, tenant)) // it has been created since
		registry->concerned.missing = STR_NONE;
	if (registry->concerned.tenant.p == NULL)
		registry->concerned.tenant = tenant;
	else if (!str_eq(registry->concerned.tenant, tenant))
		registry->concerned.several = true;
}

void registry_concerns_no(struct registry *registry, struct str tenant)
{
	registry->concerned.missing = tenant;
	if (registry->concerned.tenant.p != NULL && str_eq(registry->concerned.tenant, tenant))
		registry->concerned.tenant = STR_NONE;
}

void registry_concerns_nobody(struct registry *registry)
{
	registry->concerned.tenant = STR_NONE;
	registry->concerned.missing = STR_NONE;
	registry->concerned.several = false;
}

struct str registry_concerned(const struct registry *registry)
{
	return registry->concerned.several ? STR_NONE : registry->concerned.tenant;
}

void registry_tell(const struct registry *registry, uint64_t done)
{
	if (registry->progress.tell != NULL)
		registry->progress.tell(registry->progress.arg, done);
}

void registry_stamp_after(struct registry *registry, int64_t us)
{
	if (registry->stamp_us < us)
		registry->stamp_us = us;
}

enum outcome registry_database_now(struct registry *registry, int64_t *now_us)
{
	struct db_rows rows;
	enum db_result result = sql_database_now_run(registry->db, registry->pool, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*now_us = sql_database_now_row(&rows, 0)->now;
	return OUTCOME_OK;
}

int64_t registry_retention_us(const struct registry *registry)
{
	return (int64_t)(registry->settings->retention * 1000000);
}

bool registry_id_is_valid(struct str s)
{
	return s.n > 0 && !str_eq(s, STR(".")) && !str_eq(s, STR("..")) && str_utf8_ok(s, NULL) &&
	       str_utf8_length(s) <= REGISTRY_MAX_ID && str_find(s, '/', 0) == s.n && str_find(s, '\0', 0) == s.n;
}

