-- The epochs whose leaders have kept run_open and run_unsuccessful whole, from the row's own moment on. A master
-- of an older version raises the epoch alone, so that its successor sees that they are not any more.
ALTER TABLE epoch ADD COLUMN open_kept_for BIGINT NOT NULL DEFAULT -1, ADD COLUMN ended_kept_for BIGINT NOT NULL DEFAULT -1
