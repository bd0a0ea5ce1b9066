-- The row of `definition` that says what the version says; `rules` and `definition` are empty then. NULL: they
-- say it themselves, as in all rows of older masters, and of one-offs.
ALTER TABLE job_version ADD COLUMN content_hash BINARY(32) NULL
