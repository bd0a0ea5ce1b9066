-- How content is packed: 0 not at all, 1 as one zstd frame. length_bytes and crc32 are of the unpacked bytes.
ALTER TABLE log_chunk ADD COLUMN codec TINYINT NOT NULL DEFAULT 0
