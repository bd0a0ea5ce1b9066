"""Bad bytes in every text of the IDL, by reflection; a strict reader (Python) reads every answer. A request of people is
refused with the place; every answer is UTF-8; texts are cut between characters."""
import importlib
import os
import subprocess
import sys
import urllib.error
import urllib.request

from cluster import ROOT, check, figure, wait_until

BROKEN = b"gr\xc3\xbc\xff\xe4\xb8"
# Valid, with characters that a cut at any byte would split.
LONG = ["a" + "\u00fc" * 3000, "\u4e2d" * 2000, "ab" + "\U0001f600" * 1500]
SERVICES = {"JobService": ("rota.job", "masters"), "ReportService": ("rota.report", "masters"),
            "WorkerService": ("rota.worker", "workers")}


class Talk:
    """A client of one service that can send any bytes as a text; counts its answers."""

    def __init__(self, service, address):
        from thrift.protocol import TBinaryProtocol
        from thrift.transport import TSocket, TTransport

        class AnyBytes(TBinaryProtocol.TBinaryProtocol):
            def writeString(self, value):  # the generated code passes a str; a slot contains bytes
                self.writeBinary(value if isinstance(value, bytes) else value.encode())

        self.module = importlib.import_module(f"{SERVICES[service][0]}.{service}")
        host, port = address.rsplit(":", 1)
        socket = TSocket.TSocket(host, int(port))
        socket.setTimeout(60000)
        self.transport = TTransport.TFramedTransport(socket)
        self.client = self.module.Client(AnyBytes(self.transport))
        self.transport.open()

    def methods(self):
        return [n for n in dir(self.module.Iface) if not n.startswith("_")]


class Tally:
    def __init__(self):
        self.answers = self.refused = 0
        self.invalid = []

    def ask(self, what, question):
        """The answer, or the RotaError; records a text in it that Python cannot read."""
        from rota.ttypes import RotaError
        self.answers += 1
        try:
            return question()
        except UnicodeDecodeError as error:
            self.invalid.append(f"{what}: {error}")
        except RotaError as error:
            return error
        return None


def sample(kind, spec, slots, path, default=None):
    """A value of an IDL type, completely filled. Each text in it adds (its path, a setter) to `slots`."""
    from thrift.Thrift import TType
    if kind == TType.STRUCT:
        made = spec[0]()
        for field in filter(None, made.thrift_spec):
            _, field_kind, name, field_spec, field_default = field
            where = path + [name]
            if field_kind == TType.STRING and field_spec != "BINARY":
                slots.append((where, lambda value, of=made, at=name: setattr(of, at, value)))
            setattr(made, name, sample(field_kind, field_spec, slots, where, field_default))
        return made
    if kind == TType.LIST:
        if spec[0] == TType.STRING and spec[1] != "BINARY":
            made = ["x"]
            slots.append((path, lambda value: made.__setitem__(0, value)))
            return made
        return [sample(spec[0], spec[1], slots, path)]
    if kind == TType.MAP:
        made = {"key": sample(spec[2], spec[3], [], path)}
        if spec[2] == TType.STRING:
            slots.append((path + ["key"], lambda value: made.__setitem__("key", value)))

        def rename(value):
            made[value] = made.pop("key", "x")
        slots.append((path, rename))
        return made
    if kind == TType.STRING:
        return b"bytes" if spec == "BINARY" else default or "x"
    if kind == TType.BOOL:
        return True
    if kind == TType.DOUBLE:
        return 2.0
    return default or 1


def arguments(talk, method, slots):
    """The arguments of the method, in order."""
    from thrift.Thrift import TType
    kinds = getattr(talk.module, method + "_args").thrift_spec
    made = []
    for at, (_, kind, name, spec, default) in enumerate(filter(None, kinds)):
        made.append(sample(kind, spec, slots, [name], default))
        if kind == TType.STRING and spec != "BINARY":
            slots.append(([name], lambda value, at=at: made.__setitem__(at, value)))
    for value in made:
        if type(value).__name__ == "RequestHead":
            value.deadline_ms, value.forward, value.forwarded = 5000, True, False
        if type(value).__name__ == "LogRequest":
            value.wait_ms = 0
    return made


def ask_every_text(talk, service, tally, value, is_broken):
    """One call for each text of each method, with that value in it."""
    from rota.ttypes import RotaError
    for method in talk.methods():
        count = len((lambda s: (arguments(talk, method, s), s)[1])([]))
        for number in range(count):
            slots = []
            made = arguments(talk, method, slots)
            path, put = slots[number]
            put(value)
            what = f"{service}.{method} {'.'.join(path)}"
            answer = tally.ask(what, lambda: getattr(talk.client, method)(*made))
            if not is_broken or service != "JobService":
                continue
            tally.refused += 1
            check(isinstance(answer, RotaError), f"{what}: broken bytes were taken: {answer}")
            check(path[-1] in answer.message and "is part of no character" in answer.message and answer.kind == 1,
                  f"{what}: the place is not named: {answer.message}")


