-- Lists of tenants with conditions, by creation or by the last change, a page at a time: first how far the page may look, then which tenants up to there
-- meet the conditions, then their documents.

-- The place in the list's order behind which the page begins, and the last place that it looks at. In an order that goes down, until is
-- before after.
-- @group tenant_selection_page after_name text, after_at time, after_id uint, until_name text, until_at time, until_id uint

-- text is looked for without regard to case, in the tenant's id and in its metadata's names and values. These stand as {"a":"b","c":"d"}: less what is
-- before the first and behind the last, with U+FFFE for what is between them, they are one JSON string, whose escapes are read. Escaped backslashes and
-- quotes are U+FDD0 and U+FDD1 meanwhile, or the end of a value could look like what is between two. None of the three is a character. metadata_has, object_has: texts that the metadata and the object of the tenants that are
-- wanted have (api/selector.h): what has them is read, and compared with the selectors then.
-- @group tenant_selection_conditions deleted uint, now time, system_name text, tier_id uint null, text text null,
--      created_since time, created_before time, updated_since time, updated_before time, metadata_has text null, object_has text null
-- @fragment names_and_values_of_tenant
REPLACE(REPLACE(JSON_UNQUOTE(CONCAT('"',
  REPLACE(REPLACE(REPLACE(REPLACE(SUBSTRING(t.metadata, 3, CHAR_LENGTH(t.metadata) - 4),
    _utf8mb4 X'5C5C', _utf8mb4 X'EFB790'), _utf8mb4 X'5C22', _utf8mb4 X'EFB791'),
    '":"', _utf8mb4 X'EFBFBE'), '","', _utf8mb4 X'EFBFBE'), '"')) COLLATE utf8mb4_bin,
  _utf8mb4 X'EFB790', _utf8mb4 X'5C'), _utf8mb4 X'EFB791', '"')
-- @fragment is_selected_tenant
AND t.live = 1 AND IF(:want.deleted, t.purge_at > :want.now, t.deleted_at IS NULL AND t.name <> :want.system_name)
AND (:want.tier_id IS NULL OR t.tier_id = :want.tier_id)
AND (:want.text IS NULL OR LOCATE(:want.text, t.name COLLATE utf8mb4_general_nopad_ci) > 0
  OR LOCATE(:want.text, {names_and_values_of_tenant} COLLATE utf8mb4_general_nopad_ci) > 0)
AND t.created_at >= :want.created_since AND t.created_at < :want.created_before
AND t.updated_at >= :want.updated_since AND t.updated_at < :want.updated_before
AND (:want.metadata_has IS NULL OR LOCATE(:want.metadata_has, t.metadata) > 0)
AND (:want.object_has IS NULL OR LOCATE(:want.object_has, t.object) > 0)

-- @fragment behind_tenant_change
t.updated_at >= :page.after_at AND (t.updated_at > :page.after_at OR t.id > :page.after_id)
-- @fragment up_to_tenant_change
t.updated_at <= :page.until_at AND (t.updated_at < :page.until_at OR t.id <= :page.until_id)
-- @fragment before_tenant_change
t.updated_at <= :page.after_at AND (t.updated_at < :page.after_at OR t.id < :page.after_id)
-- @fragment down_to_tenant_change
t.updated_at >= :page.until_at AND (t.updated_at > :page.until_at OR t.id >= :page.until_id)

-- Deleted and purged tenants in between count as well: so a page looks at a bounded number of entries.
-- @choice tenant_selection_up_to
-- @case name
tenants t FORCE INDEX (name) WHERE t.name > :page.after_name ORDER BY t.name
-- @case name_down
tenants t FORCE INDEX (name) WHERE t.name < :page.after_name ORDER BY t.name DESC
-- @case creation
tenants t FORCE INDEX (PRIMARY) WHERE t.id > :page.after_id ORDER BY t.id
-- @case creation_down
tenants t FORCE INDEX (PRIMARY) WHERE t.id < :page.after_id ORDER BY t.id DESC
-- @case change
tenants t FORCE INDEX (updated_at) WHERE {behind_tenant_change} ORDER BY t.updated_at, t.id
-- @case change_down
tenants t FORCE INDEX (updated_at) WHERE {before_tenant_change} ORDER BY t.updated_at DESC, t.id DESC

-- The last entry that the page may look at, and the one behind it; fewer, or none: the list ends before.
-- @statement tenant_selection_extent
-- @in page tenant_selection_page, skip uint
-- @out name text, updated_at time, id uint
-- @scans at most skip + 2 entries of an index
SELECT t.name, t.updated_at, t.id FROM {tenant_selection_up_to} LIMIT 2 OFFSET :skip;

-- @choice tenant_selection_of
-- @case name
tenants t FORCE INDEX (name)
WHERE t.name > :page.after_name AND t.name <= :page.until_name {is_selected_tenant} ORDER BY t.name
-- @case name_down
tenants t FORCE INDEX (name)
WHERE t.name < :page.after_name AND t.name >= :page.until_name {is_selected_tenant} ORDER BY t.name DESC
-- @case creation
tenants t FORCE INDEX (PRIMARY)
WHERE t.id > :page.after_id AND t.id <= :page.until_id {is_selected_tenant} ORDER BY t.id
-- @case creation_down
tenants t FORCE INDEX (PRIMARY)
WHERE t.id < :page.after_id AND t.id >= :page.until_id {is_selected_tenant} ORDER BY t.id DESC
-- @case change
tenants t FORCE INDEX (updated_at)
WHERE {behind_tenant_change} AND {up_to_tenant_change} {is_selected_tenant} ORDER BY t.updated_at, t.id
-- @case change_down
tenants t FORCE INDEX (updated_at)
WHERE {before_tenant_change} AND {down_to_tenant_change} {is_selected_tenant} ORDER BY t.updated_at DESC, t.id DESC

-- @statement tenant_selection_index
-- @in page tenant_selection_page, want tenant_selection_conditions, limit uint
-- @out id uint, name text, updated_at time, bytes uint
-- @scans what is up to the last place that the page looks at: SELECTION_LOOKED_AT entries
SELECT t.id, t.name, t.updated_at, CAST(LENGTH(t.metadata) + LENGTH(t.object) AS UNSIGNED) AS bytes FROM {tenant_selection_of} LIMIT :limit;

-- n: the place in ids. What was deleted, recovered or purged since is not there.
-- @statement tenant_selection_documents
-- @in ids text, deleted uint
-- @out n uint, t tenant
SELECT x.n, {tenant}
FROM JSON_TABLE(:ids, '$[*]' COLUMNS (n FOR ORDINALITY, id BIGINT UNSIGNED PATH '$')) x
STRAIGHT_JOIN tenants t ON t.id = x.id AND t.live = 1 AND (t.deleted_at IS NOT NULL) = :deleted
STRAIGHT_JOIN tiers i ON i.id = t.tier_id
STRAIGHT_JOIN tenant_counts c ON c.tenant_id = t.id;
