-- child_runs_needed: jobs may name child jobs, so that only masters that begin those may take office. Each of them
-- writes its epoch into child_runs_read_by; a takeover of an older one, which does not, breaks the constraint.
ALTER TABLE epoch ADD COLUMN child_runs_needed TINYINT NOT NULL DEFAULT 0, ADD COLUMN child_runs_read_by BIGINT NOT NULL DEFAULT -1, ADD CONSTRAINT needs_a_newer_rota_master_for_child_runs CHECK (child_runs_needed = 0 OR child_runs_read_by = value)
