"""A TCP proxy that can be cut: connections to its target are then refused, as in a broken network."""
import socket
import threading


class Proxy:
    """Calls `target_port` at each connection; while it returns None, all connections are refused."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_cut = False
        self.pairs = set()
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            port = None if self.is_cut else self.target_port()
            try:
                if port is None:
                    raise OSError("nobody there")
                far = socket.create_connection(("127.0.0.1", port), timeout=5)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs |= {near, far}
            if self.is_cut:  # meanwhile
                self.drop(near)
                self.drop(far)
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(a, b), daemon=True).start()

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            self.drop(end)

    def drop(self, end):
        with self.lock:
            self.pairs.discard(end)
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        end.close()

    def cut(self):
        self.is_cut = True
        with self.lock:
            ends = list(self.pairs)
        for end in ends:
            self.drop(end)

    def heal(self):
        self.is_cut = False

    def close(self):
        self.cut()
        self.listener.close()
