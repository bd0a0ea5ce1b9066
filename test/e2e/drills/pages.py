"""Runs the examples of pages as they stand, from the top, and compares what is printed.

A yaml block with a name is applied; one that begins with `# FILE.yaml` is written to that file. A text block that begins
with `$ rota ...` is that command and what it prints, on standard output and errors; more may follow in the block. `…`
stands for what differs each time. A job or calendar that is applied twice is edited; at the end all are deleted."""
import os
import re
import subprocess

from cluster import ROOT, check

BLOCK = re.compile(r"^```(yaml|text)\n(.*?)^```$", re.M | re.S)
SHOWN = re.compile(r"^\$ (rota [^\n]*)\n((?:(?!\$ )[^\n]*(?:\n|\Z))*)", re.M)
FILE = re.compile(r"# ([a-z_-]+\.yaml)\n")


def blocks_of(page):
    return BLOCK.findall((ROOT / page).read_text())


def fits(expected, shown):
    pattern = "".join(".*" if part == "…" else re.escape(part) for part in re.split("(…)", expected))
    return re.fullmatch(pattern, shown) is not None


def shape(text):
    """In one line, without the numbers."""
    return re.sub(r"\d+", "N", " ".join(text.split()))


def text_block(page, begin):
    found = [text for language, text in blocks_of(page) if language == "text" and text.startswith(begin)]
    check(len(found) == 1, f"{page}: {len(found)} text blocks begin with {begin!r}")
    return found[0]


class Page:
    def __init__(self, cluster, page, folder, before=()):
        self.cluster, self.page, self.folder = cluster, page, folder
        self.compared = 0
        self.applied = {"job": [], "calendar": []}
        os.makedirs(folder, exist_ok=True)
        for file in before:
            self.apply((ROOT / file).read_text())

    def run(self, words):
        """Both streams in the order in which they are written."""
        return subprocess.run([self.cluster.programs + "/rota", *words], env=self.cluster.env, text=True, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=120).stdout

    def apply(self, text):
        for row in self.cluster.json("apply", "--yes", "-f", "-", input=text):
            names = self.applied[row.get("kind", "job")]
            if row["name"] not in names:
                names.append(row["name"])

    def show(self, text):
        for block in SHOWN.findall(text):
            command, expected = block
            shown = self.run(command.split()[1:])
            check(fits(expected, shown), f"{self.page}: {command}: shows\n{shown}instead of\n{expected}")
            self.compared += 1

    def go_through(self):
        for language, text in blocks_of(self.page):
            file = FILE.match(text)
            if language == "text":
                self.show(text)
            elif file:
                with open(f"{self.folder}/{file.group(1)}", "w") as out:
                    out.write(text)
            elif re.search(r"^(\s*- )?name:", text, re.M):
                self.apply(text)

    def clear(self):
        for kind in ("job", "calendar"):
            for name in self.applied[kind]:
                self.cluster.rota(kind, "delete", "--yes", name)


def documented(cluster, page, folder, before=()):
    """How many outputs were compared. `before`: files of the repository that the page's readers have applied."""
    there = Page(cluster, page, folder, before)
    try:
        there.go_through()
    finally:
        there.clear()
    check(there.compared, f"{page}: no output was compared: its examples are read wrongly")
    return there.compared
