-- An operator wants to see this worker no more, unless it comes back in another life.
ALTER TABLE worker_life ADD COLUMN forgotten TINYINT NOT NULL DEFAULT 0
