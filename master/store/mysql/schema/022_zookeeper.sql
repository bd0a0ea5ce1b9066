-- One row: the ZooKeeper that this database is led through, by what stands in its node `identity` and by that
-- node's czxid. `number` grows with each other one. Lives of workers that were last seen in one of a number
-- below `wait_below` are waited for. `beats` grows while somebody leads. The key absorbs a repeated takeover.
CREATE TABLE IF NOT EXISTS zookeeper (
  one TINYINT NOT NULL,
  identity VARCHAR(64) NOT NULL DEFAULT '',
  created_zxid BIGINT NOT NULL DEFAULT 0,
  number BIGINT NOT NULL DEFAULT 0,
  wait_below BIGINT NOT NULL DEFAULT 0,
  beats BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (one)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
