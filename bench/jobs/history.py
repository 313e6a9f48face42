"""log of 10,000 versions: on a folder beside git, and from afar, where one round trip after another would take minutes."""

import shutil

from measure import FDL, Row, environment, median, take_turns
from measure import run as run_program
from servers import Nginx, Versitygw
from slow_proxy import SlowProxy
from synthetic import make_commits, make_versions

VERSIONS = 10_000
FAR_SECONDS = 0.02


def from_afar(where, address, env, proxy):
    """One run, since nothing but the wait counts; it is told in round trips."""
    proxy.reset()
    seconds = run_program(FDL, "log", address, env=env).seconds
    counts = {"requests": proxy.count(), "MB": proxy.answer_bytes / 1e6, "s": seconds, "connections": proxy.connections}
    return Row(f"log of {VERSIONS:,} versions, {where} 20 ms away, and a request each", seconds / FAR_SECONDS, VERSIONS, "round trips", at_most=0.2, counts=counts)


def run(bench):
    root, work = bench.folder / "repo", bench.folder / "git"
    make_versions(root, VERSIONS)
    work.mkdir()
    make_commits(work, VERSIONS)
    mine, git = take_turns(bench.repeat, lambda: run_program(FDL, "log", root), lambda: run_program("git", "-C", work, "log"))
    yield Row(f"log of {VERSIONS:,} versions on a folder, and git log", median(mine) * 1e3, median(git) * 1e3, "ms", at_most=2)

    (bench.folder / "s3").mkdir()
    with Versitygw(bench.folder / "s3") as s3, SlowProxy(s3.port, FAR_SECONDS) as proxy:
        shutil.copytree(root, bench.folder / "s3" / "data" / "bucket" / "repo")  # it keeps objects as files
        yield from_afar("S3", "s3://bucket/repo/", s3.client_environment(proxy.url), proxy)
    (bench.folder / "nginx").mkdir()
    with Nginx(bench.folder / "nginx", bench.folder) as web, SlowProxy(web.port, FAR_SECONDS) as proxy:
        yield from_afar("HTTP", f"{proxy.url}/repo/", environment(), proxy)
