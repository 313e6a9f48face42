"""DuckDB for the demo: runs the SQL on its standard input and shows what comes back.

It does what DuckDB's own command line does, with one difference: extensions
come from the folder that `make` filled, so that nothing is fetched meanwhile.
"""

import pathlib
import sys

import duckdb

EXTENSIONS = pathlib.Path(__file__).resolve().parent.parent / "build" / "deps" / "extensions"

con = duckdb.connect(config={"extension_directory": str(EXTENSIONS), "autoinstall_known_extensions": False})
for statement in con.extract_statements(sys.stdin.read()):
    answer = con.sql(statement.query)
    if answer is not None:
        print(answer)
