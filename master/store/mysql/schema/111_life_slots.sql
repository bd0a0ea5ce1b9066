-- How many slots a worker had in that life. Masters of before do not write it: NULL, not known.
ALTER TABLE worker_life ADD COLUMN slots INT NULL
