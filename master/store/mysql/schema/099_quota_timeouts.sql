-- Times of a namespace's jobs that do not say them; 0: none. Masters of before do not read them, and a change that one of
-- them makes sets them to 0. A repeat sees by the first of the columns that it has nothing to do.
ALTER TABLE quota ADD COLUMN attempt_timeout_ms BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN run_timeout_ms BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN queue_timeout_ms BIGINT NOT NULL DEFAULT 0
