-- Questions of tenure-manage about the schema itself, and rows of `settings`.

-- @statement schema_count_tables
-- @out tables uint, versioned int
-- @scans information_schema has no index
SELECT COUNT(*) AS tables, CAST(COALESCE(SUM(table_name = 'schema_version'), 0) AS SIGNED) AS versioned
FROM information_schema.tables
WHERE table_schema = DATABASE();

-- @statement schema_version
-- @out files uint, version uint
-- @scans a row for each file of the schema
SELECT COUNT(*) AS files, CAST(COALESCE(MAX(version), 0) AS UNSIGNED) AS version FROM schema_version;

-- @statement schema_record
-- @in version uint, file text
INSERT INTO schema_version (version, file) VALUES (:version, :file);

-- @statement schema_database
-- @in name text
-- @out n uint
-- @scans information_schema has no index
SELECT COUNT(*) AS n FROM information_schema.schemata WHERE schema_name = :name;

-- @script schema_create_database
-- @in name names
CREATE DATABASE IF NOT EXISTS `:name` CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- A named lock of the server, which every writer of the schema takes.
-- @statement schema_lock
-- @in seconds uint
-- @out locked int
SELECT CAST(COALESCE(GET_LOCK('tenure-schema', :seconds), 0) AS SIGNED) AS locked;

-- An existing key stays as it is.
-- @statement setting_insert
-- @in name text, value bytes
INSERT IGNORE INTO settings (name, value) VALUES (:name, :value);

-- The tables of the registry, which db reset empties. It keeps the others: versions, the server's keys, tokens, the revisions
-- by which workers learn that their caches are stale, and the horizon of the change log, which continues.
-- @statement schema_registry_tables
-- @out table_name text
-- @scans information_schema has no index
-- @sorts likewise
SELECT table_name
FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'
  AND table_name NOT IN ('schema_version', 'settings', 'tokens', 'catalogues', 'log_horizon', 'log_writers')
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
