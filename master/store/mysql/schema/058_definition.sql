-- What saved jobs say, each different one once: hash is the SHA-256 of body, which is the JSON of a definition
-- without its namespace and name; rules is the part that a leader reads at takeover. Rows never change.
-- PRIMARY KEY absorbs a repeated batch, and another job that says the same.
CREATE TABLE IF NOT EXISTS definition (
  hash BINARY(32) NOT NULL,
  rules TEXT NOT NULL,
  body MEDIUMTEXT NOT NULL,
  PRIMARY KEY (hash)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
