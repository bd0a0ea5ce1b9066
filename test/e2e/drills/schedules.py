"""Runs the examples of docs/schedules.md as they stand: each job is applied, and what `rota job next` prints is compared."""
import re

from cluster import ROOT, check, figure, wait_until

PAGE = ROOT / "docs/schedules.md"
EXAMPLE = re.compile(r"^```yaml\n(.*?)^```\n+```text\n\$ (rota [^\n]*)\n(.*?)^```", re.S | re.M)


def examples():
    """(job file, command, output) of each."""
    return EXAMPLE.findall(PAGE.read_text())


def documented(cluster):
    for job, command, expected in examples():
        cluster.apply(job)
        words = command.split()[1:]
        shown = cluster.ok(*words)
        check(shown == expected, f"{command}: shows\n{shown}instead of\n{expected}")
        cluster.ok("job", "delete", "--yes", words[2])


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
    check(done.returncode != 0 and "schedule[0] can never fire" in done.stderr, f"what never fires: {done.stderr}")


def run_all(cluster, folder):
    documented(cluster)
    refused(cluster)
    ticks = told(cluster, folder)
    verify = cluster.rota("verify")
    check(verify.returncode == 0, f"verify: {verify.stdout} {verify.stderr}")
    figure("schedules", examples=len(examples()), ticks_told=ticks)
