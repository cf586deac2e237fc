-- What `tenure-manage dump --all` reads and `tenure-manage restore` writes: a whole installation, as a record for each row, a JSON object with the
-- row's columns (doc/dump.md). Bytes are in hexadecimal digits. Ids stay as they are.
--
-- Not in a dump are what belongs to the database itself (schema_version, schema_files, schema_steps), to its cluster and hosts (writer,
-- writer_slots, writer_switches, log_writers, webhook_lease), and sessions.

-- ---- dump, in one snapshot

-- @statement dump_all_settings
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('name', t.name, 'value', LOWER(HEX(t.value))) AS record
FROM settings t WHERE t.name NOT IN ('maintenance', 'doctor_position', 'reaped_at');

-- @statement dump_all_tiers
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'name', t.name, 'max_resources', t.max_resources, 'description', t.description,
  'changed_at', CAST(t.changed_at AS CHAR)) AS record
FROM tiers t;

-- @statement dump_all_types
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'group_name', t.group_name, 'version', t.version, 'kind', t.kind, 'plural', t.plural, 'singular', t.singular,
  'namespaced', t.namespaced, 'builtin', t.builtin) AS record
FROM types t;

-- @statement dump_all_traits
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'name', t.name, 'description', t.description, 'deprecated', t.deprecated, 'created_at', CAST(t.created_at AS CHAR),
  'updated_at', CAST(t.updated_at AS CHAR), 'live', t.live) AS record
FROM traits t;

-- @statement dump_all_resource_classes
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'name', t.name, 'updated_at', CAST(t.updated_at AS CHAR), 'live', t.live) AS record
FROM resource_classes t;

-- @statement dump_all_consumer_types
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'name', t.name) AS record
FROM consumer_types t;

-- @statement dump_all_tenants
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'name', t.name, 'live', t.live, 'uid', LOWER(HEX(t.uid)), 'tier_id', t.tier_id, 'metadata', t.metadata,
  'etag', LOWER(HEX(t.etag)), 'revision', t.revision, 'created_at', CAST(t.created_at AS CHAR), 'updated_at', CAST(t.updated_at AS CHAR),
  'deleted_at', CAST(t.deleted_at AS CHAR), 'purge_at', CAST(t.purge_at AS CHAR), 'etag_required', t.etag_required, 'object', t.object,
  'type_policy', CAST(t.type_policy AS CHAR), 'changed', t.changed) AS record
FROM tenants t;

-- @statement dump_all_tenant_counts
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('tenant_id', t.tenant_id, 'resources', t.resources, 'types', t.types) AS record
FROM tenant_counts t;

-- @statement dump_all_resources
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'uid', LOWER(HEX(t.uid)), 'tenant_id', t.tenant_id, 'type_id', t.type_id, 'namespace', t.namespace, 'name', t.name,
  'live', t.live, 'locked', t.locked, 'bytes', t.bytes, 'revision', t.revision, 'edits', t.edits, 'h0', t.h0, 'h1', t.h1, 'h2', t.h2,
  'h3', t.h3, 'etag', LOWER(HEX(t.etag)), 'meta', t.meta, 'body', t.body, 'created_at', CAST(t.created_at AS CHAR),
  'updated_at', CAST(t.updated_at AS CHAR), 'deleted_at', CAST(t.deleted_at AS CHAR), 'purge_at', CAST(t.purge_at AS CHAR),
  'deletion', LOWER(HEX(t.deletion)), 'root', LOWER(HEX(t.root)), 'traits', t.traits, 'changed', t.changed, 'generation', t.generation,
  'doomed_at', CAST(t.doomed_at AS CHAR), 'moves', t.moves) AS record
FROM resources t;

-- @statement dump_all_resource_aliases
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('resource_id', t.resource_id, 'kind', t.kind, 'type_id', t.type_id, 'value', t.value, 'live', t.live) AS record
FROM resource_aliases t;

-- @statement dump_all_resource_traits
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('resource_id', t.resource_id, 'trait_id', t.trait_id) AS record
FROM resource_traits t;

-- @statement dump_all_providers
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('resource_id', t.resource_id, 'generation', t.generation) AS record
FROM providers t;

-- @statement dump_all_inventories
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('resource_id', t.resource_id, 'class_id', t.class_id, 'total', t.total, 'reserved', t.reserved, 'min_unit', t.min_unit,
  'max_unit', t.max_unit, 'step_size', t.step_size, 'allocation_ratio', CAST(t.allocation_ratio AS CHAR), 'capacity', t.capacity,
  'used', t.used, 'created_at', CAST(t.created_at AS CHAR), 'updated_at', CAST(t.updated_at AS CHAR)) AS record
FROM inventories t;

-- @statement dump_all_provider_aggregates
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('resource_id', t.resource_id, 'aggregate', LOWER(HEX(t.aggregate))) AS record
FROM provider_aggregates t;

-- @statement dump_all_consumers
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'uid', LOWER(HEX(t.uid)), 'project', t.project, 'user', t.user, 'type_id', t.type_id, 'generation', t.generation,
  'created_at', CAST(t.created_at AS CHAR), 'updated_at', CAST(t.updated_at AS CHAR)) AS record
FROM consumers t;

-- @statement dump_all_allocations
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('consumer_id', t.consumer_id, 'resource_id', t.resource_id, 'class_id', t.class_id, 'used', t.used,
  'updated_at', CAST(t.updated_at AS CHAR)) AS record
FROM allocations t;

-- @statement dump_all_forwards
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('tenant_id', t.tenant_id, 'type_id', t.type_id, 'namespace', t.namespace, 'name', t.name, 'resource_id', t.resource_id,
  'moved_at', CAST(t.moved_at AS CHAR), 'request_id', LOWER(HEX(t.request_id)), 'expires_at', CAST(t.expires_at AS CHAR)) AS record
FROM forwards t;

