"""Contexts: named clusters in a person's own file, and which voice is the strongest."""
import json
import os
import signal
import stat
import subprocess

from cluster import check, figure, wait_until
from documents import at_terminal


class Person:
    """Somebody with an own folder of settings and nothing in the environment."""

    def __init__(self, cluster, folder):
        self.program = cluster.programs + "/rota"
        self.home = folder + "/person"
        os.makedirs(self.home, exist_ok=True)
        self.env = {name: value for name, value in cluster.env.items() if not name.startswith("ROTA_")}
        self.env.update(HOME=self.home, XDG_CONFIG_HOME=self.home + "/settings")
        self.file = self.home + "/settings/rota/config.yaml"

    def rota(self, *words, **environment):
        return subprocess.run([self.program, *words], env={**self.env, **environment}, text=True, capture_output=True, timeout=60)

    def ok(self, *words, **environment):
        done = self.rota(*words, **environment)
        check(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr}")
        return done.stdout

    def said(self, *words, **environment):
        rows = json.loads(self.ok("-o", "json", *words, "context", "show", **environment))
        return {row["setting"]: (row["value"], row["said_by"]) for row in rows}


def kept(cluster, person):
    """Made, used, changed, deleted; the file is the person's alone."""
    masters = cluster.env["ROTA_MASTERS"]
    check(person.rota("job", "list").returncode == 2, "nobody says where the cluster is")
    person.ok("context", "set", "here", "--masters", masters)
    check(stat.S_IMODE(os.stat(person.file).st_mode) == 0o600, "the file's mode")
    check(person.rota("job", "list").returncode == 2, "a context that nobody uses")
    check(person.rota("--context", "her", "job", "list").returncode == 3, "no such context")
    check("did you mean here?" in person.rota("--context", "her", "job", "list").stderr, "a near name")
    person.ok("--context", "here", "job", "list")
    person.ok("job", "list", ROTA_CONTEXT="here")
    person.ok("context", "use", "here")
    person.ok("cluster", "status")
    person.ok("context", "set", "there", "--zookeeper", cluster.env["ROTA_ZOOKEEPER"], "--namespace", "elsewhere")
    person.ok("--context", "there", "cluster", "status")
    check(json.loads(person.ok("-o", "json", "--context", "there", "job", "list")) == [], "jobs of another namespace")
    refused = person.rota("context", "set", "bad", "--masters", "nowhere")
    check(refused.returncode == 2 and "host:port" in refused.stderr, refused.stderr)
    return masters


def voices(person, masters):
    """An option before the environment, this before the context, this before what is built in; all told."""
    person.ok("context", "set", "here", "--namespace", "of-context")
    check(person.said()["namespace"] == ("of-context", "context here"), person.said())
    check(person.said(ROTA_NAMESPACE="of-env")["namespace"] == ("of-env", "ROTA_NAMESPACE"), "the environment")
    check(person.said("--namespace", "of-option", ROTA_NAMESPACE="of-env")["namespace"] == ("of-option", "--namespace"), "an option")
    check(person.said("--context", "there", ROTA_CONTEXT="here")["context"] == ("there", "--context"), "an option for the context")
    check(person.said()["masters"] == (masters, "context here"), person.said())
    check(person.said()["cluster"] == ("rota", "built in"), person.said())
    # ZooKeeper from a stronger voice: the masters of the context would be another cluster's.
    check(person.said("--zookeeper", "127.0.0.1:1")["masters"][0] == "", "masters of the context beside --zookeeper")
    person.ok("context", "set", "here", "--unset", "namespace")
    check(person.said()["namespace"] == ("default", "built in"), person.said())


def asked(cluster, person):
    """Questions name the cluster."""
    cluster.apply("name: asked-about\ncommand: [/bin/true]\n")
    status, _, shown = at_terminal([person.program, "job", "delete", "asked-about"], person.env, [("[y/N]", lambda: "n\n")])
    check(status == 2 and "context here: masters " in shown and "namespace default" in shown, shown)
    cluster.ok("job", "delete", "--yes", "asked-about")


