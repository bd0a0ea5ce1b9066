"""Reads a worker's outbox file: the results that no master has acknowledged yet. Written separately from the
format's description, so that the harness does not depend on the product: a record is length, CRC-32
and payload; a payload is 'O' or 'A' (acknowledged), run (8 bytes) and attempt (4), all little-endian."""
import struct
import zlib

LARGEST = 256 << 10


def unreported(content):
    """Keys (run, attempt) of the results that are not acknowledged."""
    at, waiting = 0, set()
    while at + 8 < len(content):
        length, crc = struct.unpack_from("<II", content, at)
        payload = content[at + 8:at + 8 + length]
        if not 13 <= length <= LARGEST or len(payload) < length or zlib.crc32(payload) != crc:
            if not any(content[at:at + 4096]) and not content[at:].strip(b"\0"):
                break  # zeros to the end
            at += 1
            continue
        kind, run, attempt = struct.unpack_from("<cqi", payload)
        (waiting.add if kind == b"O" else waiting.discard)((run, attempt))
        at += 8 + length
    return waiting


def unreported_in(path):
    try:
        with open(path, "rb") as file:
            return unreported(file.read())
    except OSError:
        return set()
