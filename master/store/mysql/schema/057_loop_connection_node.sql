-- The Galera node that gave the connection its id, which means nothing on the others; empty: one server.
ALTER TABLE loop_connection ADD COLUMN node VARCHAR(64) NOT NULL DEFAULT ''
