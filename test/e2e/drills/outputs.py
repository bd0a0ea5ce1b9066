"""The output of commands and how they end is recorded correctly, byte by byte (P13, P14, P15)."""
import hashlib
import json
import os
import subprocess
import time

from cluster import check, figure, wait_until

# Its own generator, so that the test knows every byte: binary, no line break at the end.
PRINTER = """
import sys, hashlib
total, seed = int(sys.argv[1]), hashlib.sha256(b'rota').digest()
block = b''.join(hashlib.sha256(seed + bytes([i])).digest() for i in range(256)) * 8
while total > 0:
    part = block[:min(total, len(block))]
    sys.stdout.buffer.write(part)
    total -= len(part)
"""


def expected(total):
    seed = hashlib.sha256(b"rota").digest()
    block = b"".join(hashlib.sha256(seed + bytes([i])).digest() for i in range(256)) * 8
    digest = hashlib.sha256()
    while total > 0:
        part = block[:min(total, len(block))]
        digest.update(part)
        total -= len(part)
    return digest.hexdigest()


def memory_kb(cluster, worker):
    """Resident memory of the worker's processes, without its jobs."""
    total = 0
    for pid in os.listdir("/proc"):
        try:
            line = open(f"/proc/{pid}/cmdline", "rb").read().replace(b"\0", b" ").decode(errors="replace")
            if f"{worker}.yaml" in line and "rota-w" in line:
                for row in open(f"/proc/{pid}/status"):
                    if row.startswith("VmRSS"):
                        total += int(row.split()[1])
        except OSError:
            pass
    return total


def read_all(cluster, run, follow=False):
    """The stored output; with `follow` everything that the outcome names, as soon as it is stored."""
    done = subprocess.run([cluster.programs + "/rota", "run", "logs", "--stdout", run] + ["-f"] * follow,
                          env=cluster.env, capture_output=True, timeout=240)
    check(done.returncode == 0, done.stderr.decode(errors="replace"))
    return done.stdout


def flood(cluster, megabytes):
    """Much binary output without a line break: below the cap every byte is kept, and memory stays bounded."""
    total = megabytes << 20
    text = ("name: flood\noutput_cap_bytes: %d\ncommand: %s\n"
            % (2 * total, json.dumps(["/usr/bin/python3", "-c", PRINTER, str(total)])))
    cluster.apply(text)
    run = cluster.ok("job", "run", "flood").strip()
    peak = 0

    def ended():
        nonlocal peak
        peak = max(peak, memory_kb(cluster, "worker-1") + memory_kb(cluster, "worker-2"))
        shown = cluster.run(run)
        return shown["ended_at_ms"] and shown

    began = time.monotonic()
    shown = wait_until(ended, 180, "the flood ends")
    check(shown["state"] == "succeeded", f"the flood did not succeed: {shown['state']} {shown['reason']}")
    check(shown["outcome"]["stdout_bytes"] == total, f"bytes recorded: {shown['outcome']['stdout_bytes']}")
    took = time.monotonic() - began
    kept = read_all(cluster, run, follow=True)
    check(len(kept) == total, f"stored bytes: {len(kept)} of {total}")
    got = hashlib.sha256(kept).hexdigest()
    check(got == expected(total), "the stored bytes differ")
    figure("flood", megabytes=megabytes, seconds=round(took, 1), workers_peak_mb=peak // 1024, equal=True)


def over_the_cap(cluster):
    """Beyond the cap, head and tail stay, and the run succeeds."""
    cap, total = 1 << 20, 8 << 20
    cluster.apply("name: capped\noutput_cap_bytes: %d\ncommand: %s\n"
                  % (cap, json.dumps(["/usr/bin/python3", "-c", PRINTER, str(total)])))
    run = cluster.ok("job", "run", "capped").strip()
    shown = cluster.await_run(run, 60)
    check(shown["state"] == "succeeded", f"{shown['state']}")
    kept = read_all(cluster, run)
    check(0 < len(kept) <= cap + 65536, f"kept {len(kept)} of a cap of {cap}")
    check(shown["outcome"]["stdout_bytes"] == total, "the whole output is counted")
    check(len(kept) == cap, f"head and tail are {len(kept)} bytes, not {cap}")
    figure("over_the_cap", cap=cap, printed=total, kept=len(kept),
           recorded=shown["outcome"]["stdout_bytes"])


def nobody_left(mark):
    for pid in os.listdir("/proc"):
        try:
            if mark in open(f"/proc/{pid}/cmdline", "rb").read().decode(errors="replace"):
                return False
        except OSError:
            pass
    return True


def ways_to_end(cluster):
    """Each way to end, and the run's record of it."""
    mark = f"rota-drill-{os.getpid()}"
    daemon = ("import os,signal,sys,time\n"
              "if os.fork(): os._exit(0)\n"
              "os.setsid()\n"
              "if os.fork(): os._exit(0)\n"
              "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
              f"time.sleep(300) # {mark}\n")
    cases = [
        ("status 0", ["/bin/true"], "succeeded", dict(exit_status=0)),
        ("status 7", ["/bin/sh", "-c", "exit 7"], "failed", dict(exit_status=7)),
        ("status 255", ["/bin/sh", "-c", "exit 255"], "failed", dict(exit_status=255)),
        ("signal", ["/bin/sh", "-c", "kill -SEGV $$"], "failed", dict(signal=11)),
        ("not found", ["/no/such/program"], "failed", dict(reason="start_failed")),
        ("not executable", ["/etc/passwd"], "failed", dict(reason="start_failed")),
        ("double fork, ignores TERM", ["/usr/bin/python3", "-c", daemon], "succeeded", dict(exit_status=0)),
    ]
    for name, command, state, wanted in cases:
        shown = cluster.await_run(cluster.submit(*command), 40)
        told = dict(shown["outcome"], reason=shown["reason"])
        check(shown["state"] == state and all(told[k] == v for k, v in wanted.items()),
              f"{name}: recorded as {shown['state']} {told}")
    wait_until(lambda: nobody_left(mark), 10, "the double-forked process is dead")
    figure("ways_to_end", cases=len(cases), wrong=0, left=0)


def cancelled_and_timed_out(cluster):
    """A command that ignores TERM is really killed, by cancel and by timeout."""
    mark = f"rota-stubborn-{os.getpid()}"
    stubborn = ["/bin/sh", "-c", f"trap '' TERM; while :; do sleep 0.1; done # {mark}"]
    cluster.apply("name: stubborn\nkill_grace: 300ms\ncommand: %s\n" % json.dumps(stubborn))
    run = cluster.ok("job", "run", "stubborn").strip()
    cluster.await_started([run])
    time.sleep(0.5)
    cluster.ok("run", "cancel", run, "--why", "drill")
    shown = cluster.await_run(run, 30)
    check(shown["state"] == "killed", f"cancelled: {shown['state']} {shown['reason']}")
    cluster.apply("name: stubborn\nkill_grace: 300ms\ntimeout: 500ms\ncommand: %s\n" % json.dumps(stubborn))
    shown = cluster.await_run(cluster.ok("job", "run", "stubborn").strip(), 30)
    check(shown["state"] == "timed_out", f"timed out: {shown['state']} {shown['reason']}")
    wait_until(lambda: nobody_left(mark), 5, "both are dead")
    again = cluster.rota("run", "cancel", run)
    check(again.returncode == 5, f"cancel of a final run: exit {again.returncode} {again.stderr}")
    figure("cancelled_and_timed_out", killed=1, timed_out=1, left=0)
