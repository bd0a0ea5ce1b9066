-- Wanted numbers of workers: each change of a pool's, and each call of its hook that says something else (a worker may be
-- stopped, or is dead). Stored before the hook is called; state and what follows it change until it is settled. stoppable:
-- "id incarnation", one a line. Masters of before ignore it: while one leads, no number changes and no hook is called.
-- PRIMARY KEY absorbs a repeated batch. (pool, id): a takeover reads the newest of each pool.
CREATE TABLE IF NOT EXISTS scale_change (
  id BIGINT NOT NULL,
  pool VARCHAR(64) NOT NULL,
  wanted_before BIGINT NOT NULL,
  wanted_after BIGINT NOT NULL,
  present BIGINT NOT NULL,
  leaving BIGINT NOT NULL,
  reason VARCHAR(16) NOT NULL,
  hook VARCHAR(64) NOT NULL,
  stoppable TEXT NOT NULL,
  made_ms BIGINT NOT NULL,
  state VARCHAR(16) NOT NULL,
  attempts INT NOT NULL,
  settled_ms BIGINT NULL,
  last_error VARCHAR(300) NOT NULL,
  PRIMARY KEY (id),
  KEY scale_change_pool (pool, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
