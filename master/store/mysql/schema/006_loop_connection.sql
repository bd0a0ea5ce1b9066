-- The database connection of each Term's loop, so that the successor can end a frozen one. The key
-- absorbs the reconnects of one Term.
CREATE TABLE IF NOT EXISTS loop_connection (
  epoch BIGINT NOT NULL,
  connection_id BIGINT NOT NULL,
  PRIMARY KEY (epoch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
