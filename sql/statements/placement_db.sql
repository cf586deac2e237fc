-- The database of OpenStack's Placement service, from which `tenure-manage import placement` reads and into which `export
-- placement` writes. On a connection of its own, to a MariaDB or MySQL server of whatever release that service runs on: so
-- these statements use nothing that only MariaDB has.

-- ---- what the database is

-- @statement placement_columns
-- @database placement
-- @out table_name text, column_name text
-- @scans information_schema has no index
-- @sorts likewise
SELECT c.table_name AS table_name, c.column_name AS column_name
FROM information_schema.columns c
WHERE c.table_schema = DATABASE()
  AND c.table_name IN ('alembic_version', 'allocations', 'consumer_types', 'consumers', 'inventories', 'placement_aggregates',
    'projects', 'resource_classes', 'resource_provider_aggregates', 'resource_provider_traits', 'resource_providers', 'traits',
    'users')
ORDER BY c.table_name, c.column_name;

-- @statement placement_version
-- @database placement
-- @out version_num text
-- @scans it has one row
SELECT version_num FROM alembic_version;

-- @statement placement_counts
-- @database placement
-- @out providers uint, consumers uint, allocations uint, inventories uint, traits uint, aggregates uint
-- @scans it counts
SELECT (SELECT COUNT(*) FROM resource_providers) AS providers, (SELECT COUNT(*) FROM consumers) AS consumers,
  (SELECT COUNT(*) FROM allocations) AS allocations, (SELECT COUNT(*) FROM inventories) AS inventories,
  (SELECT COUNT(*) FROM resource_provider_traits) AS traits, (SELECT COUNT(*) FROM resource_provider_aggregates) AS aggregates;

-- ---- names

-- @choice placement_names_of
-- @case classes
resource_classes
-- @case traits
traits

-- @statement placement_names
-- @database placement
-- @in after int, limit uint
-- @out id int, name text
SELECT n.id, n.name FROM {placement_names_of} n WHERE n.id > :after ORDER BY n.id LIMIT :limit;

-- @statement placement_name_insert
-- @database placement
-- @in name text
-- @scans a name of Placement's catalogues, of which there are hundreds
INSERT INTO {placement_names_of} (id, name, created_at)
SELECT GREATEST(COALESCE(MAX(x.id), 0) + 1, 10000), :name, UTC_TIMESTAMP() FROM {placement_names_of} x;

-- ---- providers, by whole trees: those with after < root_provider_id <= up_to

-- The root of the limit-th provider behind after, NULL if there is none.
-- @statement placement_trees
-- @database placement
-- @in after int, limit uint
-- @out up_to int null
SELECT MAX(x.root_provider_id) AS up_to
FROM (SELECT p.root_provider_id FROM resource_providers p WHERE p.root_provider_id > :after
  ORDER BY p.root_provider_id LIMIT :limit) x;

-- @fragment placement_of_trees
WHERE p.root_provider_id > :after AND p.root_provider_id <= :up_to
ORDER BY p.root_provider_id, p.id

-- @statement placement_providers
-- @database placement
-- @in after int, up_to int
-- @out id int, uuid text, name text null, generation int null, parent_id int null, parent text null, root_id int null,
--      root text null
SELECT p.id, p.uuid, p.name, p.generation, p.parent_provider_id AS parent_id, q.uuid AS parent, p.root_provider_id AS root_id,
  o.uuid AS root
FROM resource_providers p
LEFT JOIN resource_providers q ON q.id = p.parent_provider_id
LEFT JOIN resource_providers o ON o.id = p.root_provider_id
{placement_of_trees};

-- The ratio as text: as a number, a FLOAT would come with digits that nobody wrote.
-- @statement placement_inventories
-- @database placement
-- @in after int, up_to int
-- @out provider int, class text null, total int, reserved int, min_unit int, max_unit int, step_size int, ratio text, used text
SELECT p.id AS provider, k.name AS class, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size,
  CAST(i.allocation_ratio AS CHAR) AS ratio,
  CAST(COALESCE((SELECT SUM(a.used) FROM allocations a
    WHERE a.resource_provider_id = i.resource_provider_id AND a.resource_class_id = i.resource_class_id), 0) AS CHAR) AS used
FROM resource_providers p
STRAIGHT_JOIN inventories i ON i.resource_provider_id = p.id
LEFT JOIN resource_classes k ON k.id = i.resource_class_id
{placement_of_trees};

-- @statement placement_aggregates
-- @database placement
-- @in after int, up_to int
-- @out provider int, aggregate text null
SELECT p.id AS provider, g.uuid AS aggregate
FROM resource_providers p
STRAIGHT_JOIN resource_provider_aggregates m ON m.resource_provider_id = p.id
LEFT JOIN placement_aggregates g ON g.id = m.aggregate_id
{placement_of_trees};

-- @statement placement_traits
-- @database placement
-- @in after int, up_to int
-- @out provider int, trait text null
SELECT p.id AS provider, t.name AS trait
FROM resource_providers p
STRAIGHT_JOIN resource_provider_traits m ON m.resource_provider_id = p.id
LEFT JOIN traits t ON t.id = m.trait_id
{placement_of_trees};

-- ---- consumers: those with after < id <= up_to

-- @statement placement_consumer_range
-- @database placement
-- @in after int, limit uint
-- @out up_to int null
SELECT MAX(x.id) AS up_to FROM (SELECT c.id FROM consumers c WHERE c.id > :after ORDER BY c.id LIMIT :limit) x;

-- Consumers have types from Placement 6.0 on.
-- @choice placement_types
-- @case none
NULL AS type, NULL AS type_id
-- @case known
(SELECT y.name FROM consumer_types y WHERE y.id = c.consumer_type_id) AS type, c.consumer_type_id AS type_id

-- @statement placement_consumers
-- @database placement
-- @in after int, up_to int
-- @out id int, uuid text, project text null, user text null, generation int, type text null, type_id int null
SELECT c.id, c.uuid, p.external_id AS project, u.external_id AS user, c.generation, {placement_types}
FROM consumers c
LEFT JOIN projects p ON p.id = c.project_id
LEFT JOIN users u ON u.id = c.user_id
WHERE c.id > :after AND c.id <= :up_to
ORDER BY c.id;

-- Those of providers or classes that do not exist are found by placement_faults.
-- @statement placement_allocations
-- @database placement
-- @in after int, up_to int
-- @out consumer int, provider text, class text, used int
SELECT c.id AS consumer, p.uuid AS provider, k.name AS class, a.used
FROM consumers c
STRAIGHT_JOIN allocations a ON a.consumer_id = c.uuid
STRAIGHT_JOIN resource_providers p ON p.id = a.resource_provider_id
STRAIGHT_JOIN resource_classes k ON k.id = a.resource_class_id
WHERE c.id > :after AND c.id <= :up_to
ORDER BY c.id;

-- What the consumers of a project use.
-- @statement placement_usages
-- @database placement
-- @in project text
-- @out class text, used text
SELECT k.name AS class, CAST(SUM(a.used) AS CHAR) AS used
FROM projects p
STRAIGHT_JOIN consumers c ON c.project_id = p.id
STRAIGHT_JOIN allocations a ON a.consumer_id = c.uuid
STRAIGHT_JOIN resource_classes k ON k.id = a.resource_class_id
WHERE p.external_id = :project
GROUP BY k.name
ORDER BY k.name;

-- ---- rows that belong to nothing, since few columns of that schema are foreign keys; each with its row's id, or its provider's

-- @choice placement_fault
-- @case root
p.id AS id, CONCAT('provider ', p.uuid, ' has no root: run Placement''s online data migrations first') AS fault
FROM resource_providers p
WHERE p.root_provider_id IS NULL AND p.id > :after ORDER BY p.id LIMIT :limit
-- @case inventory_provider
i.id AS id, CONCAT('inventory ', i.id, ' is of provider id ', i.resource_provider_id, ', which does not exist') AS fault
FROM inventories i LEFT JOIN resource_providers p ON p.id = i.resource_provider_id
WHERE p.id IS NULL AND i.id > :after ORDER BY i.id LIMIT :limit
-- @case aggregate_provider
m.resource_provider_id AS id, CONCAT('provider id ', m.resource_provider_id, ' does not exist, but is in ', COUNT(*),
  ' aggregates') AS fault
FROM resource_provider_aggregates m LEFT JOIN resource_providers p ON p.id = m.resource_provider_id
WHERE p.id IS NULL AND m.resource_provider_id > :after GROUP BY m.resource_provider_id ORDER BY 1 LIMIT :limit
-- @case trait_provider
m.resource_provider_id AS id, CONCAT('provider id ', m.resource_provider_id, ' does not exist, but has ', COUNT(*),
  ' traits') AS fault
FROM resource_provider_traits m LEFT JOIN resource_providers p ON p.id = m.resource_provider_id
WHERE p.id IS NULL AND m.resource_provider_id > :after GROUP BY m.resource_provider_id ORDER BY 1 LIMIT :limit
-- @case allocation_provider
a.id AS id, CONCAT('allocation ', a.id, ' of consumer ', a.consumer_id, ' is of provider id ', a.resource_provider_id,
  ', which does not exist') AS fault
FROM allocations a LEFT JOIN resource_providers p ON p.id = a.resource_provider_id
WHERE p.id IS NULL AND a.id > :after ORDER BY a.id LIMIT :limit
-- @case allocation_class
a.id AS id, CONCAT('allocation ', a.id, ' of consumer ', a.consumer_id, ' is of class id ', a.resource_class_id,
  ', which does not exist') AS fault
FROM allocations a LEFT JOIN resource_classes k ON k.id = a.resource_class_id
WHERE k.id IS NULL AND a.id > :after ORDER BY a.id LIMIT :limit
-- @case allocation_consumer
a.id AS id, CONCAT('allocation ', a.id, ' is of consumer ', a.consumer_id, ', which does not exist') AS fault
FROM allocations a LEFT JOIN consumers c ON c.uuid = a.consumer_id
WHERE c.id IS NULL AND a.id > :after ORDER BY a.id LIMIT :limit
-- @case allocation_inventory
a.id AS id, CONCAT('allocation ', a.id, ' of consumer ', a.consumer_id, ' uses ', k.name, ' of provider ', p.uuid,
  ', which has no inventory of it') AS fault
FROM allocations a
JOIN resource_providers p ON p.id = a.resource_provider_id
JOIN resource_classes k ON k.id = a.resource_class_id
LEFT JOIN inventories i ON i.resource_provider_id = a.resource_provider_id AND i.resource_class_id = a.resource_class_id
WHERE i.id IS NULL AND a.id > :after ORDER BY a.id LIMIT :limit

-- @statement placement_faults
-- @database placement
-- @in after int, limit uint
-- @out id int, fault text
-- @scans it proves something of every row
-- @sorts likewise
SELECT {placement_fault};

-- ---- writing: plain VALUES with ids, since many rows are sent at once. Rows get ids of the database's own

-- The id that a name, or a uuid, has; and how it is written there, since the comparison takes no heed of case or blanks at the end.
-- @choice placement_id_of
-- @case provider
x.uuid AS name FROM resource_providers x WHERE x.uuid
-- @case aggregate
x.uuid AS name FROM placement_aggregates x WHERE x.uuid
-- @case project
x.external_id AS name FROM projects x WHERE x.external_id
-- @case user
x.external_id AS name FROM users x WHERE x.external_id
-- @case type
x.name AS name FROM consumer_types x WHERE x.name
-- @case consumer
x.uuid AS name FROM consumers x WHERE x.uuid

-- @statement placement_id
-- @database placement
-- @in name text
-- @out id int, name text null
SELECT x.id, {placement_id_of} = :name;

-- What has nothing but a name. Of two at the same time, the second waits for the first.
-- @choice placement_named
-- @case aggregate
placement_aggregates (uuid
-- @case project
projects (external_id
-- @case user
users (external_id
-- @case type
consumer_types (name

-- @statement placement_named_insert
-- @database placement
-- @in name text
INSERT INTO {placement_named}, created_at) VALUES (:name, UTC_TIMESTAMP());

-- Renames a row x whose name is equal to :name there, though its bytes differ (case, blanks at the end), unless something that the service answers refers to it.
-- @choice placement_respelled
-- @case aggregate
placement_aggregates x SET x.uuid = :name
WHERE x.id = :id AND NOT EXISTS (SELECT 1 FROM resource_provider_aggregates m WHERE m.aggregate_id = x.id)
-- @case project
projects x SET x.external_id = :name
WHERE x.id = :id AND NOT EXISTS (SELECT 1 FROM consumers c JOIN allocations a ON a.consumer_id = c.uuid WHERE c.project_id = x.id)
-- @case user
users x SET x.external_id = :name
WHERE x.id = :id AND NOT EXISTS (SELECT 1 FROM consumers c JOIN allocations a ON a.consumer_id = c.uuid WHERE c.user_id = x.id)
-- @case type
consumer_types x SET x.name = :name
WHERE x.id = :id
  AND NOT EXISTS (SELECT 1 FROM consumers c JOIN allocations a ON a.consumer_id = c.uuid WHERE c.consumer_type_id = x.id)

-- @statement placement_respell
-- @database placement
-- @in id int, name text
-- @scans consumers have no index of users; such rows are rare
UPDATE {placement_respelled};

-- Without a root until placement_provider_plant.
-- @statement placement_provider_insert
-- @database placement
-- @in uuid text, name text, generation uint
INSERT INTO resource_providers (uuid, name, generation, created_at, updated_at)
VALUES (:uuid, :name, :generation, UTC_TIMESTAMP(), UTC_TIMESTAMP());

-- @statement placement_provider_find
-- @database placement
-- @in uuid text
-- @out id int, root_id int null
SELECT id, root_provider_id AS root_id FROM resource_providers WHERE uuid = :uuid;

-- @statement placement_provider_update
-- @database placement
-- @in id int, name text, generation uint
UPDATE resource_providers SET name = :name, generation = :generation, updated_at = UTC_TIMESTAMP() WHERE id = :id;

-- @statement placement_provider_plant
-- @database placement
-- @in id int, root_id int, parent_id int null
UPDATE resource_providers SET root_provider_id = :root_id, parent_provider_id = :parent_id WHERE id = :id;

-- Takes a provider out of its tree, and its name from it, which another may get. generation -1: it will be deleted.
-- @statement placement_provider_strip
-- @database placement
-- @in id int, generation int
UPDATE resource_providers
SET name = NULL, root_provider_id = NULL, parent_provider_id = NULL, generation = :generation
WHERE id = :id;

-- @statement placement_stripped_delete
-- @database placement
-- @scans generation has no index
DELETE FROM resource_providers WHERE generation = -1 AND root_provider_id IS NULL;

-- @choice placement_part
-- @case inventories
inventories
-- @case aggregates
resource_provider_aggregates
-- @case traits
resource_provider_traits

-- @statement placement_part_delete
-- @database placement
-- @in id int
DELETE FROM {placement_part} WHERE resource_provider_id = :id;

-- @statement placement_inventory_insert
-- @database placement
-- @in provider_id int, class_id int, total uint, reserved uint, min_unit uint, max_unit uint, step_size uint, ratio text
INSERT INTO inventories (resource_provider_id, resource_class_id, total, reserved, min_unit, max_unit, step_size,
  allocation_ratio, created_at, updated_at)
VALUES (:provider_id, :class_id, :total, :reserved, :min_unit, :max_unit, :step_size, :ratio, UTC_TIMESTAMP(), UTC_TIMESTAMP());

-- @statement placement_aggregate_join
-- @database placement
-- @in provider_id int, aggregate_id int
INSERT INTO resource_provider_aggregates (resource_provider_id, aggregate_id, created_at)
VALUES (:provider_id, :aggregate_id, UTC_TIMESTAMP());

-- @statement placement_trait_attach
-- @database placement
-- @in provider_id int, trait_id int
INSERT INTO resource_provider_traits (resource_provider_id, trait_id, created_at)
VALUES (:provider_id, :trait_id, UTC_TIMESTAMP());

-- @choice placement_typed
-- @case no
(uuid, project_id, user_id, generation, created_at, updated_at)
VALUES (:uuid, :project_id, :user_id, :generation, UTC_TIMESTAMP(), UTC_TIMESTAMP())
-- @case yes
(uuid, project_id, user_id, generation, consumer_type_id, created_at, updated_at)
VALUES (:uuid, :project_id, :user_id, :generation, :type_id, UTC_TIMESTAMP(), UTC_TIMESTAMP())

-- @statement placement_consumer_insert
-- @database placement
-- @in uuid text, project_id int, user_id int, generation uint, type_id int null
INSERT INTO consumers {placement_typed};

-- @statement placement_allocations_delete
-- @database placement
-- @in id int
DELETE a FROM allocations a JOIN consumers c ON c.uuid = a.consumer_id WHERE c.id = :id;

-- @statement placement_consumer_delete
-- @database placement
-- @in id int
DELETE FROM consumers WHERE id = :id;

-- @statement placement_allocation_insert
-- @database placement
-- @in provider_id int, class_id int, consumer text, used uint
INSERT INTO allocations (resource_provider_id, resource_class_id, consumer_id, used, created_at, updated_at)
VALUES (:provider_id, :class_id, :consumer, :used, UTC_TIMESTAMP(), UTC_TIMESTAMP());
