"""Reads the output of `rota cluster status -o json` from stdin, for the shell scripts.

cluster_status.py leader    prints the leading master's id; exit 1 when there is none
cluster_status.py ready N   exit 0 when there is a leader and at least N workers are online
"""
import json
import sys


def leader_of(status):
    """The leading master's id; empty while there is none, or while it is not yet published."""
    if not status.get("leader"):
        return ""
    for master in status.get("masters", []):
        if master.get("leads"):
            return master["id"]
    return ""


def online_workers(status):
    """How many workers accept work."""
    return sum(worker["state"] in ("online", "busy", "warning") for worker in status.get("workers", []))


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
