-- How far the change log may be read. src/registry/log/horizon.h says why these statements suffice.

-- newest: the highest id of a change that is committed, at least published.
-- @statement horizon_newest
-- @out newest uint, published uint
SELECT CAST(GREATEST(COALESCE((SELECT MAX(c.id) FROM changes c), 0), h.published) AS UNSIGNED) AS newest, h.published
FROM log_horizon h
WHERE h.id = 1;

-- ---- one look; a statement right after session_read_uncommitted also sees rows in flight

-- @statement horizon_ceiling
-- @out id uint
SELECT CAST(COALESCE(MAX(c.id), 0) AS UNSIGNED) AS id FROM changes c;

-- SHOW, because information_schema.PROCESSLIST makes a temporary table on disk each time.
-- @statement horizon_processes
-- @out id uint, user text, host text null, db text null, command text null, time int null, state text null, info text null,
--      progress text
SHOW PROCESSLIST;

-- Ids that have a row: all above after; only the id one; or those of two tenants with after < id <= up_to.
-- @choice horizon_range
-- @case all
SELECT c.id FROM changes c WHERE c.id > :after ORDER BY c.id LIMIT :limit
-- @case one
SELECT c.id FROM changes c WHERE c.id = :one
-- @case of_two
{change_ids_of_two}

-- @statement horizon_ids
-- @in after uint, limit uint, one uint, tenants change_tenant[2], up_to uint
-- @out id uint
{horizon_range};

-- ---- publishing

-- The only statement of its transaction: when it returns, the server's log is on disk up to this commit.
-- @statement horizon_commit
UPDATE log_horizon SET commits = commits + 1 WHERE id = 1;

-- @statement horizon_publish
-- @in reached uint
UPDATE log_horizon SET published = GREATEST(published, :reached) WHERE id = 1;

-- ---- who writes the log

-- Connections are shown by the user that they named; a user without PROCESS is shown those that named what its own account
-- is called.
-- @fragment horizon_writer
SUBSTRING_INDEX(USER(), '@', 1)
-- @fragment horizon_sees
SUBSTRING_INDEX(CURRENT_USER(), '@', 1)

-- @statement horizon_joined
-- @out n uint
SELECT COUNT(*) AS n FROM log_writers WHERE name = {horizon_writer};

-- @statement horizon_join
INSERT IGNORE INTO log_writers (name) VALUES ({horizon_writer});

-- Writers whose statements this connection may be unable to see: one of their names, and how many there are.
-- @statement horizon_unseen
-- @out name text, n uint
-- @scans a row for each user of the database
SELECT COALESCE(MIN(name), '') AS name, COUNT(*) AS n FROM log_writers WHERE name <> {horizon_sees};

-- @statement horizon_may_see
-- @out n uint
-- @scans information_schema has no index
SELECT COUNT(*) AS n
FROM information_schema.USER_PRIVILEGES
WHERE PRIVILEGE_TYPE IN ('PROCESS', 'SUPER')
  AND GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''');
