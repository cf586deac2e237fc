-- What `tenure-manage dump` reads and `tenure-manage restore` writes: a tenant as records, each a JSON object (doc/dump.md). The database makes
-- them, and takes some hundred at a time back, as a JSON array.

-- ---- dump, in one snapshot

-- A tenant that is not deleted. emptied: namespaces of it are being emptied in the background.
-- @statement dump_tenant
-- @in name text
-- @out id uint, emptied uint, record text
SELECT t.id,
  (SELECT COUNT(*) FROM namespace_deletions d JOIN resources r ON r.id = d.resource_id WHERE r.tenant_id = t.id) AS emptied,
  JSON_OBJECT('uid', LOWER(HEX(t.uid)), 'name', t.name, 'tier', i.name, 'metadata', t.metadata, 'object', t.object,
    'etag_required', t.etag_required, 'policy', CAST(t.type_policy AS CHAR), 'revision', t.revision,
    'created_at', CAST(t.created_at AS CHAR), 'updated_at', CAST(t.updated_at AS CHAR)) AS record
FROM tenants t
JOIN tiers i ON i.id = t.tier_id
WHERE t.name = :name AND t.live = 1 AND t.deleted_at IS NULL;

-- The types that are not built in of the tenant's resources and of its own definitions. own: it has the definition itself.
-- @statement dump_types
-- @in id uint
-- @out record text
-- @scans types that are not built in are few
SELECT JSON_OBJECT('group', y.group_name, 'version', y.version, 'kind', y.kind, 'plural', y.plural, 'singular', y.singular,
  'namespaced', y.namespaced, 'own', y.own) AS record
FROM (
  SELECT x.*, EXISTS (SELECT 1 FROM resources d JOIN types c ON c.id = d.type_id AND c.group_name = 'apiextensions.k8s.io' AND
      c.plural = 'customresourcedefinitions' AND c.namespaced = 0
    WHERE d.tenant_id = :id AND d.namespace = '' AND d.name = CONCAT(x.plural, '.', x.group_name) AND d.live = 1) AS own
  FROM types x WHERE NOT x.builtin) y
WHERE y.own OR EXISTS (SELECT 1 FROM resources r WHERE r.tenant_id = :id AND r.type_id = y.id AND r.live = 1);

-- @statement dump_traits
-- @in id uint
-- @out record text
-- @scans the catalogue of traits
SELECT JSON_OBJECT('name', n.name, 'description', n.description) AS record
FROM traits n
WHERE EXISTS (SELECT 1 FROM resource_traits x JOIN resources r ON r.id = x.resource_id WHERE x.trait_id = n.id AND r.tenant_id = :id
  AND r.live = 1);

-- @statement dump_classes
-- @in id uint
-- @out record text
-- @scans the catalogue of classes
SELECT JSON_OBJECT('name', k.name) AS record
FROM resource_classes k
WHERE EXISTS (SELECT 1 FROM inventories v JOIN resources r ON r.id = v.resource_id WHERE v.class_id = k.id AND r.tenant_id = :id
  AND r.live = 1);

-- Without their secrets: who has the file could sign with them.
-- @statement dump_webhooks
-- @in id uint
-- @out record text
SELECT JSON_OBJECT('name', w.name, 'url', w.url, 'description', w.description, 'filters', w.filters) AS record
FROM webhooks w
WHERE w.tenant_id = :id
ORDER BY w.name;

