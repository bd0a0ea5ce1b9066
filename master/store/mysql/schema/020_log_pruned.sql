-- Runs whose output was deleted because it was kept long enough, and when. Written before the deletion.
-- PRIMARY KEY absorbs a deletion begun again.
CREATE TABLE IF NOT EXISTS log_pruned (
  run_id BIGINT NOT NULL,
  pruned_ms BIGINT NOT NULL,
  PRIMARY KEY (run_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
