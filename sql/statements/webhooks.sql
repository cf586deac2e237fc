-- Webhooks as their owners manage them, and what a process needs to send messages to them (registry/webhook/).

-- ---- for their owners

-- @group webhook id uint, tenant_id uint, name text, uid bytes, url text, description text, filters text, paused uint, etag bytes,
--      revision uint, created_at time, updated_at time, old_secret_until time null, position uint, begun_upto uint null, attempts uint,
--      next_at time null, failing_since time null, disabled_at time null, delivered_at time null, status uint, error text, dead uint
-- @fragment webhook
w.id, w.tenant_id, w.name, w.uid, w.url, w.description, w.filters, w.paused, w.etag, w.revision, w.created_at, w.updated_at,
w.old_secret_until, c.position, c.begun_upto, c.attempts, c.next_at, c.failing_since, c.disabled_at, c.delivered_at, c.status, c.error,
(SELECT COUNT(*) FROM webhook_messages m WHERE m.webhook_id = w.id AND m.state = 'dead') AS dead

-- @statement webhook_get
-- @in tenant_id uint, name text
-- @out w webhook
SELECT {webhook}
FROM webhooks w
JOIN webhook_cursors c ON c.webhook_id = w.id
WHERE w.tenant_id = :tenant_id AND w.name = :name;

-- @statement webhook_list
-- @in tenant_id uint, marker text, limit uint
-- @out w webhook
SELECT {webhook}
FROM webhooks w
JOIN webhook_cursors c ON c.webhook_id = w.id
WHERE w.tenant_id = :tenant_id AND w.name > :marker
ORDER BY w.name
LIMIT :limit;

-- @statement webhook_count
-- @in tenant_id uint
-- @out n uint
SELECT COUNT(*) AS n FROM webhooks w WHERE w.tenant_id = :tenant_id;

-- @statement webhook_insert
-- @in tenant_id uint, name text, uid bytes, url text, description text, filters text, paused uint, secret bytes, etag bytes, now time
INSERT INTO webhooks (tenant_id, name, uid, url, description, filters, paused, secret, etag, revision, created_at, updated_at)
VALUES (:tenant_id, :name, :uid, :url, :description, :filters, :paused, :secret, :etag, 1, :now, :now);

-- A new webhook begins behind the horizon: what is above it is sent, what is up to it was committed before.
-- @statement webhook_insert_cursor
-- @in webhook_id uint
INSERT INTO webhook_cursors (webhook_id, position)
SELECT :webhook_id, h.published FROM log_horizon h WHERE h.id = 1;

-- What was written of the tenant so far is not sent.
-- @statement webhook_pass_over
-- @in webhook_id uint, tenant_id uint
UPDATE webhook_cursors
SET position = GREATEST(position, COALESCE((SELECT MAX(x.id) FROM changes x WHERE x.tenant_id = :tenant_id), 0))
WHERE webhook_id = :webhook_id;

-- @statement webhook_update
-- @in id uint, url text, description text, filters text, paused uint, etag bytes, revision uint, now time
UPDATE webhooks
SET url = :url, description = :description, filters = :filters, paused = :paused, etag = :etag, revision = :revision, updated_at = :now
WHERE id = :id;

-- The message that is being sent stays, and is tried again soon.
-- @statement webhook_enable
-- @in webhook_id uint
UPDATE webhook_cursors SET disabled_at = NULL, failing_since = NULL, attempts = 0, next_at = NULL WHERE webhook_id = :webhook_id;

-- So are revived messages, one of which may have been answered 410.
-- @statement webhook_enable_messages
-- @in webhook_id uint
UPDATE webhook_messages SET attempts = 0, next_at = NULL WHERE webhook_id = :webhook_id AND kind = 'changes' AND state = 'queued';

-- @statement webhook_rotate
-- @in id uint, secret bytes, until time, etag bytes, revision uint, now time
UPDATE webhooks
SET old_secret = secret, old_secret_until = :until, secret = :secret, etag = :etag, revision = :revision, updated_at = :now
WHERE id = :id;

-- @choice webhook_which
-- @case one
w.id = :id
-- @case of_tenant
w.tenant_id = :id

-- @statement webhook_delete
-- @in id uint
DELETE w, c, m
FROM webhooks w
LEFT JOIN webhook_cursors c ON c.webhook_id = w.id
LEFT JOIN webhook_messages m ON m.webhook_id = w.id
WHERE {webhook_which};

-- Tells the process that sends that something was changed by hand.
-- @statement webhook_edited
UPDATE webhook_lease SET edits = edits + 1 WHERE id = 1;

