-- @oldest 3
-- @step columns
ALTER TABLE resources
  ADD COLUMN IF NOT EXISTS root BINARY(20) NULL,
  ADD COLUMN IF NOT EXISTS traits MEDIUMTEXT NULL,
  ALGORITHM=INSTANT;

-- The file adds columns and keys by one statement, which copies the table. Apart, only the keys are built.
-- @index keys resources
ALTER TABLE resources
  DROP KEY IF EXISTS uid,
  ADD UNIQUE KEY uid (uid, type_id, live),
  ADD KEY IF NOT EXISTS root (root),
  ADD KEY IF NOT EXISTS type (type_id, live),
  ADD KEY IF NOT EXISTS owner (tenant_id, type_id, live),
  ALGORITHM=INPLACE, LOCK=NONE;

-- @step tables
CREATE TABLE IF NOT EXISTS resource_aliases (
  resource_id BIGINT UNSIGNED NOT NULL,
  kind        VARCHAR(32) NOT NULL,
  type_id     INT UNSIGNED NOT NULL,
  value       VARCHAR(255) NOT NULL,
  live        TINYINT UNSIGNED NULL DEFAULT 1,
  PRIMARY KEY (resource_id, kind),
  UNIQUE KEY value (type_id, kind, value, live)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS traits (
  id          INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name        VARCHAR(255) NOT NULL,
  description VARCHAR(1024) NOT NULL DEFAULT '',
  deprecated  BOOLEAN NOT NULL DEFAULT FALSE,
  created_at  DATETIME(6) NOT NULL,
  updated_at  DATETIME(6) NOT NULL,
  live        TINYINT UNSIGNED NULL DEFAULT 1,
  UNIQUE KEY name (name),
  KEY live (live)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS resource_traits (
  resource_id BIGINT UNSIGNED NOT NULL,
  trait_id    INT UNSIGNED NOT NULL,
  PRIMARY KEY (resource_id, trait_id),
  KEY trait (trait_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

CREATE TABLE IF NOT EXISTS catalogues (
  name     VARCHAR(32) NOT NULL PRIMARY KEY,
  revision BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- @once rows
INSERT INTO catalogues (name, revision) VALUES ('traits', 1);
INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) VALUES
  ('baremetal.openstack.org', 'v1', 'Node',      'nodes',      'node',      FALSE, TRUE),
  ('baremetal.openstack.org', 'v1', 'Port',      'ports',      'port',      FALSE, TRUE),
  ('baremetal.openstack.org', 'v1', 'PortGroup', 'portgroups', 'portgroup', FALSE, TRUE),
  ('baremetal.openstack.org', 'v1', 'Chassis',   'chassis',    'chassis',   FALSE, TRUE);
