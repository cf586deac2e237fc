-- Tenure, schema version 22: webhooks, which tell receivers of changes (doc/webhooks.md). Programs of version 21 need not know of them.

-- @step tables
-- webhooks: tenant_id 0: of all tenants, an operator's. filters: a JSON object, each member of which is an array of the texts that a change
-- may have there ("verbs", "types", "actors"). secret: the key of the signature; old_secret: the one before, which signs as well until
-- old_secret_until. paused: nothing is sent for now.
-- webhook_cursors: how far each is. All changes up to position were sent, were given up, or are not asked for. begun_upto and message: the
-- message that is being sent has the changes in (position, begun_upto]; NULL: none is. attempts, failing_since, status, error: of it.
-- disabled_at: the service gave the webhook up, until somebody changes it.
-- webhook_messages: what is sent beside that: pings, and messages that were given up ("dead"), which can be revived ("queued").
-- webhook_lease: one row. claim: the name of the process that sends, which each of its writes asks for; beat grows while it lives. edits
-- grows with each change of a webhook, so that this process reads them again.
CREATE TABLE IF NOT EXISTS webhooks (
  id               BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  tenant_id        BIGINT UNSIGNED NOT NULL,
  name             VARCHAR(63) NOT NULL,
  uid              BINARY(16) NOT NULL,
  url              VARCHAR(2048) NOT NULL,
  description      VARCHAR(1024) NOT NULL DEFAULT '',
  filters          MEDIUMTEXT NOT NULL,
  paused           BOOLEAN NOT NULL DEFAULT FALSE,
  secret           VARBINARY(64) NOT NULL,
  old_secret       VARBINARY(64) NULL,
  old_secret_until DATETIME(6) NULL,
  etag             BINARY(64) NOT NULL,
  revision         BIGINT UNSIGNED NOT NULL,
  created_at       DATETIME(6) NOT NULL,
  updated_at       DATETIME(6) NOT NULL,
  UNIQUE KEY name (tenant_id, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS webhook_cursors (
  webhook_id    BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  position      BIGINT UNSIGNED NOT NULL,
  begun_upto    BIGINT UNSIGNED NULL,
  message       BINARY(16) NULL,
  attempts      INT UNSIGNED NOT NULL DEFAULT 0,
  next_at       DATETIME(6) NULL,
  failing_since DATETIME(6) NULL,
  disabled_at   DATETIME(6) NULL,
  delivered_at  DATETIME(6) NULL,
  status        SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  error         VARCHAR(255) NOT NULL DEFAULT ''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS webhook_messages (
  id         BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
  webhook_id BIGINT UNSIGNED NOT NULL,
  uid        BINARY(16) NOT NULL,
  kind       ENUM('ping', 'changes') NOT NULL,
  state      ENUM('queued', 'delivered', 'dead') NOT NULL,
  position   BIGINT UNSIGNED NOT NULL DEFAULT 0,
  upto       BIGINT UNSIGNED NOT NULL DEFAULT 0,
  attempts   INT UNSIGNED NOT NULL DEFAULT 0,
  next_at    DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL,
  ended_at   DATETIME(6) NULL,
  status     SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  error      VARCHAR(255) NOT NULL DEFAULT '',
  UNIQUE KEY uid (uid),
  KEY webhook (webhook_id, id),
  KEY state (state, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS webhook_lease (
  id    TINYINT UNSIGNED NOT NULL PRIMARY KEY,
  claim BINARY(16) NOT NULL DEFAULT '',
  beat  BIGINT UNSIGNED NOT NULL DEFAULT 0,
  edits BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- @once rows
INSERT IGNORE INTO webhook_lease (id) VALUES (1);
