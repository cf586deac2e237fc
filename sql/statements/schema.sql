-- Questions of tenure-manage about the schema itself, and rows of `settings`.

-- @statement schema_count_tables
-- @out tables uint, versioned int, booked int
-- @scans information_schema has no index
SELECT COUNT(*) AS tables, CAST(COALESCE(SUM(table_name = 'schema_version'), 0) AS SIGNED) AS versioned,
  CAST(COALESCE(SUM(table_name IN ('schema_files', 'schema_steps')), 0) DIV 2 AS SIGNED) AS booked
FROM information_schema.tables
WHERE table_schema = DATABASE();

-- @statement schema_has_table
-- @in name text
-- @out n uint
-- @scans information_schema has no index
SELECT COUNT(*) AS n FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = :name;

-- Tables that the schema's files leave empty. One of them has a row as soon as `db init` has made the keys, or anybody has written.
-- @choice schema_written
-- @case settings
settings
-- @case tenants
tenants
-- @case resources
resources
-- @case changes
changes
-- @case tokens
tokens

-- @statement schema_has_row
-- @out found int
-- @scans it stops at the first row
SELECT EXISTS (SELECT 1 FROM {schema_written}) AS found;

-- All tables of the database, also those that are not Tenure's.
-- @statement schema_tables
-- @out name text
-- @scans information_schema has no index
SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE();

-- The tables of a schema that nobody has used yet. schema_version, the first one that was made, has to be the last of them: while it is
-- there, the database is known as Tenure's.
-- @script schema_drop
-- @in tables names
DROP TABLE IF EXISTS `:tables`;

-- What programs up to version 13 look at: they serve a registry whose highest version here is their own.
-- @statement schema_version
-- @out files uint, version uint
-- @scans a row for each file of the schema
SELECT COUNT(*) AS files, CAST(COALESCE(MAX(version), 0) AS UNSIGNED) AS version FROM schema_version;

-- @statement schema_version_insert
-- @in version uint, file text
INSERT INTO schema_version (version, file) VALUES (:version, :file);

-- Has the database both tables of version 15? An upgrade may have ended between them.
-- @statement schema_is_booked
-- @out booked uint
-- @scans information_schema has no index
SELECT CAST(COUNT(*) DIV 2 AS UNSIGNED) AS booked FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name IN ('schema_files', 'schema_steps');

-- The newest file that was applied, and the oldest program that may go on since.
-- @statement schema_range
-- @out version uint, oldest uint
-- @scans a row for each file of the schema
SELECT CAST(COALESCE(MAX(version), 0) AS UNSIGNED) AS version, CAST(COALESCE(MAX(oldest), 0) AS UNSIGNED) AS oldest
FROM schema_files;

-- @statement schema_applied
-- @out version uint, file text, sha256 bytes null, oldest uint
SELECT version, file, sha256, oldest FROM schema_files ORDER BY version;

-- A file that was recorded already stays as it was.
-- @statement schema_record
-- @in version uint, file text, sha256 bytes null, oldest uint
INSERT IGNORE INTO schema_files (version, file, sha256, oldest) VALUES (:version, :file, :sha256, :oldest);

-- What was applied before there was schema_files. Each program of those days served its own version alone.
-- @statement schema_take_over
-- @scans a row for each file of the schema
INSERT IGNORE INTO schema_files (version, file, sha256, oldest, applied_at)
SELECT version, file, NULL, version, applied_at FROM schema_version;

-- Programs up to version 13 serve a schema only if the highest version here is their own. While that stays as it was before an
-- upgrade, they go on, and their new workers begin. `tenure-manage doctor --fix` ends it (doctor.sql, early_programs). A later file
-- that no longer takes programs of version 13 ends it here.
-- @statement schema_end_early
-- @scans a row for each file of the schema
INSERT IGNORE INTO schema_version (version, file, applied_at)
SELECT f.version, f.file, f.applied_at
FROM schema_files f
JOIN (SELECT MAX(oldest) AS oldest FROM schema_files) o ON f.version <= o.oldest AND o.oldest > 13;

-- Workers look again whether they may go on (COHERENCE_SCHEMA).
-- @statement schema_tell
UPDATE catalogues SET revision = revision + 1 WHERE name = 'schema';

-- How far a step is. done: it is over.
-- @statement schema_step
-- @in version uint, step text
-- @out position uint, done int
SELECT position, done_at IS NOT NULL AS done FROM schema_steps WHERE version = :version AND step = :step;

-- About how many rows a table has, by its statistics.
-- @statement schema_rows
-- @in name text
-- @out n uint
-- @scans information_schema has no index
SELECT CAST(COALESCE(MAX(table_rows), 0) AS UNSIGNED) AS n FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = :name;

