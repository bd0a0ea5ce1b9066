#!/usr/bin/python3
"""A job whose output can be checked byte by byte: printing_job.py FOLDER PIECES PAUSE_MS

Each piece of bytes is appended to FOLDER/RUN-ATTEMPT.log and synced, and then printed. So the file
contains everything that was printed and, when the job is killed, at most one piece more."""
import os
import random
import sys
import time

folder, pieces, pause_ms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
run, attempt = os.environ["ROTA_RUN_ID"], os.environ["ROTA_ATTEMPT"]
dice = random.Random(f"{run}-{attempt}")
file = os.open(f"{folder}/{run}-{attempt}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)


def put(descriptor, data):
    while data:
        data = data[os.write(descriptor, data):]


for number in range(pieces):
    text = f"{run} {attempt} {number} ".encode()
    data = text + (dice.randbytes(dice.randrange(200)) if number % 4 == 3 else b"a line\n")
    put(file, data)
    os.fsync(file)
    put(1, data)
    time.sleep(pause_ms / 1000)
