-- Tenure, schema version 24: resources of all tenants by name, and lists by the time of the last change, by indexes.
--
-- Programs of version 23 need not know of them: the key "state" keeps its name, and all that they read from it alone.

-- @index resources resources
-- name: of whatever tenant. A resource keeps its name, so the key costs when one is created, and not when it is changed.
-- state: each change writes an entry of this key, whose revision differs. With updated_at in it, a tenant's resources of a type stand in the
-- order of their last changes, and a change costs no key more. All in one statement, so that it can be run again, and there is a key
-- "state" at any time.
ALTER TABLE resources
  ADD KEY IF NOT EXISTS name (name),
  DROP KEY state,
  ADD KEY state (tenant_id, live, type_id, updated_at, id, locked, bytes, revision, h0, h1, h2, h3),
  ALGORITHM=INPLACE, LOCK=NONE;

-- @index tenants tenants
ALTER TABLE tenants
  ADD KEY IF NOT EXISTS updated_at (updated_at), ALGORITHM=INPLACE, LOCK=NONE;
