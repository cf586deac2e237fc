-- Maintenance: the operator has stopped all changes (src/db/maintenance.h). The row `maintenance` of `settings` is there meanwhile; its
-- value is "SECONDS SINCE REASON".

-- The first statement of each write transaction of those who heed it. It locks the row `etag_key`, which is always there, until the
-- transaction ends: so who locks that row alone knows that no transaction goes on that has not seen the row `maintenance`.
-- @statement maintenance_gate
-- @out value bytes null
SELECT m.value
FROM settings k
LEFT JOIN settings m ON m.name = 'maintenance'
WHERE k.name = 'etag_key'
LOCK IN SHARE MODE;

-- Fails if a transaction that began before holds the row for another second.
-- @statement maintenance_await
-- @out name text
SELECT name FROM settings WHERE name = 'etag_key' FOR UPDATE WAIT 1;

-- @statement maintenance_read
-- @out value bytes
SELECT value FROM settings WHERE name = 'maintenance';

-- @statement maintenance_begin
-- @in value bytes
INSERT INTO settings (name, value) VALUES ('maintenance', :value) ON DUPLICATE KEY UPDATE value = VALUES(value);

-- @statement maintenance_end
DELETE FROM settings WHERE name = 'maintenance';
