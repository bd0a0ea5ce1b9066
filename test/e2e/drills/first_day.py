"""What a new user does on the first day: one drill for each problem that once stopped somebody."""
import csv
import http.server
import io
import json
import threading
import time

from cluster import check, figure, now_ms, wait_until
from documents import at_terminal


def http_submit(cluster):
    """`rota submit --handler http` needs no file."""
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"closed\n")

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"url=http://127.0.0.1:{server.server_port}/close"
        done = cluster.rota("submit", "--handler", "http", "--param", url, "--follow")
        check(done.returncode == 0 and done.stdout == "closed\n", f"{done.returncode} {done.stdout} {done.stderr}")
        missing = cluster.rota("submit", "--handler", "http", "--param", "method=GET")
        check(missing.returncode == 2 and "parameters.url is missing" in missing.stderr, missing.stderr)
    finally:
        server.shutdown()
        server.server_close()


def stale_edit(cluster, folder):
    """An edit that comes while a person reads the plan is not overwritten; the rest is applied and reported."""
    text = "name: edited\ncommand: [/bin/true]\ntimeout: {}\n"
    cluster.apply(text.format("1m"))
    mine = folder + "/edited.yaml"
    with open(mine, "w") as file:
        file.write(json.dumps({"jobs": [{"name": "edited", "command": ["/bin/true"], "timeout": "2m"},
                                        {"name": "beside", "command": ["/bin/true"]}]}))

    def another():
        cluster.apply(text.format("3m"))
        return "y\n"
    words = [cluster.programs + "/rota", "job", "apply", "-f", mine]
    status, out, shown = at_terminal(words, cluster.env, [("[y/N]", another)])
    check(status == 5 and "version 2" in shown and "version 1" in shown, f"exit {status}: {shown}")
    check(out == "beside created (version 1)\n" and "not applied: 1 of 2 jobs" in shown, f"{out} {shown}")
    check("-timeout: 1m" in shown and "+timeout: 2m" in shown, f"no difference is shown: {shown}")
    check(cluster.json("job", "show", "edited")["definition"]["rules"]["timeout_ms"] == 180000, "the other edit stands")
    status, out, shown = at_terminal(words, cluster.env, [("[y/N]", lambda: "y\n")])
    check(status == 0 and "changed (version 3)" in out and "-timeout: 3m" in shown, f"exit {status}: {out} {shown}")
    cluster.ok("job", "delete", "--yes", "beside")


def deleting(cluster):
    refused = cluster.rota("job", "delete", "edited")
    check(refused.returncode == 2 and "--yes" in refused.stderr, refused.stderr)
    check(cluster.json("job", "show", "edited")["state"] == "enabled", "it is still there")
    rota = [cluster.programs + "/rota", "job", "delete", "edited"]
    status, _, shown = at_terminal(rota, cluster.env, [("[y/N]", lambda: "n\n")])
    check(status == 2 and "Delete job edited" in shown, shown)
    status, out, _ = at_terminal(rota, cluster.env, [("[y/N]", lambda: "y\n")])
    check(status == 0 and "edited deleted" in out, out)
    check(cluster.rota("job", "delete", "edited").returncode == 3, "it is gone, and nobody is asked")


def brought_back(cluster):
    """An undeleted job is as it was before, paused or not; ticks of the time between are not made up for."""
    every = "name: edited\nschedule: '@every 200ms'\noverlap: allow\ncommand: [/bin/true]\n"
    back = cluster.json("job", "undelete", "edited")
    check((back["version"], back["state"]) == (4, "enabled"), back)
    check(cluster.rota("job", "undelete", "edited").returncode == 3, "it is deleted no more")
    cluster.apply(every)
    time.sleep(1)
    cluster.ok("job", "pause", "edited", "--why", "holidays")
    cluster.ok("job", "delete", "--yes", "edited")
    done = cluster.rota("job", "undelete", "edited")
    check(done.returncode == 0 and "paused)" in done.stdout and "not be made up for" in done.stderr, done.stderr)
    cluster.ok("job", "resume", "edited")
    began = now_ms()
    wait_until(lambda: any(run["scheduled_at_ms"] > began for run in cluster.runs("edited", limit=5)), 10, "it fires")
    cluster.ok("job", "delete", "--yes", "edited")
    time.sleep(2)
    cluster.ok("job", "undelete", "edited")
    back_at = now_ms()
    wait_until(lambda: any(run["scheduled_at_ms"] > back_at for run in cluster.runs("edited", limit=5)), 10, "again")
    cluster.ok("job", "delete", "--yes", "edited")
    moments = [run["scheduled_at_ms"] for run in cluster.runs("edited")]
    check(not [at for at in moments if back_at - 1500 < at < back_at - 300], "ticks of the time between were made up")
    cluster.apply(every)
    check(cluster.rota("job", "undelete", "edited").returncode == 5, "another has its name")
    cluster.ok("job", "delete", "--yes", "edited")


