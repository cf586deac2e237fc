-- The invariants that `tenure-manage doctor` checks, and the repairs that need no guessing.
--
-- Most of them go through a table in slices: a statement looks at the rows whose ids are above :after and up to :upto. So none runs
-- for long, holds a lock or a snapshot for long, or has to begin anew when the doctor was stopped.

-- ---- slices

-- The table that a slice is cut from, with its id.
-- @choice doctor_slices_of
-- @case resources
r.id AS id FROM resources r WHERE r.id > :after ORDER BY r.id
-- @case tenants
t.id AS id FROM tenants t WHERE t.id > :after ORDER BY t.id
-- @case changes
c.id AS id FROM changes c WHERE c.id > :after ORDER BY c.id
-- @case forwards
f.resource_id AS id FROM forwards f FORCE INDEX (resource) WHERE f.resource_id > :after ORDER BY f.resource_id
-- @case keys
a.resource_id AS id FROM resource_aliases a WHERE a.resource_id > :after ORDER BY a.resource_id
-- @case traits
x.resource_id AS id FROM resource_traits x WHERE x.resource_id > :after ORDER BY x.resource_id
-- @case providers
x.resource_id AS id FROM providers x WHERE x.resource_id > :after ORDER BY x.resource_id
-- @case inventories
x.resource_id AS id FROM inventories x WHERE x.resource_id > :after ORDER BY x.resource_id
-- @case aggregates
x.resource_id AS id FROM provider_aggregates x WHERE x.resource_id > :after ORDER BY x.resource_id
-- @case allocations
a.consumer_id AS id FROM allocations a WHERE a.consumer_id > :after ORDER BY a.consumer_id
-- @case consumers
c.id AS id FROM consumers c WHERE c.id > :after ORDER BY c.id

-- The last id of the next slice, which has about limit rows; 0: there is no row behind :after. All rows of one id are in one slice.
-- @statement doctor_slice
-- @in after uint, limit uint
-- @out upto uint
SELECT CAST(COALESCE(MAX(s.id), 0) AS UNSIGNED) AS upto FROM (SELECT {doctor_slices_of} LIMIT :limit) s;

-- The highest id of that table, by which a doctor tells how far it is.
-- @choice doctor_last_of
-- @case resources
MAX(id) AS id FROM resources
-- @case tenants
MAX(id) AS id FROM tenants
-- @case changes
MAX(id) AS id FROM changes
-- @case forwards
MAX(resource_id) AS id FROM forwards
-- @case keys
MAX(resource_id) AS id FROM resource_aliases
-- @case traits
MAX(resource_id) AS id FROM resource_traits
-- @case providers
MAX(resource_id) AS id FROM providers
-- @case inventories
MAX(resource_id) AS id FROM inventories
-- @case aggregates
MAX(resource_id) AS id FROM provider_aggregates
-- @case allocations
MAX(consumer_id) AS id FROM allocations
-- @case consumers
MAX(id) AS id FROM consumers

-- @statement doctor_last
-- @out id uint null
SELECT {doctor_last_of};

-- Where a doctor that was stopped goes on: text of src/registry/upkeep/doctor.c.
-- @statement doctor_position_save
-- @in position bytes
INSERT INTO settings (name, value) VALUES ('doctor_position', :position) ON DUPLICATE KEY UPDATE value = VALUES(value);

-- @statement doctor_position_forget
DELETE FROM settings WHERE name = 'doctor_position';

-- @fragment n_is_namespaces
n.group_name = '' AND n.plural = 'namespaces' AND n.namespaced = 0
-- @fragment r_in_slice
r.id > :after AND r.id <= :upto
-- @fragment t_in_slice
t.id > :after AND t.id <= :upto
-- @fragment i_in_slice
i.resource_id > :after AND i.resource_id <= :upto
-- @fragment a_in_slice
a.consumer_id > :after AND a.consumer_id <= :upto
-- @fragment x_in_slice
x.resource_id > :after AND x.resource_id <= :upto

-- ---- invariants that are one statement each: a case finds the rows that break one, and names them