def wrong_files(person):
    """A wrong file is told with place, value and remedy by every command that needs it, and is not written over."""
    right = open(person.file).read()
    cases = {"contexts:\n  here: {masters: nowhere}\n": f"{person.file}:2:19 contexts.here.masters: \"nowhere\" is no list",
             "contexts:\n  here: {mastrs: 'a:1'}\n": "masters",
             "current: away\ncontexts: {}\n": "there is no context \"away\"",
             "contexts: [\n": "this is no YAML",
             "\xff": "UTF-8"}
    for text, told in cases.items():
        with open(person.file, "w", encoding="latin-1") as out:
            out.write(text)
        for words in (["job", "list"], ["context", "list"], ["context", "use", "here"], ["context", "set", "x", "--masters", "a:1"]):
            done = person.rota(*words)
            check(done.returncode == 2 and told in done.stderr, f"{text!r} {words}: exit {done.returncode}: {done.stderr}")
        check(open(person.file, encoding="latin-1").read() == text, "a wrong file was written over")
        check(person.rota("--help").returncode == 0 and person.rota("job", "schema").returncode == 0, "what needs no cluster")
    with open(person.file, "w") as out:
        out.write(right)
    return len(cases)


def many_at_once(person):
    """Commands that change the file at the same time lose nothing; a link to it stays a link."""
    os.rename(person.file, person.home + "/elsewhere.yaml")
    os.symlink(person.home + "/elsewhere.yaml", person.file)
    count = 20
    running = [subprocess.Popen([person.program, "context", "set", f"c{i}", "--masters", f"127.0.0.1:{1000 + i}"], env=person.env,
                                stdout=subprocess.DEVNULL) for i in range(count)]
    check(all(each.wait(60) == 0 for each in running), "one failed")
    names = [row["name"] for row in json.loads(person.ok("-o", "json", "context", "list"))]
    check({f"c{i}" for i in range(count)} <= set(names), f"{names}")
    check(os.path.islink(person.file), "the link")
    for i in range(count):
        person.ok("context", "delete", "--yes", f"c{i}")
    return count


def completed(person):
    def words(*begun):
        return [line.split("\t")[0] for line in person.ok("--complete", *begun).splitlines()]
    check(words("context", "use", "th") == ["there"], "names of contexts")
    check(words("--context", "") == ["here", "there"], "values of --context")
    check("worker-1" in words("--context", "here", "worker", "drain", ""), "the cluster of --context")


def watched(cluster, person):
    """One document for each change; Ctrl-C is a clean end."""
    cluster.apply("name: watched\ncommand: [/bin/true]\n")
    process = subprocess.Popen([person.program, "-o", "json", "job", "list", "watched", "--watch", "--interval", "100ms"],
                               env=person.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    states = [json.loads(process.stdout.readline())[0]["state"]]
    cluster.ok("job", "pause", "watched")
    states.append(json.loads(process.stdout.readline())[0]["state"])
    process.send_signal(signal.SIGINT)
    rest, told = process.communicate(timeout=60)
    check(states == ["enabled", "paused"] and not rest and process.returncode == 0, f"{states} {rest} {told} {process.returncode}")
    cluster.ok("job", "delete", "--yes", "watched")


def listed(cluster, person):
    """All runs that the cluster knows, in each form, and some of them."""
    cluster.await_run(cluster.submit("/bin/false"))
    runs = json.loads(person.ok("-o", "json", "run", "list", "--all"))
    check(len({run["id"] for run in runs}) == len(runs) > 0, "a run stands twice, or none is there")
    for form in ("table", "wide", "yaml", "csv"):
        text = person.ok("-o", form, "run", "list", "--all")
        check(all(run["id"] in text for run in runs), f"-o {form} lacks a run")
    failed = json.loads(person.ok("-o", "json", "run", "list", "--where", "state=failed"))
    check(failed and all(run["state"] == "failed" for run in failed), "--where")
    return len(runs)


def all_of_them(cluster, folder):
    person = Person(cluster, folder)
    masters = kept(cluster, person)
    voices(person, masters)
    asked(cluster, person)
    cases = wrong_files(person)
    changes = many_at_once(person)
    completed(person)
    watched(cluster, person)
    runs = listed(cluster, person)
    check(person.rota("context", "delete", "here").returncode == 2, "nobody is asked without a terminal")
    person.ok("context", "delete", "--yes", "here")
    check(wait_until(lambda: person.said()["context"][0] == "", 5, "no context is current"), "it was the current one")
    figure("contexts", wrong_files=cases, changes_at_once=changes, runs_listed=runs)
