-- Consumers and their allocations: which amounts of providers' inventories each consumer uses.

-- @group consumer uid bytes, project text, user text, type text, generation uint, created_at time, updated_at time
-- @fragment consumer
c.uid, c.project, c.user, COALESCE(y.name, 'unknown') AS type, c.generation, c.created_at, c.updated_at

-- @statement allocations_of_consumer
-- @in uid bytes
-- @out c consumer, class text, used uint, allocated_at time, provider bytes, provider_generation uint
SELECT {consumer}, k.name AS class, a.used, a.updated_at AS allocated_at, r.uid AS provider,
  CAST(COALESCE(p.generation, 0) AS UNSIGNED) AS provider_generation
FROM consumers c
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id
STRAIGHT_JOIN resources r ON r.id = a.resource_id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id
LEFT JOIN providers p ON p.resource_id = r.id
LEFT JOIN consumer_types y ON y.id = c.type_id
WHERE c.uid = :uid
ORDER BY a.resource_id, a.class_id;

-- @statement allocations_of_provider
-- @in uid bytes, type_id uint
-- @out c consumer, class text, used uint, allocated_at time
SELECT {consumer}, k.name AS class, a.used, a.updated_at AS allocated_at
FROM allocations a
STRAIGHT_JOIN consumers c ON c.id = a.consumer_id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id
LEFT JOIN consumer_types y ON y.id = c.type_id
WHERE a.resource_id = {id_of_provider}
ORDER BY c.id, a.class_id;

-- ---- usages: of a project, of one user or all (NULL), and of consumers of any type, of none, or of one

-- @choice consumer_type
-- @case any
TRUE
-- @case unknown
c.type_id IS NULL
-- @case one
c.type_id = (SELECT id FROM consumer_types WHERE name = :type)

-- @choice usage_group
-- @case type
COALESCE(y.name, 'unknown')
-- @case all
'all'

-- @statement usage_consumers
-- @in project text, user text null, type text
-- @out type text, consumers uint
SELECT {usage_group} AS type, COUNT(*) AS consumers
FROM consumers c
LEFT JOIN consumer_types y ON y.id = c.type_id
WHERE c.project = :project AND (:user IS NULL OR c.user = :user) AND {consumer_type}
GROUP BY type
ORDER BY type;

-- @statement usage_classes
-- @in project text, user text null, type text
-- @out type text, class text, used uint
SELECT {usage_group} AS type, k.name AS class, CAST(SUM(a.used) AS UNSIGNED) AS used
FROM consumers c
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id
LEFT JOIN consumer_types y ON y.id = c.type_id
WHERE c.project = :project AND (:user IS NULL OR c.user = :user) AND {consumer_type}
GROUP BY type, a.class_id
ORDER BY type, a.class_id;

-- ---- before the locks of a write: which providers it concerns, and the tenants of these

-- The providers that get allocations. uids: of the providers.
-- @statement allocation_wanted_providers
-- @in uids text, type_id uint
-- @out id uint, tenant_id uint, tenant text
SELECT r.id, r.tenant_id, t.name AS tenant
FROM {uids}
STRAIGHT_JOIN resources r ON r.uid = UNHEX(j.hex) AND r.type_id = :type_id AND r.live = 1
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id;

-- The providers of which the consumers have allocations now. uids: of the consumers.
-- @statement allocation_had_providers
-- @in uids text
-- @out id uint, tenant_id uint, tenant text
SELECT DISTINCT r.id, r.tenant_id, t.name AS tenant
FROM {uids}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id
STRAIGHT_JOIN resources r ON r.id = a.resource_id
STRAIGHT_JOIN tenants t ON t.id = r.tenant_id;

-- ---- the locks, and what is read under them

-- @statement allocation_lock_tenants
-- @in ids text
-- @out id uint, live uint null, deleted_at time null
SELECT t.id, t.live, t.deleted_at FROM {ids} STRAIGHT_JOIN tenants t ON t.id = j.id LOCK IN SHARE MODE {wait};

-- @statement allocation_lock_providers
-- @in ids text
-- @out id uint, uid bytes, tenant_id uint, live uint null, last_time time
SELECT r.id, r.uid, r.tenant_id, r.live, {last_change_time} AS last_time
FROM {ids}
STRAIGHT_JOIN resources r ON r.id = j.id
FOR UPDATE {wait};

-- @statement allocation_lock_consumers
-- @in uids text
-- @out uid bytes, project text, user text, generation uint, updated_at time, type text null
SELECT c.uid, c.project, c.user, c.generation, c.updated_at,
  (SELECT y.name FROM consumer_types y WHERE y.id = c.type_id) AS type
FROM {uids}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
FOR UPDATE {wait};

-- @statement allocation_inventories
-- @in ids text
-- @out resource_id uint, class_id uint, min_unit uint, max_unit uint, step_size uint, capacity int, used int
SELECT i.resource_id, i.class_id, i.min_unit, i.max_unit, i.step_size, i.capacity, i.used
FROM {ids}
STRAIGHT_JOIN inventories i ON i.resource_id = j.id;