-- @fragment resource_name
CONCAT('resource ', LOWER(HEX(r.uid)))
-- @fragment tenant_name
CONCAT('tenant ', t.name)
-- @fragment inventory_name
CONCAT('inventory ', i.class_id, ' of resource ', i.resource_id)

-- Files f that programs up to version 13 have to see, so that none of them begins to serve (schema_end_early).
-- @fragment doctor_untold_versions
schema_files f
JOIN (SELECT MAX(oldest) AS oldest FROM schema_files) o ON f.version <= o.oldest
LEFT JOIN schema_version v ON v.version = f.version
WHERE v.version IS NULL

-- Is the resource r locked, as its metadata says?
-- @fragment doctor_lock_of_meta
COALESCE(JSON_VALUE(r.meta, '$.locked') IN ('1', 'true'), 0)

-- Forwards f to a resource that does not exist; and forwards at the address of a live resource r.
-- @fragment doctor_forwards_to_nothing
forwards f LEFT JOIN resources r ON r.id = f.resource_id
WHERE r.id IS NULL AND f.resource_id > :after AND f.resource_id <= :upto
-- @fragment doctor_forwards_covered
forwards f FORCE INDEX (resource)
STRAIGHT_JOIN resources r FORCE INDEX (address) ON r.tenant_id = f.tenant_id AND r.type_id = f.type_id AND r.namespace = f.namespace
  AND r.name = f.name AND r.live IS NOT NULL
WHERE f.resource_id > :after AND f.resource_id <= :upto

-- Rows e of namespaces that are being emptied, but live no more, or do not wait.
-- @fragment doctor_lost_namespace_deletions
namespace_deletions e LEFT JOIN resources r ON r.id = e.resource_id AND r.live = 1 AND r.doomed_at IS NOT NULL WHERE r.id IS NULL

-- Rows m of namespaces that were merged, of which one or the other does not exist.
-- @fragment doctor_lost_merges
merged_namespaces m
LEFT JOIN resources r ON r.id = m.resource_id
LEFT JOIN resources d ON d.id = m.into_id
WHERE r.id IS NULL OR d.id IS NULL

-- The members of a node or allocation r that name the other one; and of the other one o, that names r. y is the type of r.
-- @fragment doctor_names_other
REPLACE(JSON_VALUE(r.body, IF(y.plural = 'nodes', '$.allocation_uuid', '$.node_uuid')), '-', '')
-- @fragment doctor_named_by_other
REPLACE(JSON_VALUE(o.body, IF(y.plural = 'nodes', '$.node_uuid', '$.allocation_uuid')), '-', '')

-- @fragment doctor_keys_of_nothing
resource_aliases a LEFT JOIN resources r ON r.id = a.resource_id
WHERE r.id IS NULL AND a.resource_id > :after AND a.resource_id <= :upto

