-- One row: which master changes the schema, until held_until by the database's clock. It stands for GET_LOCK on
-- Galera, which has none; there it is made before all other steps.
CREATE TABLE IF NOT EXISTS schema_lock (
  one TINYINT NOT NULL,
  tag VARCHAR(64) NOT NULL DEFAULT '',
  held_until DATETIME(6) NOT NULL DEFAULT '2000-01-01 00:00:00',
  PRIMARY KEY (one)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