-- In the order of the index `owner`: by type, and within it by id, which lists keep to.
-- @statement dump_resources
-- @in id uint
-- @out record text
-- @sorts nothing but what its subqueries gather of one resource
SELECT JSON_OBJECT('uid', LOWER(HEX(r.uid)), 'group', y.group_name, 'plural', y.plural, 'namespaced', y.namespaced,
  'namespace', r.namespace, 'name', r.name, 'live', r.live, 'locked', r.locked, 'revision', r.revision, 'edits', r.edits,
  'generation', r.generation, 'moves', r.moves, 'meta', r.meta, 'body', r.body, 'traits', r.traits,
  'root', LOWER(HEX(SUBSTRING(r.root, 5))), 'root_group', z.group_name, 'root_plural', z.plural,
  'created_at', CAST(r.created_at AS CHAR), 'updated_at', CAST(r.updated_at AS CHAR), 'doomed_at', CAST(r.doomed_at AS CHAR),
  'keys', JSON_EXTRACT(COALESCE((SELECT JSON_ARRAYAGG(JSON_OBJECT('kind', a.kind, 'value', a.value, 'group', b.group_name,
      'plural', b.plural, 'namespaced', b.namespaced))
    FROM resource_aliases a JOIN types b ON b.id = a.type_id WHERE a.resource_id = r.id), '[]'), '$'),
  'provider', p.generation,
  'inventories', JSON_EXTRACT(COALESCE((SELECT JSON_ARRAYAGG(JSON_OBJECT('class', k.name, 'total', v.total, 'reserved', v.reserved,
      'min_unit', v.min_unit, 'max_unit', v.max_unit, 'step_size', v.step_size, 'ratio', CAST(v.allocation_ratio AS CHAR),
      'capacity', v.capacity, 'used', v.used, 'created_at', CAST(v.created_at AS CHAR), 'updated_at', CAST(v.updated_at AS CHAR)))
    FROM inventories v JOIN resource_classes k ON k.id = v.class_id WHERE v.resource_id = r.id), '[]'), '$'),
  'aggregates', JSON_EXTRACT(COALESCE((SELECT JSON_ARRAYAGG(LOWER(HEX(g.aggregate))) FROM provider_aggregates g
    WHERE g.resource_id = r.id), '[]'), '$')) AS record
FROM resources r FORCE INDEX (owner)
STRAIGHT_JOIN types y ON y.id = r.type_id
LEFT JOIN types z ON z.id = CONV(HEX(LEFT(r.root, 4)), 16, 10)
LEFT JOIN providers p ON p.resource_id = r.id
WHERE r.tenant_id = :id AND r.live IN (1, 2)
ORDER BY r.tenant_id, r.type_id, r.live, r.id;

-- Consumers of what the tenant's providers have.
-- @statement dump_consumers
-- @in id uint
-- @out record text
-- @sorts the allocations of a tenant
SELECT JSON_OBJECT('uid', LOWER(HEX(c.uid)), 'project', c.project, 'user', c.user, 'type', y.name, 'generation', c.generation,
  'created_at', CAST(c.created_at AS CHAR), 'updated_at', CAST(c.updated_at AS CHAR),
  'others', EXISTS (SELECT 1 FROM allocations o JOIN resources q ON q.id = o.resource_id WHERE o.consumer_id = c.id AND
    q.tenant_id <> :id)) AS record
FROM (SELECT DISTINCT a.consumer_id AS id FROM resources r JOIN allocations a ON a.resource_id = r.id
  WHERE r.tenant_id = :id AND r.live = 1) d
STRAIGHT_JOIN consumers c ON c.id = d.id
LEFT JOIN consumer_types y ON y.id = c.type_id;

-- @statement dump_allocations
-- @in id uint
-- @out record text
SELECT JSON_OBJECT('consumer', LOWER(HEX(c.uid)), 'provider', LOWER(HEX(r.uid)), 'class', k.name, 'used', a.used,
  'updated_at', CAST(a.updated_at AS CHAR)) AS record
FROM resources r
STRAIGHT_JOIN allocations a ON a.resource_id = r.id
STRAIGHT_JOIN consumers c ON c.id = a.consumer_id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id
WHERE r.tenant_id = :id AND r.live = 1;

-- ---- restore: what is in the way, a text for each

-- @statement restore_taken_tenant
-- @in name text, uid bytes, tier text
-- @out what text
-- @scans three rows of tenants by their keys
SELECT CONCAT('there is a tenant "', t.name, '"', IF(t.deleted_at IS NULL, '', ', deleted and not purged yet')) AS what
FROM tenants t WHERE t.name = :name AND t.live = 1
UNION ALL
SELECT CONCAT('tenant "', t.name, '" has the uid of the tenant in the file') FROM tenants t
WHERE t.uid = :uid AND t.live = 1 AND t.name <> :name
UNION ALL
SELECT 'the tenant in the file was deleted here, and its purge has not ended: `tenure-manage reap` ends it' FROM tenants t
WHERE t.uid = :uid AND t.live IS NULL AND t.purge_at IS NOT NULL
UNION ALL
SELECT CONCAT('there is no tier "', :tier, '": `tenure-manage tier set` makes it, and --tier takes another one') FROM DUAL
WHERE NOT EXISTS (SELECT 1 FROM tiers i WHERE i.name = :tier);

-- A custom type of which the tenant has no definition has to be defined here by the system space.
-- @statement restore_taken_types
-- @in rows text
-- @out what text
SELECT CONCAT('no definition of ', j.plural, '.', j.grp, ' is in the file, nor in the system space here') AS what
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  grp VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group',
  plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
  own INT PATH '$.own')) j
