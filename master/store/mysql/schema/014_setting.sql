-- Settings of the whole cluster that an operator changes while it runs. PRIMARY KEY absorbs the repeat
-- of a change.
CREATE TABLE IF NOT EXISTS setting (
  namespace VARCHAR(64) NOT NULL,
  name VARCHAR(128) NOT NULL,
  value TEXT NOT NULL,
  principal VARCHAR(128) NOT NULL,
  changed_ms BIGINT NOT NULL,
  PRIMARY KEY (namespace, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
