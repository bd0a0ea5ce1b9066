#!/usr/bin/python3
"""Records when the machine itself stands still: meter.py FILE, until standard input closes.

Again and again it pauses for 0.1 s and syncs a few bytes to the disk that all of the run's processes share.
A pause or a sync that takes far longer is a line of FILE: {"from_ms", "to_ms", "what": "pause" or "sync"}.
Anything on this machine is late at such times, not only Rota."""
import json
import os
import select
import sys
import time

EVERY_S = 0.1
TOLD_MS = 100  # beyond the expected time


def now_ms():
    return time.time_ns() // 1_000_000


def timed(action, due_ms):
    """(from, to) of the time that the action took beyond the expected one, or None."""
    begin = now_ms()
    action()
    end = now_ms()
    return (begin + due_ms, end) if end - begin - due_ms > TOLD_MS else None


def main():
    notes = open(sys.argv[1], "a", encoding="utf-8")
    scratch = os.open(sys.argv[1] + ".scratch", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.unlink(sys.argv[1] + ".scratch")

    def pause():
        if select.select([sys.stdin], [], [], EVERY_S)[0]:
            raise EOFError

    def sync():
        os.write(scratch, b"a line\n")
        os.fsync(scratch)

    try:
        while True:
            for what, action, due_ms in (("pause", pause, EVERY_S * 1000), ("sync", sync, 0)):
                stall = timed(action, due_ms)
                if stall:
                    notes.write(json.dumps({"from_ms": stall[0], "to_ms": stall[1], "what": what}) + "\n")
                    notes.flush()
    except EOFError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
