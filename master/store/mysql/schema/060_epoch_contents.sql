-- contents_needed: versions point at `definition`, so that only masters that read it may take office. Each of
-- those writes its epoch into contents_read_by; a takeover of an older one, which does not, breaks the constraint.
ALTER TABLE epoch ADD COLUMN contents_needed TINYINT NOT NULL DEFAULT 0, ADD COLUMN contents_read_by BIGINT NOT NULL DEFAULT -1, ADD CONSTRAINT needs_a_newer_rota_master CHECK (contents_needed = 0 OR contents_read_by = value)
