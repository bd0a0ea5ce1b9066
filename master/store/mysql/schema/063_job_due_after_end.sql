-- When the job is due by an entry `after_end`.
ALTER TABLE job ADD COLUMN due_after_end_ms BIGINT NULL
