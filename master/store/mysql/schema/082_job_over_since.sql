-- When a run ended by which the job's rules end it, while ticks were held.
ALTER TABLE job ADD COLUMN over_since_ms BIGINT NULL
