"""The cluster of a run: starts and ends its hosts, and answers the run's questions about it."""
import json
import pathlib
import shutil

import network as networks
from galera_nodes import Databases
from network import Loopback, Namespaces
from outbox import unreported_in
from processes import Starter, marked, run, send, wait_gone, wait_until, KILL, TERM, identity, name_of
from rota_hosts import RotaHost, master_yaml, worker_yaml
from servers import Etcd, MariaDb, ZooKeeper

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("bin/rota", "bin/rota-master", "bin/rota-worker", "bin/rota-warden", "test-bin/ledger_job")
ACTIVE = "('waiting', 'queued', 'dispatched', 'running')"
# Small enough to be filled at once, large enough for a worker's files.
STATE_MEBIBYTES = 48


class Cluster:
    def __init__(self, folder, build, masters=3, workers=3, loopback=False, say=print,
                 elector="zookeeper", databases=1):
        self.folder = pathlib.Path(folder).resolve()
        self.build, self.say, self.elector = pathlib.Path(build), say, elector
        self.scripts = ROOT / "scripts"
        self.logs = self.folder / "logs"
        self.evidence = self.folder / "evidence"
        self.zookeeper_hosts = [f"zookeeper-{n}" for n in (1, 2, 3)]
        self.master_hosts = [f"master-{n + 1}" for n in range(masters)]
        self.worker_hosts = [f"worker-{n + 1}" for n in range(workers)]
        self.jumping_hosts = {*self.master_hosts, self.worker_hosts[-1]}
        self.database_hosts = ["mariadb"] if databases == 1 else [f"mariadb-{n + 1}" for n in range(databases)]
        self.etcd_hosts = ["etcd-1", "etcd-2", "etcd-3"] if elector == "etcd" else []
        self.mariadb = None
        self.database_goes_back = False  # in this run
        self.starter = Starter(self.folder)
        self.network, self.servers, self.rota_hosts = None, {}, {}
        self.wanted_loopback = loopback
        self.programs = self.folder / "bin"

    # --- up and down ----------------------------------------------------------------------------

    def make_folders(self):
        self.folder.mkdir(parents=True)
        for name in ("logs", "bin", "evidence/ledger", "evidence/printed", "evidence/store"):
            (self.folder / name).mkdir(parents=True)
        # A copy, so that a build meanwhile does not change the running programs.
        for program in PROGRAMS:
            shutil.copy2(self.build / program, self.programs)

    def make_network(self):
        hosts = [*self.zookeeper_hosts, *self.database_hosts, *self.etcd_hosts, *self.master_hosts, *self.worker_hosts, "client"]
        parts = (self.starter, f"rota-chaos-{networks.os.getpid()}", hosts, self.logs / "proxy.log")
        why_not = "asked for" if self.wanted_loopback else Namespaces.possible()
        if not why_not:
            try:
                self.network = Namespaces(*parts)
                return
            except (RuntimeError, OSError) as error:  # there are namespaces, but something that links them is missing
                why_not = str(error)
        self.say(f"loopback and proxies instead of network namespaces: {why_not}")
        self.network = Loopback(*parts)

    def up(self):
        self.make_folders()
        self.make_network()
        for host in self.zookeeper_hosts:
            self.servers[host] = ZooKeeper(self, host)
        self.servers.update((host, Etcd(self, host)) for host in self.etcd_hosts)
        for host in [*self.zookeeper_hosts, *self.etcd_hosts]:
            self.servers[host].start()
        self.start_databases()
        for host in [*self.zookeeper_hosts, *self.etcd_hosts]:
            self.need(self.servers[host].serves, 300, f"{host} serves")
        if self.elector != "zookeeper":
            self.name_elector()
        for host in [*self.master_hosts, *self.worker_hosts]:
            size = STATE_MEBIBYTES if host in self.worker_hosts else 0
            self.rota_hosts[host] = RotaHost(self, host, size)
            self.rota_hosts[host].start()
        self.need(self.is_whole, 300, "a leader and all workers online")

    def start_databases(self):
        if len(self.database_hosts) > 1:
            self.mariadb = Databases(self)
            self.servers.update((node.host, node) for node in self.mariadb.nodes)
            self.mariadb.begin()
            return
        self.servers["mariadb"] = self.mariadb = MariaDb(self, "mariadb")
        self.mariadb.prepare()
        self.mariadb.start()
        self.need(self.mariadb.serves, 300, "MariaDB answers")
        self.mariadb.create_database()

    def name_elector(self):
        """Before the first master starts."""
        file = self.folder / "elector.yaml"
        file.write_text(self.configuration("master-1", self.folder / "elector-state"))
        run([*self.network.enter("master-1"), str(self.programs / "rota-master"), "--config", str(file),
             "--set-elector", self.elector, "--yes"], 60)

    def need(self, question, seconds, what):
        if not wait_until(question, seconds):
            raise RuntimeError(f"not within {seconds} s: {what} (logs: {self.logs})")

    def down(self):
        """Ends everything of the run, in any state."""
        for host in self.rota_hosts.values():
            host.kill_host()
        for server in self.servers.values():
            if server.who:
                server.end(KILL, 5)
        if self.network:
            rest = [who for pid in self.network.inhabitants() if (who := identity(pid))]
            own = self.network.proxy.child.pid if self.network.proxy else 0
            rest += [who for who in marked(self.folder) if who[0] != own]
            for who in rest:
                send(who, KILL)
            wait_gone(rest, 5)
            self.network.close()
        for host in self.rota_hosts.values():
            host.clean_up()
        self.starter.reap()
        if len(self.database_hosts) > 1 and self.mariadb:
            self.mariadb.remove()

    # --- configuration --------------------------------------------------------------------------

    def configuration(self, host, state):
        return (master_yaml if host.startswith("master") else worker_yaml)(self, host, state)

    def zookeeper_addresses(self, source):
        ends = [self.network.endpoint(source, host) for host in self.zookeeper_hosts]
        return ",".join(f"{address}:{port}" for address, port in ends)

    def master_addresses(self):
        return ",".join("%s:%d" % self.network.endpoint("client", host) for host in self.master_hosts)

    # --- questions ------------------------------------------------------------------------------

    def rota(self, *words, timeout=120):
        tool = ["env", f"ROTA_MASTERS={self.master_addresses()}", str(self.programs / "rota")]
        return run([*self.network.enter("client"), *tool, *words], timeout, check=False)

    def status(self):
        """The output of `rota cluster status`, or {}."""
        try:
            return json.loads(self.rota("-o", "json", "--deadline", "3s", "cluster", "status"))
        except (ValueError, OSError, networks.subprocess.SubprocessError):
            return {}

    def leader(self):
        status = self.status()
        leads = [m["id"] for m in status.get("masters", []) if m["leads"]]
        return leads[0] if leads and status.get("leader") else None

    def is_whole(self):
        status = self.status()
        online = [w for w in status.get("workers", []) if w["state"] in ("online", "busy", "warning")]
        databases = len(self.database_hosts) == 1 or all(self.servers[host].serves() for host in self.database_hosts)
        return databases and bool(status.get("leader")) and len(online) >= len(self.worker_hosts)

    def unfinished(self):
        """Runs that are not final, or None when the database does not answer."""
        try:
            return int(self.mariadb.ask(f"SELECT COUNT(*) FROM rota.run WHERE state IN {ACTIVE}", 10))
        except (RuntimeError, ValueError, networks.subprocess.SubprocessError):
            return None

    def unsent(self):
        """Files in which workers still hold results or output that no master has acknowledged."""
        found = []
        for host in self.worker_hosts:
            state = self.rota_hosts[host].state
            found += [f"{host}/outbox: run {run} attempt {n}" for run, n in unreported_in(state / "outbox")]
            if (state / "spool").exists():
                found += [f"{host}/spool/{p.name}" for p in (state / "spool").iterdir()]
        return found

    # --- what is left over ----------------------------------------------------------------------

    def end_rota(self, *more_of_ours):
        """Stops masters and workers like an operator; returns what is left of them."""
        slow = [host for host, it in reversed(self.rota_hosts.items()) if it.end()]
        servers = {server.who[0] for server in self.servers.values() if server.who}
        ours = {*servers, self.network.proxy.child.pid, *more_of_ours}
        left = {pid for pid in self.network.inhabitants() if pid not in ours}
        left |= {who[0] for who in marked(self.folder) if who[0] not in ours}
        for host in slow:
            self.say(f"{host} did not stop by itself")
        return [f"{pid} {name_of(pid)}" for pid in sorted(left)] + [f"{host} had to be killed" for host in slow]

    def end_servers(self):
        for server in reversed(self.servers.values()):
            server.end(TERM, 30)
