-- Runs that have ended and whose children begin in a later turn, whoever leads then. The row goes with the batch in
-- which they begin. `children`: a line each, "on_success NAME". PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS child_owed (
  parent_id BIGINT NOT NULL,
  root_id BIGINT NOT NULL,
  depth INT NOT NULL,
  parent_state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  namespace VARCHAR(64) NOT NULL,
  logical_ms BIGINT NOT NULL,
  children TEXT NOT NULL,
  PRIMARY KEY (parent_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
