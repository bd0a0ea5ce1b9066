"""The database goes back: an earlier copy of its data replaces it. `backup`: a copy from before other
leaders, as when a backup is restored. `replica`: a copy from seconds ago, under the same leader, as when a
replica without the last transactions is promoted. In both cases the cluster must raise its alarm and hold
ticks until an operator accepts the loss."""
import time

from processes import now_ms, run, wait_until


class Restore:
    """Runs beside the faults: makes a copy after a quarter of the time (`replica`: after half of it, and no other
    fault touches masters or servers until it ends), and restores it after half of the time."""

    def __init__(self, kind, cluster, line, seconds, say):
        self.kind, self.cluster, self.line, self.seconds, self.say = kind, cluster, line, seconds, say
        self.trouble = []
        self.accepted = False

    def run(self):
        try:
            self.story()
        except Exception as error:  # reported at the end of the run
            self.trouble.append(f"the restore failed: {type(error).__name__}: {error}")

    def story(self):
        everything = {"mariadb", "network", *self.cluster.master_hosts, *self.cluster.zookeeper_hosts}
        backup = self.kind == "backup"
        time.sleep(self.seconds * (0.25 if backup else 0.5))
        with self.line.holding({"mariadb", "network"} if backup else everything):
            self.copy()
            if not backup:
                time.sleep(4)
                self.go_back()
                return
        time.sleep(self.seconds * 0.25)
        with self.line.holding(everything):
            self.go_back()

    def copy(self):
        begun = now_ms()
        self.cluster.mariadb.keep_copy()
        kept = self.cluster.mariadb.marks_kept
        self.line.write("copy_database", "mariadb", begun, True, f"epoch, watermark, runs: {kept}")

    def go_back(self):
        mariadb, begun = self.cluster.mariadb, now_ms()
        before = mariadb.marks()
        mariadb.put_back()
        after = mariadb.marks_kept
        alarm = wait_until(lambda: "older" in self.cluster.status().get("held", ""), 40)
        self.line.write("database_went_back", "mariadb", begun, True,
                        f"epoch, watermark, runs before: {before}, after: {after}; alarm: {bool(alarm)}")
        if not alarm:
            self.trouble.append(f"the database went back and no alarm was raised: {before} -> {after}")
            return
        time.sleep(5)
        self.accept()

    def accept(self):
        master = self.cluster.rota_hosts[self.cluster.master_hosts[0]]
        words = [*self.cluster.network.enter(master.host), f"{self.cluster.programs}/rota-master",
                 "--accept-restore", "--config", str(master.config)]
        self.say("accept-restore: " + run(words, check=False).strip())
        self.accepted = bool(wait_until(lambda: self.cluster.status().get("held", "x") == "", 40))
        if not self.accepted:
            self.trouble.append(f"ticks are still held after --accept-restore: {self.cluster.status().get('held')}")
