-- Runs that may not have ended, so that nobody looks for them among all that have: a row more than there
-- should be does no harm, since who reads it asks the run too. epoch.open_kept_for tells for whom it holds all.
-- PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS run_open (
  run_id BIGINT NOT NULL,
  PRIMARY KEY (run_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
