-- Reads, locks, writes and lists tenants.

-- Also a deleted tenant, until it is purged.
-- @statement tenant_get
-- @in name text
-- @out t tenant
SELECT {tenant} FROM {tenant_tables} WHERE t.name = :name AND t.live = 1;

-- ---- locks of writers of a tenant

-- @statement tenant_lock_to_change
-- @in name text
-- @out id uint
SELECT id FROM tenants WHERE name = :name AND live = 1 FOR UPDATE {wait};

-- The time of the last change of the tenant itself; read after the lock was taken.
-- @statement tenant_last_change
-- @in name text
-- @out at time
SELECT GREATEST(t.updated_at, COALESCE(t.deleted_at, t.updated_at),
  COALESCE((SELECT x.at FROM changes x WHERE x.id = t.changed), t.updated_at)) AS at
FROM tenants t
WHERE t.name = :name AND t.live = 1;

-- ---- writing

-- @statement tenant_insert
-- @in name text, uid bytes, tier_id uint, metadata text, etag_required uint, etag bytes, revision uint, now time,
--      object text, type_policy text
INSERT INTO tenants (name, uid, tier_id, metadata, etag_required, etag, revision, created_at, updated_at, object, type_policy)
VALUES (:name, :uid, :tier_id, :metadata, :etag_required, :etag, :revision, :now, :now, :object, :type_policy);

-- @statement tenant_insert_count
-- @in tenant_id uint
INSERT INTO tenant_counts (tenant_id) VALUES (:tenant_id);

-- The next three come behind the change row that records the change, in the same batch: LAST_INSERT_ID() is its id.

-- @statement tenant_number
-- @in id uint
UPDATE tenants SET changed = LAST_INSERT_ID() WHERE id = :id;

-- @statement tenant_update
-- @in id uint, tier_id uint, metadata text, etag_required uint, etag bytes, revision uint, updated_at time, object text,
--      type_policy text
UPDATE tenants
SET tier_id = :tier_id, metadata = :metadata, etag_required = :etag_required, etag = :etag, revision = :revision,
  updated_at = :updated_at, object = :object, type_policy = :type_policy, changed = LAST_INSERT_ID()
WHERE id = :id;

-- Deletes the tenant, recoverably; both times NULL: recovers it.
-- @statement tenant_mark
-- @in id uint, deleted_at time null, purge_at time null
UPDATE tenants SET deleted_at = :deleted_at, purge_at = :purge_at, changed = LAST_INSERT_ID() WHERE id = :id;

-- Reduces a purged tenant to its name, which the change log needs.
-- @statement tenant_bury
-- @in id uint
UPDATE tenants SET live = NULL, metadata = '{}', object = '{}' WHERE id = :id;

-- @statement tenant_delete_count
-- @in tenant_id uint
DELETE FROM tenant_counts WHERE tenant_id = :tenant_id;

-- Traits and resource classes that were hidden while this tenant was deleted, because no other tenant's resource has them
-- (catalogue.h). Few are hidden, so each of those is looked at.
-- @fragment tenant_of_hidden
STRAIGHT_JOIN resources r FORCE INDEX (PRIMARY) ON r.id = x.resource_id AND r.tenant_id = :tenant_id AND r.live IN (1, 2)

-- @statement tenant_show_traits
-- @in tenant_id uint
UPDATE traits k FORCE INDEX (live)
SET k.live = 1
WHERE k.live IS NULL
  AND (SELECT r.id FROM resource_traits x {tenant_of_hidden} WHERE x.trait_id = k.id LIMIT 1) > 0;

-- @statement tenant_show_classes
-- @in tenant_id uint
UPDATE resource_classes k FORCE INDEX (live)
SET k.live = 1
WHERE k.live IS NULL
  AND (SELECT r.id FROM inventories x {tenant_of_hidden} WHERE x.class_id = k.id LIMIT 1) > 0;

-- ---- lists

-- tenants: all without the system space, which is no customer's. system_name: the name of that.
-- @choice tenant_list_of
-- @case tenants
deleted_at IS NULL AND name <> :system_name
-- @case deleted
purge_at > :now
-- @case spaces
deleted_at IS NULL

-- How large the documents of the tenants after marker are, in the order of their names.
-- @statement tenant_list_sizes
-- @in system_name text, now time, marker text, limit uint
-- @out bytes uint
SELECT CAST(LENGTH(metadata) + LENGTH(object) AS UNSIGNED) AS bytes
FROM tenants
WHERE live = 1 AND {tenant_list_of} AND name > :marker
ORDER BY name
LIMIT :limit;

-- A page of tenants after marker. The page is cut before the joins: otherwise the server would sort all tenants, with
-- metadata, for each page.
-- @statement tenant_list
-- @in system_name text, now time, marker text, limit uint
-- @out t tenant
SELECT {tenant}
FROM (SELECT * FROM tenants WHERE live = 1 AND {tenant_list_of} AND name > :marker ORDER BY name LIMIT :limit) t
JOIN tiers i ON i.id = t.tier_id
JOIN tenant_counts c ON c.tenant_id = t.id
ORDER BY t.name;
