"""`why` names the check that stops a run or a moment, who holds what it waits for, and a command that works."""
import json
import time

from cluster import Cluster, check, figure, now_ms, wait_until

SET = ["worker.slots=2", "worker-1.labels.zone=sea"]


class Whys:
    def __init__(self, cluster):
        self.cluster, self.seen = cluster, []

    def ok(self, *words, **more):
        return self.cluster.ok(*words, **more).strip()

    def stop_of(self, answer):
        return next((each for each in answer["checks"] or [] if each["verdict"] == "stopped"), None)

    def try_command(self, command):
        words = command.split()
        check(words[:1] == ["rota"], f"a command of rota: {command}")
        done = self.cluster.rota(*words[1:])
        if done.returncode == 2 and "--yes" in done.stderr + done.stdout:
            return "asks first"
        check(done.returncode == 0, f"{command}: {done.returncode} {done.stderr}")
        return "works"

    def in_order(self, checks, stop):
        place = checks.index(stop)
        check(all(each["verdict"] == "passed" for each in checks[:place]), f"before {stop['check']}: {checks[:place]}")
        check(all(each["verdict"] == "not_reached" for each in checks[place + 1:]), f"behind {stop['check']}: {checks}")

    def run_stops(self, run, name, holder="", words=""):
        """Waits until the run stops at that check; returns the check."""
        def found():
            stop = self.stop_of(self.cluster.json("run", "why", run))
            return stop if stop and stop["check"] == name and words in stop["sentence"] else None
        try:
            stop = wait_until(found, 10, f"run {run} stops at {name}")
        except Exception as failure:
            raise type(failure)(f"{failure}: {self.cluster.ok('run', 'why', run)}")
        answer = self.cluster.json("run", "why", run)
        stop = self.stop_of(answer) or stop
        if holder:
            stop = wait_until(lambda: (lambda one: one and any(holder in each for each in one["holders"]) and one)(
                self.stop_of(self.cluster.json("run", "why", run))), 10, f"{name} names {holder}: {stop}")
        self.in_order(answer["checks"], self.stop_of(answer))
        check(answer["decision"]["leader"].startswith("master-"), f"who decided: {answer['decision']}")
        self.note(name, stop)
        return stop

    def moment_stops(self, job, at_ms, name, holder="", words=""):
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at_ms // 1000)) + f".{at_ms % 1000:03d}Z"
        answer = self.cluster.json("job", "why", job, "--at", at)
        stop = self.stop_of(answer)
        check(stop and stop["check"] == name, f"{job} at {at} does not stop at {name}: {self.cluster.ok('job', 'why', job, '--at', at)}")
        check(words in stop["sentence"], f"{words!r} is not in {stop['sentence']!r}")
        check(not holder or any(holder in each for each in stop["holders"]), f"{holder} is not among {stop}")
        self.in_order(answer["checks"], stop)
        self.note(name, stop)
        return stop

    def note(self, name, stop):
        self.seen.append((name, self.try_command(stop["command"])))

    def start(self, job, *options):
        return self.ok("job", "run", job, *options)

    def cancel(self, *runs):
        for run in runs:
            self.cluster.rota("run", "cancel", run)
        for run in runs:
            self.cluster.await_run(run)

    def job(self, name, command="sleep 300", **keys):
        self.cluster.apply(json.dumps({"name": name, "command": command, "overlap": "allow", "retry": {"count": 0}, **keys}))


