-- Tenure, schema version 25: when a tier was changed last.
--
-- Programs of version 24 name the columns that they read and write, and so never write this one: what they change of a tier gets the time of
-- the database.

-- @step column
-- changed_at: covered by the tier's etag, so that none comes back when the content does. Whoever changes a tier sets a later time than it had.
-- NULL: not changed since the column is there, and the etag is that of the content alone, as programs of version 24 make it.
ALTER TABLE tiers
  ADD COLUMN IF NOT EXISTS changed_at DATETIME(6) NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP(6), ALGORITHM=INSTANT;
