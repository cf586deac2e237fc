-- Moves: what a move takes, what is in its way, and the statements that carry it out.

-- Which resources r a move takes: all of a tenant's, a single one, a namespace with its content, a tree (which always
-- belongs to one tenant), or those of a tenant whose last change is one of (changed_after, changed_upto]. The ranges are of ids:
-- (after, upto].
-- @group move_range tenant_id uint, resource_id uint, space text, root bytes, after uint, upto uint, changed_after uint,
--      changed_upto uint
-- @fragment move_all
r.tenant_id = :set.tenant_id AND r.live = 1
-- @fragment move_one
r.id = :set.resource_id AND r.live = 1
-- @fragment move_space
r.tenant_id = :set.tenant_id AND r.live = 1 AND (r.id = :set.resource_id OR r.namespace = :set.space)
-- @fragment move_tree
r.root = :set.root AND r.live = 1
-- @fragment move_changed
r.tenant_id = :set.tenant_id AND r.live = 1 AND r.changed > :set.changed_after AND r.changed <= :set.changed_upto
AND r.id > :set.after AND r.id <= :set.upto

-- @choice move_set
-- @case all
{move_all}
-- @case one
{move_one}
-- @case space
{move_space}
-- @case tree
{move_tree}
-- @case changed
{move_changed}
-- @case all_range
{move_all} AND r.id > :set.after AND r.id <= :set.upto
-- @case space_range
{move_space} AND r.id > :set.after AND r.id <= :set.upto
-- @case tree_range
{move_tree} AND r.id > :set.after AND r.id <= :set.upto

-- ---- tenants

-- @statement move_lock_tenants
-- @in source text, dest text
-- @out id uint
SELECT id FROM tenants WHERE name IN (:source, :dest) AND live = 1 ORDER BY id FOR UPDATE {wait};

-- @statement move_tenants
-- @in source text, dest text
-- @out t tenant
SELECT {tenant} FROM {tenant_tables} WHERE t.name IN (:source, :dest) AND t.live = 1;

-- ---- the sum of what moves

-- All of a tenant's resources are read from the index that has all needed columns. MariaDB (10.11) has to be told: when it
-- runs a prepared statement again after another one has read other columns of the table, it assumes that the index lacks some.
-- If the tenant has a large part of all resources, it would then scan the whole table.
-- @choice move_summed
-- @case all
resources r FORCE INDEX (state) WHERE {move_all}
-- @case one
resources r WHERE {move_one}
-- @case space
resources r WHERE {move_space}
-- @case tree
resources r WHERE {move_tree}
-- @case changed
resources r WHERE {move_changed}

-- types: one bit for the id of each type; bit 63 stands for all ids from 63 on.
-- @statement move_sum
-- @in set move_range
-- @out n uint, bytes uint, locked uint, h0 text, h1 text, h2 text, h3 text, types uint
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(r.bytes), 0) AS UNSIGNED) AS bytes,
  CAST(COALESCE(SUM(r.locked), 0) AS UNSIGNED) AS locked, COALESCE(SUM(r.h0 * r.revision), 0) AS h0,
  COALESCE(SUM(r.h1 * r.revision), 0) AS h1, COALESCE(SUM(r.h2 * r.revision), 0) AS h2,
  COALESCE(SUM(r.h3 * r.revision), 0) AS h3, BIT_OR(1 << LEAST(r.type_id, 63)) AS types
FROM {move_summed};

-- The time of the last change of any of them. A change that was purged from the log is so old that it does not matter.
-- @choice move_dated
-- @case all
resources r FORCE INDEX (page) STRAIGHT_JOIN changes x ON x.id = r.changed WHERE {move_all}
-- @case one
resources r STRAIGHT_JOIN changes x ON x.id = r.changed WHERE {move_one}
-- @case space
resources r STRAIGHT_JOIN changes x ON x.id = r.changed WHERE {move_space}
-- @case tree
resources r STRAIGHT_JOIN changes x ON x.id = r.changed WHERE {move_tree}
-- @case changed
resources r STRAIGHT_JOIN changes x ON x.id = r.changed WHERE {move_changed}

