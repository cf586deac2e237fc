-- Usage: what each tenant had of each type, period by period (src/registry/usage/README). One row of table usage_progress says how far the
-- work is; each step locks it first, so any number of hosts may work.

-- @group usage_progress stage text, opens_at time null, opened_id uint, opened_at time null, slice uint, position uint,
--      closed_until time null, closing_until time null, period_s uint, grid_since time null, opened uint
-- @fragment usage_progress
p.stage, p.opens_at, p.opened_id, p.opened_at, p.slice, p.position, p.closed_until, p.closing_until, p.period_s, p.grid_since, p.opened

-- @choice usage_locking
-- @case not

-- @case update
FOR UPDATE

-- now: the database's clock, by which periods are closed.
-- @statement usage_progress
-- @out p usage_progress, now time
SELECT {usage_progress}, UTC_TIMESTAMP(6) AS now FROM usage_progress p WHERE p.id = 1 {usage_locking};

-- @statement usage_save
-- @in p usage_progress
UPDATE usage_progress
SET stage = :p.stage, opens_at = :p.opens_at, opened_id = :p.opened_id, opened_at = :p.opened_at, slice = :p.slice,
  position = :p.position, closed_until = :p.closed_until, closing_until = :p.closing_until, period_s = :p.period_s,
  grid_since = :p.grid_since, opened = :p.opened
WHERE id = 1;

-- The first change that is not counted yet. No row: all are, or the count waits for its opening balance.
-- @statement usage_uncounted
-- @out at time
SELECT c.at
FROM usage_progress p
STRAIGHT_JOIN changes c FORCE INDEX (PRIMARY) ON c.id > p.position
WHERE p.id = 1 AND p.stage <> 'waiting'
ORDER BY c.id
LIMIT 1;

-- ---- slices of the work. An INSERT ... SELECT reads without locks, as every session is READ COMMITTED: writers never wait for it.

-- The last id of a slice of at most :size + 1 rows behind :after; no row: the rest is one slice.
-- @choice usage_slice_of
-- @case changes
changes x WHERE x.id > :after AND x.id <= :upto
-- @case resources
resources x WHERE x.id > :after AND x.id <= :upto
-- @case tenants
tenants x WHERE x.id > :after AND x.id <= :upto

-- @statement usage_slice
-- @in after uint, upto uint, size uint
-- @out id uint
SELECT x.id FROM {usage_slice_of} ORDER BY x.id LIMIT 1 OFFSET :size;

-- The same of the tenants that have something in a period which is not closed.
-- @statement usage_slice_pending
-- @in until time, after uint, size uint
-- @out id uint
SELECT x.tenant_id AS id
FROM usage_pending x
WHERE x.until = :until AND x.tenant_id > :after
ORDER BY x.until, x.tenant_id, x.type_id
LIMIT 1 OFFSET :size;

-- Of the changes with after < id <= upto: the first that deletes, recovers or purges a tenant; and the first of a resource whose sizes
-- were not logged.
-- @statement usage_obstacles
-- @in after uint, upto uint
-- @out of_tenant uint null, unsized uint null
SELECT MIN(IF(c.resource_id IS NULL AND c.verb IN ('deleted', 'recovered', 'purged'), c.id, NULL)) AS of_tenant,
  MIN(IF(c.resource_id IS NOT NULL AND c.bytes_after IS NULL, c.id, NULL)) AS unsized
FROM changes c
WHERE c.id > :after AND c.id <= :upto;

-- ---- the opening balance

-- What an earlier opening balance has left.
-- @choice usage_leftover
-- @case opening
usage_opening
-- @case suspended
usage_suspended

-- @statement usage_clear
-- @in limit uint
DELETE FROM {usage_leftover} LIMIT :limit;

