-- edits_told_by: the newest Term whose master stores gap rows for what edits of calendars took away. Where that is the
-- Term in force, all Terms since edits_told_from_ms did; an older master leaves it behind, and it begins anew.
ALTER TABLE epoch ADD COLUMN edits_told_by BIGINT NOT NULL DEFAULT -1, ADD COLUMN edits_told_from_ms BIGINT NULL
