-- Ticks that did not fire: tick_count of them in [from_ms, to_ms] of one job version. Never updated.
-- PRIMARY KEY absorbs a repeated batch; no two gaps of a version begin with the same tick.
CREATE TABLE IF NOT EXISTS gap (
  job_id BIGINT NOT NULL,
  job_version INT NOT NULL,
  from_ms BIGINT NOT NULL,
  to_ms BIGINT NOT NULL,
  tick_count BIGINT NOT NULL,
  reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reference BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  PRIMARY KEY (job_id, job_version, from_ms)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
