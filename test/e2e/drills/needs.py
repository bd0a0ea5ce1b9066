"""Runs with slots and needs on one real worker of 4 slots and 2 GiB, by the runs' own ledger, while leaders die."""
import json
import time

from cluster import Cluster, check, figure, wait_until

SLOTS, MEMORY = 4, 2048
SET = [f"worker.slots={SLOTS}", f"worker.offers.memory={MEMORY}MiB", "worker.offers.gpu=1"]
LEDGER = ('echo "b $(date +%s%N) $ROTA_RUN_ID.$ROTA_ATTEMPT {2} {3}" >> {0}; sleep {1}; '
          'echo "e $(date +%s%N) $ROTA_RUN_ID.$ROTA_ATTEMPT {2} {3}" >> {0}')
# name: slots, MiB of memory, seconds
KINDS = {"narrow": (1, 0, 0.4), "two": (2, 0, 0.3), "memory": (1, 900, 0.5), "both": (2, 1100, 0.3)}
WHOLE = ("whole", SLOTS, MEMORY, 0.2)


def all_of_them(programs, scratch, runs):
    cluster = Cluster(scratch + "/needs", programs, masters=2, workers=1, set=SET)
    cluster.up()
    try:
        wait_until(lambda: cluster.workers_here(), 60, "the worker is here")
        told(cluster)
        refused(cluster)
        competing(cluster, scratch, runs)
    finally:
        cluster.down()


def job(cluster, ledger, name, slots, memory, seconds):
    needs = {"memory": f"{memory}MiB"} if memory else {}
    cluster.apply(json.dumps({"name": name, "slots": slots, "needs": needs, "overlap": "allow",
                              "command": LEDGER.format(ledger, seconds, slots, memory)}))


def told(cluster):
    """What the worker offers, in words and as JSON."""
    text = cluster.ok("worker", "show", "worker-1")
    check("memory 2GiB, 0 in use" in text and "gpu 1, 0 in use" in text, text)
    row = cluster.json("worker", "list")[0]
    check(row["offers"] == {"memory": MEMORY << 20, "gpu": 1} and row["used_slots"] == 0, f"{row}")


def refused(cluster):
    """What no worker has as a whole: the reason, what the worker has, and the remedy."""
    for name, asked, words in (("too-big", {"needs": {"memory": "4GiB"}}, "memory 4GiB"),
                               ("too-wide", {"slots": 5}, "5 slots"), ("unknown", {"needs": {"licence": 1}}, "licence 1")):
        cluster.apply(json.dumps({"name": name, "command": ["true"], **asked}))
        run = cluster.ok("job", "run", name).strip()
        why = wait_until(lambda: (lambda text: words in text and text)(cluster.ok("run", "why", run)), 20, "why it waits")
        check("has what it needs" in why and "worker.yaml" in why and "worker worker-1 has 4 slots" in why, why)
        cluster.ok("run", "cancel", run)


def most_at_once(lines):
    """Slots and memory between b and e lines, in the order of their times."""
    alive, slots, memory = {}, 0, 0
    for what, at, who, takes, needs in sorted((line.split() for line in lines), key=lambda words: int(words[1])):
        if what == "b":
            alive[who] = (int(takes), int(needs))
        else:
            alive.pop(who, None)
        slots = max(slots, sum(one[0] for one in alive.values()))
        memory = max(memory, sum(one[1] for one in alive.values()))
    return slots, memory


def begun_after(lines, run):
    """How many other runs began after this one."""
    begun = sorted((int(at), who.split(".")[0]) for what, at, who, *_ in map(str.split, lines) if what == "b")
    first = next(at for at, who in begun if who == run)
    return len({who for at, who in begun if at > first and who != run})


def competing(cluster, scratch, runs):
    ledger = scratch + "/needs.ledger"
    for name, shape in KINDS.items():
        job(cluster, ledger, name, *shape)
    job(cluster, ledger, *WHOLE)
    began = time.monotonic()
    started = [cluster.ok("job", "run", list(KINDS)[i % len(KINDS)]).strip() for i in range(runs // 2)]
    whole = cluster.ok("job", "run", "whole").strip()
    started += [cluster.ok("job", "run", "narrow").strip() for i in range(runs // 2)]
    why = wait_until(lambda: (lambda text: "is kept for it" in text and text)(cluster.ok("run", "why", whole))
                     or cluster.run(whole)["state"] != "queued", 60, "a worker is kept for the wide run")
    check(why is True or "4 slots, memory 2GiB" in why, why)
    cluster.kill("leader")
    ended_whole = cluster.await_run(whole, 180)
    cluster.kill("leader")
    ended = [cluster.await_run(run, 240) for run in started]
    wrong = [run for run in ended + [ended_whole] if run["state"] != "succeeded"]
    check(not wrong, f"{len(wrong)} runs did not succeed: {wrong[:2]}")
    lines = open(ledger).read().splitlines()
    slots, memory = most_at_once(lines)
    left = begun_after(lines, whole)
    figure("needs", runs=len(started) + 1, slots=SLOTS, most_slots=slots, memory_mib=MEMORY, most_memory_mib=memory,
           begun_after_the_wide_run=left, seconds=round(time.monotonic() - began, 1))
    check(slots <= SLOTS, f"runs took {slots} of {SLOTS} slots at once")
    check(memory <= MEMORY, f"runs took {memory} of {MEMORY} MiB at once")
    check(slots == SLOTS and memory > MEMORY // 2, f"never more than {slots} slots and {memory} MiB were in use")
    check(left > 0, "the wide run came last of all")
    cluster.verify()