-- The resources with after < id <= upto as they were when the changes up to :opened_id were done. What is read is of one moment, so
-- the changes behind :opened_id are taken off again from what is there.
-- @statement usage_open
-- @in after uint, upto uint, opened_id uint
-- @scans a slice of the resources, and of their changes
INSERT INTO usage_opening (tenant_id, type_id, resources, bytes)
SELECT s.tenant_id, s.type_id, SUM(s.n), SUM(s.bytes)
FROM (
  SELECT r.tenant_id, r.type_id, 1 AS n, CAST(r.bytes AS SIGNED) AS bytes
  FROM resources r
  WHERE r.id > :after AND r.id <= :upto AND r.live = 1
  UNION ALL
  SELECT c.tenant_id, c.type_id, -(c.bytes_after > 0), -CAST(c.bytes_after AS SIGNED)
  FROM changes c FORCE INDEX (resource)
  WHERE c.resource_id > :after AND c.resource_id <= :upto AND c.id > :opened_id
  UNION ALL
  SELECT COALESCE(c.from_tenant_id, c.tenant_id), c.type_id, c.bytes_before > 0, CAST(c.bytes_before AS SIGNED)
  FROM changes c FORCE INDEX (resource)
  WHERE c.resource_id > :after AND c.resource_id <= :upto AND c.id > :opened_id
) s
GROUP BY s.tenant_id, s.type_id
HAVING SUM(s.n) <> 0 OR SUM(s.bytes) <> 0
ON DUPLICATE KEY UPDATE resources = usage_opening.resources + VALUES(resources), bytes = usage_opening.bytes + VALUES(bytes);

-- Marks what tenants had that were deleted then: what became of a tenant first after it says so, or else what it is now.
-- @statement usage_open_suspended
-- @in after uint, upto uint, opened_id uint
INSERT INTO usage_opening (tenant_id, type_id, resources, bytes, suspended)
SELECT o.tenant_id, o.type_id, o.resources, o.bytes, TRUE
FROM usage_opening o
JOIN tenants t ON t.id = o.tenant_id
WHERE o.tenant_id > :after AND o.tenant_id <= :upto
  AND CASE COALESCE((
      SELECT c.verb
      FROM changes c FORCE INDEX (resource)
      WHERE c.resource_id IS NULL AND c.id > :opened_id AND c.tenant_id = o.tenant_id AND c.verb IN ('deleted', 'recovered', 'purged')
      ORDER BY c.id
      LIMIT 1), '')
    WHEN 'deleted' THEN FALSE
    WHEN '' THEN t.deleted_at IS NOT NULL OR t.live IS NULL
    ELSE TRUE END
ON DUPLICATE KEY UPDATE suspended = TRUE;

-- @statement usage_share_suspended
-- @in after uint, upto uint
-- @scans the tenants of a slice that are deleted
INSERT INTO usage_suspended (tenant_id, type_id, resources, bytes)
SELECT o.tenant_id, o.type_id, o.resources, o.bytes
FROM usage_opening o
WHERE o.tenant_id > :after AND o.tenant_id <= :upto AND o.suspended
UNION ALL
SELECT o.tenant_id, 0, 0, 0
FROM usage_opening o
WHERE o.tenant_id > :after AND o.tenant_id <= :upto AND o.suspended
GROUP BY o.tenant_id;

-- What was counted so far for the tenants of a slice.
-- @fragment usage_counted
SELECT u.tenant_id, u.type_id, u.resources, u.bytes
FROM (SELECT x.tenant_id, x.type_id, MAX(x.until) AS until
  FROM usage_periods x
  WHERE x.tenant_id > :after AND x.tenant_id <= :upto
  GROUP BY x.tenant_id, x.type_id) newest
STRAIGHT_JOIN usage_periods u ON u.tenant_id = newest.tenant_id AND u.type_id = newest.type_id AND u.until = newest.until
UNION ALL
SELECT w.tenant_id, w.type_id, w.resources, w.bytes
FROM usage_pending w FORCE INDEX (tenant)
WHERE w.tenant_id > :after AND w.tenant_id <= :upto

-- @fragment usage_add_pending
ON DUPLICATE KEY UPDATE resources = usage_pending.resources + VALUES(resources), bytes = usage_pending.bytes + VALUES(bytes),
  resource_us = usage_pending.resource_us + VALUES(resource_us), byte_us = usage_pending.byte_us + VALUES(byte_us)

