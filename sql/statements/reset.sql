-- `tenure-manage db reset`: makes the registry as db init left it, in one step, while workers run.

-- First, the rows of a fresh schema are inserted into temporary tables that hide the real ones (seeded). So they get the ids
-- that they have in a fresh schema. The statements that insert them, from the schema files, run between the two scripts, together with
-- standard_traits.
-- @script reset_hide
-- @in seeded names
SET SESSION lock_wait_timeout = 10;
CREATE TEMPORARY TABLE `seeds of :seeded` LIKE `:seeded`;
ALTER TABLE `seeds of :seeded` RENAME TO `:seeded`;

-- names: a JSON array of the names of the standard traits.
-- @script reset_standard_traits
-- @in names names
INSERT INTO traits (name, created_at, updated_at)
SELECT j.name, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM JSON_TABLE(':names', '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$')) j;

-- Then all tables are locked together, their rows are deleted, and the rows of a fresh schema are inserted: no worker sees a
-- state in between. emptied: all tables of the registry (schema_registry_tables) that are not seeded, less changes. Change ids
-- continue, because workers check their caches by them. TRUNCATE makes them begin anew until the next statement, so the
-- horizon first gets the highest id that was given: a reset that is interrupted in between is run again, and finds it there.
-- The locks are this server's alone. `tenure-manage cluster switch` is refused meanwhile (schema_lock); but in a cluster of Galera host services
-- may make another node the writer while the tables are waited for, and that node then gives ids of its own. epoch: the writer's before; no
-- name on a single server. If there is another epoch behind the locks, nothing is emptied: the script ends as if by a deadlock.
-- @script reset_replace
-- @in seeded names, emptied names, epoch names
ALTER TABLE `:seeded` RENAME TO `seeds of :seeded`;
SET SESSION autocommit = 0;
LOCK TABLES tokens WRITE, catalogues WRITE, writer READ, log_horizon WRITE, webhook_lease WRITE, changes WRITE
, `:seeded` WRITE
, `:emptied` WRITE
;
SET STATEMENT wsrep_sync_wait = 7 FOR SELECT COUNT(*) INTO @stays FROM writer WHERE id = 1 AND epoch = ':epoch';
EXECUTE IMMEDIATE IF(@stays = 0,
  'SIGNAL SQLSTATE ''40001'' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = ''another server has become the writer''',
  'DO 0');
SET @next = GREATEST(
  (SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'changes'),
  COALESCE((SELECT published + 1 FROM log_horizon WHERE id = 1), 1));
UPDATE log_horizon SET published = @next - 1 WHERE id = 1;
TRUNCATE TABLE `:emptied`;
TRUNCATE TABLE changes;
EXECUTE IMMEDIATE CONCAT('ALTER TABLE changes AUTO_INCREMENT = ', @next);
DELETE FROM `:seeded`;
INSERT INTO `:seeded` SELECT * FROM `seeds of :seeded`;
UPDATE catalogues SET revision = revision + 1;
UPDATE webhook_lease SET edits = edits + 1;
DELETE FROM tokens WHERE tenant_id IS NOT NULL;
COMMIT;
UNLOCK TABLES;
SET SESSION autocommit = 1;
