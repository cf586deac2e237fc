-- The system space, which exists before the first change. So the log has no changes of its rows, and their last change is 1.

-- @statement system_space_find
-- @in name text
-- @out id uint
SELECT id FROM tenants WHERE name = :name AND live = 1;

-- If the tier does not exist, this inserts no row.
-- @statement system_space_insert
-- @in name text, uid bytes, tier text, etag bytes, now time
INSERT INTO tenants (name, uid, tier_id, metadata, etag_required, etag, revision, created_at, updated_at, object)
SELECT :name, :uid, i.id, '{}', 0, :etag, 1, :now, :now, '{}'
FROM tiers i
WHERE i.name = :tier;

-- @statement system_space_count
-- @in tenant_id uint
INSERT INTO tenant_counts (tenant_id) VALUES (:tenant_id);
