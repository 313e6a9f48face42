"""clone between a folder and S3, and push through fdl serve, beside s5cmd copying the same files straight to and from the store.

2,000 files of 64 KB, and 4 of 128 MB.  Every run begins with an empty target.
"""

import os
import shutil
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

from jobs.serve import serving
from measure import FDL, ROOT, Row, attach_statement, duck, environment, fdl, median, peak_mb, take_turns
from measure import run as run_program
from servers import Versitygw

SETS = (("2,000 files of 64 KB", 2000, 64 << 10), ("4 files of 128 MB", 4, 128 << 20))
S5CMD = next((ROOT / "build" / "venv").glob("lib/python*/site-packages/s5cmd/bin/s5cmd"))


def write_noise(path, size):
    """In pieces: what this process once needed would count as the memory of the programs that it starts."""
    with open(path, "wb") as file:
        for _ in range(0, size, 64 << 10):
            file.write(os.urandom(64 << 10))


def name_files(work, data, count, size):
    """The one file of the one table becomes many of random bytes, which nothing can leave out or pack."""
    with closing(sqlite3.connect(work)) as con, con:
        columns = [column[1] for column in con.execute("PRAGMA table_info(ducklake_data_file)")]
        (row,) = con.execute("SELECT * FROM ducklake_data_file").fetchall()
        first = next(data.rglob(row[columns.index("path")]))
        con.execute("DELETE FROM ducklake_data_file")
        con.execute("DELETE FROM ducklake_file_column_stats")
        for number in range(count):
            name = f"ducklake-{uuid.UUID(int=number)}.parquet"
            write_noise(first.parent / name, size)
            one = {**dict(zip(columns, row)), "data_file_id": number, "path": name, "row_id_start": number, "file_size_bytes": size}
            con.execute(f"INSERT INTO ducklake_data_file VALUES ({', '.join('?' * len(columns))})", tuple(one.values()))
        con.execute("UPDATE ducklake_table_stats SET record_count = ?, next_row_id = ?, file_size_bytes = ?", (count, count, count * size))
        con.execute("UPDATE ducklake_snapshot SET next_file_id = ?", (count,))
    first.unlink()


def write(repo, work, data, count, size, env=None):
    """A working catalog with a version of such files, committed."""
    attach = attach_statement(fdl("checkout", repo, work, env=env).stdout)
    duck("execute", attach, "CREATE TABLE lake.t AS SELECT 1 AS i")
    name_files(work, data, count, size)
    fdl("commit", work, "-m", "Files", env=env)


def make_empty(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()


def row(name, ours, theirs, at_most=None, at_least=None):
    memory = {"MB of memory": peak_mb(ours), "MB s5cmd's": peak_mb(theirs)}
    if at_least is not None:  # as speeds: how much faster ours is
        return Row(name, 1 / median(ours), 1 / median(theirs), "a second", at_least=at_least, counts=memory)
    return Row(name, median(ours), median(theirs), "s", at_most=at_most, counts=memory)


def clone_both_ways(bench, s3, folder, name, count, size):
    env, bucket, repo = s3.client_environment(), bench.folder / "s3" / "data" / "bucket", folder / "repo"
    s5cmd = (S5CMD, "--endpoint-url", s3.url, "cp")
    fdl("init", repo)
    write(repo, folder / "work.sqlite", repo / "data", count, size)
    fdl("push", folder / "work.sqlite")

    def there(*command):
        make_empty(bucket)
        return run_program(*command, env=env)

    def back(target, *command):
        shutil.rmtree(target, ignore_errors=True)
        return run_program(*command, env=env)

    ours, theirs = take_turns(
        bench.repeat, lambda: there(FDL, "clone", repo, "s3://bucket/lake/"), lambda: there(*s5cmd, f"{repo}/", "s3://bucket/lake/")
    )
    yield row(f"clone to S3 of {name}, and s5cmd", ours, theirs, at_most=1)
    there(FDL, "clone", repo, "s3://bucket/lake/")
    mine, other = folder / "back", folder / "other"
    ours, theirs = take_turns(
        bench.repeat,
        lambda: back(mine, FDL, "clone", "s3://bucket/lake/", mine),
        lambda: back(other, *s5cmd, "s3://bucket/lake/*", f"{other}/"),
    )
    yield row(f"clone from S3 of {name}, and s5cmd", ours, theirs, at_most=1)
    for path in (mine, other, repo):
        shutil.rmtree(path)


def push(bench, s3, folder, name, count, size):
    """The host stands before the bucket; each run has the bucket and the pending version as they were before the first."""
    env, bucket, work = s3.client_environment(), bench.folder / "s3" / "data" / "bucket", folder / "work.sqlite"
    tokens, saved, state = folder / "tokens", folder / "saved", Path(f"{work}.fdl")
    make_empty(bucket)
    fdl("init", "s3://bucket/lake/", env=environment(**env))
    token = fdl("serve", "unused", "--tokens", tokens, "--add-token", "ada:write").stdout.strip()
    with serving("s3://bucket/lake/", folder / "serve.log", "--tokens", tokens, env=environment(**env)) as host:
        writer = environment(FDL_TOKEN=token)
        write(host, work, state / "data", count, size, env=writer)
        saved.mkdir()
        for path in (bucket, state):
            run_program("cp", "-a", path, saved / path.name)

        def restored(*command, env):
            for path in (bucket, state / "pending"):
                shutil.rmtree(path, ignore_errors=True)
            run_program("cp", "-a", saved / bucket.name, bucket)
            run_program("cp", "-a", saved / state.name / "pending", state / "pending")
            run_program("cp", "-a", saved / state.name / "origin.json", state / "origin.json")
            return run_program(*command, env=env)

        ours, theirs = take_turns(
            bench.repeat,
            lambda: restored(FDL, "push", work, env=writer),
            lambda: restored(S5CMD, "--endpoint-url", s3.url, "cp", f"{state}/data/", "s3://bucket/copy/", env=env),
        )
    yield row(f"push over HTTP of {name}, and s5cmd straight to the store", ours, theirs, at_least=0.9)


def run(bench):
    (bench.folder / "s3").mkdir()
    with Versitygw(bench.folder / "s3") as s3:
        for number, (name, count, size) in enumerate(SETS):
            for job in (clone_both_ways, push):
                folder = bench.folder / f"{job.__name__}-{number}"
                folder.mkdir()
                yield from job(bench, s3, folder, name, count, size)
                shutil.rmtree(folder)
