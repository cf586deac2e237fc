-- Undo: what one request changed, and whether that is still as it left it.

-- Is a resource r as the request left it? Its last change l is then one of the request's. The ids alone do not tell: a large namespace is
-- deleted in several transactions, and another request may change something of it between two of them. last: the id of the request's last
-- change, which decides if l is no longer in the log.
-- @fragment undo_as_left
COALESCE(l.request_id = :request_id, r.changed <= :last)

-- The changes of a request in their order, with what they replaced, the present state of what they changed, and its last change. later_is_own: is
-- that one of the request's? NULL: it is no longer in the log.
-- @statement undo_rows
-- @in request_id bytes, limit uint
-- @out id uint, at time, actor text, verb text, tenant_id uint, from_tenant_id uint null, resource_id uint null, type_id uint null,
--      namespace text null, name text null, uid bytes, fields text null, former_locked uint null, former_meta text null,
--      former_body text null, former_traits text null, owner_id uint null, live uint null, changed uint null, purge_at time null,
--      later_is_own uint null, later_actor text null, later_at time null, later_verb text null, later_fields text null
SELECT c.id, c.at, c.actor, c.verb, c.tenant_id, c.from_tenant_id, c.resource_id, c.type_id, c.namespace, c.name, c.uid, c.fields,
  f.locked AS former_locked, f.meta AS former_meta, f.body AS former_body, f.traits AS former_traits, r.tenant_id AS owner_id, r.live,
  r.changed, r.purge_at, l.request_id = :request_id AS later_is_own, l.actor AS later_actor, l.at AS later_at, l.verb AS later_verb,
  l.fields AS later_fields
FROM changes c FORCE INDEX (request)
LEFT JOIN former_resources f ON f.change_id = c.id
LEFT JOIN resources r ON r.id = c.resource_id
LEFT JOIN changes l ON l.id = r.changed
WHERE c.request_id = :request_id
ORDER BY c.id
LIMIT :limit;

-- The change of a request behind its first than ones, if it made more.
-- @statement undo_beyond
-- @in request_id bytes, than uint
-- @out id uint
SELECT c.id FROM changes c FORCE INDEX (request) WHERE c.request_id = :request_id ORDER BY c.id LIMIT 1 OFFSET :than;

-- What a large request did, in numbers: resources that it moved, deleted and recovered; merged, apart: namespaces among these, which a move
-- merged and its undo takes apart; updated: what it did of a deletion that had to wait (registry/undo/large.c). tenant_id, from_tenant_id and
-- the other ones of each: of moves; owner, other_owner: of all. namespaces: the id of their type. first_resource, last_resource: the range
-- of the ids of what is there after a move. spaces, at_large, namespaced: of each kind of address.
-- @statement undo_did
-- @in request_id bytes, namespaces uint
-- @out n uint, moved uint, deleted uint, recovered uint, merged uint, apart uint, updated uint, of_tenant uint, departed uint, first uint null,
--      last uint null, last_at time null, owner uint null, other_owner uint null, tenant_id uint null, other_tenant_id uint null, from_tenant_id uint null,
--      other_from_tenant_id uint null, first_resource uint null, last_resource uint null, spaces uint, at_large uint, namespaced uint
SELECT COUNT(*) AS n, COUNT(IF(c.verb = 'moved', 1, NULL)) AS moved, COUNT(IF(c.verb = 'deleted', 1, NULL)) AS deleted,
  COUNT(IF(c.verb = 'recovered', 1, NULL)) AS recovered, COUNT(IF(c.verb = 'deleted' AND c.type_id = :namespaces, 1, NULL)) AS merged,
  COUNT(IF(c.verb = 'recovered' AND c.type_id = :namespaces, 1, NULL)) AS apart,
  COUNT(IF(c.verb = 'updated' AND c.fields IN ('["/metadata/deletionTimestamp"]', '["/status/conditions"]'), 1, NULL)) AS updated,
  COUNT(IF(c.resource_id IS NULL, 1, NULL)) AS of_tenant, COUNT(c.from_tenant_id) AS departed, MIN(c.id) AS first, MAX(c.id) AS last, MAX(c.at) AS last_at,
  MIN(c.tenant_id) AS owner, MAX(c.tenant_id) AS other_owner,
  MIN(IF(c.verb = 'moved', c.tenant_id, NULL)) AS tenant_id, MAX(IF(c.verb = 'moved', c.tenant_id, NULL)) AS other_tenant_id,
  MIN(c.from_tenant_id) AS from_tenant_id, MAX(c.from_tenant_id) AS other_from_tenant_id,
  MIN(IF(c.verb = 'deleted', NULL, c.resource_id)) AS first_resource, MAX(IF(c.verb = 'deleted', NULL, c.resource_id)) AS last_resource,
  COUNT(IF(c.type_id = :namespaces, 1, NULL)) AS spaces, COUNT(IF(c.namespace = '' AND c.type_id <> :namespaces, 1, NULL)) AS at_large,
  COUNT(IF(c.namespace <> '', 1, NULL)) AS namespaced
