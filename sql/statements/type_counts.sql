-- How many resources of each type tenants have (src/registry/tenant/type_counts.h).

-- ids: of the tenants. Reads the index alone, in its order: all that these tenants have, deleted resources too.
-- @statement type_counts
-- @in ids text
-- @out tenant_id uint, type_id uint, resources uint
-- @scans as many as the tenants have, which type_counts.h bounds
-- @sorts a row for each tenant and type
SELECT r.tenant_id, r.type_id, COUNT(*) AS resources
FROM {ids}
STRAIGHT_JOIN resources r FORCE INDEX (owner) ON r.tenant_id = j.id AND r.live = 1
GROUP BY r.tenant_id, r.type_id
ORDER BY r.tenant_id, r.type_id;