-- @statement move_last_change
-- @in set move_range
-- @out at time null
SELECT MAX(x.at) AS at FROM {move_dated};

-- Uses the smallest index with these columns, in its order. This takes a third of the time of move_sum, and less than grouping
-- move_sum by type would add, with or without ROLLUP.
-- @statement move_count_types
-- @in tenant_id uint
-- @out n uint, type_id uint
SELECT COUNT(*) AS n, r.type_id
FROM resources r FORCE INDEX (owner)
WHERE r.tenant_id = :tenant_id AND r.live = 1
GROUP BY r.type_id;

-- The same of one type; up to a limit, for types that may have few.
-- @statement move_count_type
-- @in tenant_id uint, type_id uint
-- @out n uint
SELECT COUNT(*) AS n
FROM resources r FORCE INDEX (owner)
WHERE r.tenant_id = :tenant_id AND r.type_id = :type_id AND r.live = 1;

-- @statement move_count_few
-- @in tenant_id uint, type_id uint, limit uint
-- @out n uint
SELECT COUNT(*) AS n
FROM (SELECT 1
  FROM resources r FORCE INDEX (owner)
  WHERE r.tenant_id = :tenant_id AND r.type_id = :type_id AND r.live = 1
  LIMIT :limit) few;

-- Does the tenant have live resources? By a row, not by tenant_counts.
-- @statement move_any
-- @in tenant_id uint
-- @out id uint
SELECT r.id FROM resources r FORCE INDEX (state) WHERE r.tenant_id = :tenant_id AND r.live = 1 LIMIT 1;

-- Is a namespace of the set being emptied, by a deletion that was accepted? From these, which are few.
-- @statement move_any_emptied
-- @in set move_range
-- @out id uint
SELECT r.id FROM namespace_deletions e STRAIGHT_JOIN resources r ON r.id = e.resource_id WHERE {move_set} LIMIT 1;

-- @statement move_items
-- @in set move_range, limit uint
-- @out uid bytes, type_id uint, namespace text, name text, revision uint
-- @sorts what one move takes, of which there are few where it is listed
SELECT r.uid, r.type_id, r.namespace, r.name, r.revision
FROM resources r
WHERE {move_set}
ORDER BY r.namespace, r.type_id, r.name
LIMIT :limit;

-- ---- what is in the way

-- A resource d in the destination has the address of r. Namespaces are merged instead.
-- @fragment move_taken
JOIN resources d ON d.tenant_id = :dest_id AND d.type_id = r.type_id AND d.namespace = r.namespace AND d.name = r.name
AND d.live IS NOT NULL

-- ending: what is merged into a namespace that is being deleted would be deleted with it.
-- @choice move_obstacle
-- @case taken
{move_taken} WHERE r.type_id <> :namespaces
-- @case ending
{move_taken} WHERE r.type_id = :namespaces AND d.doomed_at IS NOT NULL
-- @case emptied
JOIN namespace_deletions e ON e.resource_id = r.id WHERE r.type_id = :namespaces
-- @case locked
WHERE r.locked
-- @case of_type
WHERE r.type_id = :type_id

-- What is in the way.
-- @group move_address type_id uint, namespace text, name text

-- namespaces: the id of the type of namespaces. type_id: a type whose resources cannot move.
-- @statement move_obstacles
-- @in dest_id uint, namespaces uint, type_id uint, set move_range, limit uint
-- @out address move_address
-- @sorts as many as are in the way
SELECT r.type_id, r.namespace, r.name
FROM resources r {move_obstacle} AND {move_set}
ORDER BY r.namespace, r.type_id, r.name
LIMIT :limit;

