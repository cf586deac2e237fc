-- Tenure, schema version 17: tokens that have ended, by an index.
--
-- `tenure-manage reap` deletes tokens that expired or were revoked longer ago than the retention. It went through all of them. Programs of
-- version 16 need not know of these keys.

-- @index ends tokens
ALTER TABLE tokens
  ADD KEY IF NOT EXISTS expires_at (expires_at), ADD KEY IF NOT EXISTS revoked_at (revoked_at), ALGORITHM=INPLACE, LOCK=NONE;
