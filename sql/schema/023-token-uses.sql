-- Tenure, schema version 23: when tokens were used last.
--
-- Programs of version 22 name the columns that they read and write: what is used through them shows no use.

-- @step column
-- last_used_at: written by tenured-host of each host, at most once in five minutes for a token (src/auth/core/token_uses.h). NULL: not used
-- since the column is there.
ALTER TABLE tokens
  ADD COLUMN IF NOT EXISTS last_used_at DATETIME(6) NULL, ALGORITHM=INSTANT;
