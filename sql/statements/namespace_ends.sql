-- Namespaces that are being deleted, and whose content has finalizers.

-- The content r of a namespace, of the types y.
-- @fragment content_of_ending
types y
JOIN resources r ON r.type_id = y.id
WHERE y.namespaced AND r.tenant_id = :tenant_id AND r.namespace = :namespace AND r.live = 1

-- Whether a resource r may have finalizers. The text may also be the value of an annotation, so the caller parses meta.
-- @fragment may_have_finalizers
r.meta LIKE '%"finalizers"%'

-- @statement namespace_lock_finalizers
-- @in tenant_id uint, namespace text
-- @out r resource
SELECT {resource} FROM {content_of_ending} AND r.doomed_at IS NULL AND {may_have_finalizers} FOR UPDATE;

-- Does anything in it wait for its finalizers already?
-- @statement namespace_any_waiting
-- @in tenant_id uint, namespace text
-- @out id uint
SELECT r.id FROM {content_of_ending} AND r.doomed_at IS NOT NULL LIMIT 1;

-- A table j of the resources that are to wait for their finalizers. Its parameter is a JSON array of their ids and new etags
-- in hex.
-- @fragment waiting
JSON_TABLE(:waiting, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$[0]', etag CHAR(128) CHARACTER SET ascii PATH '$[1]')) j

-- Marks these resources as being deleted. Runs after their change rows, in the same batch.
-- @statement namespace_mark_waiting
-- @in waiting text, doomed_at time
UPDATE {waiting}
STRAIGHT_JOIN resources r ON r.id = j.id
SET r.doomed_at = :doomed_at, r.revision = r.revision + 1, r.edits = r.edits + 1, r.generation = r.generation + 1,
  r.etag = UNHEX(j.etag), r.updated_at = :doomed_at, r.changed = {last_change};

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

-- What at most :limit resources that may have finalizers have as such, a JSON array.
-- @statement namespace_finalizers
-- @in tenant_id uint, namespace text, limit uint
-- @out finalizers text null
-- @sorts what is left in one namespace
SELECT JSON_EXTRACT(r.meta, '$.finalizers') AS finalizers FROM {content_of_ending} AND {may_have_finalizers} ORDER BY r.id LIMIT :limit;

-- Locks a namespace that waits for its content, unless it is emptied in pieces. type_id: the id of type "namespaces".
-- @statement namespace_lock_ending
-- @in tenant_id uint, type_id uint, name text
-- @out r resource
SELECT {resource}
FROM resources r
WHERE r.tenant_id = :tenant_id AND r.type_id = :type_id AND r.namespace = '' AND r.name = :name AND r.live = 1
  AND r.doomed_at IS NOT NULL
  AND (SELECT e.resource_id FROM namespace_deletions e WHERE e.resource_id = r.id) IS NULL
FOR UPDATE;

-- Marks the namespace, with conditions that say what it waits for. Runs after its change row, in the same batch.
-- @statement namespace_update_ending
-- @in id uint, doomed_at time, revision uint, edits uint, etag bytes, updated_at time, body text, bytes uint
UPDATE resources
SET doomed_at = :doomed_at, revision = :revision, edits = :edits, etag = :etag, updated_at = :updated_at, body = :body,
  bytes = :bytes, changed = LAST_INSERT_ID()
WHERE id = :id;

-- ---- large namespaces: emptied in pieces, each in a transaction of its own

-- Of at most :most resources that the deletion of a namespace has to delete or mark: their number, the bytes of those that may
-- have finalizers, how many are locked, and the time of their last change. It needs no locking reads, because the caller has
-- locked the namespace's row, so no resource in it is created, changed or deleted.
-- @statement namespace_size
-- @in content content_of, most uint
-- @out n uint, waiting_bytes uint, locked uint, last_change_at time null
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(c.bytes), 0) AS UNSIGNED) AS waiting_bytes,
  CAST(COALESCE(SUM(c.locked), 0) AS UNSIGNED) AS locked, MAX(c.last_change_at) AS last_change_at
FROM (SELECT IF({may_have_finalizers}, r.bytes, 0) AS bytes, r.locked, {last_change_time} AS last_change_at
  FROM {content_of_namespace} WHERE {is_in_namespace} LIMIT :most) c;