-- ---- messages beside the stream: pings, and those that were given up

-- @statement webhook_drop_pings
-- @in webhook_id uint
DELETE FROM webhook_messages WHERE webhook_id = :webhook_id AND kind = 'ping';

-- @statement webhook_ping
-- @in webhook_id uint, uid bytes, now time
INSERT INTO webhook_messages (webhook_id, uid, kind, state, created_at) VALUES (:webhook_id, :uid, 'ping', 'queued', :now);

-- @choice webhook_revived
-- @case all
TRUE
-- @case one
uid = :uid

-- @statement webhook_revive
-- @in webhook_id uint, uid bytes
UPDATE webhook_messages
SET state = 'queued', attempts = 0, next_at = NULL, ended_at = NULL
WHERE webhook_id = :webhook_id AND kind = 'changes' AND state IN ('dead', 'queued') AND {webhook_revived};

-- The newest first.
-- @statement webhook_message_list
-- @in webhook_id uint, before uint, limit uint
-- @out id uint, uid bytes, kind text, state text, position uint, upto uint, attempts uint, next_at time null, created_at time,
--      ended_at time null, status uint, error text
SELECT m.id, m.uid, m.kind, m.state, m.position, m.upto, m.attempts, m.next_at, m.created_at, m.ended_at, m.status, m.error
FROM webhook_messages m
WHERE m.webhook_id = :webhook_id AND m.id < :before
ORDER BY m.id DESC
LIMIT :limit;

-- The message of the stream that is being sent.
-- @statement webhook_begun
-- @in webhook_id uint
-- @out uid bytes null, position uint, upto uint null, attempts uint, next_at time null, status uint, error text
SELECT c.message AS uid, c.position, c.begun_upto AS upto, c.attempts, c.next_at, c.status, c.error
FROM webhook_cursors c
WHERE c.webhook_id = :webhook_id AND c.begun_upto IS NOT NULL;

-- ---- for the process that sends: the lease

-- maintenance: what the row `maintenance` of `settings` says (src/db/maintenance.h); NULL: changes are allowed.
-- @statement webhook_lease_read
-- @out claim bytes, beat uint, edits uint, maintenance bytes null
SELECT l.claim, l.beat, l.edits, m.value AS maintenance
FROM webhook_lease l
LEFT JOIN settings m ON m.name = 'maintenance'
WHERE l.id = 1;

-- @statement webhook_lease_take
-- @in claim bytes, held_by bytes, beat uint
UPDATE webhook_lease SET claim = :claim, beat = beat + 1 WHERE id = 1 AND claim = :held_by AND beat = :beat;

-- @statement webhook_lease_renew
-- @in claim bytes
UPDATE webhook_lease SET beat = beat + 1 WHERE id = 1 AND claim = :claim;

-- @statement webhook_lease_leave
-- @in claim bytes
UPDATE webhook_lease SET claim = '', beat = beat + 1 WHERE id = 1 AND claim = :claim;

-- ---- what there is to send

-- Read once, and after each change of a webhook. failing_us: microseconds since failing_since, by the database's clock.
-- @statement webhook_streams
-- @out id uint, tenant_id uint, position uint, begun_upto uint null, message bytes null, attempts uint, next_at time null,
--      failing_since time null, failing_us int null
-- @scans all webhooks
SELECT w.id, w.tenant_id, c.position, c.begun_upto, c.message, c.attempts, c.next_at, c.failing_since,
  TIMESTAMPDIFF(MICROSECOND, c.failing_since, UTC_TIMESTAMP(6)) AS failing_us
FROM webhooks w
STRAIGHT_JOIN webhook_cursors c ON c.webhook_id = w.id
WHERE w.paused = 0 AND c.disabled_at IS NULL
ORDER BY w.id;

-- A ping is sent to a webhook that is paused or disabled, too. In turn for each tenant, so that nobody waits for the messages of another; those of
-- deleted tenants last. Of one tenant pings first, and what failed before behind what did not.
-- @statement webhook_letters
-- @in limit uint
-- @out id uint, webhook_id uint, tenant_id uint, uid bytes, kind text, position uint, upto uint, attempts uint, next_at time null,
--      tenant_deleted uint
-- @scans the queued messages
-- @sorts likewise
SELECT m.id, m.webhook_id, w.tenant_id, m.uid, m.kind, m.position, m.upto, m.attempts, m.next_at, q.tenant_deleted
FROM (
  SELECT m.id, t.deleted_at IS NOT NULL AS tenant_deleted,
    ROW_NUMBER() OVER (PARTITION BY w.tenant_id ORDER BY m.kind <> 'ping', m.next_at, m.id) AS turn
  FROM webhook_messages m
  STRAIGHT_JOIN webhooks w ON w.id = m.webhook_id
  STRAIGHT_JOIN webhook_cursors c ON c.webhook_id = m.webhook_id
  LEFT JOIN tenants t ON t.id = w.tenant_id
  WHERE m.state = 'queued' AND (m.kind = 'ping' OR (w.paused = 0 AND c.disabled_at IS NULL))
  ORDER BY tenant_deleted, turn, m.id
  LIMIT :limit) q
