-- Tenure, schema version 18: what updates replaced, for the history of a resource and for undo.
--
-- Programs of version 17 need not know of these tables: their updates leave no row, so what those replaced cannot be restored.

-- @step tables
-- A row has the content from before the update in the change log that has the same id. It lives no longer than that row, and no longer
-- than the resource or tenant.
CREATE TABLE IF NOT EXISTS former_resources (
  change_id   BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  resource_id BIGINT UNSIGNED NOT NULL,
  locked      BOOLEAN NOT NULL,
  meta        MEDIUMTEXT NOT NULL,
  body        MEDIUMTEXT NOT NULL,
  traits      MEDIUMTEXT NULL,
  KEY resource (resource_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS former_tenants (
  change_id     BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  tenant_id     BIGINT UNSIGNED NOT NULL,
  tier_id       INT UNSIGNED NOT NULL,
  metadata      MEDIUMTEXT NOT NULL,
  object        MEDIUMTEXT NOT NULL,
  etag_required BOOLEAN NOT NULL,
  KEY tenant (tenant_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
