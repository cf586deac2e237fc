-- @oldest 12
-- Only a log that never had a change is numbered from 2 on. The file's statement would number a log anew whose changes were all purged.
-- @step first
SET @next = (SELECT AUTO_INCREMENT FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = 'changes');
EXECUTE IMMEDIATE IF(@next = 1, 'ALTER TABLE changes AUTO_INCREMENT = 2', 'DO 0');
UPDATE log_horizon SET published = 1 WHERE id = 1 AND published = 0 AND NOT EXISTS (SELECT 1 FROM changes);
