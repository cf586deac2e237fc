-- What the connection and its transactions need (src/db), and a test that the database answers.

-- A write transaction is begun by turning autocommit off (src/db/txn.c says why).
-- @statement session_autocommit_off
SET autocommit = 0;

-- @statement session_autocommit_on
SET autocommit = 1;

-- @statement session_repeatable_read
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;

-- Makes the next statement alone see what other transactions have written and not committed.
-- @statement session_read_uncommitted
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;

-- Of the connections to another service's database (db_open_foreign()).
-- @statement session_serializable
SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE;

-- @statement session_begin_snapshot
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY;

-- In a cluster, waits until this node has applied what other nodes have committed.
-- @statement session_sync
SET SESSION wsrep_sync_wait = 7;

-- @statement session_no_sync
SET SESSION wsrep_sync_wait = DEFAULT;

-- @statement session_max_packet
-- @out bytes uint
SELECT @@max_allowed_packet AS bytes;

-- Does that connection wait for a lock on a table? (src/db/guard.c)
-- @statement session_waits_for_table
-- @in id uint
-- @out waiting uint
-- @scans information_schema has no index
SELECT COUNT(*) AS waiting FROM information_schema.processlist
WHERE id = :id AND state = 'Waiting for table metadata lock';

-- Ends the statement of that connection.
-- @statement session_interrupt
-- @in id uint
KILL QUERY :id;

-- @statement session_ping
-- @out one uint
SELECT 1 AS one;
