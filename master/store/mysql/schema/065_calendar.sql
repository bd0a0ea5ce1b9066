-- Calendars: a row for each version, never changed. It counts for planned moments from from_ms on; `deleted`
-- ends the calendar, and its version numbers go on when the name is used again.
-- PRIMARY KEY absorbs a repeated batch.
CREATE TABLE IF NOT EXISTS calendar (
  namespace VARCHAR(64) NOT NULL,
  name VARCHAR(64) NOT NULL,
  version INT NOT NULL,
  from_ms BIGINT NOT NULL,
  changed_ms BIGINT NOT NULL,
  principal VARCHAR(128) NOT NULL,
  why VARCHAR(1000) NOT NULL DEFAULT '',
  deleted TINYINT NOT NULL DEFAULT 0,
  definition MEDIUMTEXT NOT NULL,
  PRIMARY KEY (namespace, name, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
