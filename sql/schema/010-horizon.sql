-- Tenure, schema version 10: how far the change log may be read.
--
-- Ids of changes are given before their transactions commit. published is an id up to which every change is committed and
-- durable, or never will be (src/registry/horizon.h). commits counts the commits by which readers make sure that what they
-- have read is durable.
CREATE TABLE log_horizon (
  id        TINYINT UNSIGNED NOT NULL PRIMARY KEY,
  published BIGINT UNSIGNED NOT NULL,
  commits   BIGINT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
INSERT INTO log_horizon (id, published, commits) VALUES (1, 0, 0);

-- The users of the database that write the change log. Who asks for the horizon must see the statements of all of them.
CREATE TABLE log_writers (
  name VARCHAR(128) NOT NULL PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- All that has an id by now is committed or void once the table could be altered, which waits for the transactions that use
-- it: so the first reader need not go through the whole log.
SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;
SELECT COALESCE(MAX(id), 0) INTO @newest FROM changes;
ALTER TABLE changes COMMENT = 'read up to log_horizon.published', ALGORITHM = INSTANT;
UPDATE log_horizon SET published = COALESCE((SELECT MAX(id) FROM changes WHERE id <= @newest), 0) WHERE id = 1;
