-- Reads by a server beside the writer (src/db/reader.c; doc/cluster.md, "Reads by another server").

-- A node of Galera answers after it has applied what was committed in the cluster when it was asked; another server answers at once.
-- @statement reader_sync
-- @out galera int, epoch uint
SET STATEMENT wsrep_sync_wait = 7 FOR SELECT CAST(@@wsrep_on AS SIGNED) AS galera, w.epoch FROM writer w WHERE w.id = 1;

-- Of the primary: up to where all is committed.
-- @statement reader_position
-- @out position text
SELECT @@GLOBAL.gtid_binlog_pos AS position;

-- Of a replica: waits until it has applied that. -1: it has not, after so many seconds.
-- @statement reader_await
-- @in position text, seconds uint
-- @out result int null
SELECT CAST(MASTER_GTID_WAIT(:position, :seconds) AS SIGNED) AS result;

-- @statement reader_epoch
-- @out epoch uint
SELECT w.epoch FROM writer w WHERE w.id = 1;