FROM changes c FORCE INDEX (request)
WHERE c.request_id = :request_id;

-- What a large request deleted, or recovered, with all the rest: a namespace or else the root of a tree. namespaces: the id of their type.
-- @choice undo_with_rest
-- @case deleted
c.verb = 'deleted'
-- @case recovered
c.verb = 'recovered'

-- @statement undo_top
-- @in request_id bytes, namespaces uint
-- @out r resource
-- @sorts those, of which there is one
SELECT {resource}
FROM changes c FORCE INDEX (request)
STRAIGHT_JOIN resources r ON r.id = c.resource_id AND (r.type_id = :namespaces OR LOCATE(r.uid, r.root) > 0)
WHERE c.request_id = :request_id AND {undo_with_rest}
ORDER BY c.type_id = :namespaces DESC, c.id
LIMIT 1;

-- How much of what a large request changed is there, in which state, and how much of it is as the request left it. last: its last change.
-- @statement undo_left
-- @in request_id bytes, last uint
-- @out n uint, unchanged uint, changes text
SELECT COUNT(*) AS n, COUNT(IF(r.tenant_id = c.tenant_id AND {undo_as_left}, 1, NULL)) AS unchanged,
  COALESCE(SUM(r.changed), 0) AS changes
FROM changes c FORCE INDEX (request)
STRAIGHT_JOIN resources r ON r.id = c.resource_id
LEFT JOIN changes l ON l.id = r.changed
WHERE c.request_id = :request_id;

-- What a large request asked to delete, and what still waits for that.
-- @statement undo_waiting
-- @in request_id bytes, limit uint
-- @out type_id uint, namespace text, name text
SELECT r.type_id, r.namespace, r.name
FROM changes c FORCE INDEX (request)
STRAIGHT_JOIN resources r ON r.id = c.resource_id AND r.live IS NOT NULL AND r.doomed_at IS NOT NULL
WHERE c.request_id = :request_id AND c.fields = '["/metadata/deletionTimestamp"]'
ORDER BY c.id
LIMIT :limit;

-- The content of what a large request recovered that it did not recover: what was added since. first, last: its first and last change.
-- @statement undo_added
-- @in request_id bytes, content content_of, first uint, last uint, limit uint
-- @out type_id uint, namespace text, name text
SELECT r.type_id, r.namespace, r.name
FROM {content_part} AND (r.changed < :first OR r.changed > :last)
  AND NOT EXISTS (SELECT 1 FROM changes c WHERE c.resource_id = r.id AND c.request_id = :request_id)
LIMIT :limit;

-- A namespace that a request changed something in, and that it did not change itself.
-- @statement undo_loose
-- @in request_id bytes, namespaces uint
-- @out name text
-- @sorts the namespaces of one request
(SELECT c.namespace AS name FROM changes c FORCE INDEX (request) WHERE c.request_id = :request_id AND c.namespace <> '')
EXCEPT
(SELECT s.name FROM changes s FORCE INDEX (request) WHERE s.request_id = :request_id AND s.type_id = :namespaces)
LIMIT 1;

-- The namespaces that a move deleted, as it merged them, and that are no longer as it left them (lost), or are past their purge time
-- (expired), or whose address another one has now (taken). last: the last change of the move.
-- @fragment undo_merged_lost
(r.id IS NULL OR r.tenant_id <> c.tenant_id OR NOT {undo_as_left})
-- @statement undo_merged
-- @in request_id bytes, namespaces uint, last uint, now time, limit uint
-- @out name text null, lost uint, expired uint, taken uint null
SELECT c.name, {undo_merged_lost} AS lost, COALESCE(r.live IS NULL AND r.purge_at <= :now, 0) AS expired, n.id AS taken
FROM changes c FORCE INDEX (request)
LEFT JOIN resources r ON r.id = c.resource_id
LEFT JOIN changes l ON l.id = r.changed
LEFT JOIN resources n ON n.tenant_id = c.tenant_id AND n.type_id = :namespaces AND n.namespace = '' AND n.name = c.name AND n.live IS NOT NULL
  AND n.id <> c.resource_id