def coming(job_schedule_s=3600):
    return (now_ms() // 1000 + job_schedule_s) * 1000


def moments(whys):
    """What keeps a moment from firing that is to come, or was."""
    cluster = whys.cluster
    whys.job("hourly", "true", schedule="0 * * * *")
    at = (now_ms() // 3_600_000 + 1) * 3_600_000
    answer = cluster.json("job", "why", "hourly", "--at", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at // 1000)))
    check(answer["what"] == "planned" and whys.stop_of(answer) is None, f"nothing stops it: {answer}")
    whys.moment_stops("hourly", at + 60_000, "due")
    whys.ok("job", "pause", "hourly", "--why", "audit")
    whys.moment_stops("hourly", at, "paused", holder="")
    whys.ok("job", "resume", "hourly")
    frozen = cluster.json("freeze", "--namespace", "default", "--until", "3h", "--why", "release", "--yes")
    whys.moment_stops("hourly", at, "frozen", holder=f"freeze {frozen['id']}", words="release")
    whys.ok("freeze", "end", "--namespace", "default", "--yes")
    day = time.strftime("%Y-%m-%d", time.gmtime(at // 1000 + 86400))
    whys.ok("calendar", "apply", "--yes", "-f", "-", input=json.dumps(
        {"calendars": [{"name": "closed", "exclude": [day]}]}))
    whys.job("calm", "true", schedule={"cron": "0 * * * *", "calendar": "closed"})
    whys.moment_stops("calm", at + 86_400_000, "calendar", holder="calendar closed")
    for job in ("hourly", "calm"):
        whys.ok("job", "delete", "--yes", job)


def limits(whys):
    """Overlap, limits of the pool and the namespace, and a semaphore."""
    cluster = whys.cluster
    whys.job("one", overlap="queue")
    first, second = whys.start("one"), whys.start("one")
    stop = whys.run_stops(second, "overlap", holder=f"run {first}", words="at once: 1")
    check(stop["command"] == f"rota run why {first}", stop)
    whys.cancel(second, first)
    whys.job("ticking", overlap="skip", schedule="@every 1s")
    gap = wait_until(lambda: json.loads(cluster.ok("-o", "json", "job", "gaps", "ticking")), 30, "a tick is skipped")[-1]
    behind = cluster.runs("ticking")[-1]["id"]
    whys.moment_stops("ticking", gap["from_at_ms"], "overlap", holder=f"run {behind}")
    whys.ok("job", "delete", "--yes", "ticking")
    whys.cancel(*[run["id"] for run in cluster.runs("ticking") if run["state"] not in ("succeeded", "failed", "killed")])
    whys.job("limited")
    held = whys.start("limited")
    cluster.await_started([held])
    whys.ok("pool", "set", "default", "--limit", "1")
    waits = whys.start("limited")
    whys.run_stops(waits, "pool_limit", holder=f"run {held}", words="limit 1 of pool default")
    whys.ok("pool", "set", "default", "--clear")
    cluster.await_started([waits])
    whys.ok("namespace", "set", "default", "--max-slots", "2")
    third = whys.start("limited")
    whys.run_stops(third, "namespace_limit", holder=f"run {held}", words="max-slots 2")
    whys.ok("namespace", "set", "default", "--max-slots", "none")
    cluster.await_started([third])
    whys.cancel(held, waits, third)
    whys.ok("semaphore", "set", "licence", "1")
    whys.job("licensed", uses={"licence": 1})
    has = whys.start("licensed")
    cluster.await_started([has])
    wants = whys.start("licensed")
    stop = whys.run_stops(wants, "semaphore", holder=f"run {has}", words="1 of 1 tokens are held")
    check(stop["command"] == "rota semaphore show licence", stop)
    whys.cancel(has, wants)


def turns(whys):
    """The place in line, beside jobs of other priorities."""
    cluster = whys.cluster
    whys.job("crowd")
    runs = [whys.start("crowd") for _ in range(4)]
    cluster.await_started(runs)
    behind = [whys.start("crowd") for _ in range(3)]
    whys.job("urgent", priority=90)
    first = whys.start("urgent")
    place = wait_until(lambda: (lambda told: told and told["waiting"] == 4 and told)(cluster.json("run", "why", behind[2])["place"]), 20,
                       "the leader has published who waits")
    check(place["place"] == 4 and not place["at_least"], f"the third of its job, behind one with priority: {place}")
    whys.run_stops(first, "slot", holder="run ", words="1st of 4 in line for pool default (priority 90;")
    whys.run_stops(behind[0], "slot", words="2nd of 4 in line")
    whys.cancel(first, *behind, *runs)
    order = [run["id"] for run in cluster.runs("crowd")]
    check(set(runs + behind) == set(order), "all runs of the crowd are known")


def workers(whys):
    """No worker, none with the labels, none that knows the handler, all drained, a retry delay."""
    cluster = whys.cluster
    whys.job("homeless", pool="nowhere")
    run = whys.start("homeless")
    whys.run_stops(run, "worker", words='pool "nowhere"')
    whys.cancel(run)
    whys.job("moon", select={"zone": "moon"})
    run = whys.start("moon")
    whys.run_stops(run, "worker", words="0 of 2 workers there have the labels zone=moon")
    whys.cancel(run)
    cluster.apply(json.dumps({"name": "unknown", "handler": "nobody-knows-it", "overlap": "allow"}))
    run = whys.start("unknown")
    whys.run_stops(run, "handler")
    whys.cancel(run)
    whys.job("sea", select={"zone": "sea"})
    whys.ok("worker", "drain", "worker-1", "--yes", "--why", "new disk")
    run = whys.start("sea")
    stop = whys.run_stops(run, "open", holder="worker worker-1 is draining", words="")
    check(stop["command"] == "rota worker resume worker-1", stop)  # which has been tried, so that it works again
    cluster.await_started([run])
    whys.cancel(run)
    whys.job("again", "false", retry={"count": 1, "delay": "10m"})
    run = whys.start("again")
    whys.run_stops(run, "retry", words="That is at ")
    rows = cluster.json("run", "timeline", run)["timeline"]
    check([row["what"] for row in rows] == ["due", "decided", "queued", "sent", "accepted", "started", "ended", "waits until", "recorded"], rows)
    check(rows[2]["at_ms"] is None and rows[-1]["at_ms"] is None, f"what is not known says so: {rows}")
    whys.cancel(run)
    failed = whys.start("again", "--param", "x=1")
    whys.cancel(failed)
    done = cluster.await_run(cluster.submit("/bin/true"))
    rows = cluster.json("run", "timeline", done["id"])["timeline"]
    check(rows[-1]["what"] == "recorded" and rows[-1]["at_ms"] == done["ended_at_ms"], rows)
    broken = cluster.await_run(cluster.submit("/bin/false"))
    whys.run_stops(broken["id"], "end")


def outage(whys):
    """Ticks of an outage: what was missed, skipped or coalesced names the leader that came, and when."""
    cluster = whys.cluster
    keys = {"schedule": "@every 1s", "tick_grace": "500ms"}
    whys.job("gone-once", "true", late="fire_once", **keys)
    whys.job("gone-skip", "true", late="skip", **keys)
    whys.job("gone-behind", "sleep 300", late="fire_once", **{**keys, "overlap": "skip"})
    wait_until(lambda: all(cluster.runs(job) for job in ("gone-once", "gone-skip", "gone-behind")), 30, "they fire")
    cluster.await_started([cluster.runs("gone-behind")[-1]["id"]])
    killed = now_ms()
    for master in ("master-1.host", "master-2.host"):  # another would lead within the grace
        cluster.kill(master)
    time.sleep(5)
    for master in ("master-1", "master-2"):
        cluster.script("start", master)
    wait_until(cluster.leader, 60, "the next leader")

    def gaps(job, *reasons):
        rows = json.loads(cluster.ok("-o", "json", "job", "gaps", job))
        at = [row["to_at_ms"] for row in rows if row["reason"] in reasons]
        return sorted(moment for moment in at if moment > killed)
    skipped = wait_until(lambda: gaps("gone-skip", "late_skipped"), 60, "late ticks are skipped")
    whys.moment_stops("gone-skip", skipped[0], "late")
    missed = wait_until(lambda: gaps("gone-behind", "missed"), 60, "ticks behind a run are missed")
    stop = whys.moment_stops("gone-behind", missed[0], "leader", words="Nobody who led recorded it: master-")
    check(f"(term {cluster.epoch()})" in stop["sentence"], stop)
    once = wait_until(lambda: gaps("gone-once", "coalesced_into"), 60, "late ticks are coalesced")
    stop = whys.moment_stops("gone-once", once[0], "late")
    check(stop["holders"] and stop["holders"][0].startswith("run "), f"the run that stands for it: {stop}")
    for job in ("gone-once", "gone-skip", "gone-behind"):
        whys.ok("job", "delete", "--yes", job)
    return round((missed[0] - killed) / 1000, 1)


def all_of_them(programs, scratch):
    cluster = Cluster(scratch + "/whys", programs, masters=2, workers=2, set=SET)
    try:
        cluster.up()
        whys = Whys(cluster)
        began = time.monotonic()
        for part in (moments, limits, turns, workers, outage):
            part(whys)
        cluster.verify()
        names = sorted({name for name, _ in whys.seen})
        figure("whys", checks=len(names), provoked=len(whys.seen), commands=len([1 for _, how in whys.seen if how == "works"]),
               seconds=round(time.monotonic() - began, 1), names=",".join(names))
    finally:
        cluster.down()
