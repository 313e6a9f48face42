"""Running the C programs of this folder, which the build makes beside the unit tests."""

import json
import os
import subprocess
import sys
from pathlib import Path

import harness
from servers import clean_environment

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("FDL_BUILD", ROOT / "build")).absolute() / "tests"
PATIENCE_SECONDS = 300


def duck_at(variables, *statements):
    """A DuckDB with everything that printed statements need, in a process environment that has the credentials."""
    found = sorted((Path(sys.prefix) / "lib").rglob("aws.duckdb_extension"))
    assert found, f"no aws extension below {sys.prefix}: run tools/setup check"
    before = dict(os.environ)
    os.environ.update({name: str(value) for name, value in variables.items() if value is not None})
    try:
        con = harness.duck()
        con.execute(f"LOAD {harness.text(found[0])}")
        for statement in statements:
            con.execute(statement)
        return con
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_program(name, *arguments, environment, check=False):
    program = PROGRAMS / name
    assert program.exists(), f"no '{program}': build with -DFDL_TESTS=ON (make check-net does)"
    return subprocess.run(
        [program, *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=check,
    )


class Store:
    """A store as the program net-store opens it; each call is a process, `many` is several calls in one."""

    def __init__(self, address, environment=None, **variables):
        self.address = address
        self.environment = {**(environment or clean_environment()), **variables}
        self.peak_kib = None

    def many(self, *commands):
        words = []
        for command in commands:
            words += (["--"] if words else []) + list(command)
        done = run_program("net-store", self.address, *words, environment=self.environment)
        assert done.returncode == 0, done.stdout + done.stderr
        self.notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
        for line in done.stderr.splitlines():
            if line.startswith("peak: "):
                self.peak_kib = int(line.split()[1])
        return [json.loads(line) for line in done.stdout.splitlines()]

    def __call__(self, *command):
        return self.many(command)[0]

    def ok(self, *command):
        answer = self(*command)
        assert answer["code"] == "ok", answer
        return answer

    def keys(self, prefix="", depth="all"):
        return sorted(entry["key"] for entry in self.ok("list", prefix, depth)["entries"])