WHERE c.request_id = :request_id AND c.verb = 'deleted'
  AND ({undo_merged_lost} OR (r.live IS NULL AND r.purge_at <= :now) OR n.id IS NOT NULL)
ORDER BY c.id
LIMIT :limit;

-- What a large request changed and is no longer as it left it, each once, with its last change. last: the request's last change.
-- @statement undo_changed_since
-- @in request_id bytes, last uint, limit uint
-- @out type_id uint null, namespace text null, name text null, tenant_id uint, owner_id uint null, changed uint null, later_actor text null,
--      later_at time null, later_verb text null
SELECT c.type_id, c.namespace, c.name, c.tenant_id, r.tenant_id AS owner_id, r.changed, l.actor AS later_actor, l.at AS later_at,
  l.verb AS later_verb
FROM changes c FORCE INDEX (request)
LEFT JOIN resources r ON r.id = c.resource_id
LEFT JOIN changes l ON l.id = r.changed
WHERE c.request_id = :request_id AND (r.id IS NULL OR r.tenant_id <> c.tenant_id OR NOT {undo_as_left})
  AND (c.verb <> 'updated' OR NOT EXISTS (SELECT 1
    FROM changes x
    WHERE x.resource_id = c.resource_id AND x.id > c.id AND x.request_id = :request_id))
ORDER BY c.id
LIMIT :limit;

-- Queues the undo of a large request, for the mover. resource_id: NULL for that of the move that it takes back, if that one is still recorded.
-- @statement undo_queue
-- @in uid bytes, source_id uint, dest_id uint, resource_id uint null, undone bytes, if_match text, actor text, resources uint, now time
INSERT INTO moves (uid, source_id, dest_id, resource_id, state, if_match, words, actor, resources, created_at, finished_at)
SELECT :uid, :source_id, :dest_id, COALESCE(:resource_id, m.resource_id), 'queued', :if_match, 2, :actor, :resources, :now, NULL
FROM (SELECT 1) one
LEFT JOIN moves m ON m.uid = :undone;

-- Whose resources a request moved to whom, of the first that it moved, by their names of today; NULL: purged. moved_all: it was recorded
-- as a move of all that a tenant had.
-- @statement undo_tenants
-- @in request_id bytes
-- @out source text null, dest text null, moved_all uint
SELECT s.name AS source, d.name AS dest, m.id IS NOT NULL AND m.resource_id IS NULL AS moved_all
FROM changes c FORCE INDEX (request)
LEFT JOIN moves m ON m.uid = c.request_id
LEFT JOIN tenants s ON s.id = c.from_tenant_id AND s.live = 1
LEFT JOIN tenants d ON d.id = c.tenant_id AND d.live = 1
WHERE c.request_id = :request_id AND c.verb = 'moved'
ORDER BY c.id
LIMIT 1;

-- The same of a recorded move of which the log has no row "moved": all that it moved were namespaces without content, which it merged; or it
-- took such a move back.
-- @statement undo_merging_move
-- @in request_id bytes
-- @out source_id uint, dest_id uint, source text null, dest text null, moved_all uint
SELECT m.source_id, m.dest_id, s.name AS source, d.name AS dest, m.resource_id IS NULL AS moved_all
FROM moves m
LEFT JOIN tenants s ON s.id = m.source_id AND s.live = 1
LEFT JOIN tenants d ON d.id = m.dest_id AND d.live = 1
WHERE m.uid = :request_id AND m.state = 'done' AND m.source_id <> m.dest_id
  AND NOT EXISTS (SELECT 1 FROM changes c FORCE INDEX (request) WHERE c.request_id = m.uid AND c.verb = 'moved');

