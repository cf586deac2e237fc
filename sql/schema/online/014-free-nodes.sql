-- Programs of version 13 leave these keys as they are; `tenure-manage doctor --fix` sets them right once they are gone.
-- @batches free resources
SET @type = (SELECT id FROM types WHERE group_name = 'baremetal.openstack.org' AND plural = 'nodes' AND builtin);
SET @upto = (SELECT MIN(id) FROM resources WHERE type_id = @type AND id > @after) + @size - 1;
INSERT IGNORE INTO resource_aliases (resource_id, kind, type_id, value, live)
SELECT n.id, 'free', n.type_id, CONCAT(LENGTH(n.class), ' ', n.class, ' ', n.name), n.live
FROM (
  SELECT r.id, r.type_id, r.name, r.live, JSON_VALUE(r.body, '$.resource_class') AS class
  FROM resources r
  WHERE r.type_id = @type AND r.id > @after AND r.id <= @upto
    AND JSON_VALUE(r.body, '$.provision_state') = 'available'
    AND JSON_VALUE(r.body, '$.maintenance') = 0
    AND JSON_VALUE(r.body, '$.instance_uuid') IS NULL
    AND JSON_VALUE(r.body, '$.reservation') IS NULL
    AND JSON_VALUE(r.body, '$.power_state') IS NOT NULL
) n
WHERE n.class IS NOT NULL;
