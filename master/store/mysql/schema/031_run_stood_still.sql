-- Between these moments nothing of the newest attempt ran: its host stood still as a whole.
ALTER TABLE run ADD COLUMN still_from_ms BIGINT NULL, ADD COLUMN still_to_ms BIGINT NULL
