"""The hosts' network: each host a network namespace, all of them joined by a router namespace.

A cut is an iptables rule in the router, one for each direction; its packet counter proves that it took
effect. To disturb a link, the router redirects it into our proxy (proxy.py): open connections get a
reset, and new ones go through the proxy until the disturbance ends.

When namespaces are not available, Loopback gives every host an address of its own in 127.0.0.0/8 and
always puts a proxy before ZooKeeper and MariaDB; masters and workers then cannot be cut off from each
other."""
import contextlib
import json
import os
import queue
import subprocess
import threading

from processes import run

PORTS = {"zookeeper": 2181, "mariadb": 3306, "etcd": 2379, "master": 7400, "worker": 7500}
PLACES = {"zookeeper": 10, "mariadb": 20, "master": 30, "worker": 40, "client": 50, "etcd": 60, "router": 254}
PROXY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "proxy.py")


def kind_of(host):
    return host.rsplit("-", 1)[0]


def place_of(host):
    kind, _, number = host.partition("-")
    return PLACES[kind] + int(number or 0)


class ProxyProcess:
    """Our proxy; lines of JSON tell it what to do with which link."""

    def __init__(self, starter, log, prefix=()):
        self.lock = threading.Lock()
        self.answers = queue.Queue()
        with open(log, "ab") as out:
            self.child = subprocess.Popen([*prefix, "/usr/bin/python3", PROXY], text=True,
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=out,
                                          start_new_session=True, env=starter.environment())
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.child.stdout:
            self.answers.put(json.loads(line))

    def ask(self, **words):
        with self.lock:
            self.child.stdin.write(json.dumps(words) + "\n")
            self.child.stdin.flush()
            answer = self.answers.get(timeout=20)
        if "error" in answer:
            raise RuntimeError(f"proxy: {words}: {answer['error']}")
        return answer

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(5)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()


