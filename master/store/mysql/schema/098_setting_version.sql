-- Settings that operators change while the cluster runs: a row for each version, never changed; the newest is in force. A
-- NULL value: what master.yaml says counts again. change_number orders changes whatever the clocks say, and names the epoch
-- as a run's id does; masters look twice a second whether there is a higher one. Masters of before do not read it: while one
-- leads, its master.yaml counts. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS setting_version (
  name VARCHAR(64) NOT NULL,
  version INT NOT NULL,
  value BIGINT NULL,
  changed_ms BIGINT NOT NULL,
  change_number BIGINT NOT NULL,
  principal VARCHAR(128) NOT NULL,
  why VARCHAR(500) NOT NULL,
  PRIMARY KEY (name, version),
  KEY setting_newest (change_number)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
