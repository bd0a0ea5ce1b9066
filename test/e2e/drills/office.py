"""Nobody can lead: a dropped column, an account that may only read, a blocked election, a deleted epoch row. Every
surface of every master says so, with the reason and what to do; done as told, it goes on. And a changed password,
which stops nobody."""
import json
import pathlib
import re
import subprocess
import time
import urllib.error

from cluster import check, figure, wait_until
from eyes import fetch, series
from judged import Store

CLASS_PATH = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"
ROOT_NODE = "/rota/rota"
JOB = "name: led\nschedule: '@every 1s'\nhandler: noop\noverlap: allow\n"


def master_pages(cluster):
    return cluster.env["ROTA_MASTER_PAGES"].split(",")


def healthz(cluster):
    """The health of each master; empty for one that has not opened its page yet."""
    words = []
    for url in master_pages(cluster):
        try:
            words.append(fetch(url + "/healthz")[1].strip())
        except urllib.error.URLError:
            words.append("")
    return words


def surfaces(cluster, says):
    """Where the text appears: on how many masters' health and pages, in the status, a submit's error, the logs."""
    def has(text):
        return re.search(says, text) is not None
    status = cluster.rota("--deadline", "3s", "cluster", "status")
    as_json = cluster.rota("--deadline", "3s", "-o", "json", "cluster", "status")
    submit = cluster.rota("--deadline", "1s", "submit", "--", "/bin/true")
    check(status.returncode == 7 and submit.returncode == 7, f"exits {status.returncode}, {submit.returncode}, not 7")
    pages = master_pages(cluster)
    metrics = [series(fetch(url + "/metrics")[1]) for url in pages]
    return {
        "healthz": sum(word.startswith("degraded") and has(word) for word in healthz(cluster)),
        "page": sum(has(fetch(url + "/")[1]) for url in pages),
        "metrics": sum(m.get("rota_leader_known") == 0 and m.get("rota_seconds_without_leader", 0) >= 10 and
                       any(m.get(f'rota_kept_from_office{{by="{by}"}}') for by in ("database", "takeover", "predecessor"))
                       for m in metrics),
        "status": int(has(status.stdout)),
        "json": int(has(as_json.stdout)),
        "submit": int(has(submit.stderr)),
        "log": sum(has(cluster.log(name)) for name in ("master-1", "master-2")),
    }


EVERYWHERE = {"healthz": 2, "page": 2, "metrics": 2, "status": 1, "json": 1, "submit": 1, "log": 2}


def log_lines(cluster):
    return sum(cluster.log(name).count("\n") for name in ("master-1", "master-2"))


class Led:
    """A job with one tick a second that never skips; at the end all of its ticks have run."""

    def __init__(self, cluster):
        self.cluster = cluster
        cluster.apply(JOB)
        wait_until(lambda: len(cluster.runs("led")) >= 2, 30, "ticks fire")

    def goes_on(self, seconds=60):
        """Waits until ticks after this moment are recorded; returns how long that took."""
        began = time.time()
        wait_until(lambda: any(r["scheduled_at_ms"] > began * 1000 for r in self.runs()), seconds, "ticks go on")
        return round(time.time() - began, 1)

    def runs(self):
        done = self.cluster.rota("-o", "json", "--deadline", "3s", "run", "list", "--job", "led", "--limit", "3")
        return json.loads(done.stdout) if done.returncode == 0 else []

    def end(self):
        self.cluster.ok("job", "pause", "led")
        self.cluster.await_verified()
        report = self.cluster.verify()
        ticks = next(c for c in report["checks"] if c["promise"] == "P1")
        check(ticks["missing"] == 0 and ticks["doubled"] == 0, f"ticks were lost: {ticks}")
        self.cluster.ok("job", "delete", "--yes", "led")
        return ticks


def told_everywhere(cluster, says, name):
    """Waits until each surface says it; returns the seconds until both /healthz did, and the log's lines a second."""
    began, before = time.time(), log_lines(cluster)
    wait_until(lambda: all(w.startswith("degraded") and re.search(says, w) for w in healthz(cluster)), 30,
               f"both masters' health says {says}")
    degraded_after = round(time.time() - began, 1)
    wait_until(lambda: surfaces(cluster, says) == EVERYWHERE, 10, f"{name}: all surfaces say {says}: {surfaces(cluster, says)}")
    seconds = time.time() - began
    while seconds < 25:  # long enough that a line five times a second would show
        time.sleep(1)
        seconds = time.time() - began
    rate = (log_lines(cluster) - before) / seconds
    check(rate < 4, f"{rate:.1f} lines a second in the masters' logs")
    return degraded_after, round(rate, 1)


def remedy(cluster, first_words):
    """The statement that the health of a master names."""
    found = re.search(first_words + r"[^;\n]*", healthz(cluster)[0] + "\n" + healthz(cluster)[1])
    check(found, f"no {first_words} in {healthz(cluster)}")
    return re.sub(r" \(for [^)]* or more\)$", "", found.group(0).strip())


