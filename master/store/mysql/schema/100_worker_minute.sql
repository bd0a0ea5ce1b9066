-- What each worker did in one minute, for 24 hours: for people, written beside the leader's transactions and by no
-- batch. PRIMARY KEY absorbs a repeated write; a minute in which the leader changed has a row of each.
CREATE TABLE IF NOT EXISTS worker_minute (
  worker_id VARCHAR(128) NOT NULL,
  minute_ms BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  pool VARCHAR(128) NOT NULL,
  state VARCHAR(16) NOT NULL,
  looks INT NOT NULL,
  samples INT NOT NULL,
  cpu_percent INT NOT NULL,
  memory_percent INT NOT NULL,
  load_percent INT NOT NULL,
  cpu_most_percent INT NOT NULL,
  disk_free_bytes BIGINT NOT NULL,
  threads INT NOT NULL,
  slots INT NOT NULL,
  running_hundredths INT NOT NULL,
  scheduled BIGINT NOT NULL,
  succeeded BIGINT NOT NULL,
  failed BIGINT NOT NULL,
  PRIMARY KEY (worker_id, minute_ms, epoch),
  KEY worker_minute_by_time (minute_ms)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
