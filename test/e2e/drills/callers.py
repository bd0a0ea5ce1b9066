"""Who asked: a follower passes a request on, and the leader's log names the client that sent it."""
import os
import pathlib
import re
import socket
import subprocess
import sys

from cluster import ROOT, check, figure, wait_until

CLIENT = "127.0.0.77"  # all of 127/8 is the loopback, so a client can have an address that nobody else has
NO_RUN = 4242


def generated_code(folder):
    for file in sorted((ROOT / "thrift").glob("*.thrift")):
        subprocess.run(["thrift", "--gen", "py", "-out", folder, str(file)], check=True)
    sys.path.insert(0, folder)


class Client:
    """A plain client of JobService at an address of its own."""

    def __init__(self, address):
        from rota.job import JobService
        from thrift.protocol import TBinaryProtocol
        from thrift.transport import TSocket, TTransport
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=60, source_address=(CLIENT, 0))
        held = TSocket.TSocket(host, int(port))
        held.setHandle(self.socket)
        self.ask = JobService.Client(TBinaryProtocol.TBinaryProtocol(TTransport.TFramedTransport(held)))

    def address(self):
        return "{}:{}".format(*self.socket.getsockname())


def told_to_log(cluster, master):
    """Everyday refusals are lines of level debug."""
    config = pathlib.Path(cluster.folder, master + ".yaml")
    text = config.read_text()
    config.write_text(text + "\nlog:\n  channels: {api: debug}\n")
    cluster.kill(master, "-HUP")
    return config, text


def refusal_lines(cluster, master, client):
    return [line for line in cluster.log(master).splitlines()
            if "a request was refused" in line and f"from={client}" in line]


def refused_cancel(client, head):
    from rota.ttypes import RotaError
    try:
        client.ask.cancel_run(head, NO_RUN, "never was")
    except RotaError as error:
        return error.message
    return check(False, "a run that never was is cancelled")


def named(cluster):
    from rota.ttypes import ForwardedCaller, RequestHead
    status = cluster.json("cluster", "status")
    leader = next(m for m in status["masters"] if m["leads"])
    follower = next(m for m in status["masters"] if not m["leads"])
    configs = [told_to_log(cluster, m["id"]) for m in (leader, follower)]
    through = Client(follower["address"])
    seen = []

    def both_tell():
        refused_cancel(through, RequestHead(forward=True, deadline_ms=30000))
        seen[:] = refusal_lines(cluster, leader["id"], through.address())
        return seen and refusal_lines(cluster, follower["id"], through.address())
    wait_until(both_tell, 20, "both masters tell the client's address")
    check(re.search(r"method=cancel_run\b", seen[-1]) and re.search(r"via=127\.0\.0\.1:\d+", seen[-1]), seen[-1])
    direct = Client(leader["address"])
    refused_cancel(direct, RequestHead(deadline_ms=30000))
    line = wait_until(lambda: refusal_lines(cluster, leader["id"], direct.address()), 20, "the leader tells of it")[-1]
    check("via=127" not in line, line)
    forger = Client(leader["address"])
    refused_cancel(forger, RequestHead(forwarded=True, caller=ForwardedCaller("admin", "192.0.2.9:1")))
    line = wait_until(lambda: refusal_lines(cluster, leader["id"], forger.address()), 20, "the forger is named")[-1]
    check("principal=local" in line and "192.0.2.9" not in cluster.log(leader["id"]), line)
    for config, text in configs:
        config.write_text(text)
    for master in (leader, follower):
        cluster.kill(master["id"], "-HUP")
    figure("callers", leaders_line=seen[-1])


def all_of_them(cluster, folder):
    generated = folder + "/gen_callers"
    os.makedirs(generated, exist_ok=True)
    generated_code(generated)
    try:
        named(cluster)
    finally:  # another drill generates its own
        sys.path.remove(generated)
        for name in [n for n in sys.modules if n.split(".")[0] == "rota"]:
            del sys.modules[name]
