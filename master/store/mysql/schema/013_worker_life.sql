-- Each start of a worker. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS worker_life (
  worker_id VARCHAR(128) NOT NULL,
  incarnation VARCHAR(64) NOT NULL,
  host VARCHAR(255) NOT NULL,
  port INT NOT NULL,
  pool VARCHAR(128) NOT NULL,
  joined_ms BIGINT NOT NULL,
  left_ms BIGINT NULL,
  why_left VARCHAR(1000) NOT NULL,
  PRIMARY KEY (worker_id, incarnation),
  KEY life_by_time (worker_id, joined_ms)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
