-- @oldest 10
-- @step tables
CREATE TABLE IF NOT EXISTS log_horizon (
  id        TINYINT UNSIGNED NOT NULL PRIMARY KEY,
  published BIGINT UNSIGNED NOT NULL,
  commits   BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS log_writers (
  name VARCHAR(128) NOT NULL PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- @once rows
INSERT INTO log_horizon (id, published, commits) VALUES (1, 0, 0);

-- As the file has it, where each run may only raise the id.
-- @step published
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
SELECT COALESCE(MAX(id), 0) INTO @newest FROM changes;
ALTER TABLE changes COMMENT = 'read up to log_horizon.published', ALGORITHM = INSTANT;
UPDATE log_horizon SET published = GREATEST(published, COALESCE((SELECT MAX(id) FROM changes WHERE id <= @newest), 0))
WHERE id = 1;
