-- Identities of types: group, plural name, and whether their resources stand in namespaces.

-- @group type id uint, group_name text, version text, kind text, plural text, singular text, namespaced uint, builtin uint
-- @fragment type
id, group_name, version, kind, plural, singular, namespaced, builtin

-- What a worker reads at its start.
-- @statement type_list_builtin
-- @out t type
SELECT {type} FROM types WHERE builtin;

-- @statement type_by_id
-- @in id uint
-- @out t type
SELECT {type} FROM types WHERE id = :id;

-- @statement type_by_name
-- @in group_name text, plural text, namespaced uint
-- @out t type
SELECT {type} FROM types WHERE group_name = :group_name AND plural = :plural AND namespaced = :namespaced;

-- @statement type_insert
-- @in group_name text, version text, kind text, plural text, singular text, namespaced uint
INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin)
VALUES (:group_name, :version, :kind, :plural, :singular, :namespaced, FALSE);

-- A built-in type. If a custom one had its name, the type is built in from now on; its objects stay.
-- @statement type_insert_builtin
-- @in group_name text, version text, kind text, plural text, singular text, namespaced uint
INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin)
VALUES (:group_name, :version, :kind, :plural, :singular, :namespaced, TRUE)
ON DUPLICATE KEY UPDATE version = VALUES(version), kind = VALUES(kind), singular = VALUES(singular), builtin = TRUE;

-- Does the tenant have anything of the type? Forwards and what can be recovered count: their addresses have an answer.
-- @statement type_kept
-- @in tenant text, type_id uint
-- @out tenant_id uint
SELECT t.id AS tenant_id
FROM tenants t
WHERE t.name = :tenant AND t.live = 1
  AND (EXISTS (SELECT 1 FROM resources r WHERE r.tenant_id = t.id AND r.type_id = :type_id)
    OR EXISTS (SELECT 1 FROM forwards f WHERE f.tenant_id = t.id AND f.type_id = :type_id));
