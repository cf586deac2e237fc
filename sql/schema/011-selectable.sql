-- Tenure, schema version 11: what selectors could ask of a resource before a change.
--
-- A client that watches by labels or fields, and comes back with an earlier version, is told of an object by what it knew
-- then, not by what the object is now. selectable_before of a row with verb 'updated': a JSON object with the labels and
-- the selectable fields as they were before this change; '' where the change left them as they were; NULL in rows of
-- versions before this one, where nobody knows: a client that would need it lists again. Rows with other verbs change
-- neither labels nor fields, and have NULL.
ALTER TABLE changes
  ADD COLUMN selectable_before MEDIUMTEXT NULL, ALGORITHM=INSTANT;
