"""What jobs are written with: runs of programs, medians of two sides that take turns, and rows of the table."""

import functools
import os
import re
import shutil
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

from servers import clean_environment

ROOT = Path(__file__).resolve().parents[1]
FDL = ROOT / "build" / "fdl"
PYTHON = ROOT / "build" / "venv" / "bin" / "python"


@functools.cache
def environment(**changes):
    """Nothing of this machine's own settings for fdl, git or S3 gets in."""
    env = {name: value for name, value in clean_environment().items() if not name.startswith(("FDL_", "GIT_"))}
    env.update(FDL_AUTHOR_NAME="Ada", FDL_AUTHOR_EMAIL="ada@example.org")
    env.update(GIT_AUTHOR_NAME="Ada", GIT_AUTHOR_EMAIL="ada@example.org", GIT_CONFIG_GLOBAL=os.devnull)
    env.update(GIT_COMMITTER_NAME="Ada", GIT_COMMITTER_EMAIL="ada@example.org")
    return {**env, **{name: str(value) for name, value in changes.items()}}


@dataclass
class Run:
    """One process, from its start to its end."""

    seconds: float
    cpu_seconds: float
    peak_mb: float  # the most memory it ever held; never less than this runner itself, so the runner stays small
    stdout: str


def run(*command, env=None):
    """Runs a program that has to succeed, with as little between start and end as can be.  What it says goes to a file."""
    words = [str(word) for word in command]
    program = shutil.which(words[0])
    out, err = (os.memfd_create(name) for name in ("stdout", "stderr"))
    actions = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, out, 1), (os.POSIX_SPAWN_DUP2, err, 2)]
    try:
        start = time.perf_counter()
        process = os.posix_spawn(program, words, env or environment(), file_actions=actions)
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - start
        texts = [os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace") for file in (out, err)]
    finally:
        os.close(out)
        os.close(err)
    if status != 0:
        raise RuntimeError(f"'{' '.join(words)}' ended with {os.waitstatus_to_exitcode(status)}: {texts[0]}{texts[1]}")
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, texts[0])


def fdl(*arguments, **options):
    return run(FDL, *arguments, **options)


def duck(*arguments):
    """What bench/duck.py does: what its work took, the start of its process apart, and that process."""
    done = run(PYTHON, ROOT / "bench" / "duck.py", *arguments)
    done.seconds, done.cpu_seconds = map(float, done.stdout.split())
    return done


def attach_statement(text):
    """Of what the program printed."""
    return re.search(r"^ATTACH .*;$", text, re.MULTILINE).group(0)


def take_turns(repeat, *sides):
    """Calls the sides one after the other, `repeat` times round; each returns a number or a Run.  The lists of what they
    returned, a list a side.  One round before that is not counted: it warms caches for all alike."""
    results = [[] for _ in sides]
    for round_number in range(repeat + 1):
        for side, kept in zip(sides, results):
            got = side()
            if round_number > 0:
                kept.append(got)
    return results


count_cpu = False  # where other work disturbs the clock, processor time tells more


def median(values):
    """Of numbers, or of the seconds of runs."""
    seconds = "cpu_seconds" if count_cpu else "seconds"
    return statistics.median(getattr(value, seconds) if isinstance(value, Run) else value for value in values)


def peak_mb(runs):
    return max(one.peak_mb for one in runs)


def number(value):
    """Three digits that mean something."""
    if value is None:
        return ""
    if value == int(value) and abs(value) < 1e6 or abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


@dataclass
class Row:
    """One line of the table.  The target is a bound on the ratio, or on our figure itself where `of` is "ours"."""

    job: str
    ours: float
    yardstick: float | None
    unit: str  # of both: "ms", "MB", "requests"
    at_most: float | None = None
    at_least: float | None = None
    of: str = "ratio"
    counts: dict = field(default_factory=dict)  # what else was counted: requests, bytes, files, memory

    def ratio(self):
        return self.ours / self.yardstick if self.yardstick else None

    def met(self):
        value = self.ratio() if self.of == "ratio" else self.ours
        return value is not None and (value <= self.at_most if self.at_most is not None else value >= self.at_least)

    def cells(self):
        bound = self.at_most if self.at_most is not None else self.at_least
        sign = "<=" if self.at_most is not None else ">="
        target = f"{sign} {number(bound)}" + ("" if self.of == "ratio" else f" {self.unit}") if bound is not None else ""
        counts = ", ".join(f"{value if isinstance(value, str) else number(value)} {name}" for name, value in self.counts.items())
        ratio = f"{self.ratio():.2f}" if self.ratio() is not None else ""
        met = ("yes" if self.met() else "no") if target else ""
        return (self.job, number(self.ours), number(self.yardstick), self.unit, ratio, target, met, counts)


@dataclass
class Bench:
    """What a job is given."""

    folder: Path  # empty, and gone afterwards
    repeat: int  # how often each side is to run