-- @statement dump_all_moves
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'uid', LOWER(HEX(t.uid)), 'source_id', t.source_id, 'dest_id', t.dest_id, 'resource_id', t.resource_id,
  'state', CAST(t.state AS CHAR), 'if_match', t.if_match, 'words', t.words, 'actor', t.actor, 'resources', t.resources,
  'outcome', t.outcome, 'detail', t.detail, 'created_at', CAST(t.created_at AS CHAR), 'finished_at', CAST(t.finished_at AS CHAR)) AS record
FROM moves t;

-- @statement dump_all_move_progress
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('move_id', t.move_id, 'moved', t.moved, 'updated_at', CAST(t.updated_at AS CHAR)) AS record
FROM move_progress t;

-- @statement dump_all_namespace_deletions
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('resource_id', t.resource_id, 'deletion', LOWER(HEX(t.deletion)), 'actor', t.actor, 'purge_at', CAST(t.purge_at AS CHAR),
  'type_id', t.type_id, 'name', t.name) AS record
FROM namespace_deletions t;

-- @statement dump_all_merged_namespaces
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('resource_id', t.resource_id, 'into_id', t.into_id, 'deletion', LOWER(HEX(t.deletion))) AS record
FROM merged_namespaces t;

-- @statement dump_all_changes
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'request_id', LOWER(HEX(t.request_id)), 'at', CAST(t.at AS CHAR), 'actor', t.actor, 'verb', CAST(t.verb AS CHAR),
  'tenant_id', t.tenant_id, 'from_tenant_id', t.from_tenant_id, 'resource_id', t.resource_id, 'uid', LOWER(HEX(t.uid)),
  'type_id', t.type_id, 'namespace', t.namespace, 'name', t.name, 'revision', t.revision, 'etag_before', LOWER(HEX(t.etag_before)),
  'etag_after', LOWER(HEX(t.etag_after)), 'fields', t.fields, 'moves', t.moves, 'selectable_before', t.selectable_before,
  'bytes_before', t.bytes_before, 'bytes_after', t.bytes_after) AS record
FROM changes t;

-- @statement dump_all_former_resources
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('change_id', t.change_id, 'resource_id', t.resource_id, 'locked', t.locked, 'meta', t.meta, 'body', t.body, 'traits', t.traits) AS record
FROM former_resources t;

-- @statement dump_all_former_tenants
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('change_id', t.change_id, 'tenant_id', t.tenant_id, 'tier_id', t.tier_id, 'metadata', t.metadata, 'object', t.object,
  'etag_required', t.etag_required) AS record
FROM former_tenants t;

-- @statement dump_all_tokens
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'hash', LOWER(HEX(t.hash)), 'user', t.user, 'tenant_id', t.tenant_id, 'role', CAST(t.role AS CHAR),
  'description', t.description, 'created_at', CAST(t.created_at AS CHAR), 'expires_at', CAST(t.expires_at AS CHAR),
  'revoked_at', CAST(t.revoked_at AS CHAR), 'last_used_at', CAST(t.last_used_at AS CHAR)) AS record
FROM tokens t;

-- @statement dump_all_webhooks
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'tenant_id', t.tenant_id, 'name', t.name, 'uid', LOWER(HEX(t.uid)), 'url', t.url, 'description', t.description,
  'filters', t.filters, 'paused', t.paused, 'secret', LOWER(HEX(t.secret)), 'old_secret', LOWER(HEX(t.old_secret)),
  'old_secret_until', CAST(t.old_secret_until AS CHAR), 'etag', LOWER(HEX(t.etag)), 'revision', t.revision,
  'created_at', CAST(t.created_at AS CHAR), 'updated_at', CAST(t.updated_at AS CHAR)) AS record
FROM webhooks t;

-- @statement dump_all_webhook_cursors
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('webhook_id', t.webhook_id, 'position', t.position, 'begun_upto', t.begun_upto, 'message', LOWER(HEX(t.message)), 'attempts', t.attempts,
  'next_at', CAST(t.next_at AS CHAR), 'failing_since', CAST(t.failing_since AS CHAR), 'disabled_at', CAST(t.disabled_at AS CHAR),
  'delivered_at', CAST(t.delivered_at AS CHAR), 'status', t.status, 'error', t.error) AS record
FROM webhook_cursors t;

-- @statement dump_all_webhook_messages
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'webhook_id', t.webhook_id, 'uid', LOWER(HEX(t.uid)), 'kind', CAST(t.kind AS CHAR), 'state', CAST(t.state AS CHAR),
  'position', t.position, 'upto', t.upto, 'attempts', t.attempts, 'next_at', CAST(t.next_at AS CHAR),
  'created_at', CAST(t.created_at AS CHAR), 'ended_at', CAST(t.ended_at AS CHAR), 'status', t.status, 'error', t.error) AS record
FROM webhook_messages t;

-- @statement dump_all_usage_progress
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'stage', CAST(t.stage AS CHAR), 'opens_at', CAST(t.opens_at AS CHAR), 'opened_id', t.opened_id,
  'opened_at', CAST(t.opened_at AS CHAR), 'slice', t.slice, 'position', t.position, 'closed_until', CAST(t.closed_until AS CHAR),
  'closing_until', CAST(t.closing_until AS CHAR), 'period_s', t.period_s, 'grid_since', CAST(t.grid_since AS CHAR), 'opened', t.opened) AS record
FROM usage_progress t;

-- @statement dump_all_usage_opening
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('tenant_id', t.tenant_id, 'type_id', t.type_id, 'resources', t.resources, 'bytes', t.bytes, 'suspended', t.suspended) AS record
FROM usage_opening t;

-- @statement dump_all_usage_suspended
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('tenant_id', t.tenant_id, 'type_id', t.type_id, 'resources', t.resources, 'bytes', t.bytes) AS record
FROM usage_suspended t;

-- @statement dump_all_usage_pending
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('until', CAST(t.until AS CHAR), 'tenant_id', t.tenant_id, 'type_id', t.type_id, 'resources', t.resources, 'bytes', t.bytes,
  'resource_us', CAST(t.resource_us AS CHAR), 'byte_us', CAST(t.byte_us AS CHAR)) AS record
FROM usage_pending t;

