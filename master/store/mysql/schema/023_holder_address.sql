-- Where the master that took this epoch is reached.
ALTER TABLE epoch ADD COLUMN address VARCHAR(300) NOT NULL DEFAULT ''
