"""A hundred thousand data files: what gc holds in memory hardly grows with them.

    FDL_TEST_FILES=1000000    so many instead, and -s prints what it took
"""

import hashlib
import json
import os
import subprocess
import sys

import duckdb
from harness import command, environment, numbers, text

FEW, MANY = 5_000, int(os.environ.get("FDL_TEST_FILES", 100_000))

# A fingerprint, what DuckDB reads its name from, and the names of a folder while they are sorted, twice where something is to
# be deleted: measured 160.  Holding the names besides takes 90 more.
BYTES_A_FILE = 200

# The peak of a process counts what its parent held when it began: so a small one starts it.
LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def name(number):
    return f"ducklake-0190a0b0-c0d0-7000-8000-{number:012}.parquet"


def grow(repo, version, first, last):
    """The catalog of a version comes to name the files from `first` to `last` beside its own."""
    catalog = repo.version_file(version, "ducklake.duckdb")
    with duckdb.connect() as con:
        con.execute(f"ATTACH {text(catalog)} AS raw")
        con.execute("DELETE FROM raw.ducklake_data_file WHERE data_file_id >= 1000")
        con.execute(
            f"""INSERT INTO raw.ducklake_data_file SELECT f.* REPLACE (1000 + range AS data_file_id, 0 AS file_size_bytes,
                'ducklake-0190a0b0-c0d0-7000-8000-' || lpad(range::VARCHAR, 12, '0') || '.parquet' AS path)
                FROM (FROM raw.ducklake_data_file LIMIT 1) AS f, range({first}, {last})"""
        )
        con.execute("CHECKPOINT raw")
    record = repo.record(version)
    whole = catalog.read_bytes()
    record["catalog"].update(bytes=len(whole), sha256=hashlib.sha256(whole).hexdigest())
    repo.version_file(version).write_text(json.dumps(record))


def crowd(lake, versions, count):
    """So many data files; half of them, in tenths, are named by three versions, which share most of theirs."""
    for number, version in enumerate(versions):
        grow(lake.repo, version, number * count // 10, (number + 3) * count // 10)
    for number in range(count):
        os.mknod(lake.repo.data / "main" / "t" / name(number))


def peak(*args):
    """How much memory a run of the program took at most, in bytes."""
    done = subprocess.run([sys.executable, "-c", LAUNCHER, *command(*args)], capture_output=True, env=environment(), check=True)
    return int(done.stdout.split()[-1]) * 1024


def test_what_gc_holds_hardly_grows_with_the_files(lake):
    versions = [lake.publish(*numbers(1))] + [lake.publish("INSERT INTO lake.t VALUES (2)") for _ in range(2)]
    took = []
    for count in (FEW, MANY):
        for left in lake.repo.data.rglob("*-0190a0b0-*"):
            left.unlink()
        crowd(lake, versions, count)
        took.append(peak("gc", lake.repo.address, "--grace", "0s", "--quiet"))
        assert len(lake.repo.data_files()) == count // 2 + 3
    print(f"gc beside {MANY} data files: {took[1] / 1e6:.0f} MB; beside {FEW}: {took[0] / 1e6:.0f} MB")
    assert took[1] - took[0] < BYTES_A_FILE * (MANY - FEW)
