-- Deletes, and recovers exactly what one deletion took: a resource alone, a namespace with its content, or the root of a tree
-- with all that is below.

-- ---- deleting

-- What is deleted together with a resource: with a namespace, all in it that does not wait for finalizers of its own; with the
-- root of a tree, all below. Resources in a namespace are of the namespaced types y. They are looked up in each type's range
-- of an index or, if the tenant has few resources, among all of them.
-- @group content_of tenant_id uint, namespace text, root bytes, top_id uint
-- @fragment content_of_namespace
types y JOIN resources r ON r.type_id = y.id
-- @fragment is_in_namespace
y.namespaced AND r.tenant_id = :content.tenant_id AND r.namespace = :content.namespace AND r.live = 1 AND r.doomed_at IS NULL
-- @fragment is_in_tree
r.root = :content.root AND r.id <> :content.top_id AND r.live = 1

-- Locking reads, because they see what was committed up to now, and other reads only what was committed when the transaction
-- began to read. The lock of a namespace's row keeps other writers out of it, so its content is only locked in share mode.
-- Writers in a tree don't lock its root, so each resource of a tree is locked for update.
-- @choice content
-- @case namespace
{content_of_namespace} WHERE {is_in_namespace} LOCK IN SHARE MODE
-- @case tree
resources r WHERE {is_in_tree} FOR UPDATE

-- The same where all of it is locked already, or its writers are kept out: a part of it, which is deleted before the next one.
-- @choice content_part
-- @case namespace
{content_of_namespace} WHERE {is_in_namespace}
-- @case tree
resources r WHERE {is_in_tree}

-- Counts the resources below the root of a tree.
-- @statement deletion_sum
-- @in content content_of
-- @out n uint, locked uint, last_change_at time null
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(r.locked), 0) AS UNSIGNED) AS locked, MAX({last_change_time}) AS last_change_at
FROM resources r WHERE {is_in_tree} FOR UPDATE;

-- Runs after their change rows, in the same batch.
-- @fragment marked_deleted
r.live = NULL, r.deleted_at = :deleted_at, r.purge_at = :purge_at, r.deletion = :request_id, r.changed = {last_change}
-- @choice content_marked
-- @case namespace
{content_of_namespace} SET {marked_deleted} WHERE {is_in_namespace}
-- @case tree
resources r SET {marked_deleted} WHERE {is_in_tree}

-- @statement deletion_mark_content
-- @in content content_of, deleted_at time, purge_at time, request_id bytes
UPDATE {content_marked};

-- Marks a part of the content: what the statement before, in the same batch, has written change rows of.
-- @statement deletion_mark_part
-- @in deleted_at time, purge_at time, request_id bytes
UPDATE changes c FORCE INDEX (request)
STRAIGHT_JOIN resources r ON r.id = c.resource_id AND r.live = 1
SET r.live = NULL, r.deleted_at = :deleted_at, r.purge_at = :purge_at, r.deletion = :request_id, r.changed = c.id
WHERE c.request_id = :request_id AND c.id >= LAST_INSERT_ID();

-- Marks a piece of a large namespace as deleted. Runs after the change rows, in the same batch.
-- @statement deletion_mark_piece
-- @in ids text, deleted_at time, purge_at time, request_id bytes
UPDATE {ids} STRAIGHT_JOIN resources r ON r.id = j.id SET {marked_deleted};

-- @statement deletion_free_keys_of_piece
-- @in ids text
UPDATE {ids} STRAIGHT_JOIN resource_aliases a ON a.resource_id = j.id SET a.live = NULL;

-- Marks one resource as deleted. Runs after its change row, in the same batch.
-- @statement deletion_mark
-- @in id uint, deleted_at time, purge_at time, request_id bytes
UPDATE resources
SET live = NULL, deleted_at = :deleted_at, purge_at = :purge_at, deletion = :request_id, changed = LAST_INSERT_ID()
WHERE id = :id;

