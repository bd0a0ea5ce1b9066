-- Starts of workers (of their wardens) that a leader has accepted; each has fired the jobs with @worker_start in the
-- same transaction. PRIMARY KEY absorbs a repeated batch. The newest of a worker and its state folder counts.
CREATE TABLE IF NOT EXISTS worker_start (
  worker_id VARCHAR(128) NOT NULL,
  start_id VARCHAR(64) NOT NULL,
  home VARCHAR(64) NOT NULL,
  pool VARCHAR(128) NOT NULL,
  accepted_ms BIGINT NOT NULL,
  start_number BIGINT NOT NULL,
  PRIMARY KEY (worker_id, start_id),
  KEY start_newest (worker_id, home, start_number),
  KEY start_by_number (start_number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
