-- What is told once: expectations of jobs that were not met, workers that are dead; and from when on each Term tells them.
-- PRIMARY KEY absorbs a repeated batch. (run_id): what a takeover needs of unfinished runs, and what goes with a run. (what, told_ms): workers, Terms, the newest.
CREATE TABLE IF NOT EXISTS late_told (
  job_id BIGINT NOT NULL,
  run_id BIGINT NOT NULL,
  tick_ms BIGINT NOT NULL,
  what VARCHAR(16) NOT NULL,
  worker VARCHAR(64) NOT NULL,
  namespace VARCHAR(64) NOT NULL,
  job_name VARCHAR(128) NOT NULL,
  epoch BIGINT NOT NULL,
  due_ms BIGINT NULL,
  told_ms BIGINT NOT NULL,
  was VARCHAR(32) NOT NULL,
  limit_ms BIGINT NOT NULL,
  PRIMARY KEY (job_id, run_id, tick_ms, what, worker),
  KEY late_told_run (run_id),
  KEY late_told_what (what, told_ms),
  KEY late_told_was (was, job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
