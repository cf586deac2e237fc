-- Some hundred thousand rows for check-sql, made by the server itself. @n: how many resources.
SET SESSION foreign_key_checks = 0, unique_checks = 0;
SET @n = IFNULL(@n, 200000), @tenants = GREATEST(@n DIV 10, 10), @at = '2026-01-01 00:00:00';

INSERT INTO tenants (name, uid, tier_id, metadata, etag, revision, created_at, updated_at)
SELECT CONCAT('tenant-', seq), UNHEX(MD5(CONCAT('t', seq))), 1, '{}', REPEAT('e', 64), 1, @at, @at FROM seq_1_to_2000000
WHERE seq <= @tenants;
INSERT INTO tenant_counts (tenant_id, resources)
SELECT id, 10 FROM tenants WHERE id NOT IN (SELECT tenant_id FROM tenant_counts);

-- Custom types, half as many as resources.
INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin)
SELECT CONCAT('g', seq MOD 1000, '.example.com'), 'v1', 'Thing', CONCAT('things', seq), 'thing', seq MOD 2, FALSE
FROM seq_1_to_2000000 WHERE seq <= @n DIV 2;

-- Resources: config maps, nodes, providers; every twentieth deleted.
SET @configmaps = (SELECT id FROM types WHERE group_name = '' AND plural = 'configmaps'),
  @nodes = (SELECT id FROM types WHERE group_name = 'baremetal.openstack.org' AND plural = 'nodes'),
  @providers = (SELECT id FROM types WHERE plural = 'resourceproviders'),
  @first = (SELECT MIN(id) FROM tenants WHERE name LIKE 'tenant-%');
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body,
  created_at, updated_at, deleted_at, purge_at, deletion, root, changed)
SELECT UNHEX(MD5(CONCAT('r', seq))), @first + seq MOD @tenants,
  ELT(1 + seq MOD 3, @configmaps, @nodes, @providers), IF(seq MOD 3 = 0, 'default', ''), CONCAT('name-', seq),
  IF(seq MOD 20 = 0, NULL, 1), 200, 1, 1, seq, seq, seq, seq, REPEAT('e', 64), '{}',
  CONCAT('{"name": "name-', seq, '", "a": ', seq MOD 100, '}'), @at, @at,
  IF(seq MOD 20 = 0, @at, NULL), IF(seq MOD 20 = 0, @at + INTERVAL 1 YEAR, NULL), IF(seq MOD 20 = 0, UNHEX(MD5(seq DIV 7)), NULL),
  IF(seq MOD 3 = 0, NULL, CONCAT(UNHEX(LPAD(HEX(@nodes), 8, '0')), UNHEX(MD5(CONCAT('r', seq - seq MOD 5))))), seq
FROM seq_1_to_2000000 WHERE seq <= @n;
SET @resource = (SELECT MIN(id) FROM resources WHERE name LIKE 'name-%');
-- Each tenant's namespace `default`: as many rows of one name as there are tenants.
INSERT INTO resources (uid, tenant_id, type_id, namespace, name, live, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at, updated_at)
SELECT UNHEX(MD5(CONCAT('default', t.id))), t.id, (SELECT id FROM types WHERE group_name = '' AND plural = 'namespaces'), '', 'default', 2, 2, 1, 1,
  t.id, t.id, t.id, t.id, REPEAT('e', 64), '{}', '{}', @at, @at FROM tenants t WHERE t.name LIKE 'tenant-%';

INSERT INTO changes (request_id, at, actor, verb, tenant_id, from_tenant_id, resource_id, uid, type_id, namespace, name,
  revision, etag_after, fields)
SELECT UNHEX(MD5(seq)), @at + INTERVAL seq SECOND, 'somebody', IF(seq MOD 50 = 0, 'moved', 'updated'), @first + seq MOD @tenants,
  IF(seq MOD 50 = 0, @first + (seq + 1) MOD @tenants, NULL), IF(seq MOD 100 = 1, NULL, @resource + seq MOD @n),
  UNHEX(MD5(CONCAT('r', seq))), @configmaps, 'default', CONCAT('name-', seq), 1, REPEAT('e', 64), '["/data"]'
FROM seq_1_to_2000000 WHERE seq <= @n;