-- @statement dump_all_usage_periods
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('tenant_id', t.tenant_id, 'type_id', t.type_id, 'until', CAST(t.until AS CHAR), 'since', CAST(t.since AS CHAR), 'resources', t.resources,
  'bytes', t.bytes, 'resource_us', CAST(t.resource_us AS CHAR), 'byte_us', CAST(t.byte_us AS CHAR)) AS record
FROM usage_periods t;

-- @statement dump_all_usage_closings
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('until', CAST(t.until AS CHAR), 'since', CAST(t.since AS CHAR), 'last_change', t.last_change, 'closed_at', CAST(t.closed_at AS CHAR),
  'opened', t.opened) AS record
FROM usage_closings t;

-- @statement dump_all_log_horizon
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('id', t.id, 'published', t.published, 'commits', t.commits) AS record
FROM log_horizon t;

-- @statement dump_all_catalogues
-- @out record text
-- @scans all rows
SELECT JSON_OBJECT('name', t.name, 'revision', t.revision) AS record
FROM catalogues t;

-- The ids that come next, by table. Read last: no row of the snapshot has one of them.
-- @statement dump_all_next_ids
-- @out record text
-- @scans information_schema has no index
SELECT JSON_OBJECTAGG(i.table_name, i.auto_increment) AS record
FROM information_schema.tables i
WHERE i.table_schema = DATABASE() AND i.auto_increment IS NOT NULL;

-- ---- restore: into an installation as db init left it

-- The columns that a record of each table has, a JSON array. most: the greatest number, or how many characters or bytes.
-- @statement restore_all_columns
-- @out table_name text, columns text
-- @scans information_schema has no index
-- @sorts likewise
SELECT c.table_name, JSON_ARRAYAGG(JSON_OBJECT('name', c.column_name, 'nullable', IF(c.is_nullable = 'YES', 1, 0),
  'signed', IF(c.column_type LIKE '%unsigned%', 0, 1),
  'kind', CASE WHEN c.data_type IN ('binary', 'varbinary') THEN 'bytes' WHEN c.data_type = 'datetime' THEN 'time'
    WHEN c.data_type LIKE '%int' THEN 'number' ELSE 'text' END,
  'most', CASE c.column_type LIKE '%unsigned%' WHEN TRUE THEN CASE c.data_type WHEN 'tinyint' THEN 255 WHEN 'smallint' THEN 65535
      WHEN 'int' THEN 4294967295 ELSE 18446744073709551615 END
    ELSE CASE c.data_type WHEN 'tinyint' THEN 127 WHEN 'int' THEN 2147483647 WHEN 'bigint' THEN 9223372036854775807
      ELSE COALESCE(c.character_maximum_length, 64) END END) ORDER BY c.ordinal_position) AS columns
FROM information_schema.columns c
WHERE c.table_schema = DATABASE() AND c.is_generated = 'NEVER'
GROUP BY c.table_name;

-- Only one restores at a time, and nobody turns maintenance on or off meanwhile.
-- @statement restore_all_lock
-- @out name text
SELECT name FROM settings WHERE name = 'etag_key' FOR UPDATE;

-- The connections to the database but for this one, and those that apply what other servers replicate. Whoever lacks the privilege PROCESS sees
-- those of its own user alone.
-- @fragment other_connections
information_schema.processlist p WHERE p.db = DATABASE() AND p.id <> CONNECTION_ID() AND p.user <> 'system user'

-- Those of this user.
-- @statement connections_of_user
-- @out n uint
-- @scans the list of connections
SELECT COUNT(*) AS n FROM {other_connections} AND p.user = SUBSTRING_INDEX(USER(), '@', 1);

-- What forbids it, a text for each. tokens: those that are here are replaced, so there may be none; connections: there may be no others.
-- @statement restore_all_in_way
-- @in tokens uint, connections uint
-- @out what text
-- @scans counts of tables that should be empty, and the list of connections
SELECT CONCAT('there are ', COUNT(*), ' tenants: an installation is only restored into an empty one') AS what
FROM tenants t WHERE t.name <> 'system' HAVING COUNT(*) > 0
UNION ALL
SELECT CONCAT('there are ', COUNT(*), ' resources: an installation is only restored into an empty one')
FROM resources r WHERE NOT (r.live <=> 2) HAVING COUNT(*) > 0
UNION ALL
SELECT CONCAT('there are ', COUNT(*), ' webhooks: an installation is only restored into an empty one') FROM webhooks w HAVING COUNT(*) > 0
UNION ALL
SELECT CONCAT('there are ', COUNT(*), ' consumers: an installation is only restored into an empty one') FROM consumers c HAVING COUNT(*) > 0
UNION ALL
SELECT CONCAT('there are ', COUNT(*), ' tokens: `tenure-manage restore --without-tokens` keeps them, and leaves those of the file out')
FROM tokens k WHERE :tokens HAVING COUNT(*) > 0
UNION ALL
SELECT CONCAT('there are ', COUNT(*), ' other connections to the database: stop tenured and tenured-host, on all hosts')
FROM {other_connections} AND :connections HAVING COUNT(*) > 0;

-- next: a JSON object, the id that comes next in each table; none gets lower.
-- @script restore_all_next_ids
-- @in tables names, next names
SET @next = ':next';
SET @`next of :tables` = GREATEST(CAST(JSON_VALUE(@next, CONCAT('$.', ':tables')) AS UNSIGNED), (SELECT auto_increment FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ':tables'));
EXECUTE IMMEDIATE CONCAT('ALTER TABLE ', ':tables', ' AUTO_INCREMENT = ', @`next of :tables`);

-- ---- restore: the rows of an empty installation go. Those of log_horizon and catalogues stay, since they never get lower.

-- @statement restore_all_clear_settings
-- @scans the few rows of an empty installation
DELETE FROM settings WHERE name NOT IN ('maintenance', 'doctor_position', 'reaped_at');

-- @statement restore_all_clear_tiers
-- @scans the few rows of an empty installation
DELETE FROM tiers;

-- @statement restore_all_clear_types
-- @scans the few rows of an empty installation
DELETE FROM types;

-- @statement restore_all_clear_traits
-- @scans the few rows of an empty installation
DELETE FROM traits;

