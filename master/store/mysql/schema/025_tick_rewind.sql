-- Ticks that were recorded ahead of the clock and given back: those in (to_ms, from_ms] that have a run of an
-- older epoch keep it and fire no second time. PRIMARY KEY absorbs a repeated rewind.
CREATE TABLE IF NOT EXISTS tick_rewind (
  epoch BIGINT NOT NULL,
  from_ms BIGINT NOT NULL,
  to_ms BIGINT NOT NULL,
  PRIMARY KEY (epoch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
