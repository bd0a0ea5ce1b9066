-- The first dispatch of a run that waited, until its own row gets it with its next change: none where attempt
-- is 0. This row is short and changes in place. epoch.dispatch_apart_for tells since when this is so.
ALTER TABLE run_open ADD COLUMN attempt INT NOT NULL DEFAULT 0, ADD COLUMN worker_id VARCHAR(128) NOT NULL DEFAULT '', ADD COLUMN worker_incarnation VARCHAR(64) NOT NULL DEFAULT '', ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0, ADD COLUMN dispatched_ms BIGINT NULL
