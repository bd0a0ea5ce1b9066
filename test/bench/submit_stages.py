#!/usr/bin/python3
"""Where an idle submit's time goes, from the client's call to the exec of the command, in stages.

usage: submit_stages.py BIN_DIR [OPTION...]      with the environment of `scripts/cluster env`

Performs the benchmark submit_latency with these options while the kernel notes (uprobes, and its own event
of an exec) when each sample passes certain functions of client, leader, worker and warden. Prints the
median of each stage in microseconds, and of all. The probes themselves cost some microseconds each. Needs
root and a mounted tracefs. What it adds to tracefs goes with it.

exit: 0 measured, 1 not, 2 wrong arguments
"""
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

TRACING = Path("/sys/kernel/tracing")
GROUP = f"rota_bench_{os.getpid()}"
EXEC = "sched_process_exec"

# A stage ends with this event: (name, program, function as nm -C writes it, at its return).
STAGES = [
    ("begin", "rota-bench", r"rota::client::Cluster::submit\(rota::thrift::SubmitItem\)$", False),
    ("call", "rota-master", r"rota::master::api::JobServiceHandler::submit\([^{]*$", False),
    ("check", "rota-master", r"LeaderDesk::post<rota::master::core::SubmitRuns>", False),
    ("queue_and_decide", "rota-master", r"rota::master::store::MysqlStore::apply\(", False),
    ("statements", "rota-master", r"rota::master::store::Connection::end_transaction\(\)$", False),
    ("commit", "rota-master", r"rota::master::store::MysqlStore::apply\(", True),
    ("send", "rota-master", r"rota::master::dispatch::WorkerLink::dispatch\(", False),
    ("dispatch_call", "rota-worker", r"rota::worker::api::WorkerServiceHandler::dispatch\(", False),
    ("prepare", "rota-worker", r"rota::worker::warden::WardenClient::start\(", False),
    ("warden", "rota-warden", r"rota::worker::warden::Warden::launch_kept\(", False),
    ("fork_and_exec", None, EXEC, False),
]
LINE = re.compile(r"\s(\d+\.\d+): (\w+): ")


def place_of(program, pattern):
    """Where in the file the function begins."""
    wanted = re.compile(pattern)
    names = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    found = [line.split(" ", 2) for line in names.splitlines() if "[clone" not in line]
    places = [int(parts[0], 16) for parts in found
              if len(parts) == 3 and parts[1] in "tTW" and wanted.search(parts[2])]
    if not places:
        raise SystemExit(f"{program} has no function {pattern}")
    return places[0] - shift_of(program)


def shift_of(program):
    """How far the code's addresses lie behind its places in the file."""
    headers = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True, check=True).stdout
    for line in headers.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"] and "E" in words[6:-1]:
            return int(words[2], 16) - int(words[1], 16)
    raise SystemExit(f"{program} has no code")


def define(line):
    """Adds a probe, or takes one away; the file takes appended lines only, and no seek."""
    file = os.open(TRACING / "uprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, (line + "\n").encode())
    finally:
        os.close(file)


class Trace:
    """The probes and a ring buffer of their own, gone with it."""

    def __init__(self, folder):
        self.instance = TRACING / "instances" / GROUP
        self.definitions = []
        for name, program, pattern, at_return in STAGES:
            if program:
                place = f"{folder / program}:{place_of(folder / program, pattern):#x}"
                self.definitions.append(f"{'r' if at_return else 'p'}:{GROUP}/{name} {place}")

    def __enter__(self):
        for definition in self.definitions:
            define(definition)
        self.instance.mkdir()
        self.put("trace_clock", "mono")
        self.put("buffer_size_kb", "4096")
        self.put(f"events/sched/{EXEC}/filter", 'filename ~ "*rota-bench-clock"')
        self.put(f"events/sched/{EXEC}/enable", "1")
        self.put(f"events/{GROUP}/enable", "1")
        return self

    def __exit__(self, *_):
        if self.instance.exists():
            self.put(f"events/{GROUP}/enable", "0")
            self.instance.rmdir()
        for definition in self.definitions:
            define("-:" + definition.split()[0][2:])

    def put(self, file, text):
        (self.instance / file).write_text(text, encoding="ascii")

    def events(self):
        """(seconds, name) in the order of time."""
        lines = (self.instance / "trace").read_text(encoding="utf-8", errors="replace").splitlines()
        found = [match for match in map(LINE.search, lines) if match]
        return sorted((float(match.group(1)), match.group(2)) for match in found)


def samples_of(events):
    """For each submit the moments of all stages' ends, each the first after the one before."""
    names = [EXEC if program is None else name for name, program, _, _ in STAGES]
    begins = [at for at, (_, name) in enumerate(events) if name == "begin"]
    for begin, end in zip(begins, begins[1:] + [len(events)]):
        moments = []
        for moment, name in events[begin:end]:
            if len(moments) < len(names) and name == names[len(moments)]:
                moments.append(moment)
        if len(moments) == len(names):
            yield moments


def print_stages(samples):
    line = f"bench=submit_stages samples={len(samples)} batch=1"
    for at in range(1, len(STAGES)):
        took = [(moments[at] - moments[at - 1]) * 1e6 for moments in samples]
        line += f" {STAGES[at][0]}_us={statistics.median(took):.0f}"
    whole = [(moments[-1] - moments[0]) * 1e6 for moments in samples]
    print(f"{line} to_exec_us={statistics.median(whole):.0f}", flush=True)


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    if not os.access(TRACING / "uprobe_events", os.W_OK):
        print("submit_stages: needs root and a tracefs at /sys/kernel/tracing", file=sys.stderr)
        return 1
    with Trace(folder) as trace:
        done = subprocess.run([folder / "rota-bench", "submit_latency", *arguments[1:]], check=False)
        samples = list(samples_of(trace.events()))
    if done.returncode or not samples:
        print(f"submit_stages: {len(samples)} samples were traced as a whole", file=sys.stderr)
        return 1
    print_stages(samples[1:] or samples)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
