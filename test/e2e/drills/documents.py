"""Runs the commands of README and docs as written, at a terminal when they ask; and checks that the commands that the
text mentions (`rota run wait RUN`) exist."""
import os
import pty
import re
import select
import subprocess
import time

from cluster import PATIENCE, ROOT, check, figure, wait_until

FILES = ("README.md", "docs/calendars.md", "docs/children.md", "docs/command-line.md", "docs/jobs.md", "docs/late.md", "docs/operating.md", "docs/overlap.md", "docs/promises.md",
         "docs/autoscale.md", "docs/limits.md", "docs/needs.md", "docs/expectations.md", "docs/notifications.md", "docs/reasons.md", "docs/retries.md", "docs/routing.md", "docs/semaphores.md", "docs/turns.md",
         "docs/nodes.md", "docs/settings.md", "docs/why.md",
         "docs/schedules.md", "docs/testing.md", "docs/wishes.md")
# Beginnings of commands that are not run here, each with its reason. All others are run.
NOT_RUN = {
    "scripts/quickstart": "starts the private cluster that this drill stands on, as the shell tests do",
    'eval "$(scripts/cluster env)"': "the drill has its environment",
    "scripts/cluster down": "would end the cluster of the other drills",
    "scripts/test": "runs this",
    "scripts/install": "installs packages of the system",
    "cmake --build": "builds what is run here",
    "install -D": "writes below /opt",
    "scripts/watchdog --kind": "is what scripts/cluster does, with files below /var/lib and /etc",
    "part=": "makes a cgroup of the system's",
    "mkdir -p \"$part": "the same",
    "ROTA_CGROUP_DIR=": "the same",
}
PLACE = re.compile(r"\b[A-Z][A-Z]*\b(\.\.\.)?|…")


def at_terminal(words, env, answers=(), cwd=None, seconds=60):
    """Runs a command with a terminal as input and errors. `answers`: (text to wait for, a function that then returns
    what to type). Returns (exit status, standard output, the text on the terminal)."""
    ours, theirs = pty.openpty()
    answers, shown, end = list(answers), "", time.monotonic() + seconds * PATIENCE
    done = subprocess.Popen(words, env=env, cwd=cwd, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    out = b""
    try:
        while True:
            check(time.monotonic() < end, f"{words} hangs: {shown[-500:]}")
            ready, _, _ = select.select([ours, done.stdout], [], [], 0.1)
            if ours in ready:
                try:
                    shown += os.read(ours, 65536).decode("utf-8", "replace")
                except OSError:  # the last process has closed the terminal
                    break
            if done.stdout in ready:
                out += os.read(done.stdout.fileno(), 65536)
            if answers and answers[0][0] in shown:
                _, act = answers.pop(0)
                os.write(ours, act().encode())
        out += done.stdout.read()
        return done.wait(timeout=seconds * PATIENCE), out.decode("utf-8", "replace"), shown.replace("\r\n", "\n")
    finally:
        if done.poll() is None:
            done.kill()
            done.wait()
        done.stdout.close()
        os.close(ours)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.S | re.M)


def commands_of(text):
    """Each command of the shell blocks, on one line, without its comment."""
    for block in blocks(text, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            line = re.sub(r"\s+#.*$", "", line).strip()
            if line and not line.startswith("#"):
                yield line


def named_in(text):
    """The commands that the text mentions, as words."""
    for span in re.findall(r"`(rota [^`\n]*)`", text):
        if "--help" not in span:
            yield span.split()[1:]


def check_named(cluster, words, where):
    """Checks that the command exists, and each option that is named with it."""
    path = []
    for word in words:
        if not re.fullmatch(r"[a-z]+", word):
            break
        path.append(word)
    if path[:1] == ["lock"]:
        path = ["lock"]
    done = cluster.rota(*path, "--help")
    check(done.returncode == 0, f"{where}: `rota {' '.join(words)}`: no such command: {done.stderr[-300:]}")
    before = words[:words.index("--")] if "--" in words else words
    everywhere = cluster.rota("--help").stdout
    for option in (w for w in before if w.startswith("-") and w != "--"):
        there = re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", done.stdout + everywhere)
        check(there, f"{where}: `rota {' '.join(words)}`: {option} is not in its help")


def run_all(cluster, folder):
    here = folder + "/documents"
    os.makedirs(here, exist_ok=True)
    env = dict(cluster.env, PATH=f"{cluster.programs}:{os.environ['PATH']}", ROTA_CLUSTER_DIR=cluster.folder)
    with open(here + "/hello.yaml", "w") as file:
        file.write(blocks((ROOT / "README.md").read_text(), "yaml")[0])
    os.symlink(ROOT / "examples", here + "/examples")
    run = cluster.submit("/bin/true")
    cluster.await_run(run)
    ran = left_out = named = 0
    for name in FILES:
        text = (ROOT / name).read_text()
        for command in commands_of(text):
            if any(command.startswith(begin) for begin in NOT_RUN):
                left_out += 1
                continue
            if command.startswith("scripts/cluster "):
                command = f"scripts/cluster --dir {cluster.folder} {command.split(' ', 1)[1]}"
            line = f"cd {ROOT} && {command}" if command.startswith("scripts/") else command
            line = line.replace("RUN", run)
            check(not PLACE.search(re.sub(r"'[^']*'", "", line)) or "scripts/" in line, f"{name}: what is meant in {command}")
            status, out, shown = at_terminal(["bash", "-c", line], env, [("[y/N]", lambda: "y\n")], here)
            check(status == 0, f"{name}: `{command}`: exit {status}: {out[-300:]} {shown[-500:]}")
            ran += 1
            if "kill leader" in command:
                wait_until(cluster.is_whole, 60, "the killed leader is back")
        for words in named_in(text):
            check_named(cluster, words, name)
            named += 1
    cluster.ok("job", "delete", "--yes", "hello")
    check(ran >= 12 and named >= 20, f"{ran} commands, {named} named: the documents are read wrongly")
    figure("documents", files=len(FILES), commands=ran, failed=0, left_out=left_out, named=named)
