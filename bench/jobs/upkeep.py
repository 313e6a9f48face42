"""expire and gc of 1,000 versions that name 100 data files each, beside listing the store once."""

import hashlib
import json
import os
import shutil
import sqlite3
from contextlib import closing

from measure import ROOT, Row, attach_statement, duck, fdl, median, run as run_program, take_turns
from servers import Versitygw
from synthetic import version_id

VERSIONS = 1_000
FILES = 100  # of each version
KEEP = 900


def record_of(folder, name):
    data = (folder / name).read_bytes()
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def make_template(bench, repo):
    """A version of one table whose files are called v0000-<number>.parquet."""
    work = bench.folder / "work.sqlite"
    attach = attach_statement(fdl("checkout", repo, work).stdout)
    duck("execute", attach, "CREATE TABLE lake.t (i BIGINT)", "BEGIN", *(f"INSERT INTO lake.t SELECT {n}" for n in range(FILES)), "COMMIT")
    with closing(sqlite3.connect(work)) as con, con:
        for number, (path,) in enumerate(con.execute("SELECT path FROM ducklake_data_file").fetchall()):
            (found,) = repo.rglob(path)
            found.rename(found.parent / f"v0000-{number}.parquet")
            con.execute("UPDATE ducklake_data_file SET path = ? WHERE path = ?", (f"v0000-{number}.parquet", path))
    fdl("commit", work, "-m", "Template")
    (made,) = (bench.folder / "work.sqlite.fdl" / "pending").iterdir()
    return made


def make_repository(bench, repo):
    """Versions that share no data file, as a table that is written anew every night leaves them."""
    fdl("init", repo)
    made = make_template(bench, repo)
    catalogs = bench.folder / "catalogs"
    catalogs.mkdir()
    shutil.copyfile(made / "ducklake.duckdb", catalogs / "0")
    duck("rename_files", catalogs, VERSIONS)
    template = json.loads((made / "version.json").read_text())
    files, table = (made / "files.json").read_text(), repo / "data" / "main" / "t"
    sources = sorted(table.iterdir())
    for number in range(1, VERSIONS + 1):
        folder = repo / "versions" / version_id(number)
        folder.mkdir(parents=True)
        (catalogs / str(number)).rename(folder / "ducklake.duckdb")
        shutil.copyfile(made / "dataset.json", folder / "dataset.json")
        (folder / "files.json").write_text(files.replace("v0000", f"v{number:04}"))
        record = {**template, "id": version_id(number), "seq": number, "parents": [version_id(number - 1)] if number > 1 else []}
        record["catalog"] = {**record["catalog"], **record_of(folder, "ducklake.duckdb")}
        record["files"] = {**record["files"], **record_of(folder, "files.json")}
        (folder / "version.json").write_text(json.dumps(record))
        for source in sources:
            os.link(source, table / source.name.replace("v0000", f"v{number:04}"))
    for source in sources:
        source.unlink()
    (repo / "refs" / "heads").mkdir(parents=True, exist_ok=True)
    (repo / "refs" / "heads" / "main").write_text(version_id(VERSIONS) + "\n")
    (repo / "refs.json").write_text(json.dumps({"head": "refs/heads/main", "refs": {"refs/heads/main": version_id(VERSIONS)}}))


def run(bench):
    repo = bench.folder / "repo"
    make_repository(bench, repo)
    name = f"{VERSIONS:,} versions and {VERSIONS * FILES:,} files"

    def both(address, env=None):
        expired = run_program(ROOT / "build" / "fdl", "expire", address, "--keep", KEEP, "--dry-run", env=env)
        collected = run_program(ROOT / "build" / "fdl", "gc", address, "--dry-run", env=env)
        expired.seconds += collected.seconds
        expired.cpu_seconds += collected.cpu_seconds
        return expired

    ours, listing = take_turns(1, lambda: both(repo), lambda: run_program("find", repo, "-type", "f", "-printf", "%s %T@ %p\\n"))
    yield Row(f"expire and gc (dry) of {name} in a folder, and find", median(ours) * 1e3, median(listing) * 1e3, "ms", at_most=1.5)
    (bench.folder / "s3").mkdir()
    with Versitygw(bench.folder / "s3") as s3:
        repo.rename(bench.folder / "s3" / "data" / "bucket")
        env = s3.client_environment()
        s5cmd = (ROOT / "build" / "venv" / "bin" / "s5cmd", "ls", "s3://bucket/*")
        env["S3_ENDPOINT_URL"] = s3.url
        ours, listing = take_turns(1, lambda: both("s3://bucket/", env), lambda: run_program(*s5cmd, env=env))
        yield Row(f"expire and gc (dry) of {name} on S3, and s5cmd ls", median(ours) * 1e3, median(listing) * 1e3, "ms", at_most=1.5)
