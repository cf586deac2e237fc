-- Fragments and statements that several subjects share.

-- The first lock of a transaction: if another transaction holds it, fail at once, or wait (registry/core/context.h, enum
-- lock_policy).
-- @choice wait
-- @case not
NOWAIT
-- @case long

-- The database's clock.
-- @statement database_now
-- @out now time
SELECT UTC_TIMESTAMP(6) AS now;

-- What a resource r has wherever it is, and whether or not it was deleted.
-- @group resource_data uid bytes, locked uint, revision uint, edits uint, etag bytes, meta text, body text, created_at time,
--      updated_at time, root bytes null, traits text null, changed uint, generation uint, deletion_requested_at time null,
--      moves uint
-- @fragment resource_data
r.uid, r.locked, r.revision, r.edits, r.etag, r.meta, r.body, r.created_at, r.updated_at, r.root, r.traits, r.changed,
r.generation, r.doomed_at AS deletion_requested_at, r.moves

-- A resource r, all of its row.
-- @group resource id uint, tenant_id uint, type_id uint, namespace text, name text, live uint null, deleted_at time null,
--      purge_at time null, data resource_data
-- @fragment resource
r.id, r.tenant_id, r.type_id, r.namespace, r.name, r.live, r.deleted_at, r.purge_at, {resource_data}

-- The last change of a resource r; within a transaction, the one that it has just written.
-- @fragment last_change
(SELECT x.id FROM changes x WHERE x.resource_id = r.id ORDER BY x.id DESC LIMIT 1)

-- The time of the last change of a resource r: that of its change row, or of the row itself where that one was purged or is
-- not visible to the statement. A locking read asks for it, so that what the transaction writes gets no earlier time.
-- @fragment last_change_time
GREATEST(r.updated_at, COALESCE(r.deleted_at, r.updated_at),
  COALESCE((SELECT x.at FROM changes x WHERE x.id = r.changed), r.updated_at))

-- The ids of the changes that one of two tenants has, or had, with after < id <= up_to, at most limit. Each part by an index,
-- since much that is above the horizon belongs to other tenants.
-- @group change_tenant id uint
-- @fragment change_ids_of_tenant
(SELECT c.id FROM changes c WHERE c.tenant_id = :$.id AND c.id > :after AND c.id <= :up_to ORDER BY c.id LIMIT :limit)
UNION
(SELECT c.id FROM changes c WHERE c.from_tenant_id = :$.id AND c.id > :after AND c.id <= :up_to ORDER BY c.id LIMIT :limit)
-- @fragment change_ids_of_two
{change_ids_of_tenant tenants[0]}
UNION
{change_ids_of_tenant tenants[1]}
ORDER BY id LIMIT :limit

-- Behind STRAIGHT_JOIN: the resource r of a row x that people see: neither it nor its tenant is deleted. Traits and
-- classes that only others have may be hidden.
-- @fragment seen_of_x
resources r ON r.id = x.resource_id AND r.live IN (1, 2)
STRAIGHT_JOIN tenants seen ON seen.id = r.tenant_id AND seen.deleted_at IS NULL

-- Lists that come as one parameter, a JSON array, as a table j: ids, uids as 32 hex digits, names.
-- @fragment ids
JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) j
-- @fragment uids
JSON_TABLE(:uids, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$')) j
-- @fragment names
JSON_TABLE(:names, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$')) j

-- A tenant t with its tier i and its count c, which a purged one does not have.
-- @group tenant id uint, uid bytes, name text, tier text, max_resources uint null, metadata text, etag bytes, revision uint,
--      resources uint null, created_at time, updated_at time, deleted_at time null, purge_at time null, etag_required uint,
--      object text, type_policy text, changed uint
-- @fragment tenant
t.id, t.uid, t.name, i.name AS tier, i.max_resources, t.metadata, t.etag, t.revision, c.resources, t.created_at,
t.updated_at, t.deleted_at, t.purge_at, t.etag_required, t.object, t.type_policy, t.changed
-- @fragment tenant_tables
tenants t JOIN tiers i ON i.id = t.tier_id JOIN tenant_counts c ON c.tenant_id = t.id

-- The resource of an id, whatever became of it.
-- @statement resource_by_id
-- @in id uint
-- @out r resource
SELECT {resource} FROM resources r WHERE r.id = :id;
