"""Bad input gets a clear answer; nothing crashes or grows (P24, P25)."""
import os
import random
import socket
import struct
import subprocess
import time

from cluster import check, figure, wait_until


def refused(cluster, status, words, needles, input=None):
    done = cluster.rota(*words, input=input)
    check(done.returncode == status, f"rota {' '.join(words)[:100]}: exit {done.returncode}, not {status}: {done.stderr[-300:]}")
    for needle in needles:
        check(needle.lower() in done.stderr.lower(), f"rota {' '.join(words)[:100]}: no '{needle}' in: {done.stderr[-400:]}")


def job(schedule, more=""):
    return f"name: bad\ncommand: [/bin/true]\nschedule: {schedule!r}\n{more}"


def changes(cluster):
    """The answer uses the words of the request, and says what a pause means."""
    cluster.apply("name: told\ncommand: [/bin/true]\nschedule: '0 12 * * *'\ntime_zone: Europe/Berlin\n")
    local = cluster.ok("job", "next", "told", "-n", "1")
    check(" 12:00:00 Europe/Berlin" in local, f"no local time: {local}")
    check(cluster.ok("job", "gaps", "told").split() == "FROM TO TICKS WHY RUN VERSION (none)".split(), "no gap yet")
    check("told paused" in cluster.ok("job", "pause", "told"), "it is paused")
    check("told was already paused" in cluster.ok("job", "pause", "told"), "it was paused")
    preview = cluster.rota("job", "next", "told")
    check("told is paused" in preview.stderr and "job resume told" in preview.stderr, preview.stderr)
    check("told enabled" in cluster.ok("job", "resume", "told"), "it is enabled")
    check("told deleted" in cluster.ok("job", "delete", "--yes", "told"), "it is deleted")
    past = cluster.rota("job", "apply", "--yes", "-f", "-",
                        input="name: told\ncommand: [a]\nschedule: {at: 2020-01-01T00:00:00Z}\n")
    check(past.returncode == 0 and "is past" in past.stderr, past.stderr)
    cluster.ok("job", "delete", "--yes", "told")


def answers(cluster):
    apply = ["job", "apply", "--yes", "-f", "-"]
    refused(cluster, 2, apply, ["<stdin>:2:1", "did you mean schedule"], "name: x\nschdule: '@daily'\ncommand: [a]\n")
    refused(cluster, 2, apply, ["column", "61"], job("61 * * * *"))
    refused(cluster, 2, apply, ["never"], job("0 0 30 2 *"))
    refused(cluster, 2, apply, ["Berlin"], job("0 0 * * *", "time_zone: Europe/Berlinn\n"))
    refused(cluster, 2, ["submit", "--", "/bin/echo", "x" * 100000] + ["y" * 100000] * 9, [])
    refused(cluster, 3, ["run", "show", "123456789"], ["123456789"])
    refused(cluster, 3, ["job", "show", "nobody"], ["nobody"])
    refused(cluster, 2, ["run", "show", "abc"], ["run list"])
    run = cluster.submit("/bin/sleep", "0", options=["--pool", "nowhere"])
    why = wait_until(lambda: (lambda d: "nowhere" in d.stdout and d)(cluster.rota("run", "why", run)), 10, "why names the pool")
    check("no_worker" in why.stdout or "nowhere" in why.stdout, why.stdout)
    cluster.ok("run", "cancel", run)
    refused(cluster, 5, ["run", "cancel", run], ["cancelled"])
    refused(cluster, 3, ["run", "cancel", "123456789"], ["no run"])
    refused(cluster, 2, ["job", "aply"], ["'aply'", "did you mean apply", "the commands are: apply"])
    refused(cluster, 2, ["jobs"], ["did you mean job"])
    refused(cluster, 2, ["run"], ["command is missing", "the commands are: list"])
    refused(cluster, 2, ["run", "list", "--state", "sleeping"], ["queued", "timed_out"])
    refused(cluster, 2, apply, ["jobs[1].name", "own"], "jobs: [{name: x, command: [a]}, {name: x, command: [b]}]")
    changes(cluster)
    first = cluster.submit("/bin/true", options=["--key", "k'; DROP TABLE run; --"])
    check(cluster.submit("/bin/true", options=["--key", "k'; DROP TABLE run; --"]) == first, "same key, same run")
    refused(cluster, 5, ["submit", "--key", "k'; DROP TABLE run; --", "--", "/bin/false"], ["key"])
    name = "quotes ' \" and \\ and '; DROP TABLE job; --"
    cluster.apply("name: %s\ncommand: [/bin/true]\n" % __import__("json").dumps(name))
    check(cluster.json("job", "show", name)["name"] == name, "a name with quotes is kept")
    cluster.await_run(cluster.ok("job", "run", name).strip())
    cluster.ok("job", "delete", "--yes", name)
    figure("answers", cases=29, wrong=0)


