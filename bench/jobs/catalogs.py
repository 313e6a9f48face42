"""A catalog of 100,000 files with a million statistics of columns: checkout and commit, beside DuckDB copying the same tables."""

import os
import shutil
import sqlite3
import uuid
from contextlib import closing

from measure import Row, attach_statement, duck, fdl, median, peak_mb, take_turns

TABLES = 10
FILES = 10_000  # of each table
COLUMNS = 10


def multiply_files(work, data):
    """Each table's one file becomes many, in the catalog and in the data folder, with other statistics in each."""
    with closing(sqlite3.connect(work)) as con, con:
        files = con.execute("SELECT * FROM ducklake_data_file ORDER BY table_id").fetchall()
        columns = [column[1] for column in con.execute("PRAGMA table_info(ducklake_data_file)")]
        file_id = max(row[0] for row in files) + 1
        for row in files:
            one = dict(zip(columns, row))
            folder = next(path for path in data.rglob(one["path"])).parent
            stats = con.execute("SELECT * FROM ducklake_file_column_stats WHERE data_file_id = ?", (one["data_file_id"],)).fetchall()
            rows, new_stats = [], []
            for number in range(1, FILES):
                name = f"ducklake-{uuid.UUID(int=(one['table_id'] << 64) + number)}.parquet"
                os.link(folder / one["path"], folder / name)
                rows.append(tuple({**one, "data_file_id": file_id, "path": name, "row_id_start": number}.values()))
                new_stats += [(file_id, *old[1:6], str(number * 1000 + old[2]), str(number * 2000 + old[2]), *old[8:]) for old in stats]
                file_id += 1
            con.executemany(f"INSERT INTO ducklake_data_file VALUES ({', '.join('?' * len(columns))})", rows)
            con.executemany("INSERT INTO ducklake_file_column_stats VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", new_stats)
            con.execute(
                "UPDATE ducklake_table_stats SET record_count = ?, next_row_id = ?, file_size_bytes = ? WHERE table_id = ?",
                (FILES, FILES, FILES * one["file_size_bytes"], one["table_id"]),
            )
        con.execute("UPDATE ducklake_snapshot SET next_file_id = ? WHERE snapshot_id = (SELECT max(snapshot_id) FROM ducklake_snapshot)", (file_id,))


def make_work(folder):
    """A working catalog that is ready to be committed."""
    repo, work = folder / "repo", folder / "work.sqlite"
    fdl("init", repo)
    attach = attach_statement(fdl("checkout", repo, work).stdout)
    columns = ", ".join(f"range * {n} AS column_{n}" for n in range(1, COLUMNS + 1))
    duck("execute", attach, *(f"CREATE TABLE lake.table_{n} AS SELECT {columns} FROM range(1)" for n in range(TABLES)))
    multiply_files(work, repo / "data")
    return repo, work


def run(bench):
    folder = bench.folder
    repo, work = make_work(folder)
    copy_duckdb, copy_sqlite, other = folder / "copy.duckdb", folder / "copy.sqlite", folder / "other.sqlite"
    state = folder / "work.sqlite.fdl"

    def commit():
        shutil.rmtree(state / "pending", ignore_errors=True)
        return fdl("commit", work, "-m", "Many files")

    def to_duckdb():
        copy_duckdb.unlink(missing_ok=True)
        return duck("copy", "sqlite", work, "duckdb", copy_duckdb)

    ours, theirs = take_turns(bench.repeat, commit, to_duckdb)
    name = f"{TABLES * FILES:,} files, {TABLES * FILES * COLUMNS:,} statistics"
    counts = {"MB frozen": next(state.glob("pending/*/ducklake.duckdb")).stat().st_size / 1e6, "MB working": work.stat().st_size / 1e6}
    yield Row(f"commit of {name}, and DuckDB copying SQLite to DuckDB", median(ours) * 1e3, median(theirs) * 1e3, "ms", at_most=0.5, counts=counts)
    yield Row("the most memory of that commit", peak_mb(ours), peak_mb(theirs), "MB", at_most=200, of="ours")

    fdl("push", work)
    (frozen,) = repo.glob("versions/*/ducklake.duckdb")

    def checkout():
        other.unlink(missing_ok=True)
        shutil.rmtree(f"{other}.fdl", ignore_errors=True)
        return fdl("checkout", repo, other)

    def to_sqlite():
        copy_sqlite.unlink(missing_ok=True)
        return duck("copy", "duckdb", frozen, "sqlite", copy_sqlite)

    ours, theirs = take_turns(bench.repeat, checkout, to_sqlite)
    yield Row(f"checkout of {name}, and DuckDB copying DuckDB to SQLite", median(ours) * 1e3, median(theirs) * 1e3, "ms", at_most=0.5)
    yield Row("the most memory of that checkout", peak_mb(ours), peak_mb(theirs), "MB", at_most=150, of="ours")