-- The allocations of the consumers with these uids.
-- @statement allocation_present
-- @in uids text
-- @out consumer bytes, resource_id uint, class_id uint, class text, used uint
SELECT c.uid AS consumer, a.resource_id, a.class_id, k.name AS class, a.used
FROM {uids}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id;

-- ---- the write

-- @statement consumer_types_add
-- @in names text
INSERT INTO consumer_types (name)
SELECT DISTINCT j.name FROM {names} LEFT JOIN consumer_types y ON y.name = j.name WHERE y.id IS NULL;

-- Consumers as a JSON array of [uid, project, user, type or null].
-- @fragment consumers_given
JSON_TABLE(:consumers, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$[0]',
  project VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[1]',
  user VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[2]',
  type VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$[3]')) j

-- @statement consumers_insert
-- @in consumers text, now time
INSERT INTO consumers (uid, project, user, type_id, generation, created_at, updated_at)
SELECT UNHEX(j.hex), j.project, j.user, y.id, 1, :now, :now
FROM {consumers_given}
LEFT JOIN consumer_types y ON y.name = j.type;

-- @statement consumers_update
-- @in consumers text, now time
UPDATE {consumers_given}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
LEFT JOIN consumer_types y ON y.name = j.type
SET c.project = j.project, c.user = j.user, c.type_id = y.id, c.generation = c.generation + 1, c.updated_at = :now;

-- @statement consumers_delete
-- @in uids text
DELETE c FROM {uids} STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex);

-- Deletes all allocations of the consumers with these uids.
-- @statement allocations_delete
-- @in uids text
DELETE a
FROM {uids}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id;

-- allocations: a JSON array of [consumer's uid, provider's id, class, amount].
-- @statement allocations_insert
-- @in allocations text, now time
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT c.id, j.resource, j.class, j.used, :now
FROM JSON_TABLE(:allocations, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$[0]',
  resource BIGINT UNSIGNED PATH '$[1]',
  class INT UNSIGNED PATH '$[2]',
  used INT UNSIGNED PATH '$[3]')) j
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex);

-- deltas: a JSON array of [provider's id, class, how much more is used]. By the key, also where the table is so small that the optimizer would
-- scan it: a scan locks the inventories of all providers, so it waits for writers of any.
-- @statement inventories_use
-- @in deltas text
UPDATE JSON_TABLE(:deltas, '$[*]' COLUMNS (
  resource BIGINT UNSIGNED PATH '$[0]',
  class INT UNSIGNED PATH '$[1]',
  delta BIGINT PATH '$[2]')) j
STRAIGHT_JOIN inventories i FORCE INDEX (PRIMARY) ON i.resource_id = j.resource AND i.class_id = j.class
SET i.used = i.used + j.delta;

-- Runs after their change rows, in the same batch.
-- @statement providers_touch
-- @in ids text, now time
UPDATE {ids}
STRAIGHT_JOIN resources r ON r.id = j.id
SET r.revision = r.revision + 1, r.updated_at = :now, r.changed = {last_change};

-- raises: a JSON array of [provider's id, by how much its generation rises]; without a row it was 0.
-- @statement providers_raise
-- @in raises text
INSERT INTO providers (resource_id, generation)
SELECT j.id, j.steps
FROM JSON_TABLE(:raises, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$[0]', steps INT UNSIGNED PATH '$[1]')) j
ON DUPLICATE KEY UPDATE generation = generation + VALUES(generation);

-- ---- undo

-- What consumers have of one provider. uids: of the consumers.
-- @statement allocations_between
-- @in uids text, resource_id uint
-- @out uid bytes, project text, user text, type text, class text, used uint
SELECT c.uid, c.project, c.user, COALESCE(y.name, 'unknown') AS type, k.name AS class, a.used
FROM {uids}
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
STRAIGHT_JOIN allocations a ON a.consumer_id = c.id AND a.resource_id = :resource_id
STRAIGHT_JOIN resource_classes k ON k.id = a.class_id
LEFT JOIN consumer_types y ON y.id = c.type_id;

-- Gives consumers that an undo has made again a generation that nobody has seen: the id of a change that the same transaction has just made
-- of the resource, or more. Each write of a consumer makes a change, so no generation that came from writes is above the newest change's id;
-- one that was imported may be. consumers: a JSON array of [uid, generation before the consumer was removed].
-- @statement consumers_renew
-- @in consumers text, resource_id uint
UPDATE JSON_TABLE(:consumers, '$[*]' COLUMNS (
  hex CHAR(32) CHARACTER SET ascii PATH '$[0]',
  generation BIGINT UNSIGNED PATH '$[1]')) j
STRAIGHT_JOIN consumers c ON c.uid = UNHEX(j.hex)
STRAIGHT_JOIN resources r ON r.id = :resource_id
SET c.generation = GREATEST(r.changed, j.generation + 1);
