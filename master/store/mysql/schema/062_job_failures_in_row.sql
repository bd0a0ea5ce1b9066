-- How many runs of the job in a row did not succeed, where its rules count them.
ALTER TABLE job ADD COLUMN failures_in_row INT NOT NULL DEFAULT 0
