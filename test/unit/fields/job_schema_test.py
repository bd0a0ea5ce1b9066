#!/usr/bin/python3
"""Holds `rota job schema` against an independent validator, the reader of job files, and the documents.

usage: job_schema_test.py ROTA [--write]

Every job file of README.md, docs/ and examples/ must be taken by the schema (python3-jsonschema) and by
`rota job apply`; files with a mistake must be refused by both. The table of keys in docs/jobs.md must be
what `rota job schema --table` prints; --write puts it there.
exit: 0 all is well, 1 not
"""
import copy
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/jobs.md"
TABLE = re.compile(r"(<!-- keys -->\n).*?(<!-- end of keys -->\n)", re.S)
USAGE = 2  # what `rota` answers to a wrong job file


class Yaml12(yaml.SafeLoader):
    """Reads plain words as editors do: no dates, and no booleans but true and false."""


Yaml12.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":bool"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}
Yaml12.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(true|false)$"), list("tf"))

FULL = """
name: everything
namespace: team
description: "zwei\\nZeilen"
owner: me
labels: {a: b, n: 3}
schedule: {cron: "0 30 7 ? * MON-FRI", dialect: quartz, skipped_time: skip, repeated_time: second}
time_zone: Europe/Berlin
start: 2026-01-01T00:00:00Z
end: 2027-01-01 00:00:00.5+02:00
overlap: queue
queue_limit: 5
late: skip
tick_grace: 0
pool: gpu
worker: w1
retry: {count: 3, delay: 5s, factor: 1.5, max_delay: 1m30s, jitter: 500ms, only: [failed, {signal: 9}],
        never: [{exit: [2, "64-78"]}, start_failed], another_worker: prefer,
        again: {exit: 75, every: 5m, at_most: 6h}}
timeout: 1h30m
kill_grace: 500ms
loss: {then: rerun, most: 2}
disconnect_grace: 2d
keep_logs: forever
keep_runs: 400d
firings: 10
until: success
pause_after_failures: 5
concurrency: 4
route_key: "{{param.customer}}"
select: {zone: fin, os: [deb12, 13]}
prefer: {labels: {rack: [r7, r8]}, for: 2m}
expect: {start_within: 5m, finish_by: "07:30", longer_than: 1.5x}
priority: 80
uses: {oracle: 2, lake: 1}
slots: 3
needs: {memory: 8GiB, cpu: 2, gpu: "1"}
notify: [ops]
on_success: [b]
on_failure: [c, d]
on_end: [e]
command: ["a b", "", 17]
environment: {X: "1", EMPTY: }
parameters: {p: q}
folder: /tmp
output_cap_bytes: 2048
limits: {memory: 512MiB, address_space: 1GiB, processes: 10, open_files: 64, cpu: 1m, file_size: 1000,
         folder: 2GiB, core: 0, cpus: 0.25}
nice: -5
umask: 027
run_as: deploy
keep_folder: on_failure
cleanup: [docker, rm, "rota-{{run}}-{{attempt}}", "{{param.p}}"]
"""
GOOD = {
    "one line": 'name: a\nschedule: "@every 5s"\ncommand: echo hi\n',
    "a fixed rate": "name: a\nschedule: {every: 100ms}\nscript: |\n  echo one\ninterpreter: python3\n",
    "once": "name: a\nschedule: {at: 2026-01-01T00:00:00Z}\ncommand: [x]\n",
    "a handler": "name: 7\nhandler: report\nisolation: process\nloss: confirm\nretry: 3\n",
    "entries": 'name: a\ncommand: [x]\nschedule: [{cron: "0 9 * * *", calendar: {use: [a, b], otherwise: next, day: -1},'
               ' jitter: 30s}, {after_end: 10m, calendar: c}, "@worker_start"]\n',
    "two jobs": "jobs:\n  - {name: a, command: [x]}\n  - {name: b, command: [x], route: named, worker: w}\n",
    "a key of a route": 'name: a\ncommand: [x]\nroute: consistent_hash\nroute_key: "{{param.customer}}"\n',
    "everything": FULL,
    "a calendar": "calendars:\n  - {name: de, days: mon-fri, exclude: ['2026-12-25..2026-12-26']}\n",
    "a calendar beside a job": "calendars: [{name: a}]\njobs: [{name: a, command: [x]}]\n",
    "all keys of a calendar": "calendars: [{name: a, namespace: b, description: c, time_zone: UTC, days: sat, "
                              "include: ['2026-02-14'], hours: {'2026-11-27': '09:30-13:00'}, "
                              "covers: '2026-01-01..2026-12-31', beyond: hold}]\n",
}
# What to put behind `name: a, command: [x]`, or a file of its own; each is one mistake.
MISTAKES = {
    "no name": "command: [x]\n", "an empty name": "name: ''\ncommand: [x]\n",
    "nothing to run": "name: a\n", "no command": "name: a\ncommand: []\n", "an empty command": "name: a\ncommand: ''\n",
    "both": "name: a\ncommand: [x]\nscript: y\n", "a list": "- name: a\n  command: [x]\n",
    "no calendars": "calendars: []\n", "a nameless calendar": "calendars: [{days: mon-fri}]\n",
    "a calendar's wrong day": "calendars: [{name: a, exclude: ['24.12.2026']}]\n",
    "hold without covers": "calendars: [{name: a, beyond: hold}]\n",
    "a calendar's unknown key": "calendars: [{name: a, excludes: []}]\n",
    "hours of no day": "calendars: [{name: a, hours: {'2026-11-27': half}}]\n",
    "no jobs": "jobs: []\n", "jobs as a map": "jobs: {name: a, command: [x]}\n",
    "a key beside jobs": "jobs: [{name: a, command: [x]}]\nname: b\n",
    "a wrong job among jobs": "jobs: [{name: a, command: [x]}, {name: b}]\n",
    "unknown key": {"schdule": "@daily"}, "unknown word": {"overlap": "sometimes"}, "a text as a map": {"owner": {"a": "b"}},
    "too many": {"queue_limit": 10_001}, "too few": {"queue_limit": 0}, "no whole number": {"queue_limit": "many"},
    "no duration": {"timeout": "5 parsecs"}, "units in disorder": {"timeout": "5s1h"}, "a bare number": {"timeout": 5},
    "forever for what ends": {"timeout": "forever"}, "two kinds": {"schedule": {"cron": "* * * * *", "every": "5s"}},
    "no kind": {"schedule": {"dialect": "unix"}}, "a renamed key": {"schedule": {"cron": "* * * * *", "gap": "skip"}},
    "a key of the job": {"schedule": {"cron": "* * * * *", "pool": "a"}}, "no entry": {"schedule": []},
    "an entry of two kinds": {"schedule": [{"every": "5s", "at": "2026-01-01T00:00:00Z"}]},
    "a calendar without a name": {"schedule": {"every": "5s", "calendar": {"otherwise": "next"}}},
    "until": {"until": "monday"}, "firings": {"firings": -1}, "pause_after_failures": {"pause_after_failures": 1001},
    "no clock": {"schedule": {"working_day": 1, "time": "25:00"}}, "a day": {"start": "2026-01-01"},
    "no zone": {"end": "2026-01-01T00:00:00"}, "retries below 0": {"retry": -1}, "a list of retries": {"retry": [3]},
    "retry.speed": {"retry": {"speed": 3}}, "retry.factor": {"retry": {"factor": 0.5}},
    "no end": {"retry": {"count": 1, "only": []}}, "a bare status": {"retry": {"count": 1, "never": [2]}},
    "an end of two kinds": {"retry": {"count": 1, "never": [{"exit": 2, "signal": 9}]}},
    "no such status": {"retry": {"count": 1, "only": [{"exit": [256]}]}},
    "no such end": {"retry": {"count": 1, "only": ["succeeded"]}}, "again without exit": {"retry": {"again": {"every": "5m"}}},
    "again's unknown key": {"retry": {"again": {"exit": 75, "often": "5m"}}},
    "another_worker": {"retry": {"another_worker": "maybe"}}, "loss": {"loss": "maybe"},
    "loss.most": {"loss": {"most": 0}}, "limits": {"limits": 5}, "limits.speed": {"limits": {"speed": 5}},
    "limits.memory": {"limits": {"memory": "12parsecs"}}, "limits.cpus": {"limits": {"cpus": 1001}},
    "umask": {"umask": "999"}, "nice": {"nice": 40}, "folder": {"folder": "relative"}, "pool": {"pool": "a b"},
    "environment": {"environment": ["A=b"]}, "a nested label": {"labels": {"a": {"b": "c"}}},
    "named without a worker": {"route": "named"}, "route": {"route": "nearest"},
    "an empty list of words": {"select": {"os": []}}, "a comma in a list of words": {"select": {"os": ["a,b"]}},
    "select as a list": {"select": ["zone"]}, "keep_folder": {"keep_folder": "sometimes"}, "cleanup as a text": {"cleanup": "rm x"},
}


