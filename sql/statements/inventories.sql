-- Inventories: one row for each provider and class.

-- @group inventory class_id uint, class text, total uint, reserved uint, min_unit uint, max_unit uint, step_size uint,
--      allocation_ratio text, used uint, created_at time, updated_at time
-- @fragment inventory
i.class_id, c.name AS class, i.total, i.reserved, i.min_unit, i.max_unit, i.step_size,
CAST(i.allocation_ratio AS CHAR) AS allocation_ratio, CAST(i.used AS UNSIGNED) AS used, i.created_at, i.updated_at

-- @statement inventory_list
-- @in uid bytes, type_id uint
-- @out i inventory
SELECT {inventory}
FROM inventories i
STRAIGHT_JOIN resource_classes c ON c.id = i.class_id
WHERE i.resource_id = {id_of_provider}
ORDER BY i.class_id;

-- The inventories of a provider whose row is locked.
-- @statement inventory_list_locked
-- @in resource_id uint
-- @out i inventory
SELECT {inventory}
FROM inventories i
STRAIGHT_JOIN resource_classes c ON c.id = i.class_id
WHERE i.resource_id = :resource_id
ORDER BY i.class_id;

-- @statement inventory_put
-- @in resource_id uint, class_id uint, total uint, reserved uint, min_unit uint, max_unit uint, step_size uint,
--      allocation_ratio text, capacity int, now time
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity,
  created_at, updated_at)
VALUES (:resource_id, :class_id, :total, :reserved, :min_unit, :max_unit, :step_size, :allocation_ratio, :capacity,
  :now, :now)
ON DUPLICATE KEY UPDATE total = VALUES(total), reserved = VALUES(reserved), min_unit = VALUES(min_unit),
  max_unit = VALUES(max_unit), step_size = VALUES(step_size), allocation_ratio = VALUES(allocation_ratio),
  capacity = VALUES(capacity), updated_at = VALUES(updated_at);

-- ids: of the classes.
-- @statement inventory_delete
-- @in ids text, resource_id uint
DELETE i FROM {ids} STRAIGHT_JOIN inventories i ON i.resource_id = :resource_id AND i.class_id = j.id;

-- ---- of several providers at once

-- The inventories of providers whose rows are locked. ids: of the providers.
-- @statement inventories_locked
-- @in ids text
-- @out resource_id uint, i inventory
SELECT i.resource_id, {inventory}
FROM {ids}
STRAIGHT_JOIN inventories i ON i.resource_id = j.id
STRAIGHT_JOIN resource_classes c ON c.id = i.class_id;

-- inventories: a JSON array of [provider's id, class, total, reserved, min_unit, max_unit, step_size, allocation_ratio as a
-- string, capacity].
-- @statement inventories_put
-- @in inventories text, now time
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity,
  created_at, updated_at)
SELECT j.resource, j.class, j.total, j.reserved, j.min_unit, j.max_unit, j.step_size, j.ratio, j.capacity, :now, :now
FROM JSON_TABLE(:inventories, '$[*]' COLUMNS (
  resource BIGINT UNSIGNED PATH '$[0]',
  class INT UNSIGNED PATH '$[1]',
  total INT UNSIGNED PATH '$[2]',
  reserved INT UNSIGNED PATH '$[3]',
  min_unit INT UNSIGNED PATH '$[4]',
  max_unit INT UNSIGNED PATH '$[5]',
  step_size INT UNSIGNED PATH '$[6]',
  ratio DOUBLE PATH '$[7]',
  capacity BIGINT PATH '$[8]')) j
ON DUPLICATE KEY UPDATE total = VALUES(total), reserved = VALUES(reserved), min_unit = VALUES(min_unit),
  max_unit = VALUES(max_unit), step_size = VALUES(step_size), allocation_ratio = VALUES(allocation_ratio),
  capacity = VALUES(capacity), updated_at = VALUES(updated_at);

-- inventories: a JSON array of [provider's id, class].
-- @statement inventories_delete
-- @in inventories text
DELETE i
FROM JSON_TABLE(:inventories, '$[*]' COLUMNS (resource BIGINT UNSIGNED PATH '$[0]', class INT UNSIGNED PATH '$[1]')) j
STRAIGHT_JOIN inventories i ON i.resource_id = j.resource AND i.class_id = j.class;
