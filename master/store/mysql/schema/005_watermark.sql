-- Every tick up to value_ms is a run or lies in a gap. Set in the transaction that writes those ticks.
CREATE TABLE IF NOT EXISTS watermark (
  partition_no INT NOT NULL,
  value_ms BIGINT NOT NULL,
  PRIMARY KEY (partition_no)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
