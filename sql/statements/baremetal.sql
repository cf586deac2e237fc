-- Bare metal: which nodes an allocation may take.

-- A node k that can be taken has a lookup key of the kind "free": the length of its resource class, the class and its uid, so that
-- nodes of a class stand side by side, in an order that says nothing (src/registry/baremetal/node.c). name, and candidates, an array of
-- hexadecimal uids: only nodes that have one of them are looked at. rare: the id of a trait that fewer nodes have than the class has free
-- nodes, and which the node must have; 0: none.
-- @choice allocation_way
-- @case any
resource_aliases k FORCE INDEX (value) STRAIGHT_JOIN resources r ON r.id = k.resource_id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE :tenant IS NULL AND :name IS NULL AND :uids IS NULL AND :rare = 0
-- @case first
(SELECT resource_id, type_id, kind, value, live FROM resource_aliases FORCE INDEX (value)
 WHERE type_id = :type_id AND kind = 'free' AND value > :from AND value < :to AND live = 1
 ORDER BY value LIMIT 1000) k
STRAIGHT_JOIN resources r ON r.id = k.resource_id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE t.name = :tenant AND :name IS NULL AND :uids IS NULL AND :rare = 0
-- @case tenant
tenants t STRAIGHT_JOIN resources r FORCE INDEX (owner) ON r.tenant_id = t.id AND r.type_id = :type_id AND r.live = 1
STRAIGHT_JOIN resource_aliases k FORCE INDEX (PRIMARY) ON k.resource_id = r.id
WHERE t.name = :tenant AND t.live = 1 AND t.deleted_at IS NULL AND :name IS NULL AND :uids IS NULL AND :rare = 0
-- @case trait
resource_traits x FORCE INDEX (trait) STRAIGHT_JOIN resources r ON r.id = x.resource_id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
STRAIGHT_JOIN resource_aliases k FORCE INDEX (PRIMARY) ON k.resource_id = r.id
WHERE x.trait_id = :rare AND (:tenant IS NULL OR t.name = :tenant) AND :name IS NULL AND :uids IS NULL
-- @case named
resource_aliases n FORCE INDEX (value) STRAIGHT_JOIN resources r ON r.id = n.resource_id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
STRAIGHT_JOIN resource_aliases k FORCE INDEX (PRIMARY) ON k.resource_id = r.id
WHERE n.type_id = :type_id AND n.kind = 'name' AND n.value = :name AND n.live = 1 AND (:tenant IS NULL OR t.name = :tenant)
  AND (:uids IS NULL OR JSON_CONTAINS(:uids, JSON_QUOTE(LOWER(HEX(r.uid))))) AND :rare = 0
-- @case candidates
{uids} STRAIGHT_JOIN resources r FORCE INDEX (uid) ON r.uid = UNHEX(j.hex) AND r.type_id = :type_id AND r.live = 1
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
STRAIGHT_JOIN resource_aliases k FORCE INDEX (PRIMARY) ON k.resource_id = r.id
WHERE (:tenant IS NULL OR t.name = :tenant) AND :name IS NULL AND :rare = 0

-- Has the tenant t room for one more resource? Not if its tier allows no more, or if it is to be deleted.
-- @fragment allocation_has_room
(SELECT i.max_resources IS NULL OR c.resources < i.max_resources
 FROM tiers i STRAIGHT_JOIN tenant_counts c ON c.tenant_id = t.id WHERE i.id = t.tier_id) AND NOT {tenant_ends}

-- The next of them, in the order of their keys. from, to: which keys, neither of them included. traits: a JSON array of names, all of which
-- the node must have. The allocation will belong to the node's tenant: without tenant, only nodes of tenants that have room for it.
-- @statement allocation_nodes
-- @in type_id uint, tenant text null, name text null, uids text null, rare uint, from text, to text, traits text, limit uint
-- @out uid bytes, value text
-- @scans the free nodes of a class before those that fit; the tenant's nodes, where none of the first thousand of the class fits
-- @sorts the nodes that fit, where a tenant's, a trait's or the candidates are looked at
SELECT r.uid, k.value
FROM {allocation_way}
  AND k.type_id = :type_id AND k.kind = 'free' AND k.value > :from AND k.value < :to AND k.live = 1
  AND (:traits = '[]' OR JSON_CONTAINS(COALESCE(r.traits, '[]'), :traits))
  AND (:tenant IS NOT NULL OR {allocation_has_room})
ORDER BY k.value
LIMIT :limit;

-- How many nodes of a class can be taken, as far as that is below a limit.
-- @statement allocation_count_free
-- @in type_id uint, from text, to text, limit uint
-- @out n uint
SELECT COUNT(*) AS n
FROM (SELECT 1 FROM resource_aliases FORCE INDEX (value)
  WHERE type_id = :type_id AND kind = 'free' AND value > :from AND value < :to AND live = 1
  LIMIT :limit) few;

-- The same question about one node, when it is locked: its tenant may have been filled since.
-- @statement allocation_room
-- @in type_id uint, uid bytes
-- @out room int
SELECT {allocation_has_room} AS room
FROM resources r
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id
WHERE r.uid = :uid AND r.type_id = :type_id AND r.live = 1;

-- The node that a resource belongs to, who has reserved it, and its state. A root has the id of its type, in four bytes, before its uid; deleted nodes, and
-- resources of other types, may have the same uid.
-- @statement node_reservation
-- @in type_id uint, uid bytes, key_kind text, key_value text
-- @out uid bytes, reservation text null, state text null
SELECT n.uid, JSON_VALUE(n.body, '$.reservation') AS reservation, JSON_VALUE(n.body, '$.provision_state') AS state
FROM resources r
STRAIGHT_JOIN resources n ON n.uid = SUBSTR(r.root, 5) AND n.type_id = CAST(CONV(HEX(LEFT(r.root, 4)), 16, 10) AS UNSIGNED) AND n.live = 1
WHERE {resource_ident} AND r.live = 1;

-- The physical network of a port of a port group, other than that port. from, to: as for lookup_key_pointing.
-- @statement portgroup_network
-- @in type_id uint, from text, to text, uid bytes
-- @out network text null
SELECT JSON_VALUE(r.body, '$.physical_network') AS network
FROM resource_aliases k FORCE INDEX (value) STRAIGHT_JOIN resources r ON r.id = k.resource_id
WHERE k.type_id = :type_id AND k.kind = 'portgroup' AND k.value > :from AND k.value < :to AND k.live = 1 AND r.uid <> :uid
LIMIT 1;
