-- Limits of pools (side 'pool': only slots counts) and of namespaces (side 'namespace'): a row for each version, never
-- changed; the newest is in force. -1: not limited. change_number orders changes whatever the clocks say, and names the
-- epoch as a run's id does. Masters of before do not read it: while one leads, nothing is limited. PRIMARY KEY absorbs a
-- repeated batch.
CREATE TABLE IF NOT EXISTS quota (
  side VARCHAR(16) NOT NULL,
  name VARCHAR(64) NOT NULL,
  version INT NOT NULL,
  slots BIGINT NOT NULL,
  weight BIGINT NOT NULL,
  jobs BIGINT NOT NULL,
  unfinished BIGINT NOT NULL,
  firings BIGINT NOT NULL,
  changed_ms BIGINT NOT NULL,
  change_number BIGINT NOT NULL,
  principal VARCHAR(128) NOT NULL,
  PRIMARY KEY (side, name, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