STRAIGHT_JOIN webhook_messages m ON m.id = q.id
STRAIGHT_JOIN webhooks w ON w.id = m.webhook_id
ORDER BY q.tenant_deleted, q.turn, q.id;

-- Where to; no row while the tenant is deleted.
-- @statement webhook_target
-- @in id uint
-- @out name text, url text, filters text, secret bytes, old_secret bytes null, old_secret_until time null, tenant text null
SELECT w.name, w.url, w.filters, w.secret, w.old_secret, w.old_secret_until, t.name AS tenant
FROM webhooks w
LEFT JOIN tenants t ON t.id = w.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE w.id = :id AND (w.tenant_id = 0 OR t.id IS NOT NULL);

-- @choice webhook_change_ids
-- @case all
(SELECT x.id FROM changes x WHERE x.id > :after AND x.id <= :up_to ORDER BY x.id LIMIT :limit)
-- @case of_tenant
({change_ids_of_tenant tenant} ORDER BY id LIMIT :limit)

-- Changes of all tenants; or of one tenant and of what left it.
-- @statement webhook_changes
-- @in tenant change_tenant, after uint, up_to uint, limit uint
-- @out c told_change
-- @scans the ids that an index gave: at most limit
-- @sorts the ids that an index gave: at most twice limit
SELECT {told_change}
FROM {webhook_change_ids} i
STRAIGHT_JOIN changes c ON c.id = i.id
STRAIGHT_JOIN tenants t ON t.id = c.tenant_id
LEFT JOIN tenants f ON f.id = c.from_tenant_id
ORDER BY c.id;

-- ---- what became of it. Each of these asks for the claim, and for the row as the process knows it, so a process that lost the
-- lease changes nothing.

-- @fragment webhook_claimed
webhook_lease l JOIN webhook_cursors c ON c.webhook_id = :id
-- @fragment webhook_sending
l.id = 1 AND l.claim = :claim AND c.message = :message

-- Nothing up to position is asked for.
-- @statement webhook_skip
-- @in claim bytes, id uint, position uint
UPDATE {webhook_claimed}
SET c.position = :position
WHERE l.id = 1 AND l.claim = :claim AND c.begun_upto IS NULL AND c.position < :position;

-- @statement webhook_begin
-- @in claim bytes, id uint, position uint, upto uint, message bytes
UPDATE {webhook_claimed}
SET c.begun_upto = :upto, c.message = :message, c.position = :position, c.attempts = 0, c.next_at = NULL
WHERE l.id = 1 AND l.claim = :claim AND c.begun_upto IS NULL AND c.position <= :position;

-- A first failure is noted by the later of two clocks: by one that is behind, a webhook would seem to have failed for long.
-- @fragment webhook_failing_since
COALESCE(c.failing_since, GREATEST(:now, UTC_TIMESTAMP(6)))

-- delivered_at NULL: there was nothing to send.
-- @statement webhook_done
-- @in claim bytes, id uint, message bytes, status uint, delivered_at time null
UPDATE {webhook_claimed}
SET c.position = c.begun_upto, c.begun_upto = NULL, c.message = NULL, c.attempts = 0, c.next_at = NULL, c.failing_since = NULL,
  c.status = :status, c.error = '', c.delivered_at = COALESCE(:delivered_at, c.delivered_at)
WHERE {webhook_sending};

-- @statement webhook_failed
-- @in claim bytes, id uint, message bytes, status uint, error text, now time, next_at time, disabled_at time null
UPDATE {webhook_claimed}
SET c.attempts = c.attempts + 1, c.next_at = :next_at, c.failing_since = {webhook_failing_since}, c.status = :status,
  c.error = :error, c.disabled_at = :disabled_at
WHERE {webhook_sending};

-- The message goes to those that were given up, and the stream goes on behind it; the two are one transaction.
-- @statement webhook_bury
-- @in claim bytes, id uint, message bytes, status uint, error text, now time
INSERT INTO webhook_messages (webhook_id, uid, kind, state, position, upto, attempts, created_at, ended_at, status, error)
SELECT c.webhook_id, c.message, 'changes', 'dead', c.position, c.begun_upto, c.attempts + 1, COALESCE(c.failing_since, :now), :now, :status,
  :error
