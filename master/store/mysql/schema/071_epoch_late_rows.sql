-- late_rows_needed: there may be freezes, runs that wait to be caught up, and runs that stand for frozen ticks, so that
-- only masters that read those may take office. Each of them writes its epoch into late_rows_read_by; a takeover of
-- an older one, which does not, breaks the constraint.
ALTER TABLE epoch ADD COLUMN late_rows_needed TINYINT NOT NULL DEFAULT 0, ADD COLUMN late_rows_read_by BIGINT NOT NULL DEFAULT -1, ADD CONSTRAINT needs_a_newer_rota_master_for_late_rows CHECK (late_rows_needed = 0 OR late_rows_read_by = value)
