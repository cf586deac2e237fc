-- What `tenure-manage import placement` and `export placement` read of the registry, and the writes of an import
-- (registry/placement/record.h).

-- ---- reading, of the live providers of active tenants

-- A provider r of a uid in the list :uids, that the placement dialect shows.
-- @fragment transfer_listed
{uids}
STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = :type_id AND r.live = 1
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL

-- parent: the parent's uid, a blank, and the provider's own uid.
-- @statement transfer_providers
-- @in uids text, type_id uint
-- @out uid bytes, name text null, parent text null, root bytes null, generation uint
-- @sorts a page of providers
SELECT r.uid,
  (SELECT a.value FROM resource_aliases a WHERE a.resource_id = r.id AND a.kind = 'name') AS name,
  (SELECT a.value FROM resource_aliases a WHERE a.resource_id = r.id AND a.kind = 'parent') AS parent,
  r.root, CAST(COALESCE(p.generation, 0) AS UNSIGNED) AS generation
FROM {transfer_listed}
LEFT JOIN providers p ON p.resource_id = r.id
ORDER BY r.uid;

-- @statement transfer_inventories
-- @in uids text, type_id uint
-- @out provider bytes, class text, total uint, reserved uint, min_unit uint, max_unit uint, step_size uint, ratio text,
--      used int
-- @sorts a page of providers
SELECT r.uid AS provider, k.name AS class, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size,
  CAST(i.allocation_ratio AS CHAR) AS ratio, i.used
FROM {transfer_listed}
STRAIGHT_JOIN inventories i ON i.resource_id = r.id
STRAIGHT_JOIN resource_classes k ON k.id = i.class_id
ORDER BY r.uid;

-- @statement transfer_aggregates
-- @in uids text, type_id uint
-- @out provider bytes, aggregate bytes
-- @sorts a page of providers
SELECT r.uid AS provider, g.aggregate
FROM {transfer_listed}
STRAIGHT_JOIN provider_aggregates g ON g.resource_id = r.id
ORDER BY r.uid;

-- @statement transfer_traits
-- @in uids text, type_id uint
-- @out provider bytes, trait text
-- @sorts a page of providers
SELECT r.uid AS provider, n.name AS trait
FROM {transfer_listed}
STRAIGHT_JOIN resource_traits x ON x.resource_id = r.id
STRAIGHT_JOIN traits n ON n.id = x.trait_id
ORDER BY r.uid;

-- @statement transfer_consumers
-- @in uids text
-- @out uid bytes, project text, user text, type text null, generation uint
-- @sorts a page of consumers
SELECT c.uid, c.project, c.user, (SELECT y.name FROM consumer_types y WHERE y.id = c.type_id) AS type, c.generation
FROM {uids}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
ORDER BY c.uid;

-- @statement transfer_allocations
-- @in uids text
-- @out consumer bytes, provider bytes, class text, used uint
-- @sorts a page of consumers
SELECT c.uid AS consumer, r.uid AS provider, k.name AS class, a.used
FROM {uids}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id
STRAIGHT_JOIN resources r ON r.id = a.resource_id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id
ORDER BY c.uid;

-- The providers that have these names.
-- @statement transfer_names_taken
-- @in names text, type_id uint
-- @out name text, uid bytes
SELECT a.value AS name, r.uid
FROM {names}
STRAIGHT_JOIN resource_aliases a ON a.type_id = :type_id AND a.kind = 'name' AND a.value = j.name AND a.live = 1
STRAIGHT_JOIN resources r ON r.id = a.resource_id;

-- Those of the providers that are here and in no answer, since their tenants are deleted. is_purged: the tenant's purge time is over, or its name
-- was used anew, so it can't be recovered any more, but nothing has removed its resources yet.
-- @statement transfer_hidden
-- @in uids text, type_id uint, now time
-- @out uid bytes, tenant text, is_purged uint
SELECT r.uid, t.name AS tenant, t.live IS NULL OR t.purge_at <= :now AS is_purged
FROM {uids}
STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = :type_id AND r.live = 1
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id AND t.deleted_at IS NOT NULL;

