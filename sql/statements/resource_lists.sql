-- Lists of resources, a page at a time: first which resources a page has, and how large they are; then their documents.

-- The list that a page belongs to, and where the page begins: after the name, or namespace and name, or id, with which the
-- last page ended. Of deleted resources: after the id, as a name may have been deleted several times.
-- @group list_page tenant text, type_id uint, namespace text, name text, all_namespaces uint, after_id uint, now time,
--      traits trait_condition, limit uint

-- @fragment is_on_page
r.tenant_id = (SELECT id FROM tenants WHERE name = :page.tenant AND live = 1) AND r.type_id = :page.type_id
-- @fragment is_in_namespace_of_page
r.namespace = :page.namespace AND r.name > :page.name AND r.live IS NOT NULL
-- @fragment is_in_any_namespace
r.namespace >= :page.namespace AND (r.namespace > :page.namespace OR r.name > :page.name) AND r.live IS NOT NULL
-- @fragment is_of_page_namespaces
(:page.all_namespaces OR r.namespace = :page.namespace)
-- In the order of the address, which is that of an index: so nothing is sorted, and the cost depends on the page alone.
-- @fragment by_address
resources r FORCE INDEX (page)
-- The index is named, because otherwise MariaDB 11.8 scans the table if it guesses that JSON_TABLE returns many rows.
-- @fragment by_rare_trait
(SELECT DISTINCT y.resource_id
  FROM JSON_TABLE(:page.traits.rare, '$[*]' COLUMNS (id INT UNSIGNED PATH '$')) j
  STRAIGHT_JOIN resource_traits y FORCE INDEX (trait) ON y.trait_id = j.id) f
STRAIGHT_JOIN resources r ON r.id = f.resource_id

-- The condition on the traits of a resource r. all, none, any: ids of traits for FIND_IN_SET; each part reads the few rows of
-- one resource. It must have each of all (n_all of them), none of none, and one of any unless that is empty. rare: a JSON
-- array of traits of which it must have one, and which only few resources have.
-- @group trait_set ids text
-- @group trait_condition all text, n_all uint, none text, any trait_set[4], rare text
-- @fragment traits_among
(SELECT COUNT(*) FROM resource_traits x WHERE x.resource_id = r.id AND FIND_IN_SET(x.trait_id, :$))
-- @fragment has_any_trait
AND (:$ = '' OR {traits_among $} > 0)
-- @fragment has_traits
AND {traits_among page.traits.all} = :page.traits.n_all AND {traits_among page.traits.none} = 0
{has_any_trait page.traits.any[0].ids} {has_any_trait page.traits.any[1].ids}
{has_any_trait page.traits.any[2].ids} {has_any_trait page.traits.any[3].ids}

-- All resources; those with certain traits, found by address; or the same, found among the resources with a rare trait. Deleted
-- resources are adjacent in the index, since live comes before the names there.
-- @choice listed
-- @case namespace
{by_address} WHERE {is_on_page} AND {is_in_namespace_of_page} ORDER BY r.name
-- @case namespace_with_traits
{by_address} WHERE {is_on_page} AND {is_in_namespace_of_page} {has_traits} ORDER BY r.name
-- @case namespace_with_rare_trait
{by_rare_trait} WHERE {is_on_page} AND {is_in_namespace_of_page} {has_traits} ORDER BY r.name
-- @case tenant
{by_address} WHERE {is_on_page} AND {is_in_any_namespace} ORDER BY r.namespace, r.name
-- @case tenant_with_traits
{by_address} WHERE {is_on_page} AND {is_in_any_namespace} {has_traits} ORDER BY r.namespace, r.name
-- @case tenant_with_rare_trait
{by_rare_trait} WHERE {is_on_page} AND {is_in_any_namespace} {has_traits} ORDER BY r.namespace, r.name
-- @case deleted
resources r FORCE INDEX (state)
WHERE {is_on_page} AND {is_of_page_namespaces} AND r.live IS NULL AND r.purge_at > :page.now
  AND r.id > :page.after_id
ORDER BY r.id

-- @statement list_index
-- @in page list_page
-- @out id uint, changed uint, bytes uint
-- @sorts as many as have a rare trait, 5,000 at most; and what a tenant has deleted of a type
SELECT r.id, r.changed, r.bytes FROM {listed} LIMIT :page.limit;

-- @statement list_documents
-- @in page list_page
-- @out r resource
-- @sorts as many as have a rare trait, 5,000 at most; and what a tenant has deleted of a type
SELECT {resource} FROM {listed} LIMIT :page.limit;

-- ---- of all tenants

-- The first ids of a page, in order, for one value of live (1 or 2). For both at once, MariaDB would sort all resources of the
-- type.
-- @fragment ids_of_all
(SELECT r.id, r.changed, r.bytes
  FROM resources r FORCE INDEX (type)
  STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
  WHERE r.type_id = :page.type_id AND r.live = 1 AND r.id > :page.after_id AND {is_of_page_namespaces}
  ORDER BY r.id
  LIMIT :page.limit)
UNION ALL
(SELECT r.id, r.changed, r.bytes
  FROM resources r FORCE INDEX (type)
  STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
  WHERE r.type_id = :page.type_id AND r.live = 2 AND r.id > :page.after_id AND {is_of_page_namespaces}
  ORDER BY r.id
  LIMIT :page.limit)
ORDER BY id
LIMIT :page.limit

-- @statement list_index_of_all
-- @in page list_page
-- @out id uint, changed uint, bytes uint
{ids_of_all};

-- @statement list_documents_of_all
-- @in page list_page
-- @out r resource, tenant text
SELECT {resource}, t.name AS tenant
FROM ({ids_of_all}) d
STRAIGHT_JOIN resources r ON r.id = d.id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id
ORDER BY d.id;

-- ---- other questions about a page

-- @statement list_tenant
-- @in tenant text
-- @out id uint, deleted_at time null, purge_at time null
SELECT id, deleted_at, purge_at FROM tenants WHERE name = :tenant AND live = 1;

-- Has anything changed in the tenant, or moved away from it, since that change? And how far does the log go? Both as of one
-- moment.
-- @statement list_since
-- @in tenant text, tenant_id uint, after uint
-- @out id uint, deleted_at time null, purge_at time null, changed uint, oldest uint, newest uint
SELECT t.id, t.deleted_at, t.purge_at,
  EXISTS (SELECT 1 FROM changes c FORCE INDEX (tenant) WHERE c.tenant_id = :tenant_id AND c.id > :after)
    OR EXISTS (SELECT 1 FROM changes c FORCE INDEX (from_tenant) WHERE c.from_tenant_id = :tenant_id AND c.id > :after)
    AS changed,
  CAST(COALESCE((SELECT MIN(c.id) FROM changes c), 0) AS UNSIGNED) AS oldest,
  CAST(COALESCE((SELECT MAX(c.id) FROM changes c), 0) AS UNSIGNED) AS newest
FROM tenants t
WHERE t.name = :tenant AND t.live = 1;

-- @statement list_namespace
-- @in tenant text, type_id uint, name text
-- @out id uint
SELECT r.id
FROM resources r
WHERE r.tenant_id = {id_of_tenant} AND r.type_id = :type_id AND r.namespace = '' AND r.name = :name AND r.live IS NOT NULL;
