-- Forwards as operators manage them. Who follows one reads it with its resource: resource_elsewhere in resources.sql.

-- A forward f that leads somewhere. Where the tenant that has its resource was purged, it answers nothing, and the reaper deletes it. merged:
-- resource_id is a namespace that was merged, so resource_merged_into says where the forward leads on.
-- @fragment forward_tables
forwards f
STRAIGHT_JOIN resources r ON r.id = f.resource_id
{merged_of_r}
STRAIGHT_JOIN tenants d ON d.id = r.tenant_id AND (d.live = 1 OR m.resource_id IS NOT NULL)
-- @fragment forward_leads
(f.expires_at IS NULL OR f.expires_at > :now)
-- @group forward type_id uint, namespace text, name text, moved_at time, request_id bytes null, expires_at time null, uid bytes,
--      dest text, gone uint, resource_id uint, merged uint
-- @fragment forward
f.type_id, f.namespace, f.name, f.moved_at, f.request_id, f.expires_at, r.uid, d.name AS dest,
(r.live IS NULL OR d.deleted_at IS NOT NULL) AS gone, f.resource_id, m.resource_id IS NOT NULL AS merged

-- Those of one tenant in the order of the key, behind the address at which the page before ended.
-- @statement forward_list
-- @in tenant_id uint, type_id uint, namespace text, name text, now time, limit uint
-- @out f forward
SELECT {forward}
FROM {forward_tables}
WHERE f.tenant_id = :tenant_id
  AND (f.type_id > :type_id OR (f.type_id = :type_id AND f.namespace > :namespace)
    OR (f.type_id = :type_id AND f.namespace = :namespace AND f.name > :name))
  AND {forward_leads}
ORDER BY f.type_id, f.namespace, f.name
LIMIT :limit;

-- @statement forward_get
-- @in tenant_id uint, type_id uint, namespace text, name text, now time
-- @out f forward
SELECT {forward}
FROM {forward_tables}
WHERE f.tenant_id = :tenant_id AND f.type_id = :type_id AND f.namespace = :namespace AND f.name = :name AND {forward_leads};

-- @statement forward_expire
-- @in tenant_id uint, type_id uint, namespace text, name text, expires_at time null
UPDATE forwards SET expires_at = :expires_at
WHERE tenant_id = :tenant_id AND type_id = :type_id AND namespace = :namespace AND name = :name;
