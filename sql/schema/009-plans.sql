-- Tenure, schema version 9: two questions answered by an index.
--
-- The keys are built while the service goes on (ALGORITHM=INPLACE, LOCK=NONE), and programs of version 8 need not know of them.

-- A worker reads the built-in types at its start; of custom ones there may be a million.
ALTER TABLE types
  ADD KEY builtin (builtin), ALGORITHM=INPLACE, LOCK=NONE;

-- Whoever removes a tier looks, with a locking read, whether tenants are in it.
ALTER TABLE tenants
  ADD KEY tier (tier_id, live), ALGORITHM=INPLACE, LOCK=NONE;
