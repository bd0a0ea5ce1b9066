-- Output of attempts. PRIMARY KEY absorbs a chunk sent again; with another CRC it is refused.
CREATE TABLE IF NOT EXISTS log_chunk (
  run_id BIGINT NOT NULL,
  attempt INT NOT NULL,
  stream TINYINT NOT NULL,
  offset_bytes BIGINT NOT NULL,
  length_bytes INT NOT NULL,
  dropped_bytes BIGINT NOT NULL,
  crc32 BIGINT NOT NULL,
  received_ms BIGINT NOT NULL,
  content MEDIUMBLOB NOT NULL,
  PRIMARY KEY (run_id, attempt, stream, offset_bytes)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
