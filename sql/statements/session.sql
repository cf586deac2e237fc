-- What the connection and its transactions need (src/db), and a sign of life.

-- A write transaction is a stretch with autocommit off (src/db/txn.c tells why).
-- @statement session_autocommit_off
SET autocommit = 0;

-- @statement session_autocommit_on
SET autocommit = 1;

-- @statement session_repeatable_read
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- For the next statement alone: it sees what other transactions have written and not committed.
-- @statement session_read_uncommitted
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;

-- @statement session_begin_snapshot
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;

-- On a cluster another node may have the row and not have applied it yet.
-- @statement session_sync
SET SESSION wsrep_sync_wait = 7;

-- @statement session_no_sync
SET SESSION wsrep_sync_wait = DEFAULT;

-- @statement session_max_packet
-- @out bytes uint
SELECT @@max_allowed_packet AS bytes;

-- @statement session_ping
-- @out one uint
SELECT 1 AS one;
