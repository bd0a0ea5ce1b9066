"""ZooKeeper, etcd and MariaDB, each on its host, started like the private cluster of scripts/cluster."""
import json
import os
import pathlib
import secrets
import shutil

import processes
from network import PORTS
from processes import KILL, TERM, is_alive, run, wait_gone, wait_until

ETCD_PEERS = 2380
CLASS_PATH = "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar"


class Server:
    """A host with one process and no watchdog: after a kill, start() brings it back."""

    def __init__(self, cluster, host):
        self.cluster, self.host = cluster, host
        self.folder = cluster.folder / host
        self.folder.mkdir()
        self.who, self.lives = None, []

    def start(self):
        if is_alive(self.who):
            return
        words = [*self.cluster.network.enter(self.host), *self.words()]
        self.who = self.cluster.starter.start(words, self.cluster.logs / f"{self.host}.log")
        self.lives.append({"host": self.host, "role": self.host.split("-")[0], "pid": self.who[0],
                           "started_ms": processes.now_ms(), "ended_ms": None, "how": ""})

    def end(self, number, patience=15):
        """Signals and waits for the end; returns whether it ended."""
        processes.send(self.who, processes.CONT)
        processes.send(self.who, number)
        gone = not wait_gone([self.who], patience)
        if gone:
            self.note_end(f"signal {int(number)}")
        return gone

    def note_end(self, how):
        if self.lives and self.lives[-1]["ended_ms"] is None:
            self.lives[-1].update(ended_ms=processes.now_ms(), how=how)

    def answer_to(self, words, port):
        """What it answers, on its own host, to words as printf reads them; empty: nothing in time."""
        address = f"/dev/tcp/{self.cluster.network.address(self.host)}/{port}"
        script = f"exec 3<>{address} && printf '{words}' >&3 && timeout 2 cat <&3"
        try:
            enter = self.cluster.network.enter(self.host)
            return run([*enter, "bash", "-c", script], timeout=5, check=False)
        except Exception:  # no answer in time
            return ""


class ZooKeeper(Server):
    def __init__(self, cluster, host):
        super().__init__(cluster, host)
        network, number = cluster.network, host.rsplit("-", 1)[1]
        (self.folder / "data").mkdir()
        lines = ["tickTime=500", "initLimit=20", "syncLimit=6", "maxSessionTimeout=40000",
                 f"dataDir={self.folder}/data", f"clientPort={PORTS['zookeeper']}",
                 f"clientPortAddress={network.address(host)}", "admin.enableServer=false",
                 "maxClientCnxns=0", "4lw.commands.whitelist=srvr,ruok,mntr", "autopurge.purgeInterval=1"]
        lines += [f"server.{peer.rsplit('-', 1)[1]}={network.address(peer)}:2888:3888"
                  for peer in cluster.zookeeper_hosts]
        (self.folder / "zoo.cfg").write_text("\n".join(lines) + "\n")
        (self.folder / "data/myid").write_text(number + "\n")

    def words(self):
        return ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
                "-Dorg.slf4j.simpleLogger.showDateTime=true",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", CLASS_PATH,
                "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(self.folder / "zoo.cfg")]

    def serves(self):
        """Whether it serves, not only listens: a member without a quorum also accepts connections."""
        return "Mode:" in self.answer_to("srvr", PORTS["zookeeper"])


class Etcd(Server):
    """One of the servers that hold the leader's lease, for --elector etcd."""

    def words(self):
        def address(host, port):
            return f"http://{self.cluster.network.address(host)}:{port}"
        members = ",".join(f"{host}={address(host, ETCD_PEERS)}" for host in self.cluster.etcd_hosts)
        own, peers = address(self.host, PORTS["etcd"]), address(self.host, ETCD_PEERS)
        return ["etcd", "--name", self.host, "--data-dir", str(self.folder / "data"), "--logger", "zap",
                "--listen-client-urls", own, "--advertise-client-urls", own, "--listen-peer-urls", peers,
                "--initial-advertise-peer-urls", peers, "--initial-cluster", members]

    def serves(self):
        """With a quorum."""
        return '"health":"true"' in self.answer_to("GET /health HTTP/1.0\\r\\n\\r\\n", PORTS["etcd"])