-- @statement restore_all_clear_resource_classes
-- @scans the few rows of an empty installation
DELETE FROM resource_classes;

-- @statement restore_all_clear_consumer_types
-- @scans the few rows of an empty installation
DELETE FROM consumer_types;

-- @statement restore_all_clear_tenants
-- @scans the few rows of an empty installation
DELETE FROM tenants;

-- @statement restore_all_clear_tenant_counts
-- @scans the few rows of an empty installation
DELETE FROM tenant_counts;

-- @statement restore_all_clear_resources
-- @scans the few rows of an empty installation
DELETE FROM resources;

-- @statement restore_all_clear_resource_aliases
-- @scans the few rows of an empty installation
DELETE FROM resource_aliases;

-- @statement restore_all_clear_resource_traits
-- @scans the few rows of an empty installation
DELETE FROM resource_traits;

-- @statement restore_all_clear_providers
-- @scans the few rows of an empty installation
DELETE FROM providers;

-- @statement restore_all_clear_inventories
-- @scans the few rows of an empty installation
DELETE FROM inventories;

-- @statement restore_all_clear_provider_aggregates
-- @scans the few rows of an empty installation
DELETE FROM provider_aggregates;

-- @statement restore_all_clear_consumers
-- @scans the few rows of an empty installation
DELETE FROM consumers;

-- @statement restore_all_clear_allocations
-- @scans the few rows of an empty installation
DELETE FROM allocations;

-- @statement restore_all_clear_forwards
-- @scans the few rows of an empty installation
DELETE FROM forwards;

-- @statement restore_all_clear_moves
-- @scans the few rows of an empty installation
DELETE FROM moves;

-- @statement restore_all_clear_move_progress
-- @scans the few rows of an empty installation
DELETE FROM move_progress;

-- @statement restore_all_clear_namespace_deletions
-- @scans the few rows of an empty installation
DELETE FROM namespace_deletions;

-- @statement restore_all_clear_merged_namespaces
-- @scans the few rows of an empty installation
DELETE FROM merged_namespaces;

-- @statement restore_all_clear_changes
-- @scans the few rows of an empty installation
DELETE FROM changes;

-- @statement restore_all_clear_former_resources
-- @scans the few rows of an empty installation
DELETE FROM former_resources;

-- @statement restore_all_clear_former_tenants
-- @scans the few rows of an empty installation
DELETE FROM former_tenants;

-- @statement restore_all_clear_tokens
-- @scans the few rows of an empty installation
DELETE FROM tokens;

-- @statement restore_all_clear_webhooks
-- @scans the few rows of an empty installation
DELETE FROM webhooks;

-- @statement restore_all_clear_webhook_cursors
-- @scans the few rows of an empty installation
DELETE FROM webhook_cursors;

-- @statement restore_all_clear_webhook_messages
-- @scans the few rows of an empty installation
DELETE FROM webhook_messages;

-- @statement restore_all_clear_usage_progress
-- @scans the few rows of an empty installation
DELETE FROM usage_progress;

-- @statement restore_all_clear_usage_opening
-- @scans the few rows of an empty installation
DELETE FROM usage_opening;

-- @statement restore_all_clear_usage_suspended
-- @scans the few rows of an empty installation
DELETE FROM usage_suspended;

-- @statement restore_all_clear_usage_pending
-- @scans the few rows of an empty installation
DELETE FROM usage_pending;

-- @statement restore_all_clear_usage_periods
-- @scans the few rows of an empty installation
DELETE FROM usage_periods;

-- @statement restore_all_clear_usage_closings
-- @scans the few rows of an empty installation
DELETE FROM usage_closings;

-- ---- restore: the rows of the file. rows: a JSON array of records of the table.

-- @statement restore_all_settings
-- @in rows text
INSERT INTO settings (name, value)
SELECT j.name, UNHEX(j.value)
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  value VARCHAR(2048) CHARACTER SET ascii PATH '$.value')) j;

-- @statement restore_all_tiers
-- @in rows text
INSERT INTO tiers (id, name, max_resources, description, changed_at)
SELECT j.id, j.name, j.max_resources, j.description, j.changed_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id INT UNSIGNED PATH '$.id',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  max_resources BIGINT UNSIGNED PATH '$.max_resources',
  description VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.description',
  changed_at DATETIME(6) PATH '$.changed_at')) j;

-- @statement restore_all_types
-- @in rows text
INSERT INTO types (id, group_name, version, kind, plural, singular, namespaced, builtin)
SELECT j.id, j.group_name, j.version, j.kind, j.plural, j.singular, j.namespaced, j.builtin
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id INT UNSIGNED PATH '$.id',
  group_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.group_name',
  version VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.version',
  kind VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.kind',
  plural VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.plural',
  singular VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.singular',
  namespaced TINYINT PATH '$.namespaced',
  builtin TINYINT PATH '$.builtin')) j;

-- @statement restore_all_traits
-- @in rows text
INSERT INTO traits (id, name, description, deprecated, created_at, updated_at, live)
SELECT j.id, j.name, j.description, j.deprecated, j.created_at, j.updated_at, j.live
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id INT UNSIGNED PATH '$.id',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  description VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.description',
  deprecated TINYINT PATH '$.deprecated',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at',
  live TINYINT UNSIGNED PATH '$.live')) j;

-- @statement restore_all_resource_classes
-- @in rows text
INSERT INTO resource_classes (id, name, updated_at, live)
SELECT j.id, j.name, j.updated_at, j.live
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id INT UNSIGNED PATH '$.id',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  updated_at DATETIME(6) PATH '$.updated_at',
  live TINYINT UNSIGNED PATH '$.live')) j;

-- @statement restore_all_consumer_types
-- @in rows text
INSERT INTO consumer_types (id, name)
SELECT j.id, j.name
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id INT UNSIGNED PATH '$.id',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name')) j;

-- @statement restore_all_tenants
-- @in rows text
INSERT INTO tenants (id, name, live, uid, tier_id, metadata, etag, revision, created_at, updated_at, deleted_at, purge_at, etag_required, object, type_policy,
  changed)
