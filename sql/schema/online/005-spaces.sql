-- @oldest 5
-- The newest change by now: what programs of versions before this one write later is looked at again by 015.
-- @once begun
SET @upto = (SELECT COALESCE(MAX(id), 0) FROM changes);

-- @step columns
ALTER TABLE resources
  ADD COLUMN IF NOT EXISTS changed BIGINT UNSIGNED NOT NULL DEFAULT 1,
  ADD COLUMN IF NOT EXISTS generation BIGINT UNSIGNED NOT NULL DEFAULT 1,
  ADD COLUMN IF NOT EXISTS doomed_at DATETIME(6) NULL,
  ALGORITHM=INSTANT;
ALTER TABLE tenants
  ADD COLUMN IF NOT EXISTS object MEDIUMTEXT NOT NULL DEFAULT '{}',
  ADD COLUMN IF NOT EXISTS type_policy ENUM('LocalCRDFirst', 'SystemCRDFirst', 'NeverUseSystemCRDUnlessForced') NOT NULL
    DEFAULT 'LocalCRDFirst',
  ADD COLUMN IF NOT EXISTS changed BIGINT UNSIGNED NOT NULL DEFAULT 1,
  ALGORITHM=INSTANT;
ALTER TABLE tenant_counts
  ADD COLUMN IF NOT EXISTS types BIGINT UNSIGNED NOT NULL DEFAULT 0, ALGORITHM=INSTANT;

-- @batches resources resources
SET @upto = (SELECT MIN(id) FROM resources WHERE id > @after) + @size - 1;
UPDATE resources r SET r.changed = COALESCE((SELECT x.id FROM changes x WHERE x.resource_id = r.id
  ORDER BY x.id DESC LIMIT 1), 1)
WHERE r.id > @after AND r.id <= @upto;

-- By the changes of tenants themselves, which are few, and not by the tenants: one may have a million changes of resources.
-- @batches tenants changes
SET @upto = (SELECT MIN(id) FROM changes WHERE resource_id IS NULL AND id > @after) + @size - 1;
UPDATE tenants t
JOIN (SELECT x.tenant_id, MAX(x.id) AS newest FROM changes x WHERE x.resource_id IS NULL AND x.id > @after AND x.id <= @upto
  GROUP BY x.tenant_id) n ON n.tenant_id = t.id
SET t.changed = n.newest WHERE t.changed < n.newest;

-- @step types
ALTER TABLE types
  DROP KEY IF EXISTS plural,
  ADD UNIQUE KEY plural (group_name, plural, namespaced),
  ALGORITHM=INPLACE, LOCK=NONE;

-- @once rows
INSERT INTO catalogues (name, revision) VALUES ('types', 1);
INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) VALUES
  ('',                     'v1', 'Node',                     'nodes',                     'node',                     FALSE, TRUE),
  ('',                     'v1', 'Tenant',                   'tenants',                   'tenant',                   FALSE, TRUE),
  ('',                     'v1', 'Event',                    'events',                    'event',                    TRUE,  TRUE),
  ('apps',                 'v1', 'DaemonSet',                'daemonsets',                'daemonset',                TRUE,  TRUE),
  ('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'customresourcedefinition', FALSE, TRUE);
