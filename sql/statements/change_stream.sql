-- The change log of all tenants, for watches.

-- oldest: the id of the oldest change in the log, or of the next one if the log is empty; newest: the highest id known; next: that of the first
-- change after the position, or what comes behind newest.
-- @statement stream_bounds
-- @in position uint
-- @out oldest uint, newest uint, next uint, present uint
SELECT COALESCE((SELECT MIN(c.id) FROM changes c), h.published + 1) AS oldest,
  CAST(GREATEST(COALESCE((SELECT MAX(c.id) FROM changes c), 0), h.published) AS UNSIGNED) AS newest,
  COALESCE((SELECT MIN(c.id) FROM changes c WHERE c.id > :position), h.published + 1) AS next,
  EXISTS(SELECT 1 FROM changes c WHERE c.id = :position) AS present
FROM log_horizon h
WHERE h.id = 1;

-- Tenants are shown by name, and a tenant that a resource left only while it has that name: what a tenant of the same name
-- did before it was purged belongs to nobody. tenant_live NULL: the tenant was purged.
-- @fragment stream_columns
c.id, c.verb, t.name AS tenant, t.live AS tenant_live, f.name AS from_tenant, c.resource_id, c.type_id, c.namespace, c.name,
c.uid, c.revision, c.at, c.tenant_id, c.resource_id IS NULL AND c.etag_before <=> c.etag_after AS beside
-- @fragment stream_tenants
LEFT JOIN tenants t ON t.id = c.tenant_id
LEFT JOIN tenants f ON f.id = c.from_tenant_id AND f.live = 1
-- @group streamed id uint, verb text, tenant text null, tenant_live uint null, from_tenant text null, resource_id uint null,
--      type_id uint null, namespace text null, name text null, uid bytes, revision uint, at time, tenant_id uint,
--      beside uint

-- @statement stream_page
-- @in after uint, up_to uint, limit uint
-- @out c streamed
SELECT {stream_columns}
FROM changes c
{stream_tenants}
WHERE c.id > :after AND c.id <= :up_to
ORDER BY c.id
LIMIT :limit;

-- The same of two tenants alone.
-- @statement stream_page_of_two
-- @in tenants change_tenant[2], after uint, up_to uint, limit uint
-- @out c streamed
SELECT {stream_columns}
FROM ({change_ids_of_two}) i
STRAIGHT_JOIN changes c ON c.id = i.id
{stream_tenants}
ORDER BY c.id;

-- The ids of the tenants of these changes; of a move, of both tenants.
-- @statement stream_tenants
-- @in after uint, up_to uint
-- @out tenant_id uint
SELECT c.tenant_id FROM changes c WHERE c.id > :after AND c.id <= :up_to
UNION
SELECT c.from_tenant_id FROM changes c WHERE c.id > :after AND c.id <= :up_to AND c.from_tenant_id IS NOT NULL;

-- @statement stream_tenant_named
-- @in name text
-- @out id uint
SELECT t.id FROM tenants t WHERE t.name = :name AND t.live = 1;

-- The tenant of that id, also if it was deleted or purged. A purged one has no row in tenant_counts.
-- @statement stream_tenant
-- @in id uint
-- @out t tenant
SELECT {tenant}
FROM tenants t
JOIN tiers i ON i.id = t.tier_id
LEFT JOIN tenant_counts c ON c.tenant_id = t.id
WHERE t.id = :id;

-- What selectors could ask of a resource, or of a tenant itself, before a change (from): the first change, this one or a later
-- one, that records it; those between left it as it was. NULL: a version that did not record it has written the change.
-- @choice stream_thing
-- @case resource
c.resource_id = :id
-- @case tenant
c.resource_id IS NULL AND c.tenant_id = :id

-- @statement stream_before
-- @in id uint, from uint
-- @out selectable_before text null
SELECT c.selectable_before
FROM changes c FORCE INDEX (resource)
WHERE {stream_thing} AND c.id >= :from AND c.verb = 'updated'
  AND (c.selectable_before IS NULL OR c.selectable_before <> '')
ORDER BY c.id
LIMIT 1;