-- Marks a resource whose deletion waits for its finalizers. Runs after its change row, in the same batch.
-- @statement deletion_wait
-- @in id uint, doomed_at time, revision uint, edits uint, etag bytes, updated_at time, generation uint
UPDATE resources
SET doomed_at = :doomed_at, revision = :revision, edits = :edits, etag = :etag, updated_at = :updated_at,
  generation = :generation, changed = LAST_INSERT_ID()
WHERE id = :id;

-- ---- what one deletion took

-- All resources that a deletion deleted: the resource itself, the content of a namespace, the tree below a root. deletion: the
-- id of the request. namespace: "/", which no namespace is called, if it was no namespace. root: NULL if it was no root.
-- @group deletion deletion bytes, id uint, namespace text, root bytes null
-- @fragment of_deletion
r.deletion = :of.deletion AND (r.id = :of.id OR r.namespace = :of.namespace OR r.root = :of.root)

-- @statement deletion_free_lookup_keys
-- @in of deletion
UPDATE resources r JOIN resource_aliases a ON a.resource_id = r.id SET a.live = NULL WHERE {of_deletion};

-- ---- recovering

-- The resource that was deleted last at an address, or the one with that uid; or the one that a certain request deleted, since a uid may
-- have been given anew.
-- @choice deleted
-- @case last

-- @case uid
AND r.uid = :uid
-- @case by_request
AND r.uid = :uid AND r.deletion = :deletion

-- Deletions at an address follow each other under locks, so the ids of their changes are in the order of their commits.
-- @statement deletion_lock
-- @in tenant text, type_id uint, namespace text, name text, now time, uid bytes, deletion bytes
-- @out deletion bytes null, last_change_at time, r resource
-- @sorts what was deleted at one address
SELECT r.deletion, {last_change_time} AS last_change_at, {resource}
FROM resources r
WHERE r.tenant_id = {id_of_tenant} AND r.type_id = :type_id AND r.namespace = :namespace AND r.name = :name
  AND r.live IS NULL AND r.purge_at > :now {deleted}
ORDER BY r.changed DESC, r.id DESC
LIMIT 1
FOR UPDATE;

-- The root of a tree, live or deleted.
-- @statement deletion_lock_top
-- @in uid bytes, type_id uint
-- @out type_id uint, namespace text, name text, tenant_id uint, live uint null
SELECT type_id, namespace, name, tenant_id, live
FROM resources
WHERE uid = :uid AND type_id = :type_id
ORDER BY live DESC
LIMIT 1
LOCK IN SHARE MODE;

-- @statement deletion_count
-- @in of deletion
-- @out n uint
SELECT COUNT(*) AS n FROM resources r WHERE {of_deletion};

-- @statement deletion_claim_lookup_keys
-- @in of deletion
UPDATE resources r JOIN resource_aliases a ON a.resource_id = r.id SET a.live = 1 WHERE {of_deletion};

-- The resources of the deletion whose lookup key, or uid, or address another resource has by now.
-- @statement deletion_taken_key
-- @in of deletion, limit uint
-- @out type_id uint, namespace text, name text, uid bytes, kind text, value text
SELECT r.type_id, r.namespace, r.name, r.uid, a.kind, a.value
FROM resources r
JOIN resource_aliases a ON a.resource_id = r.id
JOIN resource_aliases o ON o.type_id = a.type_id AND o.kind = a.kind AND o.value = a.value AND o.live = 1
WHERE {of_deletion}
LIMIT :limit;

-- @statement deletion_taken_uid
-- @in of deletion, limit uint
-- @out type_id uint, namespace text, name text, uid bytes
SELECT r.type_id, r.namespace, r.name, r.uid
FROM resources r
JOIN resources o ON o.uid = r.uid AND o.type_id = r.type_id AND o.live = 1
WHERE {of_deletion}
LIMIT :limit;

