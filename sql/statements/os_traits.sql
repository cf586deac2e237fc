-- tenure-manage os-traits sync: the catalogue of traits brought up to a list of standard ones, names as a JSON array.
-- Everybody who writes standard traits locks the row of the catalogue (catalogue_lock_traits), so what they find missing stays
-- so until they have added it.

-- @statement os_traits_insert
-- @in names text, now time
INSERT INTO traits (name, created_at, updated_at) SELECT j.name, :now, :now FROM {names} ORDER BY j.name;

-- Standard ones that the list lacks: locked, so that nobody puts one on a resource meanwhile.
-- @statement os_traits_lock_surplus
-- @in names text
-- @out id uint
-- @scans only tenure-manage asks
SELECT t.id
FROM traits t
WHERE t.name NOT LIKE 'CUSTOM\_%' AND t.name NOT IN (SELECT j.name FROM {names})
ORDER BY t.id
FOR UPDATE;

-- @fragment os_traits_unused_surplus
t.name NOT LIKE 'CUSTOM\_%' AND t.name NOT IN (SELECT j.name FROM {names})
AND NOT EXISTS (SELECT 1 FROM resource_traits rt WHERE rt.trait_id = t.id)

-- What the catalogue lacks of the list; what the list lacks, and no resource has.
-- @choice os_traits_unlike
-- @case missing
j.name FROM {names} LEFT JOIN traits t ON t.name = j.name WHERE t.id IS NULL ORDER BY j.name
-- @case unused
t.name FROM traits t WHERE {os_traits_unused_surplus} ORDER BY t.name

-- @statement os_traits_find
-- @in names text
-- @out name text
-- @scans only tenure-manage asks
SELECT {os_traits_unlike};

-- @statement os_traits_delete_unused
-- @in names text
-- @scans only tenure-manage asks
DELETE t FROM traits t WHERE {os_traits_unused_surplus};
