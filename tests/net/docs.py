"""Runs a page of the docs as a reader would type it.

Blocks in the page's order, in one empty folder:

  console   lines after "$ " are typed into a shell; what follows is what they print, where "..." stands for any lines.
            What `cat FILE` prints is how that file comes to be; an id that it has already stays. A command that ends in
            "&" goes on until `kill %1` or the page's end, `export` holds for the commands after it, and of several commands
            without any output the page tells none.
  sql       runs in a fresh DuckDB with what the last block attached that printed such statements; lines "-- a  b" tell the rows.
  sh        a script, which must work; one with `make` is for before that

Ids, times, keys and sizes differ from one run to the next and are compared as such. Addresses of the docs lead to
places of the test: see `places`.
"""

import os
import re
import subprocess
import time

from harness import PROGRAM, environment
from tools import duck_at

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_SECONDS = 60
AS_ROOT = "fdl: warning: serving as root: a user that may do no more than it must is safer"  # who runs the tests, maybe
ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
VARIES = [
    (ID, "<id>"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4} ", "<start of an id> "),
    (r"\b[0-9a-f]{64}\b", "<sha256>"),
    (r"SHA256:[A-Za-z0-9+/]{43}", "<key>"),
    (r"\bfdl_[0-9a-f]+…?", "<token>"),
    (r"(?<=PROVIDER credential_chain, SCOPE ).*(?=\);)", "<where the bucket is>"),
    (r"\b\d+ms$", "<duration>"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "<time>"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d(?=\n|$)", "<minute>"),
    (r"\b\d+(\.\d+)? (bytes|kB|MB|GB)\b", "<size>"),
]


def masked(text):
    for pattern, name in VARIES:
        text = re.sub(pattern, name, text)
    return [line.rstrip() for line in text.strip().splitlines() if line.strip() and line != AS_ROOT]


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
        self.attach = {}  # name -> statements
        self.started = []
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
            self.attach[re.search(r" AS (\S+) \(", printed[-1])[1]] = printed
        return done

    def start(self, command, lines, line):
        """Starts what goes on beside the page, and waits for the lines it prints first."""
        log = self.folder / f".started-{self.ran}.log"
        self.ran += 1
        with open(log, "wb") as output:
            self.started.append(subprocess.Popen(["bash", "-c", f"exec {self.here(command)}"], cwd=self.folder,
                                                 env=self.variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(masked(said := log.read_text())) < lines:
            assert self.started[-1].poll() is None and time.monotonic() < deadline, f"line {line}: {command}\n{said}"
            time.sleep(0.02)
        return said

    @staticmethod
    def end(process):
        process.terminate()
        process.wait(PATIENCE_SECONDS)

    def write(self, path, told):
        path = self.folder / self.here(path)
        if path.exists() and (ids := re.findall(ID, path.read_text())):
            told = re.sub(ID, ids[0], told)
        path.write_text(self.here(told).rstrip("\n") + "\n")

    def console(self, body, line):
        before, self.attach = self.attach, {}
        commands = re.findall(r"^\$ (.*(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)", body, re.MULTILINE)
        tells = len(commands) == 1 or any(told.strip() for _, told in commands)
        for command, told in commands:
            command = command.replace("\n> ", "\n")
            if re.fullmatch(r"cat [\w./-]+", command):
                self.write(command[4:], told)
                continue
            if exported := re.fullmatch(r"export (\w+)=(.*)", command):
                self.variables[exported[1]] = self.shell(f"printf %s {exported[2]}").stdout
                continue
            if command == "kill %1":
                self.end(self.started.pop())
                continue
            if command.endswith(" &"):
                said = self.start(command[:-2], len(masked(told)), line)
            else:
                done = self.shell(command)
                assert done.returncode == 0 or "exit code" in told, f"line {line}: {command}\n{done.stdout}"
                said = done.stdout
            found = masked(self.as_told(said)) if tells else []
            assert are_as_told(masked(told), found), f"line {line}: {command}\n" + "\n".join(found)
        self.attach = self.attach or before

    def sql(self, body, line):
        told = [tuple(row.split()) for row in re.findall(r"^-- (.*)$", body, re.MULTILINE)]
        rows = []
        self.ran += 1
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            with duck_at(self.variables, *sum(self.attach.values(), [])) as con:
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
        try:
            for kind, body, line in self.blocks:
                if kind in ("console", "sql") or kind == "sh" and not body.startswith("make "):
                    getattr(self, kind)(body, line)
        finally:
            for process in self.started:
                self.end(process)
        assert self.ran > 0, "the page has nothing to run"
