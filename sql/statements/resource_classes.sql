-- Classes of resources: what inventories count.

-- @group resource_class id uint, name text, updated_at time

-- @statement class_list
-- @out class resource_class
SELECT id, name, updated_at FROM resource_classes WHERE live = 1 ORDER BY id;

-- The lock for a class that is only read, that must not be deleted before COMMIT, or that is about to be changed.
-- @choice class_lock
-- @case none

-- @case shared
LOCK IN SHARE MODE
-- @case exclusive
FOR UPDATE

-- @statement class_get
-- @in name text
-- @out class resource_class
SELECT id, name, updated_at FROM resource_classes WHERE name = :name AND live = 1 {class_lock};

-- A transaction that gives a provider inventory of a class locks the class in share mode, so that the class is not deleted
-- before COMMIT.
-- @statement class_find
-- @in names text
-- @out id uint, name text
SELECT c.id, c.name FROM {names} STRAIGHT_JOIN resource_classes c ON c.name = j.name AND c.live = 1 {class_lock};

-- The present names of classes, which are locked like those of class_find.
-- @statement class_names
-- @in ids text
-- @out id uint, name text
SELECT c.id, c.name FROM {ids} STRAIGHT_JOIN resource_classes c ON c.id = j.id AND c.live = 1 {class_lock};

-- @statement class_insert
-- @in name text, now time
INSERT INTO resource_classes (name, updated_at) VALUES (:name, :now);

-- Makes a hidden class live, as if it were new.
-- @statement class_reveal
-- @in name text, now time
UPDATE resource_classes SET live = 1, updated_at = :now WHERE name = :name AND live IS NULL;

-- @statement class_rename
-- @in id uint, name text, now time
UPDATE resource_classes SET name = :name, updated_at = :now WHERE id = :id;

-- @statement class_delete
-- @in id uint
DELETE FROM resource_classes WHERE id = :id;

-- @statement class_hide
-- @in id uint
UPDATE resource_classes SET live = NULL WHERE id = :id;

-- A provider with inventory of the class: a live one of an active tenant; one of whose inventory allocations use some; any.
-- @statement class_seen_holder
-- @in id uint
-- @out id uint
SELECT r.id FROM inventories x STRAIGHT_JOIN {seen_of_x} WHERE x.class_id = :id LIMIT 1;

-- @statement class_used_holder
-- @in id uint
-- @out id uint
SELECT resource_id AS id FROM inventories WHERE class_id = :id AND used > 0 LIMIT 1;

-- @statement class_holder
-- @in id uint
-- @out id uint
SELECT resource_id AS id FROM inventories WHERE class_id = :id LIMIT 1;
