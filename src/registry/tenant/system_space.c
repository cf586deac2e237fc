// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "registry/core/settings.h"
#include "registry/tenant/system_space.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "registry/tags/etag.h"
#include "registry/tenant/tenant.h"
#include "registry/type/type.h"
#include "sql/system_space.h"

// The argument and results of make().
struct making {
	struct registry *registry;
	bool made;
	enum outcome outcome;
};

static enum outcome insert_space(struct registry *registry, uint64_t tenant_id)
{
	struct resource space = {
		.uid = uuid_new(),
		.tenant_id = tenant_id,
		.tenant = STR(TENANT_SYSTEM),
		.type = type_namespaces(registry),
		.name = STR("default"),
		.live = RESOURCE_PINNED,
		.meta = STR("{}"),
		.body = STR("{}"),
	};
	const struct sql_system_space_count count = { .tenant_id = tenant_id };
	struct db_call calls[] = {
		resource_insert_call(registry, &space),
		sql_system_space_count_call(registry->pool, &count),
	};
	return registry_run_calls(registry, calls, COUNT_OF(calls));
}

static enum outcome insert_tenant(struct registry *registry, uint64_t *id)
{
	struct str tier = str_c(registry->settings->default_tier);
	struct tenant tenant = {
		.uid = uuid_new(),
		.name = STR(TENANT_SYSTEM),
		.tier = tier,
		.metadata = STR("{}"),
		.object = STR("{}"),
		.policy = TYPE_POLICY_LOCAL,
		.revision = 1,
	};
	struct db_rows rows;

	etag_of_tenant(registry, &tenant);
	const struct sql_system_space_insert in = {
		.name = tenant.name,
		.uid = uuid_bytes(&tenant.uid),
		.tier = tier,
		.etag = str_n((const char *)tenant.etag, sizeof(tenant.etag)),
		.now = registry->stamp_us,
	};
	enum db_result result = sql_system_space_insert_run(registry->db, registry->pool, &in, &rows);
	if (result == DB_DUPLICATE) { // a worker created it meanwhile
		db_txn_again(registry->db);
		return OUTCOME_UNAVAILABLE;
	}
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.affected != 1)
		return registry_fail(registry, OUTCOME_BAD_PARAMETER,
			"there is no tier \"%.*s\", which default_tier names: `tenure-manage tier set` makes one", STR_ARG(tier));
	*id = rows.insert_id;
	return OUTCOME_OK;
}

static enum outcome make(struct making *making)
{
	struct registry *registry = making->registry;
	const struct sql_system_space_find find = { .name = STR(TENANT_SYSTEM) };
	struct db_rows rows;
	uint64_t id = 0;

	making->made = false;
	enum db_result result = sql_system_space_find_run(registry->db, registry->pool, &find, &rows);
	if (result != DB_OK)
		return registry_db_failed(result);
	if (rows.n > 0)
		return OUTCOME_OK;
	enum outcome outcome = insert_tenant(registry, &id);
	if (outcome == OUTCOME_OK)
		outcome = insert_space(registry, id);
	making->made = outcome == OUTCOME_OK;
	return outcome;
}

static enum db_verdict run_make(void *arg)
{
	struct making *making = arg;

	making->outcome = make(making);
	return making->outcome == OUTCOME_OK ? DB_COMMIT : DB_ROLLBACK;
}

enum outcome system_space_ensure(struct registry *registry, bool *made)
{
	assert(!db_txn_writes(registry->db));
	struct making making = { .registry = registry };
	enum db_result result = db_txn_run(registry->db, DB_WRITE, &registry->request_id, run_make, &making);

	*made = making.made;
	return result == DB_OK ? making.outcome : registry_db_failed(result);
}
