-- CustomResourceDefinitions.

-- Two clients that define types at once come here one after the other.
-- @statement definition_lock_tenant
-- @in tenant text
-- @out types uint
SELECT types FROM tenant_counts WHERE tenant_id = (SELECT id FROM tenants WHERE name = :tenant AND live = 1) FOR UPDATE;

-- Those of a tenant, but for one of that name. type_id: that of definitions.
-- @statement definition_others
-- @in tenant text, type_id uint, name text
-- @out id uint, name text, group_name text null, names text null
SELECT r.id, r.name, JSON_VALUE(r.body, '$.spec.group') AS group_name, JSON_QUERY(r.body, '$.spec.names') AS names
FROM resources r
WHERE r.tenant_id = (SELECT id FROM tenants WHERE name = :tenant AND live = 1) AND r.type_id = :type_id
  AND r.namespace = '' AND r.name <> :name AND r.live = 1;