-- The names in the list of traits of a resource r, as j.
-- @fragment doctor_listed_traits
JSON_TABLE(IF(JSON_VALID(r.traits), r.traits, '[]'), '$[*]' COLUMNS (
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$')) j
-- Rows x of resource_traits whose resource r does not list that trait.
-- @fragment doctor_unlisted_traits
resource_traits x LEFT JOIN resources r ON r.id = x.resource_id LEFT JOIN traits n ON n.id = x.trait_id
WHERE NOT COALESCE(JSON_VALID(r.traits) AND JSON_CONTAINS(r.traits, JSON_QUOTE(n.name)), 0) AND {x_in_slice}
-- The other way round, behind "JOIN traits n": listed names without a row.
-- @fragment doctor_traits_without_row
ON n.name = j.name LEFT JOIN resource_traits x ON x.resource_id = r.id AND x.trait_id = n.id
WHERE r.traits IS NOT NULL AND x.trait_id IS NULL AND {r_in_slice}

-- Providers r with their parents o, by the lookup key of the parent. The text behind checks whether both are in the same tree.
-- @fragment doctor_parents
resource_aliases a
JOIN types y ON y.id = a.type_id AND y.plural = 'resourceproviders' AND y.group_name = 'placement.openstack.org'
JOIN resources r ON r.id = a.resource_id AND r.live = 1
LEFT JOIN resources o ON o.uid = UNHEX(REPLACE(LEFT(a.value, 36), '-', '')) AND o.type_id = a.type_id AND o.live = 1
WHERE a.kind = 'parent' AND a.live = 1 AND a.resource_id > :after AND a.resource_id <= :upto

-- Rows x of tables of providers whose resource does not exist.
-- @fragment doctor_lost_generations
providers x LEFT JOIN resources r ON r.id = x.resource_id WHERE r.id IS NULL AND {x_in_slice}
-- @fragment doctor_lost_inventories
inventories x LEFT JOIN resources r ON r.id = x.resource_id WHERE r.id IS NULL AND {x_in_slice}
-- @fragment doctor_lost_aggregates
provider_aggregates x LEFT JOIN resources r ON r.id = x.resource_id WHERE r.id IS NULL AND {x_in_slice}

-- What used and capacity of an inventory i should be.
-- @fragment doctor_used
COALESCE((SELECT SUM(a.used) FROM allocations a WHERE a.resource_id = i.resource_id AND a.class_id = i.class_id), 0)
-- @fragment doctor_capacity
CAST(LEAST(FLOOR((CAST(i.total AS SIGNED) - CAST(i.reserved AS SIGNED)) * i.allocation_ratio), 9000000000000000000) AS SIGNED)

-- @fragment doctor_bare_consumers
consumers c LEFT JOIN allocations a ON a.consumer_id = c.id
WHERE a.consumer_id IS NULL AND c.id > :after AND c.id <= :upto

-- Traits and classes k that are hidden (registry/trait/catalogue.h) although a live resource of an active tenant has them.
-- @fragment doctor_hidden_traits
traits k WHERE k.live IS NULL
  AND (SELECT r.id FROM resource_traits x STRAIGHT_JOIN {seen_of_x} WHERE x.trait_id = k.id LIMIT 1) > 0
-- @fragment doctor_hidden_classes
resource_classes k WHERE k.live IS NULL
  AND (SELECT r.id FROM inventories x STRAIGHT_JOIN {seen_of_x} WHERE x.class_id = k.id LIMIT 1) > 0

-- The reserved words are those of src/auth/core/realm.h.
-- Webhooks: of tenants that are purged, or gone; and what is left of webhooks that are gone.
-- @fragment doctor_lost_webhooks
webhooks w
LEFT JOIN webhook_cursors c ON c.webhook_id = w.id
LEFT JOIN tenants t ON t.id = w.tenant_id AND t.live = 1
WHERE w.tenant_id <> 0 AND t.id IS NULL
-- @fragment doctor_webhooks_without_cursor
webhooks w
LEFT JOIN webhook_cursors c ON c.webhook_id = w.id
WHERE c.webhook_id IS NULL
-- @fragment doctor_lost_messages
webhook_messages m
LEFT JOIN webhooks w ON w.id = m.webhook_id
WHERE w.id IS NULL

-- @choice doctor_finding
-- @case early_programs
SELECT CONCAT('those of schema version ', (SELECT MAX(version) FROM schema_version), ' may') AS example
FROM {doctor_untold_versions}
-- @case tenant
SELECT {resource_name} AS example FROM resources r LEFT JOIN tenants t ON t.id = r.tenant_id WHERE t.id IS NULL AND {r_in_slice}
-- @case change_fields
SELECT CONCAT('change ', c.id) AS example
FROM changes c
WHERE c.id > :after AND c.id <= :upto
  AND (NOT JSON_VALID(COALESCE(c.fields, '[]')) OR NOT JSON_VALID(COALESCE(NULLIF(c.selectable_before, ''), '{}')))
-- @case type
SELECT {resource_name} AS example FROM resources r LEFT JOIN types y ON y.id = r.type_id WHERE y.id IS NULL AND {r_in_slice}
-- @case tier
SELECT {tenant_name} AS example FROM tenants t LEFT JOIN tiers i ON i.id = t.tier_id WHERE i.id IS NULL AND {t_in_slice}
-- @case reserved_name
SELECT {tenant_name} AS example FROM tenants t WHERE t.live = 1 AND t.name = 'all'
-- @case reserved_token
SELECT CONCAT('token ', k.id, ' of ', t.name) AS example
FROM tokens k
JOIN tenants t ON t.id = k.tenant_id
WHERE t.live = 1 AND t.name IN ('all', 'system') AND k.revoked_at IS NULL
-- @case default_namespace
SELECT {tenant_name} AS example
FROM types n
STRAIGHT_JOIN tenants t
LEFT JOIN resources r FORCE INDEX (address) ON r.tenant_id = t.id AND r.type_id = n.id AND r.namespace = '' AND r.name = 'default' AND r.live = 2
WHERE {n_is_namespaces} AND t.live = 1 AND r.id IS NULL AND {t_in_slice}
-- @case system_space
SELECT '`tenure-manage db upgrade` makes it' AS example
FROM (SELECT COUNT(*) AS n FROM tenants t WHERE t.name = 'system' AND t.live = 1) s
WHERE s.n = 0
-- @case namespace
SELECT {resource_name} AS example
FROM types n
STRAIGHT_JOIN resources r FORCE INDEX (PRIMARY)
STRAIGHT_JOIN types y ON y.id = r.type_id AND y.namespaced
LEFT JOIN resources s FORCE INDEX (address) ON s.tenant_id = r.tenant_id AND s.type_id = n.id AND s.namespace = '' AND s.name = r.namespace
  AND s.live IS NOT NULL
WHERE {n_is_namespaces} AND r.live = 1 AND s.id IS NULL AND {r_in_slice}
-- @case purge_time
SELECT {resource_name} AS example
FROM resources r
WHERE ((r.live IS NULL) <> (r.deleted_at IS NOT NULL) OR (r.deleted_at IS NULL) <> (r.purge_at IS NULL)) AND {r_in_slice}
-- @case lock
SELECT {resource_name} AS example FROM resources r WHERE r.locked <> {doctor_lock_of_meta} AND {r_in_slice}
-- @case forward_to_nothing
SELECT CONCAT('forward of ', f.name) AS example FROM {doctor_forwards_to_nothing}
-- @case forward_covered
SELECT CONCAT('forward of ', f.name) AS example FROM {doctor_forwards_covered}
-- @case revision
SELECT {resource_name} AS example
FROM resources r
WHERE r.revision <> COALESCE((SELECT MAX(x.revision) FROM changes x WHERE x.resource_id = r.id), r.revision) AND {r_in_slice}
-- @case last_change_id
SELECT {resource_name} AS example FROM resources r WHERE r.changed <> COALESCE({last_change}, r.changed) AND {r_in_slice}
-- @case horizon_row
SELECT 'table log_horizon has no row' AS example FROM (SELECT COUNT(*) AS n FROM log_horizon) h WHERE h.n <> 1
-- @case horizon_ids
SELECT CONCAT('published: ', h.published, ', next id: ', t.AUTO_INCREMENT) AS example
FROM log_horizon h
JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = DATABASE() AND t.TABLE_NAME = 'changes'
WHERE h.published >= t.AUTO_INCREMENT
-- @case writer
SELECT CONCAT('user ', w.name, ' has no privilege PROCESS') AS example
FROM log_writers w
WHERE (SELECT COUNT(*) FROM log_writers) > 1
  AND (SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES p WHERE p.PRIVILEGE_TYPE IN ('PROCESS', 'SUPER')
    AND p.GRANTEE LIKE CONCAT('''', REPLACE(w.name, '_', '\_'), '''@%')) = 0
-- @case definition_type
SELECT {resource_name} AS example
FROM resources r FORCE INDEX (PRIMARY)
STRAIGHT_JOIN types d ON d.id = r.type_id AND d.group_name = 'apiextensions.k8s.io' AND d.plural = 'customresourcedefinitions'
LEFT JOIN types y ON y.group_name = JSON_VALUE(r.body, '$.spec.group') AND y.plural = JSON_VALUE(r.body, '$.spec.names.plural')
  AND y.namespaced = (JSON_VALUE(r.body, '$.spec.scope') = 'Namespaced')
WHERE y.id IS NULL AND {r_in_slice}
-- @case finalizers
SELECT {resource_name} AS example
FROM resources r
WHERE {r_in_slice} AND r.live IS NOT NULL AND r.doomed_at IS NOT NULL AND COALESCE(JSON_LENGTH(r.meta, '$.finalizers'), 0) = 0
  AND NOT (r.namespace = '' AND r.type_id = (SELECT id FROM types WHERE group_name = '' AND plural = 'namespaces')
    AND (COALESCE(JSON_LENGTH(r.body, '$.spec.finalizers'), 0) > 0
      OR EXISTS (SELECT 1 FROM namespace_deletions e WHERE e.resource_id = r.id)
      OR EXISTS (SELECT 1 FROM resources c WHERE c.tenant_id = r.tenant_id AND c.namespace = r.name AND c.live = 1
        AND c.doomed_at IS NOT NULL)))
-- @case namespace_deletion
SELECT CONCAT('deletion of namespace ', e.resource_id) AS example FROM {doctor_lost_namespace_deletions}
-- @case merged_namespace
SELECT CONCAT('merge of namespace ', m.resource_id) AS example FROM {doctor_lost_merges}
-- @case key_of_nothing
SELECT CONCAT('lookup key ', a.kind, ' ', a.value) AS example FROM {doctor_keys_of_nothing}
-- @case trait_order
SELECT {resource_name} AS example
FROM resources r
WHERE {r_in_slice} AND r.traits IS NOT NULL
  AND NOT (r.traits <=> (SELECT JSON_ARRAYAGG(DISTINCT j.name ORDER BY j.name) FROM {doctor_listed_traits}))
-- @case trait_unlisted
SELECT CONCAT('trait ', x.trait_id, ' of resource ', COALESCE(LOWER(HEX(r.uid)), x.resource_id)) AS example
FROM {doctor_unlisted_traits}
-- @case trait_without_row
SELECT {resource_name} AS example
FROM resources r JOIN {doctor_listed_traits} LEFT JOIN traits n {doctor_traits_without_row}
-- @case tree_of_parent
SELECT {resource_name} AS example
FROM {doctor_parents} AND (o.id IS NULL OR o.tenant_id <> r.tenant_id OR NOT (o.root <=> r.root))
-- @case generation
SELECT CONCAT('providers of resource ', x.resource_id) AS example FROM {doctor_lost_generations}
-- @case inventory
SELECT CONCAT('inventories of resource ', x.resource_id) AS example FROM {doctor_lost_inventories}
-- @case aggregate
SELECT CONCAT('provider_aggregates of resource ', x.resource_id) AS example FROM {doctor_lost_aggregates}
-- @case inventory_class
SELECT {inventory_name} AS example
FROM inventories i
LEFT JOIN resource_classes c ON c.id = i.class_id
WHERE c.id IS NULL AND {i_in_slice}
-- @case capacity
SELECT {inventory_name} AS example FROM inventories i WHERE i.capacity <> {doctor_capacity} AND {i_in_slice}
-- @case used
SELECT {inventory_name} AS example FROM inventories i WHERE i.used <> {doctor_used} AND {i_in_slice}
-- @case hidden_class
SELECT k.name AS example FROM {doctor_hidden_classes}
-- @case allocation_inventory
SELECT CONCAT('allocation of consumer ', a.consumer_id) AS example
FROM allocations a
LEFT JOIN inventories i ON i.resource_id = a.resource_id AND i.class_id = a.class_id
WHERE i.resource_id IS NULL AND {a_in_slice}
-- @case allocation_consumer
SELECT CONCAT('allocation of consumer ', a.consumer_id) AS example
FROM allocations a
LEFT JOIN consumers c ON c.id = a.consumer_id
WHERE c.id IS NULL AND {a_in_slice}
-- @case consumer
SELECT CONCAT('consumer ', LOWER(HEX(c.uid))) AS example FROM {doctor_bare_consumers}
-- @case move_tenants
SELECT CONCAT('move ', LOWER(HEX(m.uid))) AS example
FROM moves m
LEFT JOIN tenants s ON s.id = m.source_id
LEFT JOIN tenants t ON t.id = m.dest_id
WHERE m.state = 'queued' AND (s.id IS NULL OR t.id IS NULL)
-- @case webhook_cursor
SELECT CONCAT('webhook ', w.name) AS example FROM {doctor_webhooks_without_cursor}
-- @case webhook_tenant
SELECT CONCAT('webhook ', w.name) AS example FROM {doctor_lost_webhooks}
-- @case webhook_message
SELECT CONCAT('message ', LOWER(HEX(m.uid))) AS example FROM {doctor_lost_messages}
-- @case webhook_lease
SELECT 'the row of webhook_lease' AS example FROM (SELECT COUNT(*) AS n FROM webhook_lease) s WHERE s.n = 0
-- @case node_allocation
SELECT {resource_name} AS example
FROM resources r FORCE INDEX (PRIMARY)
STRAIGHT_JOIN types y ON y.id = r.type_id
LEFT JOIN resources o ON o.uid = UNHEX({doctor_names_other}) AND o.live = 1 AND o.type_id = (
  SELECT p.id FROM types p WHERE p.group_name = y.group_name AND p.plural = IF(y.plural = 'nodes', 'allocations', 'nodes'))
WHERE {r_in_slice} AND r.live = 1 AND y.group_name = 'baremetal.openstack.org' AND y.plural IN ('nodes', 'allocations')
  AND {doctor_names_other} IS NOT NULL AND COALESCE({doctor_named_by_other} <> LOWER(HEX(r.uid)), 1)
-- @case hidden_trait
SELECT k.name AS example FROM {doctor_hidden_traits}
-- @case tree
SELECT {resource_name} AS example
FROM resources r
LEFT JOIN resources o ON o.uid = RIGHT(r.root, 16) AND o.live = 1 AND o.type_id = CONV(HEX(LEFT(r.root, 4)), 16, 10)
WHERE {r_in_slice} AND r.live = 1 AND r.root IS NOT NULL AND (o.id IS NULL OR o.tenant_id <> r.tenant_id)

-- How many rows of the slice break the invariant, and the name of one of them.
-- @statement doctor_find
-- @in after uint, upto uint
-- @out n uint, example text
-- @scans it proves something of every row
-- @sorts likewise
SELECT COUNT(*) AS n, COALESCE(MIN(f.example), '') AS example FROM ({doctor_finding}) f;

-- Repairs. The cases have the names of the invariants. No UPDATE here computes a value from another table: at READ COMMITTED it would
-- read that table as it was when the statement began, but the rows that it updates as they are now, so it would undo what was committed
-- between (doctor_repair_row is for these).
-- @choice doctor_repair
-- @case early_programs
INSERT IGNORE INTO schema_version (version, file, applied_at)
SELECT f.version, f.file, f.applied_at FROM {doctor_untold_versions}
-- @case lock
UPDATE resources r SET r.locked = {doctor_lock_of_meta} WHERE r.locked <> {doctor_lock_of_meta} AND {r_in_slice}
-- @case forward_to_nothing
DELETE f FROM {doctor_forwards_to_nothing}
-- @case forward_covered
DELETE f FROM {doctor_forwards_covered}
-- @case horizon_row
INSERT IGNORE INTO log_horizon (id, published, commits) VALUES (1, 0, 0)
-- @case namespace_deletion
DELETE e FROM {doctor_lost_namespace_deletions}
-- @case merged_namespace
DELETE m FROM {doctor_lost_merges}
-- @case key_of_nothing
DELETE a FROM {doctor_keys_of_nothing}
-- @case trait_unlisted
DELETE x FROM {doctor_unlisted_traits}
-- @case trait_without_row
INSERT INTO resource_traits (resource_id, trait_id)
SELECT r.id, n.id FROM resources r JOIN {doctor_listed_traits} JOIN traits n {doctor_traits_without_row}
-- @case tree_of_parent
UPDATE resources r
JOIN (SELECT r.id, o.root FROM {doctor_parents} AND o.tenant_id = r.tenant_id AND o.root <> r.root) x ON x.id = r.id
SET r.root = x.root
-- @case webhook_cursor
INSERT INTO webhook_cursors (webhook_id, position)
SELECT w.id, h.published FROM log_horizon h STRAIGHT_JOIN {doctor_webhooks_without_cursor} AND h.id = 1
-- @case webhook_tenant
DELETE w, c FROM {doctor_lost_webhooks}
-- @case webhook_message
DELETE m FROM {doctor_lost_messages}
-- @case webhook_lease
INSERT IGNORE INTO webhook_lease (id) VALUES (1)
-- @case generation
DELETE x FROM {doctor_lost_generations}
-- @case inventory
DELETE x FROM {doctor_lost_inventories}
-- @case aggregate
DELETE x FROM {doctor_lost_aggregates}
-- @case capacity
UPDATE inventories i SET i.capacity = {doctor_capacity} WHERE i.capacity <> {doctor_capacity} AND {i_in_slice}
-- @case hidden_class
UPDATE resource_classes SET live = 1 WHERE id IN (SELECT k.id FROM {doctor_hidden_classes})
-- @case consumer
DELETE c FROM {doctor_bare_consumers}
-- @case hidden_trait
UPDATE traits SET live = 1 WHERE id IN (SELECT k.id FROM {doctor_hidden_traits})

-- @statement doctor_repair_slice
-- @in after uint, upto uint
-- @scans it mends whatever is broken in every row of the slice
-- @sorts likewise
{doctor_repair};

-- ---- columns that are computed from rows of another table: repaired row by row. Each is locked by one statement and updated by the next, whose
-- snapshot is younger than the lock, so that it has all that was committed about the row.

-- The rows whose column is wrong. class_id: of inventories; else 0.
-- @choice doctor_wrong_row
-- @case last_change_id
SELECT r.id, 0 AS class_id FROM resources r WHERE r.changed <> COALESCE({last_change}, r.changed) AND {r_in_slice}
-- @case used
SELECT i.resource_id AS id, i.class_id FROM inventories i WHERE i.used <> {doctor_used} AND {i_in_slice}

-- @statement doctor_wrong_rows
-- @in after uint, upto uint
-- @out id uint, class_id uint
-- @scans it proves something of every row
-- @sorts likewise
{doctor_wrong_row};

-- @choice doctor_row
-- @case last_change_id
SELECT r.id FROM resources r WHERE r.id = :id
-- @case used
SELECT i.resource_id AS id FROM inventories i WHERE i.resource_id = :id AND i.class_id = :class_id

-- @statement doctor_lock_row
-- @in id uint, class_id uint
-- @out id uint
{doctor_row} FOR UPDATE;

-- @choice doctor_row_repair
-- @case last_change_id
UPDATE resources r SET r.changed = COALESCE({last_change}, r.changed) WHERE r.id = :id
-- @case used
UPDATE inventories i SET i.used = {doctor_used} WHERE i.resource_id = :id AND i.class_id = :class_id

-- @statement doctor_repair_row
-- @in id uint, class_id uint
{doctor_row_repair};

-- ---- counts of resources: repaired tenant by tenant, under the lock that keeps the tenant's writers away

-- @fragment doctor_wrong_counts
tenants t
LEFT JOIN tenant_counts c ON c.tenant_id = t.id
WHERE {t_in_slice} AND t.live = 1
  AND (c.resources IS NULL OR c.resources <> (SELECT COUNT(*) FROM resources r WHERE r.tenant_id = t.id AND r.live = 1))

-- @statement doctor_find_counts
-- @in after uint, upto uint
-- @out n uint, example text
-- @scans it proves something of every row
-- @sorts likewise
SELECT COUNT(*) AS n, COALESCE(MIN({tenant_name}), '') AS example FROM {doctor_wrong_counts};

-- @statement doctor_wrong_counts
-- @in after uint, upto uint
-- @out tenant_id uint
-- @scans it proves something of every row
-- @sorts likewise
SELECT t.id AS tenant_id FROM {doctor_wrong_counts};

-- @statement doctor_lock_tenant
-- @in id uint
-- @out id uint
SELECT id FROM tenants WHERE id = :id FOR UPDATE;

-- @statement doctor_recount
-- @in tenant_id uint
INSERT INTO tenant_counts (tenant_id, resources)
SELECT :tenant_id, COUNT(*) FROM resources WHERE tenant_id = :tenant_id AND live = 1
ON DUPLICATE KEY UPDATE resources = VALUES(resources);

-- ---- resources, a page at a time, for checks that the program itself has to compute

-- What JSON functions of the database cannot read: they give up behind 31 levels, and call what is deeper invalid.
-- All; those that may have lookup keys or a place in a tree, as types with rules belong to a group.
-- @choice doctor_walk
-- @case unreadable
NULL AS lookup_keys
FROM resources r
WHERE {r_in_slice} AND NOT COALESCE(JSON_VALID(r.meta) AND JSON_VALID(r.body) AND JSON_TYPE(r.meta) = 'OBJECT'
  AND JSON_TYPE(r.body) = 'OBJECT', FALSE)
-- @case all
NULL AS lookup_keys
FROM resources r
WHERE {r_in_slice}
-- @case related
(SELECT JSON_ARRAYAGG(JSON_ARRAY(a.kind, a.value, a.type_id, a.live)) FROM resource_aliases a WHERE a.resource_id = r.id)
  AS lookup_keys
FROM resources r
WHERE {r_in_slice} AND (r.root IS NOT NULL OR r.type_id IN (SELECT id FROM types WHERE group_name <> '')
  OR (SELECT a.resource_id FROM resource_aliases a WHERE a.resource_id = r.id LIMIT 1) > 0)

-- @statement doctor_page
-- @in after uint, upto uint, limit uint
-- @out r resource, bytes uint, h0 uint, h1 uint, h2 uint, h3 uint, lookup_keys text null
-- @scans it looks at every row, in the order of their ids
SELECT {resource}, r.bytes, r.h0, r.h1, r.h2, r.h3, {doctor_walk} ORDER BY r.id LIMIT :limit;

-- These repairs change a resource only if it is still as it was read: a writer that changed it meanwhile has computed all of
-- this anew.

-- @statement doctor_update_hashes
-- @in id uint, revision uint, etag bytes, bytes uint, h0 uint, h1 uint, h2 uint, h3 uint
UPDATE resources
SET etag = :etag, bytes = :bytes, h0 = :h0, h1 = :h1, h2 = :h2, h3 = :h3
WHERE id = :id AND revision = :revision;

-- @statement doctor_update_document
-- @in id uint, revision uint, meta text, body text, bytes uint, etag bytes
UPDATE resources
SET meta = :meta, body = :body, bytes = :bytes, etag = :etag
WHERE id = :id AND revision = :revision;

-- @statement doctor_lock_resource
-- @in id uint, revision uint, live uint null
-- @out id uint
SELECT id FROM resources WHERE id = :id AND revision = :revision AND live <=> :live FOR UPDATE;

-- @statement doctor_update_root
-- @in id uint, root bytes null
UPDATE resources SET root = :root WHERE id = :id;

-- @statement doctor_delete_keys
-- @in resource_id uint
DELETE FROM resource_aliases WHERE resource_id = :resource_id;

-- @statement doctor_insert_key
-- @in resource_id uint, kind text, type_id uint, value text, live uint null
INSERT INTO resource_aliases (resource_id, kind, type_id, value, live) VALUES (:resource_id, :kind, :type_id, :value, :live);

-- ---- tenants, a page at a time

-- The page is cut before the joins, or the server would sort all tenants for each page.
-- @statement doctor_tenants
-- @in after uint, upto uint, limit uint
-- @out t tenant
-- @scans it looks at every row, in the order of their ids
SELECT {tenant}
FROM (SELECT * FROM tenants WHERE live = 1 AND id > :after AND id <= :upto ORDER BY id LIMIT :limit) t
JOIN tiers i ON i.id = t.tier_id
JOIN tenant_counts c ON c.tenant_id = t.id
ORDER BY t.id;

-- @statement doctor_update_tenant
-- @in id uint, revision uint, etag bytes
UPDATE tenants SET etag = :etag WHERE id = :id AND revision = :revision;

-- @statement doctor_update_tenant_object
-- @in id uint, revision uint, object text, etag bytes
UPDATE tenants SET object = :object, etag = :etag WHERE id = :id AND revision = :revision;
