-- Lists of resources with conditions, or in another order than that of addresses, a page at a time: first how far the page may look, then
-- which resources up to there meet the conditions, then their documents.

-- The list, the place in its order behind which the page begins, and the last place that it looks at. A place is a namespace with a name, or
-- an id. In an order that goes down, until is before after.
-- @group selection_page tenant text, type_id uint, namespace text, after_namespace text, after_name text, after_id uint,
--      until_namespace text, until_name text, until_id uint, traits trait_condition

-- The conditions. text is looked for without regard to case; uid: what it is if it is one. meta_has, body_has: texts that the stored metadata and body of the resources
-- that are wanted have (api/selector.h): what has them is read, and compared with the selectors then.
-- @group selection_conditions in_namespace uint, name text null, text text null, uid bytes null, created_since time, created_before time,
--      updated_since time, updated_before time, meta_has text null, body_has text null, has_traits uint, now time
-- @fragment is_selected
AND (:want.in_namespace = 0 OR r.namespace = :page.namespace)
AND (:want.name IS NULL OR r.name = :want.name)
AND (:want.text IS NULL
  OR LOCATE(:want.text, CONCAT_WS('/', NULLIF(r.namespace, ''), r.name) COLLATE utf8mb4_general_nopad_ci) > 0
  OR r.uid = :want.uid)
AND r.created_at >= :want.created_since AND r.created_at < :want.created_before
AND r.updated_at >= :want.updated_since AND r.updated_at < :want.updated_before
AND (:want.meta_has IS NULL OR LOCATE(:want.meta_has, r.meta) > 0)
AND (:want.body_has IS NULL OR LOCATE(:want.body_has, r.body) > 0)
AND (:want.has_traits = 0 OR (1 {has_traits}))

-- In a namespace, or of a type without namespaces; in all namespaces; by creation. An index has each of these orders.
-- @fragment in_order_of_names
resources r FORCE INDEX (page) WHERE {is_on_page} AND r.namespace = :page.namespace
-- @fragment in_order_of_addresses
resources r FORCE INDEX (page) WHERE {is_on_page}
-- @fragment behind_address
r.namespace >= :page.after_namespace AND (r.namespace > :page.after_namespace OR r.name > :page.after_name)
-- @fragment up_to_address
r.namespace <= :page.until_namespace AND (r.namespace < :page.until_namespace OR r.name <= :page.until_name)
-- @fragment before_address
r.namespace <= :page.after_namespace AND (r.namespace < :page.after_namespace OR r.name < :page.after_name)
-- @fragment down_to_address
r.namespace >= :page.until_namespace AND (r.namespace > :page.until_namespace OR r.name >= :page.until_name)
-- @fragment in_order_of_creation
resources r FORCE INDEX (owner) WHERE {is_on_page}

-- Deleted resources in between count as well: so a page looks at a bounded number of the index's entries. A tenant has one resource at most
-- with 2 in live.
-- @choice selection_up_to
-- @case name
{in_order_of_names} AND r.name > :page.after_name ORDER BY r.name
-- @case name_down
{in_order_of_names} AND r.name < :page.after_name ORDER BY r.name DESC
-- @case address
{in_order_of_addresses} AND {behind_address} ORDER BY r.namespace, r.name
-- @case address_down
{in_order_of_addresses} AND {before_address} ORDER BY r.namespace DESC, r.name DESC
-- @case creation
{in_order_of_creation} AND r.live = 1 AND r.id > :page.after_id ORDER BY r.id
-- @case creation_down
{in_order_of_creation} AND r.live = 1 AND r.id < :page.after_id ORDER BY r.id DESC
-- @case deleted
{in_order_of_creation} AND r.live IS NULL AND r.id > :page.after_id ORDER BY r.id
-- @case deleted_down
{in_order_of_creation} AND r.live IS NULL AND r.id < :page.after_id ORDER BY r.id DESC

-- The last entry that the page may look at, and the one behind it; fewer, or none: the list ends before.
-- @statement selection_extent
-- @in page selection_page, skip uint
-- @out namespace text, name text, id uint
-- @scans at most skip + 2 entries of an index
SELECT r.namespace, r.name, r.id FROM {selection_up_to} LIMIT 2 OFFSET :skip;

-- @choice selection_of
-- @case name
{in_order_of_names} AND r.name > :page.after_name AND r.name <= :page.until_name AND r.live IS NOT NULL {is_selected} ORDER BY r.name
-- @case name_down
{in_order_of_names} AND r.name < :page.after_name AND r.name >= :page.until_name AND r.live IS NOT NULL {is_selected} ORDER BY r.name DESC
-- @case address
{in_order_of_addresses} AND {behind_address} AND {up_to_address} AND r.live IS NOT NULL {is_selected} ORDER BY r.namespace, r.name
-- @case address_down
{in_order_of_addresses} AND {before_address} AND {down_to_address} AND r.live IS NOT NULL {is_selected}
ORDER BY r.namespace DESC, r.name DESC
-- @case creation
{in_order_of_creation} AND r.live IN (1, 2) AND r.id > :page.after_id AND r.id <= :page.until_id {is_selected} ORDER BY r.id
-- @case creation_down
{in_order_of_creation} AND r.live IN (1, 2) AND r.id < :page.after_id AND r.id >= :page.until_id {is_selected} ORDER BY r.id DESC
-- @case deleted
{in_order_of_creation} AND r.live IS NULL AND r.id > :page.after_id AND r.id <= :page.until_id AND r.purge_at > :want.now {is_selected}
ORDER BY r.id
-- @case deleted_down
{in_order_of_creation} AND r.live IS NULL AND r.id < :page.after_id AND r.id >= :page.until_id AND r.purge_at > :want.now {is_selected}
ORDER BY r.id DESC

-- @statement selection_index
-- @in page selection_page, want selection_conditions, limit uint
-- @out id uint, namespace text, name text, bytes uint
-- @scans what is up to the last place that the page looks at: SELECTION_LOOKED_AT entries
-- @sorts likewise, by creation
SELECT r.id, r.namespace, r.name, r.bytes FROM {selection_of} LIMIT :limit;

-- n: the place in ids. What was moved or deleted since is not there.
-- @statement selection_documents
-- @in ids text, tenant_id uint, deleted uint
-- @out n uint, r resource
SELECT x.n, {resource}
FROM JSON_TABLE(:ids, '$[*]' COLUMNS (n FOR ORDINALITY, id BIGINT UNSIGNED PATH '$')) x
STRAIGHT_JOIN resources r ON r.id = x.id AND r.tenant_id = :tenant_id AND (r.live IS NULL) = :deleted;
