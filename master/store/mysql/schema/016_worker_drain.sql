-- Workers that an operator drains, and those that were resumed. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS worker_drain (
  worker_id VARCHAR(128) NOT NULL,
  draining TINYINT NOT NULL,
  deadline_ms BIGINT NULL,
  principal VARCHAR(128) NOT NULL,
  why VARCHAR(1000) NOT NULL,
  changed_ms BIGINT NOT NULL,
  PRIMARY KEY (worker_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
