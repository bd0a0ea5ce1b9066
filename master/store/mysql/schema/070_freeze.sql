-- Stretches in which ticks do not fire (namespace '': all of them), and how far they are made up for.
-- PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS freeze (
  freeze_id BIGINT NOT NULL,
  namespace VARCHAR(64) NOT NULL,
  from_ms BIGINT NOT NULL,
  until_ms BIGINT NOT NULL,
  ended_ms BIGINT NULL,
  principal VARCHAR(128) NOT NULL,
  why VARCHAR(1000) NOT NULL,
  thawed_job BIGINT NOT NULL,
  done TINYINT NOT NULL,
  PRIMARY KEY (freeze_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