SELECT j.id, j.name, j.live, UNHEX(j.uid), j.tier_id, j.metadata, UNHEX(j.etag), j.revision, j.created_at, j.updated_at, j.deleted_at,
  j.purge_at, j.etag_required, j.object, j.type_policy, j.changed
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  live TINYINT UNSIGNED PATH '$.live',
  uid VARCHAR(32) CHARACTER SET ascii PATH '$.uid',
  tier_id INT UNSIGNED PATH '$.tier_id',
  metadata MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.metadata',
  etag VARCHAR(128) CHARACTER SET ascii PATH '$.etag',
  revision BIGINT UNSIGNED PATH '$.revision',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at',
  deleted_at DATETIME(6) PATH '$.deleted_at',
  purge_at DATETIME(6) PATH '$.purge_at',
  etag_required TINYINT PATH '$.etag_required',
  object MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.object',
  type_policy VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.type_policy',
  changed BIGINT UNSIGNED PATH '$.changed')) j;

-- @statement restore_all_tenant_counts
-- @in rows text
INSERT INTO tenant_counts (tenant_id, resources, types)
SELECT j.tenant_id, j.resources, j.types
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  resources BIGINT UNSIGNED PATH '$.resources',
  types BIGINT UNSIGNED PATH '$.types')) j;

-- @statement restore_all_resources
-- @in rows text
INSERT INTO resources (id, uid, tenant_id, type_id, namespace, name, live, locked, bytes, revision, edits, h0, h1, h2, h3, etag, meta, body, created_at,
  updated_at, deleted_at, purge_at, deletion, root, traits, changed, generation, doomed_at, moves)
SELECT j.id, UNHEX(j.uid), j.tenant_id, j.type_id, j.namespace, j.name, j.live, j.locked, j.bytes, j.revision, j.edits, j.h0, j.h1, j.h2, j.h3,
  UNHEX(j.etag), j.meta, j.body, j.created_at, j.updated_at, j.deleted_at, j.purge_at, UNHEX(j.deletion), UNHEX(j.root), j.traits,
  j.changed, j.generation, j.doomed_at, j.moves
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id',
  uid VARCHAR(32) CHARACTER SET ascii PATH '$.uid',
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  type_id INT UNSIGNED PATH '$.type_id',
  namespace VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.namespace',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  live TINYINT UNSIGNED PATH '$.live',
  locked TINYINT PATH '$.locked',
  bytes INT UNSIGNED PATH '$.bytes',
  revision BIGINT UNSIGNED PATH '$.revision',
  edits BIGINT UNSIGNED PATH '$.edits',
  h0 INT UNSIGNED PATH '$.h0',
  h1 INT UNSIGNED PATH '$.h1',
  h2 INT UNSIGNED PATH '$.h2',
  h3 INT UNSIGNED PATH '$.h3',
  etag VARCHAR(128) CHARACTER SET ascii PATH '$.etag',
  meta MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.meta',
  body MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.body',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at',
  deleted_at DATETIME(6) PATH '$.deleted_at',
  purge_at DATETIME(6) PATH '$.purge_at',
  deletion VARCHAR(32) CHARACTER SET ascii PATH '$.deletion',
  root VARCHAR(40) CHARACTER SET ascii PATH '$.root',
  traits MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.traits',
  changed BIGINT UNSIGNED PATH '$.changed',
  generation BIGINT UNSIGNED PATH '$.generation',
  doomed_at DATETIME(6) PATH '$.doomed_at',
  moves BIGINT UNSIGNED PATH '$.moves')) j;

-- @statement restore_all_resource_aliases
-- @in rows text
INSERT INTO resource_aliases (resource_id, kind, type_id, value, live)
SELECT j.resource_id, j.kind, j.type_id, j.value, j.live
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  kind VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.kind',
  type_id INT UNSIGNED PATH '$.type_id',
  value VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.value',
  live TINYINT UNSIGNED PATH '$.live')) j;

-- @statement restore_all_resource_traits
-- @in rows text
INSERT INTO resource_traits (resource_id, trait_id)
SELECT j.resource_id, j.trait_id
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  trait_id INT UNSIGNED PATH '$.trait_id')) j;

-- @statement restore_all_providers
-- @in rows text
INSERT INTO providers (resource_id, generation)
SELECT j.resource_id, j.generation
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  generation BIGINT UNSIGNED PATH '$.generation')) j;

-- @statement restore_all_inventories
-- @in rows text
INSERT INTO inventories (resource_id, class_id, total, reserved, min_unit, max_unit, step_size, allocation_ratio, capacity, used, created_at, updated_at)
SELECT j.resource_id, j.class_id, j.total, j.reserved, j.min_unit, j.max_unit, j.step_size, j.allocation_ratio, j.capacity, j.used,
  j.created_at, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  class_id INT UNSIGNED PATH '$.class_id',
  total INT UNSIGNED PATH '$.total',
  reserved INT UNSIGNED PATH '$.reserved',
  min_unit INT UNSIGNED PATH '$.min_unit',
  max_unit INT UNSIGNED PATH '$.max_unit',
  step_size INT UNSIGNED PATH '$.step_size',
  allocation_ratio DOUBLE PATH '$.allocation_ratio',
  capacity BIGINT PATH '$.capacity',
  used BIGINT PATH '$.used',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at')) j;

-- @statement restore_all_provider_aggregates
-- @in rows text
INSERT INTO provider_aggregates (resource_id, aggregate)
SELECT j.resource_id, UNHEX(j.aggregate)
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  aggregate VARCHAR(32) CHARACTER SET ascii PATH '$.aggregate')) j;

-- @statement restore_all_consumers
-- @in rows text
INSERT INTO consumers (id, uid, project, user, type_id, generation, created_at, updated_at)
SELECT j.id, UNHEX(j.uid), j.project, j.user, j.type_id, j.generation, j.created_at, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id',
  uid VARCHAR(32) CHARACTER SET ascii PATH '$.uid',
  project VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.project',
  user VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.user',
  type_id INT UNSIGNED PATH '$.type_id',
  generation BIGINT UNSIGNED PATH '$.generation',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at')) j;