INSERT INTO resource_aliases (resource_id, kind, type_id, value)
SELECT r.id, k.kind, r.type_id, CONCAT(IF(k.kind = 'name', '', CONCAT(LOWER(HEX(r.uid)), ' ')), r.name)
FROM resources r JOIN (SELECT 'name' AS kind UNION SELECT 'parent') k WHERE r.type_id IN (@nodes, @providers) AND r.live = 1;
INSERT INTO resource_aliases (resource_id, kind, type_id, value)
SELECT r.id, 'free', r.type_id, CONCAT('4 gold ', LOWER(HEX(r.uid))) FROM resources r WHERE r.type_id = @nodes AND r.live = 1 AND r.id MOD 2 = 0;
INSERT INTO traits (name, created_at, updated_at)
SELECT CONCAT('CUSTOM_T', seq), @at, @at FROM seq_1_to_2000000 WHERE seq <= @n DIV 100;
SET @trait = (SELECT MIN(id) FROM traits WHERE name LIKE 'CUSTOM\_T%');
INSERT INTO resource_traits (resource_id, trait_id)
SELECT DISTINCT r.id, @trait + (r.id * k.seq) MOD (@n DIV 100) FROM resources r JOIN seq_1_to_3 k WHERE r.type_id IN (@nodes, @providers);

INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at)
SELECT @first + seq MOD @tenants, @configmaps, 'default', CONCAT('old-', seq), @resource + seq MOD @n, @at
FROM seq_1_to_2000000 WHERE seq <= @n DIV 4;
INSERT INTO moves (uid, source_id, dest_id, state, actor, created_at, finished_at)
SELECT UNHEX(MD5(CONCAT('m', seq))), @first + seq MOD @tenants, @first + (seq + 1) MOD @tenants, IF(seq MOD 1000 = 0, 'queued', 'done'),
  'somebody', @at, @at FROM seq_1_to_2000000 WHERE seq <= @n DIV 10;
INSERT INTO move_progress (move_id, moved, updated_at) SELECT id, 1, @at FROM moves WHERE state = 'queued' LIMIT 5;
INSERT INTO namespace_deletions (resource_id, deletion, actor, purge_at)
SELECT @resource + seq, UNHEX(MD5(seq)), 'somebody', @at FROM seq_1_to_5;
INSERT INTO merged_namespaces (resource_id, into_id, deletion)
SELECT @resource + seq, @resource + seq + 1, UNHEX(MD5(seq)) FROM seq_1_to_2000;
INSERT INTO tokens (id, hash, user, tenant_id, role, created_at)
SELECT LEFT(MD5(seq), 12), UNHEX(SHA2(seq, 256)), 'somebody', @first + seq MOD @tenants, 'member', @at
FROM seq_1_to_2000000 WHERE seq <= @n DIV 4;

INSERT INTO providers (resource_id, generation) SELECT id, 1 FROM resources WHERE type_id = @providers;
INSERT INTO resource_classes (name) SELECT CONCAT('CUSTOM_C', seq) FROM seq_1_to_1000;
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, used,
  created_at, updated_at)
SELECT r.id, k.seq, 100, 0, 1, 100, 1, 1.0, 100, r.id MOD 100, @at, @at FROM resources r JOIN seq_1_to_3 k
WHERE r.type_id = @providers;
INSERT INTO provider_aggregates (resource_id, aggregate)
SELECT id, UNHEX(MD5(CONCAT('a', id MOD (@n DIV 100)))) FROM resources WHERE type_id = @providers;
INSERT INTO consumer_types (name) VALUES ('INSTANCE'), ('MIGRATION');
INSERT INTO consumers (uid, project, user, type_id, generation, created_at, updated_at)
SELECT UNHEX(MD5(CONCAT('c', seq))), CONCAT('project-', seq MOD @tenants), 'somebody', 1 + seq MOD 2, 1, @at, @at
FROM seq_1_to_2000000 WHERE seq <= @n DIV 4;
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT c.id, i.resource_id, i.class_id, 1, @at FROM consumers c
JOIN inventories i ON i.resource_id = @resource + 2 + 3 * (c.id MOD (@n DIV 3)) AND i.class_id = 1;