WHERE NOT j.own AND NOT EXISTS (
  SELECT 1 FROM resources d
  JOIN tenants t ON t.id = d.tenant_id AND t.name = 'system' AND t.live = 1
  JOIN types c ON c.id = d.type_id AND c.group_name = 'apiextensions.k8s.io' AND c.plural = 'customresourcedefinitions' AND c.namespaced = 0
  WHERE d.namespace = '' AND d.name = CONCAT(j.plural, '.', j.grp) AND d.live = 1);

-- @statement restore_taken_traits
-- @in rows text
-- @out what text
SELECT CONCAT('there is no standard trait ', j.name, ' here: `tenure-manage os-traits sync`') AS what
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name')) j
LEFT JOIN traits n ON n.name = j.name
WHERE n.id IS NULL AND LEFT(j.name, 7) <> 'CUSTOM_';

-- @statement restore_taken_classes
-- @in rows text
-- @out what text
SELECT CONCAT('there is no standard resource class ', j.name, ' here') AS what
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name')) j
LEFT JOIN resource_classes k ON k.name = j.name
WHERE k.id IS NULL AND LEFT(j.name, 7) <> 'CUSTOM_';

-- What is deleted and can be recovered counts: its uid is taken.
-- @statement restore_taken_resources
-- @in rows text
-- @out what text
SELECT CONCAT('uid ', INSERT(INSERT(INSERT(INSERT(LOWER(HEX(r.uid)), 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'), ' (', y.plural, ' ', j.name, ') is here already: ', t.name, IF(r.deleted_at IS NOT NULL, ', deleted', '')) AS what
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$.uid',
  grp VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group',
  plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
  namespaced INT PATH '$.namespaced',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name')) j
STRAIGHT_JOIN types y ON y.group_name = j.grp AND y.plural = j.plural AND y.namespaced = j.namespaced
STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = y.id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id
UNION ALL
SELECT CONCAT(j.plural, ' ', j.name, ': ', j.kind, ' "', j.value, '" is taken: ', t.name)
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$.uid',
  plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  NESTED PATH '$.keys[*]' COLUMNS (
    kind VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.kind',
    value VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.value',
    kgroup VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group',
    kplural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
    knamespaced INT PATH '$.namespaced'))) j
STRAIGHT_JOIN types y ON y.group_name = j.kgroup AND y.plural = j.kplural AND y.namespaced = j.knamespaced
STRAIGHT_JOIN resource_aliases a ON a.type_id = y.id AND a.kind = j.kind AND a.value = j.value AND a.live = 1
STRAIGHT_JOIN resources r ON r.id = a.resource_id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id;

-- @statement restore_taken_consumers
-- @in rows text
-- @out what text
SELECT CONCAT('consumer ', INSERT(INSERT(INSERT(INSERT(j.hex, 9, 0, '-'), 14, 0, '-'), 19, 0, '-'), 24, 0, '-'), IF(c.id IS NULL, ' has allocations of other tenants in the dumped registry, too', ' is here already')) AS what
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$.uid',
  others INT PATH '$.others')) j
LEFT JOIN consumers c ON c.uid = UNHEX(j.hex)
WHERE c.id IS NOT NULL OR j.others;

-- ---- restore: writing

-- The row that a purged tenant leaves, so that the change log keeps a name for it, needs no particular uid: the restored tenant takes its own one
-- back.
-- @statement restore_free_uid
-- @in uid bytes, other bytes
UPDATE tenants SET uid = :other WHERE uid = :uid AND live IS NULL AND purge_at IS NULL;

-- @statement restore_tenant
-- @in name text, etag bytes, record text
INSERT INTO tenants (name, uid, tier_id, metadata, object, etag_required, type_policy, etag, revision, created_at, updated_at)
SELECT :name, UNHEX(j.hex), i.id, j.metadata, j.object, j.etag_required, j.policy, :etag, j.revision, j.created_at, j.updated_at
FROM JSON_TABLE(:record, '$' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$.uid',
  tier VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.tier',
  metadata MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.metadata',
  object MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.object',
  etag_required INT PATH '$.etag_required',
  policy VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.policy',
  revision BIGINT UNSIGNED PATH '$.revision',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at')) j
STRAIGHT_JOIN tiers i ON i.name = j.tier;

-- @statement restore_counts
-- @in tenant_id uint
INSERT INTO tenant_counts (tenant_id, resources, types)
SELECT :tenant_id, COUNT(*), COALESCE(SUM(r.type_id = (SELECT id FROM types WHERE group_name = 'apiextensions.k8s.io' AND
  plural = 'customresourcedefinitions' AND namespaced = 0)), 0)
FROM resources r WHERE r.tenant_id = :tenant_id AND r.live = 1;

-- @statement restore_types
-- @in rows text
INSERT IGNORE INTO types (group_name, version, kind, plural, singular, namespaced, builtin)
SELECT j.grp, j.version, j.kind, j.plural, j.singular, j.namespaced, FALSE
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  grp VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group',
  version VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.version',
  kind VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.kind',
  plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
  singular VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.singular',
  namespaced INT PATH '$.namespaced')) j;

