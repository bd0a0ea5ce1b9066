-- Semaphores: a row for each version, never changed. The newest says how many tokens there are; `deleted` ends the
-- semaphore, and its version numbers go on when the name is used again. change_number orders changes whatever the clocks
-- say, and names the epoch as a run's id does. PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS semaphore (
  namespace VARCHAR(64) NOT NULL,
  name VARCHAR(64) NOT NULL,
  version INT NOT NULL,
  tokens INT NOT NULL,
  changed_ms BIGINT NOT NULL,
  change_number BIGINT NOT NULL,
  principal VARCHAR(128) NOT NULL,
  deleted TINYINT NOT NULL DEFAULT 0,
  PRIMARY KEY (namespace, name, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