-- Namespaces of the set that would be merged into the destination's, and so be deleted at once, although their deletion waits for finalizers or
-- may have to. Those that are being deleted in the background are move_obstacle's. A page of them, behind a name.
-- @statement move_merged_waiting
-- @in dest_id uint, namespaces uint, set move_range, after text, limit uint
-- @out r resource
-- @sorts as many as are in the way
SELECT {resource}
FROM resources r {move_taken}
WHERE r.type_id = :namespaces AND r.name > :after
  AND IF(r.doomed_at IS NULL, {may_have_finalizers} OR r.body LIKE '%"finalizers"%',
    NOT EXISTS (SELECT 1 FROM namespace_deletions e WHERE e.resource_id = r.id))
  AND {move_set}
ORDER BY r.name
LIMIT :limit;

-- A page of a tenant's names but those of namespaces, in the order of the index: from a name on, or behind it.
-- @choice move_names_from
-- @case at
r.name >= :name
-- @case behind
r.name > :name

-- @statement move_names
-- @in tenant_id uint, namespaces uint, type_id uint, namespace text, name text, limit uint
-- @out type_id uint, namespace text, name text
SELECT r.type_id, r.namespace, r.name
FROM resources r FORCE INDEX (address)
WHERE r.tenant_id = :tenant_id AND r.live IS NOT NULL AND r.type_id <> :namespaces AND (r.type_id > :type_id
  OR (r.type_id = :type_id AND (r.namespace > :namespace OR (r.namespace = :namespace AND {move_names_from}))))
ORDER BY r.type_id, r.namespace, r.name
LIMIT :limit;

-- The destination's namespaces that those of the set are merged into.
-- @statement move_merged
-- @in dest_id uint, namespaces uint, set move_range
-- @out n uint, h0 text, h1 text, h2 text, h3 text
SELECT COUNT(*) AS n, COALESCE(SUM(d.h0), 0) AS h0, COALESCE(SUM(d.h1), 0) AS h1, COALESCE(SUM(d.h2), 0) AS h2,
  COALESCE(SUM(d.h3), 0) AS h3
FROM resources r {move_taken}
WHERE r.type_id = :namespaces AND {move_set};

-- @statement move_types
-- @in set move_range
-- @out type_id uint
SELECT DISTINCT r.type_id FROM resources r WHERE {move_set};

-- The CustomResourceDefinitions that move; type_id: of CustomResourceDefinitions.
-- @statement move_definitions
-- @in type_id uint, set move_range
-- @out id uint, name text, bytes uint, group_name text null, names text null, meta text, range text null
-- @sorts a tenant has 1,000 definitions at most
SELECT r.id, r.name, r.bytes, JSON_VALUE(r.body, '$.spec.group') AS group_name, JSON_QUERY(r.body, '$.spec.names') AS names, r.meta,
  JSON_QUERY(r.body, '$.spec.applicableRange') AS `range`
FROM resources r
WHERE r.type_id = :type_id AND {move_set}
ORDER BY r.name;

-- A namespace of the source or the destination; one that only waits for its finalizers has a time of deletion.
-- @statement move_namespace
-- @in tenant_id uint, type_id uint, name text
-- @out doomed_at time null
SELECT doomed_at FROM resources
WHERE tenant_id = :tenant_id AND type_id = :type_id AND namespace = '' AND name = :name AND live IS NOT NULL;

-- A resource x of the set, of kind changed, as one of its own tables says.
-- @fragment move_of_changed
x.live = 1 AND x.changed > :set.changed_after AND x.changed <= :set.changed_upto

