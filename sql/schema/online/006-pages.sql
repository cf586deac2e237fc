-- @oldest 6
-- @index page resources
ALTER TABLE resources
  ADD KEY IF NOT EXISTS page (tenant_id, type_id, namespace, name, live, changed, bytes),
  ALGORITHM=INPLACE, LOCK=NONE;
