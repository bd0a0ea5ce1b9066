-- One row: which elector decides who takes office (empty, or no row: ZooKeeper's), and the lease of the elector
-- that is the database itself, until held_until by the database's own clock.
CREATE TABLE IF NOT EXISTS election (
  one TINYINT NOT NULL,
  elector VARCHAR(32) NOT NULL DEFAULT '',
  tag VARCHAR(64) NOT NULL DEFAULT '',
  words VARCHAR(1000) NOT NULL DEFAULT '',
  held_until DATETIME(6) NOT NULL DEFAULT '2000-01-01 00:00:00',
  PRIMARY KEY (one)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
