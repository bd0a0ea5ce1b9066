-- What the newest attempt of a run has said of itself: progress, and the checkpoint that the next one gets.
-- PRIMARY KEY absorbs a repeated batch and a repeated report.
CREATE TABLE IF NOT EXISTS run_note (
  run_id BIGINT NOT NULL,
  attempt INT NOT NULL,
  said_ms BIGINT NOT NULL,
  percent INT NULL,
  progress_text VARCHAR(200) NULL,
  checkpoint_attempt INT NULL,
  checkpoint_ms BIGINT NULL,
  checkpoint MEDIUMBLOB NULL,
  PRIMARY KEY (run_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
