-- Tenure, schema version 5: spaces. Types that tenants define, versions that rise over the whole server, Tenant objects.
--
-- Columns are added in place, without copying a row; those of rows that are there are filled in by one statement.

-- changed: id of the resource's last row in changes, what clients get as resourceVersion in spaces; 1 where that row was
-- purged long ago. generation: grows with each change of the body outside of "status". doomed_at: its deletion was asked
-- for, and waits for its finalizers.
ALTER TABLE resources
  ADD COLUMN changed    BIGINT UNSIGNED NOT NULL DEFAULT 1,
  ADD COLUMN generation BIGINT UNSIGNED NOT NULL DEFAULT 1,
  ADD COLUMN doomed_at  DATETIME(6) NULL;

UPDATE resources r SET r.changed = COALESCE((SELECT x.id FROM changes x WHERE x.resource_id = r.id
  ORDER BY x.id DESC LIMIT 1), 1);

-- object: what a Tenant object has beyond its annotations, which are the metadata: JSON object with "labels",
-- "finalizers", "spec", each where there is one. type_policy: spec.multiTenancyCRDPolicy. changed: as that of resources.
ALTER TABLE tenants
  ADD COLUMN object      MEDIUMTEXT NOT NULL DEFAULT '{}',
  ADD COLUMN type_policy ENUM('LocalCRDFirst', 'SystemCRDFirst', 'NeverUseSystemCRDUnlessForced') NOT NULL
    DEFAULT 'LocalCRDFirst',
  ADD COLUMN changed     BIGINT UNSIGNED NOT NULL DEFAULT 1;

UPDATE tenants t SET t.changed = COALESCE((SELECT MAX(x.id) FROM changes x WHERE x.tenant_id = t.id AND
  x.resource_id IS NULL), 1);

-- types: raised by every change of the tenant's CustomResourceDefinitions, by which workers learn that what they hold of
-- them is no more.
ALTER TABLE tenant_counts
  ADD COLUMN types BIGINT UNSIGNED NOT NULL DEFAULT 0;
INSERT INTO catalogues (name, revision) VALUES ('types', 1);

-- A type is an identity: group, plural, and whether its resources stand in namespaces, as different tenants may want
-- different things by one name. What it is for a tenant say the built-in definitions and the tenants' own.
ALTER TABLE types
  DROP KEY plural,
  ADD UNIQUE KEY plural (group_name, plural, namespaced);

INSERT INTO types (group_name, version, kind, plural, singular, namespaced, builtin) VALUES
  ('',                     'v1', 'Node',                     'nodes',                     'node',                     FALSE, TRUE),
  ('',                     'v1', 'Tenant',                   'tenants',                   'tenant',                   FALSE, TRUE),
  ('',                     'v1', 'Event',                    'events',                    'event',                    TRUE,  TRUE),
  ('apps',                 'v1', 'DaemonSet',                'daemonsets',                'daemonset',                TRUE,  TRUE),
  ('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'customresourcedefinitions', 'customresourcedefinition', FALSE, TRUE);
