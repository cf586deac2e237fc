-- `tenure-manage reap`: purges what is past its retention. Each transaction takes at most some thousand rows, so it holds its
-- locks only for a short time. What it looks at grows with what it purges, never with the whole. It can be stopped between two
-- transactions: what is left is found again by the next run.

-- ---- tenants: first a purged tenant's name becomes free, then what it had is deleted in pages. It keeps its purge_at until it has
-- nothing more.

-- @statement reap_expired_tenants
-- @in now time, limit uint
-- @out t tenant
-- @sorts as many as it purges
SELECT {tenant} FROM {tenant_tables} WHERE t.live = 1 AND t.purge_at <= :now ORDER BY t.purge_at LIMIT :limit;

-- @statement reap_count_tenants
-- @in now time
-- @out n uint
SELECT COUNT(*) AS n FROM tenants t FORCE INDEX (purge_at) WHERE t.live = 1 AND t.purge_at <= :now;

-- @statement reap_lock_tenant
-- @in id uint
-- @out purge_at time null
SELECT purge_at FROM tenants WHERE id = :id AND live = 1 FOR UPDATE;

-- @statement reap_purged_tenants
-- @in now time, limit uint
-- @out id uint
SELECT t.id FROM tenants t FORCE INDEX (purge_at) WHERE t.live IS NULL AND t.purge_at <= :now ORDER BY t.purge_at LIMIT :limit;

-- @choice reap_of_tenant
-- @case forwards
forwards
-- @case tokens
tokens

-- @statement reap_rows_of_tenant
-- @in tenant_id uint, limit uint
DELETE FROM {reap_of_tenant} WHERE tenant_id = :tenant_id LIMIT :limit;

-- The tenant has nothing more.
-- @statement reap_tenant_emptied
-- @in id uint
UPDATE tenants SET purge_at = NULL WHERE id = :id AND live IS NULL;

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

-- The consumers that have allocations of these resources.
-- @statement reap_consumers_of
-- @in ids text
-- @out id uint
-- @sorts each consumer is named once
SELECT DISTINCT a.consumer_id AS id FROM {ids} STRAIGHT_JOIN allocations a ON a.resource_id = j.id;

-- Deletes those of these consumers whose last allocation was deleted.
-- @statement reap_consumers
-- @in ids text
DELETE c
FROM {ids}
STRAIGHT_JOIN consumers c ON c.id = j.id
LEFT JOIN allocations a ON a.consumer_id = c.id
WHERE a.consumer_id IS NULL;

-- What a run would purge, those of the tenants that the same run would purge included.
-- @statement reap_count_resources
-- @in now time
-- @out n uint
SELECT (SELECT COUNT(*) FROM resources r WHERE r.purge_at <= :now)
  + (SELECT COUNT(*)
    FROM tenants t FORCE INDEX (purge_at)
    STRAIGHT_JOIN resources r FORCE INDEX (owner) ON r.tenant_id = t.id
    WHERE t.purge_at <= :now AND (r.purge_at IS NULL OR r.purge_at > :now)) AS n;

-- ---- rows whose deletion leaves no change row: a page is read without locks, then those of it that are due are deleted by their keys

-- Moves that are over, in the order in which they were asked for. A move ends after it was asked for: behind the first one that was
-- asked for at :until or later, none is due.
-- @statement reap_page_of_moves
-- @in after uint, until time, limit uint
-- @out id uint, is_due uint, is_younger uint
SELECT id, COALESCE(state <> 'queued' AND finished_at < :until, FALSE) AS is_due, created_at >= :until AS is_younger
FROM moves
WHERE id > :after
ORDER BY id
LIMIT :limit;

-- @statement reap_moves
-- @in ids text
DELETE m FROM {ids} STRAIGHT_JOIN moves m ON m.id = j.id;

-- The log is shortened from its beginning, never in the middle, whatever the times of its rows: a reader of what follows an id
-- compares it with the oldest id to learn whether all of that is still there.
-- @statement reap_page_of_changes
-- @in after uint, until time, limit uint
-- @out id uint, is_due uint
SELECT c.id, c.at < :until AS is_due FROM changes c FORCE INDEX (PRIMARY) WHERE c.id > :after ORDER BY c.id LIMIT :limit;

-- @statement reap_changes
-- @in after uint, upto uint
DELETE FROM changes WHERE id > :after AND id <= :upto;

-- Tokens that ended before :until, each by its index.
-- @statement reap_tokens
-- @in until time, limit uint
DELETE FROM tokens WHERE expires_at < :until OR revoked_at < :until LIMIT :limit;

-- What a dry run counts: rows of tenants and resources that a run would purge first.
-- @choice reap_due
-- @case forwards
forwards f
WHERE f.resource_id IN (SELECT r.id FROM resources r WHERE r.purge_at <= :now)
  OR f.resource_id IN (SELECT r.id FROM tenants t JOIN resources r ON r.tenant_id = t.id WHERE t.purge_at <= :now)
  OR f.tenant_id IN (SELECT t.id FROM tenants t WHERE t.purge_at <= :now)
-- @case tokens
tokens k
WHERE k.expires_at < :until OR k.revoked_at < :until
  OR k.tenant_id IN (SELECT t.id FROM tenants t WHERE t.purge_at <= :now)

-- @statement reap_count_rows
-- @in now time, until time
-- @out n uint
-- @scans only a dry run asks
SELECT COUNT(*) AS n FROM {reap_due};

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
