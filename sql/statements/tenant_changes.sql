-- The change log of one tenant.

-- A page of the changes of a tenant and of the resources in it.
-- @statement change_list
-- @in tenant_id uint, after uint, limit uint
-- @out id uint, at time, actor text, request_id bytes, verb text, type_id uint null, namespace text null, name text null,
--      uid bytes, revision uint, etag_before bytes null, etag_after bytes null, fields text null, tenant_id uint,
--      from_tenant_id uint null, moves uint
SELECT c.id, c.at, c.actor, c.request_id, c.verb, c.type_id, c.namespace, c.name, c.uid, c.revision, c.etag_before,
  c.etag_after, c.fields, c.tenant_id, c.from_tenant_id, c.moves
FROM changes c
WHERE c.tenant_id = :tenant_id AND c.id > :after
ORDER BY c.id
LIMIT :limit;
