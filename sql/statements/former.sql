-- What updates replaced: the content of a resource or tenant from before each update, as long as it is kept. registry/log/change.c alone
-- writes it.

-- ---- keeping it

-- Runs right after the change row, and before the resource is changed, in the same batch.
-- @statement former_keep_resource
-- @in resource_id uint
INSERT INTO former_resources (change_id, resource_id, locked, meta, body, traits)
SELECT LAST_INSERT_ID(), r.id, r.locked, r.meta, r.body, r.traits FROM resources r WHERE r.id = :resource_id;

-- @statement former_keep_tenant
-- @in tenant_id uint
INSERT INTO former_tenants (change_id, tenant_id, tier_id, metadata, object, etag_required)
SELECT LAST_INSERT_ID(), t.id, t.tier_id, t.metadata, t.object, t.etag_required FROM tenants t WHERE t.id = :tenant_id;

-- Of a change in another table, such as that of inventories: the column body has what was there, as JSON, and the other columns nothing.
-- @statement former_keep_beside
-- @in resource_id uint, former text
INSERT INTO former_resources (change_id, resource_id, locked, meta, body, traits)
VALUES (LAST_INSERT_ID(), :resource_id, 0, '{}', :former, NULL);

-- The same of providers whose allocations have changed. Runs after the statement that sets their column changed. formers: a JSON array of
-- [provider's id, what was there].
-- @statement former_keep_allocations
-- @in formers text
INSERT INTO former_resources (change_id, resource_id, locked, meta, body, traits)
SELECT r.changed, r.id, 0, '{}', j.former, NULL
FROM JSON_TABLE(:formers, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$[0]',
  former MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[1]')) j
STRAIGHT_JOIN resources r ON r.id = j.id;

-- The same of resources that wait for their finalizers from now on. Runs after the statement that marks them, which sets their column changed and
-- leaves their content as it was.
-- @statement former_keep_waiting
-- @in waiting text
INSERT INTO former_resources (change_id, resource_id, locked, meta, body, traits)
SELECT r.changed, r.id, r.locked, r.meta, r.body, r.traits
FROM {waiting} STRAIGHT_JOIN resources r ON r.id = j.id;

-- ---- the history of a resource, with content

-- A resource of the tenant, live or deleted: by its uid, or the one that has or had an address last.
-- @choice former_whose
-- @case uid
r.uid = :uid
-- @case address
r.type_id = :type_id AND r.namespace = :namespace AND r.name = :name

-- @statement former_resource
-- @in tenant_id uint, type_id uint, namespace text, name text, uid bytes, now time
-- @out r resource
-- @sorts what has or had one address
SELECT {resource}
FROM resources r
WHERE r.tenant_id = :tenant_id AND {former_whose} AND (r.live IS NOT NULL OR r.purge_at > :now)
ORDER BY r.live DESC, r.changed DESC, r.id DESC
LIMIT 1;

-- Resources of other types that have the uid of the one that former_resource found, as a node and the provider that Nova makes for it have.
-- deleted: that one is deleted; otherwise deleted ones do not count.
-- @statement former_namesakes
-- @in tenant_id uint, uid bytes, type_id uint, deleted uint, now time, limit uint
-- @out type_id uint, namespace text, name text
-- @sorts what has or had one uid
SELECT r.type_id, r.namespace, r.name
FROM resources r
WHERE r.uid = :uid AND r.tenant_id = :tenant_id AND r.type_id <> :type_id AND (r.live IS NOT NULL OR (:deleted AND r.purge_at > :now))
GROUP BY r.type_id, r.namespace, r.name
LIMIT :limit;

-- The changes of a resource while it was the tenant's, the newest first, each with the content that it replaced.
-- @statement former_page
-- @in resource_id uint, tenant_id uint, below uint, limit uint
-- @out id uint, request_id bytes, at time, actor text, verb text, revision uint, fields text null, locked uint null, meta text null,
--      body text null, traits text null
SELECT c.id, c.request_id, c.at, c.actor, c.verb, c.revision, c.fields, f.locked, f.meta, f.body, f.traits
FROM changes c FORCE INDEX (resource)
LEFT JOIN former_resources f ON f.change_id = c.id
WHERE c.resource_id = :resource_id AND c.tenant_id = :tenant_id AND c.id < :below
ORDER BY c.id DESC
LIMIT :limit;

-- Changes of providers in other tables than that of the resources: they replace no content.
-- @fragment former_elsewhere
('["/allocations"]', '["/inventories"]', '["/aggregates"]')

-- The first update of the resource's content from an id on, with the content that it replaced: what the resource was until then. providers: the id of their
-- type; in the document of another one, members may have these names.
-- @statement former_next
-- @in resource_id uint, from uint, providers uint
-- @out id uint, locked uint null, meta text null, body text null, traits text null
-- @scans from that id to the next update of the content
SELECT c.id, f.locked, f.meta, f.body, f.traits
FROM changes c FORCE INDEX (resource)
LEFT JOIN former_resources f ON f.change_id = c.id
WHERE c.resource_id = :resource_id AND c.id >= :from AND c.verb = 'updated' AND (c.fields IS NULL OR c.type_id <> :providers OR c.fields NOT IN {former_elsewhere})
ORDER BY c.id
LIMIT 1;

-- The first change of a provider's inventories, or of its aggregates, from an id on, with what it replaced.
-- @statement former_next_beside
-- @in resource_id uint, from uint, fields text
-- @out id uint, locked uint null, body text null
-- @scans from that id to the next such change
SELECT c.id, f.locked, f.body
FROM changes c FORCE INDEX (resource)
LEFT JOIN former_resources f ON f.change_id = c.id
WHERE c.resource_id = :resource_id AND c.id >= :from AND c.verb = 'updated' AND c.fields = :fields
ORDER BY c.id
LIMIT 1;
