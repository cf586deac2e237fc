-- Tenure, schema version 13: namespaces that are deleted in pieces.
--
-- A row for each namespace whose deletion was accepted and goes on in the background, as it has more in it than one
-- transaction is to take (setting delete_sync_max). The namespace is live and waits (resources.doomed_at) until its row here
-- goes. Programs of version 12 need not know of it: what they delete at once is found to be gone.
CREATE TABLE namespace_deletions (
  resource_id BIGINT UNSIGNED NOT NULL PRIMARY KEY, -- the namespace
  deletion    BINARY(16) NOT NULL,             -- id of the request that asked for it: what goes with it gets this in resources.deletion
  actor       VARCHAR(255) NOT NULL,           -- who asked
  purge_at    DATETIME(6) NOT NULL,            -- of all that it takes
  type_id     INT UNSIGNED NOT NULL DEFAULT 0, -- how far it is, in the order of types and names: all up to here is done
  name        VARCHAR(255) NOT NULL DEFAULT ''
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;
