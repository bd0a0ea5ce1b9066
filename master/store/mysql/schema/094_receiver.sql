-- What each Term knew of the receivers in its settings: who was to be told what. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS receiver (
  epoch BIGINT NOT NULL,
  name VARCHAR(64) NOT NULL,
  wants VARCHAR(400) NOT NULL,
  is_default TINYINT NOT NULL,
  PRIMARY KEY (epoch, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
