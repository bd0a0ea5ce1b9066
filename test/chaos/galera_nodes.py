"""Three Galera nodes in place of one MariaDB, each on its host. As root they run as `nobody`: rsync's daemon, by which
a node gets a copy of another, can not serve root."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from network import PORTS
from processes import run, wait_until
from servers import MariaDb

LIBRARY = "/usr/lib/galera/libgalera_smm.so"
GROUP, MISSED, COPIES = 4567, 4568, 4444
NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def as_user(words):
    return [*(NOBODY if os.geteuid() == 0 else []), *words]


class GaleraNode(MariaDb):
    """A host with one node. The first binlog is complete while its node never needs a copy of all."""

    def __init__(self, cluster, host, folder, password_file):
        super().__init__(cluster, host)
        self.own, self.password_file, self.makes_cluster = folder / host, password_file, False
        self.own.mkdir()
        self.socket = str(self.own / "db.sock")

    def prepare(self):
        if os.geteuid() == 0:
            shutil.chown(self.own, "nobody", "nogroup")
        run(as_user(["env", "-C", str(self.own), "mariadb-install-db", "--no-defaults", "--force", "--skip-name-resolve",
                     f"--datadir={self.own}/data", f"--tmpdir={self.own}", "--auth-root-authentication-method=normal",
                     "--skip-test-db"]), timeout=120)

    def words(self):
        pathlib.Path(self.socket).unlink(missing_ok=True)
        address = self.cluster.network.address(self.host)
        peers = ",".join(f"{self.cluster.network.address(host)}:{GROUP}" for host in self.cluster.database_hosts)
        join = "gcomm://" if self.makes_cluster else f"gcomm://{peers}"
        self.makes_cluster = False
        return as_user([
            "env", "-C", str(self.own), "mariadbd", "--no-defaults", f"--datadir={self.own}/data", f"--tmpdir={self.own}",
            f"--socket={self.socket}", f"--pid-file={self.own}/mariadb.pid", f"--bind-address={address}",
            f"--port={PORTS['mariadb']}", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=1",
            "--performance-schema=OFF", "--max-connections=500", "--max-allowed-packet=64M",
            f"--log-bin={self.own}/binlog", "--binlog-format=ROW", "--server-id=1", "--log-slave-updates",
            "--binlog-row-image=FULL", "--binlog-annotate-row-events=OFF", "--innodb-autoinc-lock-mode=2",
            "--wsrep-on=ON", f"--wsrep-provider={LIBRARY}", "--wsrep-cluster-name=rota", f"--wsrep-node-name={self.host}",
            f"--wsrep-node-address={address}:{GROUP}", "--wsrep-sst-method=rsync",
            f"--wsrep-sst-receive-address={address}:{COPIES}",
            f"--wsrep-provider-options=base_port={GROUP};ist.recv_addr={address}:{MISSED};"
            f"gmcast.listen_addr=tcp://{address}:{GROUP};gcache.size=128M", f"--wsrep-cluster-address={join}"])

    def serves(self):
        try:
            state = self.ask("SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state_comment')",
                             timeout=5, check=False)
        except Exception:  # stopped, or not yet there
            return False
        return "ON" in state.split() and "Synced" in state.split()

    def create_database(self):
        password = self.password_file.read_text()
        self.ask("CREATE DATABASE rota CHARACTER SET utf8mb4 COLLATE utf8mb4_bin; "
                 f"CREATE USER rota@'%' IDENTIFIED BY '{password}'; GRANT ALL ON rota.* TO rota@'%';")

    def write_binlog(self, path):
        logs = sorted(str(one) for one in self.own.glob("binlog.[0-9]*"))
        tool = shutil.which("mariadb-binlog") or "mysqlbinlog"
        with open(path, "wb") as out:
            subprocess.run([tool, "--no-defaults", "--base64-output=decode-rows", "-v", *logs], stdout=out, check=True,
                           timeout=600)


class Databases:
    """All nodes, with the face of one MariaDB."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rota-galera-", dir="/tmp"))
        if os.geteuid() == 0:
            self.folder.chmod(0o711)
        self.password_file = cluster.folder / "password"
        self.nodes = [GaleraNode(cluster, host, self.folder, self.password_file) for host in cluster.database_hosts]
        self.password_file.write_text(os.urandom(24).hex())
        self.password_file.chmod(0o600)

    def begin(self):
        for node in self.nodes:
            node.prepare()
        self.nodes[0].makes_cluster = True
        for node in self.nodes:
            node.start()
            self.cluster.need(node.serves, 120, f"{node.host} has joined")
        self.nodes[0].create_database()

    def usable(self):
        return next((node for node in self.nodes if node.serves()), self.nodes[0])

    def ask(self, sql, timeout=20, check=True):
        return self.usable().ask("SET wsrep_sync_wait = 1; " + sql, timeout, check)

    def connections(self):
        return [f"{node.host} {one}" for node in self.nodes if node.serves() for one in node.connections()]

    def kill_connections(self, ids):
        for one in ids:
            host, number = one.split()
            node = self.cluster.servers[host]
            if node.serves():
                node.kill_connections([number])

    def marks(self):
        return self.usable().marks()

    def serves(self):
        return any(node.serves() for node in self.nodes)

    def dump(self, table, path):
        wait_until(self.nodes[0].serves, 60)
        return self.nodes[0].dump(table, path)

    def write_binlog(self, path):
        self.nodes[0].write_binlog(path)

    def differences(self):
        """Tables whose rows the nodes do not agree about."""
        sums = {}
        for table in ("run", "attempt", "gap", "job_version", "epoch", "watermark", "run_open", "log_chunk"):
            found = {node.ask(f"SET wsrep_sync_wait = 1; CHECKSUM TABLE rota.{table}", 120).split()[-1] for node in self.nodes}
            if len(found) > 1:
                sums[table] = sorted(found)
        return sums

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