-- A step of an upgrade is one text of: schema_step_begin, what the file has, schema_step_end or schema_batch_end. It waits for no
-- row while it has locked others.
-- @script schema_step_begin
-- @in version names, step names, size names
SET SESSION innodb_lock_wait_timeout = 0, lock_wait_timeout = 1;
START TRANSACTION;
SET @upto = NULL, @size = CAST(':size' AS UNSIGNED);
SET @after = COALESCE((SELECT position FROM schema_steps WHERE version = ':version'
  AND step = ':step'), 0);

-- @script schema_step_end
-- @in version names, step names
INSERT INTO schema_steps (version, step, position, done_at) VALUES (':version',
  ':step', COALESCE(@upto, 0), UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE position = VALUES(position), done_at = VALUES(done_at);
COMMIT;

-- @script schema_batch_end
-- @in version names, step names
INSERT INTO schema_steps (version, step, position, done_at) VALUES (':version',
  ':step', COALESCE(@upto, @after), IF(@upto IS NULL, UTC_TIMESTAMP(6), NULL))
ON DUPLICATE KEY UPDATE position = VALUES(position), done_at = VALUES(done_at);
COMMIT;

-- What a step that failed has left open.
-- @statement schema_step_undo
ROLLBACK;

-- @statement schema_database
-- @in name text
-- @out n uint
-- @scans information_schema has no index
SELECT COUNT(*) AS n FROM information_schema.schemata WHERE schema_name = :name;

-- @script schema_create_database
-- @in name names
CREATE DATABASE IF NOT EXISTS `:name` CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- A named lock of the server, one for all its databases, which every writer of the schema takes, and whoever empties the registry. `tenure-manage cluster switch` holds
-- it on the writer that it replaces.
-- @statement schema_lock
-- @in seconds uint
-- @out locked int
SELECT CAST(COALESCE(GET_LOCK('tenure-schema', :seconds), 0) AS SIGNED) AS locked;

-- What changes tables on this connection from here on, a node of Galera does for itself, and the cluster does not wait for it.
-- @statement schema_on_one_node
SET SESSION wsrep_OSU_method = 'RSU';

-- An existing key stays as it is.
-- @statement setting_insert
-- @in name text, value bytes
INSERT IGNORE INTO settings (name, value) VALUES (:name, :value);

-- The keys of etags (src/registry/tags/keys.h).
-- @statement etag_key_rows
-- @out name text, value bytes
-- @sorts twenty rows at most
SELECT name, value FROM settings WHERE name = 'etag_key' OR name LIKE 'etag\_key.%' ORDER BY name;

-- Affects no row if another one of that name was added meanwhile.
-- @statement etag_key_add
-- @in name text, value bytes
INSERT IGNORE INTO settings (name, value) VALUES (:name, CONCAT(:value, UNIX_TIMESTAMP()));

-- A transaction that makes tags by a key for longer than some minutes locks the key's row, so whoever retires the key waits for
-- it.
-- @statement etag_key_pin
-- @in name text
-- @out name text
SELECT name FROM settings WHERE name = :name LOCK IN SHARE MODE;

-- @statement etag_key_await
-- @in name text
-- @out name text
SELECT name FROM settings WHERE name = :name FOR UPDATE WAIT 1;

-- @statement etag_key_remove
-- @in name text
DELETE FROM settings WHERE name = :name;

-- The tables of the registry, which db reset empties. It keeps the others: versions, the server's keys, tokens, the revisions
-- by which workers learn that their caches are stale, the horizon of the change log, which continues, which server is the writer, and which
-- host sends to webhooks. It also keeps the types, because workers cache their ids for as long as they run (src/registry/type/type.h); a custom
-- type that has no definition and no resource is shown nowhere.
-- @statement schema_registry_tables
-- @out table_name text
-- @scans information_schema has no index
-- @sorts likewise
SELECT table_name
FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'
  AND table_name NOT IN ('schema_version', 'schema_files', 'schema_steps', 'settings', 'tokens', 'types', 'catalogues', 'log_horizon', 'log_writers',
    'writer', 'writer_slots', 'writer_switches', 'webhook_lease')
ORDER BY table_name;

-- The system space is no customer's, so it is not counted.
-- @statement registry_count
-- @out tenants uint, deleted_tenants uint, resources uint, deleted_resources uint, queued_moves uint
-- @scans only `tenure-manage db status` asks
SELECT (SELECT COUNT(*) FROM tenants WHERE live IS NOT NULL AND deleted_at IS NULL AND name <> 'system') AS tenants,
  (SELECT COUNT(*) FROM tenants WHERE live IS NOT NULL AND deleted_at IS NOT NULL) AS deleted_tenants,
  (SELECT COUNT(*) FROM resources WHERE live = 1) AS resources,
  (SELECT COUNT(*) FROM resources WHERE live IS NULL) AS deleted_resources,
  (SELECT COUNT(*) FROM moves WHERE state = 'queued') AS queued_moves;

-- @statement setting_get
-- @in name text
-- @out value bytes
SELECT value FROM settings WHERE name = :name;
