-- Namespaces that end: what their content waits for.

-- The content r of a namespace, of the types y.
-- @fragment content_of_ending
types y
JOIN resources r ON r.type_id = y.id
WHERE y.namespaced AND r.tenant_id = :tenant_id AND r.namespace = :namespace AND r.live = 1

-- What may have finalizers.
-- @statement namespace_lock_finalizers
-- @in tenant_id uint, namespace text
-- @out r resource
SELECT {resource} FROM {content_of_ending} AND r.meta LIKE '%"finalizers"%' FOR UPDATE;

-- How many resources are left, by type.
-- @statement namespace_count_left
-- @in tenant_id uint, namespace text
-- @out plural text, group_name text, n uint
-- @sorts what is left in one namespace, by type
SELECT y.plural, y.group_name, COUNT(*) AS n
FROM {content_of_ending}
GROUP BY y.id, y.plural, y.group_name
ORDER BY y.id
LOCK IN SHARE MODE;

-- @statement namespace_metas
-- @in tenant_id uint, namespace text, limit uint
-- @out id uint, meta text
-- @sorts what is left in one namespace
SELECT r.id, r.meta FROM {content_of_ending} ORDER BY r.id LIMIT :limit;

-- A namespace, if it waits. type_id: that of namespaces.
-- @statement namespace_lock_ending
-- @in tenant_id uint, type_id uint, name text
-- @out r resource
SELECT {resource}
FROM resources r
WHERE r.tenant_id = :tenant_id AND r.type_id = :type_id AND r.namespace = '' AND r.name = :name AND r.live = 1
  AND r.doomed_at IS NOT NULL
FOR UPDATE;

-- It waits, and its conditions tell for what. Behind its change row, in the same batch.
-- @statement namespace_update_ending
-- @in id uint, doomed_at time, revision uint, edits uint, etag bytes, updated_at time, body text, bytes uint
UPDATE resources
SET doomed_at = :doomed_at, revision = :revision, edits = :edits, etag = :etag, updated_at = :updated_at, body = :body,
  bytes = :bytes, changed = LAST_INSERT_ID()
WHERE id = :id;