-- The resources of the set, of kind changed, whose namespace neither the destination has nor the set; nor did the same changes delete it in
-- the destination, where it then comes back before the move. Each of the three by the index of addresses.
-- @statement move_missing_namespace
-- @in dest_id uint, namespaces uint, set move_range, limit uint
-- @out address move_address
-- @sorts as many as are in the way
SELECT r.type_id, r.namespace, r.name
FROM resources r
WHERE {move_set} AND r.namespace <> ''
  AND NOT EXISTS (SELECT 1
    FROM resources n
    WHERE n.tenant_id = :dest_id AND n.type_id = :namespaces AND n.namespace = '' AND n.name = r.namespace AND n.live IS NOT NULL
      AND n.doomed_at IS NULL)
  AND NOT EXISTS (SELECT 1
    FROM resources x
    WHERE x.tenant_id = :set.tenant_id AND x.type_id = :namespaces AND x.namespace = '' AND x.name = r.namespace AND {move_of_changed})
  AND NOT EXISTS (SELECT 1
    FROM resources g
    WHERE g.tenant_id = :dest_id AND g.type_id = :namespaces AND g.namespace = '' AND g.name = r.namespace AND g.live IS NULL
      AND g.changed > :set.changed_after AND g.changed <= :set.changed_upto)
ORDER BY r.namespace, r.type_id, r.name
LIMIT :limit;

-- What would be left behind: resources s of the source that the set (of kind changed) does not have, in one of its namespaces, or in a
-- tree with one of its resources. Each is looked up by its namespace and its tree.
-- @statement move_left_behind
-- @in namespaces uint, set move_range, limit uint
-- @out address move_address
-- @sorts as many as are in the way
SELECT s.type_id, s.namespace, s.name
FROM resources s
WHERE s.tenant_id = :set.tenant_id AND s.live = 1 AND (s.changed <= :set.changed_after OR s.changed > :set.changed_upto)
  AND ((s.namespace <> '' AND EXISTS (SELECT 1
    FROM resources x
    WHERE x.tenant_id = :set.tenant_id AND x.type_id = :namespaces AND x.namespace = '' AND x.name = s.namespace AND {move_of_changed}))
  OR (s.root IS NOT NULL AND EXISTS (SELECT 1 FROM resources x WHERE x.root = s.root AND {move_of_changed})))
ORDER BY s.namespace, s.type_id, s.name
LIMIT :limit;

-- The resources of the set, of kind changed, that their namespace waits for, and that would leave it: nothing would end it then.
-- @statement move_terminating_namespace
-- @in namespaces uint, set move_range, limit uint
-- @out address move_address
-- @sorts as many as are in the way
SELECT r.type_id, r.namespace, r.name
FROM resources r
WHERE {move_changed} AND r.namespace <> '' AND r.doomed_at IS NOT NULL
  AND EXISTS (SELECT 1
    FROM resources x
    WHERE x.tenant_id = :set.tenant_id AND x.type_id = :namespaces AND x.namespace = '' AND x.name = r.namespace AND x.live = 1
      AND x.doomed_at IS NOT NULL AND NOT ({move_of_changed}))
ORDER BY r.namespace, r.type_id, r.name
LIMIT :limit;

-- The providers of the set that consumers of the project use. It begins with the consumers: most tenants are no project and
-- have none.
-- @statement move_in_use
-- @in project text, set move_range, limit uint
-- @out type_id uint, namespace text, name text, consumer bytes
-- @sorts what one project uses
SELECT DISTINCT r.type_id, r.namespace, r.name, c.uid AS consumer
FROM consumers c
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id
STRAIGHT_JOIN resources r ON r.id = a.resource_id
WHERE c.project = :project AND {move_set}
ORDER BY r.type_id, r.name, c.uid
LIMIT :limit;

-- @statement move_top
-- @in uid bytes, type_id uint
-- @out type_id uint, namespace text, name text
SELECT type_id, namespace, name FROM resources WHERE uid = :uid AND type_id = :type_id AND live = 1;

-- ---- carrying it out

-- Deletes the forwards at the new addresses.
-- @statement move_retire_forwards
-- @in dest_id uint, set move_range
DELETE f
FROM forwards f
JOIN resources r ON r.type_id = f.type_id AND r.namespace = f.namespace AND r.name = f.name
WHERE f.tenant_id = :dest_id AND {move_set};

-- @fragment forward_anew
ON DUPLICATE KEY UPDATE resource_id = VALUES(resource_id), moved_at = VALUES(moved_at), request_id = VALUES(request_id),
  expires_at = NULL
