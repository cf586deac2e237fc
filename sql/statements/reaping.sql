-- `tenure-manage reap`: purges what is past its retention. Each transaction takes at most some thousand rows, so it holds its
-- locks only for a short time.

-- ---- tenants

-- @statement reap_expired_tenants
-- @in now time
-- @out t tenant
-- @sorts as many as it purges
SELECT {tenant} FROM {tenant_tables} WHERE t.live = 1 AND t.purge_at <= :now ORDER BY t.id;

-- @statement reap_lock_tenant
-- @in id uint
-- @out purge_at time null
SELECT purge_at FROM tenants WHERE id = :id AND live = 1 FOR UPDATE;

-- Purged tenants that still have resources. This looks into an index once for each purged tenant; EXISTS would be turned into
-- a join that begins with all resources.
-- @statement reap_emptied_tenants
-- @out id uint
-- @scans once in a run
SELECT t.id
FROM tenants t
WHERE t.live IS NULL AND (SELECT r.id FROM resources r WHERE r.tenant_id = t.id LIMIT 1) > 0;

-- ---- resources: a page is locked, then all that belongs to its resources is deleted

-- @choice reap_resources_of
-- @case expired
r.purge_at <= :now ORDER BY r.purge_at
-- @case tenant
r.tenant_id = :tenant_id

-- @statement reap_lock_page
-- @in now time, tenant_id uint, limit uint
-- @out id uint
SELECT r.id FROM resources r WHERE {reap_resources_of} LIMIT :limit FOR UPDATE;

-- The tables with rows that belong to a resource.
-- @choice reap_side
-- @case allocations
allocations
-- @case forwards
forwards
-- @case lookup_keys
resource_aliases
-- @case traits
resource_traits
-- @case providers
providers
-- @case inventories
inventories
-- @case aggregates
provider_aggregates
-- @case namespace_deletions
namespace_deletions

-- @statement reap_side_rows
-- @in ids text
DELETE x FROM {ids} STRAIGHT_JOIN {reap_side} x ON x.resource_id = j.id;

-- @statement reap_page
-- @in ids text
DELETE r FROM {ids} STRAIGHT_JOIN resources r ON r.id = j.id;

-- Deletes consumers whose last allocation was deleted.
-- @statement reap_consumers
-- @scans only where allocations were purged, which is rare
DELETE c
FROM consumers c
LEFT JOIN allocations a ON a.consumer_id = c.id
WHERE a.consumer_id IS NULL;

-- What a run would purge, those of the tenants that the same run would purge included.
-- @statement reap_count_resources
-- @in now time
-- @out n uint
-- @scans only a dry run asks
SELECT COUNT(*) AS n
FROM resources r
WHERE r.purge_at <= :now OR r.tenant_id IN (SELECT id FROM tenants WHERE live IS NULL OR purge_at <= :now);

-- ---- rows whose deletion leaves no change row

-- @choice reap_rows
-- @case forwards
forwards WHERE tenant_id IN (SELECT id FROM tenants WHERE live IS NULL)
-- @case moves
moves WHERE state <> 'queued' AND finished_at < :until
-- @case changes
changes WHERE id < :first_kept
-- @case tokens
tokens WHERE LEAST(COALESCE(expires_at, '9999-01-01'), COALESCE(revoked_at, '9999-01-01')) < :until
-- @case tokens_of_purged
tokens WHERE tenant_id IN (SELECT id FROM tenants WHERE live IS NULL)

-- What a run would delete: what {reap_rows} has by then, once each, and the forwards to the resources that it would purge.
-- @choice reap_due
-- @case forwards
forwards
WHERE tenant_id IN (SELECT id FROM tenants WHERE live IS NULL OR purge_at <= :now)
  OR resource_id IN (SELECT id FROM resources
    WHERE purge_at <= :now OR tenant_id IN (SELECT id FROM tenants WHERE live IS NULL OR purge_at <= :now))
-- @case moves
moves WHERE state <> 'queued' AND finished_at < :until
-- @case changes
changes WHERE id < :first_kept
-- @case tokens
tokens
WHERE LEAST(COALESCE(expires_at, '9999-01-01'), COALESCE(revoked_at, '9999-01-01')) < :until
  OR tenant_id IN (SELECT id FROM tenants WHERE live IS NULL OR purge_at <= :now)

-- @statement reap_count_rows
-- @in now time, until time, first_kept uint
-- @out n uint
-- @scans only a dry run asks
SELECT COUNT(*) AS n FROM {reap_due};

-- @statement reap_delete_rows
-- @in until time, first_kept uint, limit uint
-- @scans these tables are small beside the resources, and a run goes through them a few times
DELETE FROM {reap_rows} LIMIT :limit;

-- The id of the first change row that stays; if none stays, the end of the log. The log is shortened from its beginning, never
-- in the middle, whatever the times of its rows: a reader of what follows an id compares it with the oldest id to learn
-- whether all of that is still there.
-- @statement reap_first_kept
-- @in until time
-- @out id uint
-- @scans the rows that go, and one more
SELECT CAST(COALESCE((SELECT c.id FROM changes c FORCE INDEX (PRIMARY) WHERE c.at >= :until ORDER BY c.id LIMIT 1),
  (SELECT MAX(c.id) + 1 FROM changes c), 0) AS UNSIGNED) AS id;

-- ---- rows that nothing refers to any more; they are not counted

-- @statement reap_move_progress
-- @scans a row for each move that is being carried out
DELETE FROM move_progress WHERE move_id NOT IN (SELECT id FROM moves);

-- Hidden traits and classes that no resource uses any more.
-- @statement reap_traits
DELETE k
FROM traits k FORCE INDEX (live)
LEFT JOIN resource_traits x ON x.trait_id = k.id
WHERE k.live IS NULL AND x.trait_id IS NULL;

-- @statement reap_classes
DELETE k
FROM resource_classes k FORCE INDEX (live)
LEFT JOIN inventories x ON x.class_id = k.id
WHERE k.live IS NULL AND x.class_id IS NULL;

-- ---- when it was done

-- Microseconds since 1970 (UTC), in decimal: for those who ask whether somebody reaps, and how often.
-- @statement reap_record
-- @in at bytes
INSERT INTO settings (name, value) VALUES ('reaped_at', :at) ON DUPLICATE KEY UPDATE value = VALUES(value);