FROM {webhook_claimed}
WHERE {webhook_sending};

-- @statement webhook_go_on
-- @in claim bytes, id uint, message bytes, status uint, error text, now time
UPDATE {webhook_claimed}
SET c.position = c.begun_upto, c.begun_upto = NULL, c.message = NULL, c.attempts = 0, c.next_at = NULL,
  c.failing_since = {webhook_failing_since}, c.status = :status, c.error = :error
WHERE {webhook_sending};

-- disabled_at NULL: it does not disable the webhook. What is received ends its failing, as a message of the stream does.
-- @statement webhook_letter_ended
-- @in claim bytes, id uint, state text, attempts uint, status uint, error text, next_at time null, ended_at time null,
--     disabled_at time null
UPDATE webhook_lease l JOIN webhook_messages m ON m.id = :id JOIN webhook_cursors c ON c.webhook_id = m.webhook_id
SET m.state = :state, m.attempts = :attempts, m.status = :status, m.error = :error, m.next_at = :next_at, m.ended_at = :ended_at,
  c.status = IF(:disabled_at IS NULL, c.status, :status), c.error = IF(:disabled_at IS NULL, c.error, :error),
  c.disabled_at = COALESCE(:disabled_at, c.disabled_at), c.failing_since = IF(:state = 'delivered', NULL, c.failing_since)
WHERE l.id = 1 AND l.claim = :claim AND m.state = 'queued';

-- ---- for monitoring

-- What their owners see; those of deleted tenants rest.
-- @fragment webhook_lives
webhooks w
STRAIGHT_JOIN webhook_cursors c ON c.webhook_id = w.id
LEFT JOIN tenants t ON t.id = w.tenant_id
WHERE (w.tenant_id = 0 OR t.deleted_at IS NULL)

-- @statement webhook_counts
-- @out active uint, failing uint, paused uint, disabled uint
-- @scans all webhooks
SELECT CAST(COALESCE(SUM(s.state = 'active'), 0) AS UNSIGNED) AS active, CAST(COALESCE(SUM(s.state = 'failing'), 0) AS UNSIGNED) AS failing,
  CAST(COALESCE(SUM(s.state = 'paused'), 0) AS UNSIGNED) AS paused, CAST(COALESCE(SUM(s.state = 'disabled'), 0) AS UNSIGNED) AS disabled
FROM (
  SELECT CASE WHEN w.paused <> 0 THEN 'paused' WHEN c.disabled_at IS NOT NULL THEN 'disabled' WHEN c.failing_since IS NOT NULL THEN 'failing'
    ELSE 'active' END AS state
  FROM {webhook_lives}) s;

-- Messages, counted up to a limit.
-- @statement webhook_message_counts
-- @in limit uint
-- @out dead uint, queued uint
SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM webhook_messages m WHERE m.state = 'dead' LIMIT :limit) d) AS dead,
  (SELECT COUNT(*) FROM (SELECT 1 FROM webhook_messages m WHERE m.state = 'queued' LIMIT :limit) q) AS queued;

-- @choice webhook_kind
-- @case active
c.failing_since IS NULL
-- @case failing
c.failing_since IS NOT NULL

-- Webhooks that have changes behind their position, the one that is farthest behind first.
-- @statement webhook_behind
-- @in horizon uint, limit uint
-- @out tenant_id uint, position uint
-- @scans all webhooks
-- @sorts likewise
SELECT w.tenant_id, c.position
FROM {webhook_lives} AND w.paused = 0 AND c.disabled_at IS NULL AND {webhook_kind} AND c.position < :horizon
  AND (w.tenant_id = 0
    OR (SELECT x.id FROM changes x WHERE x.tenant_id = w.tenant_id ORDER BY x.id DESC LIMIT 1) > c.position
    OR (SELECT x.id FROM changes x WHERE x.from_tenant_id = w.tenant_id ORDER BY x.id DESC LIMIT 1) > c.position)
ORDER BY c.position
LIMIT :limit;

-- The first change behind a position; limit: 1.
-- @statement webhook_first_change
-- @in tenant change_tenant, after uint, up_to uint, limit uint
-- @out id uint, at time
-- @scans the ids that an index gave
-- @sorts the ids that an index gave: at most twice limit
SELECT c.id, c.at
FROM {webhook_change_ids} i
STRAIGHT_JOIN changes c ON c.id = i.id
ORDER BY c.id
LIMIT :limit;
