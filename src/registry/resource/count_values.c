// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "registry/core/failure.h"
#include "registry/resource/count_values.h"
#include "sql/searches.h"

enum outcome resource_count_values(struct registry *registry, const struct type *type, struct str tenant, const char *member,
	struct value_counts **list, size_t *n)
{
	assert(type != NULL && member != NULL);
	struct pool *pool = registry->pool;
	struct db_rows rows;
	const struct sql_value_count in = {
		.path = str_printf(pool, "$.%s", member),
		.type_id = type->id,
		.tenant = tenant,
	};
	enum db_result result = sql_value_count_run(registry->db, pool, &in, &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*list = POOL_ARRAY(pool, struct value_counts, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		(*list)[i] = (struct value_counts){ sql_value_count_row(&rows, i)->value, sql_value_count_row(&rows, i)->n };
	return OUTCOME_OK;
}
