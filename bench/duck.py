"""What DuckDB does in a job, in a process of its own: `duck.py WORK ARGUMENT...`; prints what the work took, its start not included: seconds, and those of the processor.

Imported by nobody: the runner must stay small, since what a program is said to have held in memory is never less than
what the process that started it holds.
"""

import shutil
import sys
import time
from pathlib import Path

import duckdb

EXTENSIONS = Path(__file__).resolve().parents[1] / "build" / "deps" / "extensions"


def connect():
    return duckdb.connect(config={"extension_directory": str(EXTENSIONS), "autoinstall_known_extensions": False})


def execute(*statements):
    """One connection, the statements as given."""
    con = connect()
    for statement in statements:
        con.execute(statement)


def copy(kind_from, path_from, kind_to, path_to):
    """Every table of a catalog, by CREATE TABLE AS, from SQLite to DuckDB or back."""
    kinds = {"sqlite": "(TYPE sqlite)", "duckdb": ""}
    con = connect()
    con.execute(f"ATTACH '{path_from}' AS source {kinds[kind_from].replace(')', ', READ_ONLY)') or '(READ_ONLY)'}")
    con.execute(f"ATTACH '{path_to}' AS target {kinds[kind_to]}")
    found = con.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'source' ORDER BY 1").fetchall()
    con.execute("BEGIN")
    for (table,) in found:
        con.execute(f'CREATE TABLE target."{table}" AS FROM source."{table}"')
    con.execute("COMMIT")
    con.execute("DETACH target")


def rename_files(folder, count):
    """The catalog "0" of a folder becomes the catalogs "1" to `count`, each of files with other names."""
    for number in range(1, int(count) + 1):
        shutil.copyfile(f"{folder}/0", f"{folder}/{number}")
        with duckdb.connect(f"{folder}/{number}") as con:
            con.execute(f"UPDATE ducklake_data_file SET path = replace(path, 'v0000', 'v{number:04}')")


start, start_cpu = time.perf_counter(), time.process_time()
{"execute": execute, "copy": copy, "rename_files": rename_files}[sys.argv[1]](*sys.argv[2:])
print(time.perf_counter() - start, time.process_time() - start_cpu)
