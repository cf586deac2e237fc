-- Which aggregates providers are in.

-- @statement aggregate_list
-- @in uid bytes, type_id uint
-- @out aggregate bytes
SELECT aggregate FROM provider_aggregates WHERE resource_id = {id_of_provider} ORDER BY aggregate;

-- The aggregates of a provider whose row is locked.
-- @statement aggregate_list_locked
-- @in resource_id uint
-- @out aggregate bytes
SELECT aggregate FROM provider_aggregates WHERE resource_id = :resource_id ORDER BY aggregate;

-- @statement aggregate_join
-- @in resource_id uint, uids text
INSERT INTO provider_aggregates (resource_id, aggregate) SELECT :resource_id, UNHEX(j.hex) FROM {uids};

-- @statement aggregate_leave
-- @in resource_id uint
DELETE FROM provider_aggregates WHERE resource_id = :resource_id;
