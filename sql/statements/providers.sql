-- Single resource providers; provider_lists.sql has their lists.

-- The id of the live provider of a uid, for statements on tables that have a provider's rows. type_id: that of providers.
-- @fragment id_of_provider
(SELECT r.id FROM resources r WHERE r.uid = :uid AND r.type_id = :type_id AND r.live = 1)

-- @statement provider_get
-- @in uid bytes, type_id uint
-- @out tenant text, provider_generation uint, r resource
SELECT t.name AS tenant, CAST(COALESCE(p.generation, 0) AS UNSIGNED) AS provider_generation, {resource}
FROM resources r
JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
LEFT JOIN providers p ON p.resource_id = r.id
WHERE r.uid = :uid AND r.type_id = :type_id AND r.live = 1;

-- The providers with these ids, whose rows are locked.
-- @statement providers_locked
-- @in ids text
-- @out tenant text, provider_generation uint, r resource
SELECT t.name AS tenant, CAST(COALESCE(p.generation, 0) AS UNSIGNED) AS provider_generation, {resource}
FROM {ids}
STRAIGHT_JOIN resources r ON r.id = j.id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id
LEFT JOIN providers p ON p.resource_id = r.id;

-- @statement provider_generation
-- @in resource_id uint
-- @out generation uint
SELECT generation FROM providers WHERE resource_id = :resource_id;

-- The same by its uid; asked together with the locks of the provider, whose id only they tell.
-- @statement provider_generation_by_uid
-- @in uid bytes, type_id uint
-- @out generation uint
SELECT p.generation
FROM resources r
JOIN providers p ON p.resource_id = r.id
WHERE r.uid = :uid AND r.type_id = :type_id AND r.live = 1;

-- Raises the generation; a provider without a row has generation 0.
-- @statement provider_raise
-- @in resource_id uint
INSERT INTO providers (resource_id, generation) VALUES (:resource_id, 1)
ON DUPLICATE KEY UPDATE generation = generation + 1;

-- Runs after its change row, in the same batch.
-- @statement provider_touch
-- @in id uint, revision uint, edits uint, etag bytes, updated_at time
UPDATE resources
SET revision = :revision, edits = :edits, etag = :etag, updated_at = :updated_at, changed = LAST_INSERT_ID()
WHERE id = :id;

-- ---- trees

-- @statement provider_parent
-- @in uid bytes, type_id uint
-- @out root bytes null, tenant_id uint, tenant text
SELECT r.root, r.tenant_id, t.name AS tenant
FROM resources r
JOIN tenants t ON t.id = r.tenant_id
WHERE r.uid = :uid AND r.type_id = :type_id AND r.live = 1
LOCK IN SHARE MODE;

-- All providers of a tree, locked: a writer that changes the form of a tree locks all of it. parent: the parent's uid, a
-- blank, and the provider's own uid.
-- @statement provider_tree
-- @in root bytes
-- @out id uint, uid bytes, parent text null
SELECT r.id, r.uid, a.value AS parent
FROM resources r
LEFT JOIN resource_aliases a ON a.resource_id = r.id AND a.kind = 'parent'
WHERE r.root = :root AND r.live = 1
ORDER BY r.id
FOR UPDATE;

-- @statement provider_set_roots
-- @in root bytes, ids text
UPDATE {ids}
STRAIGHT_JOIN resources r ON r.id = j.id
SET r.root = :root;

-- @statement provider_allocation
-- @in resource_id uint
-- @out found uint
SELECT 1 AS found FROM allocations WHERE resource_id = :resource_id LIMIT 1;
