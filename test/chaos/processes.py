"""Processes of the run: identifies them, starts them detached, signals them and finds them again.

A process is identified by its pid and its start time, so that no other process with that pid gets a signal."""
import os
import signal
import subprocess
import time

# This environment variable identifies a process of the run even when every record is lost.
MARK = "PRIVATE_CHAOS_FOLDER"


def now_ms():
    return time.time_ns() // 1_000_000


def read_stat(pid):
    """(state, parent, start ticks) of a process, or None when there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rsplit(b") ", 1)[1].split()
        return fields[0].decode(), int(fields[1]), int(fields[19])
    except (OSError, IndexError):
        return None


def parent_of(pid):
    stat = read_stat(pid)
    return stat[1] if stat else None


def identity(pid):
    stat = read_stat(pid)
    return (pid, stat[2]) if stat else None


def is_alive(who):
    """A zombie counts as dead."""
    stat = read_stat(who[0]) if who else None
    return bool(stat) and stat[2] == who[1] and stat[0] not in "ZX"


GONE = "-"


def state_of(who):
    stat = read_stat(who[0])
    return stat[0] if stat and stat[2] == who[1] else GONE


def send(who, number):
    """Signals exactly that process; False when it is gone."""
    if not is_alive(who):
        return False
    try:
        os.kill(who[0], number)
        return True
    except ProcessLookupError:
        return False


def read_identity(path):
    """The pid and start time that a watchdog recorded, or None."""
    try:
        with open(path, encoding="ascii") as file:
            pid, ticks = file.read().split()
        return int(pid), int(ticks)
    except (OSError, ValueError):
        return None


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def maps_of(who):
    """The files that the process has loaded; empty when it does not exist, or ends meanwhile."""
    if not who:
        return ""
    try:
        with open(f"/proc/{who[0]}/maps", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def all_processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def family(top):
    """[(pid, start ticks)] of the process and all its descendants, parents first."""
    children = {}
    for pid in all_processes():
        stat = read_stat(pid)
        if stat:
            children.setdefault(stat[1], []).append((pid, stat[2]))
    found, queue = [], [top] if is_alive(top) else []
    while queue:
        one = queue.pop(0)
        found.append(one)
        queue += children.get(one[0], [])
    return found


def marked(folder):
    """The processes that have the folder's mark in their environment."""
    wanted = f"{MARK}={folder}".encode()
    found = []
    for pid in all_processes():
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(identity(pid))
        except OSError:
            continue
    return [who for who in found if who and who[0] != os.getpid() and is_alive(who)]


def wait_gone(everyone, seconds):
    """The processes that are still alive after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        alive = [who for who in everyone if is_alive(who)]
        if not alive or time.monotonic() >= end:
            return alive
        time.sleep(0.02)


def wait_until(question, seconds):
    """The first true answer, or the last one after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        answer = question()
        if answer or time.monotonic() >= end:
            return answer
        time.sleep(0.1)


class Starter:
    """Starts processes in sessions of their own, with the run's mark and without our descriptors."""

    def __init__(self, folder):
        self.folder = str(folder)
        self.children = []  # ours, to be reaped

    def environment(self, **more):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("ROTA_")}
        path = kept.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
        return {**kept, "PATH": path, MARK: self.folder, **more}

    def start(self, words, log, **more):
        """Identity of the started process."""
        self.children = [child for child in self.children if child.poll() is None]
        with open(log, "ab") as out:
            child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     start_new_session=True, cwd=self.folder,
                                     env=self.environment(**more))
        self.children.append(child)
        return identity(child.pid)

    def reap(self):
        for child in self.children:
            child.poll()


def run(words, timeout=20, check=True, **more):
    """A tool's output; an error shows its command line and its last lines."""
    done = subprocess.run(words, text=True, capture_output=True, timeout=timeout, errors="replace",
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}, **more)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))[:300]}: exit {done.returncode}: "
                           f"{(done.stderr or done.stdout)[-500:]}")
    return done.stdout


KILL, STOP, CONT, TERM = signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT, signal.SIGTERM
