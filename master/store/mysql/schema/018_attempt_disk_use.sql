-- The same of earlier attempts.
ALTER TABLE attempt ADD COLUMN read_bytes BIGINT NULL, ADD COLUMN written_bytes BIGINT NULL
