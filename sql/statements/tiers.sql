-- Tiers: how many resources their tenants may have.

-- @statement tier_list
-- @out name text, max_resources uint null, tenants uint, description text
-- @scans only tenure-manage asks, and shows them all
-- @sorts likewise
SELECT i.name, i.max_resources,
  (SELECT COUNT(*) FROM tenants t WHERE t.tier_id = i.id AND t.live IS NOT NULL) AS tenants, i.description
FROM tiers i
ORDER BY i.id;

-- @group tier id uint, name text, max_resources uint null, description text, changed_at time null
-- @fragment tier
id, name, max_resources, description, changed_at

-- For operators, by their names.
-- @statement tier_page
-- @in marker text, limit uint
-- @out t tier
SELECT {tier} FROM tiers WHERE name > :marker ORDER BY name LIMIT :limit;

-- @statement tier_read
-- @in name text
-- @out t tier
SELECT {tier} FROM tiers WHERE name = :name;

-- The same for whoever changes it: the row is locked against other changes and against tenants that are put into the tier.
-- @statement tier_lock
-- @in name text
-- @out t tier
SELECT {tier} FROM tiers WHERE name = :name FOR UPDATE;

-- @statement tier_tenants
-- @in id uint
-- @out n uint
SELECT COUNT(*) AS n FROM tenants WHERE tier_id = :id AND live IS NOT NULL;

-- @statement tier_get
-- @in name text
-- @out id uint, max_resources uint null
SELECT id, max_resources FROM tiers WHERE name = :name;

-- The same for whoever puts a tenant into it: the tier is not removed before the tenant is in it.
-- @statement tier_take
-- @in name text
-- @out id uint, max_resources uint null
SELECT id, max_resources FROM tiers WHERE name = :name LOCK IN SHARE MODE;

-- @statement tier_insert
-- @in name text, max_resources uint null, description text, changed_at time
INSERT INTO tiers (name, max_resources, description, changed_at) VALUES (:name, :max_resources, :description, :changed_at);

-- @statement tier_update
-- @in id uint, max_resources uint null, description text, changed_at time
UPDATE tiers SET max_resources = :max_resources, description = :description, changed_at = :changed_at WHERE id = :id;

-- Makes it, or changes what is to be set. The time grows if anything changes; it stands first, as each column is set before the next is.
-- @statement tier_put
-- @in name text, max_resources uint null, description text, sets_max uint, sets_description uint
INSERT INTO tiers (name, max_resources, description, changed_at) VALUES (:name, :max_resources, :description, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE
  changed_at = IF((:sets_max AND NOT VALUES(max_resources) <=> max_resources) OR (:sets_description AND VALUES(description) <> description),
    GREATEST(VALUES(changed_at), COALESCE(changed_at + INTERVAL 1 MICROSECOND, VALUES(changed_at))), changed_at),
  max_resources = IF(:sets_max, VALUES(max_resources), max_resources),
  description = IF(:sets_description, VALUES(description), description);

-- One that has tenants stays. The shared lock waits for whoever is just putting a tenant into it.
-- @statement tier_delete
-- @in name text
DELETE FROM tiers
WHERE name = :name
  AND NOT EXISTS (SELECT 1 FROM tenants WHERE tier_id = tiers.id AND live IS NOT NULL LOCK IN SHARE MODE);

-- @statement tier_exists
-- @in name text
-- @out n uint
SELECT COUNT(*) AS n FROM tiers WHERE name = :name;
