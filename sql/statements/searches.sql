-- Searches for resources of a type, a page at a time: by tenant, tree, lookup key and members of their bodies, in order of
-- creation or of a member. First the ids, last changes and sizes are read, then the documents, so many at a time as a worker may hold, but
-- for those that the worker's cache has as of that change.

-- @fragment search_tenant_of_r
t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL

-- Where the search begins. Except for the lookup key, the default order is that of an index; resources found by the key are
-- sorted.
-- @choice search_way
-- @case type
resources r FORCE INDEX (type) STRAIGHT_JOIN tenants t ON {search_tenant_of_r}
WHERE r.type_id = :type_id AND r.live = 1
-- @case tenant
tenants t STRAIGHT_JOIN resources r FORCE INDEX (owner) ON {search_tenant_of_r}
WHERE t.name = :tenant AND r.type_id = :type_id AND r.live = 1
-- @case tree
resources r FORCE INDEX (root) STRAIGHT_JOIN tenants t ON {search_tenant_of_r}
WHERE r.root = :root AND r.type_id = :type_id AND r.live = 1 AND (:tenant IS NULL OR t.name = :tenant)
-- @case key
resource_aliases a
STRAIGHT_JOIN resources r ON r.id = a.resource_id AND r.live = 1
STRAIGHT_JOIN tenants t ON {search_tenant_of_r}
WHERE a.type_id = :type_id AND a.kind = :key_kind AND a.value LIKE :key_pattern AND a.live = 1
  AND (:tenant IS NULL OR t.name = :tenant) AND (:root IS NULL OR r.root = :root)

-- A term. kind 0: there is none; 1: the member is a string that matches the pattern; 2: the JSON text of the member is that
-- word (same 1), or is not (same 0); 3: the member is a string of the array text; 4: it is the string text, or the tenant has that name.
-- No term names a column of the tenants t, for which each resource that does not match would be joined first. JSON_VALUE, JSON_EXISTS and
-- JSON_CONTAINS read a document up to the member; JSON_EXTRACT reads all of it, and gives NULL where something behind the member is nested
-- too deep.
-- @group search_term kind uint, path text, text text, same uint
-- @fragment search_term
AND CASE :$.kind WHEN 0 THEN 1
  WHEN 1 THEN JSON_VALUE(r.body, :$.path) LIKE :$.text AND NULLIF(JSON_TYPE(JSON_EXTRACT(r.body, :$.path)), 'STRING') IS NULL
  WHEN 3 THEN JSON_CONTAINS(:$.text, JSON_QUOTE(JSON_VALUE(r.body, :$.path)))
  WHEN 4 THEN r.tenant_id = (SELECT id FROM tenants WHERE name = :$.text AND live = 1) OR JSON_VALUE(r.body, :$.path) = BINARY :$.text
  ELSE IF(JSON_EXISTS(r.body, :$.path), JSON_CONTAINS(r.body, :$.text, :$.path), :$.text = 'null') = :$.same END

-- @choice search_terms
-- @case none

-- @case some
{search_term terms[0]} {search_term terms[1]} {search_term terms[2]} {search_term terms[3]}
{search_term terms[4]} {search_term terms[5]} {search_term terms[6]} {search_term terms[7]}

-- A condition on the root of the tree: its member is a string of the array top_among. MariaDB would turn EXISTS into a join with
-- all resources.
-- @choice search_top
-- @case any

-- @case among
AND JSON_CONTAINS(:top_among, JSON_QUOTE(
  (SELECT JSON_VALUE(n.body, :top_path) FROM resources n FORCE INDEX (uid)
   WHERE n.uid = SUBSTR(r.root, 5) AND n.root = r.root AND n.live = 1 LIMIT 1)))

