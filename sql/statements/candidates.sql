-- Allocation candidates: finds trees that could satisfy a request, and reads them.

-- Trees with providers that share (trait MISC_SHARES_VIA_AGGREGATE) and could give at least one of the amounts; with
-- all_of_them every tree with sharing providers. amounts: a JSON array of pairs of a class and an amount.
-- @statement candidate_sharing_trees
-- @in type_id uint, trait text, amounts text, all_of_them uint
-- @out root bytes null
-- @sorts each tree is named once, however many of its providers share
SELECT DISTINCT r.root
FROM traits s
STRAIGHT_JOIN resource_traits x FORCE INDEX (trait) ON x.trait_id = s.id
STRAIGHT_JOIN resources r ON r.id = x.resource_id AND r.type_id = :type_id AND r.live = 1
WHERE s.name = :trait AND s.live = 1 AND (:all_of_them = 1 OR EXISTS (
  SELECT 1
  FROM JSON_TABLE(:amounts, '$[*]' COLUMNS (class INT UNSIGNED PATH '$[0]', amount BIGINT PATH '$[1]')) q
  STRAIGHT_JOIN inventories i ON i.resource_id = r.id AND i.class_id = q.class
  WHERE i.free >= q.amount));

-- The roots of the trees of the providers with these uids.
-- @statement candidate_trees_of
-- @in uids text, type_id uint
-- @out uid bytes, root bytes null
SELECT r.uid, r.root FROM {uids} STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = :type_id AND r.live = 1;

-- Trees of providers that pass a term, a portion at a time, in the order of an index. before_free, before_id: where the last
-- portion ended. For a class, providers with most of it left come first.
-- @statement candidate_trees_by_class
-- @in type_id uint, class_id uint, amount uint, before_free int, before_id uint, limit uint
-- @out root bytes null, id uint, free int null
SELECT r.root, v.resource_id AS id, v.free
FROM inventories v FORCE INDEX (free)
STRAIGHT_JOIN resources r ON r.id = v.resource_id AND r.type_id = :type_id AND r.live = 1
WHERE v.class_id = :class_id AND v.free >= :amount
  AND (v.free < :before_free OR (v.free = :before_free AND v.resource_id < :before_id))
ORDER BY v.free DESC, v.resource_id DESC
LIMIT :limit;

-- @statement candidate_trees_by_trait
-- @in type_id uint, trait_id uint, before_id uint, limit uint
-- @out root bytes null, id uint
SELECT r.root, v.resource_id AS id
FROM resource_traits v FORCE INDEX (trait)
STRAIGHT_JOIN resources r ON r.id = v.resource_id AND r.type_id = :type_id AND r.live = 1
WHERE v.trait_id = :trait_id AND v.resource_id < :before_id
ORDER BY v.resource_id DESC
LIMIT :limit;

-- @statement candidate_trees_by_aggregate
-- @in type_id uint, aggregate bytes, before_id uint, limit uint
-- @out root bytes null, id uint
SELECT r.root, v.resource_id AS id
FROM provider_aggregates v FORCE INDEX (aggregate)
STRAIGHT_JOIN resources r ON r.id = v.resource_id AND r.type_id = :type_id AND r.live = 1
WHERE v.aggregate = :aggregate AND v.resource_id < :before_id
ORDER BY v.resource_id DESC
LIMIT :limit;

-- ---- what is in trees; roots: 40 hex digits each

-- @fragment candidate_roots
JSON_TABLE(:roots, '$[*]' COLUMNS (hex CHAR(40) CHARACTER SET ascii PATH '$')) j
STRAIGHT_JOIN resources r FORCE INDEX (root) ON r.root = UNHEX(j.hex) AND r.type_id = :type_id AND r.live = 1

-- @statement candidate_providers
-- @in roots text, type_id uint
-- @out id uint, uid bytes, root bytes null, traits text null, parent text null
-- @sorts a tree's providers have to come together, the oldest first
SELECT r.id, r.uid, r.root, r.traits, JSON_VALUE(r.body, '$.parent_provider_uuid') AS parent
FROM {candidate_roots}
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.deleted_at IS NULL
ORDER BY r.root, r.id;

-- @statement candidate_inventories
-- @in roots text, type_id uint
-- @out resource_id uint, class_id uint, capacity int, used int, min_unit uint, max_unit uint, step_size uint
-- @sorts to be read beside the providers
SELECT i.resource_id, i.class_id, i.capacity, i.used, i.min_unit, i.max_unit, i.step_size
FROM {candidate_roots}
STRAIGHT_JOIN inventories i ON i.resource_id = r.id
ORDER BY i.resource_id, i.class_id;

-- @statement candidate_aggregates
-- @in roots text, type_id uint
-- @out resource_id uint, aggregate bytes
-- @sorts to be read beside the providers
SELECT a.resource_id, a.aggregate
FROM {candidate_roots}
STRAIGHT_JOIN provider_aggregates a ON a.resource_id = r.id
ORDER BY a.resource_id, a.aggregate;

-- @statement candidate_class_names
-- @in ids text
-- @out id uint, name text
-- @sorts to be looked up by id
SELECT c.id, c.name FROM {ids} STRAIGHT_JOIN resource_classes c ON c.id = j.id ORDER BY c.id;
