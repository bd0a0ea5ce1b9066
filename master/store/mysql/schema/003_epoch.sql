-- The Term in force, per partition of the jobs. Written only by a takeover; every write transaction of
-- a Term reads it first with a share lock.
CREATE TABLE IF NOT EXISTS epoch (
  partition_no INT NOT NULL,
  value BIGINT NOT NULL,
  holder VARCHAR(255) NOT NULL DEFAULT '',
  taken_ms BIGINT NULL,
  PRIMARY KEY (partition_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