-- @statement move_forward
-- @in request_id bytes, now time, set move_range
INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at, request_id)
SELECT r.tenant_id, r.type_id, r.namespace, r.name, r.id, :now, :request_id
FROM resources r
WHERE {move_set}
{forward_anew};

-- Runs after their change rows, in the same batch.
-- @statement move_resources
-- @in dest_id uint, set move_range
UPDATE resources r
SET r.tenant_id = :dest_id, r.revision = r.revision + 1, r.moves = r.moves + 1, r.changed = {last_change}
WHERE {move_set};

-- A namespace that exists in the destination is merged into that one: the source's own is deleted, recoverable by its uid, and
-- a forward leads from its address to the other. What led to the source's own before leads on by merged_namespaces.
-- @fragment move_merges_into
JOIN resources d ON d.tenant_id = :dest_id AND d.type_id = r.type_id AND d.namespace = '' AND d.name = r.name
AND d.live IS NOT NULL

-- @statement move_forward_merged
-- @in request_id bytes, now time, dest_id uint, namespaces uint, set move_range
INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at, request_id)
SELECT r.tenant_id, r.type_id, r.namespace, r.name, d.id, :now, :request_id
FROM resources r {move_merges_into}
WHERE r.type_id = :namespaces AND {move_set}
{forward_anew};

-- @statement move_note_merged
-- @in request_id bytes, dest_id uint, namespaces uint, set move_range
REPLACE INTO merged_namespaces (resource_id, into_id, deletion)
SELECT r.id, d.id, :request_id
FROM resources r {move_merges_into}
WHERE r.type_id = :namespaces AND {move_set};

-- @statement move_delete_merged
-- @in request_id bytes, now time, purge_at time, dest_id uint, namespaces uint, set move_range
UPDATE resources r {move_merges_into}
SET r.live = NULL, r.deleted_at = :now, r.purge_at = :purge_at, r.deletion = :request_id, r.changed = {last_change}
WHERE r.type_id = :namespaces AND {move_set};

-- Every :every-th id of the set, by which it is split into ranges.
-- @statement move_bounds
-- @in set move_range, every uint
-- @out id uint
-- @scans what one move takes, once
-- @sorts likewise
SELECT CAST(id AS UNSIGNED) AS id
FROM (SELECT r.id, ROW_NUMBER() OVER (ORDER BY r.id) AS n FROM resources r WHERE {move_set}) numbered
WHERE n % :every = 0
ORDER BY id;

-- ---- the record of a move

-- @statement move_insert
-- @in uid bytes, source_id uint, dest_id uint, resource_id uint null, state text, if_match text null, words uint,
--      actor text, resources uint, created_at time, finished_at time null
INSERT INTO moves (uid, source_id, dest_id, resource_id, state, if_match, words, actor, resources, created_at, finished_at)
VALUES (:uid, :source_id, :dest_id, :resource_id, :state, :if_match, :words, :actor, :resources, :created_at,
  :finished_at);

-- @choice move_read
-- @case plain

-- @case locking
LOCK IN SHARE MODE

-- @statement move_recorded
-- @in uid bytes
-- @out found uint
SELECT 1 AS found FROM moves WHERE uid = :uid {move_read};

-- @group move_columns id uint, uid bytes, state text, source text, dest text, resources uint, moved uint null, outcome text,
--      detail text, actor text, created_at time, finished_at time null, type_id uint null, namespace text null, name text null,
--      if_match text null, is_there uint, dest_is_there uint
-- @fragment move_columns
m.id, m.uid, m.state, s.name AS source, d.name AS dest, m.resources, p.moved, m.outcome, m.detail, m.actor, m.created_at,
m.finished_at, r.type_id, r.namespace, r.name, m.if_match, IF(r.live IS NOT NULL AND r.tenant_id = m.dest_id, 1, 0) AS is_there,
IF(d.live IS NOT NULL, 1, 0) AS dest_is_there
-- @fragment move_joins
STRAIGHT_JOIN tenants s ON s.id = m.source_id
STRAIGHT_JOIN tenants d ON d.id = m.dest_id
LEFT JOIN move_progress p ON p.move_id = m.id
LEFT JOIN resources r ON r.id = m.resource_id

