// SPDX-License-Identifier: Apache-2.0
// The count of a tenant's resources, and its quota.
#include "base/base.h"

#include "base/pool.h"
#include "registry/resource/internal.h"
#include "sql/resources.h"

struct db_call tenant_count_up_call(struct registry *registry, const struct locked_tenant *owner, uint64_t n)
{
	const struct sql_count_up in = {
		.tenant_id = owner->id,
		.n = n,
		.most = owner->has_limit ? owner->max_resources : INT64_MAX,
	};

	assert(db_txn_writes(registry->db) && owner->id != 0);
	return sql_count_up_call(registry->pool, &in);
}

struct db_call tenant_count_down_call(struct registry *registry, uint64_t tenant_id, uint64_t n)
{
	assert(db_txn_writes(registry->db) && tenant_id != 0);
	return sql_count_down_call(registry->pool, &(struct sql_count_down){ .tenant_id = tenant_id, .n = n });
}

enum outcome resource_fail_quota(struct registry *registry, const struct locked_tenant *owner, uint64_t n)
{
	uint64_t most = owner->max_resources;

	assert(owner->has_limit);
	if (most == 0)
		return registry_fail(registry, OUTCOME_OVER_QUOTA, "the tenant's tier allows no resources: ask for another tier");
	if (n > 1)
		return registry_fail(registry, OUTCOME_OVER_QUOTA, "the tenant's tier allows %llu resource%s, and has no room for %llu more: delete some, "
			"or ask for another tier", (unsigned long long)most, most == 1 ? "" : "s", (unsigned long long)n);
	return registry_fail(registry, OUTCOME_OVER_QUOTA, "the tenant's tier allows %llu resource%s, and the tenant has as many: delete some, or ask for "
		"another tier", (unsigned long long)most, most == 1 ? "" : "s");
}
