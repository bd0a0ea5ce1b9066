"""Reads the output of `rota cluster status -o json` from stdin, for the shell scripts.

cluster_status.py leader    prints the leading master's id; exit 1 when there is none
cluster_status.py ready N   exit 0 when there is a leader and at least N workers are online
"""
import json
import sys


def leader_of(status):
    """The leader's id, whether it is given as a text or as an object with an id."""
    leader = status.get("leader") or status.get("leader_id") or ""
    if isinstance(leader, dict):
        leader = leader.get("id") or leader.get("master_id") or ""
    return leader


def online_workers(status):
    """How many workers take work."""
    workers = status.get("workers") or []
    if isinstance(workers, int):
        return workers
    if isinstance(workers, dict):
        return int(workers.get("online", 0)) + int(workers.get("busy", 0))
    return sum(str(w.get("state", "")).lower() in ("online", "busy") for w in workers)


def main(arguments):
    try:
        status = json.load(sys.stdin)
    except ValueError:
        return 1
    leader = leader_of(status)
    if arguments[0] == "leader":
        print(leader)
        return 0 if leader else 1
    return 0 if leader and online_workers(status) >= int(arguments[1]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
