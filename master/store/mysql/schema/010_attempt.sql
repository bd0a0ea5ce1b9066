-- Earlier attempts of runs that were tried again, and results that came late.
-- PRIMARY KEY absorbs a repeated batch and a repeated report.
CREATE TABLE IF NOT EXISTS attempt (
  run_id BIGINT NOT NULL,
  attempt INT NOT NULL,
  worker_id VARCHAR(128) NOT NULL,
  worker_incarnation VARCHAR(64) NOT NULL,
  epoch BIGINT NOT NULL,
  dispatched_ms BIGINT NULL,
  late TINYINT NOT NULL,
  outcome_state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  outcome_reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  exit_status INT NULL,
  signal_number INT NULL,
  message TEXT NULL,
  result MEDIUMBLOB NULL,
  outcome_started_ms BIGINT NULL,
  outcome_ended_ms BIGINT NULL,
  stdout_bytes BIGINT NULL,
  stderr_bytes BIGINT NULL,
  cpu_us BIGINT NULL,
  peak_memory_bytes BIGINT NULL,
  PRIMARY KEY (run_id, attempt)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
