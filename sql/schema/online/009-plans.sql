-- @oldest 9
-- @index types types
ALTER TABLE types
  ADD KEY IF NOT EXISTS builtin (builtin), ALGORITHM=INPLACE, LOCK=NONE;

-- @index tenants tenants
ALTER TABLE tenants
  ADD KEY IF NOT EXISTS tier (tier_id, live), ALGORITHM=INPLACE, LOCK=NONE;
