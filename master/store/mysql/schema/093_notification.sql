-- Notifications on their way to a receiver, and for a while those that are settled. PRIMARY KEY absorbs a repeated batch.
-- (state, id): what a takeover goes on with, and what is old enough to be deleted.
CREATE TABLE IF NOT EXISTS notification (
  id BIGINT NOT NULL,
  receiver VARCHAR(64) NOT NULL,
  what VARCHAR(32) NOT NULL,
  job_id BIGINT NOT NULL,
  namespace VARCHAR(64) NOT NULL,
  job_name VARCHAR(128) NOT NULL,
  run_id BIGINT NOT NULL,
  worker VARCHAR(64) NOT NULL,
  moment_ms BIGINT NULL,
  text VARCHAR(500) NOT NULL,
  stands_for BIGINT NOT NULL,
  made_ms BIGINT NOT NULL,
  state VARCHAR(16) NOT NULL,
  attempts INT NOT NULL,
  settled_ms BIGINT NULL,
  last_error VARCHAR(300) NOT NULL,
  PRIMARY KEY (id),
  KEY notification_state (state, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