-- @statement deletion_taken_name
-- @in of deletion, limit uint
-- @out type_id uint, namespace text, name text
SELECT r.type_id, r.namespace, r.name
FROM resources r FORCE INDEX (deletion)
STRAIGHT_JOIN resources o FORCE INDEX (address) ON o.tenant_id = r.tenant_id AND o.type_id = r.type_id AND o.namespace = r.namespace AND o.name = r.name
  AND o.live IS NOT NULL
WHERE {of_deletion}
LIMIT :limit;

-- The resources of the deletion with a reference (registry/type/rules.h) to a resource that is neither live nor recovered
-- together with it. Where the targets are locked, in share mode, none of them is deleted before COMMIT. Keys of the kinds
-- "name" and "free" are no references, even if their text looks like one.
-- @statement deletion_points_nowhere
-- @in of deletion, limit uint
-- @out type_id uint, namespace text, name text, kind text, target text
SELECT r.type_id, r.namespace, r.name, a.kind, LEFT(a.value, 36) AS target
FROM resources r
JOIN resource_aliases a ON a.resource_id = r.id AND a.kind NOT IN ('name', 'free') AND a.value = CONCAT(LEFT(a.value, 36), ' ', r.name)
LEFT JOIN resources o ON o.uid = UNHEX(REPLACE(LEFT(a.value, 36), '-', ''))
  AND (o.live IN (1, 2) OR o.deletion = r.deletion)
WHERE {of_deletion} AND o.id IS NULL
LIMIT :limit
{move_read};

-- @statement deletion_retire_forwards
-- @in of deletion
DELETE f
FROM resources r
JOIN forwards f ON f.tenant_id = r.tenant_id AND f.type_id = r.type_id AND f.namespace = r.namespace AND f.name = r.name
WHERE {of_deletion};

-- Makes hidden traits, or classes, live that the resources of the deletion use.
-- @statement deletion_show_traits
-- @in of deletion
UPDATE resources r
STRAIGHT_JOIN resource_traits x ON x.resource_id = r.id
STRAIGHT_JOIN traits k ON k.id = x.trait_id AND k.live IS NULL
SET k.live = 1
WHERE {of_deletion};

-- @statement deletion_show_classes
-- @in of deletion
UPDATE resources r
STRAIGHT_JOIN inventories x ON x.resource_id = r.id
STRAIGHT_JOIN resource_classes k ON k.id = x.class_id AND k.live IS NULL
SET k.live = 1
WHERE {of_deletion};

-- Recovers in two steps, with the change rows between them. Taking the names waits for a transaction that is deleting the
-- resources which have the names now, so the change rows of that deletion come first.
-- @statement deletion_take_names
-- @in of deletion
UPDATE resources r
SET r.live = 1, r.deleted_at = NULL, r.purge_at = NULL, r.doomed_at = NULL
WHERE {of_deletion};

-- A range of them, by their ids: those above after, up to upto.
-- @group deletion_range of deletion, after uint, upto uint
-- @fragment in_range_of_deletion
r.deletion = :part.of.deletion AND r.id > :part.after AND r.id <= :part.upto
  AND (r.id = :part.of.id OR r.namespace = :part.of.namespace OR r.root = :part.of.root)

-- Every :every-th id of what a deletion took, by which it is split into ranges.
-- @statement deletion_bounds
-- @in of deletion, every uint
-- @out id uint
-- @scans what one deletion took, once
-- @sorts likewise
SELECT CAST(id AS UNSIGNED) AS id
FROM (SELECT r.id, ROW_NUMBER() OVER (ORDER BY r.id) AS n FROM resources r WHERE {of_deletion}) numbered
WHERE n % :every = 0
ORDER BY id;

-- Runs after their change rows.
-- @statement deletion_undone
-- @in of deletion
UPDATE resources r SET r.deletion = NULL, r.changed = {last_change} WHERE {of_deletion};
