-- Sessions of the console: what a cookie stands for.

-- @statement session_by_id
-- @in id text
-- @out hash bytes, endpoint text, user text, tenant text, credential bytes, created_at time, used_at time, ends_at time
SELECT hash, endpoint, user, tenant, credential, created_at, used_at, ends_at FROM sessions WHERE id = :id;

-- @statement session_insert
-- @in id text, hash bytes, endpoint text, user text, tenant text, credential bytes, now time, ends_at time
INSERT INTO sessions (id, hash, endpoint, user, tenant, credential, created_at, used_at, ends_at)
VALUES (:id, :hash, :endpoint, :user, :tenant, :credential, :now, :now, :ends_at);

-- The session was used. An older time never replaces a newer one.
-- @statement session_use
-- @in id text, now time
UPDATE sessions SET used_at = GREATEST(used_at, :now) WHERE id = :id;

-- @statement session_count
-- @in user text, tenant text
-- @out n uint
SELECT COUNT(*) AS n FROM sessions WHERE user = :user AND tenant = :tenant;

-- The sessions of a user that were not used for the longest time.
-- @statement session_delete_oldest
-- @in user text, tenant text, limit uint
DELETE FROM sessions WHERE user = :user AND tenant = :tenant ORDER BY used_at LIMIT :limit;

-- @statement session_delete
-- @in id text
DELETE FROM sessions WHERE id = :id;

-- @statement session_delete_of_user
-- @in user text, tenant text
DELETE FROM sessions WHERE user = :user AND tenant = :tenant;

-- Those of everybody, for a restored database: it has sessions that were ended since.
-- @statement session_delete_all
-- @scans only tenure-manage does it, for all of them
DELETE FROM sessions;
