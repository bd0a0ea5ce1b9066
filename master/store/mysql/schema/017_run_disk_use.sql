-- What the newest attempt read from disks and wrote towards them. A repeat sees by the first of the
-- columns that it has nothing to do.
ALTER TABLE run ADD COLUMN read_bytes BIGINT NULL, ADD COLUMN written_bytes BIGINT NULL