-- All such providers that have allocations: these are in the answers about their consumers.
-- @statement transfer_hidden_in_use
-- @in type_id uint, now time
-- @out uid bytes, tenant text, is_purged uint
-- @scans the tenants
SELECT r.uid, t.name AS tenant, t.live IS NULL OR t.purge_at <= :now AS is_purged
FROM tenants t
STRAIGHT_JOIN resources r FORCE INDEX (owner) ON r.tenant_id = t.id AND r.type_id = :type_id AND r.live = 1
WHERE t.deleted_at IS NOT NULL
  AND (SELECT a.consumer_id FROM allocations a WHERE a.resource_id = r.id LIMIT 1) IS NOT NULL;

-- To which tenants new providers belong.

-- @statement transfer_above
-- @in uids text, type_id uint
-- @out uid bytes, id uint, tenant_id uint, tenant text
SELECT r.uid, r.id, r.tenant_id, t.name AS tenant
FROM {transfer_listed};

-- A tenant that is not deleted, and what its tier allows.
-- @statement transfer_tenant
-- @in name text
-- @out id uint, tier text, max_resources uint null, resources uint
SELECT t.id, i.name AS tier, i.max_resources, n.resources
FROM tenants t
JOIN tiers i ON i.id = t.tier_id
JOIN tenant_counts n ON n.tenant_id = t.id
WHERE t.name = :name AND t.live = 1 AND t.deleted_at IS NULL;

-- Pages of uids, in their order, from one on.

-- @statement transfer_provider_page
-- @in from bytes, type_id uint, limit uint
-- @out uid bytes
SELECT r.uid
FROM resources r FORCE INDEX (uid)
WHERE r.uid >= :from AND r.type_id = :type_id AND r.live = 1
  AND (SELECT COUNT(*) FROM tenants t WHERE t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL) > 0
ORDER BY r.uid LIMIT :limit;

-- @statement transfer_consumer_page
-- @in from bytes, limit uint
-- @out uid bytes
SELECT c.uid FROM consumers c WHERE c.uid >= :from ORDER BY c.uid LIMIT :limit;

-- @statement transfer_counts
-- @in type_id uint
-- @out providers uint, consumers uint
-- @scans it counts
SELECT (SELECT COUNT(*) FROM resources r JOIN tenants t ON t.id = r.tenant_id AND t.live = 1 AND t.deleted_at IS NULL
    WHERE r.type_id = :type_id AND r.live = 1) AS providers,
  (SELECT COUNT(*) FROM consumers) AS consumers;

-- Classes, or traits, that are not hidden.
-- @choice transfer_names_of
-- @case classes
resource_classes
-- @case traits
traits

-- @statement transfer_names
-- @in after uint, limit uint
-- @out id uint, name text
SELECT n.id, n.name FROM {transfer_names_of} n WHERE n.id > :after AND n.live = 1 ORDER BY n.id LIMIT :limit;

-- ---- writing

-- A new provider with the traits that it has.
-- @statement load_provider
-- @in uid bytes, tenant_id uint, type_id uint, name text, bytes uint, h0 uint, h1 uint, h2 uint, h3 uint, etag bytes,
--      body text, now time, root bytes, traits text null
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag,
  meta, body, created_at, updated_at, root, traits)
VALUES (:uid, :tenant_id, :type_id, '', :name, 1, FALSE, :bytes, 1, 1, :h0, :h1, :h2, :h3, :etag, '{}', :body, :now, :now,
  :root, :traits);

-- The ids of providers that this transaction has inserted; of those of an allocation, locked until COMMIT.
-- @statement load_ids
-- @in uids text, type_id uint
-- @out id uint, uid bytes
SELECT r.id, r.uid
FROM {uids} STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = :type_id AND r.live = 1
ORDER BY r.id
FOR UPDATE;

-- Runs after their change rows.
-- @statement load_number
-- @in ids text
UPDATE {ids} STRAIGHT_JOIN resources r ON r.id = j.id SET r.changed = {last_change};

-- The forwards at the addresses of new providers.
-- @statement load_unforward
-- @in ids text
DELETE f
FROM {ids}
STRAIGHT_JOIN resources r ON r.id = j.id
STRAIGHT_JOIN forwards f ON f.tenant_id = r.tenant_id AND f.type_id = r.type_id AND f.namespace = '' AND f.name = r.name;

