"""DuckDB attaching a catalog 50 ms away and its first query, beside the same tables in a catalog that DuckDB wrote itself; and attach --local."""

import shutil

from measure import Row, attach_statement, duck, environment, fdl
from servers import Nginx
from slow_proxy import SlowProxy

FAR_SECONDS = 0.05
QUERY = "SELECT * FROM lake.table_0 WHERE column_1 = 77"
COLUMNS = ", ".join(f"range * {n} AS column_{n}" for n in range(1, 11))


def fill(attach, tables):
    duck("execute", attach, "BEGIN", *(f"CREATE TABLE lake.table_{n} AS SELECT {COLUMNS} FROM range(100)" for n in range(tables)), "COMMIT")


def requested(proxy, catalog):
    """What the catalog alone took: requests, and MB in their answers, as their ranges say."""
    ranges = [one.headers["range"].split("=")[1].split("-") for one in proxy.seen if catalog in one.target and "range" in one.headers]
    return proxy.count(part=catalog), sum(int(last) - int(first) + 1 for first, last in ranges) / 1e6


def far(proxy, attach, catalog):
    proxy.reset()
    done = duck("execute", attach, QUERY)
    return (*requested(proxy, catalog), done.seconds)


def compare(folder, proxy, tables):
    root, work, own = folder / "lake", folder / "work.sqlite", folder / "own.duckdb"
    fdl("init", root)
    fill(attach_statement(fdl("checkout", root, work).stdout), tables)
    fdl("commit", work, "-m", "Tables", "--push")
    fill(f"ATTACH 'ducklake:{own}' AS lake (DATA_PATH '{folder}/data/')", tables)
    url, what = f"{proxy.url}/lake", f"{tables} table{'s' if tables > 1 else ''}"

    there = f"ATTACH 'ducklake:{proxy.url}/own.duckdb' AS lake (DATA_PATH '{proxy.url}/data/', OVERRIDE_DATA_PATH true, READ_ONLY)"
    theirs = far(proxy, there, "own.duckdb")
    ours = far(proxy, attach_statement(fdl("attach", url).stdout), "ducklake.duckdb")
    seconds = {"s": ours[2], "s DuckDB's": theirs[2]}
    yield Row(f"first query of {what} afar: requests for the catalog, and DuckDB's own", ours[0], theirs[0], "requests", at_most=0.99, counts=seconds)
    yield Row(f"first query of {what} afar: bytes of the catalog, and DuckDB's own", ours[1], theirs[1], "MB", at_most=0.2)

    proxy.reset()
    kept = fdl("attach", url, "--local", env=environment(XDG_CACHE_HOME=folder / "cache"))
    (packed,) = [one for one in proxy.seen if "ducklake.duckdb" in one.target]
    small = proxy.count() - 1
    done = far(proxy, attach_statement(kept.stdout), "ducklake.duckdb")
    size = (folder / packed.target.lstrip("/")).stat().st_size / 1e6
    counts = {"small requests besides": small, "by DuckDB": done[0], "MB packed": size, "s": kept.seconds + done[2]}
    yield Row(f"attach --local of {what}: requests for the catalog, and DuckDB's own", 1, theirs[0], "requests", at_most=1, of="ours", counts=counts)


def run(bench):
    (bench.folder / "nginx").mkdir()
    with Nginx(bench.folder / "nginx", bench.folder / "served") as web, SlowProxy(web.port, FAR_SECONDS) as proxy:
        for tables in (1, 100):
            folder = bench.folder / "served"
            folder.mkdir()
            yield from compare(folder, proxy, tables)
            shutil.rmtree(folder)
