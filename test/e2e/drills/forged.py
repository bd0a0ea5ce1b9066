"""Forged output: chunks that no worker would send."""
import socket
import struct
import time
import zlib

from cluster import check, figure, wait_until
from judged import Store

STRUCT, LIST, I32, I64, STRING = 12, 15, 8, 10, 11


def field(kind, number, value):
    return struct.pack(">bh", kind, number) + value


def text(value):
    return struct.pack(">i", len(value)) + value


def number(value):
    return struct.pack(">q", value)


def chunk(run, offset, content, dropped=0, attempt=1):
    """A LogChunk of thrift/report.thrift, in the binary protocol."""
    key = field(I64, 1, number(int(run))) + field(I32, 2, struct.pack(">i", attempt)) + b"\0"
    return (field(STRUCT, 1, key) + field(I32, 2, struct.pack(">i", 1)) + field(I64, 3, number(offset))
            + field(STRING, 4, text(content)) + field(I64, 5, number(zlib.crc32(content)))
            + field(I64, 6, number(int(time.time() * 1000))) + field(I64, 7, number(dropped)) + b"\0")


def received(connection, length):
    out = b""
    while len(out) < length:
        part = connection.recv(length - len(out))
        check(part, "the master closed the connection")
        out += part
    return out


def append_log(address, *chunks):
    """The master's answer, as bytes: a list of ends, or an error with its message."""
    host, port = address.rsplit(":", 1)
    call = (struct.pack(">I", 0x80010001) + text(b"append_log") + struct.pack(">i", 1)
            + field(LIST, 1, struct.pack(">bi", STRUCT, len(chunks)) + b"".join(chunks)) + b"\0")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(text(call))
        return received(connection, struct.unpack(">i", received(connection, 4))[0])


def stored(store, run=None):
    return int(store.ask("SELECT COUNT(*) FROM log_chunk" + (f" WHERE run_id = {run}" if run else "")))


def alarms_about(cluster, run):
    """One word of each master; nothing before both are told."""
    words = cluster.json("cluster", "status")["health"]
    found = [word for word in words.values() if "other content" in word and f"run {run}" in word]
    return found if len(found) >= 2 else None


def refused(cluster):
    store, began = Store(cluster), time.monotonic()
    run = cluster.submit("/bin/echo", "printed")
    cluster.await_run(run)
    wait_until(lambda: stored(store, run) == 1, 30, "the output is stored")
    before, named = stored(store), 0
    for address in cluster.env["ROTA_MASTERS"].split(","):
        for forged, word in ((chunk(run, 2**63 - 1, b"x"), b"9223372036854775807"), (chunk(run, 2**62, b"x"), b"4611686018427387904"),
                             (chunk(run, 2**62, b"x", 2**62), b"4611686018427387904"), (chunk(run, 2**40, b"x"), b"1099511627776"),
                             (chunk(77, 0, b"x"), b"run 77"), (chunk(int(run) + 10**6, 0, b"x"), b"no such run"),
                             (chunk(run, 0, b"PRINTED\n"), b"other bytes are stored")):
            answer = append_log(address, forged)
            check(word in answer, f"refused by name: {answer}")
            named += 1
    # The leader's own, and the other master's as the leader knows it.
    alarms = wait_until(lambda: alarms_about(cluster, run), 30, "both masters' alarms")
    check(stored(store) == before, "nothing forged is stored")
    check(cluster.ok("run", "logs", run) == "printed\n", "what was printed stands")
    cluster.await_verified()
    figure("forged", refused_by_name=named, stored=0, alarms=len(alarms), seconds=round(time.monotonic() - began, 1))
