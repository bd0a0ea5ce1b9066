"""Collects the judge's evidence: the store, the binlog, the processes' lives, leftovers, the logs."""
import json
import shutil

from outbox import unreported_in

TABLES = ("job", "job_version", "definition", "run", "attempt", "gap", "epoch", "watermark", "worker_life", "log_chunk")


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def dump_store(cluster):
    return {table: cluster.mariadb.dump(table, cluster.evidence / "store" / f"{table}.jsonl")
            for table in TABLES}


def left_files(cluster):
    """Attempts, outputs and results that are still in the workers' folders."""
    found = []
    for host in cluster.worker_hosts:
        state = cluster.rota_hosts[host].state
        spool = state / "spool"
        files = sorted(spool.iterdir()) if spool.is_dir() else []
        # Empty folders in work/ wait for later attempts.
        files += sorted(path for path in (state / "work").rglob("*") if not path.is_dir())
        found += [str(path.relative_to(cluster.folder)) for path in files]
        found += [f"{host}/outbox: run {run} attempt {n}" for run, n in unreported_in(state / "outbox")]
    return found


def collect(cluster, world, residue, restored):
    """Writes everything except the world's own file; the servers run, Rota does not."""
    counts = dump_store(cluster)
    cluster.mariadb.ask("FLUSH BINARY LOGS")
    cluster.mariadb.write_binlog(cluster.evidence / "binlog.txt")
    (cluster.evidence / "residue.json").write_text(json.dumps(residue, indent=1))
    lives = [life for server in cluster.servers.values() for life in server.lives]
    for host in cluster.rota_hosts.values():
        lives += host.lives()
    write_lines(cluster.evidence / "processes.jsonl", lives)
    shutil.copytree(cluster.logs, cluster.evidence / "logs", dirs_exist_ok=True)
    for host in cluster.rota_hosts.values():
        for log in host.state.glob(f"{host.host}.watchdog.log*"):
            shutil.copy2(log, cluster.evidence / "logs")
    world["restored"] = restored
    world["rows"] = counts
    (cluster.evidence / "world.json").write_text(json.dumps(world, indent=1))
    return counts
