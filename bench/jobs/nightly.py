"""A nightly run over S3 that finds nothing new: its requests, and what of DuckDB it loads."""

from measure import FDL, Row, attach_statement, duck, fdl
from measure import run as run_program
from servers import Versitygw
from slow_proxy import SlowProxy


def loaded(trace):
    """Names of DuckDB's extensions that the program itself opened."""
    return {line.rsplit("/", 1)[1].split(".duckdb_extension")[0] for line in trace.read_text().splitlines() if ".duckdb_extension" in line}


def run(bench):
    repo, work, trace = bench.folder / "repo", bench.folder / "work.sqlite", bench.folder / "trace"
    fdl("init", repo)
    attach = attach_statement(fdl("checkout", repo, work).stdout)
    duck("execute", attach, *(f"CREATE TABLE lake.t{n} AS SELECT range AS i, md5(range::VARCHAR) AS s FROM range(1000)" for n in range(20)))
    fdl("commit", work, "-m", "All", "--push")
    (bench.folder / "s3").mkdir()
    with Versitygw(bench.folder / "s3") as s3, SlowProxy(s3.port, 0) as proxy:
        (bench.folder / "s3" / "data" / "bucket").mkdir()
        env = s3.client_environment(proxy.url)
        run_program(FDL, "clone", repo, "s3://bucket/repo/", "--all", env=env)
        proxy.reset()
        strace = ("strace", "-f", "-qq", "-e", "trace=openat", "-e", "status=successful", "-o", trace)
        done = run_program(*strace, FDL, "run", "s3://bucket/repo/", "-m", "Nightly", "--", "true", env=env)
        counts = {"kB": proxy.answer_bytes / 1e3, "DuckDB extensions loaded": len(loaded(trace)), "s under strace": done.seconds}
        yield Row("run over S3 that changes nothing", proxy.count(), None, "requests", at_most=9, of="ours", counts=counts)
