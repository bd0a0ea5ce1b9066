"""The faults: each begins, lasts, is healed, and proves that it took effect."""
import errno
import os
import time

import disasters
import processes
from fault import Fault
from network import kind_of
from processes import CONT, GONE, KILL, STOP, TERM, is_alive, send, state_of, wait_gone, wait_until


def pids(everyone):
    return ",".join(str(who[0]) for who in everyone)


# --- kills ------------------------------------------------------------------------------------


def kill(kind, host, target, choose, back):
    """kill -9 of the processes that `choose` finds at the moment; `back` names their replacements."""
    victims = []

    def begin():
        victims.extend(who for who in choose() if who)
        for who in victims:
            send(who, KILL)

    def heal():
        left = wait_gone(victims, 5)
        again = wait_until(back, 15)
        if not victims:
            return False, "nothing ran that could be killed"
        return not left, f"killed pids {pids(victims)}, alive after it: {len(left)}; then: {again}"
    return Fault(kind, target, {host}, 0.0, begin, heal)


def kill_master(cluster, _dice, host):
    it = cluster.rota_hosts[host]
    return kill("kill_master", host, host, lambda: [it.process()], it.process)


def kill_proper(cluster, _dice, host):
    it = cluster.rota_hosts[host]
    return kill("kill_proper", host, f"{host}.proper", lambda: [it.proper()], it.proper)


def kill_warden(cluster, _dice, host):
    it = cluster.rota_hosts[host]
    return kill("kill_warden", host, f"{host}.warden", it.wardens, it.proper)


def kill_worker(cluster, _dice, host):
    it = cluster.rota_hosts[host]
    return kill("kill_worker", host, host, lambda: [*it.wardens(), it.proper()], it.proper)


def kill_host(cluster, dice, host):
    it, victims = cluster.rota_hosts[host], []

    def heal():
        it.start()
        back = wait_until(it.process, 15)
        left = [who for who in victims if is_alive(who)]
        return bool(victims) and not left, f"killed {len(victims)} pids, alive after it: {len(left)}; then: {back}"
    return Fault(f"kill_{it.role}_host", host, {host}, dice.uniform(0.5, 14),
                 lambda: victims.extend(it.kill_host()[0]), heal)


def restart(cluster, dice, host):
    """A clean stop, and a later start."""
    it, before = cluster.rota_hosts[host], []

    def begin():
        before.append(it.process())
        it.end()

    def heal():
        gone = not is_alive(before[0])
        it.start()
        back = wait_until(it.process, 15)
        return gone and bool(before[0]), f"stopped pid {before[0]}; then: {back}"
    return Fault(f"restart_{it.role}", host, {host}, dice.uniform(0, 4), begin, heal)


def kill_server(cluster, dice, *hosts):
    servers, victims = [cluster.servers[host] for host in hosts], []

    def begin():
        for server in servers:
            victims.append(server.who)
            server.end(KILL, 5)

    def heal():
        left = [who for who in victims if is_alive(who)]
        for server in servers:
            server.start()
        back = all([wait_until(server.serves, 60) for server in servers])
        return not left, f"killed pids {pids(victims)}, alive after it: {len(left)}; serves again: {bool(back)}"
    return Fault(f"kill_{kind_of(hosts[0])}", "+".join(hosts), set(hosts), dice.uniform(0.2, 10), begin, heal)


# --- stopped and continued ----------------------------------------------------------------------


def stop(kind, target, host, seconds, choose, more=None):
    """SIGSTOP to all processes that `choose` finds, in its order; SIGCONT in reverse order."""
    stopped, seen = [], []

    def begin():
        stopped.extend(who for who in choose() if who)
        for who in stopped:
            send(who, STOP)
        time.sleep(0.05)
        seen.extend(state_of(who) for who in stopped)

    def heal():
        still = [state_of(who) for who in stopped]
        for who in reversed(stopped):
            send(who, CONT)
        held = "T" in seen and ("T" in still or GONE in still)  # a watchdog may end what stands still
        return held, f"pids {pids(stopped)} states {''.join(seen)}, before SIGCONT {''.join(still)}"
    return Fault(kind, target, {host}, seconds, begin, heal, more or {})


