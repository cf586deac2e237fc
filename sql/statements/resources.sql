-- Reads, locks and writes single resources.

-- @fragment id_of_tenant
(SELECT id FROM tenants WHERE name = :tenant AND live = 1)

-- ---- reading

-- A resource r that is looked for at an address, without the columns that the address already has. NULL where there is none.
-- @group resource_there id uint null, data resource_data null
-- @fragment resource_there
r.id, {resource_data}

-- The conditions have every column of both keys, live included, so the server looks up both rows while it optimizes, and needs
-- no plan. A resource with another value of live is left to resource_elsewhere.
-- @statement resource_get
-- @in type_id uint, namespace text, name text, tenant text
-- @out tenant_id uint, tenant_deleted_at time null, tenant_purge_at time null, r resource_there
SELECT t.id AS tenant_id, t.deleted_at AS tenant_deleted_at, t.purge_at AS tenant_purge_at, {resource_there}
FROM tenants t
LEFT JOIN resources r ON r.tenant_id = t.id AND r.type_id = :type_id AND r.namespace = :namespace AND r.name = :name
  AND r.live = 1
WHERE t.name = :tenant AND t.live = 1;

-- Is a cached resource still right? Reads one column each of two rows by their primary keys, for half the cost of reading the
-- resource. resources.changed also changes when the resource moves or is deleted; and a tenant is always deleted before it is
-- purged.
-- @statement resource_still
-- @in id uint, tenant_id uint
-- @out changed uint, tenant_deleted_at time null
SELECT r.changed, t.deleted_at AS tenant_deleted_at FROM resources r, tenants t WHERE r.id = :id AND t.id = :tenant_id;

-- The tenant t of a resource. tenant NULL: it was purged.
-- @group home tenant text null, tenant_deleted_at time null, tenant_purge_at time null
-- @fragment home
t.name AS tenant, t.deleted_at AS tenant_deleted_at, t.purge_at AS tenant_purge_at

-- Behind a resource r: m is NULL, or says into which namespace the move that deleted r has merged it.
-- @fragment merged_of_r
LEFT JOIN merged_namespaces m ON m.resource_id = r.id AND m.deletion = r.deletion

-- What is at an address without a live resource: a forward, or the resource that was deleted there last. One statement, so
-- that a move that commits meanwhile is seen wholly or not at all. merged: the forward leads to a namespace that was merged, so
-- resource_merged_into says where it leads on.
-- @statement resource_elsewhere
-- @in tenant text, type_id uint, namespace text, name text, now time
-- @out forwarded uint, merged uint, home home, r resource
SELECT 1 AS forwarded, m.resource_id IS NOT NULL AS merged, {home}, {resource}
FROM forwards f
JOIN resources r ON r.id = f.resource_id
{merged_of_r}
JOIN tenants t ON t.id = r.tenant_id AND (t.live = 1 OR m.resource_id IS NOT NULL)
WHERE f.tenant_id = {id_of_tenant} AND f.type_id = :type_id AND f.namespace = :namespace AND f.name = :name
  AND (f.expires_at IS NULL OR f.expires_at > :now)
UNION ALL
(SELECT 0, 0, {home}, {resource}
FROM resources r
JOIN tenants t ON t.id = r.tenant_id
WHERE r.tenant_id = {id_of_tenant} AND r.type_id = :type_id AND r.namespace = :namespace AND r.name = :name
ORDER BY r.live DESC, r.changed DESC, r.id DESC
LIMIT 1);

-- The namespace that has by now what was in the namespace of that id: the last one of those that were merged into each other. Each was
-- deleted after the one before, so none comes twice; the bound is for rows that are wrong.
-- @statement resource_merged_into
-- @in id uint
-- @out home home, r resource
-- @sorts the merges of one namespace
WITH RECURSIVE merges (id, step) AS (
  SELECT r.id, CAST(0 AS UNSIGNED) FROM resources r WHERE r.id = :id
  UNION ALL
  SELECT d.id, x.step + 1
  FROM merges x
  STRAIGHT_JOIN resources r ON r.id = x.id
  STRAIGHT_JOIN merged_namespaces m ON m.resource_id = r.id AND m.deletion = r.deletion
  STRAIGHT_JOIN resources d ON d.id = m.into_id
  WHERE x.step < 1000)
SELECT {home}, {resource}
FROM merges x
STRAIGHT_JOIN resources r ON r.id = x.id
LEFT JOIN tenants t ON t.id = r.tenant_id AND t.live = 1
ORDER BY x.step DESC
LIMIT 1;

-- A resource r of any tenant, by its uid or by a lookup key.
-- @choice resource_ident
-- @case uid
r.uid = :uid AND r.type_id = :type_id
-- @case key
r.id = (SELECT a.resource_id FROM resource_aliases a
  WHERE a.type_id = :type_id AND a.kind = :key_kind AND a.value = :key_value AND a.live = 1)

-- @statement resource_find
-- @in type_id uint, uid bytes, key_kind text, key_value text
-- @out tenant text, r resource
SELECT t.name AS tenant, {resource}
FROM resources r
JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE {resource_ident} AND r.live = 1;

-- A tenant t whose deletion was requested, and waits for its finalizers. Its object says so in its last member, the only one
-- at the top whose value is a string (object_to_be_deleted).
-- @fragment tenant_ends
t.object LIKE '%"deletionTimestamp":"%"}'

-- ---- locks of writers: the tenant and the namespace shared, the resource's row exclusive

