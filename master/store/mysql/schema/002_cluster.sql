-- One row: the name of the cluster that these data belong to. The fixed key absorbs two masters that
-- both propose a uuid: the first one stands.
CREATE TABLE IF NOT EXISTS cluster (
  one TINYINT NOT NULL,
  cluster_uuid VARCHAR(64) NOT NULL,
  created_ms BIGINT NOT NULL,
  PRIMARY KEY (one)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