def stop_master(cluster, dice, host):
    it = cluster.rota_hosts[host]
    return stop("stop_master", host, host, dice.choice([1.0, 3.0, dice.uniform(4, 15)]),
                lambda: [it.watchdog, it.process()])


def stop_proper(cluster, dice, host):
    it = cluster.rota_hosts[host]
    return stop("stop_proper", f"{host}.proper", host, dice.choice([0.7, 2.0, dice.uniform(4, 12)]),
                lambda: [it.proper()])


def stop_worker(cluster, dice, host):
    """The whole host with its jobs: what runs on it again after the fence is counted as overlap."""
    it = cluster.rota_hosts[host]
    seconds = dice.choice([0.5, 1.5, 3.0, dice.uniform(5, 15)])
    return stop("stop_worker_host", host, host, seconds, it.everything, {"pauses_jobs": True})


def stop_server(cluster, dice, host):
    it = cluster.servers[host]
    return stop(f"stop_{kind_of(host)}", host, host, dice.uniform(0.5, 9), lambda: [it.who])


# --- the network --------------------------------------------------------------------------------


def cut_pairs(cluster, kind, target, pairs, seconds, claims):
    pairs, handles = [p for p in pairs if cluster.network.can_cut(*p)], []

    def begin():
        for source, there in pairs:
            handles.append(cluster.network.cut(source, there))

    def heal():
        dropped = sum(cluster.network.mend(handle) for handle in handles)
        # Nothing was sent meanwhile: nothing was proven, and nothing was disturbed.
        return (True if dropped else None), f"{len(pairs)} directions cut, dropped {dropped}"
    return Fault(kind, target, claims, seconds, begin, heal)


def others(cluster, host):
    everyone = [*cluster.zookeeper_hosts, *cluster.database_hosts, *cluster.etcd_hosts, *cluster.master_hosts,
                *cluster.worker_hosts]
    return [other for other in everyone if other != host]


def both_ways(one, many):
    return [(one, other) for other in many] + [(other, one) for other in many]


def isolate(cluster, dice, host):
    return cut_pairs(cluster, "partition_host", host, both_ways(host, others(cluster, host)),
                     dice.uniform(1, 15), {host, "network"})


def isolate_one_way(cluster, dice, host):
    heard = dice.random() < 0.5  # it receives from the others, and they do not receive from it; or the reverse
    pairs = [(host, o) if heard else (o, host) for o in others(cluster, host)]
    return cut_pairs(cluster, "partition_one_way", f"{host} {'mute' if heard else 'deaf'}", pairs,
                     dice.uniform(1, 12), {host, "network"})


def cut_link(cluster, dice, host, targets):
    one_way = dice.random() < 0.4
    pairs = [(host, target) for target in targets] if one_way else both_ways(host, targets)
    return cut_pairs(cluster, "partition_link" + ("_one_way" if one_way else ""), f"{host}->{'+'.join(targets)}",
                     pairs, dice.uniform(1, 15), {host, *targets, "network"})


def swizzle(cluster, dice, hosts):
    """Cuts off hosts one after another, and brings them back in another order."""
    waits = [dice.uniform(0.1, 2) for _ in range(2 * len(hosts))]
    back, cut = dice.sample(hosts, len(hosts)), {}
    proof = {"dropped": 0}

    def begin():
        for host in hosts:
            cut[host] = [cluster.network.cut(*p) for p in both_ways(host, others(cluster, host))
                         if cluster.network.can_cut(*p)]
            time.sleep(waits.pop())

    def heal():
        for host in back:
            proof["dropped"] += sum(cluster.network.mend(handle) for handle in cut[host])
            time.sleep(waits.pop())
        return (True if proof["dropped"] else None), f"cut {hosts}, healed {back}, dropped {proof['dropped']}"
    return Fault("partition_swizzled", "+".join(hosts), {*hosts, "network"}, dice.uniform(1, 6), begin, heal)


