"""Runs a page of the docs as a reader would type it.

Blocks in the page's order, in one empty folder:

  console   lines after "$ " are typed into a shell; what follows is what they print, where "..." stands for any lines.
            What `cat FILE` prints is how that file comes to be.
  sql       runs in a fresh DuckDB with the statement attached that was printed last; lines "-- a  b" tell the rows.
  sh        a script, which must work

Ids, times, keys and sizes differ from one run to the next and are compared as such. Addresses of the docs lead to
places of the test: see `places`.
"""

import os
import re
import subprocess

from harness import PROGRAM, environment
from tools import duck_at

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARIES = [
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<id>"),
    (r"\b[0-9a-f]{64}\b", "<sha256>"),
    (r"SHA256:[A-Za-z0-9+/]{43}", "<key>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
    (r"\b\d+(\.\d+)? (bytes|kB|MB|GB)\b", "<size>"),
]


def masked(text):
    for pattern, name in VARIES:
        text = re.sub(pattern, name, text)
    return [line.rstrip() for line in text.strip().splitlines() if line.strip()]


def are_as_told(told, found):
    """The two outputs come through pipes, where the order between them is not that of a terminal."""
    return matches(told, found) if "..." in told else sorted(told) == sorted(found)


def matches(wanted, found):
    """Whether lines are as told, "..." standing for any number of them."""
    if not wanted:
        return not found
    if wanted[0] == "...":
        return any(matches(wanted[1:], found[at:]) for at in range(len(found) + 1))
    return bool(found) and wanted[0] == found[0] and matches(wanted[1:], found[1:])


class Page:
    def __init__(self, text, folder, places, **variables):
        """`places`: how the docs call a place -> where it is."""
        self.blocks = [(kind, body, text.count("\n", 0, at.start()) + 1)
                       for at in BLOCK.finditer(text) for kind, body in [at.groups()]]
        self.folder, self.places = folder, places
        path = f"{PROGRAM.parent}:{variables.pop('PATH', os.environ['PATH'])}"
        self.variables = environment(PATH=path, FDL_AUTHOR_NAME="Ada", FDL_AUTHOR_EMAIL="ada@example.org", HOME=folder,
                                     **variables)
        self.attach = ""
        self.ran = 0

    def here(self, text):
        for name, place in self.places.items():
            text = text.replace(name, place)
        return text

    def as_told(self, text):
        for name, place in self.places.items():
            text = text.replace(place, name)
        return text

    def shell(self, script):
        done = subprocess.run(["bash", "-c", self.here(script)], cwd=self.folder, env=self.variables, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=300)
        self.ran += 1
        printed = re.findall(r"^(?:CREATE OR REPLACE SECRET|ATTACH) .*?;$", done.stdout, re.MULTILINE | re.DOTALL)
        if printed:
            self.attach = "\n".join(printed)
        return done

    def console(self, body, line):
        for command, told in re.findall(r"^\$ (.*(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
            command = command.replace("\n> ", "\n")
            if re.fullmatch(r"cat [\w./-]+", command):
                (self.folder / command[4:]).write_text(told.rstrip("\n") + "\n")
                continue
            done = self.shell(command)
            found = masked(self.as_told(done.stdout))
            assert done.returncode == 0 or "exit code" in told, f"line {line}: {command}\n{done.stdout}"
            assert are_as_told(masked(told), found), f"line {line}: {command}\n" + "\n".join(found)

    def sql(self, body, line):
        told = [tuple(row.split()) for row in re.findall(r"^-- (.*)$", body, re.MULTILINE)]
        rows = []
        self.ran += 1
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            with duck_at(self.variables, *self.attach.splitlines()) as con:
                for statement in con.extract_statements(self.here(body)):
                    rows = con.execute(statement).fetchall()
        finally:
            os.chdir(here)
        if told:
            assert [tuple(str(value) for value in row) for row in rows] == told, f"line {line}: {rows}"

    def sh(self, body, line):
        done = self.shell("set -e\n" + body)
        assert done.returncode == 0, f"line {line}: {done.stdout}"

    def run(self):
        for kind, body, line in self.blocks:
            if kind in ("console", "sql", "sh"):
                getattr(self, kind)(body, line)
        assert self.ran > 0, "the page has nothing to run"