-- @statement restore_all_allocations
-- @in rows text
INSERT INTO allocations (consumer_id, resource_id, class_id, used, updated_at)
SELECT j.consumer_id, j.resource_id, j.class_id, j.used, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  consumer_id BIGINT UNSIGNED PATH '$.consumer_id',
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  class_id INT UNSIGNED PATH '$.class_id',
  used INT UNSIGNED PATH '$.used',
  updated_at DATETIME(6) PATH '$.updated_at')) j;

-- @statement restore_all_forwards
-- @in rows text
INSERT INTO forwards (tenant_id, type_id, namespace, name, resource_id, moved_at, request_id, expires_at)
SELECT j.tenant_id, j.type_id, j.namespace, j.name, j.resource_id, j.moved_at, UNHEX(j.request_id), j.expires_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  type_id INT UNSIGNED PATH '$.type_id',
  namespace VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.namespace',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  moved_at DATETIME(6) PATH '$.moved_at',
  request_id VARCHAR(32) CHARACTER SET ascii PATH '$.request_id',
  expires_at DATETIME(6) PATH '$.expires_at')) j;

-- @statement restore_all_moves
-- @in rows text
INSERT INTO moves (id, uid, source_id, dest_id, resource_id, state, if_match, words, actor, resources, outcome, detail, created_at, finished_at)
SELECT j.id, UNHEX(j.uid), j.source_id, j.dest_id, j.resource_id, j.state, j.if_match, j.words, j.actor, j.resources, j.outcome, j.detail,
  j.created_at, j.finished_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id',
  uid VARCHAR(32) CHARACTER SET ascii PATH '$.uid',
  source_id BIGINT UNSIGNED PATH '$.source_id',
  dest_id BIGINT UNSIGNED PATH '$.dest_id',
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  state VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.state',
  if_match VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.if_match',
  words TINYINT UNSIGNED PATH '$.words',
  actor VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.actor',
  resources BIGINT UNSIGNED PATH '$.resources',
  outcome VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.outcome',
  detail MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.detail',
  created_at DATETIME(6) PATH '$.created_at',
  finished_at DATETIME(6) PATH '$.finished_at')) j;

-- @statement restore_all_move_progress
-- @in rows text
INSERT INTO move_progress (move_id, moved, updated_at)
SELECT j.move_id, j.moved, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  move_id BIGINT UNSIGNED PATH '$.move_id',
  moved BIGINT UNSIGNED PATH '$.moved',
  updated_at DATETIME(6) PATH '$.updated_at')) j;

-- @statement restore_all_namespace_deletions
-- @in rows text
INSERT INTO namespace_deletions (resource_id, deletion, actor, purge_at, type_id, name)
SELECT j.resource_id, UNHEX(j.deletion), j.actor, j.purge_at, j.type_id, j.name
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  deletion VARCHAR(32) CHARACTER SET ascii PATH '$.deletion',
  actor VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.actor',
  purge_at DATETIME(6) PATH '$.purge_at',
  type_id INT UNSIGNED PATH '$.type_id',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name')) j;

-- @statement restore_all_merged_namespaces
-- @in rows text
INSERT INTO merged_namespaces (resource_id, into_id, deletion)
SELECT j.resource_id, j.into_id, UNHEX(j.deletion)
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  into_id BIGINT UNSIGNED PATH '$.into_id',
  deletion VARCHAR(32) CHARACTER SET ascii PATH '$.deletion')) j;

-- @statement restore_all_changes
-- @in rows text
INSERT INTO changes (id, request_id, at, actor, verb, tenant_id, from_tenant_id, resource_id, uid, type_id, namespace, name, revision, etag_before,
  etag_after, fields, moves, selectable_before, bytes_before, bytes_after)
SELECT j.id, UNHEX(j.request_id), j.at, j.actor, j.verb, j.tenant_id, j.from_tenant_id, j.resource_id, UNHEX(j.uid), j.type_id, j.namespace,
  j.name, j.revision, UNHEX(j.etag_before), UNHEX(j.etag_after), j.fields, j.moves, j.selectable_before, j.bytes_before, j.bytes_after
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id',
  request_id VARCHAR(32) CHARACTER SET ascii PATH '$.request_id',
  at DATETIME(6) PATH '$.at',
  actor VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.actor',
  verb VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.verb',
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  from_tenant_id BIGINT UNSIGNED PATH '$.from_tenant_id',
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  uid VARCHAR(32) CHARACTER SET ascii PATH '$.uid',
  type_id INT UNSIGNED PATH '$.type_id',
  namespace VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.namespace',
  name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  revision BIGINT UNSIGNED PATH '$.revision',
  etag_before VARCHAR(128) CHARACTER SET ascii PATH '$.etag_before',
  etag_after VARCHAR(128) CHARACTER SET ascii PATH '$.etag_after',
  fields MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.fields',
  moves BIGINT UNSIGNED PATH '$.moves',
  selectable_before MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.selectable_before',
  bytes_before INT UNSIGNED PATH '$.bytes_before',
  bytes_after INT UNSIGNED PATH '$.bytes_after')) j;

-- @statement restore_all_former_resources
-- @in rows text
INSERT INTO former_resources (change_id, resource_id, locked, meta, body, traits)
SELECT j.change_id, j.resource_id, j.locked, j.meta, j.body, j.traits
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  change_id BIGINT UNSIGNED PATH '$.change_id',
  resource_id BIGINT UNSIGNED PATH '$.resource_id',
  locked TINYINT PATH '$.locked',
  meta MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.meta',
  body MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.body',
  traits MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.traits')) j;

-- @statement restore_all_former_tenants
-- @in rows text
INSERT INTO former_tenants (change_id, tenant_id, tier_id, metadata, object, etag_required)
SELECT j.change_id, j.tenant_id, j.tier_id, j.metadata, j.object, j.etag_required
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  change_id BIGINT UNSIGNED PATH '$.change_id',
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  tier_id INT UNSIGNED PATH '$.tier_id',
  metadata MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.metadata',
  object MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.object',
  etag_required TINYINT PATH '$.etag_required')) j;

