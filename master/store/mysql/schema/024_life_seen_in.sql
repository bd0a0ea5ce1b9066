-- The number of the ZooKeeper in which this life's node was last seen to appear.
ALTER TABLE worker_life ADD COLUMN seen_in BIGINT NOT NULL DEFAULT 0