-- The tenants whose providers' inventories or allocations a request changed. Nothing else is taken back in several tenants, except moves.
-- @statement undo_placement_tenants
-- @in request_id bytes
-- @out name text
-- @sorts those, of which there are few
SELECT t.name
FROM (SELECT DISTINCT c.tenant_id AS id
  FROM changes c FORCE INDEX (request)
  WHERE c.request_id = :request_id AND c.fields IN ('["/inventories"]', '["/allocations"]')) o
STRAIGHT_JOIN tenants t ON t.id = o.id AND t.live = 1
ORDER BY t.id;

-- Records the undo of a move as a move in the other direction, if the move was recorded.
-- @statement undo_record_move
-- @in uid bytes, actor text, now time, undone bytes
INSERT INTO moves (uid, source_id, dest_id, resource_id, state, if_match, words, actor, resources, created_at, finished_at)
SELECT :uid, m.dest_id, m.source_id, m.resource_id, 'done', NULL, m.words, :actor, m.resources, :now, :now
FROM moves m
WHERE m.uid = :undone;

-- Those of the resources that are shown one by one, as they are now.
-- @statement undo_shown
-- @in request_id bytes, limit uint
-- @out change_id uint, r resource
SELECT c.id AS change_id, {resource}
FROM changes c FORCE INDEX (request)
STRAIGHT_JOIN resources r ON r.id = c.resource_id
WHERE c.request_id = :request_id
ORDER BY c.id
LIMIT :limit;

-- What an update of a tenant replaced. tier: NULL if it was deleted since.
-- @statement undo_former_tenant
-- @in change_id uint
-- @out tier text null, metadata text, object text, etag_required uint
SELECT i.name AS tier, f.metadata, f.object, f.etag_required
FROM former_tenants f
LEFT JOIN tiers i ON i.id = f.tier_id
WHERE f.change_id = :change_id;

-- The first change in a tenant behind one.
-- @statement undo_later
-- @in tenant_id uint, after uint
-- @out actor text, at time, verb text
SELECT c.actor, c.at, c.verb FROM changes c FORCE INDEX (tenant) WHERE c.tenant_id = :tenant_id AND c.id > :after ORDER BY c.id LIMIT 1;

-- The last change of a resource behind one of the request's, by another request, that changed more than what is allocated of it.
-- @statement undo_later_but_claims
-- @in request_id bytes, resource_id uint, after uint
-- @out actor text, at time, verb text
-- @scans the changes of the resource since: mostly allocations
SELECT c.actor, c.at, c.verb
FROM changes c FORCE INDEX (resource)
WHERE c.resource_id = :resource_id AND c.id > :after AND c.request_id <> :request_id AND (c.fields IS NULL OR c.fields <> '["/allocations"]')
ORDER BY c.id DESC
LIMIT 1;

-- How many changes a request has made so far.
-- @statement undo_count
-- @in request_id bytes
-- @out n uint
SELECT COUNT(*) AS n FROM changes WHERE request_id = :request_id;

-- The resource to recover next: what a request deleted and is still deleted, from the last one on, unless it is past its purge time. What was
-- deleted together with another resource stands before it, and is recovered together with it.
-- @statement undo_next_deleted
-- @in request_id bytes, below uint, now time
-- @out id uint, type_id uint, namespace text, name text, uid bytes, deletion bytes null
SELECT c.id, r.type_id, r.namespace, r.name, r.uid, r.deletion
FROM changes c FORCE INDEX (request)
STRAIGHT_JOIN resources r ON r.id = c.resource_id AND r.live IS NULL AND r.purge_at > :now
WHERE c.request_id = :request_id AND c.verb = 'deleted' AND c.id < :below
ORDER BY c.id DESC
LIMIT 1;

-- The resource to delete next, behind one change, of those of a kind that a request recovered and that are still there: 0: namespaces, 1: roots of
-- trees, 2: what is left. namespaces: the id of their type.
-- @statement undo_next_recovered
-- @in request_id bytes, namespaces uint, after uint, kind uint
-- @out id uint, type_id uint, namespace text, name text
SELECT c.id, r.type_id, r.namespace, r.name
FROM changes c FORCE INDEX (request)
STRAIGHT_JOIN resources r ON r.id = c.resource_id AND r.live IS NOT NULL
WHERE c.request_id = :request_id AND c.verb = 'recovered' AND c.id > :after
  AND IF(r.type_id = :namespaces, 0, IF(LOCATE(r.uid, r.root) > 0, 1, 2)) = :kind
ORDER BY c.id
LIMIT 1;
