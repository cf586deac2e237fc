-- Lists of providers. A statement begins with the filter that the fewest providers pass, using its index, and checks the other
-- filters for each of these. So the cost depends on what is found, not on the number of providers. The indexes are named,
-- because the optimizer cannot know how many rows JSON_TABLE returns: if it guesses too many, MariaDB 11.8 scans the whole
-- table.

-- Parameters that are JSON: pairs of a term's number and an id or 32 hex digits; lists of ids or hex digits; pairs of a class
-- and an amount. first: the term that the statement begins with.
-- @fragment first_ids
JSON_TABLE(:first, '$[*]' COLUMNS (id INT UNSIGNED PATH '$')) q
-- @fragment first_uids
JSON_TABLE(:first, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$')) q

-- Filters by one value, as a client asks for it (struct provider_query); NULL: not asked for.
-- @group provider_plain name text null, uid bytes null, in_tree bytes null

-- @choice provider_way
-- @case name
resource_aliases a STRAIGHT_JOIN resources r
ON a.type_id = :type_id AND a.kind = 'name' AND a.value = :plain.name AND a.live = 1 AND r.id = a.resource_id
-- @case uid
resources o STRAIGHT_JOIN resources r ON o.uid = :plain.uid AND o.type_id = :type_id AND o.live = 1 AND r.id = o.id
-- @case tree
resources o STRAIGHT_JOIN resources r FORCE INDEX (root)
ON o.uid = :plain.in_tree AND o.type_id = :type_id AND o.live = 1 AND r.root = o.root
-- @case trait
(SELECT DISTINCT x.resource_id FROM {first_ids} STRAIGHT_JOIN resource_traits x FORCE INDEX (trait) ON x.trait_id = q.id) d
STRAIGHT_JOIN resources r ON r.id = d.resource_id
-- @case aggregate
(SELECT DISTINCT x.resource_id FROM {first_uids} STRAIGHT_JOIN provider_aggregates x FORCE INDEX (aggregate)
  ON x.aggregate = UNHEX(q.hex)) d
STRAIGHT_JOIN resources r ON r.id = d.resource_id
-- @case class
inventories v STRAIGHT_JOIN resources r ON v.class_id = :first_class AND v.free >= :first_amount AND r.id = v.resource_id
-- @case type
resources r FORCE INDEX (type)

-- The conditions on every provider: it passes each of the numbered terms of "all", and none of "no". n: how many terms there
-- are.
-- @group provider_filter all_traits text, n_all_traits uint, no_traits text, n_no_traits uint,
--      all_aggregates text, n_all_aggregates uint, no_aggregates text, n_no_aggregates uint, amounts text, n_amounts uint

-- @statement provider_list
-- @in type_id uint, plain provider_plain, first text null, first_class uint,
--      first_amount uint, filter provider_filter
-- @out id uint, uid bytes, tenant_id uint, tenant text, root bytes null, body text, created_at time, updated_at time,
--      generation uint
-- @scans all providers are asked for where no filter is given
SELECT r.id, r.uid, r.tenant_id, t.name AS tenant, r.root, r.body, r.created_at, r.updated_at,
  CAST(COALESCE(p.generation, 0) AS UNSIGNED) AS generation
FROM {provider_way}
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.deleted_at IS NULL
LEFT JOIN providers p ON p.resource_id = r.id
WHERE r.type_id = :type_id AND r.live = 1
  AND (:plain.uid IS NULL OR r.uid = :plain.uid)
  AND (:plain.in_tree IS NULL OR r.root = (SELECT w.root FROM resources w WHERE w.uid = :plain.in_tree AND w.type_id = :type_id AND w.live = 1))
  AND (:filter.n_all_traits = 0 OR :filter.n_all_traits = (
    SELECT COUNT(DISTINCT q.term)
    FROM JSON_TABLE(:filter.all_traits, '$[*]' COLUMNS (term INT PATH '$[0]', id INT UNSIGNED PATH '$[1]')) q
    STRAIGHT_JOIN resource_traits x ON x.resource_id = r.id AND x.trait_id = q.id))
  AND (:filter.n_no_traits = 0 OR NOT EXISTS (
    SELECT 1 FROM JSON_TABLE(:filter.no_traits, '$[*]' COLUMNS (id INT UNSIGNED PATH '$')) q
    STRAIGHT_JOIN resource_traits x ON x.resource_id = r.id AND x.trait_id = q.id))
  AND (:filter.n_all_aggregates = 0 OR :filter.n_all_aggregates = (
    SELECT COUNT(DISTINCT q.term)
    FROM JSON_TABLE(:filter.all_aggregates, '$[*]' COLUMNS (term INT PATH '$[0]', hex CHAR(32) CHARACTER SET ascii PATH '$[1]')) q
    STRAIGHT_JOIN provider_aggregates x ON x.resource_id = r.id AND x.aggregate = UNHEX(q.hex)))
  AND (:filter.n_no_aggregates = 0 OR NOT EXISTS (
    SELECT 1 FROM JSON_TABLE(:filter.no_aggregates, '$[*]' COLUMNS (hex CHAR(32) CHARACTER SET ascii PATH '$')) q
    STRAIGHT_JOIN provider_aggregates x ON x.resource_id = r.id AND x.aggregate = UNHEX(q.hex)))
  AND (:filter.n_amounts = 0 OR :filter.n_amounts = (
    SELECT COUNT(*)
    FROM JSON_TABLE(:filter.amounts, '$[*]' COLUMNS (class INT UNSIGNED PATH '$[0]', amount BIGINT PATH '$[1]')) q
    STRAIGHT_JOIN inventories i ON i.resource_id = r.id AND i.class_id = q.class
    WHERE i.free >= q.amount AND i.min_unit <= q.amount AND i.max_unit >= q.amount AND q.amount MOD i.step_size = 0))
ORDER BY r.id;

-- How many providers pass a term, counted up to a limit.
-- @choice provider_term
-- @case trait
{first_ids} STRAIGHT_JOIN resource_traits x FORCE INDEX (trait) ON x.trait_id = q.id
-- @case aggregate
{first_uids} STRAIGHT_JOIN provider_aggregates x FORCE INDEX (aggregate) ON x.aggregate = UNHEX(q.hex)
-- @case class
inventories v WHERE v.class_id = :first_class AND v.free >= :first_amount

-- @statement provider_count_term
-- @in first text null, first_class uint, first_amount uint, limit uint
-- @out n uint
SELECT COUNT(*) AS n FROM (SELECT 1 FROM {provider_term} LIMIT :limit) c;

-- @statement provider_trait_ids
-- @in names text
-- @out name text, id uint
SELECT t.name, t.id FROM {names} STRAIGHT_JOIN traits t ON t.name = j.name AND t.live = 1 ORDER BY t.name;
