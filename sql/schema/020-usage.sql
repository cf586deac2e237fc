-- Tenure, schema version 20: usage, what each tenant had of each type, and for how long (doc/api.md, "Usage").

-- bytes_before, bytes_after: the bytes of the resource's content before and after the change, as far as they count as its tenant's
-- usage: 0 where it did not exist, was deleted, or is not counted (the namespace "default"). A purge has 0 twice, as what it takes was
-- deleted before. NULL in changes of tenants, and in rows that programs of earlier versions wrote: usage is not counted over such rows of
-- resources, but begins anew behind them (src/registry/usage/README).
-- @step changes
ALTER TABLE changes
  ADD COLUMN IF NOT EXISTS bytes_before INT UNSIGNED NULL, ADD COLUMN IF NOT EXISTS bytes_after INT UNSIGNED NULL,
  ALGORITHM=INSTANT;

-- usage_progress: one row; who works on usage locks it. The changes up to position were counted, each once.
--   stage: waiting (nothing is counted; an opening balance is begun at opens_at, NULL: at once), opening (usage_opening has the
--   resources up to the id slice), sharing (usage_pending has what usage_opening says of the tenants up to slice), counting, or
--   closing (usage_periods has what usage_pending said of the period up to closing_until, for the tenants up to slice).
--   period_s: the length of a period. Periods end at multiples of it, since 1970; all that is before grid_since is one period.
-- usage_opening: what there was when the changes up to opened_id were done. suspended: the tenant was deleted then.
-- usage_pending: what the changes counted so far add to a period, known by its end, that is not closed.
-- usage_periods: the closed periods of a tenant's type. resources, bytes: at the period's end. A row never changes. There is none for a
-- period in which nothing of the type changed: resources and bytes are as in the row before.
-- usage_suspended: what deleted tenants had, which counts again if they are recovered. A row with type 0 marks such a tenant.
-- usage_closings: all closed periods. last_change: position when it was closed. opened: an opening balance began to count in it.
-- resource_us: how many microseconds of the period a resource counted, summed over all resources; byte_us: the same times its bytes.
-- @step usage
CREATE TABLE IF NOT EXISTS usage_progress (
  id            TINYINT UNSIGNED NOT NULL PRIMARY KEY,
  stage         ENUM('waiting', 'opening', 'sharing', 'counting', 'closing') NOT NULL DEFAULT 'waiting',
  opens_at      DATETIME(6) NULL,
  opened_id     BIGINT UNSIGNED NOT NULL DEFAULT 0,
  opened_at     DATETIME(6) NULL,
  slice         BIGINT UNSIGNED NOT NULL DEFAULT 0,
  position      BIGINT UNSIGNED NOT NULL DEFAULT 0,
  closed_until  DATETIME(6) NULL,
  closing_until DATETIME(6) NULL,
  period_s      INT UNSIGNED NOT NULL DEFAULT 0,
  grid_since    DATETIME(6) NULL,
  opened        BOOLEAN NOT NULL DEFAULT FALSE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS usage_opening (
  tenant_id BIGINT UNSIGNED NOT NULL,
  type_id   INT UNSIGNED NOT NULL,
  resources BIGINT NOT NULL,
  bytes     BIGINT NOT NULL,
  suspended BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (tenant_id, type_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS usage_suspended (
  tenant_id BIGINT UNSIGNED NOT NULL,
  type_id   INT UNSIGNED NOT NULL,
  resources BIGINT NOT NULL,
  bytes     BIGINT NOT NULL,
  PRIMARY KEY (tenant_id, type_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS usage_pending (
  until       DATETIME(6) NOT NULL,
  tenant_id   BIGINT UNSIGNED NOT NULL,
  type_id     INT UNSIGNED NOT NULL,
  resources   BIGINT NOT NULL,
  bytes       BIGINT NOT NULL,
  resource_us DECIMAL(36,0) NOT NULL,
  byte_us     DECIMAL(36,0) NOT NULL,
  PRIMARY KEY (until, tenant_id, type_id),
  KEY tenant (tenant_id, type_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS usage_periods (
  tenant_id   BIGINT UNSIGNED NOT NULL,
  type_id     INT UNSIGNED NOT NULL,
  until       DATETIME(6) NOT NULL,
  since       DATETIME(6) NOT NULL,
  resources   BIGINT NOT NULL,
  bytes       BIGINT NOT NULL,
  resource_us DECIMAL(36,0) NOT NULL,
  byte_us     DECIMAL(36,0) NOT NULL,
  PRIMARY KEY (tenant_id, type_id, until),
  KEY until (until)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS usage_closings (
  until       DATETIME(6) NOT NULL PRIMARY KEY,
  since       DATETIME(6) NOT NULL,
  last_change BIGINT UNSIGNED NOT NULL,
  closed_at   DATETIME(6) NOT NULL,
  opened      BOOLEAN NOT NULL DEFAULT FALSE
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- @once rows
INSERT IGNORE INTO usage_progress (id) VALUES (1);
