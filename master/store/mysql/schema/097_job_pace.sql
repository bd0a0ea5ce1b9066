-- How long the last successes of a job took, in ms with commas, oldest first; of jobs that expect a multiple of it. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS job_pace (
  job_id BIGINT NOT NULL,
  successes BIGINT NOT NULL,
  lengths VARCHAR(500) NOT NULL,
  PRIMARY KEY (job_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
