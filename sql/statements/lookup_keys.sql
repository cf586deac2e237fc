-- Lookup keys: second names of resources, rows of resource_aliases, which every write keeps equal to the body.

-- By uid, because the id may not be known yet: the same batch may have inserted the resource.
-- @fragment id_of_uid
(SELECT id FROM resources WHERE uid = :uid AND type_id = :type_id AND live = 1)

-- @statement lookup_key_insert
-- @in uid bytes, type_id uint, kind text, value text
INSERT INTO resource_aliases (resource_id, kind, type_id, value) VALUES ({id_of_uid}, :kind, :type_id, :value);

-- For a key that names its own resource, so no other resource has it: whatever key of this kind the resource has, or none.
-- @statement lookup_key_put
-- @in uid bytes, type_id uint, kind text, value text
INSERT INTO resource_aliases (resource_id, kind, type_id, value) VALUES ({id_of_uid}, :kind, :type_id, :value)
ON DUPLICATE KEY UPDATE value = VALUES(value);

-- @statement lookup_key_update
-- @in uid bytes, type_id uint, kind text, value text
UPDATE resource_aliases SET value = :value WHERE resource_id = {id_of_uid} AND kind = :kind;

-- @statement lookup_key_delete
-- @in uid bytes, type_id uint, kind text
DELETE FROM resource_aliases WHERE resource_id = {id_of_uid} AND kind = :kind;

-- Does any resource refer to a resource? from is "uid " and to is "uid!", since "!" follows the blank in the character set.
-- @statement lookup_key_pointing
-- @in type_id uint, kind text, from text, to text
-- @out found uint
SELECT 1 AS found FROM resource_aliases
WHERE type_id = :type_id AND kind = :kind AND value > :from AND value < :to AND live = 1
LIMIT 1;

-- A reference is shared, or exclusive if the write depends on what else refers to the same resource.
-- @choice reference_mode
-- @case shared
LOCK IN SHARE MODE
-- @case exclusive
FOR UPDATE

-- The resource that a write refers to, locked until COMMIT.
-- @statement reference_lock
-- @in uid bytes, type_id uint, tenant text
-- @out id uint, body text
SELECT id, body FROM resources
WHERE uid = :uid AND type_id = :type_id AND live = 1
  AND tenant_id = (SELECT id FROM tenants WHERE name = :tenant AND live = 1)
{reference_mode};
