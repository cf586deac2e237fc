-- Bare metal: which nodes an allocation may take.

-- @choice allocation_way
-- @case type
resources r FORCE INDEX (type) STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE r.type_id = :type_id AND r.live = 1 AND :tenant IS NULL
-- @case tenant
tenants t STRAIGHT_JOIN resources r FORCE INDEX (owner) ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE t.name = :tenant AND r.type_id = :type_id AND r.live = 1

-- traits: a JSON array of names, all of which the node must have. candidates: one of the UUIDs in lower case that it must be.
-- A node of that name comes first, the others in random order.
-- @statement allocation_nodes
-- @in type_id uint, tenant text null, class text, traits text, candidates text null, name text null, limit uint
-- @out uid bytes
-- @scans the nodes of a tenant, or all of them
-- @sorts the nodes that fit
SELECT r.uid
FROM {allocation_way}
  AND JSON_VALUE(r.body, '$.resource_class') = :class
  AND JSON_VALUE(r.body, '$.provision_state') = 'available'
  AND JSON_VALUE(r.body, '$.maintenance') = 0
  AND JSON_VALUE(r.body, '$.instance_uuid') IS NULL
  AND JSON_VALUE(r.body, '$.reservation') IS NULL
  AND JSON_VALUE(r.body, '$.power_state') IS NOT NULL
  AND JSON_CONTAINS(COALESCE(r.traits, '[]'), :traits)
  AND (:candidates IS NULL OR JSON_CONTAINS(:candidates, JSON_QUOTE(r.name)))
ORDER BY COALESCE(JSON_VALUE(r.body, '$.name') = :name, 0) DESC, RAND()
LIMIT :limit;