-- A writer locks the tenant in share mode; a reader of the tenant's changes locks it exclusively. The tier is not locked.
-- @choice tenant_lock
-- @case shared
i.max_resources, t.etag_required
FROM tenants t
JOIN tiers i ON i.id = t.tier_id
WHERE t.name = :tenant AND t.live = 1
LOCK IN SHARE MODE
-- @case exclusive
NULL AS max_resources, t.etag_required
FROM tenants t
WHERE t.name = :tenant AND t.live = 1
FOR UPDATE

-- @statement resource_lock_tenant
-- @in tenant text
-- @out id uint, deleted_at time null, purge_at time null, ends int, max_resources uint null, etag_required uint
SELECT t.id, t.deleted_at, t.purge_at, {tenant_ends} AS ends, {tenant_lock} {wait};

-- live IN (1, 2) and not IS NOT NULL: the latter is a range, whose end the server finds by locking the row after it. Then
-- writers of neighbouring rows would wait for each other. type_id: of namespaces.
-- @statement resource_lock_namespace
-- @in tenant text, type_id uint, name text
-- @out id uint, doomed_at time null
SELECT r.id, r.doomed_at
FROM resources r
WHERE r.tenant_id = {id_of_tenant} AND r.type_id = :type_id AND r.namespace = '' AND r.name = :name AND r.live IN (1, 2)
LOCK IN SHARE MODE {wait};

-- @statement resource_lock
-- @in tenant text, type_id uint, namespace text, name text
-- @out r resource, last_change_at time
SELECT {resource}, {last_change_time} AS last_change_at
FROM resources r
WHERE r.tenant_id = {id_of_tenant} AND r.type_id = :type_id AND r.namespace = :namespace AND r.name = :name
  AND r.live IN (1, 2)
FOR UPDATE {wait};

-- The same for a resource by its uid or a lookup key. A subquery takes no lock, so its result is checked again after the lock.
-- @statement resource_lock_own_tenant
-- @in type_id uint, uid bytes, key_kind text, key_value text
-- @out id uint, deleted_at time null, purge_at time null, etag_required uint, name text
SELECT t.id, t.deleted_at, t.purge_at, t.etag_required, t.name
FROM tenants t
WHERE t.id = (SELECT r.tenant_id FROM resources r WHERE {resource_ident} AND r.live = 1)
LOCK IN SHARE MODE {wait};

-- @statement resource_lock_own
-- @in type_id uint, uid bytes, key_kind text, key_value text
-- @out r resource, last_change_at time
SELECT {resource}, {last_change_time} AS last_change_at
FROM resources r
WHERE {resource_ident} AND r.live = 1
FOR UPDATE {wait};

-- ---- writing

-- @statement resource_insert
-- @in uid bytes, tenant_id uint, type_id uint, namespace text, name text, live uint, locked uint, bytes uint, h0 uint,
--      h1 uint, h2 uint, h3 uint, etag bytes, meta text, body text, now time, root bytes null
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag,
  meta, body, created_at, updated_at, root)
VALUES (:uid, :tenant_id, :type_id, :namespace, :name, :live, :locked, :bytes, 1, 1, :h0, :h1, :h2, :h3, :etag,
  :meta, :body, :now, :now, :root);

-- Runs after its change row, in the same batch.
-- @statement resource_update
-- @in id uint, locked uint, bytes uint, revision uint, edits uint, etag bytes, meta text, body text, updated_at time,
--      root bytes null, generation uint
UPDATE resources
SET locked = :locked, bytes = :bytes, revision = :revision, edits = :edits, etag = :etag, meta = :meta, body = :body,
  updated_at = :updated_at, root = :root, generation = :generation, changed = LAST_INSERT_ID()
WHERE id = :id;

-- Behind its change row, in the same batch: of a resource that this batch has inserted.
-- @statement resource_number
-- @in uid bytes, type_id uint, live uint
UPDATE resources SET changed = LAST_INSERT_ID() WHERE uid = :uid AND type_id = :type_id AND live = :live;

-- Has another tenant's resource of the type that uid?
-- @statement resource_uid_elsewhere
-- @in uid bytes, type_id uint, tenant_id uint
-- @out found uint
SELECT 1 AS found FROM resources WHERE uid = :uid AND type_id = :type_id AND live = 1 AND tenant_id <> :tenant_id;

-- Has a tenant that is past its purge time a resource that is found so? The name stays taken until the tenant is reaped.
-- @statement resource_of_expired
-- @in type_id uint, uid bytes, key_kind text, key_value text, now time
-- @out found uint
SELECT 1 AS found
FROM resources r
JOIN tenants t ON t.id = r.tenant_id AND (t.live IS NULL OR t.purge_at <= :now)
WHERE {resource_ident} AND r.live = 1;

-- @statement forward_delete
-- @in tenant_id uint, type_id uint, namespace text, name text
DELETE FROM forwards WHERE tenant_id = :tenant_id AND type_id = :type_id AND namespace = :namespace AND name = :name;

-- The statement that counts also checks the quota, so two writers at the same time cannot both take the last place.
-- @statement count_up
-- @in tenant_id uint, n uint, most uint
UPDATE tenant_counts SET resources = resources + :n WHERE tenant_id = :tenant_id AND resources + :n <= :most;

-- @statement count_down
-- @in tenant_id uint, n uint
UPDATE tenant_counts SET resources = resources - :n WHERE tenant_id = :tenant_id;
