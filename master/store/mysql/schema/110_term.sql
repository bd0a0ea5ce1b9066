-- Each Term: which master took office for it, and when. Written in the transaction of the takeover; masters of before
-- write none. PRIMARY KEY absorbs a repeated takeover.
CREATE TABLE IF NOT EXISTS term (
  epoch BIGINT NOT NULL,
  holder VARCHAR(255) NOT NULL DEFAULT '',
  address VARCHAR(300) NOT NULL DEFAULT '',
  taken_ms BIGINT NOT NULL,
  PRIMARY KEY (epoch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