-- @statement namespace_any_locked
-- @in content content_of
-- @out id uint
SELECT r.id FROM {content_of_namespace} WHERE {is_in_namespace} AND r.locked LIMIT 1;

-- If there is a row already, it is of an earlier deletion, which a release without this table has finished. It is overwritten.
-- @statement namespace_deletion_insert
-- @in resource_id uint, deletion bytes, actor text, purge_at time
INSERT INTO namespace_deletions (resource_id, deletion, actor, purge_at)
VALUES (:resource_id, :deletion, :actor, :purge_at)
ON DUPLICATE KEY UPDATE deletion = VALUES(deletion), actor = VALUES(actor), purge_at = VALUES(purge_at), type_id = 0, name = '';

-- @statement namespace_deletion_find
-- @in resource_id uint
-- @out resource_id uint
SELECT resource_id FROM namespace_deletions WHERE resource_id = :resource_id;

-- The large deletions to continue with, of tenants that are not deleted. Those after the id :after come first, so that each of
-- them gets its turn.
-- @statement namespace_deletions_waiting
-- @in after uint
-- @out resource_id uint, deletion bytes, actor text
-- @scans as many as are being emptied
-- @sorts likewise
SELECT e.resource_id, e.deletion, e.actor
FROM namespace_deletions e
LEFT JOIN resources r ON r.id = e.resource_id
LEFT JOIN tenants t ON t.id = r.tenant_id
WHERE t.deleted_at IS NULL
ORDER BY e.resource_id <= :after, e.resource_id
LIMIT 20;

-- The process that deletes a piece locks the row; SKIP LOCKED makes other processes find none. The uid is read by a subquery,
-- because a join would lock the resource's row, too.
-- @statement namespace_deletion_claim
-- @in resource_id uint
-- @out deletion bytes, purge_at time, type_id uint, name text, uid bytes null
SELECT e.deletion, e.purge_at, e.type_id, e.name, (SELECT r.uid FROM resources r WHERE r.id = e.resource_id) AS uid
FROM namespace_deletions e
WHERE e.resource_id = :resource_id
FOR UPDATE SKIP LOCKED;

-- The next type that the tenant has resources of.
-- @statement namespace_next_type
-- @in tenant_id uint, after uint
-- @out type_id uint
SELECT r.type_id FROM resources r FORCE INDEX (state)
WHERE r.tenant_id = :tenant_id AND r.live = 1 AND r.type_id > :after
ORDER BY r.type_id
LIMIT 1;

-- Locks the next resources of a type in the namespace, in the order of their names.
-- @statement namespace_piece
-- @in tenant_id uint, type_id uint, namespace text, after text, limit uint
-- @out id uint, name text, bytes uint, may_wait uint, last_change_at time
SELECT r.id, r.name, r.bytes, CAST({may_have_finalizers} AS UNSIGNED) AS may_wait, {last_change_time} AS last_change_at
FROM resources r FORCE INDEX (address)
WHERE r.tenant_id = :tenant_id AND r.type_id = :type_id AND r.namespace = :namespace AND r.name > :after AND r.live = 1
  AND r.doomed_at IS NULL
ORDER BY r.name
LIMIT :limit
FOR UPDATE;

-- @statement namespace_piece_rows
-- @in ids text
-- @out r resource
SELECT {resource} FROM {ids} STRAIGHT_JOIN resources r ON r.id = j.id;

-- @statement namespace_deletion_go_on
-- @in resource_id uint, type_id uint, name text
UPDATE namespace_deletions SET type_id = :type_id, name = :name WHERE resource_id = :resource_id;

-- @statement namespace_deletion_end
-- @in resource_id uint
DELETE FROM namespace_deletions WHERE resource_id = :resource_id;

-- Removes the row if the namespace was deleted or recovered meanwhile. It stays if only the tenant was deleted.
-- @statement namespace_deletion_drop
-- @in resource_id uint
DELETE e
FROM namespace_deletions e
LEFT JOIN resources r ON r.id = e.resource_id AND r.live = 1 AND r.doomed_at IS NOT NULL
WHERE e.resource_id = :resource_id AND r.id IS NULL;
