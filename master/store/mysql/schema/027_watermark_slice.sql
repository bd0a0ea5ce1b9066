-- A slice of time that is being recorded: jobs with ids up to job_id are recorded through reaching_ms, all
-- through value_ms. None is under way where reaching_ms is missing or not after value_ms.
ALTER TABLE watermark ADD COLUMN reaching_ms BIGINT NULL, ADD COLUMN job_id BIGINT NULL
