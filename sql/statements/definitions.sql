-- CustomResourceDefinitions.

-- A lock that lets only one client at a time change the tenant's definitions.
-- @statement definition_lock_tenant
-- @in tenant text
-- @out types uint
SELECT types FROM tenant_counts WHERE tenant_id = (SELECT id FROM tenants WHERE name = :tenant AND live = 1) FOR UPDATE;

-- The definitions of a tenant, except the one of that name. type_id: of CustomResourceDefinitions.
-- @statement definition_others
-- @in tenant text, type_id uint, name text
-- @out id uint, name text, bytes uint, group_name text null, names text null
SELECT r.id, r.name, r.bytes, JSON_VALUE(r.body, '$.spec.group') AS group_name, JSON_QUERY(r.body, '$.spec.names') AS names
FROM resources r
WHERE r.tenant_id = (SELECT id FROM tenants WHERE name = :tenant AND live = 1) AND r.type_id = :type_id
  AND r.namespace = '' AND r.name <> :name AND r.live = 1;

-- ---- what a worker caches of a tenant's definitions

-- Annotations that the metadata of a tenant t can't hold stand in its object; of a name in both, metadata was written last. JSON_QUERY reads no further than it has to, so a
-- deep spec behind them doesn't matter.
-- @fragment annotations_of_t
IF(t.object LIKE '%"annotations"%', JSON_MERGE_PATCH(COALESCE(JSON_QUERY(t.object, '$.annotations'), '{}'), t.metadata), t.metadata)

-- What decides between definitions, with the revision of the types' catalogue in one statement, so that it is that of the
-- revision. id NULL: there is no such tenant. types: raised with each change of one of its definitions.
-- @group definition_owner revision uint, id uint null, uid bytes null, type_policy text null, annotations text null, types uint null
-- @fragment definition_owner
c.revision, t.id, t.uid, t.type_policy, {annotations_of_t} AS annotations, k.types
-- @fragment from_definition_owner
FROM catalogues c
LEFT JOIN tenants t ON t.name = :tenant AND t.live = 1 AND t.deleted_at IS NULL
LEFT JOIN tenant_counts k ON k.tenant_id = t.id

-- @statement definition_tenant
-- @in tenant text
-- @out owner definition_owner
SELECT {definition_owner}
{from_definition_owner}
WHERE c.name = 'types';

-- The same with the definition of that name, the identity that it has if its scope is that, and one object of the type: all that a worker
-- has to know of a tenant that it is asked about for the first time. Columns of what is not there are NULL. type_id: of
-- CustomResourceDefinitions; object: the object's name, '' for none. Each table is asked for a row by all columns of a unique key, so the
-- server looks them up while it optimizes, and needs no plan; an identity without `namespaced` would take it as long again.
-- @group definition_identity id uint null, version text null, kind text null, singular text null, builtin uint null
-- @statement definition_first
-- @in tenant text, type_id uint, name text, group_name text, plural text, namespaced uint, namespace text, object text
-- @out owner definition_owner, name text null, definition_uid bytes null, definition_meta text null, definition_body text null,
--      identity definition_identity, r resource_there
SELECT {definition_owner}, d.name, d.uid AS definition_uid, d.meta AS definition_meta, d.body AS definition_body,
  y.id, y.version, y.kind, y.singular, y.builtin, {resource_there}
{from_definition_owner}
LEFT JOIN resources d ON d.tenant_id = t.id AND d.type_id = :type_id AND d.namespace = '' AND d.name = :name AND d.live = 1
LEFT JOIN types y ON y.group_name = :group_name AND y.plural = :plural AND y.namespaced = :namespaced
LEFT JOIN resources r ON r.tenant_id = t.id AND r.type_id = y.id AND r.namespace = :namespace AND r.name = :object AND r.live = 1
WHERE c.name = 'types';

-- Which of a tenant's definitions: all, or the one of that name.
-- @choice definition_which
-- @case all

-- @case one
AND r.name = :name

-- The definitions of a tenant in order of their names, by which they are then looked up. type_id: of CustomResourceDefinitions.
-- @statement definition_list
-- @in tenant text, type_id uint, name text
-- @out name text, uid bytes, meta text, body text
-- @sorts a tenant has 1,000 definitions at most
SELECT r.name, r.uid, r.meta, r.body
FROM resources r
WHERE r.tenant_id = {id_of_tenant} AND r.type_id = :type_id AND r.namespace = '' AND r.live = 1 {definition_which}
ORDER BY r.name;

-- The tenant with the oldest definition of that name. type_id: of CustomResourceDefinitions.
-- @statement definition_oldest
-- @in type_id uint, name text
-- @out tenant text
SELECT t.name AS tenant
FROM resources r FORCE INDEX (name)
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE r.name = :name AND r.type_id = :type_id AND r.namespace = '' AND r.live = 1
ORDER BY r.id
LIMIT 1;

-- @statement definition_raise_types
-- @in tenant_id uint
UPDATE tenant_counts SET types = types + 1 WHERE tenant_id = :tenant_id;

-- ---- the effect of a change of sharing

-- A page of tenants behind that name, each with its own definition of a name, if it has one. The names come back one after
-- the other in the order of their bytes, so that the next page goes on behind the last.
-- @statement definition_tenants
-- @in after text, limit uint, type_id uint, name text
-- @out tenant_id uint, tenant text, type_policy text, annotations text, name text null, uid bytes null, meta text null,
--      body text null
SELECT t.id AS tenant_id, t.name AS tenant, t.type_policy, {annotations_of_t} AS annotations, r.name, r.uid, r.meta, r.body
FROM (SELECT id, name, type_policy, metadata, object
  FROM tenants
  WHERE live = 1 AND deleted_at IS NULL AND name > :after
  ORDER BY name
  LIMIT :limit) t
LEFT JOIN resources r ON r.tenant_id = t.id AND r.type_id = :type_id AND r.namespace = '' AND r.name = :name AND r.live = 1
ORDER BY t.name;

-- How many resources a tenant has of two types.
-- @statement definition_count_objects
-- @in tenant text, from_type_id uint, to_type_id uint
-- @out n uint
SELECT COUNT(*) AS n
FROM resources r
WHERE r.tenant_id = {id_of_tenant} AND r.type_id IN (:from_type_id, :to_type_id) AND r.live = 1;
