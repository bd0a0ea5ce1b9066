-- Runs that ended other than well, with the state in which they did; likewise. They are few, so that an index
-- on their state costs little. epoch.ended_kept_for tells for whom it holds all.
-- PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS run_unsuccessful (
  run_id BIGINT NOT NULL,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (run_id),
  KEY unsuccessful_by_state (state, run_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
