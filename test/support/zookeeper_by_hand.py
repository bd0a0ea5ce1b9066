"""ZooKeeper as an operator or a tool reaches it: one short session that reads, makes and deletes nodes.

    zookeeper_by_hand.py HOST:PORT tree|copy|delete PATH [NEW_PATH]

`tree` prints each node under PATH with its owner, `copy` makes NEW_PATH persistent with PATH's data."""
import contextlib
import dataclasses
import socket
import struct
import sys

CREATE, DELETE, GET, CHILDREN, CLOSE = 1, 2, 4, 8, -11
NO_NODE = -101


class Refused(Exception):
    """The server's error code."""


@dataclasses.dataclass
class Node:
    data: bytes
    created: int
    version: int
    owner: int


def _text(word):
    raw = word if isinstance(word, bytes) else word.encode()
    return struct.pack(">i", len(raw)) + raw


class Hand:
    """`connect`: makes the socket, for hosts that are reached in another way."""

    def __init__(self, host, port, connect=socket.create_connection):
        self.socket, self.xid = connect((host, int(port)), 5), 0
        self.socket.settimeout(5)
        self._send(struct.pack(">iqiq", 0, 0, 10000, 0) + _text(bytes(16)) + b"\0")
        self._receive()

    def _send(self, body):
        self.socket.sendall(struct.pack(">i", len(body)) + body)

    def _read(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                raise ConnectionError("the server closed the connection")
            data += more
        return data

    def _receive(self):
        return self._read(struct.unpack(">i", self._read(4))[0])

    def _ask(self, kind, body=b""):
        self.xid += 1
        self._send(struct.pack(">ii", self.xid, kind) + body)
        answer = self._receive()
        error = struct.unpack(">iqi", answer[:16])[2]
        if error:
            raise Refused(error)
        return answer[16:]

    def create(self, path, data=b""):
        """Persistent, open to all."""
        acl = struct.pack(">ii", 1, 31) + _text("world") + _text("anyone")
        self._ask(CREATE, _text(path) + _text(data) + acl + struct.pack(">i", 0))

    def delete(self, path):
        self._ask(DELETE, _text(path) + struct.pack(">i", -1))

    def get(self, path):
        """None when there is none."""
        try:
            answer = self._ask(GET, _text(path) + b"\0")
        except Refused as error:
            if error.args[0] == NO_NODE:
                return None
            raise
        size = struct.unpack(">i", answer[:4])[0]
        stat = struct.unpack(">qqqqiiiqiiq", answer[4 + max(size, 0):])
        return Node(answer[4:4 + max(size, 0)], stat[0], stat[4], stat[7])

    def children(self, path):
        try:
            answer = self._ask(CHILDREN, _text(path) + b"\0")
        except Refused as error:
            if error.args[0] == NO_NODE:
                return []
            raise
        names, at = [], 4
        for _ in range(struct.unpack(">i", answer[:4])[0]):
            size = struct.unpack(">i", answer[at:at + 4])[0]
            names.append(answer[at + 4:at + 4 + size].decode())
            at += 4 + size
        return sorted(names)

    def copy(self, path, new_path):
        self.create(new_path, self.get(path).data)

    def tree(self, path):
        """(path, node) of all below."""
        for name in self.children(path):
            below = path.rstrip("/") + "/" + name
            node = self.get(below)
            if node:
                yield below, node
            yield from self.tree(below)

    def close(self):
        with contextlib.suppress(OSError):
            self._ask(CLOSE)
            self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main(address, what, path, new_path=""):
    with Hand(*address.rsplit(":", 1)) as hand:
        if what == "tree":
            for below, node in hand.tree(path):
                print(f"{below} owner={node.owner:#x} created={node.created} {node.data[:80]!r}")
        elif what == "copy":
            hand.copy(path, new_path)
        else:
            hand.delete(path)


if __name__ == "__main__":
    main(*sys.argv[1:])