def broken_and_mended(cluster, name, damage, says, first_words, mend=None):
    store, led = Store(cluster), Led(cluster)
    epoch = cluster.epoch()
    store.ask(damage)
    degraded_after, rate = told_everywhere(cluster, says, name)
    statement = remedy(cluster, first_words)
    store.ask((mend or (lambda s: s))(statement))
    back_after = led.goes_on()
    wait_until(lambda: not any("office" in word for word in healthz(cluster)), 30, "nothing keeps anybody from office")
    ticks = led.end()
    figure(name, surfaces="all", degraded_after_s=degraded_after, log_lines_a_second=rate, back_after_s=back_after,
           ticks=ticks["planned"], missing=ticks["missing"], epochs=f"{epoch}/{cluster.epoch()}",
           remedy=statement.replace(" ", "_"))


def dropped_column(cluster):
    broken_and_mended(cluster, "dropped_column", "ALTER TABLE rota.run DROP COLUMN detail",
                      r"column run\.detail is missing", "ALTER TABLE run", lambda s: "USE rota; " + s)


def read_only_account(cluster):
    everyone = "'rota'@'127.0.0.1', 'rota'@'localhost'"
    damage = (f"REVOKE ALL PRIVILEGES ON `rota%`.* FROM {everyone}; GRANT SELECT ON `rota%`.* TO {everyone}; "
              "KILL HARD USER rota")
    try:
        broken_and_mended(cluster, "read_only_account", damage, "GRANT ALL ON", "GRANT ALL ON `rota`")
    finally:
        Store(cluster).ask(f"GRANT ALL ON `rota%`.* TO {everyone}")


def missing_epoch_row(cluster):
    broken_and_mended(cluster, "missing_epoch_row", "DELETE FROM rota.epoch", "table epoch has no row",
                      "INSERT INTO epoch", lambda s: "USE rota; " + s)
    for name in ("master-1", "master-2"):
        log = cluster.log(name)
        check('cluster "" ' not in log and "clock is about 17" not in log, f"{name} takes no row for an answer")
        check("ticks are held" not in log, f"{name} held ticks")


class Stranger:
    """A candidate of somebody else, in a session that stays alive."""

    def __init__(self, cluster):
        address = f"127.0.0.1:{cluster.zookeeper_port()}"
        self.process = subprocess.Popen(
            ["java", "-Xmx64m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", CLASS_PATH,
             "org.apache.zookeeper.ZooKeeperMain", "-server", address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.say(f'create -e -s {ROOT_NODE}/election/n_0123456789abcdef_ {{"id":"stranger"}}')
        for line in self.process.stdout:
            if "Created" in line:
                self.path = line.split()[-1]
                return
        check(False, "the stranger could not stand")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def go(self):
        self.process.kill()
        self.process.wait()


def blocked_election(cluster):
    led = Led(cluster)
    for name in ("master-1", "master-2"):
        cluster.script("stop", name)
    stranger = Stranger(cluster)
    try:
        for name in ("master-1", "master-2"):
            cluster.script("start", name)
        degraded_after, rate = told_everywhere(cluster, f"stands behind .*{stranger.path.split('/')[-1]}|stands behind master-",
                                               "blocked_election")
        named = sum(stranger.path in word for word in healthz(cluster))
        check(named == 2, f"the node is not named by both: {healthz(cluster)}")
    finally:
        stranger.go()
    back_after = led.goes_on()
    ticks = led.end()
    figure("blocked_election", surfaces="all", degraded_after_s=degraded_after, log_lines_a_second=rate,
           back_after_s=back_after, ticks=ticks["planned"], missing=ticks["missing"])


def change_password(cluster, store, to):
    store.ask(f"ALTER USER 'rota'@'127.0.0.1' IDENTIFIED BY '{to}', 'rota'@'localhost' IDENTIFIED BY '{to}'")
    store.ask("KILL HARD USER rota")  # so that all must log in again


def password_changed(cluster):
    store, led = Store(cluster), Led(cluster)
    path = pathlib.Path(cluster.env["ROTA_DATABASE_PASSWORD_FILE"])
    first = path.read_text()
    epoch = cluster.epoch()
    # The server first, the file two seconds later.
    change_password(cluster, store, "another-one")
    time.sleep(2)
    path.write_text("another-one\n")
    after_server = led.goes_on()
    # The file first, told by SIGHUP to one of them; then the server.
    path.write_text(first)
    cluster.kill("master-1", "-HUP")
    wait_until(lambda: "the database's password is another one" in cluster.log("master-1"), 10, "SIGHUP is obeyed")
    change_password(cluster, store, first.strip())
    after_file = led.goes_on()
    submitted = cluster.submit("/bin/true")
    check(cluster.await_run(submitted)["state"] == "succeeded", "a run after the change")
    check("its file holds another one" in cluster.log("master-2"), "master-2 did not read the file again")
    for name in ("master-1", "master-2"):
        check("another-one" not in cluster.log(name), f"{name} logs the password")
    after = cluster.epoch()
    ticks = led.end()
    check(after == epoch, f"the leader changed: epoch {epoch}, {after}")
    check(ticks["skipped"] == 0, f"ticks were skipped: {ticks}")
    figure("password_changed", changes=2, back_after_s=f"{after_server}/{after_file}", restarts=0,
           epochs=f"{epoch}/{after}", ticks=ticks["planned"], missing=ticks["missing"])