-- What is there already, even if nothing had it and it was hidden, is shown again.
-- @statement restore_traits
-- @in rows text, now time
INSERT INTO traits (name, description, created_at, updated_at, live)
SELECT j.name, j.description, :now, :now, 1
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  description VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.description')) j
ON DUPLICATE KEY UPDATE live = 1;

-- @statement restore_classes
-- @in rows text, now time
INSERT INTO resource_classes (name, updated_at, live)
SELECT j.name, :now, 1
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name')) j
ON DUPLICATE KEY UPDATE live = 1;

-- The resources of a batch, whose tags and lanes this program has added.
-- @statement restore_resources
-- @in tenant_id uint, rows text
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag,
  meta, body, created_at, updated_at, root, traits, generation, doomed_at, moves)
SELECT UNHEX(j.hex), :tenant_id, y.id, j.namespace, j.name, j.live, j.locked, LENGTH(j.meta) + LENGTH(j.body), j.revision, j.edits,
  j.h0, j.h1, j.h2, j.h3, UNHEX(j.etag), j.meta, j.body, j.created_at, j.updated_at,
  UNHEX(CONCAT(LPAD(HEX(z.id), 8, '0'), j.root)), j.traits, j.generation, j.doomed_at, j.moves
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$.uid',
  grp VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group',
  plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
  namespaced INT PATH '$.namespaced',
  namespace VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.namespace',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  live INT PATH '$.live',
  locked INT PATH '$.locked',
  revision BIGINT UNSIGNED PATH '$.revision',
  edits BIGINT UNSIGNED PATH '$.edits',
  generation BIGINT UNSIGNED PATH '$.generation',
  moves BIGINT UNSIGNED PATH '$.moves',
  h0 INT UNSIGNED PATH '$.h0',
  h1 INT UNSIGNED PATH '$.h1',
  h2 INT UNSIGNED PATH '$.h2',
  h3 INT UNSIGNED PATH '$.h3',
  etag CHAR(128) CHARACTER SET ascii PATH '$.etag',
  meta MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.meta',
  body MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.body',
  traits MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.traits',
  root CHAR(32) CHARACTER SET ascii PATH '$.root',
  root_group VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.root_group',
  root_plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.root_plural',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at',
  doomed_at DATETIME(6) PATH '$.doomed_at')) j
STRAIGHT_JOIN types y ON y.group_name = j.grp AND y.plural = j.plural AND y.namespaced = j.namespaced
LEFT JOIN types z ON z.group_name = j.root_group AND z.plural = j.root_plural AND z.namespaced = 0;

-- A resource r of a batch.
-- @fragment restored
STRAIGHT_JOIN types y ON y.group_name = j.grp AND y.plural = j.plural AND y.namespaced = j.namespaced
STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = y.id AND r.live IN (1, 2)
-- @fragment restored_name
  hex CHAR(32) CHARACTER SET ascii PATH '$.uid',
  grp VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group',
  plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
  namespaced INT PATH '$.namespaced'

-- @statement restore_ids
-- @in rows text
-- @out id uint
SELECT r.id
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_name})) j
{restored};

-- @statement restore_keys
-- @in rows text
INSERT INTO resource_aliases (resource_id, kind, type_id, value)
SELECT r.id, j.kind, k.id, j.value
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_name},
  NESTED PATH '$.keys[*]' COLUMNS (
    kind VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.kind',
    value VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.value',
    kgroup VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group',
    kplural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
    knamespaced INT PATH '$.namespaced'))) j
{restored}
STRAIGHT_JOIN types k ON k.group_name = j.kgroup AND k.plural = j.kplural AND k.namespaced = j.knamespaced
WHERE j.kind IS NOT NULL;

