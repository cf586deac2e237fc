-- The first locks of a writing transaction.

-- Is the tenant being moved? The mover writes the row of move_progress on another connection before it locks the tenants, so
-- this needs no lock.
-- @statement tenant_being_moved
-- @in tenant text
-- @out found uint
SELECT 1 AS found
FROM moves m
JOIN move_progress p ON p.move_id = m.id
JOIN tenants t ON t.id IN (m.source_id, m.dest_id)
WHERE m.state = 'queued' AND t.name = :tenant AND t.live = 1
LIMIT 1;
