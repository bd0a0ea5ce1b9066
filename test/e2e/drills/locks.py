"""`rota lock`: whichever of its two processes is killed, its command is gone before another one has the lock."""
import collections
import os
import signal
import subprocess
import sys
import time

from cluster import check, figure, wait_until

# Writes who is alive, by a clock that all processes of this machine share. It ignores every signal that can be
# ignored. It has a child in the same session and an orphan in a session of its own, both with only the ledger open.
NASTY = """
import os, signal, sys, time
ledger = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
def live(who):
    os.write(ledger, f"{sys.argv[2]} {who} {os.getpid()} {time.monotonic():.6f} in\\n".encode())
    while True:
        os.write(ledger, f"{sys.argv[2]} {who} {os.getpid()} {time.monotonic():.6f}\\n".encode())
        time.sleep(0.005)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if "forks" in sys.argv[3:]:
    if os.fork() == 0:
        live("child")
if "leaves" in sys.argv[3:]:
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        if os.fork() > 0:
            os._exit(0)
        live("orphan")
live("main")
"""
KINDS = {"plain": ["main"], "forks": ["main", "child"], "leaves": ["main", "orphan"],
         "forks leaves": ["main", "child", "orphan"]}


def lock(cluster, *words, **how):
    """In a session of its own: a SIGHUP to its process group must not end the drill."""
    return subprocess.Popen([cluster.programs + "/rota", "lock", *words], env=cluster.env, text=True,
                            start_new_session=True, **how)


def lines_of(ledger):
    """(holder, process, pid, moment) of each line."""
    if not os.path.exists(ledger):
        return []
    with open(ledger) as file:
        return [line.split() for line in file.read().splitlines()]


def begun(ledger, whose):
    return {line[1] for line in lines_of(ledger) if line[0] == whose and line[-1] == "in"}


def alive_with(word):
    done = subprocess.run(["pgrep", "-f", word], capture_output=True, text=True)
    return [pid for pid in done.stdout.split() if int(pid) != os.getpid()]


def guardian_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    check(len(children) == 1, f"the front of `rota lock` has one child: {children}")
    return int(children[0])


def strike(holder, target):
    if target == "guardian":
        return os.kill(guardian_of(holder.pid), signal.SIGKILL)
    if target == "group":
        return os.killpg(holder.pid, signal.SIGKILL)
    holder.kill()


def round_of(cluster, ledger, number, kind, target):
    """Seconds from the kill to the next holder's first line."""
    nasty = [sys.executable, "-c", NASTY, ledger]
    holder = lock(cluster, "nasty", "--ttl", "4s", "--wait", "--", *nasty, f"first-{number}", *kind.split(),
                  stderr=subprocess.DEVNULL)
    wait_until(lambda: begun(ledger, f"first-{number}") == set(KINDS[kind]), 20, f"all of '{kind}' live")
    waiter = lock(cluster, "nasty", "--ttl", "4s", "--wait", "--", *nasty, f"second-{number}")
    try:
        time.sleep(0.3)
        check(not begun(ledger, f"second-{number}"), "nobody else has the lock yet")
        struck = time.monotonic()
        strike(holder, target)
        wait_until(lambda: begun(ledger, f"second-{number}"), 20, "the next one has the lock")
        lines = lines_of(ledger)
        first = max(float(line[3]) for line in lines if line[0] == f"first-{number}")
        second = min(float(line[3]) for line in lines if line[0] == f"second-{number}")
        check(first < second, f"round {number}, {kind}, {target}: two at once for {first - second:.3f} s")
        time.sleep(0.1)
        check(len(lines_of(ledger)) > len(lines), "the second one goes on")
        late = [line for line in lines_of(ledger) if line[0] == f"first-{number}" and float(line[3]) >= second]
        check(not late, f"round {number}, {kind}, {target}: it lives on: {late[:2]}")
        return second - struck
    finally:
        waiter.kill()
        for process in (holder, waiter):
            process.wait(30)


def killed(cluster, folder, rounds):
    """The front, its whole group, or the guardian ends by SIGKILL; the command ignores signals, forks, and leaves its
    session."""
    ledger = os.path.join(folder, "nasty.ledger")
    kinds, targets = list(KINDS), ["front", "group", "front", "guardian", "front"]
    took = collections.defaultdict(list)
    for number in range(rounds):
        target = targets[number % len(targets)]
        took[target].append(round_of(cluster, ledger, number, kinds[number % len(kinds)], target))
    wait_until(lambda: not alive_with(ledger), 20, "nothing of the last round lives")
    figure("lock_killed", rounds=rounds, overlaps=0,
           **{f"{target}_worst_s": f"{max(times):.2f}" for target, times in took.items()})


def left_behind(cluster):
    """Processes that a command leaves behind are gone before the lock is released; its exit status is unchanged."""
    done = cluster.rota("lock", "behind", "--", "/bin/sh", "-c", "setsid sleep 600 & exit 9")
    check(done.returncode == 9 and "left processes behind, which were ended: 1" in done.stderr,
          f"exit {done.returncode}: {done.stderr}")
    done = cluster.rota("lock", "behind", "--", "/bin/sh", "-c", "(sleep 0.05; echo late) & exit 0")
    check(done.returncode == 0 and done.stdout == "late\n" and not done.stderr, f"{done.stdout} {done.stderr}")


def stopped_guardian(cluster):
    """A stopped guardian loses its session: the front ends the command in time."""
    holder = lock(cluster, "still", "--ttl", "4s", "--", "/bin/sh", "-c", "trap '' TERM; echo in; sleep 600; sleep 600",
                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(holder.stdout.readline() == "in\n", "the command has the lock")
    began = time.monotonic()
    os.kill(guardian_of(holder.pid), signal.SIGSTOP)
    _, complaint = holder.communicate(timeout=60)
    check(holder.returncode == 7 and "stood still" in complaint, f"exit {holder.returncode}: {complaint}")
    figure("lock_guardian_stopped", ttl_s=4, ended_after_s=f"{time.monotonic() - began:.2f}")


def spares_its_group(cluster, folder, rounds):
    """Other programs in the process group of `rota lock`, such as its caller's, get no SIGHUP when its command is
    ended."""
    ledger = os.path.join(folder, "group.ledger")
    for number in range(rounds):
        word, whose = f"600.{number:03}", f"group-{number}"
        holder = subprocess.Popen(
            ["/bin/sh", "-c", f'sleep {word} & exec "$@"', "sh", cluster.programs + "/rota", "lock", "group", "--ttl", "4s",
             "--wait", "--", sys.executable, "-c", NASTY, ledger, whose, "forks"], env=cluster.env, start_new_session=True)
        wait_until(lambda: begun(ledger, whose) == {"main", "child"}, 20, "the command and its child live")
        holder.kill()
        holder.wait(30)
        wait_until(lambda: not alive_with(f"{ledger} {whose} "), 20, "nothing of the command lives")
        time.sleep(0.05)  # for a signal on its way
        witness = alive_with(f"^sleep {word}$")
        check(len(witness) == 1, f"round {number}: the caller's process group was hung up")
        os.kill(int(witness[0]), signal.SIGKILL)
    figure("lock_group", rounds=rounds, hung_up=0)


def all_of_them(cluster, folder, rounds):
    killed(cluster, folder, rounds)
    spares_its_group(cluster, folder, rounds)
    left_behind(cluster)
    stopped_guardian(cluster)
