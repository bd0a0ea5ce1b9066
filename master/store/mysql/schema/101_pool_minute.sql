-- Slots of each pool and how many were in use in one minute, for 24 hours; pool '' is all of them. As worker_minute:
-- PRIMARY KEY absorbs a repeated write.
CREATE TABLE IF NOT EXISTS pool_minute (
  pool VARCHAR(128) NOT NULL,
  minute_ms BIGINT NOT NULL,
  epoch BIGINT NOT NULL,
  looks INT NOT NULL,
  workers INT NOT NULL,
  slots_hundredths BIGINT NOT NULL,
  used_hundredths BIGINT NOT NULL,
  used_most BIGINT NOT NULL,
  PRIMARY KEY (pool, minute_ms, epoch),
  KEY pool_minute_by_time (minute_ms)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
