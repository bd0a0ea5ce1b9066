-- The same of earlier attempts.
ALTER TABLE attempt ADD COLUMN still_from_ms BIGINT NULL, ADD COLUMN still_to_ms BIGINT NULL
