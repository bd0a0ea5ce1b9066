-- worker_starts_needed: there may be runs of worker starts, so that only masters that read those may take office.
-- Each of them writes its epoch into worker_starts_read_by; a takeover of an older one, which does not, breaks the
-- constraint.
ALTER TABLE epoch ADD COLUMN worker_starts_needed TINYINT NOT NULL DEFAULT 0, ADD COLUMN worker_starts_read_by BIGINT NOT NULL DEFAULT -1, ADD CONSTRAINT needs_a_newer_rota_master_for_worker_starts CHECK (worker_starts_needed = 0 OR worker_starts_read_by = value)