-- @statement restore_resource_traits
-- @in ids text
INSERT INTO resource_traits (resource_id, trait_id)
SELECT r.id, n.id
FROM {ids}
STRAIGHT_JOIN resources r ON r.id = j.id AND r.traits IS NOT NULL
STRAIGHT_JOIN JSON_TABLE(r.traits, '$[*]' COLUMNS (
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$')) l
STRAIGHT_JOIN traits n ON n.name = l.name;

-- @statement restore_providers
-- @in rows text
INSERT INTO providers (resource_id, generation)
SELECT r.id, j.provider
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_name}, provider BIGINT UNSIGNED PATH '$.provider')) j
{restored}
WHERE j.provider IS NOT NULL;

-- @statement restore_inventories
-- @in rows text
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, used,
  created_at, updated_at)
SELECT r.id, k.id, j.total, j.reserved, j.min_unit, j.max_unit, j.step_size, j.ratio, j.capacity, j.used, j.created_at, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_name},
  NESTED PATH '$.inventories[*]' COLUMNS (
    class VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.class',
    total INT UNSIGNED PATH '$.total',
    reserved INT UNSIGNED PATH '$.reserved',
    min_unit INT UNSIGNED PATH '$.min_unit',
    max_unit INT UNSIGNED PATH '$.max_unit',
    step_size INT UNSIGNED PATH '$.step_size',
    ratio DOUBLE PATH '$.ratio',
    capacity BIGINT PATH '$.capacity',
    used BIGINT PATH '$.used',
    created_at DATETIME(6) PATH '$.created_at',
    updated_at DATETIME(6) PATH '$.updated_at'))) j
{restored}
STRAIGHT_JOIN resource_classes k ON k.name = j.class;

-- @statement restore_aggregates
-- @in rows text
INSERT INTO provider_aggregates (resource_id, aggregate)
SELECT r.id, UNHEX(j.aggregate)
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_name},
  NESTED PATH '$.aggregates[*]' COLUMNS (aggregate CHAR(32) CHARACTER SET ascii PATH '$'))) j
{restored}
WHERE j.aggregate IS NOT NULL;

-- @statement restore_consumer_types
-- @in rows text
INSERT IGNORE INTO consumer_types (name)
SELECT DISTINCT j.type
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.type')) j
WHERE j.type IS NOT NULL;

-- @statement restore_consumers
-- @in rows text
INSERT INTO consumers (uid, project, user, type_id, generation, created_at, updated_at)
SELECT UNHEX(j.hex), j.project, j.user, y.id, j.generation, j.created_at, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$.uid',
  project VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.project',
  user VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.user',
  type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.type',
  generation BIGINT UNSIGNED PATH '$.generation',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at')) j
LEFT JOIN consumer_types y ON y.name = j.type;

-- @statement restore_allocations
-- @in rows text, type_id uint
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT c.id, r.id, k.id, j.used, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  consumer CHAR(32) CHARACTER SET ascii PATH '$.consumer',
  provider CHAR(32) CHARACTER SET ascii PATH '$.provider',
  class VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.class',
  used INT UNSIGNED PATH '$.used',
  updated_at DATETIME(6) PATH '$.updated_at')) j
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.consumer)
STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.provider) AND r.type_id = :type_id AND r.live = 1
STRAIGHT_JOIN resource_classes k ON k.name = j.class;

-- ---- restore: what is wrong with what was written, a text for each

-- @statement restore_over_quota
-- @in tenant_id uint
-- @out what text
SELECT CONCAT('the tenant has ', n.resources, ' resources, and tier "', i.name, '" allows ', i.max_resources,
  ' here: `tenure-manage tier set` raises that, and --tier takes another one') AS what
FROM tenants t
JOIN tiers i ON i.id = t.tier_id
JOIN tenant_counts n ON n.tenant_id = t.id
WHERE t.id = :tenant_id AND n.resources > i.max_resources;

-- The tenant's definitions of types.
-- @statement restore_definitions
-- @in tenant_id uint, type_id uint
-- @out n uint, bytes uint
SELECT COUNT(*) AS n, CAST(COALESCE(SUM(r.bytes), 0) AS UNSIGNED) AS bytes
FROM resources r
WHERE r.tenant_id = :tenant_id AND r.type_id = :type_id AND r.live = 1;

-- The columns of a resource j of a batch with its line in the file, and how it is named.
-- @fragment restored_line
  {restored_name},
  line BIGINT UNSIGNED PATH '$.line',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name'
