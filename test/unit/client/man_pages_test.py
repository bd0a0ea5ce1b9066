#!/usr/bin/python3
"""The man pages of all programs.

usage: man_pages_test.py ROTA ROTA_MASTER ROTA_WORKER

groff and man (and mandoc, if it is there) have no warning for any page; every command, option, key of job files and setting
stands in the page where one looks for it.
exit: 0 all is well, 1 not
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ENV = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "HOME": "/nonexistent"}


class Failed(Exception):
    pass


def check(is_fine, what):
    if not is_fine:
        raise Failed(what)


def run(*words):
    return subprocess.run(words, env=ENV, capture_output=True, text=True, timeout=120)


def ok(*words):
    done = run(*words)
    check(done.returncode == 0, f"{words}: exit {done.returncode}: {done.stderr}")
    return done.stdout


def written(programs, folder):
    helps = []
    for program in programs[1:]:
        file = folder / (Path(program).name + ".help")
        file.write_text(ok(program, "--help"))
        helps.append(f"{Path(program).name}={file}")
    ok(programs[0], "--man", str(folder / "man"), *helps)
    return sorted((folder / "man").iterdir())


def check_clean(page):
    """Nothing on stderr; gives the page as people read it."""
    for words in (["groff", "-ww", "-man", "-K", "utf8", "-T", "utf8", "-z"], ["man", "--warnings=w", "-E", "UTF-8", "-Tutf8", "-Z", "-l"]):
        done = run(*words, str(page))
        check(done.returncode == 0 and not done.stderr, f"{' '.join(words)} {page.name}: exit {done.returncode}: {done.stderr}")
    if shutil.which("mandoc"):
        done = run("mandoc", "-T", "lint", "-W", "warning", str(page))
        left = [line for line in done.stdout.splitlines() if "missing date" not in line]
        check(not left, f"mandoc {page.name}: {left}")
    shown = run("man", "-E", "UTF-8", "-l", str(page))
    check(shown.returncode == 0, f"man -l {page.name}: {shown.stderr}")
    return re.sub(r"\x1b\[[0-9;]*m|.\x08", "", shown.stdout)


def check_commands(rota, shown):
    options = 0
    for command in json.loads(ok(rota, "--describe")):
        words = command["command"].split()
        page = "rota.1" if len(words) == 1 else f"rota-{words[1]}.1"
        check(page in shown, f"{command['command']} has no page {page}")
        check(command["command"] in " ".join(shown[page].split()), f"{page} does not name `{command['command']}`")
        for option in command["options"]:
            for name in option["names"] if "--help" not in option["names"] else []:
                check(name in shown[page], f"{page} lacks {name} of `{command['command']}`")
                options += 1
    return options


def check_keys(rota, shown):
    keys = re.findall(r"^\| `([^`]+)`", ok(rota, "job", "schema", "--table"), re.M)
    for key in keys:
        check(key in shown["rota-job.5"], f"rota-job.5 lacks the key {key}")
    return len(keys)


def check_settings(program, shown):
    page, found, path = shown[Path(program).name + ".yaml.5"], 0, []
    for line in ok(program, "--print-default-config").splitlines():
        key = re.match(r"( *)(?:# ?)?([a-z_]+):", line)
        if line.lstrip().startswith("#") or not key:
            continue
        path[len(key[1]) // 2:] = [key[2]]
        if line.rstrip().endswith(":"):
            continue  # a map
        check(".".join(path) in page, f"{Path(program).name}.yaml.5 lacks {'.'.join(path)}")
        found += 1
    check(found > 10, f"only {found} settings in --print-default-config of {program}")
    return found


def main(programs):
    with tempfile.TemporaryDirectory() as folder:
        pages = written(programs, Path(folder))
        shown = {page.name: check_clean(page) for page in pages}
        options, keys = check_commands(programs[0], shown), check_keys(programs[0], shown)
        settings = sum(check_settings(program, shown) for program in programs[1:])
        for program in programs[1:]:
            check("--check-config" in shown[Path(program).name + ".8"], f"{program}: its options")
        print(f"man pages={len(pages)} options={options} keys={keys} settings={settings} warnings=0 "
              f"mandoc={'yes' if shutil.which('mandoc') else 'not here'}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)
