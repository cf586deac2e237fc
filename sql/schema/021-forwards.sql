-- Tenure, schema version 21: forwards that tell which request made them and until when they lead on, and the moves of a tenant by an index.
--
-- Programs of version 20 name the columns they write: what they make meanwhile has no request, and ends with its resource.

-- @step columns
-- request_id: of the move. NULL: a program before version 21 made the forward. expires_at NULL: it lasts as long as its resource.
ALTER TABLE forwards
  ADD COLUMN IF NOT EXISTS request_id BINARY(16) NULL, ADD COLUMN IF NOT EXISTS expires_at DATETIME(6) NULL, ALGORITHM=INSTANT;

-- @index expiry forwards
ALTER TABLE forwards
  ADD KEY IF NOT EXISTS expires_at (expires_at), ALGORITHM=INPLACE, LOCK=NONE;

-- @index tenants moves
ALTER TABLE moves
  ADD KEY IF NOT EXISTS source (source_id, id), ADD KEY IF NOT EXISTS dest (dest_id, id), ALGORITHM=INPLACE, LOCK=NONE;
