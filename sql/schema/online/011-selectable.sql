-- @oldest 11
-- @step before
ALTER TABLE changes
  ADD COLUMN IF NOT EXISTS selectable_before MEDIUMTEXT NULL, ALGORITHM=INSTANT;
