-- Traits of resources. What a resource has stands in its row, to be shown and hashed, and in resource_traits, to be searched.

-- Whoever puts a trait on a resource locks its row of the catalogue shared, so that it is not deleted meanwhile.
-- @statement trait_attach
-- @in resource_id uint, names text
INSERT INTO resource_traits (resource_id, trait_id)
SELECT :resource_id, t.id
FROM {names}
JOIN traits t ON t.name = j.name AND t.live = 1
LOCK IN SHARE MODE;

-- @statement trait_detach
-- @in resource_id uint, names text
DELETE rt
FROM {names}
JOIN traits t ON t.name = j.name
JOIN resource_traits rt ON rt.trait_id = t.id AND rt.resource_id = :resource_id;

-- Behind its change row, in the same batch.
-- @statement trait_update_resource
-- @in id uint, traits text null, revision uint, edits uint, etag bytes, updated_at time
UPDATE resources
SET traits = :traits, revision = :revision, edits = :edits, etag = :etag, updated_at = :updated_at,
  changed = LAST_INSERT_ID()
WHERE id = :id;

-- @statement trait_known
-- @in names text
-- @out name text
SELECT t.name FROM {names} JOIN traits t ON t.name = j.name AND t.live = 1 ORDER BY t.name;

-- Another may make the same at the same time: then ours waits for that one, and finds it there. What was hidden comes as if
-- it were new; live is set last, for the others look at it.
-- @statement trait_make
-- @in names text, now time
INSERT INTO traits (name, created_at, updated_at) SELECT j.name, :now, :now FROM {names} ORDER BY j.name
ON DUPLICATE KEY UPDATE
  description = IF(live IS NULL, '', description),
  deprecated = IF(live IS NULL, FALSE, deprecated),
  created_at = IF(live IS NULL, VALUES(created_at), created_at),
  updated_at = IF(live IS NULL, VALUES(updated_at), updated_at),
  live = 1;

-- ---- lists by traits

-- How many resources have a trait, as far as that can be few.
-- @statement trait_count_users
-- @in trait_id uint, limit uint
-- @out n uint
SELECT COUNT(*) AS n FROM (SELECT 1 FROM resource_traits WHERE trait_id = :trait_id LIMIT :limit) few;
