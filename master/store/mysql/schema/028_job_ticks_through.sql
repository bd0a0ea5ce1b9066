-- Where the job's ticks are recorded further than the watermark says.
ALTER TABLE job ADD COLUMN ticks_through_ms BIGINT NULL
