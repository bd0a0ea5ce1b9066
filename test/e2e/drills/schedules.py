"""Runs the examples of docs/schedules.md as they stand, and compares what is printed. Entries that are due at once, what can
never fire, what ends a job by its rules, fixed delays."""
import pages
from cluster import check, figure, wait_until


def told(cluster, folder):
    """A run of two entries that are due at once is one, and knows both."""
    ledger = folder + "/entries"
    cluster.apply(f"""name: entries
command: 'echo "$ROTA_TICK_MS $ROTA_SCHEDULE" >> {ledger}'
overlap: allow
schedule:
  - {{name: two, every: 2s, start: "2026-01-01T00:00:00Z"}}
  - {{name: four, cron: "*/4 * * * * *"}}
""")

    def lines():
        try:
            return [line.split() for line in open(ledger)]
        except FileNotFoundError:
            return []
    wait_until(lambda: len(lines()) >= 6, 30, "six runs of entries")
    cluster.ok("job", "delete", "--yes", "entries")
    for tick, names in lines():
        expected = "two,four" if int(tick) % 4000 == 0 else "two"
        check(names == expected, f"tick {tick} is told {names} instead of {expected}")
    ticks = [tick for tick, _ in lines()]
    check(len(ticks) == len(set(ticks)), f"a tick ran twice: {ticks}")
    return len(ticks)


def refused(cluster):
    done = cluster.rota("job", "apply", "--yes", "-f", "-", input="""name: never
command: [x]
schedule: {cron: "0 9 * * *", between: "10:00-11:00"}
""")
    check(done.returncode != 0 and "<stdin>:3:11 job never: schedule[0] can never fire" in done.stderr,
          f"what never fires: {done.stderr}")
    wrong = cluster.rota("job", "apply", "--yes", "-f", "-", input="jobs:\n- {name: a, command: [x], schedule: '0 25 * * *'}\n")
    check(wrong.returncode == 2 and "<stdin>:2:37 job a: cron '0 25 * * *': column 3, hour: 25 is out of range" in wrong.stderr,
          f"a wrong cron is told with its place: {wrong.stderr}")


ENDS = {
    "firings: 2": ("true", "done: it has fired 2 times (firings)"),
    "until: success": ("true", "done: a run has succeeded (until: success)"),
    "pause_after_failures: 2": ("exit 1", "2 runs in a row did not succeed (pause_after_failures)"),
}


def ended(cluster):
    """Jobs that their rules end say so, and fire no more; once resumed they count anew."""
    for number, (rule, (work, why)) in enumerate(ENDS.items()):
        name = f"ends-{number}"
        cluster.apply(f"name: {name}\ncommand: '{work}'\nschedule: '@every 1s'\n{rule}\n")
        wait_until(lambda: cluster.json("job", "show", name)["state"] == "paused", 30, f"{rule}: the job is over")
        shown = cluster.json("job", "show", name)
        check((shown["state_by"], shown["state_why"]) == ("rota", why), f"{rule}: job show says {shown}")
        runs = cluster.json("run", "list", "--job", name)
        check(len(runs) <= 2, f"{rule}: {len(runs)} runs")
        cluster.ok("job", "resume", name)
        wait_until(lambda: len(cluster.json("run", "list", "--job", name)) > len(runs), 30, f"{rule}: it goes on")
        cluster.ok("job", "delete", "--yes", name)


def delayed(cluster, folder):
    """A fixed delay: between the end of a run and the start of the next lie two seconds at least."""
    ledger = folder + "/delayed"
    cluster.apply(f"""name: delayed
command: 'echo begin $(date +%s%3N) >> {ledger}; sleep 1; echo end $(date +%s%3N) >> {ledger}'
schedule: {{after_end: 2s}}
""")

    def moments():
        try:
            return [int(line.split()[1]) for line in open(ledger)]
        except FileNotFoundError:
            return []
    wait_until(lambda: len(moments()) >= 8, 60, "four runs after each other")
    cluster.ok("job", "delete", "--yes", "delayed")
    pauses = [begin - end for end, begin in zip(moments()[1::2], moments()[2::2])]
    check(all(1_900 <= pause <= 4_000 for pause in pauses), f"pauses between runs: {pauses}")
    return len(pauses)


def run_all(cluster, folder):
    examples = pages.documented(cluster, "docs/schedules.md", folder + "/pages-schedules")
    refused(cluster)
    ended(cluster)
    pauses = delayed(cluster, folder)
    ticks = told(cluster, folder)
    verify = cluster.rota("verify")
    check(verify.returncode == 0, f"verify: {verify.stdout} {verify.stderr}")
    figure("schedules", examples=examples, ticks_told=ticks, fixed_delays=pauses)