-- @fragment restored_place
CONCAT('line ', j.line, ', ', j.plural, ' ', j.name, ': ')

-- What a batch of resources refers to, and is not there: namespaces; roots of trees; chassis, port groups and parents.
-- @statement restore_wrong_references
-- @in tenant_id uint, rows text
-- @out what text
SELECT CONCAT({restored_place}, 'there is no namespace "', j.namespace, '" in the file') AS what
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_line},
  namespace VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.namespace')) j
WHERE j.namespace <> '' AND NOT EXISTS (SELECT 1 FROM resources s WHERE s.tenant_id = :tenant_id AND s.namespace = '' AND
  s.name = j.namespace AND s.live IN (1, 2) AND s.type_id = (SELECT id FROM types WHERE group_name = '' AND plural = 'namespaces' AND
  namespaced = 0))
UNION ALL
SELECT CONCAT({restored_place}, 'the root of its tree, ', j.root_plural, ' ', LOWER(j.root), ', is not in the file')
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_line},
  root CHAR(32) CHARACTER SET ascii PATH '$.root',
  root_group VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.root_group',
  root_plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.root_plural')) j
LEFT JOIN types z ON z.group_name = j.root_group AND z.plural = j.root_plural AND z.namespaced = 0
WHERE j.root IS NOT NULL AND NOT EXISTS (SELECT 1 FROM resources s WHERE s.uid = UNHEX(j.root) AND s.type_id = z.id AND s.live = 1 AND
  s.tenant_id = :tenant_id)
UNION ALL
SELECT CONCAT({restored_place}, j.kind, ' ', LEFT(j.value, 36), ' is not here')
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_line},
  NESTED PATH '$.keys[*]' COLUMNS (
    kind VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.kind',
    value VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.value'))) j
STRAIGHT_JOIN types z ON z.group_name = j.grp AND z.namespaced = 0 AND z.plural = CASE j.kind WHEN 'chassis' THEN 'chassis'
  WHEN 'portgroup' THEN 'portgroups' WHEN 'parent' THEN 'resourceproviders' END
WHERE NOT EXISTS (SELECT 1 FROM resources s WHERE s.uid = UNHEX(REPLACE(LEFT(j.value, 36), '-', '')) AND s.type_id = z.id AND s.live = 1);

-- The same for traits and classes; inventories that don't agree with their allocations; allocations without an inventory.
-- @statement restore_wrong_parts
-- @in rows text
-- @out what text
-- @sorts the classes that a batch of providers has allocations of
SELECT CONCAT({restored_place}, 'trait ', l.name, ' is not among the traits in the file') AS what
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_line})) j
{restored} AND r.traits IS NOT NULL
STRAIGHT_JOIN JSON_TABLE(r.traits, '$[*]' COLUMNS (
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$')) l
LEFT JOIN traits n ON n.name = l.name
WHERE n.id IS NULL
UNION ALL
SELECT CONCAT({restored_place}, 'resource class ', j.class, ' is not among the classes in the file')
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_line},
  NESTED PATH '$.inventories[*]' COLUMNS (class VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.class'))) j
LEFT JOIN resource_classes k ON k.name = j.class
WHERE j.class IS NOT NULL AND k.id IS NULL
UNION ALL
SELECT CONCAT({restored_place}, 'its inventory of ', k.name, ' does not agree with its allocations, or capacity with total, reserved and ratio')
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_line})) j
{restored}
STRAIGHT_JOIN inventories i ON i.resource_id = r.id
STRAIGHT_JOIN resource_classes k ON k.id = i.class_id
WHERE i.used <> COALESCE((SELECT SUM(a.used) FROM allocations a WHERE a.resource_id = i.resource_id AND a.class_id = i.class_id), 0)
  OR i.capacity <> CAST(LEAST(FLOOR((CAST(i.total AS SIGNED) - CAST(i.reserved AS SIGNED)) * i.allocation_ratio), 9000000000000000000) AS SIGNED)
UNION ALL
SELECT DISTINCT CONCAT({restored_place}, 'it has allocations of ', k.name, ', and no inventory of that')
FROM JSON_TABLE(:rows, '$[*]' COLUMNS ({restored_line})) j
{restored}
STRAIGHT_JOIN allocations a ON a.resource_id = r.id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id
WHERE NOT EXISTS (SELECT 1 FROM inventories i WHERE i.resource_id = a.resource_id AND i.class_id = a.class_id);
