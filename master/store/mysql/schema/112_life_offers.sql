-- What a worker offered beside its slots in that life, as JSON: {"memory": 2147483648}. NULL: not known, or a worker that
-- counts attempts alone.
ALTER TABLE worker_life ADD COLUMN offers VARCHAR(4096) NULL
