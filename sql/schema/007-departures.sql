-- Tenure, schema version 7: what left a tenant, found by an index.
--
-- A worker that remembers a page of a tenant's list asks whether anything has changed there since. A resource that was
-- moved away has its change with the tenant that it came to.
ALTER TABLE changes
  ADD KEY from_tenant (from_tenant_id);