def meddle(cluster, dice, host, targets):
    """Our proxy between them: slow, answers lost after their effect, cut in the middle, one way only."""
    kind, rule = dice.choice([
        ("slow_link", {"delay_ms": dice.choice([50, 200, 800]), "jitter_ms": dice.choice([10, 300])}),
        ("lost_answers", {"lose_answer": dice.choice([0.05, 0.2])}),
        ("cut_in_the_middle", {"cut_after": [1, dice.choice([200, 5000])]}),
        ("one_direction", {"hold": dice.choice(["answers", "requests"])})])
    rule["seed"], handles = dice.randrange(10 ** 6), []
    targets = [target for target in targets if cluster.network.can_meddle(host, target)]

    def begin():
        for target in targets:
            handles.append(cluster.network.meddle(host, target, rule))

    def heal():
        did = {}
        for handle in handles:
            for key, value in cluster.network.restore(handle).items():
                did[key] = did.get(key, 0) + value
        effect = sum(did.get(key, 0) for key in ("delayed", "lost", "cut", "held_bytes"))
        return (True if effect else None), " ".join(f"{key}={value}" for key, value in did.items())
    return Fault(kind, f"{host}->{'+'.join(targets)}", {host, *targets, "network"}, dice.uniform(3, 15), begin,
                 heal, {"rule": rule})


# --- the database, the disk, the clock ----------------------------------------------------------


def kill_connections(cluster, dice, _host):
    times, killed = dice.randint(1, 5), []

    def begin():
        for _ in range(times):
            now = cluster.mariadb.connections()
            killed.extend(now)
            cluster.mariadb.kill_connections(now)
            time.sleep(0.3)

    def heal():
        left = set(killed) & set(cluster.mariadb.connections())
        return bool(killed) and not left, f"{len(killed)} connections killed, {len(left)} of them still there"
    return Fault("kill_connections", "mariadb", {*cluster.database_hosts}, 0.2, begin, heal)


