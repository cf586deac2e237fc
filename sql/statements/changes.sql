-- The change log: one row for every change, committed with it. registry/log/change.c alone writes it, by these statements; each
-- begins with the same words (CHANGE_INSERT in registry/log/change.h) and fills the same columns.

-- @fragment change_columns
request_id, at, actor, verb, tenant_id, from_tenant_id, resource_id, uid, type_id, namespace, name, revision, etag_before,
etag_after, fields, moves, selectable_before, bytes_before, bytes_after
-- The request, the time and the author of a change.
-- @fragment change_by
:request_id, :now, :actor
-- The columns about the resource r in each of its changes.
-- @fragment change_of_r
r.id, r.uid, r.type_id, r.namespace, r.name

-- What r counts for in its tenant's usage, in bytes; 0: it is not counted.
-- @fragment counted_bytes
IF(r.live = 1, r.bytes, 0)

-- The resource of one change: of that id (NULL: a tenant has changed), or the one that the statement before, in the same
-- batch, has inserted.
-- @choice change_of
-- @case known
:resource_id
-- @case inserted
LAST_INSERT_ID()

-- Did a request's transaction commit? Locking: it waits for one that is still about to commit or to be rolled back.
-- @statement change_find
-- @in request_id bytes
-- @out found uint
SELECT 1 AS found FROM changes WHERE request_id = :request_id LIMIT 1 LOCK IN SHARE MODE;

-- One change.
-- @statement change_insert
-- @in request_id bytes, now time, actor text, verb text, tenant_id uint, resource_id uint null, uid bytes, type_id uint null,
--      namespace text null, name text null, revision uint, etag_before bytes null, etag_after bytes null, fields text null,
--      moves uint, selectable_before text null, bytes_before uint null, bytes_after uint null
INSERT INTO changes ({change_columns})
VALUES ({change_by}, :verb, :tenant_id, NULL, {change_of}, :uid, :type_id, :namespace, :name, :revision, :etag_before,
  :etag_after, :fields, :moves, :selectable_before, :bytes_before, :bytes_after);

-- ---- changes of all resources of a set

-- @fragment change_deleted
SELECT {change_by}, 'deleted', r.tenant_id, NULL, {change_of_r}, r.revision, r.etag, NULL, NULL, r.moves, NULL,
  {counted_bytes}, 0

-- The resources that are deleted together with another one.
-- @statement change_insert_deleted
-- @in request_id bytes, now time, actor text, content content_of
INSERT INTO changes ({change_columns})
{change_deleted}
FROM {content};

-- The same in parts.
-- @statement change_insert_deleted_part
-- @in request_id bytes, now time, actor text, content content_of, limit uint
INSERT INTO changes ({change_columns})
{change_deleted}
FROM {content_part}
LIMIT :limit;

-- A piece of a large namespace.
-- @statement change_insert_deleted_piece
-- @in request_id bytes, now time, actor text, ids text
INSERT INTO changes ({change_columns})
{change_deleted}
FROM {ids} STRAIGHT_JOIN resources r ON r.id = j.id;

-- What waits for its finalizers from now on.
-- @statement change_insert_waiting
-- @in request_id bytes, now time, actor text, waiting text
INSERT INTO changes ({change_columns})
SELECT {change_by}, 'updated', r.tenant_id, NULL, {change_of_r}, r.revision + 1, r.etag, UNHEX(j.etag),
  '["/metadata/deletionTimestamp"]', r.moves, '', {counted_bytes}, {counted_bytes}
FROM {waiting} STRAIGHT_JOIN resources r ON r.id = j.id;

-- @statement change_insert_recovered
-- @in request_id bytes, now time, actor text, part deletion_range
INSERT INTO changes ({change_columns})
SELECT {change_by}, 'recovered', r.tenant_id, NULL, {change_of_r}, r.revision, NULL, r.etag, NULL, r.moves, NULL, 0,
  {counted_bytes}
FROM resources r FORCE INDEX (deletion)
WHERE {in_range_of_deletion};

-- @statement change_insert_moved
-- @in request_id bytes, now time, actor text, dest_id uint, set move_range
INSERT INTO changes ({change_columns})
SELECT {change_by}, 'moved', :dest_id, r.tenant_id, {change_of_r}, r.revision + 1, r.etag, r.etag, NULL, r.moves + 1, NULL,
  {counted_bytes}, {counted_bytes}
FROM resources r
WHERE {move_set};

-- The namespaces that a move merges into those of the destination.
-- @statement change_insert_merged
-- @in request_id bytes, now time, actor text, dest_id uint, namespaces uint, set move_range
INSERT INTO changes ({change_columns})
{change_deleted}
FROM resources r {move_merges_into}
WHERE r.type_id = :namespaces AND {move_set};

-- Resources that the same transaction has inserted.
-- @statement change_insert_created
-- @in request_id bytes, now time, actor text, ids text
INSERT INTO changes ({change_columns})
SELECT {change_by}, 'created', r.tenant_id, NULL, {change_of_r}, r.revision, NULL, r.etag, NULL, r.moves, NULL, 0,
  {counted_bytes}
FROM {ids}
STRAIGHT_JOIN resources r ON r.id = j.id;

-- Providers whose allocations have changed.
-- @statement change_insert_allocated
-- @in request_id bytes, now time, actor text, ids text
INSERT INTO changes ({change_columns})
SELECT {change_by}, 'updated', r.tenant_id, NULL, {change_of_r}, r.revision + 1, r.etag, r.etag, '["/allocations"]', r.moves, '',
  {counted_bytes}, {counted_bytes}
FROM {ids}
STRAIGHT_JOIN resources r ON r.id = j.id;

-- Deleted resources that are being purged, and what a purged tenant had: neither was counted any more.
-- @statement change_insert_purged
-- @in request_id bytes, now time, actor text, ids text
INSERT INTO changes ({change_columns})
SELECT {change_by}, 'purged', r.tenant_id, NULL, {change_of_r}, r.revision, r.etag, NULL, NULL, r.moves, NULL, 0, 0
FROM {ids}
STRAIGHT_JOIN resources r ON r.id = j.id;