-- The sort key: a member of the body (0), the uid (1), the time of creation (2) or change (3), the owner (4), a member whose values
-- are numbers of 32 bits (5), as ten digits. Its length is bounded, so that the server sorts by all of it.
-- @fragment search_sort_key
CASE :sort WHEN 0 THEN LEFT(JSON_VALUE(r.body, :sort_path), 255) WHEN 1 THEN HEX(r.uid)
  WHEN 2 THEN CAST(r.created_at AS CHAR(32)) WHEN 3 THEN CAST(NULLIF(r.updated_at, r.created_at) AS CHAR(32))
  WHEN 5 THEN LPAD(CAST(JSON_VALUE(r.body, :sort_path) AS SIGNED) + 2147483648, 10, '0')
  ELSE NULLIF(t.name, 'system') END

-- In the order of ids, a page begins after after_id; in the order of a key, after the key and id of the last page, unless
-- from_start. Nulls come first; in descending order they come last.
-- @choice search_order
-- @case id
AND r.id > :after_id ORDER BY r.id
-- @case id_down
AND r.id < :after_id ORDER BY r.id DESC
-- @case key
HAVING (:from_start OR sort_key > :after_key OR (sort_key <=> :after_key AND r.id > :after_id)
  OR (:after_key IS NULL AND sort_key IS NOT NULL))
ORDER BY sort_key, r.id
-- @case key_down
HAVING (:from_start OR sort_key < :after_key OR (sort_key <=> :after_key AND r.id < :after_id)
  OR (:after_key IS NOT NULL AND sort_key IS NULL))
ORDER BY sort_key DESC, r.id DESC

-- sort_key: only if the order is by a key, since the server would compute it for each row of a page.
-- @choice search_key
-- @case none
CAST(NULL AS CHAR)
-- @case of_row
{search_sort_key}

-- @statement search_page
-- @in type_id uint, tenant text null, root bytes null, key_kind text null, key_pattern text null, terms search_term[8],
--      top_path text, top_among text, sort uint, sort_path text, from_start uint, after_key text null, after_id uint, limit uint
-- @out id uint, changed uint, bytes uint, sort_key text null
-- @sorts what a client wants in the order of a member of the documents, and as many as have a lookup key
SELECT r.id, r.changed, r.bytes, {search_key} AS sort_key
FROM {search_way} {search_terms} {search_top} {search_order}
LIMIT :limit;

-- The position of the marker, also if that resource was deleted since.
-- @statement search_marker
-- @in uid bytes, type_id uint, tenant text null, sort uint, sort_path text
-- @out id uint, sort_key text null
SELECT r.id, {search_sort_key} AS sort_key
FROM resources r
JOIN tenants t ON {search_tenant_of_r}
WHERE r.uid = :uid AND r.type_id = :type_id AND (:tenant IS NULL OR t.name = :tenant)
ORDER BY r.live DESC, r.changed DESC, r.id DESC
LIMIT 1;

-- n: its place in the page.
-- @statement search_documents
-- @in ids text, tenant text null
-- @out n uint, tenant text, r resource
SELECT x.n, t.name AS tenant, {resource}
FROM JSON_TABLE(:ids, '$[*]' COLUMNS (n FOR ORDINALITY, id BIGINT UNSIGNED PATH '$')) x
STRAIGHT_JOIN resources r ON r.id = x.id AND r.live = 1
STRAIGHT_JOIN tenants t ON {search_tenant_of_r}
WHERE (:tenant IS NULL OR t.name = :tenant);

-- How many resources of a type have each value of a member, null among them; the most frequent value first.
-- @statement value_count
-- @in path text, type_id uint, tenant text null
-- @out value text null, n uint
-- @scans all resources of the type, to count them
-- @sorts the values that there are
SELECT LEFT(JSON_VALUE(r.body, :path), 255) AS value, COUNT(*) AS n
FROM resources r
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
WHERE r.type_id = :type_id AND r.live = 1 AND (:tenant IS NULL OR t.name = :tenant)
GROUP BY value
ORDER BY n DESC, value;
