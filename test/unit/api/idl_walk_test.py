#!/usr/bin/python3
"""Walks the services of the IDL: each method must take the Caller first in our own interface, have a row that
says what it needs, and pass the edge under its own name. Nothing of ours may serve Thrift's interfaces beside
the adapters, where no Caller is made."""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
RIGHTS = "common/rpc/method_rights.cpp"
FACES = ("master/api/services.h", "worker/api/services.h")
ADAPTERS = ("master/api/service_adapters.cpp", "worker/api/service_adapters.cpp")
# These may name what Thrift generated to serve with: the adapters, and who puts two services on one port.
MAY_SERVE = ADAPTERS + ("master/api/service_adapters.h", "master/api/processor.cpp")
SERVED_BY = re.compile(r"\b\w+Service(?:If|Null|Processor|ProcessorT|IfFactory|ProcessorFactory)\b")


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*|#[^\n]*", "", text, flags=re.S)


def methods_of_idl(text):
    """{service: [method, ...]}"""
    found = {}
    for service, body in re.findall(r"\bservice\s+(\w+)[^{]*\{(.*?)\}", without_comments(text), re.S):
        found[service] = re.findall(r"(\w+)\s*\([^()]*\)\s*throws\b", body)
        if len(found[service]) != body.count("throws"):
            raise ValueError(f"{service}: a method that this test cannot read")
    return found


def class_bodies(text):
    """{class: text}"""
    return dict(re.findall(r"\bclass (\w+)[^{;]*\{(.*?)^\};", text, re.S | re.M))


def virtuals_of(body):
    """{method: its first parameter}"""
    found = re.findall(r"\bvirtual\s+[\w:<>,\s&]+?\b(\w+)\(\s*([^,()]*)", without_comments(body))
    return {method: " ".join(first.split()) for method, first in found}


def problems(idl, files):
    """What is wrong, as sentences. idl: {service: methods}; files: {path: text} of the product."""
    out = []
    faces = {}
    for path in FACES:
        faces.update(class_bodies(files[path]))
    adapters = "\n".join(files[path] for path in ADAPTERS)
    rows = re.findall(r'\{"(\w+)", Right::\w+\}', files[RIGHTS])
    served = re.findall(r'\bvoid (\w+)\([^{]*?\) override \{\s*edge_\.serve\(\s*"(\w+)"', adapters, re.S)
    overrides = re.findall(r"\bvoid (\w+)\([^{]*?\) override \{", adapters, re.S)
    everything = [method for methods in idl.values() for method in methods]
    for service, methods in idl.items():
        virtuals = virtuals_of(faces.get(service, ""))
        for method in methods:
            if virtuals.get(method) != "const Caller& caller":
                out.append(f"{service}.{method} takes no Caller in {' or '.join(FACES)}")
            if rows.count(method) != 1:
                out.append(f"{service}.{method} has {rows.count(method)} rows in {RIGHTS}")
            if (method, method) not in served:
                out.append(f"{service}.{method} does not pass the edge under its own name")
        out += [f"{service}.{method} is no method of the IDL" for method in virtuals if method not in methods]
    out += [f"{RIGHTS}: {method} is no method of the IDL" for method in rows if method not in everything]
    out += [f"{method} is adapted without the edge" for method in overrides if (method, method) not in served]
    for path, text in files.items():
        names = SERVED_BY.findall(without_comments(text))
        if names and path not in MAY_SERVE:
            out.append(f"{path}: {names[0]} serves Thrift's interface, which makes no Caller")
    return sorted(set(out))


def read_all():
    idl = {}
    for path in sorted((ROOT / "thrift").glob("*.thrift")):
        idl.update(methods_of_idl(path.read_text(encoding="utf-8")))
    files = {}
    for folder in ("common", "master", "worker", "client"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".h", ".cpp"):
                files[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
    return idl, files


class Walk(unittest.TestCase):
    def setUp(self):
        self.idl, self.files = read_all()
        self.before = problems(self.idl, self.files)

    def new_problems(self):
        return [problem for problem in problems(self.idl, self.files) if problem not in self.before]

    def replaced(self, path, old, new):
        self.assertEqual(self.files[path].count(old), 1, f"{old} in {path}")
        self.files[path] = self.files[path].replace(old, new)
        return self.new_problems()

    def test_every_method_has_a_caller_and_a_right(self):
        self.assertEqual(self.before, [])
        self.assertGreater(len(self.idl["JobService"]), 20)
        self.assertEqual(set(self.idl), {"JobService", "ReportService", "WorkerService"})

    def test_a_method_that_is_added_to_the_idl_alone_is_found_in_each_place(self):
        text = 'service JobService {\n  /** New. */\n  i64 steal(1: i64 run) throws (1: common.RotaError error)\n}'
        self.idl["JobService"] = self.idl["JobService"] + methods_of_idl(text)["JobService"]
        self.assertEqual(self.new_problems(), [
            "JobService.steal does not pass the edge under its own name",
            f"JobService.steal has 0 rows in {RIGHTS}",
            "JobService.steal takes no Caller in master/api/services.h or worker/api/services.h"])

    def test_a_method_without_a_caller_is_found(self):
        found = self.replaced("worker/api/services.h", "virtual void drain(const Caller& caller, ", "virtual void drain(")
        self.assertEqual(found, ["WorkerService.drain takes no Caller in master/api/services.h or worker/api/services.h"])

    def test_a_method_that_asks_for_another_ones_right_is_found(self):
        found = self.replaced("worker/api/service_adapters.cpp", 'edge_.serve("cancel"', 'edge_.serve("inventory"')
        self.assertEqual(found, ["WorkerService.cancel does not pass the edge under its own name",
                                 "cancel is adapted without the edge"])

    def test_a_row_of_no_method_is_found(self):
        found = self.replaced(RIGHTS, '{"renew", Right::Report},', '{"renew", Right::Report}, {"renew_all", Right::Read},')
        self.assertEqual(found, [f"{RIGHTS}: renew_all is no method of the IDL"])

    def test_a_server_beside_the_adapters_is_found(self):
        self.files["worker/other.cpp"] = "class Other : public thrift::WorkerServiceIf {};"
        self.assertEqual(self.new_problems(),
                         ["worker/other.cpp: WorkerServiceIf serves Thrift's interface, which makes no Caller"])


if __name__ == "__main__":
    sys.exit(unittest.main())
