-- Revisions of what workers cache: each change of a catalogue raises its revision in the same transaction.

-- @statement catalogue_revisions
-- @out name text, revision uint
SELECT name, revision FROM catalogues;

-- @choice catalogue
-- @case traits
'traits'
-- @case types
'types'
-- @case schema
'schema'

-- The new revision is the answer's insert_id.
-- @statement catalogue_raise
UPDATE catalogues SET revision = LAST_INSERT_ID(revision + 1) WHERE name = {catalogue};

-- @statement catalogue_lock_traits
-- @out revision uint
SELECT revision FROM catalogues WHERE name = 'traits' FOR UPDATE;
