-- tenure-manage keys: all objects in the order of their addresses.

-- @statement key_tenants
-- @in after text, limit uint
-- @out id uint, name text
SELECT id, name FROM tenants FORCE INDEX (name) WHERE live = 1 AND deleted_at IS NULL AND name > :after ORDER BY name
LIMIT :limit;

-- @statement key_tenant
-- @in name text
-- @out id uint
SELECT id FROM tenants WHERE live = 1 AND deleted_at IS NULL AND name = :name;

-- The resources after the address (type, namespace, name).
-- @statement key_resources
-- @in tenant_id uint, type_id uint, namespace text, name text, limit uint
-- @out type_id uint, namespace text, name text, group_name text, plural text
SELECT r.type_id, r.namespace, r.name, y.group_name, y.plural
FROM resources r
JOIN types y ON y.id = r.type_id
WHERE r.tenant_id = :tenant_id AND r.type_id >= :type_id
  AND (r.type_id > :type_id OR (r.namespace >= :namespace AND (r.namespace > :namespace OR r.name > :name)))
  AND r.live IS NOT NULL
ORDER BY r.type_id, r.namespace, r.name
LIMIT :limit;
