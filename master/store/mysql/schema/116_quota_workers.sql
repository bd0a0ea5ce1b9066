-- How many workers a pool should have, and what is called when that number changes; -1 and '': not set. Masters of before do
-- not read them, and a change that one of them makes takes them away. A repeat sees by the first of the columns that it has
-- nothing to do.
ALTER TABLE quota ADD COLUMN min_workers BIGINT NOT NULL DEFAULT -1,
  ADD COLUMN max_workers BIGINT NOT NULL DEFAULT -1,
  ADD COLUMN hook VARCHAR(64) NOT NULL DEFAULT ''
