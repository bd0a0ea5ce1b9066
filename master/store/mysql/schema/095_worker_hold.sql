-- Stretches of time in which a worker gets nothing because of what it did: it failed what succeeded elsewhere, or came
-- and went. A row for each, of the Term that hold_number names; a new Term goes on with a row of its own. From trial_ms
-- on it gets one attempt at a time. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS worker_hold (
  hold_number BIGINT NOT NULL,
  worker_id VARCHAR(128) NOT NULL,
  pool VARCHAR(128) NOT NULL,
  kind VARCHAR(16) NOT NULL,
  strikes INT NOT NULL,
  since_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  trial_ms BIGINT NULL,
  ended_ms BIGINT NULL,
  why VARCHAR(1000) NOT NULL,
  PRIMARY KEY (hold_number),
  KEY hold_of_worker (worker_id, hold_number),
  KEY hold_in_force (ended_ms)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
