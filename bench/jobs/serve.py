"""fdl serve beside nginx with one worker, on the same files, both without a log: a ref, and ranges of 256 KiB, with wrk at 16 and 256 connections.

Each server has one processor, and wrk another: with more threads than processors the slowest answers would be the scheduler's.
"""

import os
import re
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager

from measure import FDL, Row, attach_statement, duck, environment, fdl, median, take_turns
from measure import run as run_program
from servers import Nginx, free_port

SECONDS = 4
# Another place of the file each time, as DuckDB asks.
RANGES = """
local size, step = {size}, 262144
request = function()
  local first = math.random(0, size - step)
  return wrk.format("GET", nil, {{["Range"] = "bytes=" .. first .. "-" .. first + step - 1}})
end
"""
UNITS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000}


@contextmanager
def on_processor(number):
    """What is started here stays on one of the processors there are."""
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(all_of_them)[number % len(all_of_them)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, all_of_them)


@contextmanager
def serving(repo, log, *options, env=None):
    port = free_port()
    with open(log, "wb") as out:
        command = [FDL, "serve", "-q", "--log", "off", repo, "--listen", f"127.0.0.1:{port}", *options]
        process = subprocess.Popen(command, stdout=out, stderr=out, env=env or environment())
        try:
            for _ in range(500):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.01)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait()


def load(url, connections, script=None):
    """Requests a second, and the milliseconds within which 99 of 100 were answered."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--timeout", "30s", "--latency", *(["-s", script] if script else []), url]
    said = run_program(*command).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        raise RuntimeError(said)
    slow, unit = re.search(r"99%\s+([\d.]+)(us|ms|s|m)\b", said).groups()
    return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]), float(slow) * UNITS[unit]


def beside_nginx(bench, ours, theirs, repo):
    (big,) = repo.rglob("*.parquet")
    script = bench.folder / "ranges.lua"
    script.write_text(RANGES.format(size=big.stat().st_size))
    for what, path, lua, scale, unit in (
        ("a ref", "refs/heads/main", None, 1e3, "thousand/s"),
        ("ranges of 256 KiB", big.relative_to(repo), script, 1e9 / 262144, "GB/s"),
    ):
        for connections in (16, 256):
            mine, nginx = take_turns(
                bench.repeat, lambda: load(f"{ours}/{path}", connections, lua), lambda: load(f"{theirs}/{path}", connections, lua)
            )
            rates, slow = ([median([one[part] for one in side]) for side in (mine, nginx)] for part in (0, 1))
            name = f"{what}, {connections} connections"
            yield Row(f"serve: {name}, and nginx", rates[0] / scale, rates[1] / scale, unit, at_least=0.9)
            yield Row(f"99 of 100 within: {name}", slow[0], slow[1], "ms", at_most=1)


def run(bench):
    repo, work = bench.folder / "repo", bench.folder / "work.sqlite"
    fdl("init", repo)
    attach = attach_statement(fdl("checkout", repo, work).stdout)
    duck("execute", attach, "CREATE TABLE lake.t AS SELECT i, hash(i) AS h, hash(i + 1) AS k FROM range(4000000) t(i)")
    fdl("commit", work, "-m", "One large file", "--push")
    (bench.folder / "nginx").mkdir()
    with ExitStack() as servers:
        with on_processor(0):
            ours = servers.enter_context(serving(repo, bench.folder / "serve.log"))
            theirs = servers.enter_context(Nginx(bench.folder / "nginx", repo, "keepalive_requests 1000000000;"))
        with on_processor(1):
            yield from beside_nginx(bench, ours, theirs.url, repo)
