-- Jobs: the newest version and whether it fires. saved_name is the name while the job is saved and not
-- deleted, else NULL, so that a name can be used again.
-- PRIMARY KEY absorbs a repeated batch, and a one-off submitted again (its id is a hash).
-- job_name_once absorbs nothing: it refuses a second saved job of one name.
CREATE TABLE IF NOT EXISTS job (
  job_id BIGINT NOT NULL,
  namespace VARCHAR(64) NOT NULL,
  name VARCHAR(255) NOT NULL,
  saved_name VARCHAR(255) NULL,
  version INT NOT NULL,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  one_off TINYINT NOT NULL,
  state_by VARCHAR(255) NOT NULL DEFAULT '',
  state_why VARCHAR(1000) NOT NULL DEFAULT '',
  created_ms BIGINT NOT NULL,
  changed_ms BIGINT NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE KEY job_name_once (namespace, saved_name),
  KEY job_by_name (namespace, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
