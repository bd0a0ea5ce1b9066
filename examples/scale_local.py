#!/usr/bin/python3
"""A hook for pools (docs/autoscale.md) that starts and stops workers on this host.

    hooks: [{name: local, timeout: 60s, command: [/usr/share/rota/examples/scale_local.py,
             --base, /etc/rota/worker.yaml, --dir, /var/lib/rota/scaled]}]

    scale_local.py --base FILE --dir DIR [--program rota-worker]

Each worker that it starts gets a folder in DIR with its configuration: that of FILE, with an id, a pool and a
state folder of its own, and any free port. The call comes as one JSON object on standard input. Called again
with the same sequence number it does nothing twice; an older number is dropped. It stops nobody who is not
named as stoppable. A named worker that somebody else started (--others) it cannot stop: the call fails until
that worker is stopped by hand, and it counts as gone."""
import argparse
import fcntl
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

OWN_KEYS = ("id", "pool", "state_dir", "heartbeat_file", "listen", "http", "advertise")
STOP_S = 30


def start_of(pid):
    """When that process began, so that another one with its number is not taken for it; None: it is gone."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def is_alive(worker):
    return start_of(worker["pid"]) == worker["start"]


def without_own_keys(text):
    """The base without the top-level keys that each worker has for itself, and what belongs to them."""
    kept, is_own = [], False
    for line in text.splitlines():
        if re.match(r"[A-Za-z_]", line):
            is_own = line.split(":")[0] in OWN_KEYS
        if not is_own:
            kept.append(line)
    return "\n".join(kept) + "\n"


def start_worker(arguments, pool, name):
    folder = pathlib.Path(arguments.dir, name)
    folder.mkdir(parents=True, exist_ok=True)
    config = folder / "worker.yaml"
    config.write_text(without_own_keys(pathlib.Path(arguments.base).read_text()) +
                      f"id: {name}\npool: {pool}\nstate_dir: {folder}/state\n"
                      f"listen:\n  host: {arguments.host}\n  port: 0\n")
    with open(folder / "log", "ab") as log:
        # The lock must not live on in the worker; neither must the pipe that the master reads.
        process = subprocess.Popen([arguments.program, "--config", str(config)], stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, start_new_session=True, close_fds=True)
    return {"pid": process.pid, "start": start_of(process.pid)}


def stop_worker(worker):
    """It has nothing to do, so it ends at once. False: it did not."""
    if is_alive(worker):
        os.kill(worker["pid"], signal.SIGTERM)
    end = time.monotonic() + STOP_S
    while is_alive(worker):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def was_started_here(call, known, name):
    number = name.removeprefix(call["pool"] + "-")
    return number != name and re.fullmatch(r"[1-9][0-9]*", number) and int(number) <= known["last"]


def obey(arguments, call, known):
    """Gives what is wrong with those that did not stop. `known` is what is to be remembered."""
    workers, foreign = known["workers"], set(known.get("foreign", []))
    wrong = []
    for named in call["stoppable"]:
        name = named["worker"]
        if name in workers:
            if not stop_worker(workers[name]):
                wrong.append(f"{name} did not stop in {STOP_S} s")
        elif not was_started_here(call, known, name):
            foreign.add(name)
            wrong.append(f"{name} is not one of those that this hook started: stop it by hand")
    known["foreign"] = sorted(foreign)
    others = max(known["others"] - len(foreign), 0)
    for name in [name for name, worker in workers.items() if not is_alive(worker)]:
        del workers[name]
    while len(workers) + others < call["keep"]:
        known["last"] += 1
        name = f"{call['pool']}-{known['last']}"
        workers[name] = start_worker(arguments, call["pool"], name)
        save(arguments, call["pool"], known)
    return wrong


def memory_of(arguments, pool):
    return pathlib.Path(arguments.dir, pool + ".json")


def load(arguments, pool):
    try:
        return json.loads(memory_of(arguments, pool).read_text())
    except OSError:
        return {"sequence": 0, "last": 0, "others": arguments.others, "workers": {}}


def save(arguments, pool, known):
    path = memory_of(arguments, pool)
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(known))
    fresh.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", required=True, help="configuration of a worker")
    parser.add_argument("--dir", required=True, help="folder for the workers that it starts")
    parser.add_argument("--program", default="rota-worker")
    parser.add_argument("--host", default="127.0.0.1", help="address on which they listen")
    parser.add_argument("--others", type=int, default=0,
                        help="workers of the pool that somebody else started")
    arguments = parser.parse_args()
    call = json.load(sys.stdin)
    os.makedirs(arguments.dir, exist_ok=True)
    with open(pathlib.Path(arguments.dir, call["pool"] + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        known = load(arguments, call["pool"])
        if call["sequence"] < known["sequence"]:
            print(f"{call['sequence']} is older than {known['sequence']}: dropped", file=sys.stderr)
            return 0
        known["sequence"] = call["sequence"]
        wrong = obey(arguments, call, known)
        save(arguments, call["pool"], known)
    if wrong:
        print("; ".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
