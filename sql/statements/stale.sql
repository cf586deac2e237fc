-- Explains preconditions that failed: who changed the resource or tenant last, and which fields changed since the caller read
-- it.

-- A resource, or a tenant itself. A change beside the tenant's document, such as a token, leaves the etag as it was.
-- @choice stale_thing
-- @case resource
resource_id = :resource_id
-- @case tenant
resource_id IS NULL AND tenant_id = :tenant_id AND NOT (etag_before <=> etag_after)

-- Which changes count. Moves count, too, if the document shows the owner.
-- @choice stale_verbs
-- @case content
verb IN ('created', 'updated')
-- @case owned
verb IN ('created', 'updated', 'moved')

-- @statement stale_last
-- @in resource_id uint, tenant_id uint
-- @out tenant_id uint, actor text, at time
-- @scans back from the last change to one that counts
SELECT tenant_id, actor, at FROM changes WHERE {stale_thing} AND {stale_verbs} ORDER BY id DESC LIMIT 1;

-- The change that made the version that the caller has.
-- @statement stale_known
-- @in resource_id uint, tenant_id uint, tag0 bytes, tag1 bytes, tag2 bytes, tag3 bytes
-- @out id uint
-- @scans likewise
SELECT id FROM changes
WHERE {stale_thing} AND etag_after IN (:tag0, :tag1, :tag2, :tag3)
ORDER BY id DESC
LIMIT 1;

-- If the document shows the owner: the columns from which the etags that clients have are derived.
-- @statement stale_tags_owned
-- @in resource_id uint, limit uint
-- @out id uint, verb text, tenant_id uint, moves uint, etag bytes null
SELECT id, verb, tenant_id, moves, etag_after AS etag
FROM changes
WHERE resource_id = :resource_id AND etag_after IS NOT NULL
ORDER BY id DESC
LIMIT :limit;

-- @statement stale_fields
-- @in resource_id uint, tenant_id uint, since uint, limit uint
-- @out tenant_id uint, fields text null
-- @sorts as many sets of fields as there are
SELECT tenant_id, fields FROM changes
WHERE {stale_thing} AND id > :since AND verb = 'updated'
GROUP BY tenant_id, fields
LIMIT :limit;
