"""A master for tests of the client: it answers every question of JobService, by reflection over the IDL, with samples of
what is asked for. It keeps nothing and does nothing. Texts hold wide characters."""
import importlib
import pathlib
import socket
import struct
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = "x-\u4f5c\u4e1a-\u00fc"
MOMENT_MS = 1_700_000_000_000
ROWS = 3
FIRST_RUN = 0x0011_2233_4455_0000  # no other bytes of an answer look like the id of a sampled run


def generate(folder):
    """The generated code of the whole IDL."""
    for path in sorted((ROOT / "thrift").glob("*.thrift")):
        subprocess.run(["thrift", "--gen", "py", "-out", folder, str(path)], check=True)
    sys.path.insert(0, folder)


def sample(kind, spec, name, default, row):
    """A value of an IDL type, completely filled; only errors are left out."""
    from thrift.Thrift import TType
    if kind == TType.STRUCT and issubclass(spec[0], Exception):
        return None
    if kind == TType.STRUCT:
        made = spec[0]()
        for field in filter(None, made.thrift_spec):
            _, field_kind, field_name, field_spec, field_default = field
            setattr(made, field_name, sample(field_kind, field_spec, field_name, field_default, row))
        return made
    if kind == TType.LIST:
        return [sample(spec[0], spec[1], name, None, at) for at in range(ROWS)]
    if kind == TType.MAP:
        return {f"key{at}": sample(spec[2], spec[3], name, None, at) for at in range(2)}
    if kind == TType.STRING:
        return b"bytes" if spec == "BINARY" else default or TEXT * (row + 1)
    if kind == TType.BOOL:
        return True
    if kind == TType.DOUBLE:
        return 2.0
    return MOMENT_MS + row if name.endswith("_ms") else default or row + 1


class StandIn:
    """Listens on a port of its own until close(). `runs`: how many list_runs knows, the newest first."""

    def __init__(self, runs=ROWS):
        self.runs = runs
        self.module = importlib.import_module("rota.job.JobService")
        self.pages = {}
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        self.asked = 0
        self.is_asked = threading.Condition()
        self.processor = self._processor()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.socket.close()

    def note_question(self):
        with self.is_asked:
            self.asked += 1
            self.is_asked.notify_all()

    def await_questions(self, more, timeout):
        """False: so many more did not come in time."""
        with self.is_asked:
            until = self.asked + more
            return self.is_asked.wait_for(lambda: self.asked >= until, timeout)

    def _processor(self):
        stand_in = self

        class Answers(self.module.Processor):
            def process_list_runs(self, seqid, iprot, oprot):
                from thrift.Thrift import TMessageType
                asked = stand_in.module.list_runs_args()
                asked.read(iprot)
                iprot.readMessageEnd()
                oprot.writeMessageBegin("list_runs", TMessageType.REPLY, seqid)
                oprot.trans.write(stand_in.page_of(asked.filter))
                oprot.writeMessageEnd()
                oprot.trans.flush()

        made = Answers(self._handler())
        made._processMap["list_runs"] = Answers.process_list_runs
        return made

    def _handler(self):
        stand_in = self

        class Handler:
            def __getattr__(self, method):
                result = getattr(stand_in.module, method + "_result").thrift_spec
                success = result[0] if result else None

                def answer(*arguments):
                    stand_in.note_question()
                    return success and sample(success[1], success[3], method, None, 0)
                return answer
        return Handler()

    def page_of(self, asked):
        """The bytes of an answer to list_runs. A page of each length is made once; then only its ids change."""
        newest = self.runs if asked.before_run is None else asked.before_run - FIRST_RUN - 1
        rows = max(0, min(asked.limit, newest, 1000))
        self.note_question()
        if rows not in self.pages:
            self.pages[rows] = self._made_page(rows)
        page, places = self.pages[rows]
        for at, place in enumerate(places):
            struct.pack_into(">q", page, place, FIRST_RUN + newest - at)
        return bytes(page)

    def _made_page(self, rows):
        from rota.job.ttypes import RunInfo
        from thrift.protocol.TBinaryProtocol import TBinaryProtocol
        from thrift.Thrift import TType
        from thrift.transport.TTransport import TMemoryBuffer
        result = self.module.list_runs_result()
        result.success = []
        for at in range(rows):
            run = sample(TType.STRUCT, [RunInfo, RunInfo.thrift_spec], "", None, at % ROWS)
            run.id, run.state = FIRST_RUN + at, "succeeded"
            result.success.append(run)
        out = TMemoryBuffer()
        result.write(TBinaryProtocol(out))
        page, places, at = bytearray(out.getvalue()), [], 0
        for row in range(rows):
            at = page.index(struct.pack(">q", FIRST_RUN + row), at)
            places.append(at)
        return page, places

    def _accept(self):
        while True:
            try:
                peer, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer):
        from thrift.protocol.TBinaryProtocol import TBinaryProtocol
        from thrift.transport.TSocket import TSocket
        from thrift.transport.TTransport import TFramedTransport, TTransportException
        held = TSocket()
        held.setHandle(peer)
        protocol = TBinaryProtocol(TFramedTransport(held))
        try:
            while True:
                self.processor.process(protocol, protocol)
        except (TTransportException, OSError, EOFError):
            held.close()
