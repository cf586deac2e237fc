-- Lists of resources with conditions, or in another order than that of addresses, a page at a time: first how far the page may look, then
-- which resources up to there meet the conditions, then their documents. Of a type in a tenant; or of all tenants, by creation.

-- The list, the place in its order behind which the page begins, and the last place that it looks at. A place is a namespace with a name, an
-- id, or a time with an id. In an order that goes down, until is before after. called, called_uid: of all tenants, a name, and the uid that may be one.
-- @group selection_page tenant text, type_id uint, namespace text, called text null, called_uid bytes null, after_namespace text,
--      after_name text, after_at time, after_id uint, until_namespace text, until_name text, until_at time, until_id uint,
--      traits trait_condition

-- The conditions. text is looked for without regard to case; uid: what it is if it is one. meta_has, body_has: texts that the stored metadata and body of the resources
-- that are wanted have (api/selector.h): what has them is read, and compared with the selectors then.
-- type_ids: for FIND_IN_SET, if several types, or none, are known to the index.
-- @group selection_conditions deleted uint, type_ids text null, in_namespace uint, name text null, text text null, uid bytes null, created_since time, created_before time,
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

-- In a namespace, or of a type without namespaces; in all namespaces; by creation; by the last change. An index has each of these orders.
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
-- @fragment in_order_of_changes
resources r FORCE INDEX (state) WHERE {is_on_page}
-- @fragment behind_change
r.updated_at >= :page.after_at AND (r.updated_at > :page.after_at OR r.id > :page.after_id)
-- @fragment up_to_change
r.updated_at <= :page.until_at AND (r.updated_at < :page.until_at OR r.id <= :page.until_id)
-- @fragment before_change
r.updated_at <= :page.after_at AND (r.updated_at < :page.after_at OR r.id < :page.after_id)
-- @fragment down_to_change
r.updated_at >= :page.until_at AND (r.updated_at > :page.until_at OR r.id >= :page.until_id)

-- Of all tenants, whatever is in between: all resources, those of a type, those that are called so.
-- @fragment in_order_of_all
resources r FORCE INDEX (PRIMARY)
-- @fragment in_order_of_type
resources r FORCE INDEX (type)
-- @fragment is_live_of_type
r.type_id = :page.type_id AND r.live = 1
-- @fragment is_deleted_of_type
r.type_id = :page.type_id AND r.live IS NULL
-- @fragment is_behind
r.id > :page.after_id
-- @fragment is_before
r.id < :page.after_id
-- @fragment is_up_to
r.id <= :page.until_id
-- @fragment is_down_to
r.id >= :page.until_id
-- @fragment in_order_of_name
resources r FORCE INDEX (name) WHERE r.name = :page.called

-- The tenant that has the resource; only those in deleted tenants have none.
-- @fragment with_tenant
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
-- @fragment is_selected_of_all
AND IF(:want.deleted, r.live IS NULL AND r.purge_at > :want.now, r.live IS NOT NULL)
AND (:want.type_ids IS NULL OR FIND_IN_SET(r.type_id, :want.type_ids)) {is_selected}

-- What is called so: resources of that name or uid, or with it as a unique name: a node's own, a port's MAC address, the instance on a
-- node. The first may be as many as a page looks at, of the others there is one of a type.
-- @fragment called
(SELECT n.id FROM resources n FORCE INDEX (name)
WHERE n.name = :page.called AND n.id BETWEEN LEAST(:page.after_id, :page.until_id) AND GREATEST(:page.after_id, :page.until_id)
UNION
SELECT n.id FROM resources n FORCE INDEX (uid) WHERE n.uid = :page.called_uid
UNION
SELECT a.resource_id FROM types y FORCE INDEX (builtin)
  STRAIGHT_JOIN resource_aliases a FORCE INDEX (value) ON a.type_id = y.id AND a.kind IN ('name', 'address', 'instance')
    AND a.value = :page.called AND a.live = 1
  WHERE y.builtin = 1) d