class MariaDb(Server):
    def __init__(self, cluster, host):
        super().__init__(cluster, host)
        self.socket = str(self.folder / "db.sock")
        if len(self.socket) >= 100:
            raise RuntimeError(f"the path {self.socket} is too long for a socket: give a shorter --dir")
        self.password_file = self.folder / "password"
        self.backup = self.folder / "earlier"
        self.marks_kept = None

    def prepare(self):
        with open(self.password_file, "w", encoding="ascii") as file:
            os.chmod(self.password_file, 0o600)
            file.write(secrets.token_hex(24))
        run(["mariadb-install-db", "--no-defaults", "--force", "--skip-name-resolve",
             "--user=" + run(["id", "-un"]).strip(), f"--datadir={self.folder}/data",
             f"--tmpdir={self.folder}",  # a shared one is emptied by each server that starts
             "--auth-root-authentication-method=normal", "--skip-test-db"], timeout=120)

    def words(self):
        pathlib.Path(self.socket).unlink(missing_ok=True)
        return ["mariadbd", "--no-defaults", "--user=" + run(["id", "-un"]).strip(),
                f"--datadir={self.folder}/data", f"--tmpdir={self.folder}", f"--socket={self.socket}",
                f"--pid-file={self.folder}/mariadb.pid",
                f"--bind-address={self.cluster.network.address(self.host)}", f"--port={PORTS['mariadb']}",
                "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=1", "--performance-schema=OFF",
                "--max-connections=500", "--max-allowed-packet=64M",
                # For the judge: the writes in the order of the commits.
                f"--log-bin={self.folder}/binlog", "--binlog-format=ROW", "--server-id=1",
                "--binlog-row-image=FULL", "--binlog-annotate-row-events=OFF"]

    def ask(self, sql, timeout=20, check=True):
        return run(["mariadb", "--no-defaults", "--user=root", f"--socket={self.socket}", "--batch", "--raw",
                    "--skip-column-names", "--max-allowed-packet=1G", "--execute", sql], timeout, check)

    def serves(self):
        try:
            return self.ask("SELECT 1", timeout=5, check=False).strip() == "1"
        except Exception:  # stopped, or not yet there
            return False

    def create_database(self):
        password = self.password_file.read_text()
        self.ask("SET sql_log_bin = 0; DELETE FROM mysql.global_priv WHERE NOT (User = 'root' AND "
                 "Host = 'localhost') AND User NOT IN ('mariadb.sys', 'rota'); FLUSH PRIVILEGES; "
                 "CREATE DATABASE IF NOT EXISTS rota CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; "
                 f"CREATE USER IF NOT EXISTS rota@'%' IDENTIFIED BY '{password}'; "
                 "GRANT ALL ON rota.* TO rota@'%';")

    def connections(self):
        """Ids of the masters' connections."""
        return self.ask("SELECT id FROM information_schema.processlist WHERE user = 'rota'").split()

    def kill_connections(self, ids):
        for one in ids:
            self.ask(f"KILL {one}", check=False)

    def marks(self):
        """[epoch, watermark, number of runs]: tells an older state from a newer one."""
        sql = "SELECT (SELECT value FROM rota.epoch), (SELECT value_ms FROM rota.watermark), (SELECT COUNT(*) FROM rota.run)"
        return [int(word) for word in self.ask(sql).split()]

    # --- an earlier state, as of a replica that lagged when it was promoted ---------------------

    def keep_copy(self):
        """Stops, copies the data, starts again: the state that put_back() returns to."""
        self.marks_kept = self.marks()
        self.end(TERM, 60)
        shutil.rmtree(self.backup, ignore_errors=True)
        shutil.copytree(self.folder / "data", self.backup)
        self.start()
        wait_until(self.serves, 60)

    def put_back(self):
        self.end(KILL)
        shutil.rmtree(self.folder / "data")
        shutil.copytree(self.backup, self.folder / "data")
        self.start()
        wait_until(self.serves, 60)

    # --- the evidence ---------------------------------------------------------------------------

    def columns(self, table):
        rows = self.ask("SELECT column_name, data_type FROM information_schema.columns WHERE "
                        f"table_schema = 'rota' AND table_name = '{table}' ORDER BY ordinal_position")
        return [line.split("\t") for line in rows.splitlines()]

    def dump(self, table, path):
        """The whole table, a JSON object a row; binary columns in base64 except request keys."""
        pairs = []
        for name, kind in self.columns(table):
            if name == "request_key":
                value = f"CONVERT({name} USING utf8mb4)"
            elif kind.endswith(("blob", "binary")):
                value = f"REPLACE(TO_BASE64({name}), '\\n', '')"
            else:
                value = name
            pairs.append(f"'{name}', {value}")
        text = self.ask(f"SELECT JSON_OBJECT({', '.join(pairs)}) FROM rota.`{table}`", timeout=300)
        rows = [line for line in text.split("\n") if line]
        for row in rows:
            json.loads(row)
        path.write_text("\n".join(rows) + ("\n" if rows else ""), encoding="utf-8")
        return len(rows)

    def write_binlog(self, path):
        logs = sorted(str(p) for p in self.folder.glob("binlog.[0-9]*"))
        tool = shutil.which("mariadb-binlog") or "mysqlbinlog"
        with open(path, "wb") as out:
            processes.subprocess.run([tool, "--no-defaults", "--base64-output=decode-rows", "-v", *logs],
                                     stdout=out, check=True, timeout=600)
