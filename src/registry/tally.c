// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"

#include "base/pool.h"
#include "registry/internal.h"
#include "registry/tally.h"

static const struct db_query q_tally = {
	"SELECT LEFT(JSON_VALUE(r.body, ?), 255) AS k, COUNT(*) FROM resources r "
	"STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL "
	"WHERE r.type_id = ? AND r.live = 1 AND (? OR t.name = ?) GROUP BY k HAVING k IS NOT NULL ORDER BY k LIMIT ?",
	"suusu", "su"
};

enum outcome resource_tally(struct registry *registry, const struct type *type, struct str tenant, const char *member,
	struct tally **list, size_t *n)
{
	struct pool *pool = registry->pool;
	struct db_rows rows;
	enum db_result result = db_run(registry->db, pool, &q_tally,
		DB_IN(db_s(str_printf(pool, "$.%s", member)), db_u(type->id), db_u(tenant.p == NULL ? 1 : 0), db_s(tenant),
			db_u(TALLY_MAX)), &rows);

	if (result != DB_OK)
		return registry_db_failed(result);
	*n = rows.n;
	*list = POOL_ARRAY(pool, struct tally, rows.n);
	for (size_t i = 0; i < rows.n; i++)
		(*list)[i] = (struct tally){ db_at(&rows, i, 0)->s, db_at(&rows, i, 1)->u };
	return OUTCOME_OK;
}
