-- How many ticks of the job fired since it was enabled by hand, where its rules count them.
ALTER TABLE job ADD COLUMN fired_ticks INT NOT NULL DEFAULT 0
