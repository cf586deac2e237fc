-- Which node of a cluster is the writer, and the fence that keeps all others from writing (doc/cluster.md).

-- What a server is called: a node of a Galera cluster by its name there, another server by where it listens.
-- @fragment cluster_me
IF(@@wsrep_on, @@wsrep_node_name, CONCAT(@@hostname, ':', @@port))

-- Does a server refuse changes? @@read_only is a number up to MariaDB 11, and a word from 12 on: OFF, or how much is refused.
-- @fragment cluster_read_only
CAST(CONCAT(@@read_only) NOT IN ('0', 'OFF') AS SIGNED)

-- ---- for connections (src/db/writer.c)

-- What this server is, by itself and by the row of the writer. galera: it is a node of a cluster.
-- @fragment writer_role
SELECT {cluster_me} AS me, w.node, w.epoch, CAST(@@wsrep_on AS SIGNED) AS galera, {cluster_read_only} AS read_only, w.held
FROM writer w
WHERE w.id = 1
-- @statement writer_role
-- @out me text, node text, epoch uint, galera int, read_only int, held uint
{writer_role};

-- The same, after all that was committed in the cluster when it was asked.
-- @statement writer_role_now
-- @out me text, node text, epoch uint, galera int, read_only int, held uint
SET STATEMENT wsrep_sync_wait = 7 FOR {writer_role};

-- Does a server refuse changes? Asked alone where its schema has no row of the writer yet, and by what only reads.
-- @statement writer_read_only
-- @out read_only int
SELECT {cluster_read_only} AS read_only;

-- Does a primary without Galera commit nothing, since it waits for a replica's receipt and none is connected?
-- @statement writer_stands_still
-- @out stands_still int
-- @scans information_schema has no index
SELECT CAST(COUNT(*) = 2 AS SIGNED) AS stands_still FROM information_schema.GLOBAL_STATUS
WHERE (VARIABLE_NAME = 'RPL_SEMI_SYNC_MASTER_STATUS' AND VARIABLE_VALUE = 'ON')
OR (VARIABLE_NAME = 'RPL_SEMI_SYNC_MASTER_CLIENTS' AND VARIABLE_VALUE = '0');

-- The first statement of each transaction that writes. No row: another node is the writer by now, or none is. What it writes is the
-- connection's own, even where two share a slot, so that the next statement knows it again.
-- @statement writer_fence
-- @in slot uint, epoch uint
UPDATE writer_slots SET n = (@fence := n + 1), connection = CONNECTION_ID() WHERE id = :slot AND epoch = :epoch;

-- Does the transaction that began with the fence go on? No row: the server has ended it, and what the fence wrote is gone.
-- @statement writer_goes_on
-- @in slot uint, epoch uint
-- @out epoch uint
SELECT epoch FROM writer_slots WHERE id = :slot AND epoch = :epoch AND n = @fence AND connection = CONNECTION_ID();

-- The same for a large transaction, which has not written the fence yet. Exact only if no statement came since the end.
-- @statement writer_is_open
-- @out is_open uint
SELECT CAST(@@in_transaction AS UNSIGNED) AS is_open;

-- A large transaction: begins it, looks whether it may still be committed, and ends with the fence. Each fragment is ordered by itself, and
-- its rows are locked on all nodes until COMMIT, so the slot must not be in one before the last.
-- @statement writer_stream
SET SESSION wsrep_trx_fragment_unit = 'rows', SESSION wsrep_trx_fragment_size = 5000;

-- @statement writer_check
-- @in epoch uint
-- @out epoch uint
SELECT epoch FROM writer WHERE id = 1 AND epoch = :epoch;

-- @statement writer_whole
SET SESSION wsrep_trx_fragment_size = 0;

-- Takes a slot that no living connection has, so that no two wait for each other. Correct writes do not depend on it.
-- @statement writer_slot_take
-- @scans a few hundred rows, once for each connection
-- @sorts the same
UPDATE writer_slots SET connection = CONNECTION_ID()
WHERE connection NOT IN (SELECT p.ID FROM information_schema.PROCESSLIST p)
ORDER BY id LIMIT 1;

-- @statement writer_slot_taken
-- @out id uint
-- @scans a few hundred rows, once for each connection
SELECT CAST(COALESCE(MIN(id), 1 + CONNECTION_ID() MOD 256) AS UNSIGNED) AS id FROM writer_slots WHERE connection = CONNECTION_ID();

-- ---- for switches (src/registry/upkeep/cluster.c)

-- SHOW, because a node that is not ready answers nothing else.
-- @statement cluster_status
-- @out variable_name text, value text null
SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status', 'wsrep_local_state', 'wsrep_local_state_comment',
  'wsrep_cluster_size', 'wsrep_cluster_conf_id', 'wsrep_local_recv_queue', 'wsrep_last_committed', 'Rpl_semi_sync_master_status', 'Rpl_semi_sync_master_clients');

-- @statement cluster_variables
-- @out variable_name text, value text null
SHOW VARIABLES WHERE Variable_name IN ('hostname', 'port', 'wsrep_on', 'wsrep_node_name', 'read_only', 'auto_increment_increment',
  'auto_increment_offset', 'innodb_autoinc_lock_mode', 'wsrep_certify_nonpk', 'wsrep_provider_options', 'wsrep_provider_pc_ignore_quorum',
  'wsrep_provider_pc_ignore_sb', 'binlog_format', 'wsrep_desync',
  'wsrep_OSU_method', 'innodb_flush_log_at_trx_commit', 'server_id', 'log_bin', 'log_slave_updates', 'sync_binlog', 'gtid_strict_mode',
  'rpl_semi_sync_master_enabled', 'rpl_semi_sync_master_timeout', 'rpl_semi_sync_master_wait_point', 'rpl_semi_sync_slave_enabled',
  'report_host');

-- @statement cluster_writer
-- @out node text, epoch uint, next text, held uint, since time null, reason text
SELECT node, epoch, next, held, since, reason FROM writer WHERE id = 1;

-- Nobody is the writer from here on, for the next epoch.
-- @statement cluster_resign
-- @in epoch uint, next text, held uint, reason text
UPDATE writer SET node = '', epoch = epoch + 1, next = :next, held = :held, since = UTC_TIMESTAMP(6), reason = :reason
WHERE id = 1 AND epoch = :epoch;

-- @statement cluster_appoint
-- @in epoch uint, node text, reason text
UPDATE writer SET node = :node, epoch = epoch + 1, next = '', held = 0, since = UTC_TIMESTAMP(6), reason = :reason
WHERE id = 1 AND epoch = :epoch AND node = '';

-- Without Galera, whatever node the row names: nothing of its transactions can come any more. raised: the new epoch.
-- @statement cluster_promote
-- @in raised uint, node text, reason text, epoch uint
UPDATE writer SET node = :node, epoch = :raised, next = '', held = 0, since = UTC_TIMESTAMP(6), reason = :reason
WHERE id = 1 AND epoch = :epoch;

-- Every slot, so that a transaction of any writer and a switch exclude each other.
-- @statement cluster_fence
-- @in epoch uint
-- @scans a few hundred rows
UPDATE writer_slots SET epoch = :epoch;

-- @statement cluster_record
-- @in epoch uint, node text, reason text
INSERT INTO writer_switches (epoch, node, reason, last_change)
SELECT :epoch, :node, :reason, COALESCE((SELECT MAX(c.id) FROM changes c), 0);
