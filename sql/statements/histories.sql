-- The changes of one resource, for its history.

-- of tenant_id, unless that is NULL: those that were made while the resource was the tenant's.
-- @fragment history_seen
c.resource_id = :resource_id AND (:tenant_id IS NULL OR c.tenant_id = :tenant_id)
-- @fragment history_columns
c.id, c.request_id, c.at, c.actor, c.verb, c.fields

-- @statement history_page
-- @in resource_id uint, tenant_id uint null, after uint, limit uint
-- @out id uint, request_id bytes, at time, actor text, verb text, fields text null
SELECT {history_columns}
FROM changes c FORCE INDEX (resource)
WHERE {history_seen} AND c.id > :after
ORDER BY c.id
LIMIT :limit;

-- @statement history_entry
-- @in resource_id uint, tenant_id uint null, id uint
-- @out id uint, request_id bytes, at time, actor text, verb text, fields text null
SELECT {history_columns}
FROM changes c
WHERE {history_seen} AND c.id = :id;