class Namespaces:
    """One namespace for each host, named after the run, and a router between them."""

    kind = "namespaces"

    def __init__(self, starter, tag, hosts, log):
        self.tag, self.hosts, self.starter = tag, hosts, starter
        self.lock = threading.Lock()
        self.router = f"{tag}-router"
        self.made, self.number, self.proxy = [], 0, None
        try:
            self.make()
            self.proxy = ProxyProcess(starter, log, self.enter_space(self.router))
        except Exception:
            self.close()
            raise

    @staticmethod
    def possible():
        """Whether this machine allows it; otherwise why not."""
        try:
            run(["ip", "netns", "add", f"rota-probe-{os.getpid()}"])
            run(["ip", "netns", "exec", f"rota-probe-{os.getpid()}", "iptables", "-w", "-t", "nat", "-nL"])
            return ""
        except (RuntimeError, OSError) as error:
            return str(error)
        finally:
            with contextlib.suppress(OSError):
                run(["ip", "netns", "del", f"rota-probe-{os.getpid()}"], check=False)

    def address(self, host):
        return f"10.99.{os.getpid() % 250}.{place_of(host)}"

    def endpoint(self, _source, host):
        return self.address(host), PORTS[kind_of(host)]

    def make(self):
        self.add_space(self.router)
        self.inside(self.router, "ip", "addr", "add", self.address("router") + "/32", "dev", "lo")
        self.inside(self.router, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1",
                    "net.ipv4.conf.all.send_redirects=0")
        for host in self.hosts:
            self.join(host)
        self.inside(self.router, "iptables", "-w", "-N", "CUTS")
        self.inside(self.router, "iptables", "-w", "-A", "FORWARD", "-j", "CUTS")

    def add_space(self, name):
        run(["ip", "netns", "add", name])
        self.made.append(name)
        self.inside(name, "ip", "link", "set", "lo", "up")

    def join(self, host):
        space, link = f"{self.tag}-{host}", f"to{place_of(host)}"
        self.add_space(space)
        run(["ip", "-n", self.router, "link", "add", link, "type", "veth", "peer", "name", "eth0",
             "netns", space])
        for where, dev in ((self.router, link), (space, "eth0")):
            self.inside(where, "ip", "link", "set", dev, "up")
        self.inside(space, "ip", "addr", "add", self.address(host) + "/32", "dev", "eth0")
        self.inside(space, "ip", "route", "add", "default", "via", self.address("router"), "dev",
                    "eth0", "onlink")
        self.inside(self.router, "ip", "route", "add", self.address(host) + "/32", "dev", link)

    def enter_space(self, name):
        return ["nsenter", f"--net=/run/netns/{name}"]

    def enter(self, host):
        return self.enter_space(f"{self.tag}-{host}")

    def inside(self, name, *words):
        return run([*self.enter_space(name), *words])

    # --- cuts ---------------------------------------------------------------------------------

    def can_cut(self, _source, _target):
        return True

    def cut(self, source, target):
        """From now on, nothing that `source` sends reaches `target`."""
        with self.lock:
            self.number += 1
            rule = ["-s", self.address(source), "-d", self.address(target), "-m", "comment",
                    "--comment", f"cut{self.number}", "-j", "DROP"]
        self.inside(self.router, "iptables", "-w", "-A", "CUTS", *rule)
        return rule

    def dropped(self, rule):
        mark = rule[rule.index("--comment") + 1]
        listing = self.inside(self.router, "iptables", "-w", "-nvxL", "CUTS")
        return sum(int(line.split()[0]) for line in listing.splitlines() if f"/* {mark} */" in line)

    def mend(self, rule):
        """Ends the cut; returns the number of packets that it dropped."""
        dropped = self.dropped(rule)
        self.inside(self.router, "iptables", "-w", "-D", "CUTS", *rule)
        return dropped

    # --- disturbing a link --------------------------------------------------------------------

    def can_meddle(self, _source, _target):
        return True

    def meddle(self, source, target, rule):
        """All of `source`'s connections to `target`'s port go through our proxy from now on."""
        port = PORTS[kind_of(target)]
        link = self.proxy.ask(do="open", rule=rule, host=self.address("router"))
        flow = ["-s", self.address(source), "-d", self.address(target), "-p", "tcp", "--dport", str(port)]
        redirect = ["PREROUTING", *flow, "-j", "DNAT", "--to-destination",
                    f"{self.address('router')}:{link['port']}"]
        # Connections that were already open do not pass the redirection: they get a reset and are opened again.
        reset = ["FORWARD", *flow, "--tcp-flags", "RST", "NONE", "-j", "REJECT", "--reject-with", "tcp-reset"]
        self.inside(self.router, "iptables", "-w", "-t", "nat", "-A", *redirect)
        self.inside(self.router, "iptables", "-w", "-I", *reset)
        return link["id"], redirect, reset

    def restore(self, handle):
        """Ends it; returns what the proxy did meanwhile."""
        link, redirect, reset = handle
        self.inside(self.router, "iptables", "-w", "-t", "nat", "-D", *redirect)
        self.inside(self.router, "iptables", "-w", "-D", *reset)
        return self.proxy.ask(do="close", id=link)

    # --- the end ------------------------------------------------------------------------------

    def inhabitants(self):
        """Pids of all processes in the run's namespaces, except our proxy."""
        own = {self.proxy.child.pid} if self.proxy else set()
        found = []
        for space in self.made:
            found += [int(pid) for pid in run(["ip", "netns", "pids", space], check=False).split()]
        return [pid for pid in found if pid not in own]

    def close(self):
        if self.proxy:
            self.proxy.close()
        for space in reversed(self.made):
            run(["ip", "netns", "del", space], check=False)
        self.made = []


class Loopback:
    """Hosts as addresses of 127.0.0.0/8, with proxies before the servers."""

    kind = "loopback"

    def __init__(self, starter, _tag, hosts, log):
        self.proxy = ProxyProcess(starter, log)
        self.links = {}  # (source, target) -> (id, host, port)
        for source in hosts:
            for target in hosts:
                if kind_of(source) in ("master", "worker") and kind_of(target) in ("zookeeper", "mariadb", "etcd"):
                    self.add_link(source, target)

    def add_link(self, source, target):
        to = [self.address(target), PORTS[kind_of(target)]]
        link = self.proxy.ask(do="open", rule={}, host=self.address(source), target=to)
        self.links[source, target] = (link["id"], self.address(source), link["port"])

    def address(self, host):
        return f"127.99.{os.getpid() % 250}.{place_of(host)}"

    def endpoint(self, source, host):
        link = self.links.get((source, host))
        return (link[1], link[2]) if link else (self.address(host), PORTS[kind_of(host)])

    def enter(self, _host):
        return []

    def can_cut(self, source, target):
        return (source, target) in self.links or (target, source) in self.links

    can_meddle = can_cut

    def cut(self, source, target):
        if (source, target) in self.links:
            return self.meddle(source, target, {"hold": "requests"})
        return self.meddle(target, source, {"hold": "answers"})

    def mend(self, handle):
        return self.restore(handle)["held_bytes"]

    def meddle(self, source, target, rule):
        link = self.links[source, target][0]
        self.proxy.ask(do="rule", id=link, rule=rule)
        return link

    def restore(self, link):
        return self.proxy.ask(do="rule", id=link, rule={})

    def inhabitants(self):
        return []

    def close(self):
        self.proxy.close()