def is_job_file(document):
    if not isinstance(document, dict):
        return False
    return {"jobs", "calendars"} & document.keys() or ("name" in document and {"command", "script", "handler"} & document.keys())


def fenced(path):
    for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```", path.read_text(), re.S | re.M)):
        yield f"{path.relative_to(ROOT)} block {number + 1}", block


def job_files():
    """(where, text) of each job file that users are shown."""
    for path in sorted([*ROOT.glob("examples/**/*.yaml"), *ROOT.glob("config/*.yaml")]):
        if is_job_file(yaml.load(path.read_text(), Yaml12)):
            yield str(path.relative_to(ROOT)), path.read_text()
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]:
        for where, text in fenced(path):
            if is_job_file(yaml.load(text, Yaml12)):
                yield where, text


def mistaken():
    for name, change in MISTAKES.items():
        job = {"name": "a", "command": ["x"]}
        if isinstance(change, dict):
            change = json.dumps({**job, **copy.deepcopy(change)})
        yield name, change


class Judge:
    def __init__(self, rota):
        self.rota = rota
        self.schema = json.loads(self.printed("job", "schema"))
        jsonschema.Draft7Validator.check_schema(self.schema)
        self.validator = jsonschema.Draft7Validator(self.schema)
        self.failures = []

    def printed(self, *words):
        return subprocess.run([self.rota, *words], check=True, capture_output=True, text=True).stdout

    def expect(self, condition, what):
        if not condition:
            self.failures.append(what)

    def problems_of_schema(self, text):
        return [f"{'.'.join(map(str, e.absolute_path))}: {e.message}"
                for e in self.validator.iter_errors(yaml.load(text, Yaml12))]

    def problems_of_reader(self, text):
        """What `rota job apply` says before it asks anybody; nobody answers at port 1."""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(text)
            file.flush()
            done = subprocess.run([self.rota, "--masters", "127.0.0.1:1", "--deadline", "1ms", "job", "apply", "-f",
                                   file.name], capture_output=True, text=True)
        return done.stderr if done.returncode == USAGE else ""

    def take(self, where, text):
        problems = self.problems_of_schema(text)
        self.expect(not problems, f"{where}: the schema refuses it: {problems}")
        told = self.problems_of_reader(text)
        self.expect(not told, f"{where}: the reader refuses it: {told}")

    def refuse(self, name, text):
        self.expect(self.problems_of_schema(text), f"mistake '{name}': the schema takes it")
        self.expect(self.problems_of_reader(text), f"mistake '{name}': the reader takes it")

    def hold_page(self, write):
        page = PAGE.read_text()
        table = self.printed("job", "schema", "--table")
        wanted = TABLE.sub(lambda found: found[1] + table + found[2], page)
        if write:
            PAGE.write_text(wanted)
        elif wanted != page or not TABLE.search(page):
            self.failures.append("docs/jobs.md does not hold the table of keys as it is now; write it by: "
                                 f"test/unit/fields/job_schema_test.py {self.rota} --write")


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 1
    judge = Judge(arguments[0])
    judge.hold_page(arguments[1:] == ["--write"])
    shown = list(job_files())
    judge.expect(len(shown) >= 5, f"only {len(shown)} job files were found in the documents")
    for where, text in [*shown, *GOOD.items()]:
        judge.take(where, text)
    for name, text in mistaken():
        judge.refuse(name, text)
    keys = set(judge.schema["definitions"]["job"]["properties"])
    missing = keys - set(yaml.load(FULL, Yaml12)) - {"script", "interpreter", "handler", "isolation", "route"}
    judge.expect(not missing, f"the file with everything lacks {sorted(missing)}")
    for failure in judge.failures:
        print(failure)
    print(f"{len(shown)} job files of documents, {len(GOOD)} others, {len(MISTAKES)} mistakes, "
          f"{len(judge.failures)} failures")
    return 1 if judge.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
