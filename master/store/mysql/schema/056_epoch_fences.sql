-- On Galera each batch and each check changes the epoch's row: a lock would hold on one node alone. The value says
-- nothing.
ALTER TABLE epoch ADD COLUMN fences BIGINT NOT NULL DEFAULT 0
