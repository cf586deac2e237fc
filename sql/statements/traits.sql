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

-- Runs after its change row, in the same batch.
-- @statement trait_update_resource
-- @in id uint, traits text null, revision uint, edits uint, etag bytes, updated_at time
UPDATE resources
SET traits = :traits, revision = :revision, edits = :edits, etag = :etag, updated_at = :updated_at,
  changed = LAST_INSERT_ID()
WHERE id = :id;

-- The same two for up to 16 names, which need no table: two thirds of the time. A shorter list repeats its last name.
-- @group trait_named name text
-- @fragment few_names
:names[0].name, :names[1].name, :names[2].name, :names[3].name, :names[4].name, :names[5].name,
  :names[6].name, :names[7].name, :names[8].name, :names[9].name, :names[10].name, :names[11].name,
  :names[12].name, :names[13].name, :names[14].name, :names[15].name

-- @statement trait_attach_few
-- @in resource_id uint, names trait_named[16]
INSERT INTO resource_traits (resource_id, trait_id)
SELECT :resource_id, t.id
FROM traits t FORCE INDEX (name)
WHERE t.name IN ({few_names}) AND t.live = 1
LOCK IN SHARE MODE;

-- @statement trait_detach_few
-- @in resource_id uint, names trait_named[16]
DELETE FROM resource_traits
WHERE resource_id = :resource_id AND trait_id IN (SELECT t.id FROM traits t WHERE t.name IN ({few_names}));

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

-- ---- the catalogue

-- @group trait id uint, name text, description text, deprecated uint, created_at time, updated_at time
-- @fragment trait
t.id, t.name, t.description, t.deprecated, t.created_at, t.updated_at

-- All, which a worker holds. In one statement with the revision, so that they are those of it; without any, there is one row
-- of the revision alone.
-- @statement trait_list
-- @out revision uint, id uint null, name text null, description text null, deprecated uint null, created_at time null,
--      updated_at time null
-- @scans the catalogue is read whole
-- @sorts likewise
SELECT c.revision, {trait}
FROM catalogues c
LEFT JOIN traits t ON t.live = 1
WHERE c.name = 'traits'
ORDER BY t.name;

-- @choice trait_read
-- @case plain

-- @case locking
FOR UPDATE

-- @statement trait_by_name
-- @in name text
-- @out t trait
SELECT {trait} FROM traits t WHERE t.name = :name AND t.live = 1 {trait_read};

-- Those that a resource which people see has; of one type, or of any. A look into the index for each: EXISTS would be turned
-- into a join that begins with all resources.
-- @statement trait_used
-- @in any_type uint, type_id uint
-- @out id uint
-- @scans the catalogue is gone through
SELECT t.id
FROM traits t
WHERE (SELECT r.id FROM resource_traits x STRAIGHT_JOIN {seen_of_x}
  WHERE x.trait_id = t.id AND (:any_type OR r.type_id = :type_id) LIMIT 1) > 0
ORDER BY t.id;

-- @statement trait_insert
-- @in name text, now time
INSERT INTO traits (name, created_at, updated_at) VALUES (:name, :now, :now);

-- One that was hidden, as if it were new.
-- @statement trait_make_anew
-- @in name text, now time
UPDATE traits
SET live = 1, description = '', deprecated = FALSE, created_at = :now, updated_at = :now
WHERE name = :name AND live IS NULL;

-- A resource that people see, and any resource at all, that has the trait.
-- @statement trait_seen_user
-- @in name text
-- @out type_id uint
SELECT r.type_id
FROM traits t
STRAIGHT_JOIN resource_traits x FORCE INDEX (trait) ON x.trait_id = t.id
STRAIGHT_JOIN {seen_of_x}
WHERE t.name = :name
LIMIT 1;

-- @statement trait_user
-- @in name text
-- @out resource_id uint
SELECT x.resource_id
FROM traits t
STRAIGHT_JOIN resource_traits x FORCE INDEX (trait) ON x.trait_id = t.id
WHERE t.name = :name
LIMIT 1;

-- @statement trait_delete
-- @in id uint
DELETE FROM traits WHERE id = :id;

-- @statement trait_hide
-- @in id uint
UPDATE traits SET live = NULL WHERE id = :id;

-- @statement trait_describe
-- @in id uint, description text, deprecated uint, now time
UPDATE traits SET description = :description, deprecated = :deprecated, updated_at = :now WHERE id = :id;

-- ---- lists by traits

-- How many resources have a trait, as far as that can be few.
-- @statement trait_count_users
-- @in trait_id uint, limit uint
-- @out n uint
SELECT COUNT(*) AS n FROM (SELECT 1 FROM resource_traits WHERE trait_id = :trait_id LIMIT :limit) few;