-- @statement move_status
-- @in uid bytes, source text
-- @out m move_columns
SELECT {move_columns}
FROM moves m
{move_joins}
WHERE m.uid = :uid AND s.name = :source AND s.live = 1;

-- The moves from and to a tenant, the latest first, each side by its index.
-- @statement move_list
-- @in tenant_id uint, below uint, limit uint
-- @out m move_columns
-- @sorts two pages
SELECT {move_columns}
FROM ((SELECT x.id FROM moves x FORCE INDEX (source) WHERE x.source_id = :tenant_id AND x.id < :below ORDER BY x.id DESC LIMIT :limit)
  UNION
  (SELECT y.id FROM moves y FORCE INDEX (dest) WHERE y.dest_id = :tenant_id AND y.id < :below ORDER BY y.id DESC LIMIT :limit)) i
STRAIGHT_JOIN moves m ON m.id = i.id
{move_joins}
ORDER BY m.id DESC
LIMIT :limit;

-- ---- moves in the background

-- @statement mover_waiting
-- @in after uint, limit uint
-- @out id uint, uid bytes
SELECT id, uid FROM moves WHERE state = 'queued' AND id > :after ORDER BY id LIMIT :limit;

-- The mover that carries out the move has locked its row; other movers find no row.
-- @statement mover_claim
-- @in id uint
-- @out id uint
SELECT id FROM moves WHERE id = :id AND state = 'queued' FOR UPDATE SKIP LOCKED;

-- @statement mover_order
-- @in id uint
-- @out source text, dest text, resource_id uint null, if_match text null, actor text, source_id uint, dest_id uint, resources uint
SELECT s.name AS source, d.name AS dest, m.resource_id, m.if_match, m.actor, m.source_id, m.dest_id, m.resources
FROM moves m
JOIN tenants s ON s.id = m.source_id
JOIN tenants d ON d.id = m.dest_id
WHERE m.id = :id;

-- @statement mover_finish
-- @in id uint, state text, resources uint, outcome text, detail text, now time
UPDATE moves
SET state = :state, resources = :resources, outcome = :outcome, detail = :detail, finished_at = :now
WHERE id = :id;

-- For a restored database: moves that wait there may have been carried out since, or not be wanted any more.
-- @statement mover_give_up
-- @in detail text, now time
-- @scans as many as wait
UPDATE moves SET state = 'failed', outcome = 'conflict', detail = :detail, finished_at = :now WHERE state = 'queued';

-- On a connection of its own: the move's transaction shows nothing before it ends.
-- @statement mover_progress
-- @in id uint, moved uint, now time
INSERT INTO move_progress (move_id, moved, updated_at) VALUES (:id, :moved, :now)
ON DUPLICATE KEY UPDATE moved = VALUES(moved), updated_at = VALUES(updated_at);

-- The move waits again: nobody carries it out.
-- @statement mover_forget_progress
-- @in id uint
DELETE FROM move_progress WHERE move_id = :id;

-- What waits for a mover: for monitoring. begun: moves that a mover carries out, or did when it was killed.
-- @statement mover_counts
-- @out queued uint, begun uint, oldest time null, namespaces uint
-- @scans as many as wait
SELECT (SELECT COUNT(*) FROM moves WHERE state = 'queued') AS queued,
  (SELECT COUNT(*) FROM moves m JOIN move_progress p ON p.move_id = m.id WHERE m.state = 'queued') AS begun,
  (SELECT MIN(created_at) FROM moves WHERE state = 'queued') AS oldest,
  (SELECT COUNT(*) FROM namespace_deletions) AS namespaces;
