-- Servers without Galera: a primary and its replicas (doc/cluster.md, "Primary and replica"). All of it is run by the admin user, on each
-- server for itself (src/registry/upkeep/promotion.c).

-- What a server knows of its primary. Its columns differ from release to release, so they are read by their names.
-- @script replication_status
-- @in connection names
SHOW SLAVE ':connection' STATUS;

-- Which of the privileges that a switch needs the user has, for all databases.
-- @statement replication_privileges
-- @out name text
-- @scans information_schema has no index
SELECT CAST(PRIVILEGE_TYPE AS CHAR) AS name FROM information_schema.USER_PRIVILEGES
WHERE GRANTEE = CONCAT('''', SUBSTRING_INDEX(CURRENT_USER(), '@', 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''');

-- Up to where a server has applied, and written to its own binary log.
-- @statement replication_position
-- @out position text
SELECT @@GLOBAL.gtid_binlog_pos AS position;

-- Waits until the server has applied that. -1: it has not, after so many seconds.
-- @statement replication_await
-- @in position text, seconds uint
-- @out result int null
SELECT CAST(MASTER_GTID_WAIT(:position, :seconds) AS SIGNED) AS result;

-- @statement replication_read_only
SET GLOBAL read_only = ON;

-- @statement replication_writable
SET GLOBAL read_only = OFF;

-- A primary waits for a replica's receipt; a replica would wait for one of its own replicas, of which it has none.
-- @statement replication_wait_for_receipts
SET GLOBAL rpl_semi_sync_master_enabled = ON;

-- @statement replication_wait_for_none
SET GLOBAL rpl_semi_sync_master_enabled = OFF;

-- Receives no more, and so acknowledges no more to its primary. What was received is still applied.
-- @statement replication_stop_receiving
STOP SLAVE IO_THREAD;

-- @statement replication_receive
START SLAVE IO_THREAD;

-- @statement replication_stop
STOP SLAVE;

-- It is no replica from here on, after a restart neither.
-- @statement replication_end
RESET SLAVE ALL;

-- Makes the server a replica, from the position up to which its own binary log goes. tls, ca, cert, key, verify: no element, or one: how
-- the other server is reached.
-- @script replication_attach
-- @in host names, port names, user names, password names, tls names, ca names, cert names, key names, verify names
STOP SLAVE;
SET GLOBAL rpl_semi_sync_master_enabled = OFF;
SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos;
CHANGE MASTER TO
MASTER_HOST = ':host',
MASTER_USER = ':user',
MASTER_PASSWORD = ':password',
MASTER_SSL_CA = ':ca',
MASTER_SSL_CERT = ':cert',
MASTER_SSL_KEY = ':key',
MASTER_USE_GTID = slave_pos;
EXECUTE IMMEDIATE CONCAT('CHANGE MASTER TO MASTER_SSL = ',
':tls',
', MASTER_SSL_VERIFY_SERVER_CERT = ',
':verify',
', MASTER_PORT = ', CAST(
':port'
AS UNSIGNED));
START SLAVE;

-- Raises the number that the next change gets. Numbers that a lost primary has told its clients, and whose changes are lost, are not given
-- again to others then.
-- @script replication_skip_numbers
-- @in by names
SET @next = (SELECT COALESCE(MAX(t.AUTO_INCREMENT), 1) FROM information_schema.TABLES t
WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = 'changes') + CAST(
':by'
AS UNSIGNED);
EXECUTE IMMEDIATE CONCAT('ALTER TABLE changes AUTO_INCREMENT = ', @next);

-- The number that the next change gets, the highest that is published, and the highest that is there.
-- @statement replication_numbers
-- @out next uint, published uint, highest uint
-- @scans information_schema has no index
SELECT CAST(COALESCE((SELECT t.AUTO_INCREMENT FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = 'changes'), 0)
  AS UNSIGNED) AS next, CAST(COALESCE((SELECT h.published FROM log_horizon h WHERE h.id = 1), 0) AS UNSIGNED) AS published,
  CAST(COALESCE((SELECT MAX(c.id) FROM changes c), 0) AS UNSIGNED) AS highest;
