-- @oldest 13
-- @step table
CREATE TABLE IF NOT EXISTS namespace_deletions (
  resource_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  deletion    BINARY(16) NOT NULL,
  actor       VARCHAR(255) NOT NULL,
  purge_at    DATETIME(6) NOT NULL,
  type_id     INT UNSIGNED NOT NULL DEFAULT 0,
  name        VARCHAR(255) NOT NULL DEFAULT ''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
