"""P13 and P14: logs byte by byte, and what is missing.

A chunk's bytes agree with its CRC. Chunks of a stream do not overlap and leave no holes except those that they
count themselves. The stored output of a checkable job is what it printed, at the same offsets; for a finished
attempt it is as long as its outcome says.
"""
import re
import zlib
from collections import defaultdict

from allowances import LOG_SETTLE_MS
from fault_windows import was_lost

QUESTION = "logs"
OUTPUT_CAP = 64 << 20
CUT = re.compile(r'the oldest that waits to be sent is cut\W+run"?[=:]"?(\d+).*?attempt"?[=:]"?(\d+)'
                 r'.*?stream"?[=:]"?(\d+).*?bytes"?[=:]"?(\d+)')
# Outcomes of an attempt whose worker reported its final lengths.
TOLD = {"succeeded", "failed", "timed_out", "killed"}
NOT_TOLD = {"worker_lost", "attempt_died", "start_failed", "refused_by_worker"}


def ask(evidence, findings, bounds):
    streams = defaultdict(list)
    for chunk in evidence.store["log_chunk"]:
        streams[(chunk["run_id"], chunk["attempt"], chunk["stream"])].append(chunk)
    acked = sum(len(chunk["content"]) for chunk in evidence.store["log_chunk"])
    ends = {}
    for key, chunks in streams.items():
        ends[key] = check_stream(evidence, key, sorted(chunks, key=lambda one: one["offset_bytes"]), findings)
    lost = check_lengths(evidence, ends, findings)
    findings.figure("log_bytes_acked", acked)
    findings.figure("log_bytes_lost", lost)
    compared = sum((run, attempt, 1) in ends for run, attempt in evidence.printed)
    findings.note(f"log_streams={len(streams)} printed={len(evidence.printed)} compared={compared}")


def place(key):
    return f"run {key[0]} attempt {key[1]} {'stdout' if key[2] == 1 else 'stderr'}"


def check_stream(evidence, key, chunks, findings):
    """The end of the stored part without a hole."""
    printed = evidence.printed.get(key[:2]) if key[2] == 1 else None
    end, dropped = 0, 0
    cap = cap_of(evidence, key[0])
    for chunk in chunks:
        offset, content = chunk["offset_bytes"], chunk["content"]
        subject = {"run": key[0], "at": (chunk["received_ms"],)}
        if zlib.crc32(content) != chunk["crc32"] or len(content) != chunk["length_bytes"]:
            findings.violated(QUESTION, f"{place(key)}: the chunk at {offset} is not what its CRC says",
                              **subject)
        begin = offset - chunk["dropped_bytes"]
        if begin < end:
            findings.violated(QUESTION, f"{place(key)}: the chunk at {offset} overlaps what ends at {end}",
                              **subject)
        if begin > end:
            break  # a hole; it is judged by the length in its outcome
        if printed is not None and content != printed[offset:offset + len(content)]:
            wrong = next((i for i, byte in enumerate(content)
                          if printed[offset + i:offset + i + 1] != bytes([byte])), 0)
            findings.violated(QUESTION, f"{place(key)}: byte {offset + wrong} is not what the job printed "
                              f"({len(printed)} bytes)", **subject)
        end = offset + len(content)
        dropped += chunk["dropped_bytes"]
    if dropped and end <= cap and dropped != cut_for_room(evidence, key):
        findings.violated(QUESTION, f"{place(key)}: {dropped} bytes are told as cut, and the stream of {end} "
                          f"bytes is within its cap of {cap}", run=key[0])
    return end


def cut_for_room(evidence, key):
    """Bytes of a stream that a worker dropped because its disk was full, by its own log."""
    return sum(int(found[3]) for text in evidence.logs.values() for found in CUT.findall(text)
               if tuple(map(int, found[:3])) == key)


def cap_of(evidence, run_id):
    run = evidence.runs.get(run_id)
    asked = evidence.work_of(run).get("output_cap_bytes") if run else None
    return min(asked or OUTPUT_CAP, OUTPUT_CAP)


def outcomes(evidence):
    """(run, attempt), row, end time of the newest attempts and of the earlier ones."""
    for run in evidence.store["run"]:
        if run["attempt"] and run["outcome_state"]:
            yield (run["run_id"], run["attempt"]), run
    for row in evidence.store["attempt"]:
        yield (row["run_id"], row["attempt"]), row


def told_as_not_kept(row):
    """Bytes for which the worker's disk had no room, by the outcome's own count."""
    found = re.search(r"(\d+) bytes of output could not be kept", row.get("message") or "")
    return int(found.group(1)) if found else 0


def check_lengths(evidence, ends, findings):
    lost = 0
    last_moment = (evidence.world.get("ended_ms") or 0) - LOG_SETTLE_MS
    for attempt, row in outcomes(evidence):
        ended = row.get("outcome_ended_ms") or 0
        if row["outcome_state"] not in TOLD or row["outcome_reason"] in NOT_TOLD or ended > last_moment:
            continue
        if was_lost(evidence, ended):
            continue
        printed, not_kept = evidence.printed.get(attempt), told_as_not_kept(row)
        if not_kept:
            findings.note(f"not_kept {place((*attempt, 1))} bytes={not_kept} (told by the outcome)")
        for stream, column in ((1, "stdout_bytes"), (2, "stderr_bytes")):
            named, end = row.get(column) or 0, ends.get((*attempt, stream), 0)
            key = (*attempt, stream)
            if named > end:
                lost += named - end
                if row["outcome_reason"] == "output_lost":
                    findings.note(f"output_lost {place(key)} bytes={named - end}")
                else:
                    findings.violated(QUESTION, f"{place(key)}: {end} of {named} bytes are stored",
                                      run=attempt[0], at=(ended,))
            elif end > named and not row.get("late"):
                findings.violated(QUESTION, f"{place(key)}: {end} bytes are stored, its outcome names {named}",
                                  run=attempt[0], at=(ended,))
            if stream == 1 and printed is not None and row["outcome_state"] == "succeeded" and \
                    named + not_kept != len(printed) and row["outcome_reason"] != "output_lost":
                lost += max(0, len(printed) - max(named, end) - not_kept)
                findings.violated(QUESTION, f"{place(key)}: the job printed {len(printed)} bytes, its outcome "
                                  f"names {named}", run=attempt[0], at=(ended,))
    return lost
