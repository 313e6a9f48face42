#!/usr/bin/env python3
"""How long things take, beside what people would use instead, in the same run on the same machine.

usage: bench/bench.py [--markdown] [--repeat N] [--cpu] [JOB...]

A job is a file of bench/jobs/, and yields the rows of the one table that is printed in the end; without names, every
job runs.  Ours and the yardstick take turns, and what counts is the median of each and their ratio.  Servers, data and
what the program leaves behind lie below build/bench/ and are gone afterwards.
"""

import argparse
import importlib
import os
import shutil
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
for folder in (HERE, ROOT / "tests" / "support"):
    sys.path.insert(0, str(folder))

import measure  # noqa: E402

COLUMNS = ("job", "ours", "yardstick", "", "ratio", "target", "met", "counts")
SCRATCH = ROOT / "build" / "bench"


def job_names():
    return sorted(path.stem for path in (HERE / "jobs").glob("*.py"))


def run_job(name, repeat):
    """The rows of one job; a job that breaks is a row that says so, and the others still run."""
    folder = SCRATCH / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = []
    try:
        for row in importlib.import_module(f"jobs.{name}").run(measure.Bench(folder, repeat)):
            print(f"bench: {' | '.join(cell for cell in row.cells() if cell)}", file=sys.stderr, flush=True)
            rows.append(row)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return rows


def as_text(rows):
    widths = [max(len(line[i]) for line in [COLUMNS, *rows]) for i in range(len(COLUMNS))]
    for line in [COLUMNS, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def as_markdown(rows):
    for line in [COLUMNS, ("---",) * len(COLUMNS), *rows]:
        print(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |")


def main():
    parser = argparse.ArgumentParser(prog="bench.py", description=__doc__.split("\n")[0])
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"one of: {', '.join(job_names())}")
    parser.add_argument("--markdown", action="store_true", help="print the table as docs/performance.md keeps it")
    parser.add_argument("--repeat", type=int, default=5, help="how often each side runs (5)")
    parser.add_argument("--cpu", action="store_true", help="processor time of runs, for machines that do other things too")
    asked = parser.parse_args()
    if unknown := set(asked.jobs) - set(job_names()):
        parser.error(f"no job '{unknown.pop()}'")
    os.environ["TMPDIR"] = str(SCRATCH)
    measure.count_cpu = asked.cpu
    rows, broken = [], []
    for name in asked.jobs or job_names():
        try:
            rows += [row.cells() for row in run_job(name, asked.repeat)]
        except Exception:
            traceback.print_exc()
            broken.append(name)
    (as_markdown if asked.markdown else as_text)(rows)
    if broken:
        sys.exit(f"bench: broken: {', '.join(broken)}")


main()
