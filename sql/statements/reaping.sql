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
-- @case former
former_tenants

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
-- @case merged_namespaces
merged_namespaces
-- @case former
former_resources

-- @statement reap_side_rows
-- @in ids text
DELETE x FROM {ids} STRAIGHT_JOIN {reap_side} x ON x.resource_id = j.id;

-- A namespace r of the page that was merged into another one: forwards to r lead to that one then, and what was merged into r counts as
-- merged into that one. Where it is of the same page, another run leads them on. Its row in resources is not read, as that would lock it.
-- @fragment reaped_merged
{ids}
STRAIGHT_JOIN resources r ON r.id = j.id
STRAIGHT_JOIN merged_namespaces m ON m.resource_id = r.id AND m.deletion = r.deletion
-- @statement reap_lead_forwards
-- @in ids text
UPDATE {reaped_merged} STRAIGHT_JOIN forwards f ON f.resource_id = r.id SET f.resource_id = m.into_id;

-- @statement reap_lead_merged
-- @in ids text
UPDATE {reaped_merged} STRAIGHT_JOIN merged_namespaces x ON x.into_id = r.id SET x.into_id = m.into_id;

-- What was merged into those of the page that are gone for good.
-- @statement reap_merged_into
-- @in ids text
DELETE x FROM {ids} STRAIGHT_JOIN merged_namespaces x ON x.into_id = j.id;

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

-- What ends after it was asked for: moves, and messages of webhooks.
-- @choice reap_ended
-- @case moves
COALESCE(x.state <> 'queued' AND x.finished_at < :until, FALSE) AS is_due, x.created_at >= :until AS is_younger
FROM moves x
-- @case messages
COALESCE(x.state <> 'queued' AND x.ended_at < :until, FALSE) AS is_due, x.created_at >= :until AS is_younger
FROM webhook_messages x

-- @choice reap_ended_table
-- @case moves
moves
-- @case messages
webhook_messages

-- Those that are over, in the order in which they were asked for. Behind the first one that was asked for at :until or later, none is due.
-- @statement reap_page_of_ended
-- @in after uint, until time, limit uint
-- @out id uint, is_due uint, is_younger uint
SELECT x.id, {reap_ended}
WHERE x.id > :after
ORDER BY x.id
LIMIT :limit;

-- A message that was revived since the page was read is not over.
-- @statement reap_ended_rows
-- @in ids text
DELETE x FROM {ids} STRAIGHT_JOIN {reap_ended_table} x ON x.id = j.id WHERE x.state <> 'queued';

-- The log is shortened from its beginning, never in the middle, whatever the times of its rows: a reader of what follows an id
-- compares it with the oldest id to learn whether all of that is still there. A change that usage has yet to count is not due, however old
-- it is. While the count waits for its opening balance, it needs none: it begins behind the newest.
-- @statement reap_page_of_changes
-- @in after uint, until time, limit uint
-- @out id uint, is_old uint, is_due uint
SELECT c.id, c.at < :until AS is_old, c.at < :until AND (p.id IS NULL OR p.stage = 'waiting' OR c.id <= p.position) AS is_due
FROM changes c FORCE INDEX (PRIMARY)
LEFT JOIN usage_progress p ON p.id = 1
WHERE c.id > :after
ORDER BY c.id
LIMIT :limit;

-- @statement reap_changes
-- @in after uint, upto uint
DELETE FROM changes WHERE id > :after AND id <= :upto;

-- What updates replaced goes with its change, or earlier: a shorter time may be configured for it.
-- @choice reap_former
-- @case resources
former_resources
-- @case tenants
former_tenants

-- @statement reap_former_content
-- @in after uint, upto uint
DELETE FROM {reap_former} WHERE change_id > :after AND change_id <= :upto;

-- The oldest content that is kept, up to a limit, and which of it is due. A change that is no longer in the log was due before.
-- @statement reap_page_of_former
-- @in after uint, until time, limit uint
-- @out id uint, is_due uint
SELECT f.change_id AS id, COALESCE(c.at < :until, TRUE) AS is_due
FROM {reap_former} f FORCE INDEX (PRIMARY)
LEFT JOIN changes c ON c.id = f.change_id
WHERE f.change_id > :after
ORDER BY f.change_id
LIMIT :limit;

