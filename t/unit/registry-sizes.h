// SPDX-License-Identifier: Apache-2.0
// The sizes that the change log has, compared with what is stored.
#ifndef TENURE_T_UNIT_REGISTRY_SIZES_H
#define TENURE_T_UNIT_REGISTRY_SIZES_H

#include "registry-fixture.h"

// What the change log says of the size and the owner of each resource that it knows from the beginning comes to what is stored.
// What purged tenants had is gone without changes of its own.
static void is_sized(const char *what)
{
	static const char wrong[] =
		"SELECT COUNT(*) FROM (SELECT s.tenant_id, s.type_id, s.resource_id FROM ("
		"SELECT tenant_id, type_id, resource_id, bytes_after > 0 AS n, CAST(bytes_after AS SIGNED) AS bytes FROM changes "
		"UNION ALL SELECT IFNULL(from_tenant_id, tenant_id), type_id, resource_id, -(bytes_before > 0), "
		"-CAST(bytes_before AS SIGNED) FROM changes "
		"UNION ALL SELECT tenant_id, type_id, id, -1, -CAST(bytes AS SIGNED) FROM resources WHERE live = 1) s "
		"WHERE s.resource_id IN (SELECT x.resource_id FROM changes x JOIN resources r ON r.id = x.resource_id "
		"WHERE x.verb = 'created') AND s.tenant_id IN (SELECT id FROM tenants WHERE live = 1) "
		"GROUP BY s.tenant_id, s.type_id, s.resource_id HAVING NOT (SUM(s.n) <=> 0 AND SUM(s.bytes) <=> 0)) wrong";

	is_int(sql_number("%s", wrong), 0, "%s: sizes in the log", what);
}

#endif
