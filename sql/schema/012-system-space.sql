-- Tenure, schema version 12: room for the system space, which is there before anything changes.
--
-- The rows of the system space and of its namespace "default" are made by tenure-manage (src/registry/tenant/system_space.c), since
-- their etags need a key that this file does not have. No change tells of them: their last change is 1, an id that no change
-- gets any more, and up to which the log counts as read. Where the log has a change 1 already, both statements do nothing.
ALTER TABLE changes AUTO_INCREMENT = 2;
UPDATE log_horizon SET published = 1 WHERE id = 1 AND published = 0 AND NOT EXISTS (SELECT 1 FROM changes);
