-- Tenure, schema version 2: which fields a change touched, and tenants that insist on etags.
--
-- Both columns are added in place, without copying a row. Programs of version 1 name the columns they write, so they
-- can go on until they are replaced.

-- JSON array of JSON Pointers, two levels deep at most: ["/data/color", "/metadata/labels"]. NULL where nothing of the
-- content changed (created, deleted, recovered, moved, purged) and in rows older than this column.
ALTER TABLE changes ADD COLUMN fields MEDIUMTEXT NULL;

-- TRUE: who changes something in this tenant has to send If-Match.
ALTER TABLE tenants ADD COLUMN etag_required BOOLEAN NOT NULL DEFAULT FALSE;
