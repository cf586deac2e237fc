-- Tenure, schema version 1: tenants, resources, moves, changes, tokens.
--
-- Ids compare byte for byte, case and trailing blanks included: utf8mb4_nopad_bin. They have up to 255 characters, not
-- bytes. Times are UTC. There are no foreign keys: on a Galera cluster a child's INSERT would conflict with any UPDATE
-- of its parent row; every writer locks the tenant's row instead, and `tenure-manage doctor` proves what keys would.

CREATE TABLE schema_version (
  version    INT UNSIGNED NOT NULL PRIMARY KEY,
  file       VARCHAR(255) NOT NULL,
  applied_at DATETIME(6) NOT NULL DEFAULT UTC_TIMESTAMP(6)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Server keys (etag_key, state_key: 32 random bytes each, made by `tenure-manage db init`) and the like.
CREATE TABLE settings (
  name  VARCHAR(64) NOT NULL PRIMARY KEY,
  value VARBINARY(1024) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Levels of service. max_resources NULL: no limit.
CREATE TABLE tiers (
  id            INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name          VARCHAR(255) NOT NULL,
  max_resources BIGINT UNSIGNED NULL,
  description   VARCHAR(1024) NOT NULL DEFAULT '',
  UNIQUE KEY name (name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- A tenant is active, or deleted and recoverable until purge_at. A purged one keeps its row (live NULL, metadata gone),
-- so that the change log still has a name for it while the name is free again.
CREATE TABLE tenants (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(255) NOT NULL,
  live       TINYINT UNSIGNED NULL DEFAULT 1,
  uid        BINARY(16) NOT NULL,
  tier_id    INT UNSIGNED NOT NULL,
  metadata   MEDIUMTEXT NOT NULL,              -- JSON object of strings
  etag       BINARY(64) NOT NULL,
  revision   BIGINT UNSIGNED NOT NULL,         -- grows by every change
  created_at DATETIME(6) NOT NULL,
  updated_at DATETIME(6) NOT NULL,
  deleted_at DATETIME(6) NULL,                 -- set: deleted
  purge_at   DATETIME(6) NULL,
  UNIQUE KEY name (name, live),
  UNIQUE KEY uid (uid),
  KEY purge_at (purge_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- How many live, counted resources a tenant has: what quotas are held against. Apart from tenants, so that counting does
-- not wait for those who hold the tenant's row shared.
CREATE TABLE tenant_counts (
  tenant_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  resources BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- What a resource can be an instance of. group_name '' is the core group.
CREATE TABLE types (
  id         INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  group_name VARCHAR(255) NOT NULL DEFAULT '',
  version    VARCHAR(63) NOT NULL,
  kind       VARCHAR(63) NOT NULL,
  plural     VARCHAR(255) NOT NULL,
  singular   VARCHAR(255) NOT NULL,
  namespaced BOOLEAN NOT NULL,
  builtin    BOOLEAN NOT NULL DEFAULT FALSE,
  UNIQUE KEY plural (group_name, plural)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Resources, live and deleted ones. (tenant, type, namespace, name) is the address; namespace '' where the type has none.
-- live: 1 a resource that counts; 2 one that belongs to its tenant and is neither counted nor moved (the namespace
-- "default"); NULL deleted, recoverable until purge_at. NULLs are distinct in a unique key: any number of deleted ones may
-- have had the same address.
-- h0..h3: keyed hash of uid, 32 bits each; a tenant's state tag is the sum of h * revision over its resources, read from
-- the index `state` alone.
CREATE TABLE resources (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uid        BINARY(16) NOT NULL,
  tenant_id  BIGINT UNSIGNED NOT NULL,
  type_id    INT UNSIGNED NOT NULL,
  namespace  VARCHAR(255) NOT NULL DEFAULT '',
  name       VARCHAR(255) NOT NULL,
  live       TINYINT UNSIGNED NULL DEFAULT 1,
  locked     BOOLEAN NOT NULL DEFAULT FALSE,   -- metadata.locked: not to be moved or deleted
  bytes      INT UNSIGNED NOT NULL,            -- length of meta and body
  revision   BIGINT UNSIGNED NOT NULL,         -- grows by every change, moves included
  edits      BIGINT UNSIGNED NOT NULL,         -- changes of content; covered by the etag
  h0         INT UNSIGNED NOT NULL,
  h1         INT UNSIGNED NOT NULL,
  h2         INT UNSIGNED NOT NULL,
  h3         INT UNSIGNED NOT NULL,
  etag       BINARY(64) NOT NULL,
  meta       MEDIUMTEXT NOT NULL,              -- JSON object: labels, annotations, … as the client gave them
  body       MEDIUMTEXT NOT NULL,              -- JSON object: all but metadata
  created_at DATETIME(6) NOT NULL,
  updated_at DATETIME(6) NOT NULL,
  deleted_at DATETIME(6) NULL,
  purge_at   DATETIME(6) NULL,
  deletion   BINARY(16) NULL,                  -- id of the request that deleted it: what went together comes back together
  UNIQUE KEY uid (uid),
  UNIQUE KEY address (tenant_id, type_id, namespace, name, live),
  KEY state (tenant_id, live, type_id, locked, bytes, revision, h0, h1, h2, h3),
  KEY deletion (deletion),
  KEY purge_at (purge_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- The address a moved resource left behind. It names the resource, not its next address, so chains end at the present
-- home.
CREATE TABLE forwards (
  tenant_id   BIGINT UNSIGNED NOT NULL,
  type_id     INT UNSIGNED NOT NULL,
  namespace   VARCHAR(255) NOT NULL DEFAULT '',
  name        VARCHAR(255) NOT NULL,
  resource_id BIGINT UNSIGNED NOT NULL,
  moved_at    DATETIME(6) NOT NULL,
  PRIMARY KEY (tenant_id, type_id, namespace, name),
  KEY resource (resource_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Moves, done in the request that asked (state done at once) or in the background.
CREATE TABLE moves (
  id           BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  uid          BINARY(16) NOT NULL,            -- id of the request that asked for it; its change rows carry it
  source_id    BIGINT UNSIGNED NOT NULL,
  dest_id      BIGINT UNSIGNED NOT NULL,
  resource_id  BIGINT UNSIGNED NULL,           -- NULL: all resources of the source
  state        ENUM('queued', 'done', 'failed') NOT NULL,
  if_match     VARCHAR(64) NULL,               -- conditional: the move action's etag when it was asked for
  words        TINYINT UNSIGNED NOT NULL DEFAULT 2, -- vocabulary it was asked in: 1 accounts, 2 tenants
  actor        VARCHAR(255) NOT NULL,
  resources    BIGINT UNSIGNED NOT NULL DEFAULT 0, -- how many it moves, or moved
  outcome      VARCHAR(63) NOT NULL DEFAULT '',
  detail       TEXT NOT NULL DEFAULT '',
  created_at   DATETIME(6) NOT NULL,
  finished_at  DATETIME(6) NULL,
  UNIQUE KEY uid (uid),
  KEY state (state, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- How far a background move is. Written outside the move's transaction, by a connection of its own.
CREATE TABLE move_progress (
  move_id    BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  moved      BIGINT UNSIGNED NOT NULL,
  updated_at DATETIME(6) NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- The change log: one row a change, committed with it. resource_id NULL: a change of the tenant itself.
CREATE TABLE changes (
  id             BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  request_id     BINARY(16) NOT NULL,
  at             DATETIME(6) NOT NULL,
  actor          VARCHAR(255) NOT NULL,
  verb           ENUM('created', 'updated', 'deleted', 'recovered', 'moved', 'purged') NOT NULL,
  tenant_id      BIGINT UNSIGNED NOT NULL,     -- whose it is after the change
  from_tenant_id BIGINT UNSIGNED NULL,         -- moved: whose it was
  resource_id    BIGINT UNSIGNED NULL,
  uid            BINARY(16) NOT NULL,
  type_id        INT UNSIGNED NULL,
  namespace      VARCHAR(255) NULL,
  name           VARCHAR(255) NULL,
  revision       BIGINT UNSIGNED NOT NULL,     -- after the change
  etag_before    BINARY(64) NULL,
  etag_after     BINARY(64) NULL,
  KEY request (request_id),
  KEY tenant (tenant_id, id),
  KEY resource (resource_id, id),
  KEY at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Opaque tokens "id.secret"; only SHA-256 of the secret is kept. tenant_id NULL: an operator.
CREATE TABLE tokens (
  id          VARCHAR(32) NOT NULL PRIMARY KEY,
  hash        BINARY(32) NOT NULL,
  user        VARCHAR(255) NOT NULL,
  tenant_id   BIGINT UNSIGNED NULL,
  role        ENUM('reader', 'member', 'admin', 'operator') NOT NULL,
  description VARCHAR(1024) NOT NULL DEFAULT '',
  created_at  DATETIME(6) NOT NULL,
  expires_at  DATETIME(6) NULL,
  revoked_at  DATETIME(6) NULL,
  KEY tenant (tenant_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

INSERT INTO tiers (name, max_resources, description) VALUES
  ('standard', NULL,   'No limit. What a tenant gets that asks for nothing else'),
  ('free',     100,    'Up to 100 resources'),
  ('bronze',   1000,   'Up to 1,000 resources'),
  ('silver',   10000,  'Up to 10,000 resources'),
  ('gold',     100000, 'Up to 100,000 resources');

INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) VALUES
  ('', 'v1', 'Namespace',        'namespaces',        'namespace',        FALSE, TRUE),
  ('', 'v1', 'PersistentVolume', 'persistentvolumes', 'persistentvolume', FALSE, TRUE),
  ('', 'v1', 'ConfigMap',        'configmaps',        'configmap',        TRUE,  TRUE),
  ('', 'v1', 'Secret',           'secrets',           'secret',           TRUE,  TRUE),
  ('', 'v1', 'Pod',              'pods',              'pod',              TRUE,  TRUE),
  ('', 'v1', 'ServiceAccount',   'serviceaccounts',   'serviceaccount',   TRUE,  TRUE),
  ('', 'v1', 'Service',          'services',          'service',          TRUE,  TRUE);
