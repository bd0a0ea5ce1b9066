-- Up to this moment ticks of the job may have no rows any more, since retention has deleted them.
CREATE TABLE IF NOT EXISTS history_gone (
  job_id BIGINT NOT NULL,
  through_ms BIGINT NOT NULL,
  PRIMARY KEY (job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