def memory_kb(port_pids):
    total = 0
    for pid in port_pids:
        for row in open(f"/proc/{pid}/status"):
            if row.startswith("VmRSS"):
                total += int(row.split()[1])
    return total


def listeners(ports):
    """Pids that listen on these ports."""
    inodes = set()
    for row in open("/proc/net/tcp").read().splitlines()[1:]:
        words = row.split()
        if words[3] == "0A" and int(words[1].split(":")[1], 16) in ports:
            inodes.add(f"socket:[{words[9]}]")
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{fd}") in inodes:
                    found.add(pid)
        except OSError:
            pass
    return found


def garbage(dice):
    kind = dice.randrange(5)
    body = dice.randbytes(dice.randrange(1, 400))
    if kind == 0:
        return body
    if kind == 1:
        return struct.pack(">I", len(body)) + body
    if kind == 2:  # a frame that names 2 GiB
        return struct.pack(">I", 0x7FFFFFFF) + body
    if kind == 3:  # a call whose string names 2 GiB
        return (lambda call: struct.pack(">I", len(call)) + call)(
            struct.pack(">IiB", 0x80010001, 0x7FFFFFFF, 0) + body)
    call = struct.pack(">I", 0x80010001) + struct.pack(">i", 6) + b"submit" + struct.pack(">i", 1)
    call += struct.pack(">bhbi", 15, 1, 12, 0x7FFFFFFF) + body  # a list of 2 G structs
    return struct.pack(">I", len(call)) + call


def frames(cluster, count):
    """Seeded garbage on every port of masters and workers; they stay alive, answer, and do not grow."""
    addresses = (cluster.env["ROTA_MASTERS"] + "," + cluster.env["ROTA_WORKERS"]).split(",")
    ports = [int(a.rsplit(":", 1)[1]) for a in addresses]
    pids = listeners(set(ports))
    check(len(pids) == len(ports), f"listeners: {pids} of {ports}")
    dice, before = random.Random(42), memory_kb(pids)
    for i in range(count):
        with socket.create_connection(("127.0.0.1", ports[i % len(ports)]), timeout=60) as peer:
            try:
                peer.sendall(garbage(dice))
                if dice.random() < 0.5:
                    peer.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it already closed the connection: also a clear answer
    wait_until(lambda: listeners(set(ports)) == pids, 5, "no process has died of garbage")
    run = cluster.await_run(cluster.submit("/bin/true"))
    check(run["state"] == "succeeded", "the cluster does not work after garbage")
    grown = (memory_kb(pids) - before) // 1024
    figure("frames", count=count, ports=len(ports), grown_mb=grown)
    check(grown < 50, f"memory grew by {grown} MB")


def configuration(cluster):
    """A wrong configuration never starts, and every problem is named at once."""
    path = cluster.folder + ".bad.yaml"
    with open(path, "w") as file:
        file.write("clustr: x\nlisten:\n  port: 010\n  port: 7\nzookeeper:\n  session_timeout_ms: 5\n")
    for program in ("rota-master", "rota-worker"):
        done = subprocess.run([f"{cluster.programs}/{program}", "--config", path, "--check-config"],
                              capture_output=True, text=True)
        check(done.returncode == 2, f"{program}: exit {done.returncode}")
        for needle in (":1:1", "did you mean cluster", ":4:"):
            check(needle in done.stderr, f"{program}: no {needle!r} in {done.stderr}")
    with open(path, "w") as file:
        file.write("cluster: rota\n")
    for program in ("rota-master", "rota-worker"):
        done = subprocess.run([f"{cluster.programs}/{program}", "--config", path, "--check-config"],
                              capture_output=True, text=True)
        check(done.returncode == 0 and done.stdout == f"{path}: ok\n", f"{program}: {done.stdout} {done.stderr}")
    os.unlink(path)
    figure("configuration", wrong=0)
