-- What became of each child job at the end of a run: the child's run (0: none began, and why not).
-- PRIMARY KEY absorbs a repeated batch. A row stays while one of the two runs does.
CREATE TABLE IF NOT EXISTS run_child (
  parent_id BIGINT NOT NULL,
  name VARCHAR(128) NOT NULL,
  named_by VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  root_id BIGINT NOT NULL,
  depth INT NOT NULL,
  parent_state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  made_ms BIGINT NOT NULL,
  run_id BIGINT NOT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  PRIMARY KEY (parent_id, name),
  KEY child_by_run (run_id),
  KEY child_by_root (root_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
