-- Attempts of the run that were lost with their workers, hand-overs left out.
ALTER TABLE run ADD COLUMN losses INT NOT NULL DEFAULT 0