def paused_with_runs(cluster):
    cluster.apply("name: long\noverlap: allow\ncommand: [/bin/sleep, '60']\n")
    runs = [cluster.ok("job", "run", "long").strip() for _ in range(2)]
    cluster.await_started(runs)
    done = cluster.rota("job", "pause", "long")
    check("2 of its runs have already fired" in done.stderr, done.stderr)
    check("Its job is paused" in cluster.ok("run", "why", runs[0]), "and run why says so")
    refused = cluster.rota("job", "pause", "--cancel-running", "long")
    check(refused.returncode == 2 and cluster.run(runs[0])["state"] in ("dispatched", "running"),
          refused.stderr)
    rota = [cluster.programs + "/rota", "job", "pause", "--cancel-running", "long"]
    status, _, shown = at_terminal(rota, cluster.env, [("[y/N]", lambda: "y\n")])
    check(status == 0 and "its 2 unfinished runs" in shown, shown)
    check([cluster.await_run(run)["state"] for run in runs] == ["killed", "killed"], "they are ended")
    cluster.ok("job", "delete", "--yes", "long")


def skipped_by_hand(cluster):
    cluster.apply("name: long\ncommand: [/bin/sleep, '60']\n")
    first = cluster.ok("job", "run", "long").strip()
    done = cluster.rota("job", "run", "long")
    check(done.returncode == 12 and "was skipped" in done.stderr, f"{done.returncode}: {done.stderr}")
    check(cluster.rota("job", "run", "long", "--wait").returncode == 12, "also when it was waited for")
    cluster.ok("run", "cancel", first)
    cluster.ok("job", "delete", "--yes", "long")


def many_jobs(cluster, count):
    """More jobs than one call takes, in a file that is longer than one message may be."""
    text = json.dumps({"jobs": [{"name": f"many-{i}", "command": ["/bin/true"], "description": "x" * 3900}
                                for i in range(count)]})
    check(len(text) > 4 << 20, "the file is long")
    began = time.monotonic()
    done = cluster.rota("--namespace", "many", "job", "apply", "--yes", "-f", "-", input=text, timeout=120)
    check(done.returncode == 0 and done.stdout.count(" created ") == count, f"{done.returncode} {done.stderr[-300:]}")
    check(f"applied {count} of {count} jobs" in done.stderr, done.stderr[-300:])
    return time.monotonic() - began


def many_runs(cluster, count):
    """Pages of a list are put together by the command itself."""
    cluster.apply("name: often\noverlap: allow\nschedule: '@every 100ms'\ncommand: [/bin/true]\n")
    listed = []
    for _ in range(600):
        listed = cluster.json("run", "list", "--all", "--job", "often")
        if len(listed) > count:
            break
        time.sleep(1)
    cluster.ok("job", "delete", "--yes", "often")
    check(len(listed) > count, f"only {len(listed)} runs")
    check(len({run["id"] for run in listed}) == len(listed), "no run stands twice")
    some = cluster.json("run", "list", "--limit", str(count + 1), "--job", "often")
    check(len(some) == count + 1, f"{len(some)} rows of {count + 1}")
    rows = list(csv.DictReader(io.StringIO(cluster.ok("-o", "csv", "run", "list", "--limit", "5", "--job", "often"))))
    check(len(rows) == 5 and all(row["id"].isdigit() and row["state"] for row in rows), f"{rows}")
    return len(listed)


def silent_database(cluster):
    """A failed request shows the true cause and who reported it; a read never claims to be done or not."""
    silent = "the database does not answer since "
    words = ["--deadline", "10s"]
    cluster.kill("mariadb", "-STOP")
    try:
        wait_until(lambda: silent in cluster.rota(*words, "run", "list").stderr, 30, "a read tells of the silence")
        for question in (["run", "list"], ["job", "list"], ["submit", "--", "/bin/true"]):
            done = cluster.rota(*words, *question)
            check(done.returncode != 0 and silent in done.stderr and "(said by 127.0.0.1:" in done.stderr,
                  f"{question}: exit {done.returncode}: {done.stderr}")
            check("may or may not" not in done.stderr or question[0] == "submit", f"{question}: {done.stderr}")
    finally:
        cluster.kill("mariadb", "-CONT")
    wait_until(cluster.is_whole, 60, "all are here again")


def nobody_there(cluster):
    """Each unreachable master is named with its own error."""
    done = cluster.rota("--masters", "127.0.0.1:1,127.0.0.1:2", "--deadline", "2s", "run", "list")
    named = all(f"127.0.0.1:{port} is not reachable: " in done.stderr for port in (1, 2))
    check(done.returncode == 7 and named, f"exit {done.returncode}: {done.stderr}")


def all_of_them(cluster, folder):
    http_submit(cluster)
    stale_edit(cluster, folder)
    deleting(cluster)
    brought_back(cluster)
    paused_with_runs(cluster)
    skipped_by_hand(cluster)
    nobody_there(cluster)
    seconds = many_jobs(cluster, 1200)
    rows = many_runs(cluster, 1005)
    silent_database(cluster)
    figure("first_day", jobs_in_one_file=1200, seconds=f"{seconds:.1f}", runs_listed=rows)
