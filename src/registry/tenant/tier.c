// SPDX-License-Identifier: Apache-2.0
// Lists tiers. tenure-manage makes, changes and removes them.
#include "base/base.h"

#include "registry/tenant/tier.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "sql/tiers.h"

enum outcome tier_list(struct registry *registry, struct str marker, uint64_t limit, struct tier **list, size_t *n, bool *more)
{
	const struct sql_tier_page in = { .marker = marker.p != NULL ? marker : STR(""), .limit = limit + 1 };
	struct db_rows rows;
	enum db_result result = sql_tier_page_run(registry->db, registry->pool, &in, &rows);

	assert(limit > 0);
	if (result != DB_OK)
		return registry_db_failed(result);
	*more = rows.n > limit;
	*n = *more ? (size_t)limit : rows.n;
	*list = POOL_ARRAY(registry->pool, struct tier, *n);
	for (size_t i = 0; i < *n; i++) {
		const struct sql_tier_page_row *row = sql_tier_page_row(&rows, i);

		(*list)[i] = (struct tier){
			.name = row->name,
			.has_limit = !row->max_resources_is_null,
			.max_resources = row->max_resources_is_null ? 0 : row->max_resources,
			.description = row->description,
		};
	}
	return OUTCOME_OK;
}
