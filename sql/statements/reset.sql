-- `tenure-manage db reset`: the registry as db init left it, in one go, while workers run.

-- Rows that belong to a fresh schema first go to temporary tables that hide the real ones (seeded), so their ids are those of
-- a fresh schema, which workers hold in memory. The statements that insert them, from the schema files, come between the
-- two scripts, with standard_traits.
-- @script reset_hide
-- @in seeded names
SET SESSION lock_wait_timeout = 10;
CREATE TEMPORARY TABLE `seeds of :seeded` LIKE `:seeded`;
ALTER TABLE `seeds of :seeded` RENAME TO `:seeded`;

-- A JSON array of their names.
-- @script reset_standard_traits
-- @in names names
INSERT INTO traits (name, created_at, updated_at)
SELECT j.name, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6)
FROM JSON_TABLE(':names', '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$')) j;

-- Then, under a lock on every table at once, rows go and seeds come: no worker sees a state between. emptied: all tables of
-- the registry (schema_registry_tables) but those that are seeded. Changes go on to be numbered: by these numbers workers know
-- whether what they remember is still so.
-- @script reset_replace
-- @in seeded names, emptied names
ALTER TABLE `:seeded` RENAME TO `seeds of :seeded`;
SET SESSION autocommit = 0;
LOCK TABLES tokens WRITE, catalogues WRITE
, `:seeded` WRITE
, `:emptied` WRITE
;
SET @next = (SELECT AUTO_INCREMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'changes');
TRUNCATE TABLE `:emptied`;
EXECUTE IMMEDIATE CONCAT('ALTER TABLE changes AUTO_INCREMENT = ', @next);
DELETE FROM `:seeded`;
INSERT INTO `:seeded` SELECT * FROM `seeds of :seeded`;
UPDATE catalogues SET revision = revision + 1;
DELETE FROM tokens WHERE tenant_id IS NOT NULL;
COMMIT;
UNLOCK TABLES;
SET SESSION autocommit = 1;