-- @statement restore_all_tokens
-- @in rows text
INSERT INTO tokens (id, hash, user, tenant_id, role, description, created_at, expires_at, revoked_at,
  last_used_at)
SELECT j.id, UNHEX(j.hash), j.user, j.tenant_id, j.role, j.description, j.created_at, j.expires_at, j.revoked_at, j.last_used_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.id',
  hash VARCHAR(64) CHARACTER SET ascii PATH '$.hash',
  user VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.user',
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  role VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.role',
  description VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.description',
  created_at DATETIME(6) PATH '$.created_at',
  expires_at DATETIME(6) PATH '$.expires_at',
  revoked_at DATETIME(6) PATH '$.revoked_at',
  last_used_at DATETIME(6) PATH '$.last_used_at')) j;

-- @statement restore_all_webhooks
-- @in rows text
INSERT INTO webhooks (id, tenant_id, name, uid, url, description, filters, paused, secret, old_secret, old_secret_until, etag, revision, created_at, updated_at)
SELECT j.id, j.tenant_id, j.name, UNHEX(j.uid), j.url, j.description, j.filters, j.paused, UNHEX(j.secret), UNHEX(j.old_secret),
  j.old_secret_until, UNHEX(j.etag), j.revision, j.created_at, j.updated_at
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id',
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  name VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  uid VARCHAR(32) CHARACTER SET ascii PATH '$.uid',
  url VARCHAR(2048) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.url',
  description VARCHAR(1024) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.description',
  filters MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.filters',
  paused TINYINT PATH '$.paused',
  secret VARCHAR(128) CHARACTER SET ascii PATH '$.secret',
  old_secret VARCHAR(128) CHARACTER SET ascii PATH '$.old_secret',
  old_secret_until DATETIME(6) PATH '$.old_secret_until',
  etag VARCHAR(128) CHARACTER SET ascii PATH '$.etag',
  revision BIGINT UNSIGNED PATH '$.revision',
  created_at DATETIME(6) PATH '$.created_at',
  updated_at DATETIME(6) PATH '$.updated_at')) j;

-- @statement restore_all_webhook_cursors
-- @in rows text
INSERT INTO webhook_cursors (webhook_id, position, begun_upto, message, attempts, next_at, failing_since, disabled_at, delivered_at, status, error)
SELECT j.webhook_id, j.position, j.begun_upto, UNHEX(j.message), j.attempts, j.next_at, j.failing_since, j.disabled_at, j.delivered_at,
  j.status, j.error
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  webhook_id BIGINT UNSIGNED PATH '$.webhook_id',
  position BIGINT UNSIGNED PATH '$.position',
  begun_upto BIGINT UNSIGNED PATH '$.begun_upto',
  message VARCHAR(32) CHARACTER SET ascii PATH '$.message',
  attempts INT UNSIGNED PATH '$.attempts',
  next_at DATETIME(6) PATH '$.next_at',
  failing_since DATETIME(6) PATH '$.failing_since',
  disabled_at DATETIME(6) PATH '$.disabled_at',
  delivered_at DATETIME(6) PATH '$.delivered_at',
  status SMALLINT UNSIGNED PATH '$.status',
  error VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.error')) j;

-- @statement restore_all_webhook_messages
-- @in rows text
INSERT INTO webhook_messages (id, webhook_id, uid, kind, state, position, upto, attempts, next_at, created_at, ended_at, status, error)
SELECT j.id, j.webhook_id, UNHEX(j.uid), j.kind, j.state, j.position, j.upto, j.attempts, j.next_at, j.created_at, j.ended_at, j.status, j.error
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id BIGINT UNSIGNED PATH '$.id',
  webhook_id BIGINT UNSIGNED PATH '$.webhook_id',
  uid VARCHAR(32) CHARACTER SET ascii PATH '$.uid',
  kind VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.kind',
  state VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.state',
  position BIGINT UNSIGNED PATH '$.position',
  upto BIGINT UNSIGNED PATH '$.upto',
  attempts INT UNSIGNED PATH '$.attempts',
  next_at DATETIME(6) PATH '$.next_at',
  created_at DATETIME(6) PATH '$.created_at',
  ended_at DATETIME(6) PATH '$.ended_at',
  status SMALLINT UNSIGNED PATH '$.status',
  error VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.error')) j;

-- @statement restore_all_usage_progress
-- @in rows text
INSERT INTO usage_progress (id, stage, opens_at, opened_id, opened_at, slice, position, closed_until, closing_until, period_s, grid_since, opened)
SELECT j.id, j.stage, j.opens_at, j.opened_id, j.opened_at, j.slice, j.position, j.closed_until, j.closing_until, j.period_s, j.grid_since,
  j.opened
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id TINYINT UNSIGNED PATH '$.id',
  stage VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.stage',
  opens_at DATETIME(6) PATH '$.opens_at',
  opened_id BIGINT UNSIGNED PATH '$.opened_id',
  opened_at DATETIME(6) PATH '$.opened_at',
  slice BIGINT UNSIGNED PATH '$.slice',
  position BIGINT UNSIGNED PATH '$.position',
  closed_until DATETIME(6) PATH '$.closed_until',
  closing_until DATETIME(6) PATH '$.closing_until',
  period_s INT UNSIGNED PATH '$.period_s',
  grid_since DATETIME(6) PATH '$.grid_since',
  opened TINYINT PATH '$.opened')) j;

-- @statement restore_all_usage_opening
-- @in rows text
INSERT INTO usage_opening (tenant_id, type_id, resources, bytes, suspended)
SELECT j.tenant_id, j.type_id, j.resources, j.bytes, j.suspended
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  type_id INT UNSIGNED PATH '$.type_id',
  resources BIGINT PATH '$.resources',
  bytes BIGINT PATH '$.bytes',
  suspended TINYINT PATH '$.suspended')) j;

-- @statement restore_all_usage_suspended
-- @in rows text
INSERT INTO usage_suspended (tenant_id, type_id, resources, bytes)
SELECT j.tenant_id, j.type_id, j.resources, j.bytes
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  type_id INT UNSIGNED PATH '$.type_id',
  resources BIGINT PATH '$.resources',
  bytes BIGINT PATH '$.bytes')) j;

