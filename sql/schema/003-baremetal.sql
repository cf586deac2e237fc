-- Tenure, schema version 3: what hangs together, what is found by more than its address, traits; the types of bare metal.
--
-- Columns are added in place, without copying a row; the keys are built while the service goes on.

-- root: id of the type (4 bytes) and uid of the resource at the top of a tree (a node, with its ports and port groups), the
-- top's own row included; NULL where nothing hangs together. A tree moves, is deleted and comes back as one.
-- uid: once among a type's live resources. Clients choose it for some types: they make anew what was deleted, and give a
-- node and its resource provider the same.
-- traits: JSON array of names in byte order, NULL for none; resource_traits has the same, to be searched.
ALTER TABLE resources
  ADD COLUMN root   BINARY(20) NULL,
  ADD COLUMN traits MEDIUMTEXT NULL,
  DROP KEY uid,
  ADD UNIQUE KEY uid (uid, type_id, live),
  ADD KEY root (root),
  ADD KEY type (type_id, live),
  ADD KEY owner (tenant_id, type_id, live);

-- What a resource is found by, whoever's it is: a node's name, a port's MAC address; also what it points at, as
-- "uid of the target, blank, own uid". Made from the body by the type's rules (src/registry/rules.h). live is NULL while
-- the resource is deleted, so the value is free for others and comes back with it, unless it is taken by then.
CREATE TABLE resource_aliases (
  resource_id BIGINT UNSIGNED NOT NULL,
  kind        VARCHAR(32) NOT NULL,            -- at most one of a kind
  type_id     INT UNSIGNED NOT NULL,
  value       VARCHAR(255) NOT NULL,
  live        TINYINT UNSIGNED NULL DEFAULT 1,
  PRIMARY KEY (resource_id, kind),
  UNIQUE KEY value (type_id, kind, value, live)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- The catalogue: standard traits (`tenure-manage os-traits sync`) and custom ones, CUSTOM_….
-- live: NULL for a custom one that was deleted while deleted resources had it, which can be recovered. It is in no
-- catalogue then, and comes back with the first of them.
CREATE TABLE traits (
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

-- Traits of live and deleted resources, as resources.traits has them.
CREATE TABLE resource_traits (
  resource_id BIGINT UNSIGNED NOT NULL,
  trait_id    INT UNSIGNED NOT NULL,
  PRIMARY KEY (resource_id, trait_id),
  KEY trait (trait_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- What workers hold in memory is compared with the revision here, which every change of the catalogue raises, and db reset
-- does not take back. Whoever hides or brings back a trait or a class of resources (004) holds the row of the traits, so
-- that what was hidden and what is recovered know of each other.
CREATE TABLE catalogues (
  name     VARCHAR(32) NOT NULL PRIMARY KEY,   -- of its table
  revision BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
INSERT INTO catalogues (name, revision) VALUES ('traits', 1);

INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) VALUES
  ('baremetal.openstack.org', 'v1', 'Node',      'nodes',      'node',      FALSE, TRUE),
  ('baremetal.openstack.org', 'v1', 'Port',      'ports',      'port',      FALSE, TRUE),
  ('baremetal.openstack.org', 'v1', 'PortGroup', 'portgroups', 'portgroup', FALSE, TRUE),
  ('baremetal.openstack.org', 'v1', 'Chassis',   'chassis',    'chassis',   FALSE, TRUE);