STRAIGHT_JOIN resources r ON r.id = d.id {with_tenant}

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
-- @case change
{in_order_of_changes} AND r.live = 1 AND {behind_change} ORDER BY r.updated_at, r.id
-- @case change_down
{in_order_of_changes} AND r.live = 1 AND {before_change} ORDER BY r.updated_at DESC, r.id DESC
-- @case deleted
{in_order_of_creation} AND r.live IS NULL AND r.id > :page.after_id ORDER BY r.id
-- @case deleted_down
{in_order_of_creation} AND r.live IS NULL AND r.id < :page.after_id ORDER BY r.id DESC
-- @case all
{in_order_of_all} WHERE {is_behind} ORDER BY r.id
-- @case all_down
{in_order_of_all} WHERE {is_before} ORDER BY r.id DESC
-- @case all_of_type
{in_order_of_type} WHERE {is_live_of_type} AND {is_behind} ORDER BY r.id
-- @case all_of_type_down
{in_order_of_type} WHERE {is_live_of_type} AND {is_before} ORDER BY r.id DESC
-- @case all_deleted_of_type
{in_order_of_type} WHERE {is_deleted_of_type} AND {is_behind} ORDER BY r.id
-- @case all_deleted_of_type_down
{in_order_of_type} WHERE {is_deleted_of_type} AND {is_before} ORDER BY r.id DESC
-- @case all_called
{in_order_of_name} AND {is_behind} ORDER BY r.id
-- @case all_called_down
{in_order_of_name} AND {is_before} ORDER BY r.id DESC

-- The last entry that the page may look at, and the one behind it; fewer, or none: the list ends before.
-- @statement selection_extent
-- @in page selection_page, skip uint
-- @out namespace text, name text, updated_at time, id uint
-- @scans at most skip + 2 entries of an index
SELECT r.namespace, r.name, r.updated_at, r.id FROM {selection_up_to} LIMIT 2 OFFSET :skip;

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
-- @case change
{in_order_of_changes} AND r.live IN (1, 2) AND {behind_change} AND {up_to_change} {is_selected} ORDER BY r.updated_at, r.id
-- @case change_down
{in_order_of_changes} AND r.live IN (1, 2) AND {before_change} AND {down_to_change} {is_selected} ORDER BY r.updated_at DESC, r.id DESC
-- @case deleted
{in_order_of_creation} AND r.live IS NULL AND r.id > :page.after_id AND r.id <= :page.until_id AND r.purge_at > :want.now {is_selected}
ORDER BY r.id
-- @case deleted_down
{in_order_of_creation} AND r.live IS NULL AND r.id < :page.after_id AND r.id >= :page.until_id AND r.purge_at > :want.now {is_selected}
ORDER BY r.id DESC
-- @case all
{in_order_of_all} {with_tenant} WHERE {is_behind} AND {is_up_to} {is_selected_of_all} ORDER BY r.id
-- @case all_down
{in_order_of_all} {with_tenant} WHERE {is_before} AND {is_down_to} {is_selected_of_all} ORDER BY r.id DESC
-- @case all_of_type
{in_order_of_type} {with_tenant} WHERE {is_live_of_type} AND {is_behind} AND {is_up_to} {is_selected_of_all} ORDER BY r.id
-- @case all_of_type_down
{in_order_of_type} {with_tenant} WHERE {is_live_of_type} AND {is_before} AND {is_down_to} {is_selected_of_all} ORDER BY r.id DESC
-- @case all_deleted_of_type
{in_order_of_type} {with_tenant} WHERE {is_deleted_of_type} AND {is_behind} AND {is_up_to} {is_selected_of_all} ORDER BY r.id
-- @case all_deleted_of_type_down
{in_order_of_type} {with_tenant} WHERE {is_deleted_of_type} AND {is_before} AND {is_down_to} {is_selected_of_all} ORDER BY r.id DESC
-- @case all_called
{called} WHERE {is_behind} AND {is_up_to} {is_selected_of_all} ORDER BY r.id
-- @case all_called_down
{called} WHERE {is_before} AND {is_down_to} {is_selected_of_all} ORDER BY r.id DESC

-- @statement selection_index
-- @in page selection_page, want selection_conditions, limit uint
-- @out id uint, namespace text, name text, updated_at time, bytes uint
-- @scans what is up to the last place that the page looks at: SELECTION_LOOKED_AT entries
-- @sorts likewise, by creation and by the last change, and those that are called so
SELECT r.id, r.namespace, r.name, r.updated_at, r.bytes FROM {selection_of} LIMIT :limit;

-- n: the place in ids. What was moved, purged or deleted since is not there. tenant_id 0: of all tenants.
-- @statement selection_documents
-- @in ids text, tenant_id uint, deleted uint
-- @out n uint, tenant text, r resource
SELECT x.n, t.name AS tenant, {resource}
FROM JSON_TABLE(:ids, '$[*]' COLUMNS (n FOR ORDINALITY, id BIGINT UNSIGNED PATH '$')) x
STRAIGHT_JOIN resources r ON r.id = x.id AND (:tenant_id = 0 OR r.tenant_id = :tenant_id) AND (r.live IS NULL) = :deleted
{with_tenant};
