"""What a DuckDB sees of a lake; run as a program, with whichever release its Python has.

usage: python reader.py <ducklake extension>     questions as JSON on stdin, answers on stdout

A question is {"attach": "ATTACH ...;", "snapshots": [...]}; the answer maps what was asked to what came, as text, so that
three releases of DuckDB can be compared by ==. A wrong statistic does not show in the rows but in what a filter finds, so
each column is also asked for its own values.
"""

import json
import sys

# Types whose text is no literal of theirs, or which cannot be compared.
NOT_FILTERED = ("[", "STRUCT", "MAP", "VARIANT", "GEOMETRY", "JSON", "INTERVAL", "BLOB")
VALUES_ASKED = 8


def name(*parts):
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


def literal(value):
    return "'" + value.replace("'", "''") + "'"


def ask(con, sql):
    """The rows, every value as text; what failed, by the kind of failure."""
    try:
        return [[None if value is None else str(value) for value in row] for row in con.execute(sql).fetchall()]
    except Exception as error:
        try:
            con.execute("ROLLBACK")
        except Exception:
            pass
        return [[type(error).__name__]]


def look_at_table(con, schema, table, seen):
    lake = name("lake", schema, table)
    seen[f"rows of {lake}"] = ask(con, f"SELECT rowid, fdl_row::VARCHAR FROM {lake} AS fdl_row ORDER BY rowid")
    seen[f"count of {lake}"] = ask(con, f"SELECT count(*) FROM {lake}")
    seen[f"columns of {lake}"] = columns = ask(con, f"SELECT column_name, column_type, \"null\" FROM (DESCRIBE {lake})")
    for column in columns:
        if len(column) != 3:
            continue
        quoted = name(column[0])
        for test in ("IS NULL", "IS NOT NULL"):
            seen[f"{lake}.{quoted} {test}"] = ask(con, f"SELECT count(*) FROM {lake} WHERE {quoted} {test}")
        if any(word in column[1] for word in NOT_FILTERED):
            continue
        seen[f"ends of {lake}.{quoted}"] = ask(con, f"SELECT min({quoted})::VARCHAR, max({quoted})::VARCHAR FROM {lake}")
        values = ask(con, f"SELECT DISTINCT {quoted}::VARCHAR FROM {lake} WHERE {quoted} IS NOT NULL ORDER BY 1 LIMIT {VALUES_ASKED}")
        for (value,) in values:
            for how in ("=", "<", ">"):
                where = f"{quoted} {how} {literal(value)}"
                seen[f"{lake} WHERE {where}"] = ask(con, f"SELECT count(*) FROM {lake} WHERE {where}")


def look(con, snapshots):
    seen = {}
    seen["tables"] = tables = ask(
        con, "SELECT schema_name, table_name, comment FROM duckdb_tables() WHERE database_name = 'lake' ORDER BY ALL"
    )
    seen["views"] = views = ask(
        con,
        "SELECT schema_name, view_name, comment FROM duckdb_views() WHERE database_name = 'lake' AND NOT internal ORDER BY ALL",
    )
    seen["snapshots"] = ask(con, "SELECT snapshot_id, epoch_us(snapshot_time) FROM ducklake_snapshots('lake') ORDER BY ALL")
    for schema, table, _ in tables:
        look_at_table(con, schema, table, seen)
        for snapshot in snapshots:
            at = f"{name('lake', schema, table)} AT (VERSION => {snapshot})"
            seen[f"rows of {at}"] = ask(con, f"SELECT fdl_row::VARCHAR FROM {at} AS fdl_row ORDER BY ALL")
    for schema, view, _ in views:
        seen[f"rows of {name('lake', schema, view)}"] = ask(
            con, f"SELECT fdl_row::VARCHAR FROM {name('lake', schema, view)} AS fdl_row ORDER BY ALL"
        )
    return seen


def answer(question, extension):
    import duckdb

    # Checking an extension's signature takes an eighth of a second, each time: the setup has checked its sha256.
    con = duckdb.connect(config={"autoinstall_known_extensions": False, "allow_unsigned_extensions": True, "threads": 1})
    con.execute(f"LOAD {literal(extension)}")
    con.execute("SET TimeZone = 'UTC'")
    con.execute(question["attach"])
    seen = look(con, question.get("snapshots", []))
    con.close()
    return seen


if __name__ == "__main__":
    json.dump([answer(question, sys.argv[1]) for question in json.load(sys.stdin)], sys.stdout)