def fill_disk(cluster, dice, host):
    it = cluster.rota_hosts[host]
    ballast, proof = it.state / "ballast", {"full": False, "bytes": 0}

    def begin():
        with open(ballast, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while proof["bytes"] < 1 << 30:
                        proof["bytes"] += file.write(b"\0" * size)
                except OSError as error:
                    proof["full"] = error.errno == errno.ENOSPC

    def heal():
        free = os.statvfs(it.state).f_bavail
        ballast.unlink()
        return proof["full"], f"{proof['bytes']} bytes until ENOSPC; free blocks before it was healed: {free}"
    return Fault("full_disk", host, {host}, dice.uniform(2, 12), begin, heal)


def jump_clock(cluster, dice, host):
    it = cluster.rota_hosts[host]
    offset = dice.choice([-1, 1]) * dice.choice([400, 1200, 1900, 5000, 60_000, 3_600_000])
    back = dice.random() < 0.8
    proof = {}

    def begin():
        it.set_clock(offset)
        # A worker's warden is linked statically: only the worker's proper sees the wrong clock.
        who = it.proper() if it.role == "worker" else it.process()
        proof.update(seen=it.sees_clock(), loaded="libfaketime" in processes.maps_of(who))

    def heal():
        it.set_clock(0)
        good = proof["loaded"] and proof["seen"] is not None and abs(proof["seen"] - offset) < 1000
        return good, f"a process there reads {proof['seen']} ms; the clock is faked in it: {proof['loaded']}"
    return Fault("clock_jump", host, {host}, dice.uniform(3, 15) if back else 1.0, begin, heal,
                 {"offset_ms": offset})


def step_clocks(cluster, dice, hosts):
    """The clocks of all masters together, as if they followed one wrong time server, and back."""
    its = [cluster.rota_hosts[host] for host in hosts]
    offset = dice.choice([-1, 1]) * dice.choice([5000, 60_000, 3_600_000])
    proof = {}

    def begin():
        for it in its:
            it.set_clock(offset)
        proof.update(seen=[it.sees_clock() for it in its],
                     loaded=sum("libfaketime" in processes.maps_of(it.process()) for it in its))

    def heal():
        for it in its:
            it.set_clock(0)
        good = proof["loaded"] > 0 and all(s is not None and abs(s - offset) < 1000 for s in proof["seen"])
        return good, f"processes there read {proof['seen']} ms; the clock is faked in {proof['loaded']} masters"
    return Fault("clocks_step_together", "+".join(hosts), set(hosts), dice.uniform(3, 12), begin, heal,
                 {"offset_ms": offset})


# --- a second cluster -------------------------------------------------------------------------------

STRANGER = "stranger"  # the judge knows it by this name


def second_cluster(cluster, dice, host):
    """A master of another cluster (a ZooKeeper path of its own) with this host's configuration, on the same
    database: it must leave the office alone, and say whose it is."""
    it, number = cluster.rota_hosts[host], dice.randrange(10 ** 6)
    state = cluster.folder / f"{STRANGER}-{number}"
    log = cluster.logs / f"{STRANGER}-{number}.log"
    started = []

    def begin():
        state.mkdir(mode=0o700, exist_ok=True)
        settings = {"ROTA_CLUSTER": f"{STRANGER}-{number}", "ROTA_ID": STRANGER, "ROTA_STATE_DIR": str(state),
                    "ROTA_HEARTBEAT_FILE": str(state / "heartbeat"), "ROTA_LISTEN_PORT": "0", "ROTA_HTTP_PORT": "0"}
        words = [*cluster.network.enter(host), "env", *[f"{key}={value}" for key, value in settings.items()],
                 f"{cluster.programs}/rota-master", "--config", str(it.config)]
        started.append(cluster.starter.start(words, log))

    def heal():
        text = log.read_text(errors="replace") if log.exists() else ""
        send(started[0], TERM)
        if wait_gone(started, 15):
            send(started[0], KILL)
        held = "office is held off" in text
        named = any(f"master '{master}' at " in text for master in cluster.master_hosts)
        offices = text.count("took office")
        # Neither server answered it: nothing was proven, and nothing was disturbed.
        return (held and named and not offices) or (False if offices or held else None), \
            f"held off: {held}, the leader named: {named}, offices taken: {offices}"
    return Fault("second_cluster", host, {STRANGER}, dice.uniform(6, 25), begin, heal)


# --- the dice -----------------------------------------------------------------------------------

WEIGHTS = {"kill_master": 8, "kill_proper": 8, "kill_warden": 5, "kill_worker": 5, "kill_master_host": 4,
           "kill_worker_host": 5, "restart_master": 3, "restart_worker": 4, "kill_zookeeper": 6,
           "kill_mariadb": 6, "stop_master": 6, "stop_proper": 5, "stop_worker": 3, "stop_zookeeper": 4,
           "stop_mariadb": 4, "isolate": 8, "isolate_one_way": 6, "cut_link": 8, "swizzle": 4, "meddle": 14,
           "kill_connections": 5, "fill_disk": 5, "jump_clock": 6, "second_cluster": 4, "step_clocks": 3,
           "wipe_zookeeper": 3, "restore_zookeeper": 3, "copy_nodes": 4, "huge_moment": 2}
ETCD_WEIGHTS = {"kill_etcd": 6, "stop_etcd": 4}  # where etcd is the elector


def draw_master(cluster, dice):
    """The leader every other time; the random numbers are the same whoever leads."""
    by_chance, wants_leader = dice.choice(cluster.master_hosts), dice.random() < 0.5
    return (cluster.leader() if wants_leader else None) or by_chance


def draw_database(cluster, dice, for_kill=False):
    """The first of several keeps the judge's binlog, which a copy from another node (SST) would replace: it is not
    killed."""
    hosts = cluster.database_hosts[1:] if for_kill and len(cluster.database_hosts) > 1 else cluster.database_hosts
    return hosts[0] if len(hosts) == 1 else dice.choice(hosts)


def one_away(cluster, fault):
    """Of several databases one is away at a time: of three, two must stay."""
    if len(cluster.database_hosts) > 1 and fault.claims & set(cluster.database_hosts):
        fault.claims.add("databases")
    return fault


def draw_link(cluster, dice):
    """A link that Rota's processes use: from which host, and to which. Followers connect to no worker; a process
    connects to any one of the ZooKeepers."""
    kind, worker, by_chance = dice.randrange(5), dice.choice(cluster.worker_hosts), draw_master(cluster, dice)
    if kind == 0:
        return by_chance, cluster.database_hosts
    if kind == 1:
        return by_chance, cluster.etcd_hosts or cluster.zookeeper_hosts
    if kind == 2:
        return worker, cluster.zookeeper_hosts
    leader = cluster.leader() or by_chance
    return (leader, [worker]) if kind == 3 else (worker, [leader])


def draw(cluster, dice, only=()):
    """The next fault, or None when this machine cannot do the drawn one."""
    known = {**WEIGHTS, **ETCD_WEIGHTS} if cluster.etcd_hosts else WEIGHTS
    weights = {name: weight for name, weight in known.items() if not only or name in only}
    name = dice.choices(list(weights), list(weights.values()))[0]
    if name == "kill_zookeeper":
        return kill_server(cluster, dice, *dice.sample(cluster.zookeeper_hosts, dice.choice([1, 1, 1, 2, 3])))
    if name == "kill_etcd":
        return kill_server(cluster, dice, *dice.sample(cluster.etcd_hosts, dice.choice([1, 1, 1, 2, 3])))
    if name == "stop_etcd":
        return stop_server(cluster, dice, dice.choice(cluster.etcd_hosts))
    if name in ("kill_mariadb", "stop_mariadb"):
        return one_away(cluster, (kill_server if name == "kill_mariadb" else stop_server)(
            cluster, dice, draw_database(cluster, dice, name == "kill_mariadb")))
    if name == "stop_zookeeper":
        return stop_server(cluster, dice, dice.choice(cluster.zookeeper_hosts))
    if name in ("isolate", "isolate_one_way"):
        host = dice.choice([draw_master(cluster, dice), dice.choice(cluster.worker_hosts),
                            dice.choice(cluster.zookeeper_hosts), draw_database(cluster, dice),
                            *cluster.etcd_hosts[-1:]])
        return one_away(cluster, globals()[name](cluster, dice, host))
    if name == "swizzle":
        hosts = [*cluster.master_hosts, *cluster.worker_hosts, *cluster.zookeeper_hosts, cluster.database_hosts[-1]]
        return one_away(cluster, swizzle(cluster, dice, dice.sample(hosts, dice.randint(2, 4))))
    if name in ("cut_link", "meddle"):
        host, targets = draw_link(cluster, dice)
        can = cluster.network.can_meddle if name == "meddle" else cluster.network.can_cut
        fault = globals()[name](cluster, dice, host, targets)  # always, so that the random numbers stay the same
        return fault if any(can(host, target) for target in targets) else None
    if name == "jump_clock":
        host = dice.choice(sorted(cluster.jumping_hosts))
        return jump_clock(cluster, dice, host) if cluster.rota_hosts[host].clock_can_jump else None
    if name == "step_clocks":
        fault = step_clocks(cluster, dice, cluster.master_hosts)
        return fault if all(cluster.rota_hosts[h].clock_can_jump for h in cluster.master_hosts) else None
    if name in ("wipe_zookeeper", "restore_zookeeper"):
        fault = getattr(disasters, name)(cluster, dice)
        # A loss of the database is noticed through ZooKeeper, and the other way round.
        return None if cluster.database_goes_back else fault
    if name in ("copy_nodes", "huge_moment"):
        return getattr(disasters, name)(cluster, dice)
    if name == "fill_disk":
        host = dice.choice(cluster.worker_hosts)
        return fill_disk(cluster, dice, host) if cluster.rota_hosts[host].is_mounted else None
    if name == "second_cluster":
        return second_cluster(cluster, dice, dice.choice(cluster.master_hosts))
    if name == "kill_connections":
        return kill_connections(cluster, dice, "mariadb")
    host = draw_master(cluster, dice) if "master" in name else dice.choice(cluster.worker_hosts)
    by_name = {"kill_master_host": kill_host, "kill_worker_host": kill_host, "restart_master": restart,
               "restart_worker": restart}
    return by_name.get(name, globals().get(name))(cluster, dice, host)
