"""commit after rewriting 1 of 1,000 files: the data files it opens, and what it reads of them."""

import re

from measure import FDL, Row, attach_statement, duck, fdl
from measure import run as run_program

FILES = 1_000
ROWS = 1_000  # of each


def bytes_read(trace, folder):
    """Of the files below a folder, from a trace of a process and its threads: bytes and names."""
    read, names = 0, set()
    for line in trace.read_text().splitlines():
        found = re.search(r"\b(?:p?read(?:64|v)?)\(\d+<(.*?)>.* = (\d+)$", line)
        if found and found.group(1).startswith(f"{folder}/"):
            read += int(found.group(2))
            names.add(found.group(1))
    return read, names


def run(bench):
    repo, work, trace = bench.folder / "repo", bench.folder / "work.sqlite", bench.folder / "trace"
    fdl("init", repo)
    attach = attach_statement(fdl("checkout", repo, work).stdout)
    make = "CREATE TABLE lake.t (part INTEGER, i BIGINT, s VARCHAR)"
    fill = [f"INSERT INTO lake.t SELECT {n}, range, md5((range + {n})::VARCHAR) FROM range({ROWS})" for n in range(FILES)]
    duck("execute", attach, make, "BEGIN", *fill, "COMMIT")
    fdl("commit", work, "-m", "All", "--push")
    before = {path: path.stat().st_size for path in (repo / "data").rglob("*.parquet")}
    # Written anew with another order of the same rows and one that differs, as a job would that corrects a day.
    rewrite = [f"CREATE TEMP TABLE part AS FROM lake.t WHERE part = {FILES // 2}", f"DELETE FROM lake.t WHERE part = {FILES // 2}"]
    rewrite.append("INSERT INTO lake.t SELECT part, i, CASE i WHEN 7 THEN 'seven' ELSE s END FROM part ORDER BY i DESC")
    duck("execute", attach, "BEGIN", *rewrite, "COMMIT")
    new = sum(path.stat().st_size for path in (repo / "data").rglob("*.parquet") if path not in before)
    whole = 2 * sum(before.values())
    run_program("strace", "-f", "-qq", "-y", "-e", "trace=read,pread64,readv,preadv", "-o", trace, FDL, "commit", work, "-m", "One")
    read, names = bytes_read(trace, repo / "data")
    one = max(before.values()) + new
    counts = {"data files opened": len(names), "kB of the file, before and after": one / 1e3}
    yield Row(f"commit after rewriting 1 of {FILES:,} files, and comparing both versions", read / 1e3, whole / 1e3, "kB read", at_most=1.05 * one / 1e3, of="ours", counts=counts)  # a footer is read twice