-- @statement restore_all_usage_pending
-- @in rows text
INSERT INTO usage_pending (until, tenant_id, type_id, resources, bytes, resource_us, byte_us)
SELECT j.until, j.tenant_id, j.type_id, j.resources, j.bytes, j.resource_us, j.byte_us
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  until DATETIME(6) PATH '$.until',
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  type_id INT UNSIGNED PATH '$.type_id',
  resources BIGINT PATH '$.resources',
  bytes BIGINT PATH '$.bytes',
  resource_us DECIMAL(36,0) PATH '$.resource_us',
  byte_us DECIMAL(36,0) PATH '$.byte_us')) j;

-- @statement restore_all_usage_periods
-- @in rows text
INSERT INTO usage_periods (tenant_id, type_id, until, since, resources, bytes, resource_us, byte_us)
SELECT j.tenant_id, j.type_id, j.until, j.since, j.resources, j.bytes, j.resource_us, j.byte_us
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  tenant_id BIGINT UNSIGNED PATH '$.tenant_id',
  type_id INT UNSIGNED PATH '$.type_id',
  until DATETIME(6) PATH '$.until',
  since DATETIME(6) PATH '$.since',
  resources BIGINT PATH '$.resources',
  bytes BIGINT PATH '$.bytes',
  resource_us DECIMAL(36,0) PATH '$.resource_us',
  byte_us DECIMAL(36,0) PATH '$.byte_us')) j;

-- @statement restore_all_usage_closings
-- @in rows text
INSERT INTO usage_closings (until, since, last_change, closed_at, opened)
SELECT j.until, j.since, j.last_change, j.closed_at, j.opened
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  until DATETIME(6) PATH '$.until',
  since DATETIME(6) PATH '$.since',
  last_change BIGINT UNSIGNED PATH '$.last_change',
  closed_at DATETIME(6) PATH '$.closed_at',
  opened TINYINT PATH '$.opened')) j;

-- @statement restore_all_log_horizon
-- @in rows text
INSERT INTO log_horizon (id, published, commits)
SELECT j.id, j.published, j.commits
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  id TINYINT UNSIGNED PATH '$.id',
  published BIGINT UNSIGNED PATH '$.published',
  commits BIGINT UNSIGNED PATH '$.commits')) j
ON DUPLICATE KEY UPDATE published = GREATEST(log_horizon.published, VALUES(published));

-- @statement restore_all_catalogues
-- @in rows text
INSERT INTO catalogues (name, revision)
SELECT j.name, j.revision
FROM JSON_TABLE(:rows, '$[*]' COLUMNS (
  name VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.name',
  revision BIGINT UNSIGNED PATH '$.revision')) j
ON DUPLICATE KEY UPDATE revision = GREATEST(catalogues.revision, VALUES(revision)) + 1;

-- ---- restore: the end

-- How many rows each table has now.
-- @statement restore_all_counts
-- @out table_name text, n uint
-- @scans all rows are counted, once
SELECT 'settings' AS table_name, COUNT(*) AS n FROM settings WHERE name NOT IN ('maintenance', 'doctor_position', 'reaped_at')
UNION ALL
SELECT 'tiers', COUNT(*) FROM tiers
UNION ALL
SELECT 'types', COUNT(*) FROM types
UNION ALL
SELECT 'traits', COUNT(*) FROM traits
UNION ALL
SELECT 'resource_classes', COUNT(*) FROM resource_classes
UNION ALL
SELECT 'consumer_types', COUNT(*) FROM consumer_types
UNION ALL
SELECT 'tenants', COUNT(*) FROM tenants
UNION ALL
SELECT 'tenant_counts', COUNT(*) FROM tenant_counts
UNION ALL
SELECT 'resources', COUNT(*) FROM resources
UNION ALL
SELECT 'resource_aliases', COUNT(*) FROM resource_aliases
UNION ALL
SELECT 'resource_traits', COUNT(*) FROM resource_traits
UNION ALL
SELECT 'providers', COUNT(*) FROM providers
UNION ALL
SELECT 'inventories', COUNT(*) FROM inventories
UNION ALL
SELECT 'provider_aggregates', COUNT(*) FROM provider_aggregates
UNION ALL
SELECT 'consumers', COUNT(*) FROM consumers
UNION ALL
SELECT 'allocations', COUNT(*) FROM allocations
UNION ALL
SELECT 'forwards', COUNT(*) FROM forwards
UNION ALL
SELECT 'moves', COUNT(*) FROM moves
UNION ALL
SELECT 'move_progress', COUNT(*) FROM move_progress
UNION ALL
SELECT 'namespace_deletions', COUNT(*) FROM namespace_deletions
UNION ALL
SELECT 'merged_namespaces', COUNT(*) FROM merged_namespaces
UNION ALL
SELECT 'changes', COUNT(*) FROM changes
UNION ALL
SELECT 'former_resources', COUNT(*) FROM former_resources
UNION ALL
SELECT 'former_tenants', COUNT(*) FROM former_tenants
UNION ALL
SELECT 'tokens', COUNT(*) FROM tokens
UNION ALL
SELECT 'webhooks', COUNT(*) FROM webhooks
UNION ALL
SELECT 'webhook_cursors', COUNT(*) FROM webhook_cursors
UNION ALL
SELECT 'webhook_messages', COUNT(*) FROM webhook_messages
UNION ALL
SELECT 'usage_progress', COUNT(*) FROM usage_progress
UNION ALL
SELECT 'usage_opening', COUNT(*) FROM usage_opening
UNION ALL
SELECT 'usage_suspended', COUNT(*) FROM usage_suspended
UNION ALL
SELECT 'usage_pending', COUNT(*) FROM usage_pending
UNION ALL
SELECT 'usage_periods', COUNT(*) FROM usage_periods
UNION ALL
SELECT 'usage_closings', COUNT(*) FROM usage_closings
UNION ALL
SELECT 'log_horizon', COUNT(*) FROM log_horizon
UNION ALL
SELECT 'catalogues', COUNT(*) FROM catalogues;