def echoes(talk, tally, head, cluster):
    """Texts that are stored, cut, or shown later, read through every list that shows them."""
    from rota.job.ttypes import RunFilter, Schedule
    client = talk.client
    bad = "printf 'progress 5 gr\\303\\274\\377n\\nfailure %0999d\\344\\270\\255\\344\\n' 0 >&3; printf '\\377' >&2; exit 3"
    run = cluster.submit("/bin/sh", "-c", bad)
    cluster.await_run(run)
    for why in LONG:
        tally.ask("drain", lambda: client.drain_worker(head, "worker-1", 60000, why))
        for ask in (lambda: client.list_workers(head), lambda: client.cluster_status(head)):
            tally.ask("while drained", ask)
        read_pages(cluster, tally)
        tally.ask("resume", lambda: client.resume_worker(head, "worker-1", why))
        one = cluster.submit("/bin/sleep", "60")
        tally.ask("cancel", lambda: client.cancel_run(head, int(one), why))
        cluster.await_run(one)
        tally.ask("its run", lambda: client.get_run(head, int(one)))
    for ask in (lambda: client.get_run(head, int(run)), lambda: client.explain(head, int(run)),
                lambda: client.list_runs(head, RunFilter(limit=100)), lambda: client.list_lives(head, "worker-1", 100)):
        tally.ask("what was told", ask)
    for place in range(5):
        for text in ("\u00fc", "\u4e2d\u4e2d", "1\u00fc", "JAN\U0001f600", "\u00fc" * 300):
            fields = ["*"] * 5
            fields[place] = text
            cron = Schedule(kind="cron", cron=" ".join(fields))
            answer = tally.ask(f"cron {fields}", lambda: client.next_fires(head, cron, 0, 1, "", ""))
            check("\ufffd" not in str(answer), f"a character was cut in {answer}")


def body_of(url):
    try:
        return urllib.request.urlopen(url, timeout=20).read()
    except urllib.error.HTTPError as error:  # "degraded" is an answer, too
        return error.read()


def read_pages(cluster, tally):
    for url in (cluster.env["ROTA_MASTER_PAGES"] + "," + cluster.env["ROTA_WORKER_PAGES"]).split(","):
        for page in ("/", "/metrics", "/healthz"):
            tally.ask(url + page, lambda: body_of(url + page).decode("utf-8"))


def command_line(cluster, folder):
    """Files, words of the command line and the environment."""
    def rota(*words, **more):
        return subprocess.run([cluster.programs.encode() + b"/rota", *words], env=cluster.env, capture_output=True, **more)
    file = rota(b"job", b"apply", b"--yes", b"-f", b"-", input=b"name: a\ncommand: [gr\xc3\xbc\xff]\n")
    check(file.returncode == 2 and b"<stdin>:2:14" in file.stderr and b"not UTF-8" in file.stderr, file.stderr)
    for words in ([b"job", b"show", BROKEN], [b"submit", b"--name", BROKEN, b"--", b"/bin/true"],
                  [b"submit", b"--", b"/bin/echo", BROKEN], [b"run", b"list", b"--job", BROKEN]):
        done = rota(*words)
        check(done.returncode == 2 and (b"UTF-8" in done.stderr), f"{words}: {done.returncode} {done.stderr}")
        done.stderr.decode("utf-8")
    plain = folder + "/plain.yaml"
    with open(plain, "w") as out:
        out.write("cluster: rota\n")
    for program, name in (("rota-master", "ROTA_CLUSTER"), ("rota-worker", "ROTA_POOL")):
        env = {os.fsencode(k): os.fsencode(v) for k, v in cluster.env.items()}
        env[name.encode()] = BROKEN
        done = subprocess.run([f"{cluster.programs}/{program}", "--config", plain, "--check-config"], env=env, capture_output=True)
        check(done.returncode == 2 and b"UTF-8" in done.stderr, f"{program}: {done.stderr}")
    return 7


def everywhere(cluster, folder):
    generated = folder + "/gen_texts"
    os.makedirs(generated, exist_ok=True)
    for file in sorted((ROOT / "thrift").glob("*.thrift")):
        subprocess.run(["thrift", "--gen", "py", "-out", generated, str(file)], check=True)
    sys.path.insert(0, generated)
    from rota.ttypes import RequestHead
    tally, addresses = Tally(), {"masters": cluster.env["ROTA_MASTERS"].split(","),
                                 "workers": cluster.env["ROTA_WORKERS"].split(",")}
    leader = cluster.json("cluster", "status")["leader"]
    for service, (_, where) in SERVICES.items():
        talk = Talk(service, leader if where == "masters" else addresses[where][0])
        ask_every_text(talk, service, tally, BROKEN, True)
        for value in LONG:
            ask_every_text(talk, service, tally, value, False)
    for address in addresses["masters"]:
        talk = Talk("JobService", address)
        echoes(talk, tally, RequestHead(forward=True, deadline_ms=30000), cluster)
    cases = command_line(cluster, folder)
    check(not tally.invalid, f"{len(tally.invalid)} of {tally.answers} answers are no UTF-8: {tally.invalid[:5]}")
    check(tally.refused > 100, f"only {tally.refused} texts were found in the IDL")
    wait_until(lambda: cluster.await_run(cluster.submit("/bin/true"))["state"] == "succeeded", 30, "it works afterwards")
    figure("texts", answers=tally.answers, invalid=len(tally.invalid), refused_with_place=tally.refused, words=cases)
