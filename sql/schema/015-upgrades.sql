-- Tenure, schema version 15: what was applied to this database, and which programs may serve it.
--
-- Programs of version 13 go on: they look at the highest version in schema_version, which stays 13 until a file says that they may
-- no longer (online/README has the form of these files). Each later version stands in schema_files alone.

-- @step books
-- schema_files: the files that were applied. sha256: of the file as it was then; NULL: applied before this was recorded. oldest: the
-- schema version of the oldest program that may serve the registry since.
-- schema_steps: how far an upgrade is, so that one that was interrupted goes on. position: the last id that batches have done.
CREATE TABLE IF NOT EXISTS schema_files (
  version    INT UNSIGNED NOT NULL PRIMARY KEY,
  file       VARCHAR(255) NOT NULL,
  sha256     BINARY(32) NULL,
  oldest     INT UNSIGNED NOT NULL,
  applied_at DATETIME(6) NOT NULL DEFAULT UTC_TIMESTAMP(6)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS schema_steps (
  version  INT UNSIGNED NOT NULL,
  step     VARCHAR(64) NOT NULL,
  position BIGINT UNSIGNED NOT NULL,
  done_at  DATETIME(6) NULL,
  PRIMARY KEY (version, step)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Raised by every upgrade: workers look then whether they may go on (src/registry/registry.c).
-- @once catalogue
INSERT IGNORE INTO catalogues (name, revision) VALUES ('schema', 1);

-- What programs before version 5 wrote while the upgrade went on, after its step 005 "begun": they leave the id of the last change as
-- it was. Where the upgrade began at version 5 or later, there is nothing to do.
-- @batches changed changes
SET @after = GREATEST(@after, COALESCE((SELECT position FROM schema_steps WHERE version = 5 AND step = 'begun'), 18446744073709551615));
SET @upto = LEAST((SELECT MIN(id) FROM changes WHERE id > @after) + @size - 1, (SELECT MAX(id) FROM changes));
UPDATE resources r
JOIN (SELECT x.resource_id, MAX(x.id) AS newest FROM changes x WHERE x.resource_id IS NOT NULL AND x.id > @after AND x.id <= @upto
  GROUP BY x.resource_id) n ON n.resource_id = r.id
SET r.changed = n.newest WHERE r.changed < n.newest;
UPDATE tenants t
JOIN (SELECT x.tenant_id, MAX(x.id) AS newest FROM changes x WHERE x.resource_id IS NULL AND x.id > @after AND x.id <= @upto
  GROUP BY x.tenant_id) n ON n.tenant_id = t.id
SET t.changed = n.newest WHERE t.changed < n.newest;
