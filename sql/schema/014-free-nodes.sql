-- Tenure, schema version 14: nodes of bare metal that an allocation can take, by an index.
--
-- Such a node has a lookup key of the kind "free", made from its body like all lookup keys (src/registry/baremetal/node.c): the length
-- of its resource class in bytes, the class, and the node's uid, which is its name. An allocation reads the keys of its class; before, it
-- went through the bodies of all nodes. Nodes that are there get theirs here. Programs of version 13 know nothing of these keys, and
-- `tenure-manage doctor --fix` sets right what they leave.
INSERT INTO resource_aliases (resource_id, kind, type_id, value, live)
SELECT n.id, 'free', n.type_id, CONCAT(LENGTH(n.class), ' ', n.class, ' ', n.name), n.live
FROM (
  SELECT r.id, r.type_id, r.name, r.live, JSON_VALUE(r.body, '$.resource_class') AS class
  FROM resources r JOIN types y ON y.id = r.type_id
  WHERE y.group_name = 'baremetal.openstack.org' AND y.plural = 'nodes'
    AND JSON_VALUE(r.body, '$.provision_state') = 'available'
    AND JSON_VALUE(r.body, '$.maintenance') = 0
    AND JSON_VALUE(r.body, '$.instance_uuid') IS NULL
    AND JSON_VALUE(r.body, '$.reservation') IS NULL
    AND JSON_VALUE(r.body, '$.power_state') IS NOT NULL
) n
WHERE n.class IS NOT NULL;