-- What is there of the trees of new providers, their roots and parents, locked until COMMIT: they may not be deleted or get another parent.
-- @statement load_lock_above
-- @in ids text
-- @out uid bytes, tenant_id uint, root bytes null
SELECT r.uid, r.tenant_id, r.root
FROM {ids} STRAIGHT_JOIN resources r ON r.id = j.id AND r.live = 1
LOCK IN SHARE MODE;

-- @statement load_lookup_key
-- @in resource_id uint, kind text, type_id uint, value text
INSERT INTO resource_aliases (resource_id, kind, type_id, value) VALUES (:resource_id, :kind, :type_id, :value);

-- @statement load_generation
-- @in resource_id uint, generation uint
INSERT INTO providers (resource_id, generation) VALUES (:resource_id, :generation);

-- The next three insert as many rows as there are in the list, or something that it names does not exist. rows: JSON arrays.

-- @statement load_traits
-- @in rows text
INSERT INTO resource_traits (resource_id, trait_id)
SELECT j.id, n.id
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$[0]',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[1]')) j
STRAIGHT_JOIN traits n ON n.name = j.name AND n.live = 1
LOCK IN SHARE MODE;

-- @statement load_inventories
-- @in now time, rows text
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity,
  created_at, updated_at)
SELECT j.id, k.id, j.total, j.reserved, j.min_unit, j.max_unit, j.step_size, j.ratio, j.capacity, :now, :now
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$[0]',
  class VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[1]',
  total INT UNSIGNED PATH '$[2]',
  reserved INT UNSIGNED PATH '$[3]',
  min_unit INT UNSIGNED PATH '$[4]',
  max_unit INT UNSIGNED PATH '$[5]',
  step_size INT UNSIGNED PATH '$[6]',
  ratio DOUBLE PATH '$[7]',
  capacity BIGINT PATH '$[8]')) j
STRAIGHT_JOIN resource_classes k ON k.name = j.class AND k.live = 1
LOCK IN SHARE MODE;

-- By the uids of consumers and providers; a provider needs an inventory of the class.
-- @statement load_allocations
-- @in now time, rows text, type_id uint
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT c.id, r.id, k.id, j.used, :now
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  consumer CHAR(32) CHARACTER SET ascii PATH '$[0]',
  provider CHAR(32) CHARACTER SET ascii PATH '$[1]',
  class VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[2]',
  used INT UNSIGNED PATH '$[3]')) j
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.consumer)
STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.provider) AND r.type_id = :type_id AND r.live = 1
STRAIGHT_JOIN resource_classes k ON k.name = j.class
STRAIGHT_JOIN inventories i ON i.resource_id = r.id AND i.class_id = k.id;

-- @statement load_aggregate
-- @in resource_id uint, aggregate bytes
INSERT INTO provider_aggregates (resource_id, aggregate) VALUES (:resource_id, :aggregate);

-- rows: a JSON array of [uid, project, user, type or null, generation].
-- @statement load_consumers
-- @in now time, rows text
INSERT INTO consumers (uid, project, user, type_id, generation, created_at, updated_at)
SELECT UNHEX(j.hex), j.project, j.user, y.id, j.generation, :now, :now
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$[0]',
  project VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[1]',
  user VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[2]',
  type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[3]',
  generation BIGINT UNSIGNED PATH '$[4]')) j
LEFT JOIN consumer_types y ON y.name = j.type;

-- Counts the allocations of new consumers as used.
-- @statement load_use
-- @in uids text
-- @sorts the allocations of a page of consumers
UPDATE (SELECT a.resource_id, a.class_id, SUM(a.used) AS n
  FROM {uids}
  STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
  STRAIGHT_JOIN allocations a ON a.consumer_id = c.id
  GROUP BY a.resource_id, a.class_id) x
STRAIGHT_JOIN inventories i ON i.resource_id = x.resource_id AND i.class_id = x.class_id
SET i.used = i.used + x.n;

-- ---- what the database held that was imported last, so that an export notices what was changed there since

-- @statement transfer_remember
-- @in value bytes
INSERT INTO settings (name, value) VALUES ('placement_import', :value) ON DUPLICATE KEY UPDATE value = VALUES(value);

-- @statement transfer_forget
DELETE FROM settings WHERE name = 'placement_import';