-- The difference between the opening balance and what was counted before it counts from :rest_us before the end of the period.
-- @statement usage_share
-- @in after uint, upto uint, until time, rest_us int
-- @scans what the tenants of a slice have
INSERT INTO usage_pending (until, tenant_id, type_id, resources, bytes, resource_us, byte_us)
SELECT :until, s.tenant_id, s.type_id, SUM(s.resources), SUM(s.bytes), SUM(s.resources) * MAX(rest.us), SUM(s.bytes) * MAX(rest.us)
FROM (
  SELECT o.tenant_id, o.type_id, o.resources, o.bytes
  FROM usage_opening o
  WHERE o.tenant_id > :after AND o.tenant_id <= :upto AND NOT o.suspended
  UNION ALL
  SELECT d.tenant_id, d.type_id, -d.resources, -d.bytes FROM ({usage_counted}) d
) s
JOIN (SELECT :rest_us AS us) rest
GROUP BY s.tenant_id, s.type_id
HAVING SUM(s.resources) <> 0 OR SUM(s.bytes) <> 0
{usage_add_pending};

-- ---- counting

-- What the changes with after < id <= upto add (n 1, or 0) and take away. No change counts before :closed_until.
-- @fragment usage_differences
SELECT c.tenant_id, c.type_id, c.bytes_after > 0 AS n, CAST(c.bytes_after AS DECIMAL(20,0)) AS bytes,
  GREATEST(c.at, :closed_until) AS at
FROM changes c
WHERE c.id > :after AND c.id <= :upto AND c.resource_id IS NOT NULL
  AND (c.from_tenant_id IS NOT NULL OR c.bytes_after <> c.bytes_before)
UNION ALL
SELECT COALESCE(c.from_tenant_id, c.tenant_id), c.type_id, -(c.bytes_before > 0), -CAST(c.bytes_before AS DECIMAL(20,0)),
  GREATEST(c.at, :closed_until)
FROM changes c
WHERE c.id > :after AND c.id <= :upto AND c.resource_id IS NOT NULL
  AND (c.from_tenant_id IS NOT NULL OR c.bytes_after <> c.bytes_before)

-- The end of the period of d.at.
-- @fragment usage_end_of_period
IF(d.at < :grid_since, :grid_since, TIMESTAMPADD(SECOND,
  (TIMESTAMPDIFF(SECOND, '1970-01-01 00:00:00', d.at) DIV :period_s + 1) * :period_s, '1970-01-01 00:00:00.000000'))

-- What a change adds counts from then to the end of its period; in later periods, as part of the balance that they begin with.
-- @statement usage_count
-- @in after uint, upto uint, closed_until time, grid_since time, period_s uint
INSERT INTO usage_pending (until, tenant_id, type_id, resources, bytes, resource_us, byte_us)
SELECT s.until, s.tenant_id, s.type_id, SUM(s.n), SUM(s.bytes), SUM(s.n * TIMESTAMPDIFF(MICROSECOND, s.at, s.until)),
  SUM(s.bytes * TIMESTAMPDIFF(MICROSECOND, s.at, s.until))
FROM (SELECT d.tenant_id, d.type_id, d.n, d.bytes, d.at, {usage_end_of_period} AS until
  FROM ({usage_differences}) d
  LEFT JOIN usage_suspended z ON z.tenant_id = d.tenant_id AND z.type_id = 0
  WHERE z.tenant_id IS NULL) s
GROUP BY s.until, s.tenant_id, s.type_id
{usage_add_pending};

-- The same for tenants that are deleted: a namespace that is emptied in the background, say.
-- @statement usage_count_suspended
-- @in after uint, upto uint, closed_until time
INSERT INTO usage_suspended (tenant_id, type_id, resources, bytes)
SELECT d.tenant_id, d.type_id, SUM(d.n), SUM(d.bytes)
FROM ({usage_differences}) d
JOIN usage_suspended z ON z.tenant_id = d.tenant_id AND z.type_id = 0
GROUP BY d.tenant_id, d.type_id
ON DUPLICATE KEY UPDATE resources = usage_suspended.resources + VALUES(resources), bytes = usage_suspended.bytes + VALUES(bytes);

-- @statement usage_tenant_change
-- @in id uint
-- @out verb text, tenant_id uint, at time, suspended uint null
SELECT c.verb, c.tenant_id, c.at, z.tenant_id AS suspended
FROM changes c
LEFT JOIN usage_suspended z ON z.tenant_id = c.tenant_id AND z.type_id = 0
WHERE c.id = :id;

-- What the tenant with after < id <= upto had is suspended from now on; with a row that marks it.
-- @statement usage_suspend
-- @in after uint, upto uint
INSERT INTO usage_suspended (tenant_id, type_id, resources, bytes)
SELECT d.tenant_id, d.type_id, SUM(d.resources), SUM(d.bytes)
FROM ({usage_counted}) d
GROUP BY d.tenant_id, d.type_id
UNION ALL
SELECT :upto, 0, 0, 0;

