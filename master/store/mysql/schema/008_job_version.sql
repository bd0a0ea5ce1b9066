-- What each version of a job says; immutable except valid_to_ms, which is set once. Its ticks are those
-- in (valid_from_ms, valid_to_ms]. `rules` is the part of `definition` that a leader reads at takeover, and
-- `definition_hash` tells it later whether an edit changes anything (0: not known, so it does).
-- PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS job_version (
  job_id BIGINT NOT NULL,
  version INT NOT NULL,
  valid_from_ms BIGINT NOT NULL,
  valid_to_ms BIGINT NULL,
  anchor_ms BIGINT NOT NULL,
  enabled TINYINT NOT NULL,
  principal VARCHAR(128) NOT NULL,
  definition_hash BIGINT NOT NULL DEFAULT 0,
  rules TEXT NOT NULL,
  definition MEDIUMTEXT NOT NULL,
  PRIMARY KEY (job_id, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
