-- Tenure, schema version 8: how often a resource has moved.
--
-- Both columns are added at once, without a row being touched. Programs of version 7 name the columns they write, and raise
-- neither, so they can go on until they are replaced: what they move meanwhile keeps its count.

-- moves: raised by each move to another tenant. Where a resource's document shows its owner, as that of a node, the etag
-- that clients see is made of the stored one, the tenant's id and this (src/registry/etag.h).
ALTER TABLE resources
  ADD COLUMN moves BIGINT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM=INSTANT;

-- moves: of the resource, after the change; so that the feed can tell the etags that clients saw.
ALTER TABLE changes
  ADD COLUMN moves BIGINT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM=INSTANT;