-- sign: -1 takes what is suspended off what counts, 1 adds it again, from :rest_us before the end of the period.
-- @statement usage_resume
-- @in tenant_id uint, sign int, until time, rest_us int
INSERT INTO usage_pending (until, tenant_id, type_id, resources, bytes, resource_us, byte_us)
SELECT :until, z.tenant_id, z.type_id, :sign * z.resources, :sign * z.bytes, :sign * z.resources * rest.us,
  :sign * CAST(z.bytes AS DECIMAL(20,0)) * rest.us
FROM usage_suspended z
JOIN (SELECT :rest_us AS us) rest
WHERE z.tenant_id = :tenant_id AND z.type_id > 0 AND (z.resources <> 0 OR z.bytes <> 0)
{usage_add_pending};

-- @statement usage_forget_suspended
-- @in tenant_id uint
DELETE FROM usage_suspended WHERE tenant_id = :tenant_id;

-- ---- closing a period

-- The last end of a period for which something was counted, and how many such periods there are.
-- @statement usage_pending_ends
-- @out last time null, n uint
-- @scans its index alone, between two periods
SELECT MAX(w.until) AS last, COUNT(DISTINCT w.until) AS n FROM usage_pending w;

-- length_us: of the period.
-- @statement usage_close
-- @in until time, since time, length_us int, after uint, upto uint
INSERT INTO usage_periods (tenant_id, type_id, until, since, resources, bytes, resource_us, byte_us)
SELECT w.tenant_id, w.type_id, w.until, :since, w.resources + COALESCE(b.resources, 0), w.bytes + COALESCE(b.bytes, 0),
  w.resource_us + COALESCE(b.resources, 0) * length.us, w.byte_us + CAST(COALESCE(b.bytes, 0) AS DECIMAL(20,0)) * length.us
FROM usage_pending w
JOIN (SELECT :length_us AS us) length
LEFT JOIN usage_periods b ON b.tenant_id = w.tenant_id AND b.type_id = w.type_id AND b.until = (
  SELECT MAX(x.until) FROM usage_periods x WHERE x.tenant_id = w.tenant_id AND x.type_id = w.type_id AND x.until < :until)
WHERE w.until = :until AND w.tenant_id > :after AND w.tenant_id <= :upto;

-- @statement usage_closed
-- @in until time, after uint, upto uint
DELETE FROM usage_pending WHERE until = :until AND tenant_id > :after AND tenant_id <= :upto;

-- @statement usage_close_period
-- @in until time, since time, last_change uint, closed_at time, opened uint
INSERT INTO usage_closings (until, since, last_change, closed_at, opened) VALUES (:until, :since, :last_change, :closed_at, :opened);

-- ---- reading

-- The closed periods that lie between two times: when the first begins and the last ends.
-- @statement usage_span
-- @in since time, until time
-- @out first time null, last time null, closed_until time null
-- @sorts one row each
SELECT (SELECT x.since FROM usage_closings x WHERE x.until > :since AND x.since >= :since ORDER BY x.until LIMIT 1) AS first,
  (SELECT MAX(x.until) FROM usage_closings x WHERE x.until <= :until) AS last,
  (SELECT MAX(x.until) FROM usage_closings x) AS closed_until;

-- The steps that an answer has: single periods, or those that begin in the same hour, day or month (UTC).
-- @choice usage_step
-- @case period
x.until
-- @case hour
DATE_FORMAT(x.since, '%Y%m%d%H')
-- @case day
DATE_FORMAT(x.since, '%Y%m%d')
-- @case month
DATE_FORMAT(x.since, '%Y%m')

-- @statement usage_steps
-- @in first time, last time, limit uint
-- @out since time, until time
-- @sorts the periods of an answer
SELECT MIN(x.since) AS since, MAX(x.until) AS until
FROM usage_closings x
WHERE x.until > :first AND x.until <= :last
GROUP BY {usage_step}
ORDER BY until
LIMIT :limit;

-- What a tenant has had of a type: of one tenant, or of all, behind a tenant and a type.
-- @choice usage_pair
-- @case of_tenant
x.tenant_id = :tenant_id AND x.type_id > :type_id
-- @case of_all
(x.tenant_id > :tenant_id OR (x.tenant_id = :tenant_id AND x.type_id > :type_id))

