-- Operators' words that lives of workers are over. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS worker_death (
  worker_id VARCHAR(128) NOT NULL,
  incarnation VARCHAR(64) NOT NULL,
  principal VARCHAR(128) NOT NULL,
  why VARCHAR(1000) NOT NULL,
  epoch BIGINT NOT NULL,
  confirmed_ms BIGINT NOT NULL,
  came_back_ms BIGINT NULL,
  PRIMARY KEY (worker_id, incarnation)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
