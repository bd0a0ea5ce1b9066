"""Ends a ZooKeeper session from outside, as everyone with its number and password can: attaches to it and closes
it. Its holder is alive and gets the event that the session has expired."""
import json
import pathlib
import socket
import struct
import time

CLOSE = -11
EXPIRED = 0  # the session number in the answer when the session is over


def sessions_in(file):
    """(addresses, number, password) of the sessions in a session file; empty while there is no such file."""
    try:
        found = json.loads(pathlib.Path(file).read_text())["sessions"]
    except (OSError, ValueError):
        return []
    return [(one["addresses"], one["session_id"], bytes.fromhex(one["password"])) for one in found]


TRIES = 10


def end(addresses, number, password, patience=2.0):
    """True when this call attached to it and closed it. A busy server may close a connection before it answers:
    then it is asked again, or the next one is."""
    servers = addresses.split("/")[0].split(",")
    for left in reversed(range(TRIES)):
        try:
            return end_at(servers[left % len(servers)], number, password, patience)
        except OSError:  # also ConnectionError, and no answer in time
            if not left:
                raise
            time.sleep(0.1)
    return False


def end_at(server, number, password, patience):
    host, port = server.rsplit(":", 1)
    with socket.create_connection((host, int(port)), patience) as server:
        server.settimeout(patience)
        send(server, struct.pack(">iqiqi16s?", 0, 0, 6000, number, 16, password, False))
        attached = struct.unpack(">iiq", receive(server)[:16])[2]
        if attached == EXPIRED:
            return False
        send(server, struct.pack(">ii", 1, CLOSE))
        try:
            receive(server)
        except ConnectionError:
            pass  # ZooKeeper ends the connection with the session; its answer may be cut off
        return True


def send(server, message):
    server.sendall(struct.pack(">i", len(message)) + message)


def receive(server):
    return take(server, struct.unpack(">i", take(server, 4))[0])


def take(server, size):
    got = b""
    while len(got) < size:
        more = server.recv(size - len(got))
        if not more:
            raise ConnectionError("ZooKeeper closed the connection")
        got += more
    return got