-- resources, bytes: at the time first. plural, group: of the types; NULL: any.
-- @statement usage_pairs
-- @in tenant_id uint, type_id uint, plural text null, group text null, first time, limit uint
-- @out tenant_id uint, type_id uint, tenant text null, uid bytes null, resources int null,
--      bytes int null
-- @scans as many as it answers, by their index
SELECT q.tenant_id, q.type_id, t.name AS tenant, t.uid, b.resources, b.bytes
FROM (SELECT x.tenant_id, x.type_id
  FROM usage_periods x
  WHERE {usage_pair} AND (:plural IS NULL OR x.type_id IN (
    SELECT k.id FROM types k WHERE k.plural = :plural AND (:group IS NULL OR k.group_name = :group)))
  GROUP BY x.tenant_id, x.type_id
  ORDER BY x.tenant_id, x.type_id
  LIMIT :limit) q
LEFT JOIN tenants t ON t.id = q.tenant_id
LEFT JOIN usage_periods b ON b.tenant_id = q.tenant_id AND b.type_id = q.type_id AND b.until = (
  SELECT MAX(y.until) FROM usage_periods y WHERE y.tenant_id = q.tenant_id AND y.type_id = q.type_id AND y.until <= :first)
ORDER BY q.tenant_id, q.type_id;

-- @statement usage_of_pair
-- @in tenant_id uint, type_id uint, first time, last time
-- @out since time, until time, resources int, bytes int, resource_us text, byte_us text
SELECT u.since, u.until, u.resources, u.bytes, u.resource_us, u.byte_us
FROM usage_periods u
WHERE u.tenant_id = :tenant_id AND u.type_id = :type_id AND u.until > :first AND u.until <= :last
ORDER BY u.until;

-- ---- verifying closed periods

-- What there is to begin with. oldest: the first change that the log still has.
-- @statement usage_reach
-- @out oldest uint null, first_since time null, last_until time null, opened_since time null, opened_until time null
-- @scans a row each
SELECT (SELECT MIN(c.id) FROM changes c) AS oldest, first.since AS first_since,
  (SELECT MAX(x.until) FROM usage_closings x) AS last_until, opened.since AS opened_since, opened.until AS opened_until
FROM (SELECT 1 AS one) one
LEFT JOIN usage_closings first ON first.until = (SELECT MIN(x.until) FROM usage_closings x)
LEFT JOIN usage_closings opened ON opened.until = (SELECT MAX(x.until) FROM usage_closings x WHERE x.opened);

-- The first closing after which the log has all changes, from that of the period that ends at :since on.
-- @statement usage_first_reached
-- @in since time, before_oldest uint
-- @out until time, since time, last_change uint, closed_at time
-- @scans the closings of which the log has nothing
SELECT x.until, x.since, x.last_change, x.closed_at
FROM usage_closings x
WHERE x.until >= :since AND x.last_change >= :before_oldest
ORDER BY x.until
LIMIT 1;

-- @statement usage_closings
-- @in after time, last time, limit uint
-- @out until time, since time, last_change uint
SELECT x.until, x.since, x.last_change FROM usage_closings x WHERE x.until > :after AND x.until <= :last ORDER BY x.until LIMIT :limit;

-- The tenant in which a slice of :size tenants and types ends; no row: the rest is one slice.
-- @statement usage_slice_periods
-- @in after uint, size uint
-- @out id uint
-- @scans as many as it answers, by their index
SELECT x.tenant_id AS id
FROM usage_periods x
WHERE x.tenant_id > :after
GROUP BY x.tenant_id, x.type_id
ORDER BY x.tenant_id, x.type_id
LIMIT 1 OFFSET :size;

-- What the tenants with after < id <= upto had at a moment, as it is stored.
-- @statement usage_balances
-- @in after uint, upto uint, until time
-- @out tenant_id uint, type_id uint, resources int, bytes int
-- @scans the tenants of a slice
SELECT u.tenant_id, u.type_id, u.resources, u.bytes
FROM (SELECT x.tenant_id, x.type_id, MAX(x.until) AS until
  FROM usage_periods x
  WHERE x.tenant_id > :after AND x.tenant_id <= :upto AND x.until <= :until
  GROUP BY x.tenant_id, x.type_id) newest
