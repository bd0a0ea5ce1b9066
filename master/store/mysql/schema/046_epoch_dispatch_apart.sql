-- The epoch of the newest takeover by a master that looks for dispatches in run_open. From the first one on the
-- constraint refuses every takeover by an older master, which would start such runs a second time: it raises
-- value alone, and its log names the constraint.
ALTER TABLE epoch ADD COLUMN dispatch_apart_for BIGINT NULL, ADD CONSTRAINT this_rota_master_is_too_old_upgrade_it CHECK (dispatch_apart_for IS NULL OR dispatch_apart_for = value)
