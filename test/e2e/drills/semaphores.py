"""Runs of several jobs share the tokens of a semaphore, by their own ledger, while leaders and a worker die."""
import json
import time

from cluster import check, figure, wait_until

RUNS = 40
TOKENS = 3
LEDGER = ('echo "b $(date +%s%N) $ROTA_RUN_ID.$ROTA_ATTEMPT {2}" >> {0}; sleep {1}; '
          'echo "e $(date +%s%N) $ROTA_RUN_ID.$ROTA_ATTEMPT {2}" >> {0}')


def all_of_them(cluster, scratch, runs=RUNS):
    refused(cluster)
    competing(cluster, scratch, runs)


def refused(cluster):
    done = cluster.rota("job", "apply", "--yes", "-f", "-", input=json.dumps({"name": "nobody", "uses": {"nothing": 1}, "command": ["true"]}))
    check(done.returncode != 0 and "rota semaphore set nothing COUNT" in done.stderr, f"an unknown semaphore: {done.stderr}")
    cluster.ok("semaphore", "set", "one", "1")
    done = cluster.rota("job", "apply", "--yes", "-f", "-", input=json.dumps({"name": "nobody", "uses": {"one": 2}, "command": ["true"]}))
    check(done.returncode != 0 and "more than it has (1)" in done.stderr, f"more than there are: {done.stderr}")
    cluster.ok("semaphore", "delete", "--yes", "one")
    check(cluster.rota("semaphore", "show", "one").returncode == 3, "a deleted semaphore is not found")


def with_cut_ends(lines, killed_at_ns):
    """The lines, and an e line for each attempt that has none: its worker's host was killed then."""
    ended = {line.split()[2] for line in lines if line.startswith("e ")}
    cut = [line.split() for line in lines if line.startswith("b ") and line.split()[2] not in ended]
    late = [words for words in cut if int(words[1]) > killed_at_ns + 1_000_000_000]
    check(not late, f"attempts have no end though nothing was killed after them: {late}")
    return lines + [f"e {max(killed_at_ns, int(words[1]))} {words[2]} {words[3]}" for words in cut], len(cut)


def most_at_once(lines):
    """Tokens, and runs, between b and e lines, in the order of their times."""
    alive, tokens, runs = {}, 0, 0
    for what, at, who, takes in sorted((line.split() for line in lines), key=lambda words: int(words[1])):
        if what == "b":
            alive[who] = int(takes)
        else:
            alive.pop(who, None)
        tokens, runs = max(tokens, sum(alive.values())), max(runs, len(alive))
    return tokens, runs


def competing(cluster, scratch, runs):
    ledger = scratch + "/tokens"
    cluster.ok("semaphore", "set", "shared", str(TOKENS))
    for name in ("first", "second"):
        cluster.apply(json.dumps({
            "name": "tokens-" + name, "uses": {"shared": 1}, "overlap": "allow", "retry": {"count": 0},
            "command": LEDGER.format(ledger, 0.3, 1)}))
    cluster.apply(json.dumps({"name": "tokens-all", "uses": {"shared": TOKENS}, "overlap": "allow",
                              "command": LEDGER.format(ledger, 0.1, TOKENS)}))
    began = time.monotonic()
    started = []
    for i in range(runs):
        started.append(cluster.ok("job", "run", "tokens-" + ("first", "second")[i % 2]).strip())
        if i == runs // 4:
            started.append(cluster.ok("job", "run", "tokens-all").strip())
    waiting = wait_until(lambda: cluster.json("semaphore", "show", "shared")["lines"], 20, "runs stand in line")
    why = wait_until(lambda: (lambda text: "semaphore shared" in text and text)(
        cluster.ok("run", "why", str(waiting[0]["run"]))), 20, "run why names the semaphore")
    check("tokens are held" in why or "before it in line" in why, why)
    cluster.kill("leader")
    time.sleep(2)
    busy = wait_until(lambda: [one["id"] for one in cluster.json("worker", "list") if one["running"]], 20,
                      "a worker runs some of them")[0]
    killed_at_ns = int(cluster.kill(busy + ".host")["at_ms"]) * 1_000_000
    cluster.kill("leader")
    ended = [cluster.await_run(run, 180) for run in started]
    wrong = [run for run in ended if run["state"] != "succeeded"]
    check(not wrong, f"{len(wrong)} runs did not succeed: {wrong[:2]}")
    lines, cut = with_cut_ends(open(ledger).read().splitlines(), killed_at_ns)
    tokens, runs_at_once = most_at_once(lines)
    info = wait_until(lambda: (lambda one: one["held"] == 0 and one)(cluster.json("semaphore", "show", "shared")), 20,
                      "all tokens are free")
    figure("semaphores", runs=len(started), tokens=TOKENS, most_at_once=tokens, waiting=info["waiting"], cut_with_worker=cut,
           seconds=round(time.monotonic() - began, 1))
    check(tokens <= TOKENS, f"runs held {tokens} of {TOKENS} tokens at once")
    check(runs_at_once == TOKENS, f"only {runs_at_once} runs of one token each were ever alive at once")
    cluster.verify()
    cluster.script("start", busy)
    wait_until(lambda: any(one["id"] == busy and one["state"] in ("online", "busy", "warning")
                           for one in cluster.json("worker", "list")), 30, f"{busy} is back")