STRAIGHT_JOIN usage_periods u ON u.tenant_id = newest.tenant_id AND u.type_id = newest.type_id AND u.until = newest.until;

-- @statement usage_opened
-- @in after uint, upto uint
-- @out tenant_id uint, type_id uint, resources int, bytes int, suspended uint
-- @scans the tenants of a slice
SELECT o.tenant_id, o.type_id, o.resources, o.bytes, o.suspended
FROM usage_opening o
WHERE o.tenant_id > :after AND o.tenant_id <= :upto;

-- The tenants that were deleted when the changes up to :id were done: what became of a tenant first after it says so, or else what it is.
-- @statement usage_deleted_then
-- @in after uint, upto uint, id uint
-- @out tenant_id uint
-- @scans the tenants of a slice, and what became of tenants
SELECT t.id AS tenant_id
FROM tenants t
LEFT JOIN (SELECT c.tenant_id, MIN(c.id) AS id
  FROM changes c FORCE INDEX (resource)
  WHERE c.resource_id IS NULL AND c.id > :id AND c.verb IN ('deleted', 'recovered', 'purged')
  GROUP BY c.tenant_id) next ON next.tenant_id = t.id
LEFT JOIN changes f ON f.id = next.id
WHERE t.id > :after AND t.id <= :upto
  AND IF(f.id IS NULL, t.deleted_at IS NOT NULL OR t.live IS NULL, f.verb <> 'deleted');

-- What the changes with after < id <= upto add to each closed period, for the tenants with first < id <= last. until NULL: to one that is
-- not closed. No change counts before :closed_until; those before :since are left out. The period is joined: as a column of another derived
-- table, the subquery fails when MariaDB (10.11) runs the prepared statement a second time (1054).
-- @statement usage_recount
-- @in after uint, upto uint, closed_until time, since time, first uint, last uint
-- @out until time null, tenant_id uint, type_id uint, resources int, bytes int, resource_us text null, byte_us text null
SELECT p.until, d.tenant_id, d.type_id, CAST(SUM(d.n) AS SIGNED) AS resources, CAST(SUM(d.bytes) AS SIGNED) AS bytes,
  SUM(d.n * TIMESTAMPDIFF(MICROSECOND, d.at, p.until)) AS resource_us,
  SUM(d.bytes * TIMESTAMPDIFF(MICROSECOND, d.at, p.until)) AS byte_us
FROM ({usage_differences}) d
LEFT JOIN usage_closings p ON p.until = (SELECT MIN(x.until) FROM usage_closings x WHERE x.until > d.at)
WHERE d.tenant_id > :first AND d.tenant_id <= :last AND d.at >= :since
GROUP BY p.until, d.tenant_id, d.type_id;

-- @statement usage_recount_tenant
-- @in id uint, closed_until time
-- @out verb text, tenant_id uint, at time, until time null
SELECT c.verb, c.tenant_id, GREATEST(c.at, :closed_until) AS at,
  (SELECT MIN(x.until) FROM usage_closings x WHERE x.until > GREATEST(c.at, :closed_until)) AS until
FROM changes c
WHERE c.id = :id;

-- The stored rows of a period, behind a tenant and a type.
-- @statement usage_stored
-- @in until time, tenant_id uint, type_id uint, last uint, limit uint
-- @out since time, tenant_id uint, type_id uint, resources int, bytes int, resource_us text, byte_us text
SELECT u.since, u.tenant_id, u.type_id, u.resources, u.bytes, u.resource_us, u.byte_us
FROM usage_periods u FORCE INDEX (until)
WHERE u.until = :until AND u.tenant_id <= :last
  AND (u.tenant_id > :tenant_id OR (u.tenant_id = :tenant_id AND u.type_id > :type_id))
ORDER BY u.until, u.tenant_id, u.type_id
LIMIT :limit;

-- Stored rows that end within a period: none should.
-- @statement usage_strays
-- @in since time, until time, first uint, last uint, limit uint
-- @out since time, until time, tenant_id uint, type_id uint
SELECT u.since, u.until, u.tenant_id, u.type_id
FROM usage_periods u FORCE INDEX (until)
WHERE u.until > :since AND u.until < :until AND u.tenant_id > :first AND u.tenant_id <= :last
LIMIT :limit;

-- @statement usage_tenant_name
-- @in id uint
-- @out name text
SELECT t.name FROM tenants t WHERE t.id = :id;
