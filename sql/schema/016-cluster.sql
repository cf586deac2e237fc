-- Tenure, schema version 16: which node of a cluster is the writer (doc/cluster.md). Not used where [database] host names one server.

-- @step tables
-- writer: one row. node: the node that workers write to; '' while there is none. epoch: how often that was changed. next: the node that
-- a switch in progress is going to make the writer. held: an operator has stopped all writes, until an operator names a node.
-- writer_slots: each connection that writes has one of these rows, and updates it first in each transaction, WHERE epoch is that under
-- which it found its node to be the writer. A switch updates all of them.
-- writer_switches: what was switched, and how high the change log was.
CREATE TABLE IF NOT EXISTS writer (
  id     TINYINT UNSIGNED NOT NULL PRIMARY KEY,
  node   VARCHAR(255) NOT NULL DEFAULT '',
  epoch  BIGINT UNSIGNED NOT NULL DEFAULT 0,
  next   VARCHAR(255) NOT NULL DEFAULT '',
  held   TINYINT UNSIGNED NOT NULL DEFAULT 0,
  since  DATETIME(6) NULL,
  reason VARCHAR(255) NOT NULL DEFAULT ''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS writer_slots (
  id         SMALLINT UNSIGNED NOT NULL PRIMARY KEY,
  epoch      BIGINT UNSIGNED NOT NULL DEFAULT 0,
  n          BIGINT UNSIGNED NOT NULL DEFAULT 0,
  connection BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
CREATE TABLE IF NOT EXISTS writer_switches (
  epoch       BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  node        VARCHAR(255) NOT NULL,
  at          DATETIME(6) NOT NULL DEFAULT UTC_TIMESTAMP(6),
  reason      VARCHAR(255) NOT NULL,
  last_change BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- @once rows
INSERT IGNORE INTO writer (id) VALUES (1);
INSERT IGNORE INTO writer_slots (id) WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 256) SELECT n FROM numbers;
