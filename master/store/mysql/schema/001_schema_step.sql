-- Which steps this database has taken. `number` absorbs the repeat of a step whose record was lost.
CREATE TABLE IF NOT EXISTS schema_step (
  number INT NOT NULL,
  name VARCHAR(100) NOT NULL,
  taken_ms BIGINT NOT NULL,
  PRIMARY KEY (number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
