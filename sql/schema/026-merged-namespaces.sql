-- Tenure, schema version 26: into which namespace a move has merged another one, so that what leads to the one leads on to the other.
--
-- A row for each namespace that a move deleted because the destination had one of its name. It counts while the namespace is deleted by that
-- move, and says nothing once it was recovered. When the namespace is purged, the forwards to it are led to the other one for good. Programs
-- of version 25 need not know of it: where they merge namespaces, forwards lead to what is deleted, as before.

-- @step table
CREATE TABLE IF NOT EXISTS merged_namespaces (
  resource_id BIGINT UNSIGNED NOT NULL PRIMARY KEY, -- the namespace that was merged
  into_id     BIGINT UNSIGNED NOT NULL,        -- the one that has its content since then
  deletion    BINARY(16) NOT NULL,             -- id of the request that moved; resources.deletion is the same while the row counts
  KEY into_id (into_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_nopad_bin;

-- Those that were merged before: the forward at the address of each was made by the request that deleted it.
-- @batches earlier resources
SET @upto = LEAST((SELECT MIN(id) FROM resources WHERE id > @after) + @size - 1, (SELECT MAX(id) FROM resources));
INSERT IGNORE INTO merged_namespaces (resource_id, into_id, deletion)
SELECT r.id, f.resource_id, r.deletion
FROM resources r
STRAIGHT_JOIN types y ON y.id = r.type_id AND y.group_name = '' AND y.plural = 'namespaces'
STRAIGHT_JOIN forwards f ON f.tenant_id = r.tenant_id AND f.type_id = r.type_id AND f.namespace = '' AND f.name = r.name
  AND f.request_id = r.deletion
WHERE r.id > @after AND r.id <= @upto AND r.live IS NULL;