-- Forwards that lead nowhere any more because somebody set when they end.
-- @statement reap_forwards
-- @in now time, limit uint
DELETE FROM forwards WHERE expires_at <= :now LIMIT :limit;

-- @choice reap_token_end
-- @case expired
expires_at
-- @case revoked
revoked_at

-- Tokens that ended before :until. Each of the two times has its index; a statement about both reads, and locks, all tokens.
-- @statement reap_tokens
-- @in until time, limit uint
DELETE FROM tokens WHERE {reap_token_end} < :until ORDER BY {reap_token_end} LIMIT :limit;

-- Sessions of the console that have ended. They are not counted.
-- @statement reap_sessions
-- @in now time, limit uint
DELETE FROM sessions WHERE ends_at < :now LIMIT :limit;

-- ---- closed periods of usage: first from their list, so that no answer has them any more, then what they say of tenants

-- The newest closed period stays: counting goes on behind it.
-- @statement reap_count_closings
-- @in until time
-- @out n uint
SELECT COUNT(*) AS n FROM usage_closings x WHERE x.until < :until AND x.until < (SELECT MAX(y.until) FROM usage_closings y);

-- @statement reap_closings
-- @in until time, newest time, limit uint
DELETE FROM usage_closings WHERE until < :until AND until < :newest ORDER BY until LIMIT :limit;

-- When the first period begins that is kept, and the last one ends.
-- @statement reap_usage_kept
-- @out since time null, newest time null
SELECT (SELECT x.since FROM usage_closings x ORDER BY x.until LIMIT 1) AS since, (SELECT MAX(x.until) FROM usage_closings x) AS newest;

-- Rows of periods that ended before, at :until at the latest, in the order of their ends. A row is due if a newer one of them says what the
-- tenant had then, or if it had nothing.
-- @statement reap_page_of_periods
-- @in at time, tenant_id uint, type_id uint, until time, limit uint
-- @out until time, tenant_id uint, type_id uint, is_due uint
SELECT u.until, u.tenant_id, u.type_id, (u.resources = 0 AND u.bytes = 0) OR EXISTS (SELECT 1
  FROM usage_periods x
  WHERE x.tenant_id = u.tenant_id AND x.type_id = u.type_id AND x.until > u.until AND x.until <= :until) AS is_due
FROM usage_periods u FORCE INDEX (until)
WHERE u.until >= :at AND u.until <= :until
  AND (u.until > :at OR u.tenant_id > :tenant_id OR (u.tenant_id = :tenant_id AND u.type_id > :type_id))
ORDER BY u.until, u.tenant_id, u.type_id
LIMIT :limit;

-- @statement reap_period
-- @in until time, tenant_id uint, type_id uint
DELETE FROM usage_periods WHERE tenant_id = :tenant_id AND type_id = :type_id AND until = :until;

-- What a dry run counts: rows of tenants and resources that a run would purge first. Forwards to a namespace that was merged lead on.
-- @choice reap_due
-- @case forwards
forwards f
WHERE f.resource_id IN (SELECT r.id FROM resources r {merged_of_r} WHERE r.purge_at <= :now AND m.resource_id IS NULL)
  OR f.resource_id IN (SELECT r.id FROM tenants t JOIN resources r ON r.tenant_id = t.id {merged_of_r}
    WHERE t.purge_at <= :now AND m.resource_id IS NULL)
  OR f.tenant_id IN (SELECT t.id FROM tenants t WHERE t.purge_at <= :now)
  OR f.expires_at <= :now
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
-- @scans the first inventory of a class tells that it is used
DELETE k
FROM resource_classes k FORCE INDEX (live)
LEFT JOIN inventories x ON x.class_id = k.id
WHERE k.live IS NULL AND x.class_id IS NULL;

-- ---- when it was done

-- Microseconds since 1970 (UTC), in decimal: for those who ask whether somebody reaps, and how often.
-- @statement reap_record
-- @in at bytes
INSERT INTO settings (name, value) VALUES ('reaped_at', :at) ON DUPLICATE KEY UPDATE value = VALUES(value);
