-- @oldest 7
-- @index from-tenant changes
ALTER TABLE changes
  ADD KEY IF NOT EXISTS from_tenant (from_tenant_id), ALGORITHM=INPLACE, LOCK=NONE;
